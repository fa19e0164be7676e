"""JSON compared as a reader of it would: lists whose order a master leaves open compare as sets."""

import json
import re
from typing import Any

# Lists that Mesos fills by walking a hash map; "" is a list that is itself the whole answer (/weights).
UNORDERED = {
    "",
    "agents",
    "configs",
    "down_machines",
    "draining_machines",
    "infos",
    "recovered_agents",
    "recovered_slaves",
    "roles",
    "slaves",
    "weight_infos",
}

# What differs from one master to the next: identities, places, times and builds.
VOLATILE = {
    "build_date",
    "build_time",
    "build_user",
    "elected_time",
    "git_sha",
    "hostname",
    "id",
    "leader",
    "pid",
    "port",
    "registered_time",
    "reregistered_time",
    "start_time",
    "work_dir",
}


def canonical(value: Any, key: str = "") -> Any:
    """The value with every list of open order sorted."""
    if isinstance(value, dict):
        return {name: canonical(part, name) for name, part in value.items()}
    if isinstance(value, list):
        parts = [canonical(part, "[]") for part in value]
        is_open = key in UNORDERED or (bool(parts) and all(map(_is_entry, parts)))
        return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True)) if is_open else parts
    return value


def _is_entry(part: Any) -> bool:
    """Whether this is an entry of a map, as releases before 1.9 write one in JSON."""
    return isinstance(part, dict) and part.keys() == {"key", "value"} and isinstance(part["value"], dict)


def steady(value: Any) -> Any:
    """The canonical value with the type in the place of all that is volatile, and 1 told apart from 1.0."""
    return canonical(_steady(value))


def _steady(value: Any, *, volatile: bool = False) -> Any:
    if isinstance(value, dict):
        named = volatile or value.get("name") in VOLATILE  # {"name": "work_dir", "value": …} in v1 flags
        return {
            key: _steady(part, volatile=key in VOLATILE or (named and key != "name")) for key, part in value.items()
        }
    if isinstance(value, list):
        return [_steady(part, volatile=volatile) for part in value]
    if volatile:
        return f"<{type(value).__name__}>"
    return repr(value) if isinstance(value, float) else value


_MASTER_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NUMBER = re.compile(r"\b(id-O|id-)\d+\b")
_NAN = re.compile(r"(?<=[:,\[])-?nan\b")
_INFINITY = re.compile(r"(?<=[:,\[])(-?)inf\b")


def as_json(text: str) -> str:
    """JSON as a master writes it, with NaN as Python reads it, and the `inf` of Mesos 1.4 as later ones write it."""
    return _INFINITY.sub(r'"\1Infinity"', _NAN.sub("NaN", text))


def read(content: bytes) -> Any:
    """JSON as a master writes it, NaN included, with the ids of masters, frameworks and offers alike on all."""
    text = _NUMBER.sub(r"\1N", _MASTER_ID.sub("id", content.decode(errors="surrogateescape")))
    return json.loads(as_json(text))


def comparable(part: Any) -> str:
    """Text that is the same for the same values: NaN is one, and 1 and 1.0 are two."""
    return json.dumps(canonical(steady(part)), sort_keys=True)
