"""Agents and their reservations, and the changes that commands on reservations report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeVar

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import format_value, immutable
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.names import Kind, with_kind
from mesosctl.mesos.roles import is_strict_subrole

AgentStatus = Literal["active", "disconnected", "deactivated", "draining", "drained", "recovering", "unreachable"]
"""The states of agents, of which only active ones get offers.

Recovering ones were known to a former leader, and are not back.
"""


class Drain(NamedTuple):
    """The drain that an operator has asked of an agent."""

    max_grace_period: float | None = None
    """In seconds; None if tasks have their own."""
    mark_gone: bool = False


@immutable
class RegisteredAgent(ClusterAgent):
    """An agent with what is in use of it: `used` is what tasks and executors hold, `offered` what offers do."""

    used: Resources = field(default_factory=Resources)
    offered: Resources = field(default_factory=Resources)
    status: AgentStatus = "active"
    drain: Drain | None = None
    """None unless it is draining or drained."""
    users: frozenset[str] = frozenset()
    """The roles to which something of it is allocated."""
    short_id: str = field(default="", compare=False)
    """The end of its id that is unique, as it is typed, if several agents share a host name; otherwise empty."""
    shares_host: bool = field(default=False, compare=False)
    """Whether another agent has the same host name."""
    unclear: frozenset[Kind] = field(default=frozenset(), compare=False)
    """The kinds of its names that could mean another agent too, and that are typed with their kind therefore."""

    def named_like(self, other: "RegisteredAgent") -> "RegisteredAgent":
        """The same with the name that `other`, an earlier reading of it, has among all agents."""
        return replace(self, short_id=other.short_id, shares_host=other.shares_host, unclear=other.unclear)

    @property
    def name(self) -> str:
        """The name in sentences: its host name, with its short id if another agent has the same host name."""
        return f"{self.hostname} ({self.short_id})" if self.shares_host else self.hostname

    @property
    def typed_name(self) -> str:
        """The word that means it on the command line, for hints and files."""
        if self.shares_host or not self.hostname:
            return self.short_id or self.typed_id
        return self.typed_host

    @property
    def typed_host(self) -> str:
        """Its host name as it has to be typed: `host:S0` if it could be the id of another agent too."""
        return with_kind("host", self.hostname) if "host" in self.unclear else self.hostname

    @property
    def typed_id(self) -> str:
        """Its id as it has to be typed."""
        return with_kind("id", self.id) if "id" in self.unclear else self.id

    def serves(self, role: str) -> bool:
        """Whether any of its resources are reserved for or allocated to `role` or a role below it."""
        owners = {level.role for entry in self.total for level in entry.reservations}
        return any(owner == role or is_strict_subrole(owner, role) for owner in owners | self.users)

    @property
    def volumes(self) -> Resources:
        """Its persistent volumes."""
        return self.total.filter(lambda entry: entry.is_persistent_volume)

    @property
    def available(self) -> Resources:
        """The resources available to an operation, which rescinds offers but does not end tasks."""
        return self.total - self.used


Described = TypeVar("Described")


def spread(agents: Sequence[Described], count: int) -> list[Described]:
    """Return `count` of the agents, evenly: those in the order of host names are of as many racks as possible."""
    return [agents[place * len(agents) // count] for place in range(count)]


RESERVATION_KEYS = ("agent", "role", "type", "principal")
VOLUME_KEYS = ("agent", "role", "id")
"""The keys that each list can be sorted by, in addition to the names of resources."""


@dataclass(frozen=True, slots=True)
class AgentReservation:
    """The resources of one agent under one reservation stack: a line of `reservations`, or a volume."""

    agent: RegisteredAgent
    stack: tuple[Reservation, ...]
    resources: Resources
    allocated: Resources
    disk: Disk | None = None

    @property
    def owner(self) -> Reservation:
        """The top of the stack."""
        return self.stack[-1]

    @property
    def is_dynamic(self) -> bool:
        """Whether it can be undone."""
        return self.owner.type == "DYNAMIC"

    @property
    def source(self) -> DiskSource | None:
        """The separate disk that the resources are on, or None."""
        return self.disk.source if self.disk is not None else None

    @property
    def volume(self) -> Disk | None:
        """The persistent volume that the resources are, or None."""
        return self.disk if self.disk is not None and self.disk.persistence_id is not None else None


def agent_reservations(agent: RegisteredAgent, role: str | None = None) -> Iterator[AgentReservation]:
    """Every stack of an agent, and every volume separately; of one role and those below it, or of all."""
    found: dict[tuple[tuple[Reservation, ...], object], Disk | None] = {}
    for entry in agent.total.reserved():
        if role is None or entry.role == role or is_strict_subrole(entry.role, role):
            found.setdefault((entry.reservations, entry.disk_identity), entry.disk)
    for (stack, identity), disk in found.items():

        def same(entry: Resources, stack: object = stack, identity: object = identity) -> Resources:
            return entry.filter(lambda e: (e.reservations, e.disk_identity) == (stack, identity))

        yield AgentReservation(agent, stack, same(agent.total), same(agent.used), disk)


def without_owners(resources: Resources) -> Resources:
    """The same amounts, ranges and sets, without owners and disks."""
    if not any(entry.reservations or entry.disk is not None for entry in resources):
        return resources  # as most tasks have them
    return Resources(
        replace(entry, reservations=(), disk=None) if entry.reservations or entry.disk is not None else entry
        for entry in resources
    )


def plain_text(resources: Resources) -> str:
    """`cpus:8;mem:4096;ports:[31000-31004]`, in the form that commands accept; without owners."""
    return _PLAIN_TEXTS.of(resources)


def _plain_text(resources: Resources) -> str:
    return (
        ";".join(
            f"{entry.name}{'{REV}' * entry.revocable}:{format_value(entry.value)}"
            for entry in without_owners(resources)
        )
        or "-"
    )


_PLAIN_TEXTS = IdentityCache(_plain_text)


def owned_text(resources: Resources) -> str:
    """`cpus:4; cpus(ads):2; ports:[31000-32000]`: with their owners by name; empty for none."""
    texts = []
    for entry in resources:
        plain = replace(entry, reservations=(), allocation_role=None)
        name, _, value = str(plain).rpartition(":")
        texts.append(f"{name}({entry.role}):{value}" if entry.is_reserved else f"{name}:{value}")
    return "; ".join(texts)


def volume_names(volumes: Resources) -> str:
    """Volumes by id, with their sizes."""
    return ", ".join(f"{volume_id(volume)} ({without_owners(Resources([volume])).in_words})" for volume in volumes)


def volume_id(volume: Resource) -> str:
    """The id of a persistent volume."""
    assert volume.disk is not None
    assert volume.disk.persistence_id is not None
    return volume.disk.persistence_id


OperationKind = Literal["reserved", "unreserved", "created", "destroyed"]


@dataclass(frozen=True, slots=True)
class AcceptedOperation:
    """One operation that a master accepted, and whether master and agent show it."""

    agent: RegisteredAgent
    done: OperationKind
    resources: Resources
    by_master: bool = False
    by_agent: bool = False


ServiceVerb = Literal["drain", "deactivate", "reactivate", "mark gone"]
StatusAfter = Literal[
    "active", "disconnected", "deactivated", "draining", "drained", "recovering", "unreachable", "gone"
]
"""The status of an agent after a change; a master does not list one that is gone."""


class AgentServiceChange(NamedTuple):
    """An agent that was taken out of service, or back: what was asked, and the status that it has then."""

    agent: RegisteredAgent
    asked: ServiceVerb
    status: StatusAfter
    sent: bool
    """False if the agent was so already."""
    confirmed: bool
    """Whether it was read back."""


@dataclass(frozen=True, slots=True)
class ExpectedResources:
    """The state of an agent after an operation: at least `least`, at most `most` of these kinds.

    Others may change the same agent meanwhile, so only the kinds of the operation are compared.
    """

    least: Resources = field(default_factory=Resources)
    most: Resources | None = None
    of: Resources = field(default_factory=Resources)

    @classmethod
    def gained(cls, after: Resources, resources: Resources) -> "ExpectedResources":
        """Expect that an agent, which will be `after`, has got `resources`."""
        return cls(least=_of_kinds(after, resources))

    @classmethod
    def lost(cls, after: Resources, resources: Resources) -> "ExpectedResources":
        """Expect that an agent, which will be `after`, no longer has `resources`."""
        return cls(most=_of_kinds(after, resources), of=resources)

    def is_shown_by(self, total: Resources) -> bool:
        """Whether an agent with `total` shows it."""
        if self.most is not None and not self.most.contains(_of_kinds(total, self.of)):
            return False
        return total.contains(self.least)


def _of_kinds(total: Resources, resources: Resources) -> Resources:
    kinds = {entry.kind for entry in resources}
    return total.filter(lambda entry: entry.kind in kinds)
