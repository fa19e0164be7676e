"""Random histories of a master that lends: the formula holds at every step, and nobody is evicted without need.

The terms are worked out here from the tasks themselves, not asked of the code under test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.master import Master
from fake_master.services.metrics import Metrics
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import EventStream
from fake_master.state.subscription import Subscription
from fake_master.state.tasks import KnownTask, TaskOutcome
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.resources import list_to_json
from tests.helpers.profiles import examples
from tests.helpers.reserving import push

STOP_SECONDS = 2.0
AGENTS = ("cpus:4;mem:400;cpus(a):6;mem(a):600", "cpus:2;mem:600;cpus(b):3;mem(b):200;cpus(a):2;mem(a):300")
ROLES = ("a", "b", "c", "a/x")
TENANT = "REVOCABLE_RESOURCES"
SHARES = st.sampled_from([1, 1, 2, 3])
NUMBER = st.integers(0, 40)


class _Deaf(EventStream):
    """Nobody reads; every update is acknowledged by the machine."""

    def send(self, event: Mapping[str, Any]) -> None:
        pass


@dataclass
class Balance:
    """The formula's terms on one agent, task by task."""

    occupied: Quantities = field(default_factory=Quantities)
    running: Quantities = field(default_factory=Quantities)
    occupied_rev: Quantities = field(default_factory=Quantities)
    started_rev: Quantities = field(default_factory=Quantities)
    evicting: Quantities = field(default_factory=Quantities)


def parts(task: KnownTask) -> tuple[Quantities, Quantities]:
    """Regular and lent; slack of use is outside of the formula."""
    by_kind = task.resources.by_revocability()
    none = Resources()
    return (
        by_kind.get("regular", none).scalar_quantities(),
        by_kind.get("non-throttleable", none).scalar_quantities(),
    )


