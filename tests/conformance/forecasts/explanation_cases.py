"""Situations in which a role of a framework is offered less than there is, each with its known cause.

The subject is the framework `ads` in the role ads, unless a situation names another.
"""

from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned
from tests.conformance.forecasts.forecasting import asks, joins, runs
from tests.conformance.forecasts.situation import (
    AGENT,
    ALL,
    EVERYTHING,
    FOUR,
    LONG,
    NOWHERE,
    ONE,
    SCALARS,
    TWO,
    Situation,
    ads,
    agents_do,
    calls,
    declines,
    framework,
    guarantees,
    hangs_up,
    limits,
    reserves,
)
from tests.conformance.scenarios.scenario import config, form, post_quota, update_quota

RESERVED_BELOW = quick("cpus(web/x):4;mem(web/x):4096;disk(web/x):1000", AGENT)

SITUATIONS = {
    # --- Others hold it ---
    "another framework holds offers of everything": Situation(
        TWO,
        (joins("r1"), ads),
        "offered",
        {"cause": "offered", "framework": "f0", "roles": ["r1"], "agents": 2},
        says="holds no offer, and could get nothing: all 8 cpus are offered to f0 (role r1)",
        helps="f0 holds offers without answering",
    ),
    "what is reserved is the smaller part": Situation(
        FOUR,
        (reserves("web", 0, cpus=1, mem=64), joins("r1"), ads),
        "offered",
        {"cause": "reserved", "roles": ["web"], "agents": 1},
        says="of 16 cpus, 15 are offered to f0 (role r1), and 1 is reserved for web",
    ),
    "another framework of the same role holds it": Situation(
        ONE,
        (joins("ads"), ads),
        "offered",
        {"cause": "offered", "framework": "f0", "roles": ["ads"], "own": False},
        subject="@last",
    ),
    "it holds it itself in another role": Situation(
        ONE,
        (framework("both", "ads", "r1"),),
        "offered",
        {"cause": "offered", "framework": "both", "roles": ["ads"], "own": False},
        subject="r1",
    ),
    "it holds everything itself": Situation(
        TWO,
        (ads,),
        "own-offer",
        {"cause": "offered", "own": True, "agents": 2},
        says="holds 2 offers that it has not answered, and could get no more cpus",
        helps="accept or decline",
    ),
    "tasks of another framework use everything": Situation(
        quick(SCALARS, SCALARS),
        (joins("r1"), runs(2), ads),
        "used",
        {"cause": "used", "framework": "f0", "roles": ["r1"]},
        says="all 8 cpus are used by f0 (role r1)",
        helps="mesosctl quota room ads",
        tasks=True,
    ),
    "tasks use most, and the rest is offered to another": Situation(
        quick(SCALARS, SCALARS),
        (joins("r1"), runs(1), ads),
        "offered",
        {"cause": "used", "roles": ["r1"], "agents": 1},
        tasks=True,
    ),
    "its own tasks use everything": Situation(
        quick(SCALARS),
        (ads, runs(1)),
        "used",
        {"cause": "used", "own": True},
        says="all 4 cpus are used by its own tasks",
        tasks=True,
    ),
    # --- Reserved ---
    "everything is reserved for another role": Situation(
        ONE,
        (reserves("web", 0, **ALL), ads),
        "reserved",
        {"cause": "reserved", "roles": ["web"]},
        says="all 4 cpus are reserved for web",
        helps="mesosctl unreserve",
    ),
    "agents have reserved everything for another role": Situation(
        quick("cpus(web):4;mem(web):4096;disk(web):1000;ports(web):[31000-31009]"),
        (ads,),
        "reserved",
        {"cause": "reserved", "roles": ["web"]},
    ),
    "everything is reserved below its role": Situation(
        quick("cpus(ads/x):4;mem(ads/x):4096;disk(ads/x):1000;ports(ads/x):[31000-31009]"),
        (ads,),
        "reserved",
        {"cause": "reserved", "roles": ["ads/x"]},
    ),
    "what is reserved above its role is for it": Situation(
        quick("cpus(ads):4;mem(ads):4096;disk(ads):1000;ports(ads):[31000-31009]"),
        (framework("below", "ads/x"),),
        "own-offer",
        subject="below",
    ),
    "all memory is reserved, and cpus are left": Situation(
        ONE,
        (reserves("web", 0, mem=4096), ads, declines()),
        "reserved",
        {"cause": "reserved", "roles": ["web"]},
        says="could get no mem",
        open=frozenset({"cpus", "disk", "ports"}),
    ),
    # --- Quota ---
    "everything is kept for a guarantee": Situation(
        ONE,
        (ads, declines(), guarantees("web", cpus=4, mem=4096)),
        "guarantee",
        {"cause": "guarantee", "roles": ["web"]},
        says="all 4 cpus are kept for the guarantee of web",
        helps="lower the guarantee of web",
        open=frozenset(),
    ),
    "all cpus are kept for a guarantee, and memory is left": Situation(
        ONE,
        (ads, declines(), guarantees("web", cpus=4)),
        "guarantee",
        {"cause": "guarantee", "roles": ["web"]},
        says="could get no cpus: all 4 are kept for the guarantee of web",
        open=frozenset({"mem", "disk", "ports"}),
    ),
    "two guarantees share what is free": Situation(
        ONE,
        (ads, declines(), guarantees("web", cpus=2), guarantees("db", cpus=2)),
        "guarantee",
        {"cause": "guarantee", "roles": ["db", "web"]},
        says="the guarantees of db and web",
        open=frozenset({"mem", "disk", "ports"}),
    ),
    "a guarantee that cannot be met at all": Situation(
        ONE,
        (ads, declines(), asks(post_quota("web", force=True, cpus=40, mem=40960))),
        "guarantee",
        {"cause": "guarantee", "roles": ["web"]},
    ),
    "a guarantee that is met keeps nothing": Situation(
        TWO,
        (reserves("web", 0, **ALL), guarantees("web", cpus=4, mem=4096), ads, declines()),
        "filter",
        {"cause": "reserved", "roles": ["web"], "agents": 1},
        open=EVERYTHING,
    ),
    "its limit is nothing": Situation(
        ONE,
        (limits("ads", cpus=0, mem=0), ads),
        "limit",
        {"cause": "limit", "roles": ["ads"]},
        says="all 4 cpus are beyond the limit of ads",
        helps="raise the limit of ads",
    ),
    "its limit of cpus alone is reached": Situation(
        ONE,
        (limits("ads", cpus=0), ads, declines()),
        "limit",
        {"cause": "limit", "roles": ["ads"]},
        says="could get no cpus",
        open=frozenset({"mem", "disk", "ports"}),
    ),
    "another framework of its role has used the limit up": Situation(
        TWO,
        (limits("ads", cpus=4, mem=4096), joins("ads"), ads),
        "limit",
        {"cause": "limit", "roles": ["ads"], "agents": 1},
        subject="@last",
    ),
    # --- The framework itself ---
    "it has suppressed offers": Situation(
        ONE,
        (ads, calls("SUPPRESS")),
        "suppressed",
        says="has suppressed offers",
        helps="REVIVE for role ads",
        open=None,
    ),
    "it suppressed offers when it subscribed": Situation(
        ONE, (framework("ads", "ads", suppressed_roles=["ads"]),), "suppressed", open=None
    ),
    "it has declined everything for long": Situation(
        TWO,
        (ads, declines()),
        "filter",
        {"cause": "open", "agents": 2},
        says="could be offered 8 cpus, 8GiB mem, 2000MiB disk and 20 ports, but it has refused offers: 2 refusals are "
        "in force",
        helps="REVIVE",
        open=EVERYTHING,
    ),
    "it or another of its role has declined": Situation(
        ONE,
        (joins("ads"), declines(), framework("two", "ads"), declines()),
        "filter",
        says="it or another of the 2 frameworks",
        subject="two",
        open=EVERYTHING,
    ),
    "it is not connected": Situation(
        ONE,
        (framework("ads", "ads", failover_timeout=LONG), hangs_up),
        "disconnected",
        says="is disconnected from the master",
        helps="subscribe again",
        open=None,
    ),
    "its constraints exclude every agent": Situation(
        TWO,
        (framework("ads", "ads", offer_constraints=NOWHERE),),
        "constraints",
        {"cause": "constraints", "agents": 2},
        helps="UPDATE_FRAMEWORK",
    ),
    "it wants larger offers than there are": Situation(
        TWO,
        (
            framework(
                "ads",
                "ads",
                offer_filters={
                    "ads": {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 5.0}}}]}}
                },
            ),
        ),
        "minimum",
        {"cause": "minimum", "agents": 2},
        says="the smallest offer is cpus:5, which no agent has in total",
        helps="add a larger agent",
    ),
    "it does not know refined reservations": Situation(
        quick("cpus(ads/x):4;mem(ads/x):4096;disk(ads/x):1000;ports(ads/x):[31000-31009]"),
        (
            asks(
                form(
                    "/reserve",
                    slaveId="@A1",
                    resources=[
                        {**entry, "reservations": [{"type": "STATIC", "role": "ads/x"}, *entry["reservations"]]}
                        for entry in owned("ads/x/y", cpus=4, mem=4096)
                    ],
                )
            ),
            framework("old", "ads/x/y", capabilities=("MULTI_ROLE",)),
            declines(),
        ),
        "capability",
        {"cause": "capability", "detail": "RESERVATION_REFINEMENT"},
        subject="old",
        helps="RESERVATION_REFINEMENT",
    ),
    "gpus are for those who ask for them": Situation(
        quick("cpus:4;mem:4096;disk:1000;gpus:2"),
        (ads,),
        "capability",
        {"cause": "capability", "detail": "GPU_RESOURCES"},
        helps="subscribe with the capability GPU_RESOURCES",
        tasks=True,
    ),
    # --- Agents ---
    "there are no agents": Situation(quick(), (ads,), "no-agents", says="no agent has resources"),
    "all agents are deactivated": Situation(
        TWO,
        (agents_do("DEACTIVATE_AGENT", 0, 1), ads),
        "out-of-service",
        {"cause": "out-of-service", "detail": "deactivated", "agents": 2},
        says="all 8 cpus are on agents that are deactivated",
    ),
    "one agent drains, and another framework holds the other": Situation(
        quick(AGENT, "cpus:8;mem:4096;disk:1000;ports:[31000-31009]"),
        (agents_do("DRAIN_AGENT", 0), joins("r1"), ads),
        "offered",
        {"cause": "out-of-service", "agents": 1},
        says="of 12 cpus, 8 are offered to f0 (role r1), and 4 are on agents that are",
    ),
    "agents have less than the smallest offer": Situation(
        quick(AGENT, flags={"min_allocatable_resources": "cpus:5|mem:5000"}),
        (ads,),
        "minimum",
        {"cause": "minimum"},
        says="the smallest offer is cpus:5 or mem:5000, which no agent has in total",
        helps="add a larger agent",
    ),
}

