"""A master that lends and is started again now and then, in random histories: its agents go on where they were."""

import json
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from fake_master.extensions.lending.revocable_tasks import RevocableTasks
from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry
from fake_master.state.subscription import Subscription
from mesosctl.mesos.amounts.quantities import Quantities
from tests.fake_master.extensions.lending.test_histories import Lending, _Deaf
from tests.helpers.lab import Lab, Scheduler, lasting
from tests.helpers.profiles import examples


class _Lasting(MemoryRegistry):
    """One that a next master is started upon, as a file is."""

    outlives_process = True

    def write(self, kind: str, key: str, value: Any) -> None:
        super().write(kind, key, json.loads(json.dumps(value)))


class Restarted(Lending):
    """The same histories, and the same laws."""

    def first_master(self) -> Master:
        self.registry = _Lasting()
        return self.spec.start(self.registry, clock=self.clock, takes_over=True)

    @precondition(lambda self: hasattr(self, "master"))
    @rule(settled=st.booleans())
    def restart(self, settled: bool) -> None:
        if settled:
            self.wait(1.0)
        on_their_way = any(at > self.master.state.now for at in self.arrives.values())
        before = {(of.id, task.id): (task.agent_id, task.ending, task.resources) for of, task in self._tasks()}
        used = {agent.id: agent.used for agent in self._agents()}
        infos = [of.info for of in self.master.state.frameworks.values()]
        self.master.close()
        self.master = self.spec.start(self.registry, clock=self.clock, takes_over=True)
        after = {(of.id, task.id): (task.agent_id, task.ending, task.resources) for of, task in self._tasks()}
        if not on_their_way:  # these are there now, and others may have to go for them
            assert after == before
            assert {agent.id: agent.used for agent in self._agents()} == used
        self.arrives.clear()
        for info in infos:
            self.master.subscriptions.subscribe(Subscription(info), _Deaf())
        self._settle()


Restarted.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
TestRestarted = Restarted.TestCase


def test_an_executor_counts_though_one_of_its_tasks_has_ended(tmp_path: Path) -> None:
    with lasting(tmp_path, flags={"oversubscribe_reservations": "true"}) as here:
        scheduler = Scheduler(here)
        scheduler.run("ends", "stays", executor="e")
        scheduler.ask("KILL", task_id={"value": "ends"})
        before = _running(here)
        here.restart()
        assert here.tasks() == {"ends": "TASK_KILLED", "stays": "TASK_RUNNING"}
        assert _running(here) == before == Quantities({"cpus": 1500})


def _running(here: Lab) -> Quantities:
    """What the agent counts of what has started there."""
    (agent,) = here.master.state.agents.values()
    assert isinstance(here.master.runtime, RevocableTasks)
    return here.master.runtime.occupancy(agent).running
