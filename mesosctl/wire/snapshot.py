"""A picture of a cluster as JSON: the file that `mesosctl snapshot` writes and `fake:FILE` opens.

    {"schema_version": 1, "kind": "snapshot", "taken_at": 1795217088.8,
     "master": {"version": "1.11.0", "flags": {"allocation_interval": "1secs"}},
     "agents": [{"id", "hostname", "pid", "active", "resources": [Resource], "attributes": {"rack": "r1"},
                 "capabilities": ["MULTI_ROLE"], "region", "zone"}],
     "frameworks": [{"id", "name", "roles": ["web"], "principal", "capabilities", "active", "connected",
                     "suppressed": ["web"] or absent where it is not known, "offer_constraints", "offer_filters"}],
     "usages": [{"framework_id", "agent_id", "role", "tasks": 3, "resources": [Resource]}],
     "offers": [{"id", "role", "framework_id", "framework", "agent_id", "hostname", "refined",
                 "resources": [Resource]}],
     "quotas": {"web": {"guarantees": {"cpus": 12.0}, "limits": {"cpus": 12.0}}},
     "weights": {"web": 2.0},
     "untold": ["filters: …"]}

and, of a master that lends idle reservations, what `wire.snapshot_lending` shows.

Resource is the message of the v1 API with its reservation stack, as `GET_STATE` has it; mem and disk count MiB.
Keys that are not known are ignored, so that a later version may add some.
"""

import json
from typing import Any

from mesosctl.core.errors import BadInput
from mesosctl.core.picture import ClusterPicture, PicturedAgent, PicturedFramework
from mesosctl.core.quantities import Limits, Quantities
from mesosctl.core.scalars import to_double
from mesosctl.wire import snapshot_lending
from mesosctl.wire.json_faults import find_fault
from mesosctl.wire.messages import ConversionError, decode
from mesosctl.wire.resources import list_to_json
from mesosctl.wire.snapshot_reading import KIND, SCHEMA_VERSION, from_json

__all__ = ["dump", "from_json", "load", "to_json"]


def to_json(picture: ClusterPicture) -> dict[str, Any]:
    """The picture as a JSON object."""
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "taken_at": picture.taken_at,
        "master": {"version": picture.version, "flags": dict(picture.flags)},
        "agents": [_agent_to_json(agent) for agent in picture.agents],
        "frameworks": [_framework_to_json(framework) for framework in picture.frameworks],
        "usages": [
            {
                "framework_id": usage.framework_id,
                "agent_id": usage.agent_id,
                "role": usage.role,
                "tasks": usage.tasks,
                "resources": list_to_json(usage.resources, "POST"),
            }
            for usage in picture.usages
        ],
        "offers": [
            {
                "id": offer.id,
                "role": offer.role,
                "framework_id": offer.framework_id,
                "framework": offer.framework,
                "agent_id": offer.agent_id,
                "hostname": offer.hostname,
                "refined": offer.stacked_format,
                "resources": list_to_json(offer.resources, "POST"),
            }
            for offer in picture.offers
        ],
        "quotas": {
            role: {"guarantees": _amounts(quota.guarantees), "limits": _amounts(quota.limits)}
            for role, quota in picture.quotas.items()
        },
        "weights": dict(picture.weights),
        **snapshot_lending.to_json(picture.lending),
        "untold": list(picture.untold),
    }


def dump(picture: ClusterPicture) -> str:
    """The text of a file: one agent, framework, usage or offer a line, so that two files can be compared by eye."""
    lines = []
    for key, value in to_json(picture).items():
        if isinstance(value, list) and value:
            entries = ",\n    ".join(_text(entry) for entry in value)
            lines.append(f"  {_text(key)}: [\n    {entries}\n  ]")
        else:
            lines.append(f"  {_text(key)}: {_text(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _agent_to_json(agent: PicturedAgent) -> dict[str, Any]:
    written: dict[str, Any] = {
        "id": agent.id,
        "hostname": agent.hostname,
        "pid": agent.pid,
        "active": agent.active,
        "resources": list_to_json(agent.total, "POST"),
        "attributes": dict(agent.attributes),
        "capabilities": sorted(agent.capabilities),
    }
    return written | {
        key: value for key, value in (("region", agent.region), ("zone", agent.zone)) if value is not None
    }


def _framework_to_json(framework: PicturedFramework) -> dict[str, Any]:
    written: dict[str, Any] = {
        "id": framework.id,
        "name": framework.name,
        "roles": list(framework.roles),
        "capabilities": sorted(framework.capabilities),
        "active": framework.active,
        "connected": framework.connected,
        "offer_constraints": dict(framework.offer_constraints),
        "offer_filters": dict(framework.offer_filters),
    }
    if framework.principal is not None:
        written["principal"] = framework.principal
    if framework.suppressed is not None:
        written["suppressed"] = sorted(framework.suppressed)
    return written


def _amounts(values: Quantities | Limits) -> dict[str, float]:
    return {name: to_double(milli) for name, milli in values.items()}


def load(text: str | bytes, where: str = "the snapshot") -> ClusterPicture:
    """The picture in the text of a file.  Raises BadInput naming `where` and the place in it."""
    try:
        value = decode(text)
    except ConversionError as error:
        fault = find_fault(text if isinstance(text, str) else text.decode(errors="replace"))
        raise BadInput(f"{where} is not JSON: {fault or error}") from None
    return from_json(value, where)
