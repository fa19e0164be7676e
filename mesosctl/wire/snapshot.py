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
from collections.abc import Iterable, Iterator
from io import BufferedIOBase, BytesIO
from typing import Any

from mesosctl.core.errors import BadInput
from mesosctl.core.offers import Offer
from mesosctl.core.picture import ClusterPicture, PicturedAgent, PicturedFramework, Usage
from mesosctl.core.quantities import Limits, Quantities
from mesosctl.core.scalars import to_double
from mesosctl.wire import snapshot_lending
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.json_faults import find_fault
from mesosctl.wire.parts import parts
from mesosctl.wire.resources import list_to_json
from mesosctl.wire.snapshot_reading import KIND, SCHEMA_VERSION, picture_of

_SLICE = 1 << 18
"""Bytes of a file that are looked at at once."""

_MOST_READ_AGAIN = 1 << 26
"""Bytes of a file that is broken, to tell line and column."""


def to_json(picture: ClusterPicture) -> dict[str, Any]:
    """The picture as a JSON object."""
    return {key: list(value) if isinstance(value, Iterator) else value for key, value in _members(picture)}


def lines(picture: ClusterPicture) -> Iterator[str]:
    """The text of a file, line by line: one agent, framework, usage or offer each, so that files compare by eye."""
    yield "{\n"
    before = ""
    for key, value in _members(picture):
        yield f"{before}  {_text(key)}: "
        yield from _list_lines(value) if isinstance(value, Iterator | list) else [_text(value)]
        before = ",\n"
    yield "\n}\n"


def _list_lines(entries: Iterable[Any]) -> Iterator[str]:
    before = "[\n    "
    for entry in entries:
        yield before + _text(entry)
        before = ",\n    "
    yield "[]" if before.startswith("[") else "\n  ]"


def dump(picture: ClusterPicture) -> str:
    """The text of a file."""
    return "".join(lines(picture))


def _members(picture: ClusterPicture) -> Iterator[tuple[str, Any]]:
    """The members of the JSON object in turn; of each list an iterator, since it may be long."""
    yield "schema_version", SCHEMA_VERSION
    yield "kind", KIND
    yield "taken_at", picture.taken_at
    yield "master", {"version": picture.version, "flags": dict(picture.flags)}
    yield "agents", map(_agent_to_json, picture.agents)
    yield "frameworks", map(_framework_to_json, picture.frameworks)
    yield "usages", map(_usage_to_json, picture.usages)
    yield "offers", map(_offer_to_json, picture.offers)
    quotas = picture.quotas.items()
    yield (
        "quotas",
        {role: {"guarantees": _amounts(one.guarantees), "limits": _amounts(one.limits)} for role, one in quotas},
    )
    yield "weights", dict(picture.weights)
    for key, value in snapshot_lending.to_json(picture.lending).items():
        yield key, iter(value) if isinstance(value, list) else value
    yield "untold", iter(picture.untold)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _usage_to_json(usage: Usage) -> dict[str, Any]:
    return {
        "framework_id": usage.framework_id,
        "agent_id": usage.agent_id,
        "role": usage.role,
        "tasks": usage.tasks,
        "resources": list_to_json(usage.resources, "POST"),
    }


def _offer_to_json(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.id,
        "role": offer.role,
        "framework_id": offer.framework_id,
        "framework": offer.framework,
        "agent_id": offer.agent_id,
        "hostname": offer.hostname,
        "refined": offer.stacked_format,
        "resources": list_to_json(offer.resources, "POST"),
    }


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
    return read(BytesIO(text.encode(errors="surrogateescape") if isinstance(text, str) else text), where)


def read(file: BufferedIOBase, where: str = "the snapshot") -> ClusterPicture:
    """The picture in a file that is open at its beginning, read as it comes.

    Raises BadInput naming `where` and the place in it, and OSError.
    """
    file = rewindable(file)
    try:
        return picture_of(parts(iter(lambda: file.read(_SLICE), b"")), where)
    except ConversionError as error:
        file.seek(0)
        text = file.read(_MOST_READ_AGAIN + 1).decode(errors="replace")
        fault = find_fault(text) if len(text) <= _MOST_READ_AGAIN else None
        raise BadInput(f"{where} is not JSON: {fault or str(error).removeprefix('Not JSON: ')}") from None


def rewindable(file: BufferedIOBase) -> BufferedIOBase:
    """The same, or where it comes through a pipe a copy of it, that can be read again from the start."""
    return file if file.seekable() else BytesIO(file.read())
