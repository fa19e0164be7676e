"""The lines of a snapshot, read back without parsing each of them.

A large snapshot has hundreds of thousands of agents, usages and offers, one a line, and their resources, attributes and
capabilities mostly repeat.  A value that has been read once is found again by its text. A line that differs from what
`snapshot.lines` writes, or is wrong, is left to the JSON reader, which accepts every spelling and reports mistakes.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import FrameworkUsage
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.mesos.messages.protobuf_json.decoding import UndecodedText
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.snapshots.reading import SnapshotElements
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

Entry = ClusterAgent | FrameworkUsage | OutstandingOffer
ReadLine = Callable[[str, int], tuple[Entry, int] | None]
"""Reads the entry at a place of a text: the entry and its end, or None for one that is written differently."""

_BETWEEN = ",\n    "


def _text(name: str) -> str:
    """A member that is a string without escapes."""
    return rf'"{name}": "(?P<{name}>[^"\\\x00-\x1f]*)"'


# The last member of a line is found from the end of the line.
_RESOURCES = r'"resources": (?P<resources>\[.*\])'
_END = r"\}(?=,?\n)"
_AGENT = re.compile(
    rf'\{{{_text("id")}, {_text("hostname")}, {_text("pid")}, "active": (?P<active>true|false), {_RESOURCES}, '
    r'"attributes": (?P<attributes>\{[^\\{}\n]*\}), "capabilities": (?P<capabilities>\[[^\\\[\]\n]*\])'
    rf"(?:, {_text('region')})?(?:, {_text('zone')})?{_END}"
)
_USAGE = re.compile(
    rf"\{{{_text('framework_id')}, {_text('agent_id')}, {_text('role')}, "
    rf'"tasks": (?P<tasks>0|[1-9][0-9]{{0,8}}), {_RESOURCES}{_END}'
)
_OFFER = re.compile(
    rf"\{{{_text('id')}, {_text('role')}, {_text('framework_id')}, {_text('framework')}, {_text('agent_id')}, "
    rf'{_text("hostname")}, "refined": (?P<refined>true|false), {_RESOURCES}{_END}'
)
_VALUES: Mapping[str, Callable[[str], Any]] = {
    "active": "true".__eq__,
    "refined": "true".__eq__,
    "tasks": int,
    **dict.fromkeys(("resources", "attributes", "capabilities"), UndecodedText),
}
"""Makes the value of a member of its text; the others are strings."""


class Lines:
    """Reads lines; if in doubt, it reads nothing."""

    def __init__(self, lists: ResourceLists) -> None:
        read = SnapshotElements.of(lists)
        self.readers: Mapping[str, Shortcut] = {
            "agents": partial(_run, _line_reader(_AGENT, read.agents.of_snapshot)),
            "usages": partial(_run, _line_reader(_USAGE, read.tasks.usage_of_snapshot)),
            "offers": partial(_run, _line_reader(_OFFER, read.offers.of_snapshot)),
        }
        """By the name of the list."""


def _line_reader(pattern: re.Pattern[str], make: Callable[[Mapping[str, Any], str], Entry]) -> ReadLine:
    """Return the function that reads one line: None for one that is written differently or is wrong."""
    values = [(name, value) for name, value in _VALUES.items() if name in pattern.groupindex]

    def read(text: str, at: int) -> tuple[Entry, int] | None:
        found = pattern.match(text, at)
        if found is None:
            return None
        entry: dict[str, Any] = found.groupdict()
        for name, value in values:
            entry[name] = value(entry[name])
        try:
            return make(entry, ""), found.end()
        except (ValueError, RuleViolation):
            return None

    return read


def _run(read: ReadLine, text: str, at: int) -> tuple[Run, int] | None:
    """Return the entries in lines that follow each other, and the end of the last."""
    entries: list[Entry] = []
    end = at
    while (found := read(text, at)) is not None:
        entry, end = found
        entries.append(entry)
        at = end + len(_BETWEEN)
        if not text.startswith(_BETWEEN, end):
            break
    return (Run(entries), end) if entries else None
