"""The tables [[agents]] of a cluster file; `example_cluster.toml` shows every key."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import repeat
from typing import Annotated

import msgspec
from msgspec import Meta

from fake_master.state.agents import Absence, Domain
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.resource_text import read_resources
from mesosctl.mesos.messages.strict.shapes import LARGEST, Name, Seconds, Table
from mesosctl.mesos.rules.version_profile import Profile

_MOST_AGENTS = 100_000


_NO_ROOT: Mapping[str, tuple[str | None, ...]] = {"PATH": (None,), "MOUNT": (None, "")}
"""The folders of a disk that an agent refuses; a PATH disk may be in the agent's own folder."""


@lru_cache(1024)  # similar agents share one object
def _parsed(text: str, profile: Profile) -> Resources:
    """The resources of an agent: a text, or JSON, which can also describe disks.  Raises RuleViolation."""
    parsed = read_resources(text, release=profile.release)
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
            else f"names a resource provider, which ends a real master of Mesos {profile.version}"
            if entry.provider_id is not None and not profile.agents_may_name_providers
            else None
        )
        if wrong is not None:
            raise RuleViolation(f"{entry.in_words} {wrong}", field="resources", rule="resource.of-agent")
    return Resources(replace(entry, reservations=_configured(entry.reservations)) for entry in parsed)


def _configured(stack: tuple[Reservation, ...]) -> tuple[Reservation, ...]:
    """A static reservation as an agent keeps it: the role alone."""
    return tuple(Reservation("STATIC", level.role) for level in stack)


class AgentTable(Table):
    """One agent, or several equal ones."""

    resources: Annotated[
        str,
        Meta(
            description="What it has, as a text or as JSON; a role in brackets means reserved for that role.",
            examples=["cpus:4;mem:2GiB"],
        ),
    ]
    hostname: Annotated[str | None, Meta(description="The default is agent-1, agent-2, …", examples=["node"])] = None
    attributes: Annotated[
        dict[str, str | Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]], Meta(examples=[{"rack": "r1"}])
    ] = msgspec.field(default_factory=dict)
    region: Annotated[Name | None, Meta(description="Region and zone are its fault domain.", examples=["eu"])] = None
    zone: Annotated[Name | None, Meta(examples=["a"])] = None
    count: Annotated[
        int,
        Meta(
            description="So many equal agents; a number is appended to their host names.",
            ge=1,
            le=_MOST_AGENTS,
            examples=[3],
        ),
    ] = 1
    active: Annotated[bool, Meta(description="False: registered, but not in service.")] = True
    loses: Annotated[
        int,
        Meta(
            description="So many of its first operations never reach it; -1 means that no operation does.",
            ge=-1,
            le=LARGEST,
        ),
    ] = 0
    delay: Annotated[Seconds, Meta(description="Seconds until an operation reaches it.", examples=[1.5])] = 0.0
    launch_delay: Annotated[Seconds, Meta(description="Seconds until a launched task reaches it.", examples=[1])] = 0.0
    leaves_after: Annotated[
        Seconds | None,
        Meta(description="Seconds from its registration until it becomes unreachable.", examples=[30]),
    ] = None
    returns_after: Annotated[
        Seconds | None,
        Meta(
            description="Seconds from its registration until it is reachable again; the default is never.",
            examples=[300],
        ),
    ] = None
    oversubscribed: Annotated[
        str,
        Meta(
            description="Unused resources that its estimator reports; offered as revocable.",
            examples=["cpus:2;mem:1GiB"],
        ),
    ] = ""
    principal: Annotated[str | None, Meta(description="The principal that registers it.", examples=["agents"])] = None


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

    def configured(self, index: int, profile: Profile) -> Resources:
        """Return the resources of the agent, as a master with this profile reads them.  Raises BadInput."""
        try:
            return _parsed(self.resources, profile)
        except RuleViolation as error:
            problem = f"agent {self.hostname_at(index)}: {error.message}"
            raise BadInput(problem, field="resources", hint=error.hint) from error


def agent_specs(tables: Iterable[AgentTable], where: str) -> tuple[AgentSpec, ...]:
    """The agents that tables describe.  Raises BadInput for what does not fit together, and for too many."""
    found: list[AgentSpec] = []
    for index, table in enumerate(tables):
        found.extend(_agent_specs(table, f"{where}[{index}]"))
        if len(found) > _MOST_AGENTS:
            raise BadInput(f"{where}: more than {_MOST_AGENTS} agents", field=f"{where}[{index}]")
    return tuple(found)


def _agent_specs(table: AgentTable, where: str) -> Iterator[AgentSpec]:
    if (table.region is None) != (table.zone is None):
        raise BadInput(f"{where}: a fault domain is a region and a zone, both strings", field=f"{where}.region")
    spec = AgentSpec(
        table.resources,
        table.hostname,
        {name: value if isinstance(value, str) else float(value) for name, value in table.attributes.items()},
        table.active,
        loses=table.loses,
        delay=table.delay,
        launch_delay=table.launch_delay,
        absence=_absence(table, where),
        domain=None if table.region is None or table.zone is None else Domain(table.region, table.zone),
        oversubscribed=table.oversubscribed,
        principal=table.principal,
        where=where,
    )
    if not table.hostname or table.count == 1:
        yield from repeat(spec, table.count)
        return
    for number in range(1, table.count + 1):
        yield replace(spec, hostname=f"{table.hostname}-{number}")


def _absence(table: AgentTable, where: str) -> Absence | None:
    leaves, returns = table.leaves_after, table.returns_after
    if leaves is None and returns is None:
        return None
    if leaves is None or (returns is not None and returns <= leaves):
        raise BadInput(f"{where}: an agent can only return after it has left", field=f"{where}.returns_after")
    return Absence(leaves, returns)
