"""`FakeMaster`: what a test of another program can do with it, in process."""

import asyncio
import json
import subprocess
import sys
import threading
from typing import Literal

import httpx
import pytest

from fake_master import FakeMaster, FrameworkConfig, QuotaConfig
from fake_master.testing import DEFAULT_AGENT
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import BadInput, Conflict, NotFound, RuleViolation
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.snapshot.work import read_snapshot
from tests import ROOT
from tests.fake_master.testing.clients import PATH, Calling, records, subscription

AGENT = "cpus:4;mem:2048"
BASE = "http://any-host:5050"


def client(master: FakeMaster) -> httpx.Client:
    return httpx.Client(transport=master.transport, base_url=BASE)


# --- The cluster --------------------------------------------------------------------------------------


def test_agents_as_texts_and_as_tables():
    with FakeMaster(
        [AGENT, {"resources": "cpus:1;cpus(ads):2", "hostname": "b", "attributes": {"rack": "r"}}]
    ) as master:
        first, second = master.agents
    assert (first.hostname, first.resources, first.active) == ("agent-1", {"cpus": 4.0, "mem": 2048.0}, True)
    assert (second.hostname, second.resources, second.attributes) == ("b", {"cpus": 3.0}, {"rack": "r"})
    assert second.reserved == {"ads": {"cpus": 2.0}}


def test_a_number_of_agents():
    """Each of the default size, which the docstring names."""
    with FakeMaster(agents=200) as master:
        sizes = {tuple(agent.resources[name] for name in ("cpus", "mem", "disk")) for agent in master.agents}
        assert (len(master.agents), master.agents[199].hostname) == (200, "agent-200")
    assert sizes == {(4.0, 8192.0, 10240.0)}
    assert DEFAULT_AGENT in (FakeMaster.__doc__ or "")


@pytest.mark.parametrize(
    "arguments",
    [
        {"agents": True},
        {"agents": 1.5},
        {"agents": None},
        {"agents": {"resources": AGENT}},
        {"agents": [4]},
        {"agents": [AGENT], "frameworks": {"role": "web"}},
        {"agents": [AGENT], "frameworks": "web"},
        {"agents": [AGENT], "quotas": ["web"]},
        {"agents": [AGENT], "flags": "roles=web"},
        {"agents": [AGENT], "tasks": "10s"},
    ],
    ids=str,
)
def test_an_argument_of_another_type(arguments):
    name = list(arguments)[-1]
    with pytest.raises(TypeError, match=rf"^{name}(\[0\])? is .*(should be|give|write)"):
        FakeMaster(**arguments)


def test_fewer_agents_than_none():
    with pytest.raises(BadInput, match="cannot be below zero"):
        FakeMaster(agents=-1)


