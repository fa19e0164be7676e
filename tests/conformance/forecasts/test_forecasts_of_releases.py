"""Forecasts from a live master of each release, which come true there, framework by framework."""

from pathlib import Path

import pytest

from tests.conformance.callers.joining import joining, quick
from tests.conformance.forecasts.forecast_rounds import BARE, DEPARTURES, ROUNDS, TEARDOWN, Departure
from tests.conformance.forecasts.forecasting import Amounts, Case, World, forecast, offered_to, world_of
from tests.conformance.masters.carriers import REAL, Carrier, Pool, in_process_of, judged
from tests.conformance.masters.simulated import agents_of, leaving_agent
from tests.helpers.needs import needs

RELEASES = ("1.4.3", "1.8.1", "1.11.0")
STAYING = 3
ATTEMPTS = 3
"""A real master visits agents in no order, and its allocator may run between two things that happen in one change."""

Offered = dict[str, Amounts]


def played(case: Case, carrier: Carrier, pool: Pool, folder: Path) -> tuple[Offered, Offered]:
    """The offers that were foretold, and those that each framework then has."""
    with world_of(case, carrier, pool, folder) as world:
        said = forecast(world, case.words)
        assert case.request is not None
        assert world.send(case.request) == case.status, said["answers"]
        world.settle(case.waits)
        return offered_to(said), world.held()


def departed(departure: Departure, carrier: Carrier, pool: Pool) -> tuple[Offered, Offered]:
    """The same where an agent leaves."""
    master = pool.start(carrier, quick(flags={"agent_ping_timeout": "15mins"}))
    leaving = leaving_agent(master, BARE + departure.more)
    with agents_of(master, [BARE] * STAYING), leaving as agent, joining(master) as join:
        world = World(master, join, Path())
        for prepare in departure.before:
            prepare(world)
        if departure.disconnected:
            agent.disconnect()
        for prepare in departure.after:
            prepare(world)
        world.settle()
        lost = f" --lose-agent {agent.id}" if departure.leaves else ""
        said = forecast(world, f"whatif{lost}{' --lose-framework @F1' if departure.framework_leaves else ''}")
        if departure.leaves:
            agent.leave()
        if departure.framework_leaves:
            assert world.send(TEARDOWN) == 200
        world.settle()
        return offered_to(said), world.held()


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("release", RELEASES)
def test_a_fake_master_does_what_was_forecast_from_it(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, name: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said, happened = played(ROUNDS[name], in_process_of(release), pool, tmp_path)
    assert said == happened


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize(("real", "_"), judged(*RELEASES), ids=str)
@needs(*REAL.needs)
def test_a_real_master_does_what_was_forecast_from_it(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: Carrier, _: Carrier, name: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for _attempt in range(ATTEMPTS):
        said, happened = played(ROUNDS[name], real, pool, tmp_path)
        if said == happened:
            break
    assert said == happened


@pytest.mark.parametrize("name", DEPARTURES)
@pytest.mark.parametrize(("real", "_"), judged(*RELEASES), ids=str)
@needs(*REAL.needs)
def test_an_agent_leaves_as_it_was_forecast(pool: Pool, real: Carrier, _: Carrier, name: str) -> None:
    for _attempt in range(ATTEMPTS):
        said, happened = departed(DEPARTURES[name], real, pool)
        if said == happened:
            break
    assert said == happened