BY_RELEASE: dict[str, dict[tuple[str, ...], Situation]] = {
    "no whole agent fits beside a guarantee": {
        ("1.4.3", "1.8.1"): Situation(
            FOUR,
            (ads, declines(), guarantees("web", cpus=14)),
            "guarantee",
            {"cause": "guarantee", "roles": ["web"], "agents": 4},
            says="all 16 cpus are kept for the guarantee of web",
            helps="lower the guarantee of web",
        ),
        ("1.11.0",): Situation(
            FOUR,
            (ads, declines(), guarantees("web", cpus=14)),
            "filter",
            {"cause": "guarantee", "roles": ["web"], "amounts": {"cpus": 14.0}},
            open=EVERYTHING,
        ),
    },
    "some whole agents fit beside a guarantee": {
        ("1.4.3", "1.8.1"): Situation(
            FOUR,
            (ads, declines(), guarantees("web", cpus=7)),
            "filter",
            {"cause": "guarantee", "roles": ["web"], "agents": 2},
            says="could be offered 8 cpus",
            open=EVERYTHING,
        ),
        ("1.11.0",): Situation(
            FOUR,
            (ads, declines(), guarantees("web", cpus=7)),
            "filter",
            says="could be offered 9 cpus",
            open=EVERYTHING,
        ),
    },
    "its guarantee": {
        ("1.4.3", "1.8.1"): Situation(
            TWO,
            (guarantees("ads", cpus=1), ads),
            "limit",
            {"cause": "limit", "roles": ["ads"], "agents": 2},
            says="7 are beyond the guarantee of ads (its limit here)",
            helps="raise the guarantee of ads with mesosctl quota update ads cpus:8",
        ),
        ("1.11.0",): Situation(
            TWO,
            (asks(update_quota(config("ads", guarantees={"cpus": 1}))), ads),
            "own-offer",
            {"cause": "offered", "agents": 2},
        ),
    },
    "its guarantee, declined": {
        ("1.4.3", "1.8.1"): Situation(
            TWO,
            (guarantees("ads", cpus=1), ads, declines(), declines()),
            "filter",
            {"cause": "limit", "roles": ["ads"]},
            says="could be offered 1 cpu",
            open=EVERYTHING,
        ),
    },
    "the guarantee of the role above": {
        ("1.4.3", "1.8.1", "1.11.0"): Situation(
            TWO,
            (framework("below", "ads/x"), declines(), guarantees("ads", cpus=8, mem=8192)),
            "guarantee",
            {"cause": "guarantee", "roles": ["ads"], "agents": 2},
            says="all 8 cpus are kept for the guarantee of ads",
            subject="below",
        ),
    },
    "what is reserved below a guarantee": {
        ("1.4.3",): Situation(
            RESERVED_BELOW,
            (ads, declines(), guarantees("web", cpus=4)),
            "guarantee",
            {"cause": "guarantee", "roles": ["web"], "agents": 1},
        ),
        ("1.8.1", "1.11.0"): Situation(
            RESERVED_BELOW,
            (ads, declines(), guarantees("web", cpus=4)),
            "filter",
            {"cause": "reserved", "roles": ["web/x"]},
            open=EVERYTHING,
        ),
    },
}
"""Each release explains the same cluster in its own way."""
