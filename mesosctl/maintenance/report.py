"""Maintenance as reports: local times with their zone for people, UTC in JSON."""

from collections.abc import Sequence
from datetime import UTC, datetime

from mesosctl.maintenance import documents
from mesosctl.mesos.names import PLAIN, Spelling
from mesosctl.mesos.rules.maintenance import NANOSECONDS, Machine, MachineChange, ScheduledMachine, Span
from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Meaning, Report

_MODES: dict[str, Meaning] = {"draining": "at risk", "down": "not met"}


def local_time(nanoseconds: int) -> str:
    """A time as people read it, in the zone of this machine: "2026-12-01 02:00 +01:00"."""
    at = datetime.fromtimestamp(nanoseconds / NANOSECONDS, UTC).astimezone()
    text = at.isoformat(" ", "minutes" if nanoseconds % (60 * NANOSECONDS) == 0 else "seconds")
    return f"{text[:-6]} {text[-6:]}"


def _end(span: Span) -> str:
    return "open" if span.end is None else local_time(span.end)


def machine_list(
    machines: Sequence[ScheduledMachine], *, empty: str = "no maintenance is scheduled", spelling: Spelling = PLAIN
) -> Report:
    """A line for every machine of the schedule; `empty` is shown if there is none."""
    return list_report(
        documents.MaintenanceList(machines=[]),
        machines,
        (
            Column("MACHINE", lambda scheduled: spelling.machine("host", scheduled.machine.hostname)),
            Column("ADDRESS", lambda scheduled: spelling.machine("address", scheduled.machine.ip), rank=2),
            Column("MODE", lambda scheduled: scheduled.mode, meaning=_MODES),
            Column("FROM", lambda scheduled: scheduled.span and local_time(scheduled.span.start), kind="sentence"),
            Column("TO", lambda scheduled: scheduled.span and _end(scheduled.span), kind="sentence"),
            Column("AGENTS", lambda scheduled: scheduled.agents, rank=1),
            Column(
                "ANSWERS",
                lambda scheduled: ", ".join(f"{answer.framework}: {answer.answer}" for answer in scheduled.answers),
                kind="sentence",
                rank=1,
            ),
        ),
        name=lambda scheduled: _name(scheduled.machine, spelling),
        element=documents.MaintenanceMachine.from_machine,
        empty=empty,
    )


def _name(machine: Machine, spelling: Spelling) -> str:
    """The word that -o name writes."""
    return spelling.machine("host", machine.hostname) or spelling.machine("address", machine.ip)


def maintenance_changes(changes: Sequence[MachineChange], spelling: Spelling = PLAIN) -> Report:
    """The change that a command made to each machine."""
    return list_report(
        documents.MaintenanceChanges(changes=[]),
        changes,
        (
            Column("MACHINE", lambda change: spelling.machine("host", change.machine.hostname)),
            Column("ADDRESS", lambda change: spelling.machine("address", change.machine.ip), rank=2),
            Column("DONE", lambda change: change.done),
            Column("FROM", lambda change: change.span and local_time(change.span.start), kind="sentence"),
            Column("TO", lambda change: change.span and _end(change.span), kind="sentence"),
            Column("SENT", lambda change: change.sent, wide=True),
            Column("CONFIRMED", lambda change: change.confirmed, wide=True),
        ),
        name=lambda change: _name(change.machine, spelling),
        element=documents.MaintenanceChange.from_change,
        done="; ".join(f"machine {change.machine.name} is {change.done}" for change in changes),
        empty="nothing is scheduled for these machines",
    )
