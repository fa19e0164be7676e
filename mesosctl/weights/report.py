"""Weights as reports."""

from collections.abc import Sequence

from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.cluster.role_status import AppliedWeight, RoleWeight
from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Report, naturally
from mesosctl.weights import documents

NO_WEIGHTS = "no weight is set; every role has weight 1"


def weight_list(weights: Sequence[RoleWeight], *, empty: str = NO_WEIGHTS, sort: str | None = None) -> Report:
    """A line for every weight that was set; `empty` is shown if there is none, and `sort` as in `naturally`."""
    return list_report(
        documents.WeightList(weights=[]),
        weights,
        (
            Column("ROLE", lambda role_weight: role_weight.role),
            Column("WEIGHT", lambda role_weight: role_weight.weight, kind="number"),
        ),
        name=lambda role_weight: role_weight.role,
        in_order=naturally(weights, lambda role_weight: role_weight.role, sort=sort),
        empty=empty,
    )


def weight_changes(changes: Sequence[AppliedWeight]) -> Report:
    """Weights that were set."""
    return list_report(
        documents.WeightChanges(changes=[]),
        changes,
        (
            Column("ROLE", lambda applied: applied.role),
            Column("BEFORE", lambda applied: applied.before, kind="number"),
            Column("WEIGHT", lambda applied: applied.after, kind="number"),
            Column("CONFIRMED", lambda applied: applied.confirmed, wide=True),
        ),
        name=lambda applied: applied.role,
        done="; ".join(f"weight of '{applied.role}' was set to {format_double(applied.after)}" for applied in changes),
        empty="the weights are already set",
    )
