"""Resources between JSON and core: three formats, one meaning (spec/reservation.md §2.4 and §3).

`resource_error` holds the rules of one Resource message in the master's order; `to_core` turns a
valid message into a `core.Resource`; `to_json` writes one back in a chosen format.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.labels import Labels
from mesosctl.core.resources import Disk, DiskSource, Reservation, Resource, Resources
from mesosctl.core.scalars import to_double, to_milli
from mesosctl.core.values import Items, Ranges, Value, value_add, value_type
from mesosctl.wire.messages import Field, Message, one_of

Format = Literal["PRE", "POST", "ENDPOINT"]
"""PRE: `role` and `reservation`.  POST: the stack `reservations`.  ENDPOINT: what masters and agents show."""

_LABEL = Message("Label", {"key": Field("string", "required"), "value": Field("string")})
_LABELS = Message("Labels", {"labels": Field(_LABEL, "repeated")})
RESERVATION = Message(
    "Resource.ReservationInfo",
    {
        "type": Field(one_of("Resource.ReservationInfo.Type", "UNKNOWN", "STATIC", "DYNAMIC")),
        "role": Field("string"),
        "principal": Field("string"),
        "labels": Field(_LABELS),
    },
)
_DISK = Message(
    "Resource.DiskInfo",
    {
        "persistence": Field(
            Message("Resource.DiskInfo.Persistence", {"id": Field("string", "required"), "principal": Field("string")})
        ),
        "volume": Field(
            Message(
                "Volume",
                {
                    "mode": Field(one_of("Volume.Mode", "RW", "RO"), "required"),
                    "container_path": Field("string", "required"),
                    "host_path": Field("string"),
                },
            )
        ),
        "source": Field(
            Message(
                "Resource.DiskInfo.Source",
                {
                    "type": Field(
                        one_of("Resource.DiskInfo.Source.Type", "UNKNOWN", "PATH", "MOUNT", "BLOCK", "RAW"),
                        "required",
                    ),
                    "path": Field(Message("Resource.DiskInfo.Source.Path", {"root": Field("string")})),
                    "mount": Field(Message("Resource.DiskInfo.Source.Mount", {"root": Field("string")})),
                    "vendor": Field("string"),
                    "id": Field("string"),
                    "metadata": Field(_LABELS),
                    "profile": Field("string"),
                },
            )
        ),
    },
)
_RANGE = Message("Value.Range", {"begin": Field("uint64", "required"), "end": Field("uint64", "required")})
SCALAR = Message("Value.Scalar", {"value": Field("double", "required")})
RESOURCE = Message(
    "Resource",
    {
        "name": Field("string", "required"),
        "type": Field(one_of("Value.Type", "SCALAR", "RANGES", "SET", "TEXT"), "required"),
        "scalar": Field(SCALAR),
        "ranges": Field(Message("Value.Ranges", {"range": Field(_RANGE, "repeated")})),
        "set": Field(Message("Value.Set", {"item": Field("string", "repeated")})),
        "role": Field("string"),
        "reservation": Field(RESERVATION),
        "reservations": Field(RESERVATION, "repeated"),
        "allocation_info": Field(Message("Resource.AllocationInfo", {"role": Field("string")})),
        "disk": Field(_DISK),
        "revocable": Field(Message("Resource.RevocableInfo")),
        "shared": Field(Message("Resource.SharedInfo")),
        "provider_id": Field(Message("ResourceProviderID", {"value": Field("string", "required")})),
    },
)


def resource_error(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """(field, sentence) for the first rule that a Resource message breaks, or None.

    `message` is as `wire.messages.read(RESOURCE, …)` returns it.
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
    previous_end = -1
    for span in spans:
        if span["begin"] > span["end"]:
            return "ranges.range", f"begin > end in {span['begin']}-{span['end']}"
    for span in sorted(spans, key=lambda span: span["begin"]):
        if span["begin"] <= previous_end:
            return "ranges.range", "overlapping ranges"
        previous_end = span["end"]
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
        problem = roles.role_error(entry["role"])
        if problem is not None:
            return f"{where}.role", problem
        if entry["role"] == roles.DEFAULT_ROLE:
            return f"{where}.role", "role '*' cannot be reserved"
        if index == 0:
            continue
        if entry["type"] == "STATIC":
            return f"{where}.type", "a refined reservation cannot be STATIC: only the bottom one can"
        below = stack[index - 1]["role"]
        if not roles.is_strict_subrole(entry["role"], below):
            return f"{where}.role", f"role '{entry['role']}' is not a refinement of '{below}'"
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
            return f"reservation.{key}", f"'{key}' belongs into 'reservations', not into 'reservation'"
    if role == roles.DEFAULT_ROLE:
        return "role", "role '*' cannot be dynamically reserved"
    return None


