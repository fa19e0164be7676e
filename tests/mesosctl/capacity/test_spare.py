"""`capacity spare`: every loss from one reading, judged as `whatif --lose-agent` judges it."""

import io
import os
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fake_master
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl import Master
from mesosctl.capacity.losses import Spare
from mesosctl.capacity.work import SpareTerms, find_spare
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.forecast import DryRunOptions, Forecast
from mesosctl.whatif.work import ChangeRunner, named_changes, open_dry_run
from tests.helpers.lab import CommandLine, Lab

pytestmark = pytest.mark.process


def shop(tasks=3, task="cpus:2;mem:1024"):
    return SimulatedFrameworkSpec("shop", ("web",), task=Resources(parse_entries(task)), tasks=tasks)


RACKS = {"large": "r1", "small-1": "r2", "small-2": "r2", "small-3": "r3"}


def make(*frameworks):
    """Shop has its three tasks on the large agent, and the three small ones are alike."""
    agents = [
        AgentSpec(f"cpus:{6 if name == 'large' else 2};mem:4096", hostname=name, attributes={"rack": rack})
        for name, rack in RACKS.items()
    ]
    lab = Lab(*agents, version="1.11", frameworks=frameworks)
    lab.wait(3.0)
    return CommandLine(lab)


@pytest.fixture
def live():
    """Nine of 12 cpus are promised."""
    live = make(shop())
    assert live.run("quota", "set", "web", "cpus:9").status == 0
    return live


def test_the_answer_names_the_losses_that_hurt_and_the_worst_is_first(live):
    ran = live.run("capacity", "spare", "--each", "rack")
    answer = ran.out.splitlines()[0]
    assert (ran.status, "except r1 and r2: role web" in answer, "3 cpus below" in answer) == (1, True, True)
    assert live.run("capacity", "spare", "--each", "rack", "-o", "name").out == "rack=r1\nrack=r2\n"
    found = live.run("capacity", "spare", "--each", "rack", "--all", "-o", "json").json
    assert [(one["lost"], one["harmless"]) for one in found["losses"]] == [
        ("rack=r1", False),
        ("rack=r2", False),
        ("rack=r3", True),
    ]
    assert found["each"] == [{"each": "rack", "answer": "no", "losses": 3, "played": 3, "break_a_guarantee": 2}]


def test_every_loss_may_be_harmless_and_then_the_status_is_0():
    live = make()
    ran = live.run("capacity", "spare", "--each", "rack")
    assert (ran.status, ran.out.splitlines()[0]) == (0, "YES: any one rack can go")
    ran = live.run("capacity", "spare", "--at-once", "2")
    assert (ran.status, ran.out.splitlines()[0]) == (0, "YES: any two agents can go together")


def test_of_losses_that_look_alike_the_first_and_the_last_are_played(live):
    found = live.run("capacity", "spare", "-o", "json").json
    assert [(one["each"], one["losses"], one["played"]) for one in found["each"]] == [("agent", 4, 3)]
    assert [one["lost"] for one in found["losses"]] == ["large"]
    assert "(2 of 3 alike played at most)" in live.run("capacity", "spare").out
    every = live.run("capacity", "spare", "--all", "-o", "json").json
    assert every["each"][0]["played"] == 4
    assert {(one["lost"], one["harmless"]) for one in every["losses"]} == {
        ("large", False),
        *((f"small-{number}", True) for number in (1, 2, 3)),
    }


def test_pairs_are_played_too(live):
    found = live.run("capacity", "spare", "--at-once", "2", "-o", "json").json
    assert (found["at_once"], found["each"][0]["losses"]) == (2, 6)
    assert [(one["lost"], one["count"], one["agents"]) for one in found["losses"]] == [
        ("large and small-1", 3, 2),
        ("small-1 and small-2", 3, 2),
    ]
    every = live.run("capacity", "spare", "--at-once", "2", "--all", "-o", "json").json
    assert len(every["losses"]) == 6
    assert not any(one["harmless"] for one in every["losses"])


def test_a_task_without_a_place_hurts_though_nobody_starves():
    """Of the three tasks of shop two fit on the large agent; a small one has no room for any."""
    live = make(shop(tasks=2, task="cpus:3;mem:1024"))
    assert live.run("whatif", "--lose-agent", "large", "--assume", "hold").status == 1  # it has nothing left
    agents = [AgentSpec("cpus:3;mem:4096", hostname=name) for name in ("one", "two")]
    lab = Lab(*agents, version="1.11", frameworks=(shop(tasks=2, task="cpus:3;mem:1024"),))
    lab.wait(3.0)
    live = CommandLine(lab)
    alone = live.run("whatif", "--lose-agent", "one", "-o", "json")
    assert (alone.status, alone.json["tasks_lost"]) == (0, 1)
    ran = live.run("capacity", "spare", "-o", "json")
    assert (ran.status, ran.json["each"][0]["break_a_guarantee"]) == (1, 0)
    (one,) = ran.json["losses"]
    assert (one["starved"], [(left["role"], left["tasks"]) for left in one["without_place"]]) == ([], [("web", 1)])
    assert "1 task of shop (role web)" in live.run("capacity", "spare").out


def test_python_gets_the_same_document(live):
    shown = live.run("capacity", "spare", "--each", "rack", "--each", "agent", "-o", "json").json
    asked = Master("http://mesos:5050", transport=live).spare("rack", "agent")
    assert asked.model_dump(mode="json") == shown


