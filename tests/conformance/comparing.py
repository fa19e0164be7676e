"""JSON compared as a reader of it would: lists whose order a master leaves open compare as sets."""

import json
from typing import Any

# Lists that Mesos fills by walking a hash map; "" is a list that is itself the whole answer (/weights).
UNORDERED = {
    "",
    "agents",
    "configs",
    "infos",
    "recovered_agents",
    "recovered_slaves",
    "roles",
    "slaves",
    "weight_infos",
}


def canonical(value: Any, key: str = "") -> Any:
    """The value with every list of open order sorted."""
    if isinstance(value, dict):
        return {name: canonical(part, name) for name, part in value.items()}
    if isinstance(value, list):
        parts = [canonical(part, "[]") for part in value]
        return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True)) if key in UNORDERED else parts
    return value