def _double_format_error(message: Mapping[str, Any], stack: list[dict[str, Any]]) -> tuple[str, str] | None:
    """Both formats at once are allowed only where they say the same."""
    if len(stack) > 1:
        for key in ("role", "reservation"):
            if key in message:
                return key, f"'{key}' must not be set beside more than one reservation"
        return None
    only = stack[0]
    if "role" not in message and "reservation" not in message:
        return None
    if message.get("role", only["role"]) != only["role"]:
        return "role", f"'role' and 'reservations' name different roles: '{message['role']}' and '{only['role']}'"
    if only["type"] == "STATIC":
        return ("reservation", "'reservation' beside a STATIC one") if "reservation" in message else None
    if ("role" in message) != ("reservation" in message):
        return "reservation", "a dynamic reservation in both formats needs both 'role' and 'reservation'"
    beside = message["reservation"]
    if (beside.get("principal"), _labels(beside)) != (only.get("principal"), _labels(only)):
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


def to_core(message: Mapping[str, Any], field: str = "resource") -> Resource:
    """The resource that a message means, whichever format it has.

    Raises RuleViolation naming `field` and the part of it that is wrong.
    """
    problem = resource_error(message)
    if problem is not None:
        where, sentence = problem
        raise RuleViolation(
            f"resource '{message['name']}' is invalid: {sentence}", field=f"{field}.{where}", rule="resource.valid"
        )
    disk = message.get("disk")
    return Resource(
        name=message["name"],
        value=_value(message),
        reservations=_stack(message),
        allocation_role=message.get("allocation_info", {}).get("role"),
        disk=_disk(disk) if disk else None,
        revocable="revocable" in message,
        shared="shared" in message,
        provider_id=message.get("provider_id", {}).get("value"),
    )


def _value(message: Mapping[str, Any]) -> Value:
    if message["type"] == "SCALAR":
        return to_milli(message["scalar"]["value"])
    if message["type"] == "RANGES":
        return Ranges.of((span["begin"], span["end"]) for span in message["ranges"].get("range", []))
    return Items(frozenset(message["set"].get("item", [])))


def _stack(message: Mapping[str, Any]) -> tuple[Reservation, ...]:
    stack = message.get("reservations", [])
    if stack:
        return tuple(
            Reservation(entry["type"], entry["role"], entry.get("principal"), _labels(entry)) for entry in stack
        )
    role = message.get("role", roles.DEFAULT_ROLE)
    if role == roles.DEFAULT_ROLE:
        return ()
    reservation = message.get("reservation")
    if reservation is None:
        return (Reservation("STATIC", role),)
    return (Reservation("DYNAMIC", role, reservation.get("principal"), _labels(reservation)),)


def _labels(reservation: Mapping[str, Any]) -> Labels | None:
    if "labels" not in reservation:
        return None
    return Labels((label["key"], label.get("value")) for label in reservation["labels"].get("labels", []))


def _disk(message: Mapping[str, Any]) -> Disk:
    source = message.get("source")
    persistence, volume = message.get("persistence", {}), message.get("volume", {})
    return Disk(
        persistence_id=persistence.get("id"),
        principal=persistence.get("principal"),
        container_path=volume.get("container_path"),
        mode=volume.get("mode"),
        host_path=volume.get("host_path"),
        source=None
        if source is None
        else DiskSource(
            type=source["type"],
            root=(source.get("path") or source.get("mount") or {}).get("root"),
            vendor=source.get("vendor"),
            id=source.get("id"),
            profile=source.get("profile"),
        ),
    )


