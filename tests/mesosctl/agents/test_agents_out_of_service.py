"""`mesosctl agents drain`, `deactivate`, `reactivate` and `gone` as they are typed, in virtual time."""

import csv
import io
import re
import shlex

import pytest

from fake_master.http.request_response import Request
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.agents.report import drain_plan
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.displacement import DrainPlan, RunningTask
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.errors import Interrupted, Interruption
from tests.helpers.lab import CommandLine, Lab, Scheduler

TASK = Resources(parse_entries("cpus:1;mem:1024"))
SHOP = SimulatedFrameworkSpec("shop", ("web",), task=TASK, tasks=6)


def agent(hostname, cpus=4, rack="r1"):
    return AgentSpec(f"cpus:{cpus};mem:{1024 * cpus}", hostname=hostname, attributes={"rack": rack})


def make(*agents, frameworks=(SHOP,)):
    lab = Lab(*agents, version="1.11", frameworks=frameworks)
    lab.wait(3.0)
    return CommandLine(lab)


@pytest.fixture
def live():
    return make(agent("one"), agent("two"), agent("three", cpus=8, rack="r2"))


def statuses(live):
    return {one["hostname"]: one["status"] for one in live.run("agents", "-o", "json").json["agents"]}


def test_a_drain_is_read_back_and_its_tasks_end(live):
    ran = live.run("agents", "drain", "one", "--wait", "-o", "json", "--yes")
    assert ran.status == 0, ran.err
    (change,) = ran.json["changes"]
    assert (change["hostname"], change["asked"], change["status"]) == ("one", "drain", "drained")
    assert (change["sent"], change["confirmed"]) == (True, True)
    assert live.changes == ["POST /api/v1 DRAIN_AGENT"]
    assert statuses(live) == {"one": "drained", "two": "active", "three": "active"}
    assert live.run("agents", "one", "-o", "json").json["agents"][0]["used"]["amounts"] == {}


def test_the_grace_period_and_what_follows_are_sent(live):
    assert live.run("agents", "drain", "one", "--max-grace-period", "1m30s", "--mark-gone", "--yes").status == 0
    assert statuses(live) == {"two": "active", "three": "active"}
    assert live.run("agents", "drain", "two", "--max-grace-period", "500ms", "--yes").status == 0
    (shown,) = [one for one in live.lab.read("/slaves")["slaves"] if one["hostname"] == "two"]
    assert shown["drain_info"]["config"] == {"max_grace_period": {"nanoseconds": 500_000_000}, "mark_gone": False}


def test_what_is_so_already_is_not_sent(live):
    assert live.run("agents", "drain", "one", "--wait", "--yes").status == 0
    assert live.run("agents", "drain", "one", "--wait", "--yes").status == 0
    assert live.run("agents", "deactivate", "one").status == 0
    assert live.run("agents", "reactivate", "two").status == 0
    assert live.changes == ["POST /api/v1 DRAIN_AGENT"]
    assert live.run("agents", "drain", "one", "--max-grace-period", "1s", "--yes").status == 0
    assert live.changes == ["POST /api/v1 DRAIN_AGENT"] * 2
    assert live.run("agents", "drain", "one", "--mark-gone", "--yes").status == 0
    assert live.changes == ["POST /api/v1 DRAIN_AGENT"] * 3
    assert statuses(live) == {"two": "active", "three": "active"}


def test_a_rack_is_drained_some_agents_at_a_time(live):
    seen = []
    answer = live.handle_request

    def watched(request):
        shown = live.lab.read("/slaves")["slaves"]
        seen.append(sum(one.get("drain_info", {}).get("state") == "DRAINING" for one in shown))
        return answer(request)

    live.handle_request = watched
    ran = live.run("agents", "drain", "--attribute", "rack=r1", "--at-most", "1", "-o", "json", "--yes")
    assert ran.status == 0, ran.err
    assert [(one["hostname"], one["status"]) for one in ran.json["changes"]] == [("one", "drained"), ("two", "drained")]
    assert max(seen) <= 1


def test_a_drain_that_never_ends_meets_the_deadline(live):
    agent_id = live.lab.agents[0]["id"]
    live.lab.master.state.agents[agent_id].connected = False  # nobody kills its tasks
    ran = live.run("agents", "drain", "one", "--wait", "--timeout", "5s", "--yes")
    assert ran.status == 9
    assert "not drained yet: one" in ran.err
    assert "run the same command again" in ran.err


def test_an_interruption_says_what_goes_on(live):
    agent_id = live.lab.agents[0]["id"]
    live.lab.master.state.agents[agent_id].connected = False

    def stop(_):
        raise Interruption(Interrupted)

    live.sleep = stop
    ran = live.run("agents", "drain", "one", "two", "--at-most", "1", "--yes")
    assert ran.status == 130
    assert "goes on draining one; not begun: two;" in ran.err