@pytest.mark.process
@pytest.mark.parametrize(
    ("use", "more"),
    [
        ("master.settle()", set()),
        ("master.transport", {"httpx"}),
        ("master.url", {"aiohttp"}),
    ],
)
def test_it_loads_only_what_is_asked_for(use, more):
    """In other people's tests: no command line, and no server or client without need."""
    program = (
        "import sys\nfrom fake_master import FakeMaster\n"
        f"with FakeMaster(1, quotas={{'web': 'cpus:1'}}) as master:\n    {use}\n"
        "    print(*{name.partition('.')[0] for name in sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(ran.stdout.split())
    with_httpx = {"click", "rich", "pygments"} if "httpx" in more else set()  # httpx loads its own command line
    assert loaded & {"typer", "click", "rich", "pygments", "httpx", "aiohttp", "yaml", "tomlkit", "kazoo"} == (
        more & {"httpx", "aiohttp"} | with_httpx
    )


@pytest.mark.parametrize(("version", "shown"), [(None, "1.11.0"), ("documents", "1.4.0")])
def test_the_version(version, shown):
    with FakeMaster([AGENT], version=version) as master:
        assert client(master).get("/version").json()["version"] == shown


def test_flags_of_any_type():
    flags: dict[str, str | float | bool] = {
        "roles": "web",
        "authenticate_http_readonly": False,
        "max_completed_frameworks": 3,
    }
    with FakeMaster([AGENT], flags=flags) as master:
        shown = client(master).get("/flags").json()["flags"]
    assert (shown["roles"], shown["authenticate_http_readonly"], shown["max_completed_frameworks"]) == (
        "web",
        "false",
        "3",
    )


@pytest.mark.parametrize("version", ["documents", "1.11"])
def test_a_quota_as_text_is_a_guarantee_and_no_limit(version):
    with FakeMaster([AGENT], version=version, quotas={"web": "cpus:2"}) as master:
        role = master.roles["web"]
    assert (role.guarantees, role.limits) == ({"cpus": 2.0}, {})


def test_a_quota_with_limits_of_its_own_survives_a_failover():
    quotas: dict[str, str | QuotaConfig] = {
        "web": {"guarantee": "cpus:1", "limit": "cpus:3;mem:0"},
        "ads": {"guarantees": "cpus:1", "limits": "cpus:2"},
        "dev": {"limit": "cpus:1"},
    }
    with FakeMaster([AGENT], quotas=quotas) as master:
        assert (master.roles["ads"].guarantees, master.roles["ads"].limits) == ({"cpus": 1.0}, {"cpus": 2.0})
        assert (master.roles["dev"].guarantees, master.roles["dev"].limits) == ({}, {"cpus": 1.0})
        master.fail_over()
        role = master.roles["web"]
    assert (role.guarantees, role.limits) == ({"cpus": 1.0}, {"cpus": 3.0, "mem": 0.0})


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"agents": "cpus:4"}, BadInput, "should be a list"),
        ({"quotas": {"web": {"limit": "cpus:1", "limits": "cpus:2"}}}, BadInput, "web: a part is given twice"),
        ({"agents": ["cpus"]}, BadInput, "agent agent-1"),
        ({"agents": [{"cpus": 4}]}, BadInput, r"agents\[0\].cpus: there is no such key"),
        ({"agents": [AGENT, {"resources": AGENT, "hostname": "agent-1"}]}, BadInput, "two agents are called agent-1"),
        ({"version": "2.0"}, BadInput, "nor a release of Mesos from 1.4 to 1.11"),
        ({"flags": {"allocator": "none"}}, BadInput, "hierarchical"),
        ({"frameworks": [{"name": "f"}]}, BadInput, "has no task"),
        ({"agents": [AGENT], "quotas": {"web": "cpus:5"}}, Conflict, "cpus"),
        ({"agents": [AGENT], "quotas": {"web": {"cap": "cpus:5"}}}, BadInput, "'cap' is not a key here"),
        ({"agents": [AGENT], "quotas": {"a/b": "cpus:1"}}, RuleViolation, "a/b"),
        ({"cluster": "/nowhere.toml"}, BadInput, "cannot be read"),
    ],
)
def test_a_cluster_that_cannot_be(options, error, told):
    with pytest.raises(error, match=told):
        FakeMaster(**options)


