"""Maintenance as reports: local times with their zone for people, UTC in JSON."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mesosctl.model.maintenance import NANOSECONDS, MaintenanceChange, ScheduledMachine, Span
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report

if TYPE_CHECKING:
    from mesosctl.output.json_documents import maintenance as documents

_MODES: dict[str, Meaning] = {"draining": "at risk", "down": "not met"}


def local_time(nanoseconds: int) -> str:
    """A time as people read it, in the zone of this machine: "2026-12-01 02:00 +01:00"."""
    at = datetime.fromtimestamp(nanoseconds / NANOSECONDS, UTC).astimezone()
    text = at.isoformat(" ", "minutes" if nanoseconds % (60 * NANOSECONDS) == 0 else "seconds")
    return f"{text[:-6]} {text[-6:]}"


def span_text(span: Span | None) -> tuple[str, str]:
    """The beginning and the end of a span."""
    if span is None:
        return NOTHING, NOTHING
    return local_time(span.start), "open" if span.end is None else local_time(span.end)


def machine_list(machines: Sequence[ScheduledMachine], *, empty: str = "no maintenance is scheduled") -> Report:
    """A line for every machine of the schedule; `empty` is shown if there is none."""

    def items() -> "list[documents.MaintenanceMachine]":
        from mesosctl.output.json_documents import maintenance

        return [maintenance.MaintenanceMachine.from_machine(one) for one in machines]

    def document() -> "documents.MaintenanceList":
        from mesosctl.output.json_documents import maintenance

        return maintenance.MaintenanceList(machines=items())

    columns = (
        Column("MACHINE"),
        Column("ADDRESS", rank=2),
        Column("MODE", meaning=_MODES),
        Column("FROM", kind="sentence"),
        Column("TO", kind="sentence"),
        Column("AGENTS", rank=1),
        Column("ANSWERS", kind="sentence", rank=1),
    )
    rows = [
        [
            one.machine.hostname or NOTHING,
            one.machine.ip or NOTHING,
            one.mode,
            *span_text(one.span),
            ",".join(one.agents) or NOTHING,
            ", ".join(f"{answer.framework}: {answer.answer}" for answer in one.answers) or NOTHING,
        ]
        for one in machines
    ]
    names = [one.machine.name for one in machines]
    return Report(columns, rows, names, document, items, empty=empty)


def maintenance_changes(changes: Sequence[MaintenanceChange]) -> Report:
    """The change that a command made to each machine."""

    def items() -> "list[documents.MaintenanceChange]":
        from mesosctl.output.json_documents import maintenance

        return [maintenance.MaintenanceChange.from_change(one) for one in changes]

    def document() -> "documents.MaintenanceChanges":
        from mesosctl.output.json_documents import maintenance

        return maintenance.MaintenanceChanges(changes=items())

    columns = (
        Column("MACHINE"),
        Column("ADDRESS", rank=2),
        Column("DONE"),
        Column("FROM", kind="sentence"),
        Column("TO", kind="sentence"),
        Column("SENT", wide=True),
        Column("CONFIRMED", wide=True),
    )
    rows = [
        [
            one.machine.hostname or NOTHING,
            one.machine.ip or NOTHING,
            one.done,
            *span_text(one.span),
            "yes" if one.sent else "no",
            "yes" if one.confirmed else "no",
        ]
        for one in changes
    ]
    done = "; ".join(f"machine {one.machine.name} is {one.done}" for one in changes)
    names = [one.machine.name for one in changes]
    return Report(columns, rows, names, document, items, done=done, empty="nothing is scheduled for these machines")
