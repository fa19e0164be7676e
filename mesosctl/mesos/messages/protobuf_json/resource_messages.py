"""The rules of a Resource message (Mesos documentation, "Attributes and Resources")."""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import to_milli
from mesosctl.mesos.amounts.resource import Labels
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.rules.reservations.rules import refinement_problem, reserved_role_problem

RESOURCE = mesos_message("mesos.v1.Resource")
RESERVATION = mesos_message("mesos.v1.Resource.ReservationInfo")


def resource_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the field and the sentence of the first rule that a Resource message breaks, or None.

    `message` is as `messages.read(RESOURCE, …)` returns it.
    """
    return _value_error(message) or _disk_error(message) or _reservation_error(message) or _shared_error(message)


def _value_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    kind = message["type"]
    given = {key for key in ("scalar", "ranges", "set") if key in message}
    if not message["name"]:
        return "name", "empty resource name"
    if kind == "SCALAR":
        if given != {"scalar"}:
            return "scalar", "a SCALAR resource has a scalar and nothing else"
        value = message["scalar"]["value"]
        if value != 0 and (_milli_or_none(value) or 0) <= 0:
            return "scalar.value", "value <= 0, or beyond what three decimals can hold"
        return None
    if kind == "RANGES":
        if given != {"ranges"}:
            return "ranges", "a RANGES resource has ranges and nothing else"
        return _ranges_error(message["ranges"].get("range", []))
    if kind == "SET":
        items = message["set"].get("item", []) if given == {"set"} else None
        if items is None:
            return "set", "a SET resource has a set and nothing else"
        return ("set.item", "duplicated elements") if len(set(items)) != len(items) else None
    return "type", f"unsupported resource type {kind}"


def _milli_or_none(value: float) -> int | None:
    try:
        return to_milli(value)
    except ValueError:
        return None


def _ranges_error(spans: list[dict[str, int]]) -> tuple[str, str] | None:
    """A master compares each span with those after it, by where these begin: 5-9 before 1-6 does not overlap."""
    # The spans so far that end later than every one that begins earlier, sorted.
    begins, ends = list[int](), list[int]()
    for span in spans:
        begin, end = span["begin"], span["end"]
        if begin > end:
            return "ranges.range", f"begin > end in {begin}-{end}"
        place = bisect_right(begins, begin)
        if place and ends[place - 1] >= begin:
            return "ranges.range", "overlapping ranges"
        surpassed = bisect_right(ends, end, place)
        begins[place:surpassed], ends[place:surpassed] = [begin], [end]
    return None


def _disk_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    if "disk" not in message:
        return None
    if message["name"] != "disk":
        return "disk", f"DiskInfo should not be set for {message['name']}"
    source = message["disk"].get("source")
    if source is None:
        return None
    if source["type"] in ("RAW", "BLOCK"):
        for key in ("mount", "path"):
            if key in source:
                return f"disk.source.{key}", f"{key} should not be set for a {source['type']} disk source"
    if source["type"] == "UNKNOWN":
        return "disk.source.type", "unsupported disk source type"
    return None


def _reservation_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    stack: list[dict[str, Any]] = message.get("reservations", [])
    if not stack:
        return _pre_format_error(message)
    for index, entry in enumerate(stack):
        where = f"reservations[{index}]"
        if entry.get("type", "UNKNOWN") == "UNKNOWN":
            return f"{where}.type", "the type of a reservation must be STATIC or DYNAMIC"
        if "role" not in entry:
            return f"{where}.role", "a reservation must name its role"
        problem = reserved_role_problem(entry["role"])
        if problem is not None:
            return f"{where}.role", problem
        if index == 0:
            continue
        if entry["type"] == "STATIC":
            return f"{where}.type", "a refined reservation cannot be STATIC: only the bottom one can"
        problem = refinement_problem(entry["role"], stack[index - 1]["role"])
        if problem is not None:
            return f"{where}.role", problem
    return _double_format_error(message, stack)


def _pre_format_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    role = message.get("role", roles.DEFAULT_ROLE)
    problem = roles.role_error(role)
    if problem is not None:
        return "role", problem
    reservation = message.get("reservation")
    if reservation is None:
        return None
    for key in ("type", "role"):
        if key in reservation:
            return f"reservation.{key}", f"'{key}' belongs in 'reservations', not in 'reservation'"
    if role == roles.DEFAULT_ROLE:
        return "role", "role '*' cannot be dynamically reserved"
    return None


def _double_format_error(message: Mapping[str, Any], stack: list[dict[str, Any]]) -> tuple[str, str] | None:
    """Return the error of a message whose two formats contradict each other, or None."""
    if len(stack) > 1:
        for key in ("role", "reservation"):
            if key in message:
                return key, f"'{key}' must not be set if 'reservations' has more than one entry"
        return None
    only = stack[0]
    if "role" not in message and "reservation" not in message:
        return None
    if message.get("role", only["role"]) != only["role"]:
        return "role", f"'role' and 'reservations' name different roles: '{message['role']}' and '{only['role']}'"
    if only["type"] == "STATIC":
        if "reservation" in message:
            return "reservation", "'reservation' must not be set if 'reservations' has a STATIC entry"
        return None
    if ("role" in message) != ("reservation" in message):
        return "reservation", "a dynamic reservation in both formats needs both 'role' and 'reservation'"
    beside = message["reservation"]
    if (beside.get("principal"), labels(beside)) != (only.get("principal"), labels(only)):
        return "reservation", "'reservation' and 'reservations' have different principals or labels"
    return None


def _shared_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    if "shared" not in message:
        return None
    if message["name"] != "disk":
        return "shared", f"{message['name']} cannot be shared"
    if "persistence" not in message.get("disk", {}):
        return "shared", "only persistent volumes can be shared"
    return None


def labels(message: Mapping[str, Any], field: str = "labels") -> Labels | None:
    """Return the labels in a field of a message; None if it has none at all."""
    if field not in message:
        return None
    return Labels((label["key"], label.get("value")) for label in message[field].get("labels", []))
