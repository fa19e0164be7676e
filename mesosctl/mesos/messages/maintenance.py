"""The documented JSON of maintenance: schedules, and machines that go down and come up.

Source: Mesos documentation, "Maintenance Primitives", "Operator API".
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.responses import NATURAL, text, undocumented
from mesosctl.mesos.messages.table_models import MASTER_CALL, body_of, call_model, master_call, model_of
from mesosctl.mesos.rules import maintenance
from mesosctl.mesos.rules.maintenance import Machine, MachineMode, Span

_SCHEDULE = model_of("mesos.v1.maintenance.Schedule")


def schedule_message(schedule: maintenance.Schedule) -> MesosModel:
    """The body of POST /maintenance/schedule: the whole schedule."""
    return _SCHEDULE.read({"windows": list(map(_window_to_json, schedule))}, "schedule")


def update_schedule(schedule: maintenance.Schedule) -> MesosModel:
    """The v1 call that makes this the whole schedule."""
    return master_call("UPDATE_MAINTENANCE_SCHEDULE", {"schedule": schedule_message(schedule)})


def machines_body(machines: Iterable[Machine]) -> bytes:
    """The body of POST /machine/down and /machine/up."""
    return body_of(list(map(_machine_to_json, machines)))


def machines_call(kind: Literal["START_MAINTENANCE", "STOP_MAINTENANCE"], machines: Iterable[Machine]) -> MesosModel:
    """The v1 call that takes machines down, or brings them up."""
    return master_call(kind, {"machines": list(map(_machine_to_json, machines))})


def _machine_to_json(machine: Machine) -> dict[str, str]:
    named = {"hostname": machine.hostname, "ip": machine.ip}
    return {key: name for key, name in named.items() if name}


def _window_to_json(window: maintenance.MaintenanceWindow) -> dict[str, Any]:
    start, duration = window.span
    unavailability = {"start": {"nanoseconds": start}}
    if duration is not None:
        unavailability["duration"] = {"nanoseconds": duration}
    return {"machine_ids": list(map(_machine_to_json, window.machines)), "unavailability": unavailability}


def read_schedule_file(text_: str, where: str) -> maintenance.Schedule:
    """The schedule in a file: the body of POST /maintenance/schedule, or the call UPDATE_MAINTENANCE_SCHEDULE.

    Raises BadInput with the place.
    """
    from mesosctl.mesos.messages.strict.reading import read_json  # imported late: most requests come from arguments

    value = read_json(text_, where)
    if isinstance(value, dict) and "update_maintenance_schedule" in value:
        call: Any = call_model(MASTER_CALL, "UPDATE_MAINTENANCE_SCHEDULE").read(value, where)
        schedule = call.update_maintenance_schedule.schedule
    else:
        schedule = _SCHEDULE.read(value, where)
    return tuple(map(_window, schedule.content()["windows"]))


# --- What a master answers ---------------------------------------------------------------------------


def schedule_of(answer: Any) -> maintenance.Schedule:
    """GET /maintenance/schedule.  Raises UnexpectedAnswer."""
    try:
        return tuple(map(_window, answer.get("windows", [])))
    except NATURAL as error:
        raise undocumented(error, "windows") from None


def _window(entry: Mapping[str, Any]) -> maintenance.MaintenanceWindow:
    duration = entry["unavailability"].get("duration")
    span = Span(
        int(entry["unavailability"]["start"]["nanoseconds"]),
        None if duration is None else int(duration["nanoseconds"]),
    )
    return maintenance.MaintenanceWindow(tuple(map(_machine, entry["machine_ids"])), span)


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
                text(status["framework_id"]["value"]): _ANSWERS.get(text(status["status"]), "not answered")
                for status in entry.get("statuses", [])
            }
            found[_machine(entry["id"])] = "draining", answers
        for entry in answer.get("down_machines", []):
            found[_machine(entry)] = "down", {}
    except NATURAL as error:
        raise undocumented(error, "maintenance/status") from None
    return found
