"""A snapshot of a master that lends, and the master that is made of it: from then on both do the same.

Nobody tells how often each framework was served, which breaks ties between equals; what is compared after an
allocation is therefore by agent, over all frameworks.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

import httpx
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import fake_master
from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.extensions.lending.revocable_tasks import RevocableTasks
from fake_master.forecasting.dry_run import DryRun
from fake_master.forecasting.recorder import at_risk
from fake_master.master import Master
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.clock import VirtualClock
from fake_master.transports.in_process import InProcessTransport
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.messages.resources import list_to_json
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.snapshot.work import read_snapshot
from tests.fake_master.extensions.lending.test_histories import STOP_SECONDS, Lending
from tests.helpers.profiles import examples
from tests.helpers.reserving import push

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def snapshot_of(master: Master) -> ClusterSnapshot:
    """By way of its endpoints and of a file."""
    client = LeadingMaster(parse_address("http://fake.invalid"), transport=InProcessTransport(master))
    snapshot = read_snapshot(client, now=master.state.clock)
    assert snapshot_api.load(snapshot_api.dump(snapshot)) == snapshot
    return snapshot


def guests(master: Master) -> dict[str, Any]:
    """Who is on each agent, in which order, and whether they run."""
    assert isinstance(master.runtime, RevocableTasks)
    return {
        agent: [(framework.id, task.id, standing) for framework, task, standing in master.runtime.tasks(agent)]
        for agent in master.state.agents
    }


def books(master: Master) -> dict[str, Any]:
    """What is lent to whom of each agent, and who owes what."""
    assert isinstance(master.allocator, LendingAllocator)
    return {
        agent: [
            {(tenant.framework, tenant.role.name): dict(amounts) for tenant, amounts in book.items()}
            for book in (record.lent, record.debt)
        ]
        for agent, record in master.allocator.lent.agents.items()
    }


def offers(master: Master) -> list[Any]:
    return sorted(
        (offer.id, offer.framework_id, offer.agent_id, offer.kind, sorted(map(str, offer.resources)))
        for offer in master.state.offers
    )


def sums(master: Master) -> dict[str, Any]:
    """By agent, over all frameworks: what is used and offered of each kind, lent and owed; and who is there."""

    def total(books: Iterable[dict[str, int]]) -> Quantities:
        return Quantities.total(Quantities(book) for book in books)

    assert isinstance(master.allocator, LendingAllocator)
    found: dict[str, Any] = {"guests": guests(master)}
    for agent in master.state.agents.values():
        record = master.allocator.lent.agent(agent.id)
        offered = [offer.resources for offer in master.state.offers.on_agent(agent.id)]
        found[agent.id] = (
            sorted(map(str, agent.used.allocated_to(None))),
            Quantities.total(part.non_revocable().scalar_quantities() for part in offered),
            Quantities.total(part.revocable().scalar_quantities() for part in offered),
            (total(record.lent.values()), total(record.debt.values()), Quantities(record.allocation_slack)),
        )
    return found


class Snapshots(Lending):
    """The same histories; now and then a snapshot is taken, and a master made of it."""

    def settle(self) -> None:
        """Whatever is under way arrives, and whatever ends has ended.

        No refusal ends between the last allocation here and the first of a master that is made now.
        """
        self.wait(math.ceil(self.clock.now + 2 * STOP_SECONDS) + 0.25 - self.clock.now)

    @precondition(lambda self: hasattr(self, "master"))
    @rule()
    def whoever_is_made_of_a_snapshot_stands_where_the_master_does(self) -> None:
        copy = RestoredCluster(snapshot_of(self.master)).start(clock=VirtualClock(self.clock.now))
        assert offers(copy) == offers(self.master)
        under_way = any(self.arrives.get(task.id, 0.0) > self.master.state.now for _, task in self._tasks())
        if not under_way:  # that would arrive at once, and might be refused
            assert books(copy) == books(self.master)
            assert guests(copy) == guests(self.master)

    @precondition(lambda self: hasattr(self, "master"))
    @rule(cycles=st.integers(2, 5))
    def the_snapshot_goes_on_as_the_master_does(self, cycles: int) -> None:
        self.settle()
        clock = VirtualClock(self.clock.now)
        copy = RestoredCluster(snapshot_of(self.master)).start(clock=clock)
        copy.advance()
        for _ in range(cycles):
            clock.sleep(1.0)
            copy.advance()
        self.wait(float(cycles))
        assert sums(copy) == sums(self.master)
        self.wait(0.75)

    @precondition(lambda self: hasattr(self, "master"))
    @rule(number=st.integers(0, 3), back=st.booleans())
    def what_is_forecast_is_what_happens(self, number: int, back: bool) -> None:
        """An operator reserves, or unreserves, all that is left of an agent."""
        self.settle()
        request = self._operation(number, back=back)
        dry_run: DryRun = fake_master.start_dry_run(snapshot_of(self.master), DryRunOptions(cycles=2))
        path, headers = request.url.path, {name.lower(): value for name, value in request.headers.items()}
        dry_run.connection.answer(request.method, path, headers, request.content)
        said = dry_run.forecast()
        self.wait(2.0)
        answer = InProcessTransport(self.master).handle_request(request)
        self.wait(said.seconds)
        assert said.answers[-1].status == answer.status_code
        held = [party.after.total for party in said.frameworks]
        after = [framework.used() + framework.offered() for framework in self.master.state.frameworks.values()]
        for kind, suffix in (("regular", ""), ("non-throttleable", "_revocable")):
            there = Quantities.total(
                part.scalar_quantities()
                for whole in after
                for found, part in whole.by_revocability().items()
                if found == kind
            )
            assert {name: sum(party.get_amount(f"{name}{suffix}") for party in held) for name in ("cpus", "mem")} == {
                name: there.get_amount(name) for name in ("cpus", "mem")
            }
        assert [task.task_id for task in said.evicted] == [
            task.id for _, task in at_risk(self.master.state, self.master.runtime)
        ]
        self.wait(0.75)

    def _operation(self, number: int, *, back: bool) -> httpx.Request:
        agent = list(self.master.state.agents.values())[number % len(self.master.state.agents)]
        free = agent.total - agent.used.allocated_to(None)
        if back:
            wanted = free.filter(lambda entry: entry.is_dynamically_reserved)
        else:
            wanted = push(free.unreserved(), Reservation("DYNAMIC", "a"))
        form = httpx.QueryParams(slaveId=agent.id, resources=json.dumps(list_to_json(wanted, "POST")))
        path = "unreserve" if back else "reserve"
        return httpx.Request("POST", f"http://fake.invalid/{path}", content=str(form), headers=_FORM)


Snapshots.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)
TestSnapshots = Snapshots.TestCase
