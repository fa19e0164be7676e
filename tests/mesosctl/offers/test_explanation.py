"""Explanations that need figures which no quick master has: recovery, a whitelist, agents out of service."""

from dataclasses import replace
from typing import Any

import pytest

from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.offer_explanation import (
    ExplainedAgent,
    Hindrance,
    OfferAccount,
    OfferExplanation,
    WithheldResources,
)
from mesosctl.mesos.rules.offers.frameworks import MissingCapability
from mesosctl.offers.sentences import answer, helps, where
from mesosctl.reading.offers_after_failover import recovery

PROMISED = {"web": Quota(guarantees=Quantities({"cpus": 1000}))}


def snapshot(**more: Any) -> ClusterSnapshot:
    return ClusterSnapshot(version="1.11.0", taken_at=0.0, **{"quotas": PROMISED, **more})


@pytest.mark.parametrize(
    ("present", "awaited", "uptime", "quotas", "holds"),
    [
        (3, 2, 30.0, PROMISED, True),
        (4, 1, 30.0, PROMISED, False),
        (3, 2, 601.0, PROMISED, False),
        (3, 2, 30.0, {}, False),
        (3, 0, 30.0, PROMISED, False),
        (3, 2, None, PROMISED, False),
    ],
)
def test_recovery(present: int, awaited: int, uptime: float | None, quotas: dict[str, Quota], *, holds: bool) -> None:
    figures = {} if uptime is None else {"master/uptime_secs": uptime}
    said = recovery({}, present, awaited, figures, has_quotas=bool(quotas))
    assert bool(said) is holds
    if holds:
        assert said.startswith("3 of 5 agents are back after a failover; nothing is offered until 4 are back, ")
        assert "or until the master has been up for 600 s" in said


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"allocator_agent_recovery_factor": "0.2", "allocator_recovery_timeout": "1hrs"}, ""),
        ({"allocator_recovery_timeout": "1weeks"}, "or until the master has been up for 604800 s"),
        ({"allocator_recovery_timeout": "0secs"}, ""),
        ({"allocator_recovery_timeout": "soon"}, ""),
    ],
)
def test_recovery_goes_by_the_masters_flags(flags: dict[str, str], says: str) -> None:
    said = recovery(flags, 3, 2, {"master/uptime_secs": 30.0}, has_quotas=True)
    assert says in said
    assert bool(said) is bool(says)


def explanation(*lines: WithheldResources, **more: Any) -> OfferExplanation:
    agents = (ExplainedAgent("S1", "host1", lines),)
    return OfferExplanation(OfferAccount("F", "shop", "ads", agents, {}, ()), **{"offers": 0, **more})


OPEN = WithheldResources("open", Quantities({"cpus": 4000, "mem": 1024_000}))


def test_a_whitelist_that_is_not_shown_is_named() -> None:
    one = explanation(OPEN, refusals=0, has_whitelist=True)
    assert one.reason == "unknown"
    assert "if the whitelist names the agents" in answer(one)


def test_nothing_in_the_way_means_the_next_allocation() -> None:
    one = explanation(OPEN, refusals=0)
    assert (one.reason, helps(one)) == ("due", [])
    assert answer(one) == "shop in role ads is due to be offered 4 cpus and 1GiB mem in the next allocation"


def test_a_master_without_metrics_leaves_refusals_unknown() -> None:
    one = explanation(OPEN)
    assert one.reason == "unknown"
    assert "may have declined" in answer(one)


def test_recovery_keeps_everything_from_everybody() -> None:
    one = explanation(OPEN, hindrance="recovery", recovery="3 of 5 agents are back")
    assert answer(one) == "shop in role ads is offered nothing, and neither is anybody else: 3 of 5 agents are back"
    assert helps(one) == ["wait for the agents to come back"]


def test_many_holders_are_summed_up() -> None:
    cpus = [Quantities({"cpus": 1000 * number}) for number in range(1, 7)]
    used = [WithheldResources("used", part, (f"r{n}",), f"F{n}", f"f{n}") for n, part in enumerate(cpus, 1)]
    said = answer(explanation(*used))
    assert said == (
        "shop in role ads holds no offer, and could get nothing: all 21 cpus are used by f6 (role r6), f5 (role r5), "
        "f4 (role r4) and 3 more"
    )


def test_the_smaller_obstacles_are_added_up() -> None:
    causes = [WithheldResources("reserved", Quantities({"cpus": 1000 * n}), (f"r{n}",)) for n in range(1, 7)]
    said = answer(explanation(*causes))
    assert said.endswith(
        "of 21 cpus, 6 are reserved for r6, 5 are reserved for r5, 4 are reserved for r4, 3 are reserved for r3, "
        "and 3 are elsewhere"
    )


