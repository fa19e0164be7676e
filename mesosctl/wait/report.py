"""The conditions that `wait` has waited for, as a report."""

from collections.abc import Sequence

from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Report
from mesosctl.wait import documents
from mesosctl.wait.conditions import CheckedCondition


def condition_list(states: Sequence[CheckedCondition]) -> Report:
    """A line for every condition."""
    return list_report(
        documents.WaitDocument(conditions=[]),
        states,
        (
            Column("CONDITION", lambda checked: checked.condition),
            Column("HOLDS", lambda checked: checked.holds),
            Column("SHOWS", lambda checked: checked.shows, kind="sentence"),
        ),
        name=lambda checked: checked.condition,
    )
