"""The documented JSON of maintenance: schedules, and machines that go down and come up.

Source: Mesos documentation, "Maintenance Primitives", "Operator API".
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import RootModel

from mesosctl.api.base_model import MesosModel
from mesosctl.api.responses import NATURAL, text, undocumented
from mesosctl.model import maintenance
from mesosctl.model.maintenance import Machine, MachineMode, Span


class MachineID(MesosModel):
    """A machine: a host name, an address, or both."""

    hostname: str | None = None
    ip: str | None = None

    @classmethod
    def of(cls, machine: Machine) -> Self:
        """The message of a machine."""
        return cls(hostname=machine.hostname or None, ip=machine.ip or None)

    def to_model(self) -> Machine:
        """The machine."""
        return Machine(self.hostname or "", self.ip or "")


class TimeInfo(MesosModel):
    """A time since 1970."""

    nanoseconds: int


class DurationInfo(MesosModel):
    """A span of time."""

    nanoseconds: int


class Unavailability(MesosModel):
    """When machines are unavailable; without a duration, until they are brought up."""

    start: TimeInfo
    duration: DurationInfo | None = None


class Window(MesosModel):
    """Machines that are unavailable at the same time."""

    machine_ids: list[MachineID]
    unavailability: Unavailability

    @classmethod
    def of(cls, window: maintenance.Window) -> Self:
        """The message of a window."""
        start, duration = window.span
        return cls(
            machine_ids=[MachineID.of(machine) for machine in window.machines],
            unavailability=Unavailability(
                start=TimeInfo(nanoseconds=start),
                duration=None if duration is None else DurationInfo(nanoseconds=duration),
            ),
        )

    def to_model(self) -> maintenance.Window:
        """The window."""
        duration = self.unavailability.duration
        span = Span(self.unavailability.start.nanoseconds, None if duration is None else duration.nanoseconds)
        return maintenance.Window(tuple(machine.to_model() for machine in self.machine_ids), span)


class Schedule(MesosModel):
    """The body of POST /maintenance/schedule: the whole schedule."""

    windows: list[Window]

    @classmethod
    def of(cls, schedule: maintenance.Schedule) -> Self:
        """The message of a schedule."""
        return cls(windows=[Window.of(window) for window in schedule])

    def to_model(self) -> maintenance.Schedule:
        """The schedule."""
        return tuple(window.to_model() for window in self.windows)


class UpdateMaintenanceSchedule(MesosModel):
    """`update_maintenance_schedule` of the v1 call."""

    schedule: Schedule


class UpdateMaintenanceScheduleCall(MesosModel):
    """The v1 call UPDATE_MAINTENANCE_SCHEDULE."""

    type: Literal["UPDATE_MAINTENANCE_SCHEDULE"] = "UPDATE_MAINTENANCE_SCHEDULE"
    update_maintenance_schedule: UpdateMaintenanceSchedule

    @classmethod
    def of(cls, schedule: maintenance.Schedule) -> Self:
        """The call that makes this the whole schedule."""
        return cls(update_maintenance_schedule=UpdateMaintenanceSchedule(schedule=Schedule.of(schedule)))


class Machines(RootModel[list[MachineID]]):
    """The body of POST /machine/down and /machine/up."""

    @classmethod
    def of(cls, machines: Iterable[Machine]) -> Self:
        """The message of these machines."""
        return cls([MachineID.of(machine) for machine in machines])

    def body(self) -> bytes:
        """The message as it is sent."""
        return self.model_dump_json(exclude_none=True).encode()


class StartMaintenance(MesosModel):
    """`start_maintenance` of the v1 call."""

    machines: list[MachineID]


class StartMaintenanceCall(MesosModel):
    """The v1 call START_MAINTENANCE."""

    type: Literal["START_MAINTENANCE"] = "START_MAINTENANCE"
    start_maintenance: StartMaintenance

    @classmethod
    def of(cls, machines: Iterable[Machine]) -> Self:
        """The call that takes these machines down."""
        return cls(start_maintenance=StartMaintenance(machines=Machines.of(machines).root))


class StopMaintenance(MesosModel):
    """`stop_maintenance` of the v1 call."""

    machines: list[MachineID]


class StopMaintenanceCall(MesosModel):
    """The v1 call STOP_MAINTENANCE."""

    type: Literal["STOP_MAINTENANCE"] = "STOP_MAINTENANCE"
    stop_maintenance: StopMaintenance

    @classmethod
    def of(cls, machines: Iterable[Machine]) -> Self:
        """The call that brings these machines up."""
        return cls(stop_maintenance=StopMaintenance(machines=Machines.of(machines).root))


def read_schedule_file(text_: str, where: str) -> maintenance.Schedule:
    """The schedule in a file: the body of POST /maintenance/schedule, or the call UPDATE_MAINTENANCE_SCHEDULE.

    Raises BadInput with the place.
    """
    from mesosctl.api.files.reading import read_json  # imported late: most requests come from arguments

    value = read_json(text_, where)
    if isinstance(value, dict) and "update_maintenance_schedule" in value:
        call = UpdateMaintenanceScheduleCall.read(value, where)
        return call.update_maintenance_schedule.schedule.to_model()
    return Schedule.read(value, where).to_model()


# --- What a master answers ---------------------------------------------------------------------------


def schedule_of(answer: Any) -> maintenance.Schedule:
    """GET /maintenance/schedule.  Raises UnexpectedAnswer."""
    try:
        return tuple(map(_window, answer.get("windows", [])))
    except NATURAL as error:
        raise undocumented(error, "windows") from None


def _window(entry: Mapping[str, Any]) -> maintenance.Window:
    duration = entry["unavailability"].get("duration")
    span = Span(
        int(entry["unavailability"]["start"]["nanoseconds"]),
        None if duration is None else int(duration["nanoseconds"]),
    )
    return maintenance.Window(tuple(map(_machine, entry["machine_ids"])), span)


def _machine(entry: Mapping[str, Any]) -> Machine:
    return Machine(text(entry.get("hostname", "")), text(entry.get("ip", "")))


_ANSWERS: dict[str, maintenance.AnswerOfFramework] = {"ACCEPT": "accepted", "DECLINE": "declined"}
Answers = dict[str, maintenance.AnswerOfFramework]
"""By the id of the framework."""


def status_of(answer: Any) -> dict[Machine, tuple[MachineMode, Answers]]:
    """GET /maintenance/status: the machines that are not up, and the answers to inverse offers.

    Raises UnexpectedAnswer.
    """
    found: dict[Machine, tuple[MachineMode, Answers]] = {}
    try:
        for entry in answer.get("draining_machines", []):
            answers: Answers = {
                text(one["framework_id"]["value"]): _ANSWERS.get(text(one["status"]), "not answered")
                for one in entry.get("statuses", [])
            }
            found[_machine(entry["id"])] = "draining", answers
        for entry in answer.get("down_machines", []):
            found[_machine(entry)] = "down", {}
    except NATURAL as error:
        raise undocumented(error, "maintenance/status") from None
    return found
