"""`mesosctl wait` as it is typed, against a fake master in virtual time."""

import json
import re
import shlex
from dataclasses import replace

import httpx
import pytest

from fake_master.registry.interface import MemoryRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.show.live import ProgressLine
from tests.helpers.lab import CommandLine, Lab

TASK = Resources(parse_entries("cpus:1;mem:1024"))
SHOP = SimulatedFrameworkSpec("shop", ("web",), task=TASK, tasks=6)


@pytest.fixture
def live():
    agents = [AgentSpec("cpus:4;mem:4096", hostname=name) for name in ("one", "two")]
    lab = Lab(*agents, version="1.11", frameworks=(SHOP, SimulatedFrameworkSpec("idle", ("idle",), answer="hold")))
    lab.wait(3.0)
    return CommandLine(lab)


def shown(live, *conditions, status=0):
    ran = live.run("wait", *conditions, "-o", "json")
    assert ran.status == status, ran.err
    return [(one["condition"], one["holds"], one["shows"]) for one in ran.json["conditions"]]


def test_an_agent_is_drained(live):
    agent = live.lab.master.state.agents[live.lab.agents[0]["id"]]
    agent.connected = False  # nobody kills its tasks
    assert live.run("agents", "drain", "one", "--yes").status == 0
    late = live.run("wait", "agent/one=drained", "--timeout", "5s")
    assert late.status == 9
    assert re.search(r"not yet agent/one=drained: draining, \d tasks left", late.err)
    assert "hint: allow more time with --timeout" in late.err
    assert shown(live, "agent/one=draining", "agent/two=active") == [
        ("agent/one=draining", True, "draining"),
        ("agent/two=active", True, "active"),
    ]


def test_all_conditions_hold_at_the_same_time(live):
    assert live.run("agents", "drain", "one", "--max-grace-period", "5s", "--no-wait", "--yes").status == 0
    ran = live.run("wait", "agent/one=drained", "--for", "agent/two=active", "-o", "name")
    assert (ran.status, ran.out) == (0, "agent/one=drained\nagent/two=active\n")
    assert live.run("wait", "agent/one=drained", "agent/one=active", "--timeout", "2s").status == 9


def test_an_agent_that_leaves_once_it_is_drained_was_drained(live):
    answer, seen = live.handle_request, []

    def slowly(request):
        if request.url.path == "/slaves":
            seen.append(request)
            if len(seen) == 4:  # it is draining when it is looked at first, and gone later
                agent.connected = True
                live.lab.call("MARK_AGENT_GONE", agent_id={"value": agent.id})
        return answer(request)

    agent = live.lab.master.state.agents[live.lab.agents[0]["id"]]
    agent.connected = False
    assert live.run("agents", "drain", "one", "--mark-gone", "--yes").status == 0
    live.handle_request = slowly
    assert shown(live, "agent/one=drained") == [("agent/one=drained", True, "not listed")]


def test_an_agent_that_is_not_listed_is_not_drained(live):
    agent = live.lab.master.state.agents[live.lab.agents[0]["id"]]
    live.lab.call("MARK_AGENT_GONE", agent_id={"value": agent.id})
    late = live.run("wait", f"agent/{agent.id}=drained", "--timeout", "2s")
    assert (late.status, f"not yet agent/{agent.id}=drained: not listed" in late.err) == (9, True)


def test_exactly_what_is_named_is_reserved(live):
    assert live.run("reserve", "one", "cpus:2", "mem:1024", "--role", "ads", "--trust-master").status == 0
    live.lab.wait(1.0)
    for resources, holds in (("cpus:2", True), ("cpus:1", False), ("cpus:2;mem:1024", True), ("none", False)):
        ran = live.run("wait", f"reserved/one/ads={resources}", "--trust-master", "--timeout", "1s")
        assert ran.status == (0 if holds else 9), (resources, ran.err)
    assert shown(live, "reserved/two/ads=none", "--trust-master") == [("reserved/two/ads=none", True, "nothing")]


def test_a_guarantee_is_met(live):
    assert live.run("quota", "set", "web", "cpus:6").status == 0
    assert shown(live, "role/web=met") == [("role/web=met", True, "met")]
    assert live.run("quota", "update", "web", "cpus:8", "--force").status == 0
    late = live.run("wait", "role/web=met", "--timeout", "2s")
    assert late.status == 9
    assert "2 cpus missing" in late.err
    assert live.run("quota", "update", "web", "none", "--limit", "cpus:8").status == 0
    assert live.run("wait", "role/web=met").status == 3
    assert live.run("quota", "remove", "web").status == 0
    assert live.run("wait", "role/web=met").status == 5


