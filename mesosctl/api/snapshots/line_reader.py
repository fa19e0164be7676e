"""The lines of a snapshot, read back without parsing each of them.

A large snapshot has hundreds of thousands of agents, usages and offers, one a line, and their resources, attributes and
capabilities mostly repeat.  A value that has been read once is found again by its text. A line that differs from what
`snapshot.lines` writes, or is wrong, is left to the JSON reader, which accepts every spelling and reports mistakes.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from sys import intern

from mesosctl.api.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.api.protobuf_json.decoding import STRICT
from mesosctl.api.protobuf_json.resource_lists import Known, ResourceLists
from mesosctl.model.offers.offers import Offer
from mesosctl.model.roles import role_error
from mesosctl.planning.snapshot import SnapshotAgent, Usage

Entry = SnapshotAgent | Usage | Offer
ReadLine = Callable[[str, int], tuple[Entry, int] | None]
"""Reads the entry at a place of a text: the entry and its end, or None for one that is written differently."""

# A string without escapes; the last member of a line is found from the end of the line.
_TEXT = r'"([^"\\\x00-\x1f]*)"'
_BETWEEN = ",\n    "
_END = r"\}(?=,?\n)"
_AGENT = re.compile(
    rf'\{{"id": {_TEXT}, "hostname": {_TEXT}, "pid": {_TEXT}, "active": (true|false), "resources": (\[.*\]), '
    rf'"attributes": (\{{[^\\{{}}\n]*\}}), '
    rf'"capabilities": (\[[^\\\[\]\n]*\])(?:, "region": {_TEXT})?(?:, "zone": {_TEXT})?{_END}'
)
_USAGE = re.compile(
    rf'\{{"framework_id": {_TEXT}, "agent_id": {_TEXT}, "role": {_TEXT}, "tasks": (0|[1-9][0-9]{{0,8}}), '
    rf'"resources": (\[.*\]){_END}'
)
_OFFER = re.compile(
    rf'\{{"id": {_TEXT}, "role": {_TEXT}, "framework_id": {_TEXT}, "framework": {_TEXT}, "agent_id": {_TEXT}, '
    rf'"hostname": {_TEXT}, "refined": (true|false), "resources": (\[.*\]){_END}'
)


class Lines:
    """Reads lines; if in doubt, it reads nothing."""

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._attributes: Known[str, Mapping[str, str | float]] = Known()
        self._capabilities: Known[str, frozenset[str]] = Known()
        self._roles: set[str] = set()
        self.readers: Mapping[str, Shortcut] = {
            "agents": partial(_run, self._agent),
            "usages": partial(_run, self._usage),
            "offers": partial(_run, self._offer),
        }
        """By the name of the list."""

    def _agent(self, text: str, at: int) -> tuple[Entry, int] | None:
        found = _AGENT.match(text, at)
        if found is None:
            return None
        name, hostname, pid, active, listed, attributes, capabilities, region, zone = found.groups()
        total = self._lists.plain_of_text(listed)
        try:
            known_attributes = self._attributes.get(attributes, lambda: _attributes_of(attributes))
            known_capabilities = self._capabilities.get(capabilities, lambda: _capabilities_of(capabilities))
        except ValueError:
            return None
        if total is None:
            return None
        agent = SnapshotAgent(
            intern(name),
            intern(hostname),
            pid,
            total,
            known_attributes,
            known_capabilities,
            active == "true",
            region,
            zone,
        )
        return agent, found.end()

    def _usage(self, text: str, at: int) -> tuple[Entry, int] | None:
        found = _USAGE.match(text, at)
        if found is None:
            return None
        framework_id, agent_id, role, tasks, listed = found.groups()
        resources = self._lists.plain_of_text(listed)
        if resources is None or not self._is_role(role):
            return None
        return Usage(intern(framework_id), intern(agent_id), intern(role), resources, int(tasks)), found.end()

    def _offer(self, text: str, at: int) -> tuple[Entry, int] | None:
        found = _OFFER.match(text, at)
        if found is None:
            return None
        name, role, framework_id, framework, agent_id, hostname, refined, listed = found.groups()
        resources = self._lists.plain_of_text(listed)
        if resources is None or not self._is_role(role):
            return None
        offer = Offer(
            id=name,
            role=intern(role),
            framework_id=intern(framework_id),
            framework=intern(framework),
            agent_id=intern(agent_id),
            hostname=intern(hostname),
            resources=resources,
            stacked_format=refined == "true",
        )
        return offer, found.end()

    def _is_role(self, name: str) -> bool:
        if name not in self._roles and role_error(name) is None:
            self._roles.add(name)
        return name in self._roles


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


def _attributes_of(text: str) -> Mapping[str, str | float]:
    """Raises ValueError for a value that the JSON reader has to judge."""
    attributes = STRICT.decode(text)
    if not all(isinstance(value, str | float) for value in attributes.values()):
        raise ValueError(text)
    return {intern(name): intern(value) if isinstance(value, str) else value for name, value in attributes.items()}


def _capabilities_of(text: str) -> frozenset[str]:
    """Raises ValueError for a value that the JSON reader has to judge."""
    names = STRICT.decode(text)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(text)
    return frozenset(names)
