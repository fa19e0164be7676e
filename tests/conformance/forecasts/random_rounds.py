"""Changes that are drawn, forecast from a live master, and made there.

The agents of a round are alike, and neither the order in which they are visited nor how often somebody was served
before, which no master shows, matters to who gets how much.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from tests.conformance.facts.playing import shuffling
from tests.conformance.forecasts.forecast_cases import sets_quota, weighs
from tests.conformance.forecasts.forecast_rounds import GIB, TEARDOWN, alike, quota
from tests.conformance.forecasts.forecasting import Amounts, Case, Preparation, World, all_share, joins, world_of
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Setup
from tests.conformance.scenarios.scenario import delete

ROLES = ("a", "a/x", "b", "c", "d")
ORDERS = 5
"""Orders of agents, and counts of offers, in which a round must have one result."""


def drawn(seed: str) -> Case:
    """One round: a cluster that the first framework holds, those who wait, and a change."""
    draw = random.Random(seed)
    more = draw.choice(("", "", f";cpus({draw.choice('ab')}):{draw.choice((1, 2, 4))};mem(b):512"))
    setup = alike(draw.randint(2, 7), more)
    roles = draw.sample(ROLES, draw.randint(2, 4))
    prepared: list[Preparation] = [joins("z")]
    suppressed = False
    for role in roles:
        prepared.append(joins(role))
        if draw.random() < 0.15:
            prepared.append(suppress)
            suppressed = True
    quotas = {role: _guarantee(draw) for role in draw.sample(("a", "b", "c", "q"), draw.choice((0, 1, 1, 2)))}
    prepared += [quota(role, **amounts) for role, amounts in quotas.items()]
    case = _change(draw, setup, prepared, roles, quotas)
    return replace(case, suppresses=suppressed)


def _change(
    draw: random.Random,
    setup: Setup,
    prepared: list[Preparation],
    roles: Sequence[str],
    quotas: Mapping[str, dict[str, float]],
) -> Case:
    kind = draw.random()
    if kind < 0.5:
        return Case(setup, tuple(prepared), "whatif --lose-framework @F1", TEARDOWN, 200)
    everybody = (*prepared, all_share)
    if kind < 0.65:
        return weighs(setup, everybody, draw.choice(roles), draw.choice((2, 3)))
    if kind < 0.8 and quotas:
        role = draw.choice(sorted(quotas))
        return Case(setup, everybody, f"quota remove {role}", delete(f"/quota/{role}"), 200)
    without = sorted({"a", "b", "c"} - quotas.keys())
    return sets_quota(setup, everybody, draw.choice(without), force=True, status=200, tasks=False, **_guarantee(draw))


def _guarantee(draw: random.Random) -> dict[str, float]:
    cpus = draw.choice((1, 3, 8, 12, 16, 20))
    return {"cpus": cpus} if draw.random() < 0.3 else {"cpus": cpus, "mem": draw.choice((cpus, 2, 10)) * GIB}


def suppress(world: World) -> None:
    """The last framework wants no offers in any role."""
    world.frameworks[-1].ask("SUPPRESS", suppress={})
    world.settle()


def make(world: World, case: Case) -> list[Amounts]:
    """The change; the offers that each framework has then."""
    assert case.request is not None
    assert world.send(case.request) == case.status
    world.settle(case.waits)
    return in_order(world, world.held())


def in_order(world: World, by_id: Mapping[str, Amounts]) -> list[Amounts]:
    """The amounts of each framework, in the order in which they came."""
    return [by_id.get(str(framework.id), {}) for framework in world.frameworks]


def with_one_result(seed: str, fake: Carrier, pool: Pool, folder: Path) -> Case:
    """A drawn round that ends alike on a fake master of the release, in several orders and after several pasts."""
    for attempt in count():
        case = drawn(f"{seed} {attempt}")
        results: list[list[Amounts]] = []
        while len(results) < ORDERS and results.count(results[0] if results else []) == len(results):
            with shuffling(len(results)), world_of(case, fake, pool, folder) as world:
                assert world.master.count_anew is not None
                world.master.count_anew(random.Random(len(results)))
                results.append(make(world, case))
        if results.count(results[0]) == ORDERS:
            return case
    raise AssertionError
