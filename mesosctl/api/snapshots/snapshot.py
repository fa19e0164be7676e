"""A snapshot of a cluster as JSON: the file that `mesosctl snapshot` writes and `fake:FILE` opens.

    {"schema_version": 1, "kind": "snapshot", "taken_at": 1795217088.8,
     "master": {"version": "1.11.0", "flags": {"allocation_interval": "1secs"}},
     "agents": [{"id", "hostname", "pid", "active", "resources": [Resource], "attributes": {"rack": "r1"},
                 "capabilities": ["MULTI_ROLE"], "region", "zone"}],
     "frameworks": [{"id", "name", "roles": ["web"], "principal", "capabilities", "active", "connected",
                     "suppressed": ["web"] or absent if it is not known, "offer_constraints", "offer_filters"}],
     "usages": [{"framework_id", "agent_id", "role", "tasks": 3, "resources": [Resource]}],
     "offers": [{"id", "role", "framework_id", "framework", "agent_id", "hostname", "refined",
                 "resources": [Resource]}],
     "quotas": {"web": {"guarantees": {"cpus": 12.0}, "limits": {"cpus": 12.0}}},
     "weights": {"web": 2.0},
     "unknown": ["filters: …"]}

and, of a master that lends idle reservations, what `api.snapshots.lending` shows.

Resource is the message of the v1 API with its reservation stack, as `GET_STATE` has it; mem and disk count MiB. A
program writes it, so keys that are not known are ignored: a later version may add some.  Otherwise it is read as
strictly as files that people write: no duplicate key in an object, no number is infinite, nothing follows the end.
"""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from io import BufferedIOBase, BytesIO
from itertools import islice
from json.encoder import encode_basestring
from typing import Any

from mesosctl.api.files.reading import read_json
from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.protobuf_json.interning import Known, ResourceLists
from mesosctl.api.protobuf_json.streaming import parts
from mesosctl.api.resources import list_to_json
from mesosctl.api.resources import to_json as resource_to_json
from mesosctl.api.snapshots import lending
from mesosctl.api.snapshots.line_reader import Lines
from mesosctl.api.snapshots.reading import KIND, SCHEMA_VERSION, snapshot_of
from mesosctl.model.errors import BadInput
from mesosctl.model.offers.offers import Offer
from mesosctl.model.quantities import Limits, Quantities, to_double
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.planning.snapshot import ClusterSnapshot, SnapshotAgent, SnapshotFramework, Usage

_SLICE = 1 << 18
"""Bytes of a file that are read at once."""

_MOST_READ_AGAIN = 1 << 26
"""Bytes of a broken file that are read again for line and column."""
_BLOCK = 1000
"""Lines of a list that are written at once."""
_encode = json.JSONEncoder(ensure_ascii=False).encode


def to_json(snapshot: ClusterSnapshot) -> dict[str, Any]:
    """The snapshot as a JSON object."""
    return {key: _plain(value) for key, value in _members(snapshot)}


def _plain(value: Any) -> Any:
    if isinstance(value, Resources):
        return list_to_json(value, "POST")
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Iterator):
        return [_plain(entry) for entry in value]
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def lines(snapshot: ClusterSnapshot) -> Iterator[str]:
    """The text of a file in blocks of lines: each line has one agent, framework, usage or offer, to compare by eye."""
    texts = _Texts()
    yield "{\n"
    before = ""
    for key, value in _members(snapshot):
        yield f"{before}  {encode_basestring(key)}: "
        yield from _list_lines(map(texts.of, value)) if isinstance(value, Iterator) else [texts.of(value)]
        before = ",\n"
    yield "\n}\n"


def _list_lines(entries: Iterator[str]) -> Iterator[str]:
    before = "[\n    "
    while block := list(islice(entries, _BLOCK)):
        yield before + ",\n    ".join(block)
        before = ",\n    "
    yield "[]" if before.startswith("[") else "\n  ]"


@lru_cache(4096)
def _key(name: str) -> str:
    return f"{encode_basestring(name)}: "


class _Texts:
    """The JSON text of values; that of resources and capabilities, which most entries share, is written once."""

    def __init__(self) -> None:
        self._capabilities: Known[frozenset[str], str] = Known()
        # The resources are kept beside their text, so that their ids are not reused.
        self._resources: Known[int, tuple[Resources, str]] = Known()
        self._entries: Known[int, tuple[Resource, str]] = Known()
        self._writers: dict[type, Callable[[Any], str]] = {
            str: encode_basestring,
            int: str,
            bool: lambda value: "true" if value else "false",
            dict: self._object,
            Resources: lambda value: self._resources.get(id(value), lambda: (value, self._list(value)))[1],
            frozenset: lambda value: self._capabilities.get(value, lambda: _encode(sorted(value))),
        }

    def of(self, value: Any) -> str:
        """Return the text of a value that `_members` has."""
        return self._writers.get(type(value), _encode)(value)

    def _object(self, value: dict[str, Any]) -> str:
        return f"{{{', '.join([_key(name) + self.of(part) for name, part in value.items()])}}}"

    def _list(self, resources: Resources) -> str:
        return f"[{', '.join([self._entry(entry) for entry in resources for _ in range(entry.copies)])}]"

    def _entry(self, entry: Resource) -> str:
        return self._entries.get(id(entry), lambda: (entry, _encode(resource_to_json(entry, "POST"))))[1]


