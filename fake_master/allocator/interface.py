"""The interface between a master and an allocator (docs/explanation/allocator.md, "Events").

Events go in as method calls; decisions come out through the callbacks given to the constructor of
an implementation: offers and inverse offers, and revocations (`fake_master.allocator.revocation`).  Time is
virtual: an event only notes that a run is due, and `advance_to` plays everything that is due up to
a moment: the noted run first, then timers in the order of their deadlines.  So a master handles
what has arrived, calls `advance_to(now)`, and sleeps, or jumps, to `next_deadline()`.

`fake_master.allocator.custom` loads an implementation of one's own, `fake_master.allocator.conformance` checks it, and
`fake_master.allocator.custom_base` is the base of one that only decides whose turn it is.

Amounts are thousandths throughout, times and durations are seconds.  Resources that a framework
holds or is offered carry an allocation role; an agent's totals do not.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fake_master.allocator.revocation import HoldingsQuestion, Revocation, RevocationCallback
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import immutable
from mesosctl.mesos.rules.reservations.operations import Conversion

ALL_AGENT_CAPABILITIES = frozenset({"MULTI_ROLE", "HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"})
DEFAULT_REFUSE_SECONDS = 5.0


def quota_metric(role: str, resource: str) -> str:
    """The beginning of the metrics about the quota that a role has of a resource."""
    return f"allocator/mesos/quota/roles/{role}/resources/{resource}"


@immutable
class AgentInfo:
    """An agent, its resources apart."""

    id: str
    hostname: str = "localhost"
    region: str | None = None
    """Region of its fault domain; None if it has none, which counts as the master's own."""
    zone: str | None = None
    """Zone of its fault domain; only offer constraints look at it."""
    attributes: tuple[tuple[str, str | float], ...] = ()
    """Compared for changes and passed to offer constraints; not interpreted here."""
    capabilities: frozenset[str] = ALL_AGENT_CAPABILITIES


@dataclass(frozen=True, slots=True)
class FrameworkInfo:
    """A framework as an allocator sees it."""

    id: str
    roles: frozenset[str]
    capabilities: frozenset[str] = frozenset({"MULTI_ROLE"})
    minimums: Mapping[str, tuple[Quantities, ...]] = field(default_factory=dict)
    """By role: alternatives that replace the flag --min_allocatable_resources; () accepts anything."""
    excludes: Mapping[str, Callable[[AgentInfo], bool]] = field(default_factory=dict)
    """By role: offer constraints, as a function that is true for an agent they exclude."""


@dataclass(frozen=True, slots=True)
class Unavailability:
    """A maintenance window; without a duration it has no end."""

    start: float
    duration: float | None = None


FrameworkId = str
RoleName = str
AgentId = str

Used = Mapping[str, Resources]
"""The resources in use on an agent, by framework id; or those that a framework uses, by agent id."""

ResourcesByAgent = dict[AgentId, Resources]
OffersByRole = dict[RoleName, ResourcesByAgent]
Offers = dict[FrameworkId, OffersByRole]
"""The offers of a run; the resources carry the role as allocation role."""

OfferCallback = Callable[[FrameworkId, OffersByRole], None]
"""Called once a framework and run."""

InverseOfferCallback = Callable[[FrameworkId, dict[AgentId, Unavailability]], None]
"""(framework id, {agent id: unavailability}), once a framework and run."""


def _ignore(_framework: FrameworkId, _unavailable: dict[AgentId, Unavailability]) -> None:
    """Ask for no inverse offers."""


def _protect_all(revocations: Sequence[Revocation]) -> Sequence[Revocation]:
    """Take nothing back."""
    return revocations


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """A request to be offered what one task requires, on one agent (`Call.Request`)."""

    amounts: Quantities
    agent: str | None = None
    """Only there; None is anywhere."""
    role: str | None = None
    """In this role; None means in any of its roles."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The master as an allocator calls it: for its decisions, and for what can be taken back."""

    offers: OfferCallback
    inverse_offers: InverseOfferCallback = _ignore
    holdings: HoldingsQuestion = dict
    revoke: RevocationCallback = _protect_all