def test_agents_out_of_service_are_told_apart() -> None:
    lines = [
        WithheldResources("out-of-service", Quantities({"cpus": 2000}), status="draining"),
        WithheldResources("out-of-service", Quantities({"cpus": 1000}), status="disconnected"),
    ]
    one = explanation(*lines)
    assert answer(one).endswith(
        "of 3 cpus, 2 are on agents that are draining, and 1 is on agents that are disconnected"
    )
    assert replace(one, offers=1).reason == "out-of-service"


@pytest.mark.parametrize("hindrance", ["suppressed", "disconnected", "inactive"])
def test_agents_out_of_service_are_in_the_way_of_what_is_offered_after_a_hindrance(hindrance: Hindrance) -> None:
    away = WithheldResources("out-of-service", Quantities({"cpus": 2000}), status="disconnected")
    first, second = helps(explanation(away, hindrance=hindrance))
    assert "agents" not in first
    assert "bring the agents back" in second
    assert len(helps(explanation(away, OPEN, hindrance=hindrance))) == 1


@pytest.mark.parametrize(
    ("static", "says", "not_said"),
    [
        (
            0,
            "use mesosctl unreserve AGENT RESOURCES --role web to release what web does not need, or have",
            "static",
        ),
        (4, "subscribe with role web, or start the agents with other --resources: ", "to release"),
        (
            1,
            "mesosctl unreserve AGENT RESOURCES --role web releases the 3 cpus reserved dynamically; ",
            "start the agents",
        ),
    ],
)
def test_unreserve_helps_with_dynamic_reservations_alone(static: int, says: str, not_said: str) -> None:
    fixed = Quantities({"cpus": 1000 * static})
    one = explanation(WithheldResources("reserved", Quantities({"cpus": 4000}), ("web",), static=fixed))
    (helping,) = helps(one)
    assert says in helping
    assert not_said not in helping
    assert ("(static), so no command can undo it" in helping) is bool(static)


def test_a_capability_is_named_with_the_resources_that_need_it() -> None:
    lines = [
        WithheldResources(
            "capability",
            Quantities({"cpus": 1000, "mem": 64 * 1024_000}),
            capability=MissingCapability("GPU_RESOURCES"),
        ),
        WithheldResources("used", Quantities({"mem": 102 * 1024_000}), ("batch",), "F1", "spark"),
        WithheldResources("open", Quantities({"cpus": 3000})),
    ]
    one = explanation(*lines, refusals=3)
    assert answer(one) == (
        "shop in role ads holds no offer, and could get no mem: of 166GiB, 102GiB is used by spark (role batch), and "
        "64GiB is on agents with GPUs (offered only with the capability GPU_RESOURCES)"
    )
    assert [where(line, one.refusals) for line in one.account.lines] == [
        "free, except where a framework has refused it (3 refusals in force)",
        "on agents with GPUs: needs GPU_RESOURCES",
        "used by spark in role batch",
    ]
    assert where(one.account.lines[0], 0) == where(one.account.lines[0]) == "free, with no known obstacle"


def of_two_agents(*minimum: Quantities) -> OfferExplanation:
    """Nothing of two agents is as large as the smallest offer."""
    agents = tuple(
        ExplainedAgent(
            f"S{cpus}", f"host{cpus}", (WithheldResources("minimum", Quantities({"cpus": cpus * 1000, "mem": mem})),)
        )
        for cpus, mem in ((4, 8_192_000), (8, 1_024_000))
    )
    return OfferExplanation(OfferAccount("F", "shop", "ads", agents, {}, minimum), 0)


def test_an_offer_that_no_agent_can_ever_make():
    one = of_two_agents(Quantities({"cpus": 16_000, "mem": 1_000}))
    never = "the smallest offer is cpus:16; mem:1, which no agent has in total: host8 has the most cpus, 8"
    assert answer(one).endswith(f"; {never}")
    assert helps(one) == ["add a larger agent, or lower min_allocatable_resources of the framework or of the master"]


@pytest.mark.parametrize(
    "minimum",
    [
        (),
        (Quantities({"cpus": 8_000}),),
        (Quantities({"cpus": 16_000}), Quantities({"mem": 32_000})),
        (Quantities({"cpus": 8_000, "mem": 8_192_000}),),
    ],
)
def test_an_offer_that_an_agent_may_make_one_day(minimum: tuple[Quantities, ...]):
    one = of_two_agents(*minimum)
    assert "in total" not in answer(one)
    assert "free more on one agent" in helps(one)[0]
