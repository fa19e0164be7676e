"""The conditions that `wait` has waited for, as a report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.model.conditions import ConditionState
from mesosctl.output.formats.report import Column, Report

if TYPE_CHECKING:
    from mesosctl.output.json_documents import wait as documents


def condition_list(states: Sequence[ConditionState]) -> Report:
    """A line for every condition."""

    def items() -> "list[documents.ConditionState]":
        from mesosctl.output.json_documents import wait

        return [wait.ConditionState.of(one) for one in states]

    def document() -> "documents.WaitDocument":
        from mesosctl.output.json_documents import wait

        return wait.WaitDocument(conditions=items())

    columns = (Column("CONDITION"), Column("HOLDS"), Column("SHOWS", kind="sentence"))
    rows = [[one.condition, "yes" if one.holds else "no", one.shows] for one in states]
    return Report(columns, rows, [one.condition for one in states], document, items)