def to_json(resource: Resource, style: Format) -> dict[str, Any]:
    """One resource in a format.  Raises ValueError for a refined one in PRE, which cannot say it."""
    written: dict[str, Any] = {"name": resource.name, "type": value_type(resource.value)}
    value = resource.value
    if isinstance(value, int):
        written["scalar"] = {"value": to_double(value)}
    elif isinstance(value, Ranges):
        written["ranges"] = {"range": [{"begin": begin, "end": end} for begin, end in value.spans]}
    else:
        written["set"] = {"item": sorted(value.names)}
    _write_owner(written, resource, style)
    if resource.allocation_role is not None:
        written["allocation_info"] = {"role": resource.allocation_role}
    if resource.disk is not None:
        written["disk"] = _disk_to_json(resource.disk)
    if resource.revocable:
        written["revocable"] = {}
    if resource.shared:
        written["shared"] = {}
    if resource.provider_id is not None:
        written["provider_id"] = {"value": resource.provider_id}
    return written


def list_to_json(resources: Resources | Iterable[Resource], style: Format) -> list[dict[str, Any]]:
    """Every entry of a collection; a shared volume held several times is written as often."""
    return [to_json(resource, style) for resource in resources for _ in range(resource.copies)]


def _write_owner(written: dict[str, Any], resource: Resource, style: Format) -> None:
    stack = resource.reservations
    if style == "PRE" and len(stack) > 1:
        raise ValueError("a refined reservation cannot be written in the format before refinement")
    if not stack:
        if style != "POST":
            written["role"] = roles.DEFAULT_ROLE
        return
    if style != "POST" and len(stack) == 1:
        written["role"] = stack[0].role
        if stack[0].type == "DYNAMIC":
            written["reservation"] = _reservation_to_json(stack[0], typed=False)
    if style != "PRE":
        written["reservations"] = [_reservation_to_json(entry, typed=True) for entry in stack]


def _reservation_to_json(reservation: Reservation, *, typed: bool) -> dict[str, Any]:
    written: dict[str, Any] = {"type": reservation.type, "role": reservation.role} if typed else {}
    if reservation.principal is not None:
        written["principal"] = reservation.principal
    if reservation.labels is not None:
        written["labels"] = {
            "labels": [
                {"key": key} if value is None else {"key": key, "value": value} for key, value in reservation.labels
            ]
        }
    return written


def _disk_to_json(disk: Disk) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if disk.persistence_id is not None:
        written["persistence"] = {"id": disk.persistence_id}
        if disk.principal is not None:
            written["persistence"]["principal"] = disk.principal
    if disk.container_path is not None:
        written["volume"] = {"mode": disk.mode or "RW", "container_path": disk.container_path}
        if disk.host_path is not None:
            written["volume"]["host_path"] = disk.host_path
    if disk.source is not None:
        source: dict[str, Any] = {"type": disk.source.type}
        if disk.source.root is not None:
            source[disk.source.type.lower()] = {"root": disk.source.root}
        for key in ("vendor", "id", "profile"):
            if getattr(disk.source, key) is not None:
                source[key] = getattr(disk.source, key)
        written["source"] = source
    return written


def summary(resources: Resources) -> dict[str, Any]:
    """The summary object of the information endpoints (spec/endpoints.md §1).

    Always cpus, gpus, mem and disk as numbers; ranges and sets as text; revocable amounts under
    `<name>_revocable`.
    """
    amounts: dict[str, Any] = {"disk": 0, "mem": 0, "gpus": 0, "cpus": 0}
    others: dict[str, Value] = {}
    for resource in resources:
        key = f"{resource.name}_revocable" if resource.revocable else resource.name
        if isinstance(resource.value, int):
            amounts[key] = amounts.get(key, 0) + resource.value
        else:
            present = others.get(key)
            others[key] = resource.value if present is None else value_add(present, resource.value)
    return {name: to_double(milli) for name, milli in amounts.items()} | {k: str(v) for k, v in others.items()}
