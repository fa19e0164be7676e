"""Frameworks: their capabilities, the agents and resources that suit them, the smallest offer, and what lists show.

Source: docs/explanation/allocator.md, "Capabilities and agent properties".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.quantities import Quantities, to_double, to_milli
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_quantity
from mesosctl.mesos.names import Kind, with_kind
from mesosctl.mesos.roles import is_strict_subrole


class AgentFeatures(NamedTuple):
    """The features of an agent that decide whether its resources may be offered to a framework."""

    has_gpus: bool
    """It has GPUs, which are kept for frameworks with GPU_RESOURCES."""
    remote: bool
    """In another region than the master."""
    multi_role: bool
    hierarchical_role: bool

    @classmethod
    def of(
        cls,
        capabilities: Collection[str],
        total: Resources,
        *,
        filter_gpus: bool,
        region: str | None,
        master_region: str | None,
    ) -> Self:
        """Those of an agent with these capabilities and resources; a region is None if it has no fault domain."""
        return cls(
            has_gpus=filter_gpus and any(entry.name == "gpus" and entry.is_scalar for entry in total),
            remote=None not in (region, master_region) and region != master_region,
            multi_role="MULTI_ROLE" in capabilities,
            hierarchical_role="HIERARCHICAL_ROLE" in capabilities,
        )


class MissingCapability(NamedTuple):
    """A capability because of which something is not offered: the framework lacks it, or the agent does."""

    name: str
    of_agent: bool = False

    def __str__(self) -> str:
        return f"{self.name} of the agent" if self.of_agent else self.name


_NO_GPUS = MissingCapability("GPU_RESOURCES")
_NOT_REGION_AWARE = MissingCapability("REGION_AWARE")
_FLAT_AGENT = MissingCapability("HIERARCHICAL_ROLE", of_agent=True)
_AGENT_OF_ONE_ROLE = MissingCapability("MULTI_ROLE", of_agent=True)
_NOT_SHARED = MissingCapability("SHARED_RESOURCES")
_NOT_REVOCABLE = MissingCapability("REVOCABLE_RESOURCES")
_NOT_REFINED = MissingCapability("RESERVATION_REFINEMENT")


class Capabilities(NamedTuple):
    """The capabilities of a framework in a role that decide which agents it may be offered."""

    gpus: bool
    region_aware: bool
    multi_role: bool
    below_a_role: bool
    """Its role has a parent."""

    @classmethod
    def of(cls, role: str, capabilities: Collection[str]) -> Self:
        """Those of a framework with these capabilities."""
        can = capabilities.__contains__
        return cls(can("GPU_RESOURCES"), can("REGION_AWARE"), can("MULTI_ROLE"), "/" in role)

    def missing_capability(self, traits: AgentFeatures) -> MissingCapability | None:
        """The missing capability, of the framework or the agent, that keeps an agent from being offered, or None."""
        if traits.has_gpus and not self.gpus:
            return _NO_GPUS
        if traits.remote and not self.region_aware:
            return _NOT_REGION_AWARE
        if self.below_a_role and not traits.hierarchical_role:
            return _FLAT_AGENT
        if self.multi_role and not traits.multi_role:
            return _AGENT_OF_ONE_ROLE
        return None


class AcceptedKinds(NamedTuple):
    """Which entries of an agent a framework can take: part of its capabilities."""

    shared: bool
    revocable: bool
    refined: bool

    @classmethod
    def of(cls, capabilities: Collection[str]) -> Self:
        """That of a framework with these capabilities."""
        can = capabilities.__contains__
        return cls(can("SHARED_RESOURCES"), can("REVOCABLE_RESOURCES"), can("RESERVATION_REFINEMENT"))

    def missing_capability(self, entry: Resource) -> MissingCapability | None:
        """The missing capability because of which an entry is not offered; None for none."""
        if entry.shared and not self.shared:
            return _NOT_SHARED
        if entry.revocable and not self.revocable:
            return _NOT_REVOCABLE
        if entry.is_refined and not self.refined:
            return _NOT_REFINED
        return None

    def accepts(self, entry: Resource) -> bool:
        """Whether the entry is of a kind that the framework knows."""
        return self.missing_capability(entry) is None


def parse_minimum(text: str) -> tuple[Quantities, ...]:
    """The flag --min_allocatable_resources: `cpus:0.01|mem:32`, alternatives of `name:amount` joined by ";".

    Raises ValueError.
    """
    alternatives = []
    for alternative in text.split("|"):
        amounts: dict[str, int] = {}
        for token in filter(None, (part.strip() for part in alternative.split(";"))):
            name, colon, amount = token.partition(":")
            if not colon:
                raise ValueError(f"'{token}' is not NAME:AMOUNT")
            amounts[name.strip()] = to_milli(float(amount))
        if amounts:
            alternatives.append(Quantities(amounts))
    return tuple(alternatives)


def is_allocatable(resources: Resources, alternatives: tuple[Quantities, ...]) -> bool:
    """Whether the sums over all entries reach one of the alternatives; without any, everything but nothing does."""
    if not resources:
        return False
    return not alternatives or any(_meets(resources, alternative) for alternative in alternatives)


def _meets(resources: Resources, alternative: Quantities) -> bool:
    return all(_reaches(resources, name, to_double(amount)) for name, amount in alternative.items())


def _reaches(resources: Resources, name: str, missing: float) -> bool:
    # Mesos subtracts plain doubles entry by entry here, the one place where it does not round.
    for entry in resources:
        if entry.name == name:
            missing -= to_double(value_quantity(entry.value))
            if missing <= 0:
                return True
    return False


FrameworkState = Literal["active", "inactive", "disconnected", "recovered", "completed"]
"""An inactive one is connected and gets no offers; a recovered one has not come back since the master failed over."""


@dataclass(frozen=True, slots=True)
class ListedFramework:
    """A framework, and what it holds."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None = None
    status: FrameworkState = "active"
    holdings: Mapping[str, UsedAndOffered] = field(default_factory=dict)
    """By role."""
    offer_ids: tuple[str, ...] = ()
    """Of the offers that it has not answered."""
    suppressed: frozenset[str] | None = None
    """Roles in which it wants no offers; None if that is unknown."""
    failover_timeout: float = 0.0
    """Seconds for which a master waits for it, while it is disconnected, before it is removed with its tasks."""
    registered: float | None = None
    """When it registered first, in seconds since the epoch; None if the master does not say."""
    ended: float | None = None
    """When it was removed; None of one that is not completed."""
    unclear: frozenset[Kind] = field(default=frozenset(), compare=False)
    """The kinds of its names that could mean another framework too, and that are typed with their kind therefore."""

    @property
    def offers(self) -> int:
        """The number of offers that it has not answered."""
        return len(self.offer_ids)

    @property
    def holding(self) -> UsedAndOffered:
        """The sum over all of its roles."""
        return UsedAndOffered.total_of(self.holdings.values())

    @property
    def used(self) -> Quantities:
        """By its tasks and executors."""
        return self.holding.used

    @property
    def offered(self) -> Quantities:
        """By offers that it has not answered."""
        return self.holding.offered

    def wants_offers_in(self, role: str) -> bool | None:
        """Whether it wants offers in one of its roles; None if that is unknown."""
        if self.status != "active":
            return False
        return None if self.suppressed is None else role not in self.suppressed

    def with_suppressed(self, told: Mapping[str, bool] | None) -> "ListedFramework":
        """Return it with the roles that it suppresses; the same if that is not told of each of its roles."""
        if told is None or not told.keys() >= set(self.roles):
            return self
        return replace(self, suppressed=frozenset(role for role in self.roles if told[role]))

    def serves(self, role: str) -> bool:
        """Whether it subscribes with `role` or a role below it."""
        return any(own == role or is_strict_subrole(own, role) for own in self.roles)

    @property
    def title(self) -> str:
        """Its name, or its id if the name is empty."""
        return self.name or self.id

    @property
    def names(self) -> tuple[tuple[Kind, str], ...]:
        """Its names by which it can be meant."""
        return ("name", self.name), ("id", self.id)

    @property
    def typed_title(self) -> str:
        """Its title as it has to be typed: `name:kafka` if it could be the id of another framework too."""
        if not self.name:
            return self.typed_id
        return with_kind("name", self.name) if "name" in self.unclear else self.name

    @property
    def typed_id(self) -> str:
        """Its id as it has to be typed."""
        return with_kind("id", self.id) if "id" in self.unclear else self.id


class TornDown(NamedTuple):
    """A framework that was removed for good."""

    framework: ListedFramework
    tasks: int
    """That it had, and that were killed."""
    confirmed: bool
    """Whether it was read back."""
