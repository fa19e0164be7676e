"""A random history of events for the conformance suite, with simple records against which every decision is checked."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    Callbacks,
    FrameworkInfo,
    OffersByRole,
)
from fake_master.allocator.revocation import Holding, Revocation
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources

MakeWithCallbacks = Callable[[Callbacks], Allocator]
"""Makes a new allocator, whose clock is at 0."""

_TOTALS = ("cpus:4;mem:1024", "cpus:8;mem:512;disk:100;ports:[1-100]", "cpus:2;mem:256;cpus(a):2;mem(a):256")
_ROLES = ("a", "b", "c")
_REFUSALS = (None, 0.0, 2.0, 30.0)
_LIMIT = Quota(Quantities(), Limits({"cpus": 3000, "mem": 4096000}))


class Violation(AssertionError):
    """An allocator has broken a rule of the interface; the message says which."""


@dataclass(slots=True)
class _Framework:
    info: FrameworkInfo
    active: bool = True
    suppressed: bool = False


@dataclass(slots=True)
class _Agent:
    total: Resources
    activated: bool = True


@dataclass(slots=True)
class _Refusal:
    framework: str
    role: str
    agent: str
    refused: Resources
    until: float


@dataclass(slots=True)
class _Offer:
    framework: str
    role: str
    agent: str
    resources: Resources
    id: str = ""
    plain: Resources = field(init=False)

    def __post_init__(self) -> None:
        self.plain = self.resources.allocated_to(None)


class History:
    """An allocator, with simple records of its events and its offers."""

    def __init__(self, make: MakeWithCallbacks, chance: random.Random) -> None:
        self.event = "the start"
        """The name of the last event."""
        self._chance = chance
        self._now = 0.0
        self._names = 0
        self._agents: dict[str, _Agent] = {}
        self._frameworks: dict[str, _Framework] = {}
        self._offers: list[_Offer] = []
        self._refusals: list[_Refusal] = []
        self._allocator = make(Callbacks(offers=self._on_offers, holdings=self._holdings, revoke=self._on_revoke))
        self._allocator.update_quota("c", _LIMIT)
        self._events = (
            self._add_agent, self._add_framework, self._toggle_agent, self._toggle_framework, self._suppress_or_revive,
            self._remove, self._answer, self._answer, self._answer, self._advance, self._advance, self._advance,
        )  # fmt: skip

    def step(self) -> None:
        """Play one event."""
        event = self._chance.choice(self._events)
        self.event = event.__name__.removeprefix("_")
        event()

    # --- Events -------------------------------------------------------------------------------------

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def _add_agent(self) -> None:
        name, total = self._name("A"), parse_resources(self._chance.choice(_TOTALS))
        self._agents[name] = _Agent(total)
        self._allocator.add_agent(AgentInfo(name), total)

    def _add_framework(self) -> None:
        info = FrameworkInfo(self._name("F"), frozenset(self._chance.sample(_ROLES, self._chance.randint(1, 2))))
        self._frameworks[info.id] = _Framework(info)
        self._allocator.add_framework(info)

    def _toggle_agent(self) -> None:
        if self._agents:
            name = self._chance.choice(list(self._agents))
            agent = self._agents[name]
            agent.activated = not agent.activated
            (self._allocator.activate_agent if agent.activated else self._allocator.deactivate_agent)(name)

    def _toggle_framework(self) -> None:
        if self._frameworks:
            name = self._chance.choice(list(self._frameworks))
            framework = self._frameworks[name]
            framework.active = not framework.active
            self._forget_refusals(name)
            (self._allocator.activate_framework if framework.active else self._allocator.deactivate_framework)(name)

    def _suppress_or_revive(self) -> None:
        if self._frameworks:
            name = self._chance.choice(list(self._frameworks))
            framework = self._frameworks[name]
            framework.suppressed = not framework.suppressed
            if not framework.suppressed:
                self._forget_refusals(name)
            (self._allocator.suppress if framework.suppressed else self._allocator.revive)(name)

    def _remove(self) -> None:
        if self._frameworks and self._chance.random() < 0.5:
            name = self._chance.choice(list(self._frameworks))
            del self._frameworks[name]
            self._offers = [offer for offer in self._offers if offer.framework != name]
            self._allocator.remove_framework(name)
        elif self._agents and self._chance.random() < 0.5:
            name = self._chance.choice(list(self._agents))
            del self._agents[name]
            self._offers = [offer for offer in self._offers if offer.agent != name]
            self._allocator.remove_agent(name)

    def _answer(self) -> None:
        if self._offers:
            offer = self._offers.pop(self._chance.randrange(len(self._offers)))
            seconds = self._chance.choice(_REFUSALS)
            if seconds:
                until = self._now + seconds
                self._refusals.append(_Refusal(offer.framework, offer.role, offer.agent, offer.plain, until))
            self._allocator.recover_resources(offer.framework, offer.agent, offer.resources, seconds)

    def _advance(self) -> None:
        self._now += self._chance.choice((0.0, 0.5, 1.0))
        self._allocator.advance_to(self._now)
        deadline = self._allocator.next_deadline()
        _require(deadline is None or deadline >= self._now, "next_deadline must not be in the past")

    def _forget_refusals(self, framework: str) -> None:
        self._refusals = [refusal for refusal in self._refusals if refusal.framework != framework]

    # --- Checks -------------------------------------------------------------------------------------

    def _on_offers(self, framework_id: str, by_role: OffersByRole) -> None:
        framework = self._frameworks.get(framework_id)
        if framework is None:
            raise Violation(f"an offer to {framework_id}, which is not known")
        _require(framework.active, "an offer to a framework that is deactivated")
        _require(not framework.suppressed, "an offer in a suppressed role")
        for role, by_agent in by_role.items():
            _require(role in framework.info.roles, "an offer in a role to which the framework is not subscribed")
            for agent_id, resources in by_agent.items():
                self._check_offer(_Offer(framework_id, role, agent_id, resources, self._name("O")))

    def _check_offer(self, offer: _Offer) -> None:
        agent = self._agents.get(offer.agent)
        if agent is None:
            raise Violation(f"an offer of {offer.agent}, which is not known")
        _require(agent.activated, "an offer of an agent that is deactivated")
        _require(bool(offer.resources), "an empty offer")
        _require(
            all(entry.allocation_role == offer.role for entry in offer.resources),
            "offered resources must carry the role as allocation role",
        )
        _require(
            all(entry.allocatable_to(offer.role) for entry in offer.plain),
            "an offer of resources that are reserved for other roles",
        )
        self._offers.append(offer)
        used = Resources(entry for other in self._offers if other.agent == offer.agent for entry in other.plain)
        _require(agent.total.contains(used), "offers of more than the agent has")
        _require(not self._is_refused(offer), "an offer of what was refused, while the refusal lasts")
        self._check_limit()

    def _holdings(self) -> dict[str, list[Holding]]:
        found: dict[str, list[Holding]] = {}
        for offer in self._offers:
            parts = offer.resources, offer.resources
            found.setdefault(offer.agent, []).append(
                Holding(offer.id, offer.framework, offer.role, *parts, is_task=False)
            )
        return found

    def _on_revoke(self, revocations: Sequence[Revocation]) -> Sequence[Revocation]:
        for revocation in revocations:
            offer = next((offer for offer in self._offers if offer.id == revocation.holding.id), None)
            if offer is None:
                raise Violation("a revocation of what nobody holds, or of the same thing twice")
            _require(revocation.agent == offer.agent, "a revocation that names a different agent from the holding's")
            self._offers.remove(offer)
            self._allocator.recover_resources(offer.framework, offer.agent, offer.resources)
        return ()

    def _is_refused(self, offer: _Offer) -> bool:
        """Whether a refusal of at least these resources, in that role and on that agent, is in force."""
        return any(
            refusal.until > self._now
            and (refusal.framework, refusal.role, refusal.agent) == (offer.framework, offer.role, offer.agent)
            and refusal.refused.contains(offer.plain)
            for refusal in self._refusals
        )

    def _check_limit(self) -> None:
        held = Quantities.total(
            offer.plain.unreserved().non_revocable().scalar_quantities() for offer in self._offers if offer.role == "c"
        )
        _require(
            all(held.get_amount(name) <= bound for name, bound in _LIMIT.limits.items()),
            "offers to a role beyond its quota's limit",
        )


def _require(holds: bool, otherwise: str) -> None:  # reads as a sentence
    if not holds:
        raise Violation(otherwise)
