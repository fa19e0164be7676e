"""Quota as reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.model.quantities import Limits, Quantities, format_milli
from mesosctl.model.quota.status import QuotaChange, QuotaCheck, RoleStatus
from mesosctl.output.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from mesosctl.output.documents import quota

_COLUMNS = (
    Column("ROLE"),
    Column("GUARANTEE"),
    Column("LIMIT"),
    Column("CONSUMED", wide=True),
    Column("ALLOCATED", wide=True),
    Column("OFFERED", wide=True),
    Column("RESERVED", wide=True),
    Column("FRAMEWORKS", wide=True),
)


def amounts_text(amounts: Quantities | Limits | None) -> str:
    """`cpus:12;mem:6144`, as a person could type it again; "-" for nothing."""
    return ";".join(f"{name}:{format_milli(milli)}" for name, milli in (amounts or {}).items()) or NOTHING


def quota_list(standings: Sequence[RoleStatus]) -> Report:
    """Every role with quota."""

    def items() -> "list[quota.RoleQuota]":
        from mesosctl.output.documents import quota

        return [quota.RoleQuota.of(standing) for standing in standings]

    def document() -> "quota.QuotaList":
        from mesosctl.output.documents import quota

        return quota.QuotaList(quotas=items())

    return Report(
        _COLUMNS,
        [_row(standing) for standing in standings],
        [s.role for s in standings],
        document,
        items,
        empty="no quota is set",
    )


def quota_show(standing: RoleStatus) -> Report:
    """One role with quota."""

    def document() -> "quota.QuotaShow":
        from mesosctl.output.documents import quota

        return quota.QuotaShow(quota=quota.RoleQuota.of(standing))

    columns = [Column(column.title) for column in _COLUMNS]
    return Report(columns, [_row(standing)], [standing.role], document, lambda: [document().quota])


def _row(standing: RoleStatus) -> list[str]:
    usage = standing.usage
    held = [None] * 4 if usage is None else [usage.consumed, usage.allocated, usage.offered, usage.reserved]
    return [
        standing.role,
        amounts_text(standing.quota.guarantees),
        amounts_text(standing.quota.limits),
        *(amounts_text(amounts) for amounts in held),
        NOTHING if usage is None else str(usage.frameworks),
    ]


def quota_changes(changes: Sequence[QuotaChange]) -> Report:
    """What was changed."""

    def items() -> "list[quota.QuotaChange]":
        from mesosctl.output.documents import quota

        return [quota.QuotaChange.of(change) for change in changes]

    def document() -> "quota.QuotaChanges":
        from mesosctl.output.documents import quota

        return quota.QuotaChanges(changes=items())

    columns = (Column("ROLE"), Column("DONE"), Column("GUARANTEE"), Column("LIMIT"), Column("CONFIRMED", wide=True))
    rows = [
        [
            change.role,
            change.done,
            amounts_text(change.after.guarantees if change.after else None),
            amounts_text(change.after.limits if change.after else None),
            "yes" if change.confirmed else "no",
        ]
        for change in changes
    ]
    remark = list(filter(None, map(_limit_unsaid, changes)))
    done = "; ".join(f"quota of '{change.role}' was {change.done}" for change in changes)
    return Report(columns, rows, [change.role for change in changes], document, items, remark=remark, done=done)


def _limit_unsaid(change: QuotaChange) -> str:
    """Why a limit is what it is where nobody said it; nothing where somebody did, or there is none."""
    if change.limit_given or change.after is None or not change.after.limits:
        return ""
    if change.before is None:
        why = "none was given, so this master makes it equal to the guarantee"
    elif change.before.limits == change.after.limits:
        why = "none was given, so it stays"
    else:
        why = "none was given, so it goes on to equal the guarantee"
    return f"limit of {change.role}: {amounts_text(change.after.limits)} ({why})"


def quota_check(check: QuotaCheck) -> Report:
    """Every rule as a line, and how much room there is."""

    def document() -> "quota.QuotaCheck":
        from mesosctl.output.documents import quota

        return quota.QuotaCheck.of(check)

    verdicts = {True: "pass", False: "FAIL", None: "unknown"}
    rows = [[verdicts[f.passed], f.rule, f.sentence, f.hint or NOTHING] for f in check.findings]
    room = [
        ("capacity", check.capacity),
        ("promised to others", check.promised),
        ("largest that would pass", check.largest),
    ]
    return Report(
        (Column("RESULT"), Column("RULE"), Column("FINDING"), Column("HINT", wide=True)),
        rows,
        [finding.rule for finding in check.findings if finding.passed is False],
        document,
        lambda: document().findings,
        remark=[f"{title}: {'unknown' if amounts is None else amounts_text(amounts)}" for title, amounts in room],
    )
