"""Amounts that a framework could be offered at the same time: `offers explain`, `whatif` and a master agree.

A random cluster has guarantees, limits, reservations and frameworks that hold some of their offers.  One framework has
declined the rest of its own.  Both commands say what it could get, then it revives its offers, and it is counted.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, find, given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.quantities import Quantities
from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.holding import held, limited
from tests.conformance.callers.joining import quick
from tests.conformance.forecasts.forecasting import Amounts, Case, World, forecast, milli, scalars, world_of
from tests.conformance.forecasts.situation import LONG
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier, Pool, in_process_of, real_of
from tests.conformance.scenarios.scenario import form, post_quota
from tests.conformance.scenarios.scenario import scalars as scalar_entries
from tests.helpers.profiles import examples

CLUSTERS = int(os.environ.get("MESOS_CONFORMANCE_CLUSTERS", "20"))
"""How many random clusters are tried beside the real master."""
COMPARED = ("cpus", "mem")
"""An agent of which neither is left is not offered for its disk; which one that is depends on the order of a run."""
ROLES = ("ads", "web", "db/x")
OWNERS = ("ads", "web", "db", "idle")


@dataclass(frozen=True)
class Guest:
    """A framework that keeps so many of the offers that it gets first, and declines the others."""

    role: str
    keeps: int


@dataclass(frozen=True)
class RandomCluster:
    """A cluster, and what its frameworks do; the last one is explained."""

    agents: tuple[str, ...]
    quotas: tuple[tuple[str, dict[str, float], dict[str, float]], ...]
    """Role, guarantees and limits."""
    reservations: tuple[tuple[int, str, float], ...]
    """The number of an agent, a role, and how many cpus of it."""
    guests: tuple[Guest, ...]
    deactivated: tuple[int, ...] = ()
    """The numbers of agents that an operator takes out of service."""


@st.composite
def agent_texts(draw: st.DrawFn) -> str:
    static = draw(st.sampled_from(["", "", "", ";cpus(web):2;mem(web):512", ";cpus(ads):1"]))
    return f"cpus:{draw(st.integers(1, 12))};mem:{draw(st.integers(1, 12)) * 512};disk:100;ports:[31000-31009]{static}"


@st.composite
def quotas(draw: st.DrawFn, role: str) -> tuple[str, dict[str, float], dict[str, float]]:
    sizes = {"cpus": st.integers(1, 18).map(float), "mem": st.integers(1, 20).map(lambda size: size * 512.0)}
    guarantees = {name: draw(size) for name, size in sizes.items() if draw(st.integers(0, 3))}
    spans = st.sampled_from([0.0, 1.0, 3.0])
    limits = {
        name: guarantees.get(name, 0.0) + draw(spans) * (1.0 if name == "cpus" else 512.0)
        for name in sizes
        if not draw(st.integers(0, 2))
    }
    return role, guarantees, limits


@st.composite
def clusters(draw: st.DrawFn) -> RandomCluster:
    agents = tuple(draw(st.lists(agent_texts(), min_size=2, max_size=4)))
    numbers = st.integers(0, len(agents) - 1)
    roles = sorted(draw(st.sets(st.sampled_from(OWNERS), min_size=draw(st.sampled_from([1, 1, 0])))))
    reserved = st.tuples(numbers, st.sampled_from(OWNERS), st.sampled_from([0.5, 1.0]))
    guests = st.builds(Guest, st.sampled_from(ROLES), st.integers(0, 2))
    return RandomCluster(
        agents,
        tuple(draw(quotas(role)) for role in roles),
        tuple(draw(st.lists(reserved, max_size=2, unique_by=lambda found: found[0]))),
        tuple(draw(st.lists(guests, min_size=1, max_size=4))),
        tuple(draw(st.sampled_from([[], [], [0]]))),
    )


def prepare(world: World, cluster: RandomCluster, carrier: Carrier) -> Framework:
    """Make the quotas, reservations and frameworks; return the framework that is explained."""
    for role, guarantees, limits in cluster.quotas:
        if carrier.profile.knows_update_quota:
            assert limited(world.master, role, guarantees, limits, force=True) == 200
        elif guarantees:
            assert world.send(post_quota(role, force=True, **guarantees)) == 200
    agents = sorted(world.master.agents(), key=lambda agent: str(agent["id"]))
    for number, role, cpus in cluster.reservations:
        dynamic = {"reservations": [{"type": "DYNAMIC", "role": role}]}
        entries = [entry | dynamic for entry in scalar_entries(cpus=cpus)]
        assert world.send(form("/reserve", slaveId=agents[number]["id"], resources=entries)) == 202
    for number in cluster.deactivated:
        agent = {"agent_id": {"value": agents[number]["id"]}}
        assert world.master.call("DEACTIVATE_AGENT", deactivate_agent=agent).status == 200
    for number, guest in enumerate(cluster.guests):
        framework = world.join(guest.role, name=f"f{number}").subscribe()
        world.frameworks.append(framework)
        world.settle()
        offers = sorted(held(framework), key=lambda offer: str(offer["agent_id"]))
        if offers[guest.keeps :]:
            framework.decline(offers[guest.keeps :], refuse=LONG)
        if number < len(cluster.guests) - 1:
            framework.ask("SUPPRESS")
        world.settle()
    return world.frameworks[-1]


def holds(framework: Framework) -> Amounts:
    """The compared amounts of its outstanding offers."""
    found = scalars([entry for offer in held(framework) for entry in offer["resources"]])
    return {name: found[name] for name in COMPARED if name in found}


def compared(amounts: dict[str, Any]) -> Amounts:
    """The same of what a command says."""
    return {name: amount for name, amount in milli(amounts).items() if name in COMPARED}


def explained(world: World, framework: Framework) -> dict[str, Any]:
    """The answer of `offers explain` about the only role of a framework."""
    status, said = run_for_json(world.master, f"offers explain {framework.id}")
    assert status == 0, said
    (explanation,) = said["explanations"]
    answer: dict[str, Any] = explanation
    return answer


def agrees(cluster: RandomCluster, carrier: Carrier, pool: Pool, folder: Path) -> set[str]:
    """Check that all three agree about a cluster, and return of which kinds it is."""
    with world_of(Case(quick(*cluster.agents), (), "", None, 0), carrier, pool, folder) as world:
        subject = prepare(world, cluster, carrier)
        before = holds(subject)
        said, foretold = explained(world, subject), forecast(world, "whatif weight:nobody=2")
        shown = {one["id"]: compared(one["after"]["offered"]) for one in foretold["frameworks"]}
        subject.ask("REVIVE")
        world.settle()
        got = holds(subject)
    opened = {name: amount - before.get(name, 0) for name, amount in got.items() if amount != before.get(name, 0)}
    assert compared(said["open"]) == opened, said["lines"]
    assert shown.get(subject.id, {}) == got, foretold["frameworks"]
    causes = {line["cause"] for line in said["lines"]}
    kinds = causes | ({"several agents"} if sum(_is_open(agent) for agent in said["agents"]) > 1 else set())
    if "open" in causes and "guarantee" in causes:
        kinds.add("part of what is free is kept")
    return kinds


def _is_open(agent: dict[str, Any]) -> bool:
    return any(line["cause"] == "open" for line in agent["lines"])


ISSUE = RandomCluster(
    ("cpus:12;mem:6144;disk:100", "cpus:8;mem:4096;disk:100"),
    (("web", {"cpus": 18.0, "mem": 4096.0}, {}),),
    (),
    (Guest("web", 0), Guest("ads", 0)),
)
"""Each agent could give 2 cpus beside the guarantee, but both together no more than that."""
KINDS = (
    "several agents",
    "part of what is free is kept",
    "guarantee",
    "limit",
    "reserved",
    "out-of-service",
    "offered",
)


def test_what_each_of_two_agents_could_give_is_not_added_up(pool: Pool, tmp_path: Path) -> None:
    assert "part of what is free is kept" in agrees(ISSUE, IN_PROCESS, pool, tmp_path)


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cluster=clusters())
def test_commands_and_the_fake_master_agree(cluster: RandomCluster, pool: Pool, tmp_path: Path) -> None:
    for kind in agrees(cluster, IN_PROCESS, pool, tmp_path):
        event(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_random_clusters_are_of_every_kind(kind: str, pool: Pool, tmp_path: Path) -> None:
    some = settings(max_examples=100, database=None, phases=[Phase.generate], derandomize=True)
    find(clusters(), lambda cluster: kind in agrees(cluster, IN_PROCESS, pool, tmp_path), settings=some)


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@settings(
    max_examples=CLUSTERS,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cluster=clusters())
def test_commands_and_a_real_master_agree(cluster: RandomCluster, pool: Pool, tmp_path: Path) -> None:
    agrees(cluster, REAL, pool, tmp_path)


@st.composite
def alike(draw: st.DrawFn) -> RandomCluster:
    """A cluster of which all agents are alike, so that it does not matter which of them are kept whole."""
    cluster = draw(clusters())
    return replace(cluster, agents=cluster.agents[:1] * len(cluster.agents), reservations=(), deactivated=())


def is_offered_what_is_open(cluster: RandomCluster, carrier: Carrier, pool: Pool, folder: Path) -> None:
    """Check that the last framework is offered what is said to be open for it."""
    with world_of(Case(quick(*cluster.agents), (), "", None, 0), carrier, pool, folder) as world:
        subject = prepare(world, cluster, carrier)
        before, said = Quantities(holds(subject)), explained(world, subject)
        subject.ask("REVIVE")
        world.settle()
        assert dict(Quantities(holds(subject)) - before) == compared(said["open"]), said["lines"]


@pytest.mark.parametrize("release", ["1.4.3", "1.8.1"])
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cluster=alike())
def test_masters_with_guarantees_that_cap_offer_what_is_said_to_be_open(
    cluster: RandomCluster, release: str, pool: Pool, tmp_path: Path
) -> None:
    is_offered_what_is_open(cluster, in_process_of(release), pool, tmp_path)


@pytest.mark.parametrize("judge", [real_of("1.4.3"), real_of("1.8.1")], ids=str)
@settings(
    max_examples=min(CLUSTERS, 8),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(cluster=alike())
def test_real_ones_do_too(cluster: RandomCluster, judge: Carrier, pool: Pool, tmp_path: Path) -> None:
    is_offered_what_is_open(cluster, judge, pool, tmp_path)
