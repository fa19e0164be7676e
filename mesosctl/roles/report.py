"""Roles as reports."""

from collections.abc import Sequence

from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.quota.report import (
    GUARANTEE_IS,
    GUARANTEE_STATES,
    LEGEND,
    MEANINGS,
    QUOTA_USE,
    guarantee_verdict,
    quota_use,
)
from mesosctl.roles import documents
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import Column, Report, naturally


def role_list(
    roles: Sequence[RoleStatus], *, empty: str = "the master knows no roles", sort: str | None = None
) -> Report:
    """A line for every role; `empty` is shown if there is none, and `sort` as in `naturally`."""
    shown = naturally(roles, lambda status: status.role, sort=sort)
    return list_report(
        documents.RoleList(roles=[]),
        roles,
        (
            Column("ROLE", lambda status: status.role),
            Column("STATUS", lambda status: status.standing, meaning=MEANINGS),
            Column("WEIGHT", lambda status: status.usage and status.usage.weight, kind="number", rank=3),
            Column("FRAMEWORKS", lambda status: status.usage and status.usage.frameworks, kind="number", rank=2),
            Column("USED", lambda status: status.usage and status.usage.allocated, kind="amounts"),
            Column("GUARANTEE", lambda status: status.quota.guarantees, kind="amounts"),
            Column("LIMIT", lambda status: status.quota.limits, kind="amounts", rank=1),
            Column("OFFERED", lambda status: status.usage and status.usage.offered, kind="amounts", rank=4),
            Column("RESERVED", lambda status: status.usage and status.usage.reserved, kind="amounts", rank=5),
            Column(GUARANTEE_IS, lambda status: status.guarantee_state, meaning=GUARANTEE_STATES, rank=1),
        ),
        name=lambda status: status.role,
        in_order=shown,
        empty=empty,
        terminal=lambda: _role_screen(shown, empty),
    )


def _role_screen(roles: Sequence[RoleStatus], empty: str) -> Report:
    columns: Sequence[Column[RoleStatus]] = (
        Column("ROLE", lambda status: status.role),
        Column("STATUS", lambda status: status.standing, meaning=MEANINGS, rank=-1),
        Column(GUARANTEE_IS, lambda status: status.guarantee_state, meaning=GUARANTEE_STATES, rank=4),
        Column(QUOTA_USE, lambda status: quota_use(status, everything=True), kind="usage"),
        Column("WEIGHT", lambda status: status.usage and status.usage.weight, kind="number", rank=2),
        Column("FRAMEWORKS", lambda status: status.usage and status.usage.frameworks, kind="number", rank=1),
        Column("OFFERED", lambda status: status.usage and status.usage.offered, kind="amounts", rank=3),
    )
    return Report(
        columns,
        rows_of(columns, roles),
        empty=empty,
        remark=[LEGEND] if roles else (),
        verdicts=[guarantee_verdict(roles)] if any(status.quota.guarantees for status in roles) else (),
    )
