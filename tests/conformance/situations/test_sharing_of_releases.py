"""Shares of offers on 1.4.3 and 1.8.1, where a guarantee is a limit: each fake master beside a real one of its release.

A first framework holds everything while the others subscribe in their order and quotas are set; then it leaves.  The
agents of a situation are alike, so each framework is offered the same amounts on both masters, whatever their order.
"""

import json
from typing import Any, NamedTuple

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.holding import amounts, release, weigh
from tests.conformance.callers.joining import joining, quick
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.scenario import scalars
from tests.helpers.needs import needs

AGENT = "cpus:8;mem:8192;disk:100;ports:[31000-31003]"
WITH_GPUS = ("MULTI_ROLE", "RESERVATION_REFINEMENT", "GPU_RESOURCES")
GIB = 1024


class Situation(NamedTuple):
    """A cluster at the moment when the first framework leaves."""

    agents: int
    roles: list[str]
    """One framework each, in this order."""
    quotas: dict[str, dict[str, float]]
    more: str = ""
    """The resources of each agent beyond eight cpus and 8 GiB."""
    weights: dict[str, float] = {}  # noqa: RUF012  # nothing changes it
    suppressed: tuple[int, ...] = ()
    """The frameworks that suppress their role when they subscribe."""
    with_gpus: tuple[int, ...] = ()
    flags: dict[str, str] = {}  # noqa: RUF012
    declining: tuple[int, ...] = ()
    """The frameworks that then refuse for long what they are offered."""


def both(amount: float) -> dict[str, float]:
    """So many cpus and GiB."""
    return {"cpus": amount, "mem": amount * GIB}


SITUATIONS = {
    "a part of an agent": Situation(4, ["a", "b"], {"a": {"cpus": 3, "mem": GIB}}),
    "what is not named comes with it": Situation(4, ["a", "b"], {"a": {"cpus": 12}}),
    "the guarantee is a ceiling": Situation(8, ["a", "b", "c"], {"a": both(8)}),
    "two guarantees": Situation(8, ["a", "b", "c"], {"a": both(16), "b": both(24)}),
    "reservations count": Situation(4, ["a", "b"], {"a": {"cpus": 24, "mem": 20 * GIB}}, more=";cpus(a):4;mem(a):1024"),
    "more is reserved than guaranteed": Situation(4, ["a", "b"], {"a": {"cpus": 8}}, more=";cpus(a):4;mem(a):1024"),
    "roles below the guarantee": Situation(6, ["a/x", "a/y", "b"], {"a": both(24)}),
    "a role below beside the guarantee": Situation(6, ["a", "a/x", "b"], {"a": both(24)}),
    "reserved for a role below": Situation(
        4, ["a", "a/x", "b"], {"a": {"cpus": 24, "mem": 20 * GIB}}, more=";cpus(a/x):4;mem(a/x):1024"
    ),
    "suppressed from the start": Situation(6, ["a", "b", "c"], {}, suppressed=(0,)),
    "suppressed with a guarantee": Situation(
        4, ["a", "b", "c"], {"a": {"cpus": 30}}, more=";cpus(b):2;mem(b):512", suppressed=(0,)
    ),
    "half a cpu for nobody": Situation(4, ["a", "b"], {"c": {"cpus": 0.5}}),
    "all of the memory for nobody": Situation(4, ["a", "b"], {"c": {"mem": 32 * GIB}}, more=";cpus(b):1"),
    "different names": Situation(4, ["a", "b", "c"], {"a": {"cpus": 3}, "b": {"mem": 3000}}),
    "headroom bounds what is not named": Situation(4, ["a", "b", "c"], {"a": {"cpus": 3}, "q": both(9)}),
    "two frameworks in a role": Situation(4, ["a", "a", "b"], {"a": {"cpus": 20}}),
    "weights": Situation(6, ["b", "a", "c", "d"], {"a": both(8), "b": both(8)}, weights={"a": 2, "d": 3}),
    "a minimum of an offer": Situation(
        5, ["a", "b"], {"a": {"cpus": 12}}, flags={"min_allocatable_resources": "cpus:5"}
    ),
    "GPUs": Situation(3, ["a", "b"], {"a": {"cpus": 10}}, more=";gpus:1", with_gpus=(1,)),
    "a guarantee that is declined": Situation(4, ["a", "b", "c"], {"a": both(16)}, declining=(0,)),
    "shares that are declined": Situation(4, ["a", "b", "c"], {"a": both(16)}, declining=(1,)),
}


def shares(master: Cluster, situation: Situation) -> list[dict[str, float]]:
    """The amounts that each framework is offered in the end."""
    with joining(master) as join:
        first = join("z", capabilities=WITH_GPUS).subscribe()
        first.settle()
        frameworks: list[Framework] = []
        for number, role in enumerate(situation.roles):
            able: Any = {"capabilities": WITH_GPUS} if number in situation.with_gpus else {}
            more = {"suppressed_roles": [role]} if number in situation.suppressed else {}
            frameworks.append(join(role, **able).subscribe(**more))
        for role, guarantee in situation.quotas.items():
            body = json.dumps({"role": role, "guarantee": scalars(**guarantee), "force": True})
            assert master.request("POST", "/quota", content=body).status == 200
        if situation.weights:
            assert weigh(master, **situation.weights) == 200
        first.leave()
        first.id = None
        for number in situation.declining:
            release(frameworks[number], refuse=1000)
        for framework in frameworks:
            framework.settle()
        return [amounts(framework, "cpus", "mem", "gpus") for framework in frameworks]


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
@pytest.mark.parametrize(("real", "fake"), judged("1.4.3", "1.8.1"), ids=str)
@needs(*REAL.needs)
def test_each_release_shares_out_as_itself(pool: Pool, real: Carrier, fake: Carrier, situation: Situation) -> None:
    setup = quick(*[AGENT + situation.more] * situation.agents, flags=situation.flags)
    found = []
    for carrier in (real, fake):
        master = pool.start(carrier, setup)
        found.append(shares(master, situation))
        master.stop()
    assert found[1] == found[0]
