"""Refined reservations that frameworks make and undo with what they are offered."""

from typing import Any

from tests.conformance.callers.frameworks import amounts
from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned, reserve
from tests.conformance.scenarios.scenario import scalars

ONE = quick("cpus:12;mem:6144;disk:100;ports:[31000-31009]")
ABOVE = {"type": "DYNAMIC", "role": "engineering", "principal": "q"}
REST = {"cpus(engineering)": 4.0, "mem(engineering)": 2048.0}
WHOLE = {"cpus(engineering)": 12.0, "mem(engineering)": 6144.0}


def stack(role: str = "engineering/backend", **more: str) -> list[dict[str, str]]:
    return [ABOVE, {"type": "DYNAMIC", "role": role, **more}]


def operation(kind: str, reservations: list[dict[str, str]]) -> dict[str, Any]:
    resources = [entry | {"reservations": reservations} for entry in scalars(cpus=8, mem=4096)]
    return {"type": kind, kind.lower(): {"resources": resources}}


def held(offer: dict[str, Any]) -> dict[str, float]:
    """Cpus and memory of an offer, by owner."""
    return {name: held for name, held in amounts(offer["resources"]).items() if name.startswith(("cpus", "mem"))}


def test_a_refinement_is_pushed_and_popped_within_offers(start: Any) -> None:
    with start(ONE) as (master, join):
        assert reserve(master, owned("engineering", "q", cpus=12, mem=6144)) == 202
        backend = join("engineering/backend", principal="p").subscribe()
        (offer,) = backend.offers()
        # The role is the offer's, and the principal the framework's.
        for wrong in (stack(principal="q"), stack(), stack("engineering/frontend", principal="p")):
            assert held(offer) == WHOLE
            backend.accept([offer], operation("RESERVE", wrong))
            (offer,) = backend.offers()
        assert held(offer) == WHOLE
        mine = stack(principal="p")
        backend.accept([offer], operation("RESERVE", mine))
        (offer,) = backend.offers()
        assert held(offer) == {"cpus(engineering/backend)": 8.0, "mem(engineering/backend)": 4096.0, **REST}
        refined = [entry for entry in offer["resources"] if len(entry.get("reservations", ())) > 1]
        assert [entry["reservations"] for entry in refined] == [mine, mine]

        backend.accept([offer], operation("UNRESERVE", mine))
        (offer,) = backend.offers()
        assert held(offer) == WHOLE
        backend.ask("SUPPRESS")
        backend.decline([offer], refuse=1000)
        for role in ("engineering", "engineering/frontend"):
            other = join(role).subscribe()
            (offer,) = other.offers()
            assert held(offer) == WHOLE
            other.leave()


def test_no_master_asks_for_the_capability_where_a_refinement_is_made(start: Any) -> None:
    """The document asks for it; Mesos 1.11.0 does not, but it offers the refinement to nobody without it."""
    with start(ONE) as (master, join):
        assert reserve(master, owned("engineering", "q", cpus=12, mem=6144)) == 202
        old = join("engineering/backend", principal="p", capabilities=("MULTI_ROLE",)).subscribe()
        old.accept(old.offers(), operation("RESERVE", stack(principal="p")))
        (offer,) = old.offers()
        assert held(offer) == REST
        (agent,) = master.agents()
        assert set(agent["reserved_resources_full"]) == {"engineering", "engineering/backend"}
