"""One history of events, played on the allocator and on the reference, which must never disagree.

A history is a list of small tuples: a word and numbers that choose among what exists, so that
any list means something and hypothesis can shrink it.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import ALL_AGENT_CAPABILITIES, AgentInfo, Callbacks, FrameworkInfo, OfferCallback
from fake_master.allocator.options import Options, facts_of
from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import parse_minimum
from mesosctl.mesos.rules.reservations.operations import Conversion
from tests.fake_master.allocator.reference.allocator import Offers, Reference
from tests.fake_master.allocator.reference.parts import PlainAgent, PlainFilter, PlainFramework, part_of
from tests.fake_master.allocator.words import expand
from tests.helpers.reserving import push

AGENTS = [
    "2/1024",
    "2/1024",
    "4/512;disk:100;ports:[1-10]",
    "1/256;cpus(a):1;mem(a):64",
    "0.3/96;cpus(a/b):2",
    "3/1000;gpus:1",
    "2/2048;cpus{REV}:2",
    "cpus(q):1;mem(q):200;1/100",
    "8/64;cpus(a>a/b):1;ports:[1-3]",
    "0.005/16;disk:7",
]
ROLES = ["a", "a/b", "a/b/c", "b", "q", "*", "a-b"]
CAPABILITIES = ["GPU_RESOURCES", "REVOCABLE_RESOURCES", "RESERVATION_REFINEMENT"]
QUOTAS = [("1/100", "1/100"), ("3/600", "4/2000"), ("0.5/50", ""), ("", "cpus:1"), ("cpus:2", ""), ("", "mem:0")]
REFUSALS = [None, 0.0, 0.5, 2.0, 3.5, 1000.0]
MINIMUMS = [None, None, None, (), parse_minimum("cpus:2")]
EXPIRE, BATCH = "expire", "batch"


AnyAllocator = HierarchicalAllocator | StrictPriorityAllocator | LendingAllocator
Make = Callable[[Options, OfferCallback], AnyAllocator]


def hierarchical(options: Options, on_offers: OfferCallback) -> HierarchicalAllocator:
    return HierarchicalAllocator(options, Callbacks(on_offers), 0.0)


class History:
    def __init__(self, make: Make = hierarchical, reference: Reference | None = None) -> None:
        self.got: Offers = {}
        self.reference = reference or Reference()
        self.profile = self.reference.profile
        self.allocator: AnyAllocator = make(Options(**facts_of(self.profile)), self._on_offers)
        self.outstanding: list[tuple[str, str, Resources]] = []
        self.now = 0.0
        self.names = itertools.count(1)
        self.created = itertools.count()
        self.timers: list[tuple[float, int, str, PlainFilter | None]] = [(1.0, next(self.created), BATCH, None)]
        self.candidates: dict[str, None] = {}
        self.runs = 0
        self.removed: list[tuple[AgentInfo, Resources]] = []

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for role, by_agent in by_role.items():
            self.got.setdefault(framework, {}).setdefault(role, {}).update(by_agent)

    # --- Playing ------------------------------------------------------------------------------------

    def play(self, word: str, *numbers: int) -> None:
        getattr(self, "do_" + word)(*numbers)
        if word != "tick":
            self._compare_after(0.0)

    def _compare_after(self, seconds: float) -> None:
        self.now += seconds
        self._run_reference()
        self.got = {}
        self.allocator.advance_to(self.now)
        while self.timers[0][0] <= self.now:
            deadline, _, kind, held = heapq.heappop(self.timers)
            if kind == EXPIRE:
                self.reference.filters = [other for other in self.reference.filters if other is not held]
            else:
                self.candidates |= dict.fromkeys(self.reference.agents)
                self._run_reference()
                heapq.heappush(self.timers, (deadline + 1.0, next(self.created), BATCH, None))
        assert _comparable(self.got) == _comparable(self.expected)
        self._check_promises()
        for framework, by_role in self.got.items():
            for by_agent in by_role.values():
                self.outstanding += [(framework, agent, offered) for agent, offered in by_agent.items()]

    def _check_promises(self) -> None:
        """No limit is passed, and nothing that unmet guarantees need goes elsewhere."""
        offered = [
            (role, entry)
            for by_role in self.got.values()
            for role, by_agent in by_role.items()
            for part in by_agent.values()
            for entry in part
            if entry.is_scalar and not entry.is_reserved and not entry.revocable
        ]
        free = _loose(agent.available() for agent in self.reference.agents.values())
        lacking_before, lacking = Quantities(), Quantities()
        for role, quota in self.reference.quotas.items():
            given = _loose(Resources([entry]) for owner, entry in offered if owner.split("/")[0] == role)
            consumed = self.reference.consumed(role)
            lacking += quota.guarantees - consumed
            lacking_before += quota.guarantees - (consumed - given)
            for name, bound in quota.limits.items():
                own = [entry for owner, entry in offered if owner == role and entry.name == name]
                assert not own or consumed.get_amount(name) <= bound or self._gave_below(role)
        free_before = free + _loose(Resources([entry]) for _, entry in offered)
        # Of whole agents a role may have more than it is guaranteed, in spite of what others lack.
        for name, amount in lacking.items() if not self.profile.quota_takes_whole_agents else ():
            if free_before.get_amount(name) >= lacking_before.get_amount(name):
                assert free.get_amount(name) >= amount

    def _gave_below(self, role: str) -> bool:
        """A role below this one was given something, which counts from the next run on."""
        return any(given.startswith(role + "/") for by_role in self.got.values() for given in by_role)

    def _run_reference(self) -> None:
        self.expected: Offers = {}
        if self.candidates:
            self.expected = self.reference.run(list(self.candidates))
            self.candidates = {}

    def _all(self) -> None:
        self.candidates |= dict.fromkeys(self.reference.agents)

    def _agent(self, number: int) -> PlainAgent | None:
        agents = list(self.reference.agents.values())
        return agents[number % len(agents)] if agents else None

    def _framework(self, number: int) -> PlainFramework | None:
        frameworks = list(self.reference.frameworks.values())
        return frameworks[number % len(frameworks)] if frameworks else None

    def do_tick(self, number: int) -> None:
        # One batch at a time, so that what each of them offers can be compared.
        self._compare_after(0.5)
        self._compare_after(0.5)
        if number % 4 == 0:
            self._compare_after(1.0)

    # --- Agents -------------------------------------------------------------------------------------

    def do_agent(self, number: int) -> None:
        capabilities = ALL_AGENT_CAPABILITIES - ({"HIERARCHICAL_ROLE"} if number % 17 == 16 else set())
        info = AgentInfo(f"A{next(self.names)}", capabilities=frozenset(capabilities))
        total = expand(AGENTS[number % len(AGENTS)])
        self.reference.agents[info.id] = PlainAgent(info, total)
        self.allocator.add_agent(info, total)
        self.candidates[info.id] = None

    def do_remove_agent(self, number: int) -> None:
        agent = self._agent(number)
        if agent is None:
            return
        name = agent.info.id
        for framework, part in list(agent.held):
            self.reference.give_back(framework, name, part)
        if not self.profile.filters_outlive_agents:
            self.reference.forget_filters(agent=name)
        del self.reference.agents[name]
        self.removed.append((agent.info, agent.total))
        self.outstanding = [offer for offer in self.outstanding if offer[1] != name]
        self.allocator.remove_agent(name)

    def do_return_agent(self, number: int) -> None:
        """One that was removed is there again."""
        if self.removed:
            info, total = self.removed.pop(number % len(self.removed))
            self.reference.agents[info.id] = PlainAgent(info, total)
            self.allocator.add_agent(info, total)
            self.candidates[info.id] = None

    def do_switch_agent(self, number: int) -> None:
        agent = self._agent(number)
        if agent is None:
            return
        agent.activated = not agent.activated
        switch = self.allocator.activate_agent if agent.activated else self.allocator.deactivate_agent
        switch(agent.info.id)

    def do_attributes(self, number: int) -> None:
        agent = self._agent(number)
        if agent is None:
            return
        agent.info = replace(agent.info, attributes=(("n", str(next(self.names))),))
        self.reference.forget_filters(agent=agent.info.id)
        self.allocator.update_agent(agent.info)
        self.candidates[agent.info.id] = None

    def do_grow(self, number: int) -> None:
        agent = self._agent(number)
        if agent is None:
            return
        agent.total += expand(AGENTS[number % len(AGENTS)])
        self.allocator.update_agent(agent.info, agent.total)
        self.candidates[agent.info.id] = None

    def do_reserve(self, number: int, role: int) -> None:
        agent = self._agent(number)
        if agent is None:
            return
        part = agent.available().filter(lambda entry: entry.is_scalar and not entry.is_reserved and not entry.revocable)
        name = ROLES[role % len(ROLES)]
        if part and name != "*":
            reserved = push(part, Reservation("DYNAMIC", name))
            assert self.allocator.update_available(agent.info.id, [Conversion(part, reserved)])
            agent.total = agent.total - part + reserved

    # --- Frameworks ---------------------------------------------------------------------------------

    def do_framework(self, roles: int, capabilities: int) -> None:
        chosen = {ROLES[roles % len(ROLES)]}
        if roles % 5 == 0:
            chosen.add(ROLES[(roles // 5) % len(ROLES)])
        minimum = MINIMUMS[capabilities % len(MINIMUMS)]
        able = {name for bit, name in enumerate(CAPABILITIES) if capabilities >> bit & 1}
        info = FrameworkInfo(
            f"F{next(self.names)}",
            frozenset(chosen),
            frozenset({"MULTI_ROLE"} | able),
            minimums={} if minimum is None else dict.fromkeys(chosen, minimum),
        )
        self.reference.frameworks[info.id] = PlainFramework(info)
        for role in sorted(chosen):
            self.reference.track(info.id, role)
        self.reference.set_activity(info.id)
        self.allocator.add_framework(info)
        self._all()

    def do_remove_framework(self, number: int) -> None:
        framework = self._framework(number)
        if framework is None:
            return
        name = framework.info.id
        del self.reference.frameworks[name]
        for agent in list(self.reference.agents.values()):
            for holder, part in list(agent.held):
                if holder == name:
                    self._give_back_all_roles(name, agent.info.id, part)
        for role in list(self.reference.tracked):
            if name in self.reference.tracked.get(role, ()):
                self.reference.untrack_unless_needed(name, role)
        self.reference.forget_filters(framework=name)
        own = [offer for offer in self.outstanding if offer[0] == name]
        self.outstanding = [offer for offer in self.outstanding if offer[0] != name]
        if not self.profile.framework_leaves_nothing:
            for _, where, offered in own:  # as a master returns them before
                self.allocator.recover_resources(name, where, offered)
        self.allocator.remove_framework(name)

    def _give_back_all_roles(self, framework: str, agent: str, part: Resources) -> None:
        for role in sorted({entry.allocation_role or "" for entry in part}):
            self.reference.give_back(framework, agent, part_of(part, role))

    def do_resubscribe(self, number: int, roles: int, capabilities: int) -> None:
        framework = self._framework(number)
        if framework is None:
            return
        able = {name for bit, name in enumerate(CAPABILITIES) if capabilities >> bit & 1}
        roles_now = frozenset({ROLES[roles % len(ROLES)], *sorted(framework.info.roles)[: capabilities % 2]})
        before, name = framework.info.roles, framework.info.id
        framework.info = replace(framework.info, roles=roles_now, capabilities=frozenset({"MULTI_ROLE"} | able))
        # New roles come before the others go: one above or below those takes their place in the tree of the sorter.
        for role in sorted(roles_now):
            self.reference.track(name, role)
            if role in framework.suppressed and self.profile.resubscribing_ends_filters:
                self.reference.forget_filters(framework=name, role=role)
        for role in before - roles_now:
            self.reference.forget_filters(framework=name, role=role)
            framework.suppressed.discard(role)
            self.reference.untrack_unless_needed(name, role)
        framework.suppressed.clear()
        self.reference.set_activity(name)
        self.allocator.update_framework(framework.info)

    def do_switch_framework(self, number: int) -> None:
        framework = self._framework(number)
        if framework is None:
            return
        name = framework.info.id
        framework.active = not framework.active
        self.reference.set_activity(name)
        if framework.active:
            self.allocator.activate_framework(name)
            self._all()
        else:
            self.reference.forget_filters(framework=name)
            self.allocator.deactivate_framework(name)

    def do_suppress(self, number: int) -> None:
        framework = self._framework(number)
        if framework is None:
            return
        framework.suppressed = set(framework.info.roles)
        self.reference.set_activity(framework.info.id)
        self.allocator.suppress(framework.info.id)

    def do_revive(self, number: int) -> None:
        framework = self._framework(number)
        if framework is None:
            return
        framework.suppressed = set()
        self.reference.set_activity(framework.info.id)
        for role in framework.info.roles:
            self.reference.forget_filters(framework=framework.info.id, role=role)
        self.allocator.revive(framework.info.id)
        self._all()

    def do_revive_one(self, number: int, role: int) -> None:
        framework = self._framework(number)
        if framework is None:
            return
        name, own = framework.info.id, sorted(framework.info.roles)
        revived = own[role % len(own)]
        framework.suppressed.discard(revived)
        self.reference.set_activity(name)
        self.reference.forget_filters(framework=name, role=None if self.profile.revive_ends_all_filters else revived)
        self.allocator.revive(name, [revived])
        self._all()

    # --- Resources and roles ------------------------------------------------------------------------

    def do_recover(self, number: int, refusal: int, part: int) -> None:
        if not self.outstanding:
            return
        index = number % len(self.outstanding)
        framework, agent, offered = self.outstanding[index]
        entries = list(offered)
        given = offered
        if part % 3 == 0 and len(entries) > 1:
            given = Resources(entries[: 1 + part // 3 % (len(entries) - 1)])
        if offered - given:
            self.outstanding[index] = framework, agent, offered - given
        else:
            del self.outstanding[index]
        seconds = REFUSALS[refusal % len(REFUSALS)]
        role = next(iter(given)).allocation_role
        self.reference.give_back(framework, agent, given)
        subscribed = role in self.reference.frameworks[framework].info.roles
        if seconds and subscribed and role is not None:
            held = PlainFilter(framework, role, agent, given.allocated_to(None))
            self.reference.filters.append(held)
            heapq.heappush(self.timers, (self.now + max(1.0, seconds), next(self.created), EXPIRE, held))
        self.allocator.recover_resources(framework, agent, given, seconds)

    def do_decline_all(self, refusal: int) -> None:
        """Everybody declines everything alike, which makes agents that nobody wants."""
        while self.outstanding:
            self.do_recover(0, refusal, 1)

    def do_quota(self, role: int, number: int) -> None:
        guarantee, limit = QUOTAS[number % len(QUOTAS)]
        limits = {name: amount for entry in (limit,) if entry for name, amount in _limits(entry).items()}
        if self.profile.guarantee_is_limit:
            limits = {}  # these masters know none
        quota = Quota(expand(guarantee).scalar_quantities() if guarantee else Quantities(), Limits(limits))
        self._set_quota(role, quota)

    def do_no_quota(self, role: int) -> None:
        self._set_quota(role, Quota())

    def _set_quota(self, role: int, quota: Quota) -> None:
        top = [name for name in ROLES if "/" not in name]
        self.reference.set_quota(top[role % len(top)], quota)
        self.allocator.update_quota(top[role % len(top)], quota)

    def do_weight(self, role: int, weight: int) -> None:
        name, value = ROLES[role % len(ROLES)], [0.5, 1.0, 2.0, 3.0][weight % 4]
        self.reference.weights[name] = value
        self.reference.roles.reweigh(name)
        self.allocator.update_weights({name: value})


def _loose(parts: Iterable[Resources]) -> Quantities:
    """Unreserved non-revocable scalars."""
    return Quantities.total(part.unreserved().non_revocable().scalar_quantities() for part in parts)


def _limits(text: str) -> dict[str, int]:
    return {"mem": 0} if text == "mem:0" else dict(expand(text).scalar_quantities())


def _comparable(offers: Offers) -> dict[tuple[str, str, str], dict[str, int]]:
    return {
        (framework, role, agent): _counted(offered)
        for framework, by_role in offers.items()
        for role, by_agent in by_role.items()
        for agent, offered in by_agent.items()
    }


def _counted(resources: Resources) -> dict[str, int]:
    """Each kind of entry and its amount, whatever their order."""
    return {
        str(replace(entry, value=1) if entry.is_scalar else entry): entry.value if isinstance(entry.value, int) else 0
        for entry in resources
    }
