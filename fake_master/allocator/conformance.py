"""A conformance suite for allocators: plays events and checks what a master relies on.

    from fake_master.allocator.conformance import check
    check(lambda on_offers: MyAllocator(on_offers))

The checks hold for every allocator, whatever its order of frameworks: resources are offered once,
to active frameworks, in roles that may have them, and not while a refusal lasts; limits of quota
are kept; misuse raises the documented errors; and an idle cluster is offered in the end.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    FrameworkInfo,
    OfferCallback,
    OffersByRole,
)
from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_resources

MakeAllocator = Callable[[OfferCallback], Allocator]
"""Makes an allocator that knows nothing yet and whose clock stands at 0."""

_TOTALS = ("cpus:4;mem:1024", "cpus:8;mem:512;disk:100;ports:[1-100]", "cpus:2;mem:256;cpus(a):2;mem(a):256")
_ROLES = ("a", "b", "c")
_REFUSALS = (None, 0.0, 2.0, 30.0)
_LIMIT = Quota(Quantities(), Limits({"cpus": 3000, "mem": 4096000}))
_BATCHES = 10


class Violation(AssertionError):
    """An allocator has broken a promise of the interface; the message says which."""


def check(make: MakeAllocator, *, seeds: int = 20, steps: int = 60) -> None:
    """Run every check.  Raises Violation."""
    check_errors(make)
    check_progress(make)
    for seed in range(seeds):
        check_history(make, random.Random(seed), steps)  # noqa: S311  # no secrets here


def check_errors(make: MakeAllocator) -> None:
    """Misuse raises the documented errors.  Raises Violation."""
    allocator = make(lambda _framework, _by_role: None)
    allocator.add_agent(AgentInfo("A"), parse_resources("cpus:1"))
    allocator.add_framework(FrameworkInfo("F", frozenset({"a"})))
    for name, misuse in {
        "remove_agent": lambda: allocator.remove_agent("?"),
        "deactivate_agent": lambda: allocator.deactivate_agent("?"),
        "remove_framework": lambda: allocator.remove_framework("?"),
        "suppress": lambda: allocator.suppress("?"),
        "revive": lambda: allocator.revive("?"),
    }.items():
        _expect(KeyError, misuse, f"{name} of what is not known")
    held = parse_resources("cpus:1").allocated_to("a")
    _expect(ValueError, lambda: allocator.recover_resources("F", "A", held), "giving back what is not held")
    # Unknown ids are no error here: a master may be late.
    allocator.recover_resources("?", "A", held)
    allocator.recover_resources("F", "?", held)


def _expect(error: type[Exception], misuse: Callable[[], None], what: str) -> None:
    try:
        misuse()
    except error:
        return
    raise Violation(f"{what} must raise {error.__name__}")


def check_progress(make: MakeAllocator) -> None:
    """One framework alone is offered a whole agent in the end, and again once it gave it back.  Raises Violation."""
    offered: list[Resources] = []

    def on_offers(_framework: str, by_role: OffersByRole) -> None:
        offered.extend(resources for by_agent in by_role.values() for resources in by_agent.values())

    allocator = make(on_offers)
    total = parse_resources("cpus:4;mem:1024")
    allocator.add_agent(AgentInfo("A"), total)
    allocator.add_framework(FrameworkInfo("F", frozenset({"a"})))
    for _ in range(2):
        for _ in range(_BATCHES):
            deadline = allocator.next_deadline()
            if deadline is None:
                break
            allocator.advance_to(deadline)
        if Resources(entry for part in offered for entry in part.allocated_to(None)) != total:
            raise Violation("a framework alone must be offered the whole agent in the end")
        for part in offered:
            allocator.recover_resources("F", "A", part)
        offered.clear()


def check_history(make: MakeAllocator, chance: random.Random, steps: int) -> None:
    """Play random events; every offer is checked as it is made.  Raises Violation."""
    history = _History(make, chance)
    for _ in range(steps):
        history.step()


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
    plain: Resources = field(init=False)

    def __post_init__(self) -> None:
        self.plain = self.resources.allocated_to(None)


class _History:
    """An allocator beside plain books of what it was told and what it has offered."""

    def __init__(self, make: MakeAllocator, chance: random.Random) -> None:
        self._chance = chance
        self._now = 0.0
        self._names = 0
        self._agents: dict[str, _Agent] = {}
        self._frameworks: dict[str, _Framework] = {}
        self._offers: list[_Offer] = []
        self._refusals: list[_Refusal] = []
        self._allocator = make(self._on_offers)
        self._allocator.update_quota("c", _LIMIT)
        self._events = (
            self._add_agent, self._add_framework, self._toggle_agent, self._toggle_framework, self._suppress_or_revive,
            self._remove, self._answer, self._answer, self._answer, self._advance, self._advance, self._advance,
        )  # fmt: skip

    def step(self) -> None:
        """Play one event."""
        self._chance.choice(self._events)()

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
        _require(deadline is None or deadline >= self._now, "next_deadline must not lie in the past")

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
                self._check_offer(_Offer(framework_id, role, agent_id, resources))

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
            "a reservation offered to a role not below it",
        )
        self._offers.append(offer)
        used = Resources(entry for other in self._offers if other.agent == offer.agent for entry in other.plain)
        _require(agent.total.contains(used), "more offered of an agent than it has")
        _require(not self._is_refused(offer), "an offer of what was refused, while the refusal lasts")
        self._check_limit()

    def _is_refused(self, offer: _Offer) -> bool:
        """Whether a refusal of at least all that, in that role and on that agent, lasts at this moment."""
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
            "more offered to a role than its quota's limit",
        )


def _require(holds: bool, otherwise: str) -> None:  # reads as a sentence
    if not holds:
        raise Violation(otherwise)
