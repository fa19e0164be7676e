"""The reports of an agent's resource estimator to a master that does not lend, as in Mesos 1.11."""

import socket
import struct
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conformance.callers.driver import field, varint
from tests.conformance.callers.frameworks import Framework, amounts
from tests.conformance.callers.joining import Join, quick
from tests.conformance.callers.subscribers import Event
from tests.conformance.callers.tasks import launch_on
from tests.conformance.forecasts.snapshots import again, comparable, snapshot_of
from tests.conformance.masters.carriers import Carrier, skip_before
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
TENANT = ("MULTI_ROLE", "RESERVATION_REFINEMENT", "REVOCABLE_RESOURCES")


class Estimator:
    """Reports for the only agent: by its own message to a real master, by hand to a fake one."""

    def __init__(self, carrier: Carrier, master: Cluster) -> None:
        self._is_real = carrier.name == "real"
        self._master = master

    def report(self, cpus: float) -> None:
        if self._is_real:
            self._send(cpus)
            return
        body = f"cpus:{cpus}" if cpus else ""
        assert self._master.request("POST", "/slave(1)/oversubscribed", content=body).status == 200

    def _send(self, cpus: float) -> None:
        (agent,) = self._master.agents()
        scalar = varint(1 << 3 | 1) + struct.pack("<d", cpus)
        resource = field(1, "cpus") + field(2, 0) + field(3, scalar) + field(9, b"")
        body = field(1, field(1, agent["id"])) + (field(2, resource) if cpus else b"") + field(5, 1)
        where = urlsplit(self._master.address)
        head = (
            f"POST /master/mesos.internal.UpdateSlaveMessage HTTP/1.1\r\nHost: {where.netloc}\r\n"
            f"Libprocess-From: {agent['pid']}\r\nConnection: Keep-Alive\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", where.port)) as connection:
            connection.sendall(head.encode() + body)

            def arrived() -> bool:
                return self.shown()["resources"].get("cpus_revocable", 0.0) == cpus

            assert self._master.subscribers.wait(arrived), self.shown()

    def shown(self) -> Any:
        return self._master.agents()[0]


@pytest.fixture
def estimator(carrier: Carrier, master: Cluster) -> Iterator[Estimator]:
    made = Estimator(carrier, master)
    yield made
    made.report(0.0)


def revocable(offer: Event) -> list[tuple[str, float, Event]]:
    return [(e["name"], e["scalar"]["value"], e["revocable"]) for e in offer["resources"] if "revocable" in e]


def one_offer(framework: Framework) -> Event:
    (offer,) = framework.offers()
    return offer


def test_one_mixed_offer_with_an_empty_marker(join: Join, estimator: Estimator) -> None:
    estimator.report(2.0)
    offer = one_offer(join("a", capabilities=TENANT).subscribe())
    assert revocable(offer) == [("cpus", 2.0, {})]
    assert amounts(offer["resources"])["cpus"] == 6.0


def test_another_report_rescinds_the_whole_offer(carrier: Carrier, join: Join, estimator: Estimator) -> None:
    estimator.report(2.0)
    framework = join("a", capabilities=TENANT).subscribe()
    offer = one_offer(framework)
    estimator.report(1.0)
    assert framework.next("RESCIND")["rescind"]["offer_id"] == offer["id"]
    assert revocable(one_offer(framework)) == [("cpus", 1.0, {})]
    estimator.report(1.0)
    if carrier.profile.same_slack_ends_offers:
        framework.next("RESCIND")
        assert revocable(one_offer(framework)) == [("cpus", 1.0, {})]
    else:
        framework.none_of("RESCIND")
    estimator.report(0.0)
    framework.next("RESCIND")
    assert amounts(one_offer(framework)["resources"])["cpus"] == 4.0


def test_a_framework_that_cannot_have_it_is_left_alone(join: Join, estimator: Estimator) -> None:
    estimator.report(2.0)
    framework = join("a").subscribe()
    assert revocable(one_offer(framework)) == []
    estimator.report(1.0)
    framework.none_of("RESCIND")


def test_how_an_agent_shows_it(estimator: Estimator) -> None:
    assert "cpus_revocable" not in estimator.shown()["resources"]
    estimator.report(2.0)
    agent = estimator.shown()
    assert (agent["resources"]["cpus"], agent["resources"]["cpus_revocable"]) == (4.0, 2.0)
    assert agent["unreserved_resources"]["cpus_revocable"] == 2.0
    entries = [entry for entry in agent["unreserved_resources_full"] if "revocable" in entry]
    assert entries == [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 2.0}, "role": "*", "revocable": {}}]
    assert "allocation_slack" not in agent


def test_a_task_may_not_mix_them(join: Join, estimator: Estimator) -> None:
    estimator.report(2.0)
    framework = join("a", capabilities=TENANT).subscribe()
    offer = one_offer(framework)
    both = [{**entry, "scalar": {"value": 1.0}} for entry in offer["resources"] if entry["name"] == "cpus"]
    assert len(both) == 2
    task = {
        "name": "t",
        "task_id": {"value": "t"},
        "agent_id": offer["agent_id"],
        "command": {"value": "true"},
        "resources": both,
    }
    framework.accept([offer], {"type": "LAUNCH", "launch": {"task_infos": [task]}})
    status = framework.next("UPDATE")["update"]["status"]
    assert (status["state"], status["reason"]) == ("TASK_ERROR", "REASON_TASK_INVALID")


def test_what_is_used_of_it_counts_as_consumed(
    carrier: Carrier, master: Cluster, join: Join, estimator: Estimator
) -> None:
    skip_before("1.9.0", carrier, "no answer says what a role consumes")
    if carrier.name == "real":
        pytest.skip("the agents of a real master in one process start no tasks")
    estimator.report(2.0)
    framework = join("a", capabilities=TENANT).subscribe()
    offer = one_offer(framework)
    resources = [entry for entry in offer["resources"] if "revocable" in entry]
    framework.accept([offer], launch_on(offer, resources), refuse=1000)
    framework.next("UPDATE")
    (role,) = master.read("/roles")["roles"]
    assert role["quota"]["consumed"] == role["allocated"] == {"cpus": 2.0}


def test_a_snapshot_has_it(master: Cluster, join: Join, estimator: Estimator) -> None:
    estimator.report(2.0)
    join("a", capabilities=TENANT).subscribe().offers()
    snapshot = snapshot_of(master)
    assert snapshot.lending is None
    assert snapshot.agents[0].total.revocable().quantities().get_amount("cpus") == 2000
    assert [offer.resources.revocable().quantities().get_amount("cpus") for offer in snapshot.offers] == [2000]
    assert any(sentence.startswith("further oversubscription") for sentence in snapshot.unknown)
    assert comparable(again(snapshot)[0]) == comparable(snapshot)
