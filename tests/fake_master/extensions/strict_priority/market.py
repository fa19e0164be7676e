"""A master in miniature: frameworks that launch, ask and end, and an allocator that may want things back.

Every promise of revocation is checked the moment something is asked back.
Source: docs/explanation/documents.md, "Playing Traffic Cop".
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo, ResourceRequest
from fake_master.allocator.options import Options
from fake_master.allocator.revocation import Holding, Revocation
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.roles import Priorities
from tests.fake_master.allocator.words import expand

GRACE = 3.0


@dataclass(eq=False)
class Thing:
    """An offer or a task."""

    id: str
    framework: str
    role: str
    agent: str
    resources: Resources
    executor: str
    is_task: bool = False
    told_at: float | None = None
    revocation: Revocation | None = None


class Market:
    def __init__(self, priorities: str, *, preemption: bool = True) -> None:
        self.priorities = Priorities.parse(priorities)
        self.now = 0.0
        self.names = itertools.count(1)
        self.things: dict[str, Thing] = {}
        self.totals: dict[str, Resources] = {}
        self.roles: dict[str, str] = {}
        self.guarantees: dict[str, Quantities] = {}
        self.requests: dict[str, list[Quantities]] = {}
        self.offered: list[tuple[str, str, Quantities]] = []
        """(framework, agent, amounts) of the last step."""
        self.revoked: list[Thing] = []
        self.killed: list[Thing] = []
        self.refused: set[str] = set()
        """Agents on which the master refuses to revoke any task."""
        self.allocator = StrictPriorityAllocator(
            Options(),
            Callbacks(self._on_offers, holdings=self.holdings, revoke=self._on_revoke),
            0.0,
            priorities=self.priorities,
            preempts=preemption,
        )

    # --- What the allocator is told, and asks -----------------------------------------------------

    def agent(self, text: str) -> str:
        name = f"A{next(self.names)}"
        self.totals[name] = expand(text)
        self.allocator.add_agent(AgentInfo(name), self.totals[name])
        return name

    def lose(self, agent: str) -> None:
        self.things = {name: thing for name, thing in self.things.items() if thing.agent != agent}
        del self.totals[agent]
        self.allocator.remove_agent(agent)

    def framework(self, role: str) -> str:
        name = f"F-{role}-{next(self.names)}"
        self.roles[name] = role
        self.allocator.add_framework(FrameworkInfo(name, frozenset({role})))
        return name

    def quota(self, role: str, guarantee: str) -> None:
        self.guarantees[role] = expand(guarantee).scalar_quantities() if guarantee else Quantities()
        self.allocator.update_quota(role, Quota(self.guarantees[role], Limits()))

    def ask(self, framework: str, *texts: str) -> None:
        self.requests[framework] = [expand(text).scalar_quantities() for text in texts]
        self.allocator.request_resources(framework, [ResourceRequest(amounts) for amounts in self.requests[framework]])

    def holdings(self) -> dict[str, list[Holding]]:
        found: dict[str, list[Holding]] = {}
        for thing in self.things.values():
            found.setdefault(thing.agent, []).append(
                Holding(
                    thing.id,
                    thing.framework,
                    thing.role,
                    frees=thing.resources,
                    container=self._container(thing),
                    is_task=thing.is_task,
                    ending=thing.told_at is not None,
                )
            )
        return found

    def _same_executor(self, thing: Thing) -> list[Thing]:
        return (
            [
                other
                for other in self.things.values()
                if other.is_task
                and (other.framework, other.agent, other.executor) == (thing.framework, thing.agent, thing.executor)
            ]
            if thing.is_task
            else [thing]
        )

    def _container(self, thing: Thing) -> Resources:
        return Resources(entry for other in self._same_executor(thing) for entry in other.resources)

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for role, by_agent in by_role.items():
            for agent, resources in by_agent.items():
                name = f"O{next(self.names)}"
                self.things[name] = Thing(name, framework, role, agent, resources, name)
                amounts = resources.scalar_quantities()
                self.offered.append((framework, agent, amounts))
                for request in list(self.requests.get(framework, ())):
                    if amounts.contains(request):
                        self.requests[framework].remove(request)
                        amounts -= request

    # --- What frameworks do -----------------------------------------------------------------------

    def offers(self, framework: str | None = None) -> list[Thing]:
        return [t for t in self.things.values() if not t.is_task and framework in (None, t.framework)]

    def tasks(self, framework: str | None = None) -> list[Thing]:
        return [t for t in self.things.values() if t.is_task and framework in (None, t.framework)]

    def launch(self, offer: Thing, text: str, times: int = 1, executor: str | None = None) -> list[Thing]:
        """As many tasks as fit, at most so many; the rest goes back and is offered again at once."""
        del self.things[offer.id]
        left = offer.resources
        made: list[Thing] = []
        part = expand(text).allocated_to(offer.role)
        while len(made) < times and left.contains(part):
            left -= part
            name = f"T{next(self.names)}"
            task = Thing(name, offer.framework, offer.role, offer.agent, part, executor or name, is_task=True)
            self.things[name] = task
            made.append(task)
            self.allocator.transition_offered_to_allocated(offer.agent, part)
        self.allocator.recover_resources(offer.framework, offer.agent, left)
        return made

    def decline(self, offer: Thing, seconds: float) -> None:
        del self.things[offer.id]
        self.allocator.recover_resources(offer.framework, offer.agent, offer.resources, seconds)

    def kill_slowly(self, task: Thing) -> None:
        """Its own framework told it to end; `end` says when it has."""
        task.told_at = self.now

    def end(self, thing: Thing) -> None:
        del self.things[thing.id]
        self.allocator.recover_resources(thing.framework, thing.agent, thing.resources, is_allocated=thing.is_task)

    def wait(self, seconds: float = 1.0) -> None:
        """Let time pass in steps of half a second; executors that do not answer are killed when their time is up."""
        self.offered = []
        for _ in range(round(seconds * 2)):
            self.now += 0.5
            for thing in [t for t in self.things.values() if t.revocation is not None]:
                assert thing.told_at is not None
                if thing.id in self.things and self.now - thing.told_at >= GRACE:
                    self._grace_is_over(thing)
            self.allocator.advance_to(self.now)
            self.check_books()

    # --- What the allocator wants back ------------------------------------------------------------

    def _grace_is_over(self, thing: Thing) -> None:
        assert thing.revocation is not None
        if not thing.revocation.stands():
            thing.revocation = thing.told_at = None
            return
        container = self._same_executor(thing)
        self._check_guarantee([thing])
        self.killed += container
        for other in container:
            self.end(other)

    def _on_revoke(self, revocations: Sequence[Revocation]) -> Sequence[Revocation]:
        self._check_need(revocations)
        refused = [one for one in revocations if one.holding.is_task and one.agent in self.refused]
        revocations = [one for one in revocations if one not in refused]
        told = [self.things[revocation.holding.id] for revocation in revocations]
        self._check_guarantee([thing for thing in self.things.values() if thing.revocation is not None] + told)
        for revocation, thing in zip(revocations, told, strict=True):
            assert revocation.role is not None
            own_offer = thing.framework == revocation.framework and not thing.is_task
            assert own_offer or self.priorities.of(thing.role) < self.priorities.of(revocation.role)
            self.revoked.append(thing)
            if thing.is_task:
                assert thing.told_at is None, "asked twice"
                thing.told_at, thing.revocation = self.now, revocation
            else:
                self.end(thing)
        return refused

    def _check_guarantee(self, going: list[Thing]) -> None:
        """Were all of them killed with their executors, no role that loses a task would lack what it is guaranteed."""
        gone = {other.id: other for thing in going if thing.is_task for other in self._same_executor(thing)}
        for role, guarantee in self.guarantees.items():
            losers = [thing for thing in gone.values() if thing.role.split("/")[0] == role]
            held = Quantities.total(
                task.resources.scalar_quantities()
                for task in self.tasks()
                if task.role.split("/")[0] == role and task.id not in gone
            )
            assert not losers or held.contains(guarantee), (role, held, guarantee)

    def _check_need(self, revocations: Sequence[Revocation]) -> None:
        """On each agent: without any one of them there would not be enough for what was asked."""
        for agent in {revocation.agent for revocation in revocations}:
            here = [revocation for revocation in revocations if revocation.agent == agent]
            ending = [t for t in self.things.values() if t.agent == agent and t.told_at is not None]
            base = self.free(agent) + Quantities.total(t.resources.scalar_quantities() for t in ending)
            assert len({revocation.framework for revocation in here}) == 1
            wanted = self.requests[here[0].framework or ""]
            chosen = [self.things[revocation.holding.id].resources.scalar_quantities() for revocation in here]
            assert any((base + Quantities.total(chosen)).contains(request) for request in wanted)
            for index in range(len(chosen)):
                rest = base + Quantities.total(chosen[:index] + chosen[index + 1 :])
                assert not rest.contains(Quantities.total(wanted)), "more than needed"

    # --- Books ------------------------------------------------------------------------------------

    def free(self, agent: str) -> Quantities:
        return self.allocator.state.agents[agent].free_resources.resources.scalar_quantities()

    def check_books(self) -> None:
        """Nothing is lost and nothing is handed out twice."""
        for agent, total in self.totals.items():
            held = Resources(
                entry
                for thing in self.things.values()
                if thing.agent == agent
                for entry in thing.resources.allocated_to(None)
            )
            assert total.contains(held)
            assert self.allocator.state.agents[agent].free_resources.resources + held == total
        for hold in self.allocator._holds:
            waited_for = [self.things[held.id] for held in hold.waits_for.values() if held.id in self.things]
            assert all(thing.told_at is not None for thing in waited_for), "nobody asked it to go"


def full_of_batch(priorities: str = "prod=1", tasks: str = "1/1024", executor: str | None = None) -> Market:
    """Two agents of 4/4096 on which batch runs eight tasks, and a framework of prod that has nothing."""
    market = Market(priorities)
    for _ in range(2):
        market.agent("4/4096")
    batch = market.framework("batch")
    market.wait(0.5)
    for offer in market.offers(batch):
        market.launch(offer, tasks, 4, executor)
    market.allocator.suppress(batch)
    market.wait(1.0)
    return market


def lost(market: Market) -> list[tuple[str, str]]:
    return [(thing.role, thing.agent) for thing in market.revoked]
