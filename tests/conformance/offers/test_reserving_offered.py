"""Reserving what is offered, and offers of what is reserved: RV-21 to RV-23, RV-26 and RO-9."""

import pytest

from tests.conformance.callers.frameworks import amounts
from tests.conformance.callers.joining import joining, quick
from tests.conformance.callers.owning import owned, reserve, unreserve
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup

REST = "disk:100;ports:[31000-31009]"
LARGE = quick(f"cpus:12;mem:6144;{REST}")
SMALL = quick(f"cpus:1;mem:512;{REST}")
STATIC = quick(f"cpus:2;mem:1024;cpus(role):3;mem(role):2048;{REST}")
TWO_RESERVERS = quick(f"cpus:2;mem:1024;{REST}", flags={"authenticate_http_readwrite": "true"}, principals=("p1", "p2"))
FILTER = 5.0
"""Seconds for which a rescinded offer is not made again."""


def on(setup: Setup) -> pytest.MarkDecorator:
    """The test's cluster."""
    return pytest.mark.parametrize("master", [setup], indirect=True)


@pytest.fixture
def master(request: pytest.FixtureRequest, carrier: Carrier, pool: Pool) -> Cluster:
    return pool.lend(carrier, request.param)


@on(LARGE)
def test_the_rest_of_a_rescinded_offer_comes_after_the_default_filter(master: Cluster) -> None:
    with joining(master) as join:
        framework = join("role").subscribe()
        assert amounts(framework.offers()[0]["resources"])["cpus"] == 12.0
        began = master.subscribers.now()
        assert reserve(master, owned("web", cpus=2)) == 202
        framework.next("RESCIND")
        seen = amounts(framework.offers()[0]["resources"])
        assert master.subscribers.now() - began >= FILTER
        assert (seen["cpus"], seen["mem"], "cpus(web)" in seen) == (10.0, 6144.0, False)


@on(SMALL)
def test_reserved_while_free_and_undone_while_declined(master: Cluster) -> None:
    assert reserve(master, owned("role", cpus=1, mem=512)) == 202
    with joining(master) as join:
        framework = join("role").subscribe()
        offers = framework.offers()
        seen = amounts(offers[0]["resources"])
        assert (seen["cpus(role)"], seen["mem(role)"], "cpus" in seen) == (1.0, 512.0, False)
        framework.decline(offers, refuse=1000)
        assert unreserve(master, owned("role", cpus=1, mem=512)) == 202
        framework.ask("REVIVE")
        seen = amounts(framework.offers()[0]["resources"])
        assert (seen["cpus"], seen["mem"], "cpus(role)" in seen) == (1.0, 512.0, False)


@on(SMALL)
def test_what_is_undone_may_be_offered_to_another_role(master: Cluster) -> None:
    assert reserve(master, owned("role", cpus=1, mem=512)) == 202
    with joining(master) as join:
        other = join("other").subscribe()
        other.none_of("OFFERS")
        assert unreserve(master, owned("role", cpus=1, mem=512)) == 202
        seen = amounts(other.offers()[0]["resources"])
        assert (seen["cpus"], seen["mem"]) == (1.0, 512.0)


@on(SMALL)
def test_undone_while_offered(master: Cluster) -> None:
    assert reserve(master, owned("role", cpus=1, mem=512)) == 202
    with joining(master) as join:
        framework = join("role").subscribe()
        (offer,) = framework.offers()
        assert unreserve(master, owned("role", cpus=1, mem=512)) == 202
        assert framework.next("RESCIND")["rescind"]["offer_id"] == offer["id"]
        seen = amounts(framework.offers()[0]["resources"])
        assert (seen["cpus"], seen["mem"], "cpus(role)" in seen) == (1.0, 512.0, False)


@on(TWO_RESERVERS)
def test_two_principals_are_two_entries_of_one_offer(master: Cluster) -> None:
    for principal in ("p1", "p2"):
        assert reserve(master, owned("role", principal, cpus=1, mem=512), by=principal) == 202
    with joining(master) as join:
        framework = join("role").subscribe()
        (offer,) = framework.offers()
        found = sorted(
            (entry["name"], entry["scalar"]["value"], stack[0]["principal"])
            for entry in offer["resources"]
            if (stack := entry.get("reservations"))
        )
        assert found == [("cpus", 1.0, "p1"), ("cpus", 1.0, "p2"), ("mem", 512.0, "p1"), ("mem", 512.0, "p2")]
    # Only its reserver's own name undoes a reservation.
    for principal in ("p1", "p2"):
        assert unreserve(master, owned("role", principal, cpus=1, mem=512), by=principal) == 202


@on(STATIC)
def test_a_static_reservation_for_a_role_that_nothing_else_names(master: Cluster) -> None:
    with joining(master) as join:
        framework = join("role").subscribe()
        (offer,) = framework.offers()
        assert amounts(offer["resources"]) == {
            "cpus": 2.0,
            "mem": 1024.0,
            "disk": 100.0,
            "cpus(role)": 3.0,
            "mem(role)": 2048.0,
        }
