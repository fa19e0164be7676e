"""Defaults that a master's JSON shows of fields that nobody set, and the rest of a message that no JSON shows.

Source: a Mesos 1.11.0 master. Its JSON shows the default of every field that has one, unless the field is deprecated;
its protobuf shows what was set, with the fields and the values of enumerations that it does not know.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from mesosctl.mesos.messages.protobuf_json.message_tables import Field, Message, default_of, mesos_message
from mesosctl.mesos.messages.protobuf_json.releases import has

_DEPRECATED = {("mesos.v1.FrameworkInfo", "role"), ("mesos.v1.Resource", "role")}
"""Fields with a default that JSON does not show."""
WRITTEN_AS_THEY_ARE = "1.10.0"
"""The first release that writes its own messages as JSON, not those of v1 that it makes of them.

So lists without elements are shown, and `checkpoint` of an agent, which v1 does not have. Seen on a master of each
release.
"""
MAPS_ARE_OBJECTS = "1.9.0"
"""The first release that writes a map as an object; before it, a map is a list of entries with `key` and `value`."""
_NOT_IN_V1 = {("mesos.v1.AgentInfo", "checkpoint")}


class WithUnknown(dict[str, Any]):
    """The fields of a message that came as protobuf, and the bytes of what its table does not know."""

    __slots__ = ("unknown",)

    def __init__(self, fields: Mapping[str, Any], unknown: bytes) -> None:
        super().__init__(fields)
        self.unknown = unknown

    def __reduce__(self) -> Any:
        return WithUnknown, (dict(self), self.unknown)


def replaced(document: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a message instead of those of `document`, with what else it carries."""
    return WithUnknown(fields, document.unknown) if isinstance(document, WithUnknown) else fields


class _Plan(NamedTuple):
    """The fields of a message with a default, and those whose messages have any, at whatever depth."""

    defaults: Mapping[str, Any]
    later: frozenset[str]
    """The fields that only later releases show."""
    has_empty_lists: bool
    """Whether lists without elements are shown."""
    parts: Mapping[str, tuple[Message | None, str]]
    """The message and the label of each; no message if only the map that it is in changes."""
    has_objects_for_maps: bool


def as_shown(message: Message, document: Any) -> Any:
    """A document as the JSON of the message's release shows it; the same object if nothing is to be changed.

    Defaults are added, and fields of later releases left out. What is no object, such as text that is JSON already,
    stays as it is, as does an object without a table.
    """
    plan = _plan(message)
    if plan is None or not isinstance(document, dict):
        return document
    if not plan.later.isdisjoint(document) or not (plan.has_empty_lists or all(map(_has_elements, document.values()))):
        shown = {
            name: value
            for name, value in document.items()
            if name not in plan.later and (plan.has_empty_lists or _has_elements(value))
        }
        document = replaced(document, shown)
    added = {name: value for name, value in plan.defaults.items() if name not in document}
    for name, (kind, label) in plan.parts.items():
        before = document.get(name)
        if before is not None:
            after = _parts_as_shown(kind, label, before)
            if label == "map" and not plan.has_objects_for_maps and isinstance(after, dict):
                after = [{"key": key, "value": after[key]} for key in sorted(after)]
            if after is not before:
                added[name] = after
    return {**document, **added} if added else document


def _parts_as_shown(kind: Message | None, label: str, part: Any) -> Any:
    if kind is None:
        return part
    if label == "map" and isinstance(part, dict):
        return {key: as_shown(kind, value) for key, value in part.items()}
    if isinstance(part, list):
        found = [as_shown(kind, value) for value in part]
        return part if all(map(_is, found, part)) else found
    return as_shown(kind, part)


def _has_elements(value: Any) -> bool:
    return not isinstance(value, list) or bool(value)


def _is(value: Any, other: Any) -> bool:
    return value is other


@cache
def _plan(message: Message) -> _Plan | None:
    """Return the plan of a message, or None if no default is in it or in its parts."""
    shown, later, has_empty_lists = _shown_defaults(message), _later_fields(message), _shows_empty_lists(message)
    has_objects = has(message.release, MAPS_ARE_OBJECTS)
    parts = {
        name: (field.type if isinstance(field.type, Message) else None, field.label)
        for name, field in message.fields.items()
        if (isinstance(field.type, Message) and _has_any(field.type)) or (field.label == "map" and not has_objects)
    }
    if not (shown or later or parts) and has_empty_lists:
        return None
    return _Plan(shown, later, has_empty_lists, parts, has_objects)


def _shown_defaults(message: Message) -> dict[str, Any]:
    return {
        name: default_of(field)
        for name, field in message.fields.items()
        if field.default is not None and (message.name, name) not in _DEPRECATED
    }


def _later_fields(message: Message) -> frozenset[str]:
    """Return the fields of a message that its release does not show yet."""
    if message.release is None:
        return frozenset()
    try:
        newest = mesos_message(message.name)
    except KeyError:  # the message has ended
        return frozenset()
    own = (
        set() if has(message.release, WRITTEN_AS_THEY_ARE) else {name for of, name in _NOT_IN_V1 if of == message.name}
    )
    return frozenset(newest.fields.keys() - message.fields.keys() | own)


def _shows_empty_lists(message: Message) -> bool:
    is_list = any(field.label == "repeated" for field in message.fields.values())
    return not is_list or has(message.release, WRITTEN_AS_THEY_ARE)


def _has_lists_for_maps(message: Message) -> bool:
    is_map = any(field.label == "map" for field in message.fields.values())
    return is_map and not has(message.release, MAPS_ARE_OBJECTS)


@cache
def _has_any(message: Message) -> bool:
    """Whether anything changes in a message or any part of it; messages can contain themselves."""
    reached, waiting = {message}, [message]
    while waiting:
        part = waiting.pop()
        if _shown_defaults(part) or _later_fields(part) or not _shows_empty_lists(part) or _has_lists_for_maps(part):
            return True
        inner = {field.type for field in part.fields.values() if isinstance(field.type, Message)} - reached
        reached |= inner
        waiting += inner
    return False


def maps_as_objects(message: Message, document: Any) -> Any:
    """A document in which each map is an object, also one that a release before `MAPS_ARE_OBJECTS` wrote.

    Raises one of TypeError and KeyError for a map that is neither an object nor a list of entries.
    """
    if not isinstance(document, Mapping):
        return document
    return {
        name: _with_objects(message.fields[name], part) if name in message.fields else part
        for name, part in document.items()
    }


def _with_objects(field: Field, part: Any) -> Any:
    if field.label == "map" and isinstance(part, list):
        part = {entry["key"]: entry["value"] for entry in part}
    kind = field.type
    if not isinstance(kind, Message):
        return part
    if field.label == "map":
        return {key: maps_as_objects(kind, value) for key, value in part.items()}
    return [maps_as_objects(kind, one) for one in part] if isinstance(part, list) else maps_as_objects(kind, part)