def test_the_plan_says_whose_tasks_have_no_room_elsewhere(live):
    assert "all 4 tasks fit on other agents" in live.run("agents", "drain", "one", "--yes").err
    crowded = make(agent("one"), agent("two", cpus=2))
    assert "4 of shop" in crowded.run("agents", "drain", "one", "--dry-run").out
    would = crowded.run("agents", "drain", "one", "--dry-run", "-o", "json").json["would"]
    assert would[0]["agents"][0]["without_room"] == {"shop": 4}
    assert crowded.changes == []


@pytest.mark.parametrize(
    ("tasks", "stranded", "says"),
    [
        (1, 0, "the task fits on another agent now"),
        (1, 1, "the task fits on no other agent now"),
        (3, 0, "all 3 tasks fit on other agents now"),
        (3, 1, "1 of 3 tasks fits on no other agent now"),
        (3, 2, "2 of 3 tasks fit on no other agent now"),
    ],
)
def test_the_plan_counts_tasks_in_plain_words(tasks, stranded, says):
    running = tuple(RunningTask(f"t{number}", "shop", "S0", "web", TASK) for number in range(tasks))
    (verdict,) = drain_plan(DrainPlan((), running, running[:stranded])).verdicts
    assert verdict.sentence == says
    leaving = (RegisteredAgent("S0", "one", "", Resources()),)
    (verdict,) = drain_plan(DrainPlan(leaving, running, running[:stranded]), loses_tasks=True).verdicts
    assert "lost (" in verdict.sentence
    assert says in verdict.sentence


def test_a_dry_run_says_who_falls_below_a_guarantee(live):
    assert live.run("quota", "set", "web", "cpus:14").status == 0
    ran = live.run("agents", "drain", "three", "--dry-run")
    assert ran.status == 1
    assert "role web would be" in ran.out
    assert live.changes == ["POST /api/v1 UPDATE_QUOTA"]


def test_nothing_of_an_agent_out_of_service_is_free(live):
    """Its rest is not offered to anybody: no list may count it, and the bar of a terminal does not draw it as free."""
    before = {one["hostname"]: one["free"]["amounts"] for one in live.run("agents", "-o", "json").json["agents"]}
    assert before["two"]
    assert before["three"]
    assert live.run("agents", "deactivate", "three").status == 0
    after = {one["hostname"]: one["free"]["amounts"] for one in live.run("agents", "-o", "json").json["agents"]}
    assert after == before | {"three": {}}
    rows = list(csv.DictReader(io.StringIO(live.run("agents", "-o", "csv").out)))
    assert {row["agent"]: bool(row["free"]) for row in rows} == {"one": False, "two": True, "three": False}
    drawn = live.run("agents", terminal=True).out.splitlines()
    assert [("░" in line, "···" in line) for line in drawn if line.startswith(("two", "three"))] == [
        (False, True),
        (True, False),
    ]
    assert drawn[-1].endswith("· out of service")


def test_deactivated_agents_keep_their_tasks_and_come_back(live):
    assert live.run("agents", "deactivate", "one", "three").status == 0
    assert statuses(live) == {"one": "deactivated", "two": "active", "three": "deactivated"}
    assert live.run("agents", "one", "-o", "json").json["agents"][0]["used"]["amounts"] == {"cpus": 4, "mem": 4096}
    ran = live.run("agents", "reactivate", "one", "-o", "json")
    assert [(one["asked"], one["status"]) for one in ran.json["changes"]] == [("reactivate", "active")]
    assert live.changes == ["POST /api/v1 DEACTIVATE_AGENT"] * 2 + ["POST /api/v1 REACTIVATE_AGENT"]


def test_an_agent_that_still_drains_is_not_reactivated(live):
    live.lab.master.state.agents[live.lab.agents[0]["id"]].connected = False
    assert live.run("agents", "drain", "one", "--yes").status == 0
    ran = live.run("agents", "reactivate", "one")
    assert ran.status == 3
    assert "hint: wait until it is drained: mesosctl wait agent/one=drained" in ran.err


def test_gone_is_asked_about_since_it_is_for_ever(live):
    ran = live.run("agents", "gone", "one")
    assert ran.status == 2
    assert "can never come back" in ran.err
    assert live.changes == []
    assert live.run("agents", "gone", "one", terminal=True, stdin="n\n").status == 2
    assert live.run("agents", "gone", "one", "--yes").status == 0
    assert statuses(live) == {"two": "active", "three": "active"}
    assert live.changes == ["POST /api/v1 MARK_AGENT_GONE"]


def test_an_agent_that_neither_a_list_nor_the_registry_has_is_not_found(live):
    for name in ("00000000-0000-0000-0000-000000000000-S7", "nobody"):
        assert live.run("agents", "gone", name, "--yes").status == 5
    assert live.changes == []