class Lending(RuleBasedStateMachine):
    """Frameworks of four roles, owners and tenants, on two agents; a task takes two seconds to end."""

    @initialize()
    def start(self) -> None:
        self.clock = VirtualClock(1000.0)
        specs = tuple(AgentSpec(text, f"agent-{number}") for number, text in enumerate(AGENTS))
        flags = {"oversubscribe_reservations": "true"}
        self.spec = ClusterSpec(specs, "1.11", flags, task_outcome=TaskOutcome(stop_seconds=STOP_SECONDS))
        self.master: Master = self.first_master()
        self.made = 0
        self.arrives: dict[str, float] = {}
        """When a delayed launch reaches its agent, by task."""
        # An owner that wants nothing for now, one that fills the rest, and a tenant.
        self.join("a", tenant=False)
        self.decline_all_of(self._framework(0), 600.0)
        self.join("d", tenant=False)
        self.fill_up(self._framework(1), 1, 1)
        self.join("c", tenant=True)

    def first_master(self) -> Master:
        return self.spec.start(clock=self.clock)

    # --- What happens -------------------------------------------------------------------------------

    @rule(role=st.sampled_from(ROLES), tenant=st.booleans())
    def join(self, role: str, tenant: bool) -> None:
        able = ("MULTI_ROLE", "RESERVATION_REFINEMENT", *((TENANT,) if tenant else ()))
        info = {"user": "u", "name": role, "roles": [role], "capabilities": [{"type": name} for name in able]}
        if len(self.master.state.frameworks) < 6:
            self.master.subscriptions.subscribe(Subscription(info), _Deaf())
        self._settle()

    @rule(number=NUMBER, share=SHARES, refuse=st.sampled_from([0.0, 0.0, 30.0]), late=st.booleans(), lopsided=SHARES)
    def launch(self, number: int, share: int, refuse: float, late: bool, lopsided: int) -> None:
        offers = list(self.master.state.offers)
        if offers:
            self._use(offers[number % len(offers)], share, lopsided, refuse, late=late)

    def fill_up(self, framework: KnownFramework, share: int, lopsided: int) -> None:
        """A framework uses every offer it has, a part of each."""
        for offer in list(framework.offers.values()):
            self._use(offer, share, lopsided, 0.0)

    @rule(share=SHARES, lopsided=SHARES, times=st.integers(1, 3))
    def tenants_take(self, share: int, lopsided: int, times: int) -> None:
        for _ in range(times):
            self.wait(1.0)
            for framework in list(self.master.state.frameworks.values()):
                if TENANT in framework.capabilities:
                    self.fill_up(framework, share, lopsided)

    @rule(role=st.sampled_from("aab"), share=SHARES, lopsided=SHARES, times=st.integers(1, 2))
    def owners_return(self, role: str, share: int, lopsided: int, times: int) -> None:
        """They want offers again, use a part of what comes, and refuse the rest for long."""
        for framework in [known for known in self.master.state.frameworks.values() if role in known.roles] * times:
            self.master.subscriptions.revive(framework, ())
            self._settle()
            self.fill_up(framework, share, lopsided)
            self.decline_all_of(framework, 600.0)

    def decline_all_of(self, framework: KnownFramework, refuse: float) -> None:
        self.master.offer_answers.decline(framework, list(framework.offers), refuse)
        self._settle()

    @rule(what=st.sampled_from(["decline", "decline_all", "revive", "suppress", "leave"]), number=NUMBER)
    def answer(self, what: str, number: int) -> None:
        """Something else that frameworks do now and then."""
        frameworks, offers = list(self.master.state.frameworks.values()), list(self.master.state.offers)
        framework, refuse = frameworks[number % len(frameworks)], (0.0, 3.0, 600.0)[number % 3]
        if what == "decline" and offers:
            offer = offers[number % len(offers)]
            self.master.offer_answers.decline(self.master.state.frameworks[offer.framework_id], [offer.id], refuse)
        elif what == "decline_all":
            self.decline_all_of(framework, refuse)
        elif what == "revive":
            self.master.subscriptions.revive(framework, ())
        elif what == "suppress":
            self.master.subscriptions.suppress(framework, ())
        elif what == "leave" and len(frameworks) > 3:
            self.master.subscriptions.remove(framework)
        self._settle()

    @rule(number=NUMBER)
    def kill(self, number: int) -> None:
        alive = [(framework, task) for framework, task in self._tasks() if not task.ending]
        if alive:
            self.master.task_runner.kill(*alive[number % len(alive)])
            self._settle()

    @rule(number=NUMBER, back=st.booleans())
    def reserve(self, number: int, back: bool) -> None:
        agent = list(self.master.state.agents.values())[number % len(AGENTS)]
        free = agent.total - self.master.state.used_on(agent.id).allocated_to(None)
        if back:
            wanted = free.filter(lambda entry: entry.is_dynamically_reserved)
        else:
            wanted = push(free.unreserved(), Reservation("DYNAMIC", "b"))
        if not len(wanted):
            return
        with self.master.transaction():
            if back:
                self.master.reservations.unreserve(None, agent, list(wanted))
            else:
                self.master.reservations.reserve(None, agent, list(wanted), None)
        self._settle()

    @rule(seconds=st.sampled_from([0.5, 1.0, 1.0, 3.0]))
    def wait(self, seconds: float) -> None:
        until = self.clock.now + seconds
        while (due := self.master.next_deadline()) is not None and due <= until:
            self.clock.now = max(due, self.clock.now)
            self._settle()
            self.formula_holds()
        self.clock.now = until
        self._settle()

    @precondition(lambda self: hasattr(self, "master"))
    @rule()
    def nobody_waits_for_ever(self) -> None:
        for framework in self.master.state.frameworks.values():
            self.master.subscriptions.suppress(framework, ())
        self.wait(STOP_SECONDS + 1.5)
        assert not [task.id for _, task in self._tasks() if task.is_staging]

    # --- What always holds --------------------------------------------------------------------------

    @invariant()
    def formula_holds(self) -> None:
        """I1, for every agent and name."""
        for agent in self._agents():
            terms, total = self._terms(agent), agent.total.scalar_quantities()
            assert total.contains(terms.running + terms.started_rev + terms.evicting)

    @invariant()
    def no_more_is_lent_than_lies_idle(self) -> None:
        """I2."""
        for record in self._records():
            assert Quantities(record.allocation_slack).contains(Quantities(record.lent_in_all()))

    @invariant()
    def the_allocator_knows_what_the_master_sees(self) -> None:
        """I3, for every framework and agent."""
        for record in self._records():
            booked: dict[str, Quantities] = {}
            for book in (record.lent, record.debt):
                for tenant, amounts in book.items():
                    sums = booked.get(tenant.framework, Quantities())
                    booked[tenant.framework] = sums + Quantities(amounts)
            for framework in self.master.state.frameworks.values():
                seen = [offer.resources for offer in framework.offers.values() if offer.agent_id == record.id]
                seen += [task.resources for of, task in self._tasks() if of is framework and task.agent_id == record.id]
                lent = Quantities.total(
                    held.by_revocability().get("non-throttleable", Resources()).scalar_quantities() for held in seen
                )
                assert booked.pop(framework.id, Quantities()) == lent
            assert not booked

    @invariant()
    def the_figures_of_revocable_resources_agree(self) -> None:
        if not hasattr(self, "master"):
            return
        for name in ("cpus", "mem"):
            shown = {kind: self._figure(f"master/{name}_revocable_{kind}") for kind in ("total", "used", "percent")}
            assert shown["used"] <= shown["total"], name
            assert shown["percent"] == (shown["used"] / shown["total"] if shown["total"] else 0.0)

    def _figure(self, name: str) -> float:
        return Metrics(self.master.state, self.master.runtime.metrics).snapshot()[name]

    @invariant()
    def offers_are_of_one_kind_and_for_those_who_know_it(self) -> None:
        if not hasattr(self, "master"):
            return
        for offer in self.master.state.offers:
            assert list(offer.resources.by_revocability()) == [offer.kind]
            assert offer.kind == "regular" or TENANT in self.master.state.frameworks[offer.framework_id].capabilities

    # --- Within -------------------------------------------------------------------------------------

    def _use(self, offer: OutstandingOffer, share: int, lopsided: int, refuse: float, *, late: bool = False) -> None:
        """One task of a part of an offer."""
        part = _divided(offer, share, lopsided)
        if not len(part) or self.master.state.offers.get(offer.id) is None:
            return
        framework, agent = self.master.state.frameworks[offer.framework_id], self.master.state.agents[offer.agent_id]
        self.made += 1
        name = f"t{self.made}"
        agent.faults.launch_delay = 1.0 if late else 0.0
        if late:
            self.arrives[name] = self.master.state.now + 1.0
        before = self._going(agent)
        self.master.offer_answers.accept(framework, [offer.id], [_launch(offer, name, part)], refuse)
        self._check_evicted(agent, self._going(agent) - before, framework.all_tasks().get(name))
        self._settle()

    def _settle(self) -> None:
        self.master.advance()
        for framework in self.master.state.frameworks.values():
            for task in list(framework.all_tasks().values()):
                while task.unacknowledged:
                    self.master.task_updates.acknowledge(framework, task.id, task.unacknowledged[0].uuid or "")

    def _check_evicted(self, agent: KnownAgent, evicted: set[str], launched: KnownTask | None) -> None:
        """Only a normal launch drives anybody out, as many as must be, and none of them could stay."""
        terms, total = self._terms(agent), agent.total.scalar_quantities()
        held = {task.id: parts(task)[0] + parts(task)[1] for _, task in self._tasks() if task.id in evicted}
        needed = terms.occupied + terms.occupied_rev
        assert total.contains(needed), "as many as must be"
        assert not evicted or (launched is not None and len(parts(launched)[0]))
        for task_id in evicted:
            assert not total.contains(needed + held[task_id]), f"{task_id} could have stayed"

    def _going(self, agent: KnownAgent) -> set[str]:
        return {task.id for _, task in self._tasks() if task.agent_id == agent.id and task.ending}

    def _terms(self, agent: KnownAgent) -> Balance:
        terms = Balance()
        for _, task in self._tasks():
            if task.agent_id != agent.id or self.arrives.get(task.id, 0.0) > self.master.state.now:
                continue
            regular, lent = parts(task)
            if task.ending and task.is_staging:
                continue
            if task.ending and lent:
                terms.evicting += regular + lent
                continue
            terms.occupied += regular
            terms.occupied_rev += lent
            if not task.is_staging:
                terms.running += regular
                terms.started_rev += lent
        return terms

    def _tasks(self) -> Iterator[tuple[KnownFramework, KnownTask]]:
        for framework in self.master.state.frameworks.values():
            for task in list(framework.all_tasks().values()):
                if not task.is_terminal:
                    yield framework, task

    def _framework(self, number: int) -> KnownFramework:
        return list(self.master.state.frameworks.values())[number]

    def _agents(self) -> list[KnownAgent]:
        return list(self.master.state.agents.values()) if hasattr(self, "master") else []

    def _records(self) -> list[Any]:
        if not hasattr(self, "master"):
            return []
        assert isinstance(self.master.allocator, LendingAllocator)
        return list(self.master.allocator.lent.agents.values())


def _divided(offer: OutstandingOffer, share: int, lopsided: int) -> Resources:
    """A part of an offer: cpus by one number, mem by another."""
    divisors = {"cpus": share, "mem": lopsided}
    return Resources(
        replace(entry, value=entry.value // divisors[entry.name])
        for entry in offer.resources.allocated_to(None)
        if isinstance(entry.value, int)
    )


def _launch(offer: OutstandingOffer, name: str, part: Resources) -> dict[str, Any]:
    info = {
        "name": name,
        "task_id": {"value": name},
        "agent_id": {"value": offer.agent_id},
        "command": {"value": "true"},
        "resources": list_to_json(part, "POST"),
    }
    return {"type": "LAUNCH", "launch": {"task_infos": [info]}}


Lending.TestCase.settings = settings(max_examples=examples(150), stateful_step_count=40, deadline=None)
TestLending = Lending.TestCase