@pytest.mark.parametrize(
    ("role", "guarantee", "why", "way_out"),
    [
        ("web", "cpus:8", "its frameworks suppress offers", "send REVIVE for role web; the rest lies free for it "),
        ("nobody", "cpus:1", "no framework is subscribed to it", "start a framework in role nobody; the rest lies "),
        ("nobody", "cpus:9", "no framework is subscribed to it", "start a framework in role nobody, or guarantee "),
    ],
)
def test_a_guarantee_that_nobody_asks_for_is_told_with_the_way_out(role, guarantee, why, way_out):
    """Shop runs its six tasks and wants no more; of 8 cpus, 2 are left."""
    lab = Lab(AgentSpec("cpus:8;mem:8192", hostname="one"), version="1.11", frameworks=(SHOP,))
    lab.wait(3.0)
    live = CommandLine(lab)
    assert live.run("quota", "set", role, guarantee, "--force").status == 0
    late = live.run("wait", f"role/{role}=met", "--timeout", "2s", "-o", "json")
    error = json.loads(late.err)["error"]
    assert (late.status, why in error["message"], way_out in error["hint"]) == (9, True, True), error
    lower = shlex.split(error["hint"].rpartition(": ")[2])
    assert live.run(*lower[1:], "--yes").status == 0
    offers = live.run("wait", f"offers/{role}", "--timeout", "2s", "-o", "json")
    assert way_out.partition(";")[0].partition(",")[0] in json.loads(offers.err)["error"]["hint"]
    assert live.run("wait", f"role/{role}=met", "--timeout", "2s").status == (0 if role == "web" else 5)


def test_a_wait_for_a_guarantee_says_at_once_that_nobody_asks_for_it(live, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(ProgressLine, "show", lambda _, sentence, _part=None: told.append(sentence))
    assert live.run("quota", "set", "nobody", "cpus:1", "--force").status == 0
    live.run("wait", "role/nobody=met", "--timeout", "2s", terminal=True)
    first = next(sentence for sentence in told if "waiting for" in sentence)
    assert "no framework is subscribed to it" in first


def test_something_is_offered(live):
    assert shown(live, "offers/idle")[0][1]
    late = live.run("wait", "offers/idle", "offers/nobody", "--timeout", "1s", "-o", "json")
    assert late.status == 9
    error = json.loads(late.err)["error"]
    assert (error["exit_status"], error["message"].rpartition(": ")[0]) == (9, "not yet offers/nobody: 0 offers")
    assert error["hint"] == "start a framework in role nobody"
    short = live.run("wait", "offers/web", "--timeout", "1s", "-o", "json")  # shop lacks room for two of its tasks
    assert json.loads(short.err)["error"]["hint"] == "allow more time with --timeout"


def test_progress_is_for_terminals(live):
    told = live.run("wait", "offers/nobody", "--timeout", "1s", terminal=True).err
    assert "waiting for offers/nobody: 0 offers" in told
    assert "waiting" not in live.run("wait", "offers/nobody", "--timeout", "1s").err


def test_a_master_has_recovered():
    kept = MemoryRegistry()
    lab = Lab(*["cpus:4;mem:4096"] * 3, version="1.11", registry=lambda: kept)
    lab.wait(2.0)
    lab.restart(replace(lab.spec, agents=lab.spec.agents[:2]))
    live = CommandLine(lab)
    late = live.run("wait", "master=recovered", "--timeout", "5s")
    assert late.status == 9
    assert "not yet master=recovered: 2 of 3 agents are back" in late.err
    assert shown(live, "master=recovered", "--timeout", "15m") == [("master=recovered", True, "2 of 2 agents are back")]


@pytest.mark.parametrize(("condition", "status"), [("master=recovered", 0), ("agent/one=active", 7)])
def test_a_master_that_is_away_is_awaited_if_its_recovery_is(live, condition, status):
    answer, asked = live.handle_request, []

    def away(request):
        asked.append(request)
        if len(asked) <= 8:
            raise httpx.ConnectError("refused")
        return answer(request)

    live.handle_request = away
    assert live.run("wait", condition).status == status


def test_a_master_that_goes_away_is_awaited_until_the_deadline(live):
    answer, asked = live.handle_request, []

    def away(request):
        asked.append(request)
        if len(asked) > 6:
            raise httpx.ConnectError("refused")
        return answer(request)

    live.handle_request = away
    late = live.run("wait", "offers/nobody", "--timeout", "20s")
    assert late.status == 9
    assert "not yet offers/nobody: 0 offers: " in late.err