def test_metrics_count_the_losses_that_break_a_guarantee(live):
    ran = live.run("metrics", "--spare", "rack", "--spare", "agent")
    for line in (
        'mesosctl_spare_losses_that_break_a_guarantee{each="rack"} 2.0',
        'mesosctl_spare_losses_that_break_a_guarantee{each="agent"} 1.0',
        'mesosctl_spare_losses_that_hurt{each="rack"} 2.0',
    ):
        assert line in ran.out.splitlines()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ("capacity spare --each rakc", 2, "did you mean rack?"),
        ("capacity spare --at-once 3", 2, "--at-once"),
        ("capacity spare --mesos-version 1.11", 2, "--mesos-version is for --from"),
        ("metrics --spare rakc", 2, "did you mean rack?"),
    ],
)
def test_what_cannot_be_asked_is_refused(live, words, status, says):
    ran = live.run(*words.split())
    assert (ran.status, says in ran.err) == (status, True), ran.err


def test_selectors_choose_what_is_lost_in_a_forecast(live):
    lost = live.run("whatif", "--lose-agent", "rack in (r2, r3)", "-o", "json").json["agents_lost"]
    assert [one["hostname"] for one in lost] == ["small-1", "small-2", "small-3"]
    lost = live.run("whatif", "--lose-agent", "rack!=r1", "-o", "json").json["agents_lost"]
    assert len(lost) == 3
    ran = live.run("whatif", "--lose-agent", "rack in r1")
    assert (ran.status, "'r1' is not in parentheses" in ran.err) == (2, True)


# --- Random clusters ----------------------------------------------------------------------------------

SIZES = ("cpus:2;mem:2048", "cpus:4;mem:4096")


@st.composite
def clusters(draw):
    """A cluster file: agents of two sizes in racks, frameworks with tasks, and a guarantee or none."""
    lines = ['mesos_version = "1.11"']
    count = draw(st.integers(2, 5))
    if draw(st.booleans()):
        lines += ["[quotas.web]", f'guarantee = "cpus:{draw(st.integers(1, 2 * count))}"']
    for number in range(count):
        size, rack = draw(st.sampled_from(SIZES)), draw(st.sampled_from(("r1", "r2", "r3")))
        lines += [
            "[[agents]]",
            f'hostname = "n{number}"',
            f'resources = "{size}"',
            f'attributes = {{ rack = "{rack}" }}',
        ]
    for name in draw(st.sampled_from([("web",), ("web", "ads"), ()])):
        tasks, cpus = draw(st.integers(1, 4)), draw(st.integers(1, 3))
        lines += ["[[frameworks]]", f'name = "{name}"', f'roles = ["{name}"]']
        lines += [f'task = "cpus:{cpus};mem:512"', f"tasks = {tasks}"]
    return "\n".join(lines) + "\n"


def dry_run_of(text):
    return fake_master.start_dry_run_of_file(io.BytesIO(text.encode()), "c.toml", DryRunOptions())


def settings_of(dry_run):
    return ClientSettings(clock=dry_run.clock, sleep=dry_run.clock.sleep)


def alone(text, agents) -> tuple[Forecast, Counter[str]]:
    """The forecast of one loss on a cluster of its own, and what runs before and after, by framework."""
    dry_run = dry_run_of(text)
    with open_dry_run(dry_run, settings_of(dry_run)) as master:
        ChangeRunner(dry_run, master).attempt(named_changes(lose_agents=agents))
    forecast = dry_run.forecast()
    with open_dry_run(dry_run, settings_of(dry_run)) as master:
        running = Counter(task["framework_id"] for task in master.get("/tasks?limit=1000")["tasks"]
                          if task["state"] == "TASK_RUNNING")  # fmt: skip
    return forecast, running


def spare_of(text, **terms) -> Spare:
    dry_run = dry_run_of(text)
    with open_dry_run(dry_run, settings_of(dry_run)) as master:
        (found,) = find_spare(dry_run, ChangeRunner(dry_run, master), [SpareTerms(**terms)], lambda _: None)
    return found


CLUSTERS = 200 if os.environ.get("CI") else 20


@settings(max_examples=CLUSTERS, deadline=None)
@given(text=clusters(), by=st.sampled_from(["agent", "rack"]), at_once=st.sampled_from([1, 1, 2]))
def test_each_loss_is_what_it_is_alone(text, by, at_once):
    everything = spare_of(text, by=by, at_once=at_once, every=True)
    harmless = Counter[bool]()
    for one in everything.losses:
        forecast, running = alone(text, one.loss.name.split(" and "))
        assert (one.loss.starved, one.loss.tasks) == (tuple(forecast.starved), forecast.tasks_lost)
        assert one.is_harmless == (forecast.is_harmless and not one.without_place)
        if one.is_harmless:  # what ran before runs again, since these frameworks ask by themselves
            dry_run = dry_run_of(text)
            with open_dry_run(dry_run, settings_of(dry_run)) as master:
                before = Counter(task["framework_id"] for task in master.get("/tasks?limit=1000")["tasks"])
            left = {name: count - running[name] for name, count in before.items() if count > running[name]}
            assert not left or forecast.headroom.free.after or any(change.after.offered for change in forecast.roles)
        harmless[one.is_harmless] += one.count
    few = spare_of(text, by=by, at_once=at_once)
    counted = Counter[bool]()
    for one in few.losses:
        counted[one.is_harmless] += one.count
    assert (few.answer, few.breaking) == (everything.answer, everything.breaking)
    assert counted == harmless
