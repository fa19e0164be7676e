"""A snapshot of a cluster as JSON: the file that is written of a master, and that a fake master opens.

    {"schema_version": 1, "kind": "snapshot", "taken_at": 1795217088.8,
     "master": {"version": "1.11.0", "profile": "1.11", "flags": {"allocation_interval": "1secs"}},
     "agents": [{"id", "hostname", "pid", "active", "resources": [Resource], "attributes": {"rack": "r1"},
                 "capabilities": ["MULTI_ROLE"], "region", "zone"}],
     "frameworks": [{"id", "name", "roles": ["web"], "principal", "capabilities", "active", "connected",
                     "suppressed": ["web"] or absent if it is not known, "offer_constraints", "offer_filters"}],
     "usages": [{"framework_id", "agent_id", "role", "tasks": 3, "resources": [Resource]}],
     "offers": [{"id", "role", "framework_id", "framework", "agent_id", "hostname", "refined",
                 "resources": [Resource]}],
     "quotas": {"web": {"guarantees": {"cpus": 12.0}, "limits": {"cpus": 12.0}}},
     "weights": {"web": 2.0},
     "untold": ["filters: …"]}

if there are any, "completed_frameworks" like the others and with "ended", "unreachable_agents": [{"id", "since"}] and
"unreachable_tasks" on them, each with "id" and as a usage otherwise; and, of a master that lends idle reservations,
what `mesos.messages.snapshots.lending` shows.

Resource is the message of the v1 API with its reservation stack, as `GET_STATE` has it; mem and disk count MiB. A
program writes it, so keys that are not known are ignored: a later version may add some.  Otherwise it is read as
strictly as files that people write: no duplicate key in an object, no number is infinite, nothing follows the end.
"""

from collections.abc import Iterator
from io import BufferedIOBase, BytesIO
from itertools import islice
from typing import Any

from mesosctl.mesos.amounts.quantities import Limits, Quantities, to_shown
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.protobuf_json.decoding import MOST_VALUES, ConversionError, NotJson, may_hold_more
from mesosctl.mesos.messages.protobuf_json.json_parts import parts
from mesosctl.mesos.messages.protobuf_json.messages import NOT_FINITE
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.snapshots import LARGEST, lending
from mesosctl.mesos.messages.snapshots.line_reader import Lines
from mesosctl.mesos.messages.snapshots.line_writer import LineWriter, encode, framework_line
from mesosctl.mesos.messages.snapshots.reading import KIND, SCHEMA_VERSION, snapshot_of
from mesosctl.mesos.messages.strict.reading import read_json

_SLICE = 1 << 18
"""Bytes of a file that are read at once."""

_MOST_READ_AGAIN = 1 << 26
"""Bytes of a broken file that are read again for line and column."""
_BLOCK = 1000
"""Lines of a list that are written at once."""


def lines(snapshot: ClusterSnapshot) -> Iterator[str]:
    """The text of a file in blocks of lines: each line has one agent, framework, usage or offer, to compare by eye."""
    yield "{\n"
    before = ""
    for key, value in _members(snapshot):
        yield f"{before}  {encode(key)}: "
        yield from _list_lines(value) if isinstance(value, Iterator) else [encode(value)]
        before = ",\n"
    yield "\n}\n"


def _list_lines(entries: Iterator[str]) -> Iterator[str]:
    before = "[\n    "
    while block := list(islice(entries, _BLOCK)):
        yield before + ",\n    ".join(block)
        before = ",\n    "
    yield "[]" if before.startswith("[") else "\n  ]"


def dump(snapshot: ClusterSnapshot) -> str:
    """The text of a file."""
    return "".join(lines(snapshot))


def _members(snapshot: ClusterSnapshot) -> Iterator[tuple[str, Any]]:
    """The members of the JSON object in turn: values, and of each list an iterator over the texts of its elements."""
    line = LineWriter()
    yield "schema_version", SCHEMA_VERSION
    yield "kind", KIND
    yield "taken_at", snapshot.taken_at
    profile = {} if snapshot.mesos_profile is None else {"profile": snapshot.mesos_profile}
    yield "master", {"version": snapshot.version, **profile, "flags": dict(snapshot.flags)}
    yield "agents", map(line.agent, snapshot.agents)
    yield "frameworks", map(framework_line, snapshot.frameworks)
    yield "usages", map(line.usage, snapshot.usages)
    yield "offers", map(line.offer, snapshot.offers)
    quotas = snapshot.quotas.items()
    yield (
        "quotas",
        {role: {"guarantees": _amounts(quota.guarantees), "limits": _amounts(quota.limits)} for role, quota in quotas},
    )
    yield "weights", {role: NOT_FINITE.get(str(weight), weight) for role, weight in snapshot.weights.items()}
    for key, value in lending.to_json(snapshot.lending).items():
        yield key, map(encode, value) if isinstance(value, list) else value
    if snapshot.completed:
        yield "completed_frameworks", map(framework_line, snapshot.completed)
    if snapshot.unreachable:
        yield "unreachable_agents", (encode(agent._asdict()) for agent in snapshot.unreachable)
        yield "unreachable_tasks", map(encode, map(lending.task_to_json, snapshot.unreachable_tasks))
    yield "untold", map(encode, snapshot.unknown)


def _amounts(values: Quantities | Limits) -> dict[str, float]:
    return {name: to_shown(milli) for name, milli in values.items()}


def load(text: str | bytes, where: str = "the snapshot") -> ClusterSnapshot:
    """The snapshot in the text of a file.  Raises BadInput naming `where` and the place in it."""
    return read(BytesIO(text.encode(errors="surrogateescape") if isinstance(text, str) else text), where)


def read(file: BufferedIOBase, where: str = "the snapshot") -> ClusterSnapshot:
    """The snapshot in an open file, read from its beginning piece by piece.

    Raises BadInput naming `where` and the place in it, and OSError.
    """
    file = rewindable(file, where)
    try:
        lists = ResourceLists()
        return snapshot_of(
            parts(_slices(file, where), each_key_once=True, shortcuts=lambda: Lines(lists).readers), where, lists
        )
    except ConversionError as error:
        file.seek(0)
        text = file.read(_MOST_READ_AGAIN + 1).decode(errors="replace")
        if len(text) <= _MOST_READ_AGAIN and not may_hold_more(text, MOST_VALUES):
            read_json(text, where, MOST_VALUES)  # which tells the place
        reason = error.reason if isinstance(error, NotJson) else error
        raise BadInput(f"{where} is not JSON: {reason}") from None


def _slices(file: BufferedIOBase, where: str) -> Iterator[bytes]:
    """The content of a file.  Raises BadInput for one that is too large."""
    size = 0
    while piece := file.read(_SLICE):
        size += len(piece)
        if size > LARGEST:
            raise _too_large(where)
        yield piece


def rewindable(file: BufferedIOBase, where: str) -> BufferedIOBase:
    """The same file, or if it is a pipe, a copy that can be read again from the start.

    Raises BadInput for a pipe with more than a snapshot may have.
    """
    if file.seekable():
        return file
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise _too_large(where)
    return BytesIO(content)


def _too_large(where: str) -> BadInput:
    return BadInput(f"{where} holds more than {LARGEST >> 20} MiB")
