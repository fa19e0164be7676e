"""The changes that are forecast from a live master of each release, and then made there; most depend on quota.

The agents of a round are alike, and no two frameworks are equally far from their shares where only one can be served:
how often each was served before decides then, which no master shows.
"""

from typing import NamedTuple

from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned
from tests.conformance.forecasts.forecast_cases import reserve, sets_quota, weighs
from tests.conformance.forecasts.forecasting import FILTERED, Case, Preparation, all_share, asks, joins
from tests.conformance.masters.cluster import Setup
from tests.conformance.scenarios.scenario import delete, form, post_quota

BARE = "cpus:8;mem:8192;disk:1000"
AGENT = f"{BARE};ports:[31000-31009]"
GIB = 1024
TEARDOWN = form("/teardown", frameworkId="@F1")


def both(amount: float) -> dict[str, float]:
    """So many cpus and GiB."""
    return {"cpus": amount, "mem": amount * GIB}


def alike(agents: int, more: str = "") -> Setup:
    """So many agents of eight cpus and 8 GiB."""
    return quick(*[AGENT + more] * agents)


def quota(role: str, **amounts: float) -> Preparation:
    """An operator has set a guarantee."""
    return asks(post_quota(role, force=True, **amounts))


def first_leaves(setup: Setup, roles: list[str], **quotas: dict[str, float]) -> Case:
    """The first framework holds everything while others subscribe and quotas are set; then it leaves."""
    guarantees = [quota(role, **amounts) for role, amounts in quotas.items()]
    prepared = (joins("z"), *map(joins, roles), *guarantees)
    return Case(setup, prepared, "whatif --lose-framework @F1", TEARDOWN, 200)


ROUNDS = {
    "a part of an agent": first_leaves(alike(4), ["a", "b"], a={"cpus": 3, "mem": GIB}),
    "what is not named comes with it": first_leaves(alike(4), ["a", "b"], a={"cpus": 12}),
    "a ceiling": first_leaves(alike(8), ["a", "b", "c"], a=both(8)),
    "two ceilings": first_leaves(alike(8), ["a", "b", "c"], a=both(16), b=both(24)),
    "reservations count": first_leaves(alike(4, ";cpus(a):4;mem(a):1024"), ["a", "b"], a={"cpus": 24, "mem": 20 * GIB}),
    "roles below the guarantee": first_leaves(alike(6), ["a/x", "a/y", "b"], a=both(24)),
    "kept for nobody": first_leaves(alike(4), ["b", "c"], a=both(16)),
    "no quota": first_leaves(alike(6), ["a", "b", "c"]),
    "quota for a part of an agent": sets_quota(alike(4), (joins("b"), joins("a")), "a", cpus=3, mem=GIB),
    "quota for whoever holds all": sets_quota(alike(4), (joins("a"), joins("b")), "a", cpus=12, mem=12 * GIB),
    "a ceiling removed": Case(
        alike(4), (quota("a", **both(12)), joins("a")), "quota remove a", delete("/quota/a"), 200
    ),
    "what was kept for nobody is free": Case(
        alike(4), (quota("q", **both(12)), joins("b")), "quota remove q", delete("/quota/q"), 200
    ),
    "a heavier role beside a ceiling": weighs(
        alike(6), (quota("a", **both(8)), joins("z"), joins("a"), joins("b"), joins("c"), all_share), "c", 3
    ),
    "reserved for a role beyond its guarantee": Case(
        alike(1),
        (quota("a", **both(2)), joins("b")),
        "reserve @A1 cpus:4 mem:4096 --role a",
        reserve(owned("a", cpus=4, mem=4096)),
        202,
        waits=FILTERED,
    ),
    "unreserved under a ceiling": Case(
        alike(2),
        (asks(reserve(owned("a", cpus=4, mem=4096))), quota("a", **both(6)), joins("a"), joins("b")),
        "unreserve @A1 cpus:4 mem:4096 --role a",
        form("/unreserve", slaveId="@A1", resources=owned("a", cpus=4, mem=4096)),
        202,
        waits=FILTERED,
    ),
}


class Departure(NamedTuple):
    """A cluster of four agents, one of which can be disconnected and leaves; and whether the first framework leaves."""

    disconnected: bool
    """Whether it is disconnected, after `before` and before `after`."""
    before: tuple[Preparation, ...]
    after: tuple[Preparation, ...]
    leaves: bool = True
    """Whether the agent leaves."""
    framework_leaves: bool = False
    more: str = ""
    """The resources that the agent has reserved."""


DEPARTURES = {
    "while something is kept for nobody": Departure(False, (quota("q", **both(8)), joins("a"), joins("b")), ()),
    "of a role with a ceiling": Departure(False, (quota("a", **both(20)), joins("a"), joins("b")), ()),
    "disconnected before": Departure(True, (joins("z"),), (quota("q", **both(10)), joins("a"), all_share)),
    "not at all: what is disconnected counts": Departure(
        True, (joins("z"), quota("q", **both(16))), (joins("a"), joins("b")), leaves=False, framework_leaves=True
    ),
    "with the framework that held the rest": Departure(
        True, (joins("z"), quota("q", **both(16))), (joins("a"), joins("b")), framework_leaves=True
    ),
    "with what was reserved there": Departure(
        True,
        (joins("z"), quota("q", **both(16))),
        (joins("a"), joins("b")),
        framework_leaves=True,
        more=";cpus(q):8;mem(q):8192",
    ),
}
