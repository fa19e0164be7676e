"""The random sorter draws as often as weights say, on each release: one draw for each of many agents in one run.

A count is taken for right within five standard deviations: of a million right ones, about one is not.
"""

import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from mesosctl.mesos.rules.version_profile import Profile
from tests.conformance.callers.joining import joining, quick
from tests.conformance.masters.carriers import REAL, Carrier, Pool, each_of
from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.simulated import agents_of
from tests.conformance.scenarios.scenario import send
from tests.conformance.situations.playing import SIMPLE, WITH_GPUS
from tests.helpers.needs import needs

DRAWS = 200
DEVIATIONS = 5
RANDOM = {"role_sorter": "random", "framework_sorter": "random", "agent_ping_timeout": "15mins"}


@dataclass(frozen=True)
class Draw:
    """The roles of frameworks, one each, and how likely each is to be offered an agent."""

    roles: tuple[str, ...]
    chances: tuple[Fraction, ...]
    weights: dict[str, int] = field(default_factory=dict)
    without_gpus: int | None = None
    """The place of the one that can have no agent, since each has a GPU."""
    apart: tuple[Fraction, ...] = ()
    """The chances where the roles below one role do not stay together."""

    def chances_on(self, profile: Profile) -> tuple[Fraction, ...]:
        is_apart = bool(self.apart) and not profile.random_order_keeps_subtrees_together
        return self.apart if is_apart else self.chances


def parts(*numbers: int) -> tuple[Fraction, ...]:
    """Chances in these proportions."""
    return tuple(Fraction(number, sum(numbers)) for number in numbers)


CASES = {
    "alike": Draw(("a", "b", "c"), parts(1, 1, 1)),
    "weights": Draw(("a", "b", "c"), parts(1, 2, 5), {"b": 2, "c": 5}),
    "roles below others": Draw(("a/x", "a/y", "b"), parts(3, 1, 4), {"a/x": 3}),
    "the weight of a role above": Draw(("a/x", "a/y", "b"), parts(3, 3, 2), {"a": 3}),
    "frameworks of a role": Draw(("a", "a", "a", "b"), parts(1, 1, 1, 3)),
    "the second place": Draw(("a/x", "a/y", "b"), parts(0, 1, 1), without_gpus=0, apart=parts(0, 1, 2)),
}


def served(master: Cluster, case: Draw, *, simulated: bool) -> list[int]:
    """How many agents each framework is offered once the one leaves that held them all."""
    with agents_of(master, [agent(case)] * DRAWS) if simulated else nullcontext(), joining(master) as join:
        if case.weights:
            entries = [{"role": role, "weight": weight} for role, weight in case.weights.items()]
            step = send("PUT", "/weights", entries)
            assert master.request(step.method, step.path, content=step.content).status == 200
        first = join("z", capabilities=WITH_GPUS).subscribe()
        first.offers(agents=DRAWS)
        others = [
            join(role, capabilities=SIMPLE if place == case.without_gpus else WITH_GPUS).subscribe()
            for place, role in enumerate(case.roles)
        ]
        first.leave()
        first.id = None
        for framework in others:
            framework.settle()
        return [
            sum(len(event["offers"]["offers"]) for event in framework.stream.events if event["type"] == "OFFERS")
            for framework in others
        ]


def agent(case: Draw) -> str:
    return "cpus:1;mem:128" + ("" if case.without_gpus is None else ";gpus:1")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("carrier", each_of("1.4.3", "1.8.1", "1.11.0"), ids=str)
@needs(*REAL.needs)
def test_each_is_drawn_as_often_as_it_should_be(pool: Pool, carrier: Carrier, name: str) -> None:
    case = CASES[name]
    is_real = REAL.needs == carrier.needs
    setup = quick(*[] if is_real else [agent(case)] * DRAWS, flags=RANDOM)
    master = pool.start(carrier, setup)
    found = served(master, case, simulated=is_real)
    master.stop()
    assert sum(found) == DRAWS
    for times, chance in zip(found, case.chances_on(carrier.profile), strict=True):
        deviation = math.sqrt(DRAWS * chance * (1 - chance))
        assert abs(times - DRAWS * chance) <= DEVIATIONS * deviation, found