class Allocator(ABC):
    """Decides who is offered what.

    An unknown agent or framework raises KeyError, unless a method says otherwise; returning resources that are not held
    raises ValueError.
    """

    # --- Time ---------------------------------------------------------------------------------------

    @abstractmethod
    def advance_to(self, now: float) -> None:
        """Play everything that is due up to `now`, which may be the present moment."""

    @abstractmethod
    def next_deadline(self) -> float | None:
        """When something may happen next: the present moment if a run is due already.

        None if nothing will until the next event, as where runs would only repeat one that offered nothing.
        """

    # --- Agents -------------------------------------------------------------------------------------

    @abstractmethod
    def add_agent(
        self, info: AgentInfo, total: Resources, used: Used | None = None, unavailability: Unavailability | None = None
    ) -> None:
        """A registered agent; `used` by framework id.  Frameworks not yet known are accounted on `add_framework`."""

    @abstractmethod
    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        """New attributes or capabilities, and a new total if one is given."""

    @abstractmethod
    def add_resource_provider(self, agent: str, total: Resources, used: Used) -> None:
        """Add resources to an agent's total, and what is used of them."""

    @abstractmethod
    def remove_agent(self, agent: str) -> None:
        """The agent and everything that was held there is gone."""

    @abstractmethod
    def activate_agent(self, agent: str) -> None:
        """Offer its resources again, from the next run on."""

    @abstractmethod
    def deactivate_agent(self, agent: str) -> None:
        """Offer nothing of it any more."""

    @abstractmethod
    def update_unavailability(self, agent: str, unavailability: Unavailability | None) -> None:
        """Schedule maintenance, or cancel it."""

    @abstractmethod
    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        """Offer agents with these host names only; None allows all."""

    # --- Frameworks ---------------------------------------------------------------------------------

    @abstractmethod
    def add_framework(
        self, info: FrameworkInfo, used: Used | None = None, *, active: bool = True, suppressed: Collection[str] = ()
    ) -> None:
        """A subscribed framework; `used` by agent id, agents not known are skipped."""

    @abstractmethod
    def update_framework(self, info: FrameworkInfo, *, suppressed: Collection[str] = ()) -> None:
        """New roles, capabilities, constraints, or suppressed roles."""

    @abstractmethod
    def remove_framework(self, framework: str) -> None:
        """The framework is gone and everything it held is free again."""

    @abstractmethod
    def activate_framework(self, framework: str) -> None:
        """Offer to it again in every role that it has not suppressed."""

    @abstractmethod
    def deactivate_framework(self, framework: str) -> None:
        """Offer nothing to it; its filters and requests are dropped, its resources stay accounted."""

    @abstractmethod
    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        """Stop the offers in these roles, or in all."""

    @abstractmethod
    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        """Forget the filters of these roles, or of all, and offer again."""

    @abstractmethod
    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        """The framework requests offers; this replaces its earlier requests. An allocator may ignore it."""

    # --- Resources ----------------------------------------------------------------------------------

    @abstractmethod
    def recover_resources(
        self,
        framework: str,
        agent: str,
        resources: Resources,
        refuse_seconds: float | None = None,
        *,
        is_allocated: bool = False,
    ) -> None:
        """Return resources of one allocation role; unknown frameworks and agents are not an error.

        `refuse_seconds` None installs no filter; `DEFAULT_REFUSE_SECONDS` is for a message whose filters name no time.
        `is_allocated` marks resources that were accepted.
        """

    @abstractmethod
    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        """Resources of one allocation role that an earlier master offered and nobody has answered yet.

        No Mesos has this: its offers do not outlive a master.  Both must be known.
        """

    def refusals(self, framework: str) -> Iterable[tuple[str, str, Resources, float]]:
        """(agent, role, resources without allocation roles, seconds left) of each refusal; here none.

        An allocator that keeps none lets its frameworks decline again after a restart.
        """
        del framework
        return ()

    def restore_refusal(self, framework: str, agent: str, role: str, refused: Resources, seconds: float) -> None:
        """A refusal that an earlier master has taken: resources without allocation roles, for the remaining seconds.

        Both must be known.  No Mesos has this, and here it is forgotten.
        """
        del framework, agent, role, refused, seconds

    @abstractmethod
    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        """Offered resources were accepted."""

    @abstractmethod
    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        """Apply operations to an offer: `conversions` change `offered` and the agent's total."""

    @abstractmethod
    def update_available(self, agent: str, conversions: Iterable[Conversion]) -> bool:
        """Apply operations to free resources; return False, and do nothing, if they are not free."""

    # --- Roles --------------------------------------------------------------------------------------

    @abstractmethod
    def update_quota(self, role: str, quota: Quota) -> None:
        """Set a top-level role's quota; the default quota removes it.  Takes effect with the next batch."""

    @abstractmethod
    def update_weights(self, weights: Mapping[str, float]) -> None:
        """Set weights by role."""

    # --- Runs ---------------------------------------------------------------------------------------

    @abstractmethod
    def recover(self, expected_agents: int, quotas: Mapping[str, Quota]) -> None:
        """After a failover, before any agent: hold offers back until most agents are known again."""

    def allocate(self) -> None:  # noqa: B027  # an allocator may do without
        """Make a run for all agents due at the present moment, as with the next batch; one may ignore it."""

    @abstractmethod
    def pause(self) -> None:
        """Hold runs back; brackets may nest."""

    @abstractmethod
    def resume(self) -> None:
        """End the innermost `pause`."""

    # --- Inverse offers -----------------------------------------------------------------------------

    @abstractmethod
    def update_inverse_offer(self, framework: str, agent: str, refuse_seconds: float | None = None) -> None:
        """An inverse offer was answered, rescinded or timed out; unknown ids are not an error."""

    # --- Figures ------------------------------------------------------------------------------------

    @abstractmethod
    def metrics(self) -> dict[str, float]:
        """Every metric by Mesos's own name."""

    def run_times(self) -> Iterable[float]:
        """The times of the last allocation runs, in order; none if the allocator does not know them."""
        return ()

    def serving_order(self) -> Iterable[tuple[RoleName, float]]:
        """The roles that have frameworks, the next to be served first, and the weighted dominant share of each.

        Roles below their guarantee come before all others. Roles whose frameworks have suppressed offers are there too.

        Nothing if the allocator does not know the order before a run, as where it draws lots.
        """
        return ()
