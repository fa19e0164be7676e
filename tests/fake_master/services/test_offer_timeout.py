"""Offers and inverse offers that nobody answers end with --offer_timeout."""

from tests.helpers.lab import Lab, Scheduler

IMPATIENT = {"offer_timeout": "5secs"}
UNAVAILABLE = {"start": {"nanoseconds": 10**18}}


def test_an_offer_is_rescinded_at_its_timeout_and_made_again() -> None:
    lab = Lab(flags=IMPATIENT)
    framework = Scheduler(lab)
    (offer,) = framework.offers()
    lab.wait(3)
    assert framework.heard("RESCIND") == []
    lab.wait(2)
    assert framework.heard("RESCIND") == [{"offer_id": offer["id"]}]
    assert len(framework.offers()) == 1


def test_an_offer_that_was_answered_is_not_rescinded_at_its_timeout() -> None:
    """Of the offers of one event, only those that are still outstanding."""
    lab = Lab("cpus:1;mem:64", "cpus:2;mem:64", "cpus:3;mem:64", flags=IMPATIENT)
    framework = Scheduler(lab)
    accepted, declined, unanswered = framework.offers()
    framework.accept(accepted, "t")
    framework.ask("DECLINE", offer_ids=[declined["id"]], filters={"refuse_seconds": 10000})
    lab.wait(20)
    rescinded = framework.heard("RESCIND")
    assert {"offer_id": unanswered["id"]} in rescinded
    assert {"offer_id": declined["id"]} not in rescinded
    assert {"offer_id": accepted["id"]} not in rescinded
    assert lab.used() == 1.0


def test_a_framework_is_asked_again_when_an_inverse_offer_has_timed_out() -> None:
    lab = Lab(flags=IMPATIENT)
    framework = Scheduler(lab)
    framework.run("t")
    (agent,) = lab.agents
    machine = {"hostname": agent["hostname"], "ip": "127.0.0.1"}
    windows = [{"machine_ids": [machine], "unavailability": UNAVAILABLE}]
    assert lab.post("/maintenance/schedule", {"windows": windows}) == 200
    lab.wait(1.5)
    (first,) = framework.heard("INVERSE_OFFERS")
    lab.wait(6)
    (rescinded,) = framework.heard("RESCIND_INVERSE_OFFER")
    assert rescinded["inverse_offer_id"] == first["inverse_offers"][0]["id"]
    lab.wait(1.5)
    (second,) = framework.heard("INVERSE_OFFERS")
    assert second["inverse_offers"][0]["id"] != rescinded["inverse_offer_id"]
