"""The records of a registry: their types, and the check that a record is one that a master wrote.

It checks only what would fail far from where it is read, and nothing in kinds that are not listed here.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, TypedDict


class DrainInfo(TypedDict):
    """The DrainInfo message of an agent."""

    state: Literal["DRAINING", "DRAINED"]
    config: Mapping[str, Any]
    """DrainConfig: `mark_gone`, and perhaps `max_grace_period`."""


class AgentRecord(TypedDict):
    """The record of kind "agent", by host name: an agent's id, and the settings of operators."""

    id: str
    registered_time: float
    """Seconds since the epoch, as are the other times."""
    gone: NotRequired[bool]
    gone_time: NotRequired[float]
    forgotten: NotRequired[bool]
    """Whether an agent that is unreachable or gone has been so for too long for the registry to keep it."""
    shut_down: NotRequired[bool]
    deactivated: NotRequired[bool]
    unreachable_time: NotRequired[float]
    drain_info: NotRequired[DrainInfo]
    drain_start: NotRequired[float]


class QuotaRecord(TypedDict):
    """The record of kind "quota", by role: amounts as they were sent."""

    guarantees: dict[str, float]
    limits: dict[str, float]


class MachineRecord(TypedDict):
    """The record of kind "machine": a machine of the maintenance schedule; one that is up has none."""

    id: Mapping[str, Any]
    """MachineID."""
    mode: Literal["DRAINING", "DOWN"]


Fits = Callable[[Any], bool]
_END_OF_TIME = 253402300800.0
"""Seconds since the epoch at the end of the year 9999."""


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _moment(value: Any) -> bool:
    return _number(value) and 0 <= value < _END_OF_TIME


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _words(value: Any) -> bool:
    return isinstance(value, str)


def _all(fits: Fits) -> Fits:
    """A list of valid values."""
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _each(fits: Fits) -> Fits:
    """An object of any fields with valid values."""
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _with(**fields: Fits) -> Fits:
    """An object that has these fields, and perhaps others."""
    return lambda value: isinstance(value, dict) and all(fits(value.get(name)) for name, fits in fields.items())


def _or_nothing(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _amounts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_number, value.values()))


def _attribute(value: Any) -> bool:
    held = {"TEXT": _with(text=_with(value=_words)), "SCALAR": _with(scalar=_with(value=_number))}
    return _with(name=_text, type=held.__contains__)(value) and held[value["type"]](value)


def _drain_info(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("state") not in ("DRAINING", "DRAINED"):
        return False
    config = value.get("config")
    return isinstance(config, dict) and _switch(config.get("mark_gone"))


def _nanoseconds(value: Any) -> bool:
    return isinstance(value, dict) and type(value.get("nanoseconds")) is int


def _machine_id(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name, ""), str) for name in ("hostname", "ip"))


def _windows(value: Any) -> bool:
    return isinstance(value, list) and all(map(_window, value))


def _window(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("machine_ids"), list):
        return False
    span = value.get("unavailability")
    if not isinstance(span, dict) or not _nanoseconds(span.get("start")):
        return False
    return all(map(_machine_id, value["machine_ids"])) and ("duration" not in span or _nanoseconds(span["duration"]))


_NEEDED: Mapping[str, Mapping[str, Fits]] = {
    "master": {"id": _text, "start_time": _moment},
    "agent": {"id": _text, "registered_time": _moment},
    "agent_info": {"hostname": _text, "resources": _all(_with(name=_text))},
    "agent_framework": {"id": _with(value=_text), "name": _words, "user": _words},
    "former_agent": {"hostname": _text},
    "quota": {"guarantees": _amounts, "limits": _amounts},
    "machine": {"id": _machine_id, "mode": ("DRAINING", "DOWN").__contains__},
}
"""The fields of records that are objects, by kind."""
_MINIMUM = _with(quantities=_or_nothing(_all(_with(quantities=_or_nothing(_each(_with(value=_number)))))))
_POSSIBLE: Mapping[str, Mapping[str, Fits]] = {
    "agent": {
        "gone": _switch,
        "gone_time": _moment,
        "forgotten": _switch,
        "shut_down": _switch,
        "deactivated": _switch,
        "unreachable_time": _moment,
        "drain_start": _moment,
        "drain_info": _drain_info,
    },
    "agent_info": {"attributes": _all(_attribute)},
    "agent_framework": {
        "principal": _words,
        "role": _text,
        "roles": _all(_text),
        "capabilities": _all(_with(type=_or_nothing(_text))),
        "failover_timeout": lambda value: isinstance(value, int | float),
        "offer_filters": _each(_with(min_allocatable_resources=_or_nothing(_MINIMUM))),
    },
}
"""Fields that may be absent."""
_WHOLE: Mapping[str, Fits] = {
    "weight": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value > 0,
    "checkpoint": lambda value: isinstance(value, list) and all(isinstance(entry, dict) for entry in value),
    "schedule": _windows,
}
"""The checks of all other records, by kind."""


def wrong_part(kind: str, value: Any) -> str | None:
    """The field of a record that is missing or wrong, "" if it is wrong as a whole, None if it is as written."""
    if kind in _WHOLE:
        return None if _WHOLE[kind](value) else ""
    if kind not in _NEEDED:
        return None
    if not isinstance(value, dict):
        return ""
    missing = (name for name, fits in _NEEDED[kind].items() if not fits(value.get(name)))
    broken = (name for name, fits in _POSSIBLE.get(kind, {}).items() if name in value and not fits(value[name]))
    return next(missing, None) or next(broken, None)
