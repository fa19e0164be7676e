"""The maintenance schedule of a master: machines, when they are unavailable, and their modes.

Source: Mesos documentation, "Maintenance Primitives".  A machine is a host name, an address, or both, and Mesos takes
an agent to be on the machine that has both of its own.  Times are nanoseconds since 1970, as Mesos keeps them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from mesosctl.mesos.errors import RuleViolation

NANOSECONDS = 10**9
MachineMode = Literal["up", "draining", "down"]
"""A draining machine is scheduled: its agents get inverse offers. The agents of one that is down may not register."""
AnswerOfFramework = Literal["accepted", "declined", "not answered"]
Key = tuple[str, str]


class Machine(NamedTuple):
    """A machine as a schedule names it; the empty text is a part that it does not name."""

    hostname: str = ""
    ip: str = ""

    @property
    def key(self) -> Key:
        """The identity of a machine: host names are compared without case."""
        return self.hostname.lower(), self.ip

    @property
    def name(self) -> str:
        """Its name in sentences."""
        return self.hostname or self.ip


def address_of(pid: str) -> str:
    """The address in a libprocess pid, `slave(1)@10.0.0.1:5051`; empty if it has none."""
    return pid.rpartition("@")[2].rpartition(":")[0].strip("[]")


class Span(NamedTuple):
    """When a machine is unavailable."""

    start: int
    duration: int | None = None
    """None if its end is not known."""

    @property
    def end(self) -> int | None:
        """The end; None if it is not known."""
        return None if self.duration is None else self.start + self.duration


class MaintenanceWindow(NamedTuple):
    """Machines that are unavailable at the same time."""

    machines: tuple[Machine, ...]
    span: Span


Schedule = tuple[MaintenanceWindow, ...]


class Answer(NamedTuple):
    """The answer of a framework to the inverse offer of a machine."""

    framework_id: str
    framework: str
    answer: AnswerOfFramework


MACHINE_KEYS = ("machine", "mode", "from")
"""The keys that the list of machines can be sorted by."""


class ScheduledMachine(NamedTuple):
    """A machine of the schedule, with the agents on it and what frameworks have answered."""

    machine: Machine
    mode: MachineMode
    span: Span | None
    agents: tuple[str, ...] = ()
    """The host names or ids of those that are registered."""
    answers: tuple[Answer, ...] = ()


AgentAttributes = Mapping[str, str | float]
"""The attributes of one agent, by name."""


class MachineChange(NamedTuple):
    """The change that a command made to one machine."""

    machine: Machine
    done: Literal["scheduled", "cancelled", "down", "up"]
    span: Span | None
    sent: bool
    """False if it was so already."""
    confirmed: bool
    agent_attributes: tuple[AgentAttributes, ...] = ()
    """Of each agent that was registered on it before."""


def spans(schedule: Iterable[MaintenanceWindow]) -> dict[Key, Span]:
    """When each machine is unavailable, by key: what a schedule says, however its windows are cut."""
    return {machine.key: window.span for window in schedule for machine in window.machines}


def spans_of(schedule: Iterable[MaintenanceWindow], machines: Iterable[Machine]) -> dict[Machine, Span]:
    """When each of these machines is unavailable; without those that a schedule does not name."""
    when = spans(schedule)
    return {machine: when[machine.key] for machine in machines if machine.key in when}


def without(schedule: Iterable[MaintenanceWindow], machines: Iterable[Machine]) -> Schedule:
    """The schedule without some machines."""
    gone = {machine.key for machine in machines}
    left = (
        MaintenanceWindow(tuple(machine for machine in window.machines if machine.key not in gone), window.span)
        for window in schedule
    )
    return tuple(window for window in left if window.machines)


def merged(schedule: Iterable[MaintenanceWindow], machines: Sequence[Machine], span: Span) -> Schedule:
    """The schedule in which these machines have this span, and others what they had."""
    rest = list(without(schedule, machines))
    for place, window in enumerate(rest):
        if window.span == span:
            rest[place] = MaintenanceWindow((*window.machines, *machines), span)
            return tuple(rest)
    return (*rest, MaintenanceWindow(tuple(machines), span))


def check_schedule(schedule: Sequence[MaintenanceWindow], modes: Mapping[Key, MachineMode]) -> None:
    """Check that a master would accept the schedule.  Raises RuleViolation.

    Source: Mesos documentation, "Maintenance Primitives", "/maintenance/schedule".
    """
    seen: set[Key] = set()
    for index, window in enumerate(schedule):
        field = f"windows[{index}]"
        if not window.machines:
            raise RuleViolation("a window names no machine", field=f"{field}.machine_ids", rule="maintenance.window")
        if window.span.duration is not None and window.span.duration < 0:
            raise RuleViolation(
                "the duration is negative", field=f"{field}.unavailability.duration", rule="maintenance.duration"
            )
        for machine in window.machines:
            if not machine.hostname and not machine.ip:
                raise RuleViolation(
                    "a machine has neither a host name nor an address",
                    field=f"{field}.machine_ids",
                    rule="maintenance.machine",
                )
            if machine.key in seen:
                raise RuleViolation(
                    f"machine '{machine.name}' is in the schedule twice",
                    field=f"{field}.machine_ids",
                    rule="maintenance.once",
                )
            seen.add(machine.key)
    for key, mode in modes.items():
        if mode == "down" and key not in seen:
            raise RuleViolation(
                f"machine '{key[0] or key[1]}' is down, so it cannot leave the schedule",
                rule="maintenance.down",
                hint="bring it up first",
                values={"machine": key[0] or key[1]},
            )
