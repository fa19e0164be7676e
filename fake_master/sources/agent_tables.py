"""The tables [[agents]] of a cluster file; `example_cluster.toml` shows every key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fake_master.sources.cluster_tables import check_keys, is_number, read_tables
from fake_master.state.agents import Absence, Domain
from mesosctl.api.resource_text import read_resources
from mesosctl.model.errors import BadInput, RuleViolation, UsageError
from mesosctl.model.notation import parse_span
from mesosctl.model.resource import Reservation
from mesosctl.model.resources import Resources

_KNOWN_AGENT_KEYS = {
    "resources",
    "hostname",
    "attributes",
    "region",
    "zone",
    "count",
    "active",
    "loses",
    "delay",
    "leaves_after",
    "returns_after",
    "launch_delay",
    "oversubscribed",
    "principal",
}
_MOST_AGENTS = 100_000


_NO_ROOT: Mapping[str, tuple[str | None, ...]] = {"PATH": (None,), "MOUNT": (None, "")}
"""The folders of a disk that an agent refuses; a PATH disk may be in the agent's own folder."""


@lru_cache(1024)  # similar agents share one object
def _parsed(text: str) -> Resources:
    """The resources of an agent: a text, or JSON, which can also describe disks.  Raises RuleViolation."""
    parsed = read_resources(text)
    for entry in parsed:
        source = None if entry.disk is None else entry.disk.source
        wrong = (
            "is reserved dynamically; an agent starts with static reservations alone"
            if any(level.type == "DYNAMIC" for level in entry.reservations)
            else "is a persistent volume, which is created on an agent"
            if entry.is_persistent_volume
            else "is revocable, which only an estimate of the agent is"
            if entry.revocable
            else "has no root, the folder of the disk"
            if source is not None and source.root in _NO_ROOT.get(source.type, ())
            else None
        )
        if wrong is not None:
            raise RuleViolation(f"{entry.in_words} {wrong}", field="resources", rule="resource.of-agent")
    return Resources(replace(entry, reservations=_configured(entry.reservations)) for entry in parsed)


