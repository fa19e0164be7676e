"""Agents: what reaches them, what they show themselves, and what survives a restart."""

import json
from urllib.parse import urlencode

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.services.agents.checkpointed_resources import DoesNotFit
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from mesosctl.model.errors import BadInput
from mesosctl.model.notation import parse_resources
from mesosctl.model.resource import Reservation
from tests.helpers.reserving import push

LARGE = "cpus:8;mem:4096;disk:2048"
OWNER = {"reservations": [{"type": "DYNAMIC", "role": "r"}]}


class Lab:
    def __init__(self, *agents: AgentSpec | str, registry=None) -> None:
        self.now = 1000.0
        self.master = ClusterSpec(agents=agents, mesos_version="1.11").start(registry, clock=lambda: self.now)
        self.application = Application(self.master)
        [self.agent] = self.master.state.agents.values()

    def ask(self, method, path, body=""):
        return self.application.handle(Request(method, path, {}, body.encode()))

    def post(self, path, **fields):
        texts = {name: json.dumps(value) for name, value in fields.items()}
        return self.ask("POST", path, urlencode({"slaveId": self.agent.id, **texts})).status

    def reserve(self, **amounts):
        entries = [
            {"name": name, "type": "SCALAR", "scalar": {"value": amount}, **OWNER} for name, amount in amounts.items()
        ]
        return self.post("/reserve", resources=entries)

    def of_the_agent(self):
        answer = self.ask("GET", "/slave(1)/state")
        assert answer.status == 200
        return json.loads(answer.body)

    def of_the_master(self):
        [entry] = json.loads(self.ask("GET", "/slaves").body)["slaves"]
        return entry


def test_an_agent_shows_what_it_was_told():
    lab = Lab(LARGE)
    assert lab.reserve(cpus=2, mem=512) == 202
    state, entry = lab.of_the_agent(), lab.of_the_master()
    for key in (
        "id pid hostname resources reserved_resources unreserved_resources reserved_resources_full "
        "unreserved_resources_full"
    ).split():
        assert state[key] == entry[key]
    assert state["reserved_resources"]["r"]["cpus"] == 2.0
    assert state["unreserved_resources_allocated"] == {"cpus": 0.0, "disk": 0.0, "gpus": 0.0, "mem": 0.0}


@pytest.mark.parametrize("path", ["/slave(2)/state", "/slave(1)", "/slave(1)/nothing", "/slave(x)/state"])
def test_other_paths_are_nobodys(path):
    assert Lab(LARGE).ask("GET", path).status == 404


def test_a_lost_message_is_never_shown_by_the_agent():
    lab = Lab(AgentSpec(LARGE, loses=1))
    assert lab.reserve(cpus=2) == 202
    assert "r" in lab.of_the_master()["reserved_resources"]
    assert lab.of_the_agent()["reserved_resources"] == {}


def test_a_late_message_is_shown_late():
    lab = Lab(AgentSpec(LARGE, delay=1.5))
    lab.reserve(cpus=2)
    lab.now += 1.4
    assert lab.of_the_agent()["reserved_resources"] == {}
    lab.now += 0.2
    assert lab.of_the_agent()["reserved_resources"]["r"]["cpus"] == 2.0


def test_an_agent_that_cannot_do_it_comes_back_with_what_it_has():
    lab = Lab(AgentSpec(LARGE, loses=1))
    lab.reserve(cpus=2)
    assert (
        lab.post("/unreserve", resources=[{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, **OWNER}]) == 202
    )
    assert lab.of_the_master()["reserved_resources"] == {}


def test_op_11_an_agent_with_less_than_it_promised_refuses_to_start():
    lab = Lab("cpus:8;mem:4096")
    lab.reserve(cpus=8, mem=2048)
    with pytest.raises(DoesNotFit), lab.master.transaction():
        lab.master.checkpointed_resources.restart(lab.agent, parse_resources("cpus:4;mem:2048"))
    assert lab.of_the_master()["active"] is False
    assert lab.ask("GET", "/slave(1)/state").status == 404


def test_op_12_an_agent_with_other_resources_starts_where_its_promises_fit():
    lab = Lab(LARGE)
    lab.reserve(cpus=8, mem=2048, disk=1024)
    info = {"persistence": {"id": "v"}, "volume": {"mode": "RW", "container_path": "data"}}
    volume = {"name": "disk", "type": "SCALAR", "scalar": {"value": 1024}, "disk": info, **OWNER}
    assert lab.post("/create-volumes", volumes=[volume]) == 202
    with lab.master.transaction():
        lab.master.checkpointed_resources.restart(lab.agent, parse_resources("cpus:12;mem:2048;disk:1024"))
    assert lab.of_the_master()["unreserved_resources"]["cpus"] == 4.0
    assert lab.of_the_agent()["reserved_resources"]["r"] == {"cpus": 8.0, "disk": 1024.0, "gpus": 0.0, "mem": 2048.0}


def test_what_an_agent_kept_outlives_the_master(tmp_path):
    first = Lab(AgentSpec(LARGE, "node"), registry=SqliteRegistry(tmp_path / "r.sqlite"))
    first.reserve(cpus=2)
    first.agent.faults.loses = 1
    first.reserve(mem=512)
    first.master.registry.close()
    second = Lab(AgentSpec(LARGE, "node"), registry=SqliteRegistry(tmp_path / "r.sqlite"))
    assert second.agent.total == parse_resources("cpus:6;mem:4096;disk:2048") + push(
        parse_resources("cpus:2"), Reservation("DYNAMIC", "r")
    )
    second.master.registry.close()


def test_a_cluster_file_with_less_than_was_promised_is_refused(tmp_path):
    first = Lab(AgentSpec(LARGE, "node"), registry=SqliteRegistry(tmp_path / "r.sqlite"))
    first.reserve(cpus=8)
    first.master.registry.close()
    registry = SqliteRegistry(tmp_path / "r.sqlite")
    with pytest.raises(BadInput, match="refuses to start"):
        Lab(AgentSpec("cpus:4;mem:4096", "node"), registry=registry)
    registry.close()
