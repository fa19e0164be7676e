"""Reserving what is offered: offers are taken back, and come again as a real master makes them."""

import pytest

from tests.helpers.lab.master import Lab
from tests.helpers.lab.scheduler import Scheduler
from tests.helpers.reserving import reserved_entries

OFFERED_AGAIN = 5.5
"""Seconds: the default filter of five, and until the next allocation."""


class Offers:
    """One agent, and a framework of the role "role" that answers no offer."""

    def __init__(self, agent: str) -> None:
        self.lab = Lab(agent, flags={"allocation_interval": "500ms"})

    def subscribe(self) -> None:
        self.framework = Scheduler(self.lab, name="role")

    def offered(self) -> dict[str, float]:
        """Scalars of the next offers: {"cpus": 10, "cpus(web)": 2}."""
        amounts: dict[str, float] = {}
        for event in self.framework.heard("OFFERS"):
            for offer in event["offers"]:
                for entry in offer["resources"]:
                    if entry["type"] == "SCALAR":
                        stack = entry.get("reservations")
                        name = f"{entry['name']}({stack[-1]['role']})" if stack else entry["name"]
                        amounts[name] = amounts.get(name, 0) + entry["scalar"]["value"]
        return amounts

    def rescinded(self) -> int:
        """How many offers were taken back since it was last asked."""
        return len(self.framework.heard("RESCIND"))

    def post(self, path: str, role: str, **amounts: float) -> int:
        return self.lab.post_form(path, resources=reserved_entries(role, **amounts))


@pytest.fixture
def offers() -> Offers:
    """All of the agent is offered."""
    offers = Offers("cpus:12;mem:6144")
    offers.subscribe()
    offers.lab.wait(1)
    assert offers.offered() == {"cpus": 12, "mem": 6144}
    return offers


def test_the_rest_comes_again_after_the_default_filter(offers: Offers) -> None:
    assert offers.post("/reserve", "web", cpus=2) == 202
    assert offers.rescinded() == 1
    offers.lab.wait(2)
    assert offers.offered() == {}
    offers.lab.wait(OFFERED_AGAIN - 2)
    assert offers.offered() == {"cpus": 10, "mem": 6144}


def test_an_offer_is_taken_back_even_where_the_answer_is_409(offers: Offers) -> None:
    assert offers.post("/reserve", "web", cpus=100) == 409
    assert offers.rescinded() == 1
    offers.lab.wait(OFFERED_AGAIN)
    assert offers.offered() == {"cpus": 12, "mem": 6144}


def test_what_the_operation_does_not_need_stays_offered(offers: Offers) -> None:
    assert offers.post("/unreserve", "web", cpus=1) == 409
    assert offers.rescinded() == 0


def test_what_is_unreserved_comes_at_once_as_the_filter_is_for_less(offers: Offers) -> None:
    assert offers.post("/reserve", "role", cpus=1, mem=512) == 202
    assert offers.rescinded() == 1
    offers.lab.wait(1)
    assert offers.offered() == {"cpus": 11, "mem": 5632, "cpus(role)": 1, "mem(role)": 512}
    offers.lab.wait(OFFERED_AGAIN)  # until the filter of the first offer, for all of the agent, is over
    assert offers.post("/unreserve", "role", cpus=1, mem=512) == 202
    assert offers.rescinded() == 1
    offers.lab.wait(1)
    assert offers.offered() == {"cpus": 12, "mem": 6144}


def test_a_reservation_made_before_anybody_came_is_offered_to_its_role() -> None:
    offers = Offers("cpus:2;mem:1024")
    assert offers.post("/reserve", "role", cpus=1) == 202
    assert offers.post("/reserve", "other", cpus=1) == 202
    offers.subscribe()
    offers.lab.wait(1)
    assert offers.offered() == {"cpus(role)": 1, "mem": 1024}


def test_reservations_of_two_principals_are_two_entries_of_one_offer() -> None:
    offers = Offers("cpus:2;mem:1024")
    for principal in ("p1", "p2"):
        assert offers.lab.post_form("/reserve", resources=reserved_entries("role", principal, cpus=1)) == 202
    offers.subscribe()
    offers.lab.wait(1)
    [event] = offers.framework.heard("OFFERS")
    [offer] = event["offers"]
    owners = [entry["reservations"][0]["principal"] for entry in offer["resources"] if entry["name"] == "cpus"]
    assert sorted(owners) == ["p1", "p2"]
