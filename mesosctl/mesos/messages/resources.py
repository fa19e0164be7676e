"""Resources between JSON and the model: three formats, one meaning (Mesos documentation, "Attributes and Resources").

`to_model` turns a valid message into a `Resource`; `to_json` writes one back in a chosen format. `resource_messages`
declares the messages and their rules, and `reservations` has the JSON of the reservations in them.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from mesosctl.mesos.amounts.quantities import to_sent_milli, to_shown
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items, Ranges, Value, value_add, value_type
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.resource_messages import RESERVATION, RESOURCE, labels, resource_error
from mesosctl.mesos.messages.reservations import Format, labels_to_json, owner_to_json, reservation_stack

__all__ = [
    "RESERVATION",
    "RESOURCE",
    "Format",
    "list_to_json",
    "resource_error",
    "summary",
    "to_json",
    "to_model",
]


def to_model(message: Mapping[str, Any], field: str = "resource") -> Resource:
    """The resource that a message means, whichever format it has.

    Raises RuleViolation naming `field` and the part of it that is wrong.
    """
    problem = resource_error(message)
    if problem is not None:
        where, sentence = problem
        raise RuleViolation(
            f"resource '{message['name']}' is invalid: {sentence}", field=f"{field}.{where}", rule="resource.valid"
        )
    disk, allocation = message.get("disk"), message.get("allocation_info")
    return Resource(
        name=message["name"],
        value=_value(message),
        reservations=reservation_stack(message),
        allocation_role=None if allocation is None else allocation.get("role", ""),
        disk=_disk(disk) if disk is not None else None,
        revocable="revocable" in message,
        throttleable="throttle_info" in message.get("revocable", {}),
        shared="shared" in message,
        provider_id=message.get("provider_id", {}).get("value"),
    )


def _value(message: Mapping[str, Any]) -> Value:
    if message["type"] == "SCALAR":
        return to_sent_milli(message["scalar"]["value"])
    if message["type"] == "RANGES":
        return Ranges.as_sent((span["begin"], span["end"]) for span in message["ranges"].get("range", []))
    return Items.of(message["set"].get("item", []))


def _disk(message: Mapping[str, Any]) -> Disk:
    source = message.get("source")
    persistence, volume = message.get("persistence", {}), message.get("volume", {})
    more = {name: volume[name] for name in ("image", "source") if name in volume}
    return Disk(
        persistence_id=persistence.get("id"),
        principal=persistence.get("principal"),
        container_path=volume.get("container_path"),
        mode=volume.get("mode"),
        host_path=volume.get("host_path"),
        more=json.dumps(more) if more else None,
        source=None
        if source is None
        else DiskSource(
            type=source["type"],
            root=source.get(source["type"].lower(), {}).get("root"),
            vendor=source.get("vendor"),
            id=source.get("id"),
            profile=source.get("profile"),
            metadata=labels(source, "metadata"),
        ),
    )


def to_json(resource: Resource, style: Format) -> dict[str, Any]:
    """One resource in a format.  Raises ValueError for a refined one in PRE, which cannot express it."""
    written: dict[str, Any] = {"name": resource.name, "type": value_type(resource.value)}
    value = resource.value
    if isinstance(value, int):
        written["scalar"] = {"value": to_shown(value)}
    elif isinstance(value, Ranges):
        written["ranges"] = {"range": [{"begin": begin, "end": end} for begin, end in value.sent or value.spans]}
    else:
        written["set"] = {"item": list(value)}
    written |= owner_to_json(resource, style)
    if resource.allocation_role is not None:
        written["allocation_info"] = {"role": resource.allocation_role}
    if resource.disk is not None:
        written["disk"] = _disk_to_json(resource.disk)
    if resource.revocable:
        written["revocable"] = {"throttle_info": {}} if resource.throttleable else {}
    if resource.shared:
        written["shared"] = {}
    if resource.provider_id is not None:
        written["provider_id"] = {"value": resource.provider_id}
    return written


def list_to_json(resources: Resources | Iterable[Resource], style: Format) -> list[dict[str, Any]]:
    """Every entry of a collection; a shared volume that is held several times is repeated."""
    return [to_json(resource, style) for resource in resources for _ in range(resource.copies)]


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
        if disk.more is not None:
            written["volume"] |= json.loads(disk.more)
    if disk.source is not None:
        source: dict[str, Any] = {"type": disk.source.type}
        if disk.source.root is not None:
            source[disk.source.type.lower()] = {"root": disk.source.root}
        for key in ("vendor", "id", "profile"):
            if getattr(disk.source, key) is not None:
                source[key] = getattr(disk.source, key)
        if disk.source.metadata is not None:
            source["metadata"] = labels_to_json(disk.source.metadata)
        written["source"] = source
    return written


def summary(resources: Resources) -> dict[str, Any]:
    """The summary object of the information endpoints (Mesos documentation, "HTTP Endpoints").

    Always cpus, gpus, mem and disk as numbers; ranges and sets as text; revocable amounts under
    `<name>_revocable`.  The numbers are sums of doubles, entry by entry: 0.1 and 0.2 are shown as
    0.30000000000000004, and only here.
    """
    amounts: dict[str, float] = {"disk": 0.0, "mem": 0.0, "gpus": 0.0, "cpus": 0.0}
    others: dict[str, Value] = {}
    for resource in resources:
        key = f"{resource.name}_revocable" if resource.revocable else resource.name
        if isinstance(resource.value, int):
            amounts[key] = amounts.get(key, 0.0) + to_shown(resource.value)
        else:
            present = others.get(key)
            others[key] = resource.value if present is None else value_add(present, resource.value)
    return amounts | {name: str(value) for name, value in others.items()}
