"""Commands about agents and maintenance, killed between any two of their requests and typed again, in virtual time.

A process that is killed says nothing more and sends nothing more: every later request fails as well.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import httpx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples
from tests.helpers.surroundings import Ran

RACK = ("one", "two", "three", "four")
AT_MOST = 2
STEPS = (
    f"agents drain {' '.join(RACK)} --at-most {AT_MOST} --max-grace-period 1m --timeout 300 --yes",
    "maintenance plan --attribute rack=r1 --at 2030-12-01T02:00+01:00 --duration 2h",
    f"maintenance down {' '.join(RACK)} --yes",
    f"maintenance up {' '.join(RACK)}",
    "agents deactivate spare",
    "agents reactivate spare",
)


class Killed(BaseException):
    """The process is no more."""


class Kill(NamedTuple):
    """The process is killed when it has had so many answers and sends the next request, which may still arrive."""

    answers: int
    arrives: bool
    turned: bool = False
    """Whether this process is told the names the other way round."""


class Operator(CommandLine):
    """Somebody whose process is killed."""

    kill: Kill | None = None
    answered = 0
    is_alive = True
    most = 0
    """Agents that drained at the same time."""

    def type(self, words: str, kill: Kill | None) -> Ran | None:
        """The result of a process, or None if it was killed."""
        self.kill, self.answered, self.is_alive = kill, 0, True
        try:
            names = RACK[::-1] if kill is not None and kill.turned else RACK
            return self.run(*words.replace(" ".join(RACK), " ".join(names)).split())
        except Killed:
            return None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        ends = self.kill is not None and self.answered == self.kill.answers
        if not self.is_alive or (self.kill is not None and ends and not self.kill.arrives):
            self.is_alive = False
            raise Killed
        answer = super().handle_request(request)
        infos = [agent.drain_info for agent in self.lab.master.state.agents.values()]
        self.most = max(self.most, sum(info is not None and info["state"] == "DRAINING" for info in infos))
        if ends:
            self.is_alive = False
            raise Killed
        self.answered += 1
        return answer


def play(kills: Iterable[Kill]) -> list[object]:
    """Run each step, again if its process was killed, and return the state that the master shows after it."""
    agents = [AgentSpec("cpus:2;mem:2048", hostname=name, attributes={"rack": "r1"}) for name in RACK]
    spare = AgentSpec("cpus:16;mem:16384", hostname="spare", attributes={"rack": "r2"})
    shop = SimulatedFrameworkSpec("shop", ("web",), task=Resources(parse_entries("cpus:1;mem:512")), tasks=8)
    lab = Lab(*agents, spare, frameworks=(shop,), task_outcome=TaskOutcome(stop_seconds=3.0))
    lab.wait(3.0)
    operator, left, shown = Operator(lab), iter(kills), []
    for step in STEPS:
        while (ran := operator.type(step, next(left, None))) is None:
            lab.wait(1.0)
        assert ran.status == 0, (step, ran.err)
        lab.wait(60.0)
        shown.append(_shown(lab))
    assert operator.most <= AT_MOST
    return shown


def _shown(lab: Lab) -> object:
    keys = ("hostname", "active", "deactivated", "drain_info")
    tasks = [task for framework in lab.read("/frameworks")["frameworks"] for task in framework["tasks"]]
    return (
        lab.read("/maintenance/schedule"),
        lab.read("/maintenance/status"),
        sorted(({key: agent.get(key) for key in keys} for agent in lab.agents), key=str),
        sum(task["state"] == "TASK_RUNNING" for task in tasks),
    )


@cache
def undisturbed() -> list[object]:
    return play(())


@given(st.lists(st.builds(Kill, st.integers(0, 40), st.booleans(), st.booleans()), max_size=10))
@example([Kill(12, arrives=True), Kill(40, arrives=True, turned=True)])
@settings(max_examples=examples(18))
def test_the_end_is_that_of_commands_that_nobody_killed(kills: list[Kill]) -> None:
    assert play(kills) == undisturbed()