def dump(snapshot: ClusterSnapshot) -> str:
    """The text of a file."""
    return "".join(lines(snapshot))


def _members(snapshot: ClusterSnapshot) -> Iterator[tuple[str, Any]]:
    """The members of the JSON object in turn; of each list an iterator, since it may be long."""
    yield "schema_version", SCHEMA_VERSION
    yield "kind", KIND
    yield "taken_at", snapshot.taken_at
    yield "master", {"version": snapshot.version, "flags": dict(snapshot.flags)}
    yield "agents", map(_agent, snapshot.agents)
    yield "frameworks", map(_framework, snapshot.frameworks)
    yield "usages", map(_usage, snapshot.usages)
    yield "offers", map(_offer, snapshot.offers)
    quotas = snapshot.quotas.items()
    yield (
        "quotas",
        {role: {"guarantees": _amounts(one.guarantees), "limits": _amounts(one.limits)} for role, one in quotas},
    )
    yield "weights", dict(snapshot.weights)
    for key, value in lending.to_json(snapshot.lending).items():
        yield key, iter(value) if isinstance(value, list) else value
    yield "untold", iter(snapshot.unknown)


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "framework_id": usage.framework_id,
        "agent_id": usage.agent_id,
        "role": usage.role,
        "tasks": usage.tasks,
        "resources": usage.resources,
    }


def _offer(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.id,
        "role": offer.role,
        "framework_id": offer.framework_id,
        "framework": offer.framework,
        "agent_id": offer.agent_id,
        "hostname": offer.hostname,
        "refined": offer.stacked_format,
        "resources": offer.resources,
    }


def _agent(agent: SnapshotAgent) -> dict[str, Any]:
    written: dict[str, Any] = {
        "id": agent.id,
        "hostname": agent.hostname,
        "pid": agent.pid,
        "active": agent.active,
        "resources": agent.total,
        "attributes": dict(agent.attributes),
        "capabilities": agent.capabilities,
    }
    return written | {
        key: value for key, value in (("region", agent.region), ("zone", agent.zone)) if value is not None
    }


def _framework(framework: SnapshotFramework) -> dict[str, Any]:
    written: dict[str, Any] = {
        "id": framework.id,
        "name": framework.name,
        "roles": list(framework.roles),
        "capabilities": framework.capabilities,
        "active": framework.active,
        "connected": framework.connected,
        "offer_constraints": dict(framework.offer_constraints),
        "offer_filters": dict(framework.offer_filters),
    }
    if framework.principal is not None:
        written["principal"] = framework.principal
    if framework.suppressed is not None:
        written["suppressed"] = framework.suppressed
    return written


def _amounts(values: Quantities | Limits) -> dict[str, float]:
    return {name: to_double(milli) for name, milli in values.items()}


def load(text: str | bytes, where: str = "the snapshot") -> ClusterSnapshot:
    """The snapshot in the text of a file.  Raises BadInput naming `where` and the place in it."""
    return read(BytesIO(text.encode(errors="surrogateescape") if isinstance(text, str) else text), where)


def read(file: BufferedIOBase, where: str = "the snapshot") -> ClusterSnapshot:
    """The snapshot in an open file, read from its beginning piece by piece.

    Raises BadInput naming `where` and the place in it, and OSError.
    """
    file = rewindable(file)
    try:
        lists = ResourceLists()
        slices = iter(lambda: file.read(_SLICE), b"")
        return snapshot_of(parts(slices, each_key_once=True, shortcuts=Lines(lists).readers), where, lists)
    except ConversionError as error:
        file.seek(0)
        text = file.read(_MOST_READ_AGAIN + 1).decode(errors="replace")
        if len(text) <= _MOST_READ_AGAIN:
            read_json(text, where)  # which tells the place
        raise BadInput(f"{where} is not JSON: {str(error).removeprefix('Not JSON: ')}") from None


def rewindable(file: BufferedIOBase) -> BufferedIOBase:
    """The same file, or if it is a pipe, a copy that can be read again from the start."""
    return file if file.seekable() else BytesIO(file.read())