def test_the_first_word_is_a_verb_if_there_is_one(live):
    assert live.run("agents", "list", "one").out == live.run("agents", "one").out
    assert live.run("agents", "list", "drain").status == 5
    ran = live.run("agents", "drian", "one")
    assert ran.status == 5
    assert "no agent is named 'drian'" in ran.err
    assert (
        live.run("-o", "name", "agents", "--role", "web").out
        == live.run("agents", "list", "--role", "web", "-o", "name").out
    )
    assert live.changes == []


@pytest.mark.parametrize("noun", ["agents", "frameworks", "roles"])
def test_list_always_lists(live, noun):
    assert live.run(noun, "list").out == live.run(noun).out
    assert "Commands:" in live.run(noun, "--help").out


def test_a_refused_principal_is_denied():
    acls = '{"drain_agents": [{"principals": {"type": "NONE"}, "agents": {"type": "ANY"}}]}'
    live = CommandLine(Lab("cpus:4;mem:4096", version="1.11", flags={"acls": acls}))
    assert live.run("agents", "drain", "agent-1", "--yes").status == 4


@pytest.mark.parametrize("words", ["--wait", "--at-most 2"])
def test_to_wait_and_not_to_wait_are_refused_together(live, words):
    ran = live.run("agents", "drain", "--attribute", "rack=r1", *words.split(), "--no-wait", "--yes")
    assert (ran.status, live.changes) == (2, [])
    assert "--no-wait does not" in ran.err


def with_silent_frameworks():
    """An agent with ended tasks to come of a framework that disconnects, and of two that say nothing."""
    lab = Lab(AgentSpec("cpus:8;mem:8192", hostname="one"), AgentSpec("cpus:1;mem:64", hostname="two"), version="1.11")
    frameworks = [Scheduler(lab, name=name) for name in ("spark", "flink", "web")]
    for count, framework in enumerate(frameworks, 1):
        (large,) = [offer for offer in framework.offers() if offer["hostname"] == "one"]
        framework.accept(large, *(f"{framework.info['name']}-{number}" for number in range(count)))
        framework.acknowledge()
    frameworks[0].stream.abandon()
    lab.wait(1.0)
    return CommandLine(lab), frameworks


def pasted(ran, verb):
    """The commands of a hint with this verb, as words."""
    found = re.findall(rf"mesosctl ({verb}[^;:\n]*)", ran.err)
    return [shlex.split(text) for text in found]


def test_a_drain_names_who_does_not_acknowledge_and_both_ways_out_work():
    live, (_, _, web) = with_silent_frameworks()
    ran = live.run("agents", "drain", "one", "--wait", "--timeout", "10s", "--yes")
    assert ran.status == 9
    assert "spark, which is disconnected, to acknowledge that 1 task" in ran.err
    assert "flink, which is connected, to acknowledge that 2 tasks" in ran.err
    assert "web, which is connected, to acknowledge that 3 tasks" in ran.err
    waited = live.run("wait", "agent/one=drained", "--timeout", "5s")
    assert "flink, which is connected, to acknowledge that 2 tasks" in waited.err
    assert pasted(waited, "agents drain") == [["agents", "drain", "one"]]
    web.acknowledge()
    ran = live.run("agents", "drain", "one", "--wait", "--timeout", "10s", "--yes")
    assert "web" not in ran.err
    removals = pasted(ran, "frameworks teardown")
    assert len(removals) == 2
    for words in removals:
        assert live.run(*words, "--yes").status == 0
    assert statuses(live)["one"] == "draining"  # a master does not look at it now
    assert live.run("agents", "drain", "one", "--wait", "--timeout", "10s", "--yes").status == 0
    assert statuses(live)["one"] == "drained"
    live, _ = with_silent_frameworks()
    (gone,) = pasted(live.run("agents", "drain", "one", "--wait", "--timeout", "5s", "--yes"), "agents gone")
    assert live.run(*gone, "--yes").status == 0
    assert statuses(live) == {"two": "active"}


def test_a_drain_ends_although_its_last_framework_is_removed_meanwhile():
    live, frameworks = with_silent_frameworks()
    rounds = []

    def sleep(seconds):
        live.lab.clock.sleep(seconds)
        rounds.append(seconds)
        if len(rounds) == 3:
            for framework in frameworks:
                assert live.lab.application.handle(teardown(framework.id)).status == 200

    live.sleep = sleep
    assert live.run("agents", "drain", "one", "--wait", "--yes").status == 0
    assert statuses(live)["one"] == "drained"
    assert live.changes == ["POST /api/v1 DRAIN_AGENT"] * 2


def teardown(framework_id):
    return Request("POST", "/teardown", {}, f"frameworkId={framework_id}".encode())


def test_a_wait_suggests_the_drain_that_was_asked():
    live, _ = with_silent_frameworks()
    assert live.run("agents", "drain", "one", "--max-grace-period", "90s", "--mark-gone", "--yes").status == 0
    waited = live.run("wait", "agent/one=drained", "--timeout", "5s")
    assert pasted(waited, "agents drain") == [["agents", "drain", "one", "--mark-gone", "--max-grace-period", "90s"]]