def _configured(stack: tuple[Reservation, ...]) -> tuple[Reservation, ...]:
    """A static reservation as an agent keeps it: the role alone."""
    return tuple(Reservation("STATIC", level.role) for level in stack)


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent to register: its resources as text or JSON, and its properties."""

    resources: str
    hostname: str | None = None
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    active: bool = True
    loses: int = 0
    delay: float = 0.0
    launch_delay: float = 0.0
    """See `fake_master.state.agents.AgentFaults`."""
    absence: Absence | None = None
    domain: Domain | None = None
    oversubscribed: str = ""
    """Slack of use in text form."""
    principal: str | None = None
    """The principal that registers it; an agent without one does not authenticate."""
    where: str = field(default="", compare=False)
    """The place of its table in the cluster file; empty for an agent that is in no file."""

    def hostname_at(self, index: int) -> str:
        """Return the host name, for the agent number `index` of a cluster."""
        return self.hostname or f"agent-{index + 1}"

    def configured(self, index: int) -> Resources:
        """Return the resources of the agent.  Raises BadInput."""
        try:
            return _parsed(self.resources)
        except RuleViolation as error:
            problem = f"agent {self.hostname_at(index)}: {error.message}"
            raise BadInput(problem, field="resources", hint=error.hint) from error


def agent_specs(entries: Sequence[Any], where: str) -> tuple[AgentSpec, ...]:
    """Read the array [[agents]].  Raises BadInput."""
    return read_tables(entries, where, "agents", _MOST_AGENTS, _agent_specs)


def _agent_specs(entry: dict[str, Any], where: str) -> list[AgentSpec]:
    check_keys(entry, _KNOWN_AGENT_KEYS, where)
    resources, hostname = entry.get("resources"), entry.get("hostname")
    count, active, attributes = entry.get("count", 1), entry.get("active", True), entry.get("attributes", {})
    if not isinstance(resources, str):
        raise BadInput(f"{where} has no resources", field=f"{where}.resources", hint='resources = "cpus:4;mem:2GiB"')
    if not (hostname is None or isinstance(hostname, str)):
        raise BadInput(f"{where}: hostname is not a string", field=f"{where}.hostname")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_AGENTS:
        raise BadInput(f"{where}: count is not a number from 1 to {_MOST_AGENTS}", field=f"{where}.count")
    if not isinstance(active, bool):
        raise BadInput(f"{where}: active is not true or false", field=f"{where}.active")
    if not isinstance(attributes, dict) or not all(isinstance(v, str) or is_number(v) for v in attributes.values()):
        raise BadInput(
            f"{where}: attributes is not a table of strings and numbers",
            field=f"{where}.attributes",
            hint='attributes = { rack = "r1" }',
        )
    domain = _domain(entry, where)
    absence = _absence(entry, where)
    faults = _faults(entry, where)
    oversubscribed = entry.get("oversubscribed", "")
    principal = entry.get("principal")
    if not (principal is None or isinstance(principal, str)):
        raise BadInput(f"{where}: principal is not a string", field=f"{where}.principal")
    if not isinstance(oversubscribed, str):
        raise BadInput(
            f"{where}: oversubscribed is not a string", field=f"{where}.oversubscribed", hint='"cpus:2;mem:1GiB"'
        )
    typed = {name: value if isinstance(value, str) else float(value) for name, value in attributes.items()}
    return [
        AgentSpec(
            resources,
            f"{hostname}-{n}" if hostname and count > 1 else hostname,
            typed,
            active,
            **faults,
            absence=absence,
            domain=domain,
            oversubscribed=oversubscribed,
            principal=principal,
            where=where,
        )
        for n in range(1, count + 1)
    ]


def _domain(entry: Mapping[str, Any], where: str) -> Domain | None:
    """Read the fault domain of an agent.  Raises BadInput."""
    if "region" not in entry and "zone" not in entry:
        return None
    region, zone = entry.get("region"), entry.get("zone")
    if not (isinstance(region, str) and isinstance(zone, str) and region and zone):
        raise BadInput(f"{where}: a fault domain is a region and a zone, both strings", field=f"{where}.region")
    return Domain(region, zone)


def _no_seconds(where: str, key: str, value: object) -> BadInput:
    """The refusal of a span that is not a number of seconds, such as "5s", with what to write."""
    try:
        meant = f"{parse_span(str(value), key):.15g}"
    except UsageError:
        meant = "5"
    hint = f"write {key} = {meant}"
    return BadInput(f"{where}: {key} is not a number of seconds", field=f"{where}.{key}", hint=hint)


def _faults(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read the fields of `AgentFaults` of an agent.  Raises BadInput."""
    loses = entry.get("loses", 0)
    if not isinstance(loses, int) or not is_number(loses) or loses < -1:
        raise BadInput(f"{where}: loses is neither a number of operations nor -1 for all", field=f"{where}.loses")
    delays = {key: entry.get(key, 0.0) for key in ("delay", "launch_delay")}
    for key, delay in delays.items():
        if not is_number(delay) or delay < 0:
            raise _no_seconds(where, key, delay)
    return {"loses": loses, **{key: float(delay) for key, delay in delays.items()}}


def _absence(entry: Mapping[str, Any], where: str) -> Absence | None:
    """Read the absence of an agent.  Raises BadInput."""
    for key in ("leaves_after", "returns_after"):
        value = entry.get(key)
        if value is not None and (not is_number(value) or value < 0):
            raise _no_seconds(where, key, value)
    leaves, returns = entry.get("leaves_after"), entry.get("returns_after")
    if leaves is None and returns is None:
        return None
    if leaves is None or (returns is not None and returns <= leaves):
        raise BadInput(f"{where}: an agent can only return after it has left", field=f"{where}.returns_after")
    return Absence(float(leaves), None if returns is None else float(returns))