def test_a_cluster_file_and_more_beside_it(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(
        'mesos_version = "documents"\n[[agents]]\nresources = "cpus:1"\n[flags]\nroles = "a"\n', encoding="utf-8"
    )
    with FakeMaster([AGENT], cluster=file, flags={"offer_timeout": "9secs"}) as master:
        assert [agent.hostname for agent in master.agents] == ["agent-1", "agent-2"]
        asked = client(master)
        flags = asked.get("/flags").json()["flags"]
        assert (flags["roles"], flags["offer_timeout"]) == ("a", "9secs")
        assert asked.get("/version").json()["version"] == "1.4.0"


def test_a_snapshot(tmp_path):
    example = ROOT / "fake_master" / "sources" / "example_cluster.toml"
    file = tmp_path / "s.json"
    with FakeMaster(cluster=example) as taken:
        taken.settle()
        read = read_snapshot(LeadingMaster(parse_address(BASE), transport=taken.transport))
        file.write_text("".join(snapshot_api.lines(read)), encoding="utf-8")
        agents = taken.agents
    with FakeMaster(cluster=file) as master:
        assert {agent.hostname: agent.resources for agent in master.agents} == {
            agent.hostname: agent.resources for agent in agents
        }
        with pytest.raises(BadInput, match="its own agents"):
            master.add(AGENT)
    with pytest.raises(BadInput, match="its own agents"):
        FakeMaster([AGENT], cluster=file)


# --- Time ---------------------------------------------------------------------------------------------


def test_time_passes_only_when_it_is_told_to():
    with FakeMaster([AGENT], flags={"allocation_interval": "1mins"}) as master:
        before = master.now
        assert master.now == before
        master.advance(90)
        assert master.now == before + 90
        with pytest.raises(ValueError, match="-1"):
            master.advance(-1)


def test_real_time_can_be_hastened():
    with FakeMaster([AGENT], real_time=True) as master:
        before = master.now
        master.advance(3600)
        assert 3600 <= master.now - before < 3700


def test_settle_waits_for_what_is_named_and_says_when_it_never_comes():
    with FakeMaster([AGENT]) as master:
        start = master.now
        master.settle(lambda: master.now >= start + 20)
        assert master.now == start + 20
        with pytest.raises(TimeoutError, match="the condition was not met: frameworks: none; tasks: none"):
            master.settle(lambda: False, timeout=0.05)


@pytest.mark.parametrize("answer", ["accept", "decline", "hold"])
def test_settled_means_that_declined_offers_were_made_again(answer: Literal["accept", "decline", "hold"]):
    frameworks: list[FrameworkConfig] = [{"name": "f", "answer": answer, "task": "cpus:1", "tasks": 2}]
    with FakeMaster([AGENT], frameworks=frameworks) as master:
        master.settle()
        assert len(master.tasks) == (2 if answer == "accept" else 0)
        assert len(master.offers) == (1 if answer == "hold" else 0)


# --- What is shown ------------------------------------------------------------------------------------


def test_everything_about_a_task():
    frameworks: list[FrameworkConfig] = [
        {"name": "f", "roles": ["web"], "task": "cpus:1;mem:100", "tasks": 1, "principal": "p"}
    ]
    with FakeMaster([AGENT], frameworks=frameworks) as master:
        master.settle()
        (task,), (framework,), (agent,) = master.tasks, master.frameworks, master.agents
        role = master.roles["web"]
    assert (task.state, task.role, task.framework, task.agent) == ("TASK_RUNNING", "web", "f", "agent-1")
    assert task.resources == framework.used == agent.used == role.allocated == {"cpus": 1.0, "mem": 100.0}
    assert (framework.roles, framework.principal, framework.connected) == (("web",), "p", True)
    assert role.frameworks == ("f",)


def test_everything_about_an_offer():
    with FakeMaster(["cpus:4;ports:[1-10]"], frameworks=[{"name": "f", "answer": "hold"}]) as master:
        master.settle()
        (offer,) = master.offers
        assert (offer.framework, offer.role, offer.agent) == ("f", "f", "agent-1")
        assert offer.resources == master.roles["f"].offered == {"cpus": 4.0, "ports": 10.0}


def test_tasks_end_as_they_are_told_to():
    frameworks: list[FrameworkConfig] = [{"name": "f", "task": "cpus:1", "tasks": 1}]
    with FakeMaster([AGENT], frameworks=frameworks, tasks={"outcome": "failed", "seconds": 60}) as master:
        master.advance(30)
        assert [task.state for task in master.tasks] == ["TASK_RUNNING"]
        master.advance(60)
        assert "TASK_FAILED" in [task.state for task in master.tasks]
    with pytest.raises(BadInput, match="outcome"):
        FakeMaster([AGENT], tasks={"outcome": "vanished"})  # type: ignore[arg-type]


# --- What goes wrong ----------------------------------------------------------------------------------


def test_a_lost_agent_comes_back_with_its_tasks():
    with (
        FakeMaster([AGENT]) as master,
        client(master) as asked,
        asked.stream("POST", PATH, json=subscription()) as response,
    ):
        events = records(response.iter_raw())
        framework_id = next(events)["subscribed"]["framework_id"]["value"]
        calling = Calling(asked, framework_id, response.headers["Mesos-Stream-Id"])
        (offer,) = next(event for event in events if event["type"] == "OFFERS")["offers"]["offers"]
        assert calling.accept(offer, "t") == 202
        master.settle(lambda: [task.state for task in master.tasks] == ["TASK_RUNNING"])
        master.lose(master.agents[0])
        assert ([task.state for task in master.tasks], master.agents) == (["TASK_UNREACHABLE"], ())
        failure = next(event for event in events if event["type"] == "FAILURE")["failure"]
        assert failure["agent_id"] == offer["agent_id"]
        master.bring_back("agent-1")
        assert [task.state for task in master.tasks] == ["TASK_RUNNING"]


@pytest.mark.parametrize("again", [False, True])
def test_a_lost_agent_is_lost_for_the_next_leader_too(again):
    with FakeMaster([AGENT, AGENT]) as master:
        master.lose("agent-1")
        if again:
            master.bring_back("agent-1")
        master.fail_over()
        left = {"agent-1", "agent-2"} if again else {"agent-2"}
        assert {agent.hostname for agent in master.agents} == left
        master.bring_back("agent-1")
        assert {agent.hostname for agent in master.agents} == {"agent-1", "agent-2"}


def test_an_agent_that_nobody_knows():
    with FakeMaster([AGENT]) as master:
        for what in (master.lose, master.bring_back):
            with pytest.raises(NotFound, match="no agent is named 'agent-2'") as raised:
                what("agent-2")
            assert raised.value.hint == "the agents are agent-1"


def test_an_agent_more():
    with FakeMaster([AGENT]) as master:
        added = master.add({"resources": "cpus:1", "attributes": {"rack": "a"}})
        assert (added.hostname, added.resources, added.attributes) == ("agent-2", {"cpus": 1.0}, {"rack": "a"})
        with pytest.raises(BadInput, match="two agents are called agent-2"):
            master.add({"resources": "cpus:1", "hostname": "agent-2"})
        assert len(master.agents) == 2
        master.fail_over()
        assert [agent.hostname for agent in master.agents] == ["agent-1", "agent-2"]


def test_another_leader_has_another_id_and_the_tasks_and_streams_end():
    with FakeMaster([AGENT]) as master, client(master) as asked:
        before = asked.get("/state").json()["id"]
        with asked.stream("POST", PATH, json=subscription()) as response:
            events = records(response.iter_raw())
            framework_id = next(events)["subscribed"]["framework_id"]["value"]
            calling = Calling(asked, framework_id, response.headers["Mesos-Stream-Id"])
            offers = next(event for event in events if event["type"] == "OFFERS")
            calling.accept(offers["offers"]["offers"][0], "t")
            master.settle()
            master.fail_over()
            assert "UPDATE" in [event["type"] for event in events]  # all that was told before, and then it ends
        assert asked.get("/state").json()["id"] != before
        assert [(task.name, task.state) for task in master.tasks] == [("t", "TASK_RUNNING")]
        assert not master.frameworks[0].connected
        with asked.stream("POST", PATH, json=subscription(framework_id)) as response:
            assert next(records(response.iter_raw()))["subscribed"]["framework_id"]["value"] == framework_id
            assert master.frameworks[0].connected


@pytest.mark.parametrize(("lost", "kept"), [("request", set()), ("response", {"web"})])
def test_a_request_or_its_answer_is_lost(lost, kept):
    body = {"role": "web", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}
    with FakeMaster([AGENT]) as master, client(master) as asked:
        master.drop_next(lost, path="/quota")
        assert asked.get("/version").status_code == 200
        with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
            asked.post("/master/quota", content=json.dumps(body))
        assert set(master.roles) - {"*"} == kept
        assert asked.get("/quota").status_code == 200


def test_several_requests_are_lost():
    with FakeMaster([AGENT]) as master, client(master) as asked:
        master.drop_next(times=2)
        for _ in range(2):
            with pytest.raises(httpx.TransportError):
                asked.get("/version")
        assert asked.get("/version").status_code == 200
        with pytest.raises(ValueError, match="times is 0"):
            master.drop_next(times=0)
        with pytest.raises(ValueError, match="lost is 'after': write 'request' or 'response'"):
            master.drop_next("after")  # type: ignore[arg-type]


# --- Who asks -----------------------------------------------------------------------------------------


def test_a_stream_read_here_lets_time_pass():
    with FakeMaster([AGENT]) as master, client(master) as asked:
        before = master.now
        with asked.stream("POST", PATH, json=subscription(), timeout=60) as response:
            events = records(response.iter_raw())
            beats = [event for event, _ in zip(events, range(5), strict=False) if event["type"] == "HEARTBEAT"]
        assert len(beats) >= 3
        assert master.now >= before + 30


def test_a_stream_read_in_another_thread_waits_for_the_test():
    heard: list[str] = []

    def listen() -> None:
        with client(master) as asked, asked.stream("POST", PATH, json=subscription(), timeout=None) as response:
            heard.extend(event["type"] for event in records(response.iter_raw()))

    with FakeMaster([AGENT]) as master:
        thread = threading.Thread(target=listen)
        thread.start()
        master.settle(lambda: "OFFERS" in heard, timeout=60)
        stopped = master.now
        assert [offer.framework for offer in master.offers] == ["tried"]
        assert master.now == stopped
        master.fail_over()  # ends the stream
        thread.join(60)
        assert not thread.is_alive()


def test_asynchronously():
    async def play() -> list[str]:
        heard: list[str] = []

        async def listen() -> None:
            asked = httpx.AsyncClient(transport=master.transport, base_url=BASE, timeout=None)
            async with asked, asked.stream("POST", PATH, json=subscription()) as response:
                async for piece in response.aiter_raw():
                    heard.extend(event["type"] for event in records([piece]))

        async with FakeMaster([AGENT]) as master:
            listening = asyncio.create_task(listen())
            await master.asettle(lambda: "OFFERS" in heard, timeout=60)
            with pytest.raises(TimeoutError):
                await master.asettle(lambda: False, timeout=0.01)
            master.fail_over()
            await listening
            assert master.frameworks == ()
        return heard

    assert asyncio.run(play())[:2] == ["SUBSCRIBED", "HEARTBEAT"]


def test_the_master_is_closed_once():
    master = FakeMaster([AGENT])
    master.close()
    master.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = master.url
