"""The situations that each release is judged by, by name."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tests.conformance.situations.playing import SIMPLE, WITH_GPUS, Client, Situation, Step, client

AGENT = "cpus:8;mem:8192;disk:100;ports:[31000-31003]"
GIB = 1024
LONG = 1000.0
"""Seconds that a refusal lasts to the end of any situation."""


AWARE = client("b", capabilities=(*SIMPLE, "REGION_AWARE"))
FAR = ("cpus:8;mem:8192;disk:100",) * 2
"""Agents elsewhere."""


def both(amount: float) -> dict[str, float]:
    """So many cpus and GiB."""
    return {"cpus": amount, "mem": amount * GIB}


def of(  # the words of a table
    agents: int,
    *clients: str | Client,
    more: str = "",
    gpus: Iterable[int] = (),
    suppressed: Iterable[int] = (),
    steps: Iterable[Step] = (),
    **rest: Any,
) -> Situation:
    """Agents that are alike, and frameworks by their one role; some have GPUs, or suppress it from the start."""
    known = [client(each) if isinstance(each, str) else each for each in clients]
    for number in gpus:
        known[number] = replace(known[number], capabilities=WITH_GPUS)
    for number in suppressed:
        known[number] = replace(known[number], suppressed=known[number].roles)
    return Situation((AGENT + more,) * agents, tuple(known), steps=tuple(steps), **rest)


def sized(*cpus: int, more: str = "") -> tuple[str, ...]:
    """Agents of so many cpus and GiB."""
    return tuple(f"cpus:{each};mem:{each * GIB};disk:100;ports:[31000-31003]{more}" for each in cpus)


WITHOUT_LIMITS: dict[str, Situation] = {
    # Guarantees.
    "a part of an agent": of(4, "a", "b", quotas={"a": {"cpus": 3, "mem": GIB}}),
    "what is not named comes with it": of(4, "a", "b", quotas={"a": {"cpus": 12}}),
    "the guarantee is a ceiling or not": of(8, "a", "b", "c", quotas={"a": both(8)}),
    "two guarantees": of(8, "a", "b", "c", quotas={"a": both(16), "b": both(24)}),
    "half a cpu for nobody": of(4, "a", "b", quotas={"c": {"cpus": 0.5}}),
    "all of the memory for nobody": of(4, "a", "b", quotas={"c": {"mem": 32 * GIB}}, more=";cpus(b):1"),
    "different names": of(4, "a", "b", "c", quotas={"a": {"cpus": 3}, "b": {"mem": 3000}}),
    "headroom bounds what is not named": of(4, "a", "b", "c", quotas={"a": {"cpus": 3}, "q": both(9)}),
    "disk is guaranteed": of(4, "a", "b", quotas={"a": {"disk": 250}}),
    "more is guaranteed than there is": of(4, "a", "b", "c", quotas={"a": both(24), "b": both(24)}),
    "a guarantee that is set late": of(4, "a", "b", steps=[("quota", "a", {"cpus": 12})]),
    "a guarantee that is taken away": of(4, "a", "b", quotas={"a": both(8)}, steps=[("no_quota", "a")]),
    "guarantees whose roles were offered unlike often": of(
        2,
        "a",
        "b",
        steps=[
            ("suppress", 1),
            ("decline", 1, 0.0),
            ("decline", 0, 0.0),
            ("decline", 0, 0.0),
            ("revive", 1),
            ("suppress", 0),
            ("suppress", 1),
            ("decline", 0, 0.0),
            ("decline", 1, 0.0),
            ("quota", "b", both(16)),
            ("quota", "a", both(16)),
            ("revive", 0),
            ("decline", 0, 0.0),
            ("revive", 1),
            ("decline", 0, 0.0),
        ],
    ),
    # Reservations.
    "reservations count": of(4, "a", "b", quotas={"a": {"cpus": 24, "mem": 20 * GIB}}, more=";cpus(a):4;mem(a):1024"),
    "more is reserved than guaranteed": of(4, "a", "b", quotas={"a": {"cpus": 8}}, more=";cpus(a):4;mem(a):1024"),
    "reserved for a role without frameworks": of(3, "a", "b", quotas={"c": {"cpus": 10}}, more=";cpus(c):2"),
    "reserved for two roles": of(4, "a", "b", quotas={"a": {"cpus": 10}}, more=";cpus(a):1;mem(a):64;cpus(b):2"),
    "reserved by a framework": of(4, "a", "b", steps=[("reserve", 0, 2.0)]),
    "reserved by a framework with a guarantee": of(
        4, "a", "b", quotas={"a": both(12)}, steps=[("reserve", 0, 2.0), ("decline", 0, 0.0)]
    ),
    "reserved for a role above and refined": of(
        4, "a/x", "a", "b", more=";cpus(a):3;mem(a):64", steps=[("refine", 0, "a", 1.0), ("quota", "a", {"cpus": 14})]
    ),
    "refined, and not understood by all": of(
        3,
        "a/x",
        client("a/x", capabilities=("MULTI_ROLE",)),
        more=";cpus(a):3;mem(a):64",
        steps=[("refine", 0, "a", 1.0), ("suppress", 0), ("decline", 0, 0.0)],
    ),
    # Roles below others.
    "roles below the guarantee": of(6, "a/x", "a/y", "b", quotas={"a": both(24)}),
    "a role below beside the guarantee": of(6, "a", "a/x", "b", quotas={"a": both(24)}),
    "reserved for a role below": of(
        4, "a", "a/x", "b", quotas={"a": {"cpus": 24, "mem": 20 * GIB}}, more=";cpus(a/x):4;mem(a/x):1024"
    ),
    "roles three deep": of(8, "a/x/y", "a/x/z", "a/w", "b"),
    "a role and two below it": of(8, "a", "a/x", "a/y", "b"),
    "two guarantees, one with roles below": of(6, "a", "b", "a/x", "b/x", quotas={"a": both(16), "b": both(16)}),
    # Weights.
    "weights": of(6, "b", "a", "c", "d", quotas={"a": both(8), "b": both(8)}, weights={"a": 2, "d": 3}),
    "weights of roles below one": of(8, "a/x", "a/y", "b", weights={"a/x": 3}),
    "the weight of a role above": of(8, "a/x", "b/x", early_weights={"a": 3}),
    "the weight of a role above, set late": of(8, "a/x", "b/x", weights={"a": 3}),
    "the weight of a role with roles below, set late": of(8, "a", "a/x", "b", weights={"a": 3}),
    "weights of guarantees": of(3, "a", "b", "c", quotas={"a": both(20), "b": both(20)}, weights={"b": 3}),
    "a weight that is set late": of(4, "a", "b", steps=[("weigh", {"b": 3}), ("decline", 0, 0.0), ("decline", 1, 0.0)]),
    # Suppression.
    "suppressed from the start": of(6, "a", "b", "c", suppressed=[0]),
    "suppressed with a guarantee": of(
        4, "a", "b", "c", quotas={"a": {"cpus": 30}}, more=";cpus(b):2;mem(b):512", suppressed=[0]
    ),
    "suppressed later": of(4, "a", "b", steps=[("suppress", 0), ("decline", 0, 0.0)]),
    "revived": of(4, "a", "b", steps=[("suppress", 0), ("decline", 0, 0.0), ("revive", 0), ("decline", 1, 0.0)]),
    "a guarantee that is suppressed later": of(
        4, "a", "b", quotas={"a": both(12)}, steps=[("suppress", 0), ("decline", 0, 0.0)]
    ),
    # Declines.
    "a guarantee that is declined": of(4, "a", "b", "c", quotas={"a": both(16)}, steps=[("decline", 0, LONG)]),
    "shares that are declined": of(4, "a", "b", "c", quotas={"a": both(16)}, steps=[("decline", 1, LONG)]),
    "declined by one of a role": of(4, "a", "a", "b", quotas={"a": {"cpus": 20}}, steps=[("decline", 0, LONG)]),
    "declined and revived": of(
        4, "a", "b", steps=[("suppress", 1), ("decline", 1, LONG), ("decline", 0, LONG), ("revive", 0)]
    ),
    "one role of two revived": of(
        2, client("a", "b"), steps=[("decline", 0, LONG), ("decline", 0, LONG), ("revive", 0, "a")]
    ),
    # Minimum of an offer.
    "a minimum of an offer": of(5, "a", "b", quotas={"a": {"cpus": 12}}, flags={"min_allocatable_resources": "cpus:5"}),
    "a minimum of memory": of(4, "a", "b", quotas={"a": both(10)}, flags={"min_allocatable_resources": "mem:3000"}),
    "alternatives of a minimum": of(
        4, "a", "b", quotas={"a": both(10)}, flags={"min_allocatable_resources": "cpus:7|mem:7000"}
    ),
    # GPUs.
    "GPUs": of(3, "a", "b", quotas={"a": {"cpus": 10}}, more=";gpus:1", gpus=[1]),
    "GPUs are guaranteed": of(4, "a", "b", quotas={"a": {"gpus": 2}}, more=";gpus:1", gpus=[0, 1]),
    "GPUs for everybody": of(3, "a", "b", more=";gpus:1", flags={"filter_gpu_resources": "false"}),
    "GPUs on one of two": Situation(
        (AGENT, AGENT, AGENT + ";gpus:2"),
        (client("a"), client("b", capabilities=WITH_GPUS)),
        quotas={"a": {"cpus": 20}},
    ),
    # Regions.
    "agents in another region": of(2, "a", AWARE, elsewhere=FAR),
    "a guarantee and another region": of(2, "a", AWARE, quotas={"a": both(20)}, elsewhere=FAR),
    "a guarantee of whoever knows regions": of(2, "a", AWARE, quotas={"b": both(20)}, elsewhere=FAR),
    "nobody knows regions": of(2, "a", "b", quotas={"a": both(12)}, elsewhere=FAR),
    # Several frameworks of a role, and several roles of a framework.
    "two frameworks in a role": of(4, "a", "a", "b", quotas={"a": {"cpus": 20}}),
    "three frameworks in a role": of(6, "a", "a", "a", "b"),
    "a framework in two roles": of(6, client("a", "b"), "c", quotas={"a": both(8)}),
    "a framework in two roles, one suppressed": of(4, client("a", "b", suppressed=["a"]), "c"),
    "a framework that leaves": of(6, "a", "b", "c", quotas={"a": both(24)}, steps=[("leave", 1)]),
    "a framework that joins": of(4, "a", "b", steps=[("join", client("c", capabilities=SIMPLE)), ("decline", 0, 0.0)]),
    # Agents that are not alike.
    "agents of three sizes": Situation(sized(2, 4, 8), (client("a"), client("b"))),
    "a guarantee and agents of two sizes": Situation(
        sized(4, 12, 4), (client("a"), client("b")), quotas={"a": {"cpus": 6}}
    ),
    "one agent of three is reserved": Situation(
        (*sized(8, 8), *sized(8, more=";cpus(a):8;mem(a):4096")), (client("a"), client("b")), quotas={"a": both(10)}
    ),
    "frameworks of a role hold different things": Situation(
        tuple(
            f"{each};disk:10;ports:[31000-31003]" for each in ("cpus:8;mem:1024", "cpus:1;mem:8192", "cpus:2;mem:512")
        ),
        (client("a"), client("a"), client("b")),
        steps=(("leave", 2),),
    ),
    # Names that do not count.
    "memory does not count for shares": Situation(
        tuple(
            f"{each};disk:10;ports:[31000-31003]" for each in ("cpus:8;mem:1024", "cpus:2;mem:8192", "cpus:2;mem:512")
        ),
        (client("a"), client("b")),
        flags={"fair_sharing_excluded_resource_names": "mem"},
    ),
}
"""On every release."""

WITH_LIMITS: dict[str, Situation] = {
    "a limit below an agent": of(4, "a", "b", limits={"a": ({}, {"cpus": 6})}),
    "a limit above the guarantee": of(4, "a", "b", limits={"a": (both(8), both(12))}),
    "a limit of nothing": of(3, "a", "b", limits={"a": ({}, {"cpus": 0})}),
    "limits of two roles": of(4, "a", "b", "c", limits={"a": (both(4), both(4)), "b": ({}, {"mem": 9 * GIB})}),
    "a limit and a guarantee of others": of(4, "a", "b", quotas={"q": both(10)}, limits={"a": ({}, both(10))}),
    "a limit and a role below": of(4, "a", "a/x", "b", limits={"a": ({}, both(10))}),
    "a limit and reservations": of(4, "a", "b", more=";cpus(a):2;mem(a):512", limits={"a": ({}, {"cpus": 12})}),
    "a limit that is set late": of(4, "a", "b", steps=[("limit", "a", {}, both(4))]),
    "a limit and GPUs": of(3, "a", "b", more=";gpus:1", gpus=[0], limits={"a": ({}, {"gpus": 2})}),
    "a limit and two frameworks": of(4, "a", "a", "b", limits={"a": ({"cpus": 4}, {"cpus": 10})}),
}
"""On releases that have limits."""


def of_release(release: str) -> dict[str, Situation]:
    """The situations of a release, by name."""
    return {**WITHOUT_LIMITS, **WITH_LIMITS} if release == "1.11.0" else dict(WITHOUT_LIMITS)
