"""Reserving what is offered: offers are taken back, and come again as a real master makes them (RV-21 to RV-26)."""

import json
from urllib.parse import urlencode

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.streams import EventStream
from mesosctl.api.protobuf_json import recordio

OFFERED_AGAIN = 5.5
"""Seconds: the default filter of five, and until the next allocation."""


class Lab:
    """One agent, one framework of the role "role", and a clock that only moves when told to."""

    def __init__(self, agent: str) -> None:
        self.now = 1000.0
        flags = {"allocation_interval": "500ms"}
        self.master = ClusterSpec((agent,), "1.11", flags).start(clock=lambda: self.now)
        self.application = Application(self.master)
        [self.agent_id] = self.master.state.agents
        self.stream: EventStream | None = None

    def subscribe(self):
        capabilities = [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}]
        info = {"user": "u", "name": "f", "roles": ["role"], "capabilities": capabilities}
        body = json.dumps({"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})
        headers = {"content-type": "application/json", "accept": "application/json"}
        answer = self.application.handle(Request("POST", "/api/v1/scheduler", headers, body.encode()))
        self.stream = answer.stream

    def events(self, *kinds: str):
        """What has arrived since the last look."""
        assert self.stream is not None
        found = [json.loads(record) for record in recordio.decode(self.stream.take())]
        return [event for event in found if event["type"] in kinds]

    def offered(self):
        """Scalars of the next offers: {"cpus": 10, "cpus(web)": 2}."""
        amounts: dict[str, float] = {}
        for event in self.events("OFFERS"):
            for offer in event["offers"]["offers"]:
                for entry in offer["resources"]:
                    if entry["type"] == "SCALAR":
                        stack = entry.get("reservations")
                        name = f"{entry['name']}({stack[-1]['role']})" if stack else entry["name"]
                        amounts[name] = amounts.get(name, 0) + entry["scalar"]["value"]
        return amounts

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.application.tick()

    def post(self, path: str, role: str, **amounts: float) -> int:
        owner = {"reservations": [{"type": "DYNAMIC", "role": role}]}
        entries = [{"name": n, "type": "SCALAR", "scalar": {"value": v}, **owner} for n, v in amounts.items()]
        body = urlencode({"slaveId": self.agent_id, "resources": json.dumps(entries)})
        return self.application.handle(Request("POST", path, {}, body.encode())).status


@pytest.fixture
def lab():
    """All of the agent is offered."""
    lab = Lab("cpus:12;mem:6144")
    lab.subscribe()
    lab.wait(1)
    assert lab.offered() == {"cpus": 12, "mem": 6144}
    return lab


def test_rv_21_the_rest_comes_again_after_the_default_filter(lab):
    assert lab.post("/reserve", "web", cpus=2) == 202
    assert len(lab.events("RESCIND")) == 1
    lab.wait(2)
    assert lab.offered() == {}
    lab.wait(OFFERED_AGAIN - 2)
    assert lab.offered() == {"cpus": 10, "mem": 6144}


def test_an_offer_is_taken_back_even_where_the_answer_is_409(lab):
    assert lab.post("/reserve", "web", cpus=100) == 409
    assert len(lab.events("RESCIND")) == 1
    lab.wait(OFFERED_AGAIN)
    assert lab.offered() == {"cpus": 12, "mem": 6144}


def test_what_the_operation_does_not_need_stays_offered(lab):
    assert lab.post("/unreserve", "web", cpus=1) == 409
    assert lab.events("RESCIND") == []


def test_rv_23_what_is_unreserved_comes_at_once_as_the_filter_is_for_less(lab):
    assert lab.post("/reserve", "role", cpus=1, mem=512) == 202
    lab.wait(1)
    assert lab.offered() == {"cpus": 11, "mem": 5632, "cpus(role)": 1, "mem(role)": 512}
    lab.wait(OFFERED_AGAIN)  # until the filter of the first offer, for all of the agent, is over
    assert lab.post("/unreserve", "role", cpus=1, mem=512) == 202
    assert len(lab.events("RESCIND")) == 1
    lab.wait(1)
    assert lab.offered() == {"cpus": 12, "mem": 6144}


def test_rv_22_a_reservation_made_before_anybody_came_is_offered_to_its_role():
    lab = Lab("cpus:2;mem:1024")
    assert lab.post("/reserve", "role", cpus=1) == 202
    assert lab.post("/reserve", "other", cpus=1) == 202
    lab.subscribe()
    lab.wait(1)
    assert lab.offered() == {"cpus(role)": 1, "mem": 1024}


def test_rv_26_reservations_of_two_principals_are_two_entries_of_one_offer():
    lab = Lab("cpus:2;mem:1024")
    for principal in ("p1", "p2"):
        owner = {"reservations": [{"type": "DYNAMIC", "role": "role", "principal": principal}]}
        entry = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, **owner}
        body = urlencode({"slaveId": lab.agent_id, "resources": json.dumps([entry])})
        assert lab.application.handle(Request("POST", "/reserve", {}, body.encode())).status == 202
    lab.subscribe()
    lab.wait(1)
    [event] = lab.events("OFFERS")
    [offer] = event["offers"]["offers"]
    owners = [entry["reservations"][0]["principal"] for entry in offer["resources"] if entry["name"] == "cpus"]
    assert sorted(owners) == ["p1", "p2"]
