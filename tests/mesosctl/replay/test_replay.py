"""`mesosctl replay`: recorded demand through the allocator, as it was and with changes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fake_master.allocator.hierarchical.recurrence import Recurrence
from fake_master.forecasting.dry_run import DryRun
from fake_master.forecasting.replay import ReplayRun
from fake_master.master import Master
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.demand import Listed, WantedTask
from fake_master.sources.simulated_frameworks import SimulatedFramework, SimulatedFrameworkSpec
from fake_master.state.clock import VirtualClock
from mesosctl.__main__ import main
from mesosctl.client.settings import ClientSettings
from mesosctl.history.records import (
    Gap,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedTask,
    Window,
    to_micros,
)
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.door.replay import (
    RecordedDemand,
    ReplayedAgent,
    ReplayedFramework,
    ReplayedSetting,
    calibrate,
    outcomes,
)
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from mesosctl.mesos.messages.resources import to_model
from mesosctl.mesos.rules.version_profile import profile_of
from mesosctl.replay.work import read_demand
from mesosctl.whatif.added_frameworks import parse_added_framework
from mesosctl.whatif.changes import LoseAgents, parse_change
from mesosctl.whatif.played_demand import ReplayOptions, TimedChange, compare_replays, play
from mesosctl.whatif.work import ChangeRunner, open_dry_run
from tests.helpers.profiles import examples
from tests.helpers.surroundings import InMemory, Ran

SINCE = 1_000_000.0
SIZES = [parse_resources(text) for text in ("cpus:1;mem:1024", "cpus:2;mem:4096", "cpus:4;mem:2048")]
LIVE = """
mesos_version = "1.11"
seed = {seed}
[[agents]]
resources = "cpus:8;mem:32GiB"
count = 3
[[frameworks]]
name = "jobs"
role = "batch"
task = "cpus:2;mem:2GiB"
every = "5s"
lasts = "lognormal(median=1m, sigma=1)"
[[frameworks]]
name = "site"
role = "web"
task = "cpus:1;mem:1GiB"
every = "9s"
lasts = "exponential(mean=90s)"
[quotas.web]
guarantee = "cpus:4"
"""


FORCED = ReplayOptions(force=True)


def changed(*words):
    return [TimedChange(word, parse_change(word)) for word in words]


def wanted(role, size, asked, lasts, framework=None):
    return ReplayedTask(framework or f"{role}-framework", role, SIZES[size], SINCE + asked, lasts)


def demand(agents, tasks, until=3600.0):
    frameworks = {
        task.framework_id: ReplayedFramework(
            task.framework_id, task.framework_id, (task.role,), None, ("MULTI_ROLE", "RESERVATION_REFINEMENT")
        )
        for task in tasks
    }
    listed = [
        ClusterAgent(f"m-S{number}", f"h{number}", f"slave({number + 1})@127.0.0.1:5051", parse_resources(text))
        for number, text in enumerate(agents)
    ]
    tasks = sorted(tasks, key=lambda task: task.asked)
    there = [ReplayedAgent(agent, SINCE, None) for agent in listed]
    return RecordedDemand("c", "1.11.0", SINCE, SINCE + until, there, frameworks, tasks)


# --- Laws ---------------------------------------------------------------------------------------------

TASKS = st.lists(
    st.builds(
        wanted,
        st.sampled_from(["a", "b"]),
        st.integers(0, 2),
        st.integers(0, 200).map(float),
        st.integers(1, 120).map(float),
        st.sampled_from(["one", "two", "three"]),
    ),
    min_size=5,
    max_size=60,
).map(lambda tasks: [task for task in tasks if (task.framework_id == "three") == (task.role == "b")])
AGENTS = st.lists(st.sampled_from(["cpus:4;mem:8192", "cpus:8;mem:8192", "cpus:2;mem:16384"]), min_size=1, max_size=3)
CHANGES = st.lists(
    st.sampled_from(["quota:a=cpus:4", "quota:b=cpus:3;mem:4096", "weight:b=3", "limit:a=cpus:4"]),
    max_size=2,
    unique_by=lambda word: word.rpartition(":")[0].partition("=")[0][:3],
)


def happened(agents, tasks, words, until):
    """When the same tasks start on a fake master of which the same is demanded."""
    clock = VirtualClock(SINCE)
    specs = tuple(AgentSpec(text, hostname=f"h{number}") for number, text in enumerate(agents))
    master = ClusterSpec(specs, "1.11").start(clock=clock)
    dry_run = DryRun(master, clock, ClusterSnapshot("1.11.0", SINCE), DryRunOptions(cycles=0))
    with open_dry_run(dry_run, ClientSettings(clock=clock, sleep=clock.sleep)) as client:
        ChangeRunner(dry_run, client, force=True).attempt([(word, parse_change(word)) for word in words])
    starts: dict[int, float] = {}
    for framework in dict.fromkeys(task.framework_id for task in tasks):
        own = [(place, task) for place, task in enumerate(tasks) if task.framework_id == framework]
        first = own[0][1].asked
        asked = [
            WantedTask(task.asked - first, task.resources, task.lasts, f"t{place}", task.role) for place, task in own
        ]
        spec = SimulatedFrameworkSpec(
            framework, (own[0][1].role,), after=first - SINCE, demand=Listed(asked), where=framework
        )
        one = SimulatedFramework(master, spec)
        one.on_start = lambda want, _task: starts.__setitem__(int((want.name or "")[1:]), master.state.now)
        one.join({})
    while (left := SINCE + until - clock()) > 0:
        clock.sleep(min(7, left))
        master.advance()
    return [starts.get(place) for place in range(len(tasks))]


@st.composite
def crowds(draw):
    """Tasks of two to five frameworks in two or more roles, far more than there is room for."""
    roles = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=5).filter(lambda of: len({*of}) > 1))
    frameworks = [(role, f"framework-{place}") for place, role in enumerate(roles)]
    of_one = st.tuples(st.integers(0, 2), st.integers(0, 150), st.integers(40, 300))
    return [
        wanted(role, size, float(asked), float(lasts), framework)
        for role, framework in frameworks
        for size, asked, lasts in draw(st.lists(of_one, min_size=24 // len(roles), max_size=48 // len(roles)))
    ]


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(AGENTS, crowds(), CHANGES)
def test_a_forecast_is_what_then_happens(agents, tasks, words):
    """The forecast leaves out time in which the same offers are declined again and again; the master does not."""
    played_demand = demand(agents, tasks, until=900.0)
    forecast, interval = play(played_demand, changed(*words), FORCED)
    real = happened(agents, played_demand.tasks, words, until=900.0)
    waited = [
        start is None or start > task.asked + interval for start, task in zip(real, played_demand.tasks, strict=True)
    ]
    assume(sum(waited) * 2 >= len(waited))
    for place, (told, then) in enumerate(zip(forecast.starts, real, strict=True)):
        assert told == then, f"task {place}"
        assert place not in forecast.never_fit or then is None


def test_time_in_which_the_same_offers_are_declined_is_left_out(monkeypatch):
    """Two frameworks wait a day for a task that holds everything; what they then get is what they get without."""
    tasks = [wanted("a", 2, 0, 86_000.0, "one"), wanted("a", 2, 10.3, 60.0, "two"), wanted("b", 1, 20.7, 60.0, "three")]
    given_demand = demand(["cpus:4.5;mem:8192", "cpus:1.5;mem:4096"], tasks, until=90_000.0)
    moments = 0
    do_next = Master.do_next

    def counted(self, until):
        nonlocal moments
        moments += 1
        return do_next(self, until)

    monkeypatch.setattr(Master, "do_next", counted)
    monkeypatch.setattr(ReplayRun, "_plain", lambda _self: None)  # the fast way has a test of its own
    played, _ = play(given_demand, (), FORCED)
    assert 0 < moments < 2000
    first, second, third = sorted(start for start in played.starts if start is not None)
    assert first < SINCE + 2
    assert first + 86_000 <= second <= first + 86_007
    assert second + 60 <= third <= second + 67  # the same agent has no room for both


@pytest.mark.parametrize("words", [(), ("quota:b=cpus:1",)])
def test_time_that_is_left_out_changes_nothing(monkeypatch, words):
    """Time is left out between two moments that are alike."""
    tasks = [wanted("a", 2, 0, 700.0, "one"), wanted("a", 2, 10.3, 60.0, "two"), wanted("b", 1, 20.7, 60.0, "three")]
    given_demand = demand(["cpus:4.5;mem:8192", "cpus:1.5;mem:4096"], tasks, until=900.0)
    monkeypatch.setattr(ReplayRun, "_plain", lambda _self: None)  # the fast way has a test of its own
    left_out, _ = play(given_demand, changed(*words), FORCED)
    monkeypatch.setattr(Recurrence, "repeat", lambda *_: False)
    assert play(given_demand, changed(*words), FORCED)[0].starts == left_out.starts
    assert None not in left_out.starts


@settings(max_examples=examples(20), deadline=None)
@given(AGENTS, TASKS, CHANGES)
def test_the_same_demand_is_played_the_same_and_sums_are_what_they_are_made_of(agents, tasks, words):
    if not tasks:
        return
    given_demand = demand(agents, tasks, until=700.0)
    answers = [compare_replays(given_demand, changed(*words), FORCED) for _ in range(2)]
    assert answers[0].after == answers[1].after
    answer = answers[0]
    assert answer.played_after is not None
    for role, outcome in answer.after.items():
        own = [place for place, task in enumerate(given_demand.tasks) if task.role == role]
        assert outcome.tasks == len(own)
        waits = [
            round((answer.played_after.starts[place] or SINCE + 700) - given_demand.tasks[place].asked, 6)
            for place in own
            if place not in answer.played_after.never_fit
        ]
        assert outcome.longest_wait == (max(waits) if waits else None)
        for name, amount in outcome.served.items():
            assert amount <= outcome.demanded[name]


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 60)), min_size=1, max_size=40))
def test_twice_the_cluster_never_makes_one_framework_wait_longer(asked):
    tasks = [wanted("a", 1, float(at), float(lasts)) for at, lasts in asked]
    longest = []
    for agents in (["cpus:4;mem:8192"], ["cpus:4;mem:8192"] * 2):
        given_demand = demand(agents, tasks)
        played, _ = play(given_demand, (), FORCED)
        longest.append(outcomes(given_demand, played, 3600)["a"].longest_wait or 0.0)
    assert longest[1] <= longest[0]


def test_a_task_that_fits_nowhere_is_told_from_one_that_starves():
    tasks = [wanted("a", 2, 0, 10_000.0), wanted("a", 2, 1, 60.0), wanted("b", 1, 2, 60.0)]
    given_demand = demand(["cpus:4;mem:3072"], tasks)
    played, interval = play(given_demand, (), FORCED)
    found = outcomes(given_demand, played, 600.0)
    assert (found["a"].never_fit, found["a"].started, found["a"].above_limit) == (0, 1, 1)
    assert (found["b"].never_fit, found["b"].above_limit, found["b"].longest_wait) == (1, 0, None)
    assert calibrate(given_demand, played, interval).compared == 0


def test_a_guarantee_is_unmet_while_its_role_waits():
    """Two tasks of another role hold the agent for a minute; the guaranteed one waits that long."""
    tasks = [wanted("b", 2, 0, 60.0), wanted("a", 2, 10, 60.0)]
    given_demand = demand(["cpus:4;mem:4096"], tasks, until=300)
    answer = compare_replays(
        given_demand, [TimedChange("quota:a=cpus:4", parse_change("quota:a=cpus:4"), SINCE + 5)], FORCED
    )
    before, after = answer.outcome("a")
    assert before.below_guarantee == 0
    assert after.below_guarantee == pytest.approx(after.longest_wait, abs=0.001)
    assert 49 <= after.below_guarantee <= 52


def test_an_agent_that_a_change_takes_away_takes_its_tasks_along():
    given_demand = demand(["cpus:4;mem:4096"], [wanted("a", 2, 0, 200.0)], until=300.0)
    lose = TimedChange("agents lost: h0", LoseAgents(("h0",)), SINCE + 100)
    answer = compare_replays(given_demand, [lose], FORCED)
    served = [side.served["cpus"] / 4000 for side in answer.outcome("a")]
    assert served == [pytest.approx(200, abs=0.01), pytest.approx(100, abs=0.01)]


def test_a_task_that_ended_before_its_agent_was_lost_keeps_its_end():
    given_demand = demand(["cpus:4;mem:4096"], [wanted("a", 0, 0, 200.0), wanted("b", 0, 0, 30.0)], until=300.0)
    lose = TimedChange("agents lost: h0", LoseAgents(("h0",)), SINCE + 100)
    answer = compare_replays(given_demand, [lose], FORCED)
    assert [side.served["cpus"] / 1000 for side in answer.outcome("b")] == [pytest.approx(30, abs=0.01)] * 2


def test_growth_of_the_waits_is_what_is_judged():
    tasks = [wanted("a", 2, float(place), 100.0) for place in range(30)]
    given_demand, changes = demand(["cpus:4;mem:4096"], tasks, until=900.0), changed("limit:a=cpus:0.5")
    answer = compare_replays(given_demand, changes, FORCED)
    assert answer.accepted
    # Nobody waited above an hour: the window is shorter.
    assert answer.verdict.startswith("NO: 30 of 30 tasks of a ")
    assert answer.verdict.endswith("; 20 had not without the change")
    stricter = compare_replays(given_demand, changes, replace(FORCED, wait_limit=300.0))
    assert stricter.harmed == ["a"]
    assert stricter.verdict.startswith("NO: 30 of 30 tasks of a ")
    assert stricter.verdict.endswith(" more than 5m; 26 did")


# --- Another release ----------------------------------------------------------------------------------


def upgraded(before, config, after, *words):
    """Replay four tasks of a role with a quota, all at once on one agent that has room for them."""
    quota = ReplayedSetting(SINCE, "quota", "a", json.dumps({"role": "a", **config}))
    tasks = [wanted("a", 0, 1.0, 60_000.0) for _ in range(4)]
    recorded = replace(demand(["cpus:8;mem:8192"], tasks), version=before, settings=[quota])
    answer = compare_replays(recorded, changed(*words), FORCED, upgrade=profile_of(after))
    return answer, [side.started for side in answer.outcome("a")]


TWO = {"cpus": {"value": 2.0}}


@pytest.mark.parametrize("before", ["1.4.3", "1.8.1"])
def test_a_guarantee_caps_its_role_after_an_upgrade_too(before):
    """It did before 1.9; a later master reads it as a limit as well."""
    answer, started = upgraded(before, {"guarantees": TWO}, "1.11.0")
    assert (started, answer.changes) == ([2, 2], ("upgrade to Mesos 1.11.0",))
    assert upgraded(before, {"guarantees": TWO}, "1.11.0", "limit:a=none")[1] == [2, 4]


def test_a_limit_is_not_kept_by_an_older_release():
    answer, started = upgraded("1.11.0", {"guarantees": TWO, "limits": {"cpus": {"value": 3.0}}}, "1.8.1")
    assert started == [3, 2]
    assert len(answer.assumptions) == len(answer.demand.assumptions) + 1, "that guarantees are set again is told"
    assert upgraded("1.11.0", {"limits": TWO}, "1.4.3")[1] == [2, 4]


def test_a_quota_that_means_the_same_changes_nothing():
    answer, started = upgraded("1.9.0", {"limits": TWO}, "1.11.0")
    assert (started, answer.assumptions, answer.answer) == ([2, 2], (), "yes")


# --- Recorded settings --------------------------------------------------------------------------------


def reserved(role, cpus):
    return {
        "name": "cpus",
        "type": "SCALAR",
        "scalar": {"value": cpus},
        "reservations": [{"type": "DYNAMIC", "role": role, "principal": "ops"}],
    }


def reservations(at, *entries):
    return ReplayedSetting(SINCE + at, "reservation", "m-S0", json.dumps(entries) if entries else None)


def replay_with_settings(agent, size, *recorded):
    """Replay a task of 1 or 4 cpus that is asked for after 100 s, on one agent, with a weight as the change."""
    plain = demand([agent], [wanted("c", size, 100, 60.0)])
    return compare_replays(replace(plain, settings=recorded), changed("weight:c=2"), FORCED)


@pytest.mark.parametrize(("ends", "runs"), [((reservations(50),), True), ((), False)])
def test_a_reservation_that_is_there_at_the_beginning_ends_when_it_did(ends, runs):
    plain = demand(["cpus:6;mem:8192"], [wanted("c", 2, 100, 60.0)])
    (there,) = plain.agents
    total = Resources([to_model(reserved("web", 4)), *parse_resources("cpus:2;mem:8192")])
    agents = [there._replace(agent=replace(there.agent, total=total))]
    answer = compare_replays(replace(plain, agents=agents, settings=ends), changed("weight:c=2"), FORCED)
    assert [side.started for side in answer.outcome("c")] == [runs, runs]


def test_what_is_refused_of_a_reservation_is_made_once_there_is_room():
    """Of 8 cpus, 6 for a and 6 for b are not all there; later a keeps its 6, b gets 2, and nothing is left."""
    recorded = (
        reservations(10, reserved("a", 6), reserved("b", 6)),
        reservations(20, reserved("a", 6), reserved("b", 2)),
    )
    assert replay_with_settings("cpus:8;mem:8192", 0, *recorded[:1]).outcome("c")[0].started == 1
    assert replay_with_settings("cpus:8;mem:8192", 0, *recorded).outcome("c")[0].started == 0


def test_the_answer_is_about_the_changes_whatever_becomes_of_recorded_settings():
    answer = replay_with_settings("cpus:8;mem:8192", 2, reservations(10, reserved("a", 600)))
    assert [one.status for one in answer.answers] == [200]
    assert answer.accepted


# --- The command --------------------------------------------------------------------------------------


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*words, master=""):
        environment = InMemory(variables={"HOME": str(tmp_path), "MESOSCTL_MASTER": master})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


def join_what_was_asked_for(typed, folder: Path) -> None:
    """Join the demand of the frameworks of LIVE, which ask at an interval, with their recording."""
    rows = ["framework,role,resources,asked"]
    with open_recording(folder / "h.sqlite") as recording:
        (cluster,) = recording.clusters()
        assert cluster.last_seen is not None
        for framework in recording.frameworks(cluster.cluster_id):
            size, every = {"jobs": ("cpus:2;mem:2GiB", 5), "site": ("cpus:1;mem:1GiB", 9)}[framework.name]
            asks = range(framework.start, cluster.last_seen, to_micros(every))
            rows += [f"{framework.name},{framework.roles[0]},{size},{at / 1e6:.6f}" for at in asks]
    (folder / "asked.csv").write_text("\n".join(rows), encoding="utf-8")
    joined = typed(*"history import --into h.sqlite --format demand asked.csv".split())
    assert joined.status == 0, joined.err


@pytest.mark.parametrize("seed", [1, 2])
def test_a_recording_of_the_fake_master_is_given_back(typed, tmp_path, seed):
    (tmp_path / "live.toml").write_text(LIVE.format(seed=seed), encoding="utf-8")
    recorded = typed("history", "record", "--history", "h.sqlite", "--duration", "20m", master="fake:live.toml")
    assert recorded.status == 0, recorded.err
    join_what_was_asked_for(typed, tmp_path)
    ran = typed("replay", "h.sqlite", "-o", "json")
    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["calibration"]["compared"] > 200
    assert answer["calibration"]["part_off"] == 0
    assert not answer["imported"]


def test_where_one_framework_wants_at_a_time_all_of_it_is_given_back(typed, tmp_path):
    first, opened, _ = LIVE.format(seed=3).partition('[[frameworks]]\nname = "site"')
    assert opened
    (tmp_path / "live.toml").write_text(first, encoding="utf-8")
    recorded = typed("history", "record", "--history", "h.sqlite", "--duration", "10m", master="fake:live.toml")
    assert recorded.status == 0, recorded.err
    join_what_was_asked_for(typed, tmp_path)
    answers = [typed("replay", "h.sqlite", "limit:batch=cpus:20", "-o", "json") for _ in range(2)]
    assert answers[0].out == answers[1].out
    calibration = json.loads(answers[0].out)["calibration"]
    assert (calibration["compared"] > 50, calibration["off"]) == (True, 0), calibration


def recording(tmp_path: Path, tasks, *, cpus=8, asked_is_known=True, joined=0.0) -> None:
    """A recording with one agent, and tasks: role, start, seconds; each started when it was asked for.

    Frameworks have `joined` so many seconds after it began.
    """
    with open_writer(tmp_path / "h.sqlite") as writer, writer.transaction():
        writer.put_cluster(
            RecordedCluster("c", "10.0.0.1:5050", "1.11.0", to_micros(SINCE), to_micros(SINCE + 3600), clean_end=True)
        )
        writer.add_agent("c", RecordedAgent("S0", "h0", parse_resources(f"cpus:{cpus};mem:8192"), to_micros(SINCE)))
        for role in dict.fromkeys(role for role, _, _ in tasks):
            writer.add_framework("c", RecordedFramework(f"F-{role}", role, (role,), to_micros(SINCE + joined)))
        for place, (role, start, lasts) in enumerate(tasks):
            begin = to_micros(SINCE + start)
            asked, end = begin if asked_is_known else None, begin + to_micros(lasts)
            task = RecordedTask(f"F-{role}", f"t{place}", role, SIZES[0], "S0", asked=asked, start=begin, end=end)
            writer.add_task("c", task)


def test_a_task_that_runs_when_the_time_begins_is_wanted_for_the_rest_of_it(tmp_path):
    recording(tmp_path, [("a", 0, 300), ("b", 150, 300)])
    with open_recording(tmp_path / "h.sqlite") as rows:
        (cluster,) = rows.clusters()
        read = read_demand(rows, cluster, Window(to_micros(SINCE + 100), to_micros(SINCE + 400)), None)
    found = {one.role: (one.asked - SINCE, one.lasts, one.age, one.ran_from_the_beginning) for one in read.tasks}
    assert found == {"a": (100, 200, 100, True), "b": (150, 300, 0, False)}


def test_a_framework_joins_when_it_joined_on_record(tmp_path):
    recording(tmp_path, [("web", 50, 60.0)], joined=20)
    with open_recording(tmp_path / "h.sqlite") as rows:
        (cluster,) = rows.clusters()
        read = read_demand(rows, cluster, Window(to_micros(SINCE), to_micros(SINCE + 300)), None)
    assert [one.joined for one in read.frameworks.values()] == [SINCE + 20]


@pytest.mark.parametrize("frameworks", [1, 4])
def test_what_waited_when_a_window_begins_waits_for_what_ran_then(typed, tmp_path, frameworks):
    """Four tasks hold everything until second 1000; four more wait from second 100 on, and one that never ran."""
    rows = [f"r{place},a,f{place % frameworks},1,0,0,1000" for place in range(4)]
    rows += [f"w{place},b,g{place % frameworks},1,100,1000,2000" for place in range(4)]
    log = "\n".join(["task,role,framework,cpus,asked,from,to", *rows, "n,b,g0,1,150,,1800", ""])
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    (tmp_path / "nodes.csv").write_text("agent,resources\nn0,cpus:4\n", encoding="utf-8")
    ran = typed(*"history import log.csv --format csv --agents nodes.csv --history w.sqlite".split())
    assert ran.status == 0, ran.err
    ran = typed("replay", "w.sqlite", "--since", "1970-01-01T00:08:20", "-o", "json")
    (_, waiting) = json.loads(ran.out)["roles"]
    assert waiting["before"]["tasks"] == 5
    assert waiting["before"]["median_wait_seconds"] == pytest.approx(900, abs=frameworks)


def test_agents_are_there_in_the_order_in_which_they_came_also_if_they_come_again(tmp_path):
    """The allocator serves them in this order."""
    recording(tmp_path, [("web", 0, 60.0)])
    start, total = to_micros(SINCE), parse_resources("cpus:1")
    with open_writer(tmp_path / "h.sqlite") as writer, writer.transaction():
        for name, since, until in (("S1", 0, 300), ("S2", 0, 200), ("S3", 0, 900), ("S2", 250, 900), ("S1", 400, 900)):
            at = (start + to_micros(since), start + to_micros(until))
            writer.add_agent("c", RecordedAgent(name, name, total, *at))
    with open_recording(tmp_path / "h.sqlite") as rows:
        (cluster,) = rows.clusters()
        read = read_demand(rows, cluster, Window(start, start + to_micros(900)), None)
    assert [one.agent.id for one in read.agents][-5:] == ["S1", "S2", "S3", "S2", "S1"]


def test_the_answer_has_a_verdict_a_table_and_a_page(typed, tmp_path):
    recording(tmp_path, [("web", 10 * place, 60.0) for place in range(20)])
    ran = typed("replay", "h.sqlite", "--wait-limit", "5m", "limit:web=cpus:1", "--report", "r.html")
    assert ran.status == 1, ran.err
    verdict = ran.out.splitlines()[0]
    assert verdict.startswith("NO: 13 of 20 tasks of web ")
    assert verdict.endswith(" more than 5m; 0 did")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert all(f"<title>{title}: " in page for title in ("Tasks that wait", "Dominant shares"))
    assert "limit:web=cpus:1" in page
    assert "beyond and below the fair share" in page
    harmless = typed("replay", "h.sqlite", "quota:web=cpus:2")
    assert (harmless.status, harmless.out.partition(":")[0]) == (0, "YES")


def test_a_change_holds_from_its_moment_on(typed, tmp_path):
    recording(tmp_path, [("web", 10 * place, 60.0) for place in range(20)])
    at = "at:1970-01-12T14:30Z"  # half an hour and more after the last task
    ran = typed("replay", "h.sqlite", "--wait-limit", "5m", at, "limit:web=cpus:0.5")
    assert ran.status == 0, ran.err


def test_a_recording_that_no_replay_gives_back_is_refused(typed, tmp_path):
    recording(tmp_path, [("web", 10, 600.0) for _ in range(20)], cpus=2, joined=5.0)
    ran = typed("replay", "h.sqlite")
    assert ran.status == 6
    assert "18 of 20 tasks start more than one allocation interval" in ran.err
    assert typed("replay", "h.sqlite", "--uncalibrated").status == 0


@pytest.mark.parametrize(("tasks", "status"), [(20, 1), (2, 0)])
@pytest.mark.parametrize("options", [(), ("--uncalibrated",)])
def test_a_replay_that_differs_where_the_recording_has_a_gap_says_that_the_answer_is_unknown(
    typed, tmp_path, tasks, status, options
):
    recording(tmp_path, [("web", 10, 600.0) for _ in range(tasks)], cpus=2, joined=5.0)
    with open_writer(tmp_path / "h.sqlite") as writer, writer.transaction():
        writer.add_gap("c", Gap(to_micros(SINCE + 900), to_micros(SINCE + 1000)))
    ran = typed("replay", "h.sqlite", *options)
    assert ran.status == status, ran.err
    if status:
        assert ran.out.startswith("PERHAPS: 1 gap in the recording")
        assert "18 of 20 tasks start more than two " in ran.out.replace("\n", " ")


@pytest.mark.parametrize(("joined", "status"), [(0.0, 1), (5.0, 6)])
def test_what_was_offered_before_a_replay_is_unknown_if_a_framework_was_there(typed, tmp_path, joined, status):
    recording(tmp_path, [("web", 10, 600.0) for _ in range(20)], cpus=2, joined=joined)
    assert typed("replay", "h.sqlite").status == status


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("at:2030-01-01", "quota:web=cpus:1"), "is not in the time that is replayed"),
        (("at:1h",), "no change comes after 'at:1h'"),
        (("at:1h", "at:30m", "weight:web=2"), "no change comes after 'at:1h'"),
        (("failover:50%",), "restarts the master, which a replay cannot"),
        (("--each", "failover:{50%,60%}"), "restarts the master, which a replay cannot"),
        (("--wait-limit", "soon"), "'soon' is not a span of time"),
        (("--mesos-version", "7"), "'7' is neither documents nor a release of Mesos"),
        (("--lose-framework", "web"), "No such option: --lose-framework"),
        (("--cycles", "10"), "No such option: --cycles"),
        (("--from", "x.json"), "No such option: --from"),
    ],
)
def test_words_that_cannot_be_replayed(typed, tmp_path, words, said):
    recording(tmp_path, [("web", 0, 60.0)])
    ran = typed("replay", "h.sqlite", *words)
    assert ran.status in (2, 3), ran.err
    assert said in ran.err


def test_what_is_wrong_with_a_recording_is_said_of_the_argument(typed, tmp_path):
    ran = typed("replay", "h.sqlite", "-o", "json")
    assert (ran.status, json.loads(ran.err)["error"]["field"]) == (3, "RECORDING")
    recording(tmp_path, [])
    ran = typed("replay", "h.sqlite", "-o", "json")
    assert (ran.status, json.loads(ran.err)["error"]["field"]) == (3, "RECORDING")
    assert "no task was wanted" in ran.err


def test_a_moment_may_stand_between_two_changes_of_quota(typed, tmp_path):
    recording(tmp_path, [("web", 10 * place, 60.0) for place in range(20)])
    at = "at:1970-01-12T14:30Z"  # half an hour and more after the last task
    words = ("limit:web=cpus:9", at, "limit:web=cpus:0.5")
    ran = typed("replay", "h.sqlite", "--wait-limit", "5m", *words)
    assert ran.status == 0, ran.err


# --- Several changes of one recording -----------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize("cores", [1, 3])
def test_alternatives_are_the_same_whatever_the_number_of_processes(typed, tmp_path, monkeypatch, cores):
    recording(tmp_path, [("web", 10 * place, 60.0) for place in range(20)] + [("ads", 5, 600.0)])
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    words = ("replay", "h.sqlite", "--wait-limit", "5m", "weight:ads=2", "--each", "limit:web=cpus:{1,2,9}")
    ran = typed(*words, "-o", "json")
    assert ran.status == 0, ran.err  # one of them is harmless
    found = json.loads(ran.out)["alternatives"]
    for one in found:
        alone = json.loads(typed(*words[:5], one["change"], "-o", "json").out)
        assert one["replay"] == alone
    assert [one["replay"]["harmless"] for one in found] == [False, False, True]
    shown = typed(*words)
    assert shown.out.splitlines()[0] == "1 of 3 changes would be harmless"
    assert any("13 of 20 tasks of web" in line and "5m; 0 did" in line for line in shown.out.splitlines())


@pytest.mark.process
def test_the_largest_guarantee_that_makes_nobody_wait(typed, tmp_path):
    """Ads keep 4 of 8 cpus busy, of which 6 are theirs if they ask; a guarantee of web leaves them what it does not."""
    recording(tmp_path, [("ads", place, 400.0) for place in range(6)] + [("web", 300, 60.0)])
    words = ("replay", "h.sqlite", "--wait-limit", "5m")
    ran = typed(*words, "--find-largest", "quota:web=cpus:?", "-o", "json", "--report", "r.html")
    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["best"]["change"] in (tmp_path / "r.html").read_text(encoding="utf-8")
    for side, status in (("best", 0), ("beyond", 1)):
        alone = typed(*words, answer[side]["change"], "-o", "json")
        assert alone.status == status
        assert json.loads(alone.out) == answer[side]["replay"]
    shown = typed(*words, "--find-largest", "quota:web=cpus:?")
    assert "no role would wait much longer" in shown.out.splitlines()[0]


def test_a_search_for_what_no_agent_has_says_so(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)])
    ran = typed("replay", "h.sqlite", "--find-largest", "quota:web=gpus:?")
    assert ran.status == 1
    assert ran.out.startswith("no agent has gpus, ")


# --- A framework that is not there yet ------------------------------------------------------------------


def test_the_tasks_of_an_added_framework_start_as_far_as_there_is_room(typed, tmp_path):
    """Eight of one cpu start at once, the other four when these are done; what was recorded waits for them."""
    recording(tmp_path, [("web", 30, 60.0)])
    word = "role=db;task=cpus:1,mem:256;tasks=12;lasts=5m"
    ran = typed("replay", "h.sqlite", "--add-framework", word, "-o", "json")
    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    (added,) = answer["added_frameworks"]
    assert (added["framework"], added["role"], added["tasks"], added["started_at_once"]) == (word, "db", 12, 8)
    assert 300 <= added["last_start_seconds"] <= 306
    assert 600 <= added["all_done_seconds"] <= 606
    assert {role["role"]: role["delayed"] for role in answer["roles"]} == {"db": 0, "web": 1}
    shown = typed("replay", "h.sqlite", "--add-framework", word)
    assert "db: 8 of 12 tasks start at once, " in shown.out
    assert "the last starts after 5m" in shown.out
    assert "than without the changes: 1 of web" in shown.out


def test_a_recorded_framework_may_have_the_name_that_an_added_one_would_get():
    own = wanted("a", 0, 0, 60.0, "added framework 1")
    added = parse_added_framework("role=b;task=cpus:1,mem:256;tasks=2;lasts=1m")
    answer = compare_replays(demand(["cpus:4;mem:8192"], [own]), [], FORCED, [added])
    assert [(one.tasks, one.started) for one in answer.added] == [(2, 2)]
    assert {role: (one.tasks, one.started) for role, one in answer.after.items()} == {"a": (1, 1), "b": (2, 2)}


def test_an_added_framework_asks_at_its_pace(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)])
    word = "role=db;task=cpus:4;tasks=3;every=10m"
    ran = typed("replay", "h.sqlite", "--add-framework", word, "-o", "json")
    (added,) = json.loads(ran.out)["added_frameworks"]
    assert (added["started_at_once"], added["started"]) == (2, 2)
    assert added["last_start_seconds"] is None
    assert added["all_done_seconds"] is None


def test_tasks_that_had_not_started_at_the_end_are_said(typed, tmp_path):
    """They waited for less than the limit, but nobody saw them start."""
    recording(tmp_path, [("web", 3000, 60.0), ("ads", 3000, 60.0)])
    ran = typed("replay", "h.sqlite", "quota:ads=cpus:8", "-o", "json")
    assert ran.status == 1, ran.err
    said = json.loads(ran.out)
    (web,) = [role for role in said["roles"] if role["role"] == "web"]
    assert (web["after"]["started"], web["after"]["waiting_at_the_end"], web["harmed"]) == (0, 1, True)
    assert said["answer"] == "no"
    assert said["verdict"].startswith("NO: 1 of 1 tasks of web ")


def test_a_task_of_an_added_framework_that_fits_nowhere_is_said(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)])
    ran = typed("replay", "h.sqlite", "--add-framework", "role=db;task=cpus:9")
    assert "db: no agent has room for such a task" in ran.out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("role=db", "--add-framework has no task"),
        ("role=db;task=cpus:1;task=cpus:2", "task is given twice"),
        ("role=db;task=cpus:1;last=1h", "did you mean lasts? for example, --add-framework 'role=db"),
        ("role=db;task=cpus:1;tasks=0", "tasks is '0': it must be a number from 1 to 1,000,000"),
        ("role=db;task=cpus(web):1", "is not the size of a task"),
        ("role=d b;task=cpus:1", "role"),
        ("role=db;task=cpus:1;mem:1GiB", "'mem:1GiB' belongs to the task"),
        ("role=db,task=cpus:1", "has a comma between parts"),
        ("role=db;task=cpus:1;lasts=soon", "'soon' is not a span of time"),
        ("role=db;task=cpus:1;lasts=400d", "goes on for more than 366 days"),
        ("role=db;task=cpus:1;tasks=3;every=300d", "goes on for more than 366 days"),
        ("role=db;task=cpus:1,cpus:2", "names a resource twice"),
    ],
)
def test_a_framework_that_is_not_described(typed, tmp_path, word, said):
    recording(tmp_path, [("web", 0, 60.0)])
    ran = typed("replay", "h.sqlite", "--add-framework", word)
    assert ran.status in (2, 3), ran.err
    assert said in ran.err


def test_tasks_that_would_be_asked_for_after_the_end_are_said(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)])
    word = "role=db;task=cpus:1;tasks=10;every=10m"
    ran = typed("replay", "h.sqlite", "--add-framework", word, "-o", "json")
    (added,) = json.loads(ran.out)["added_frameworks"]
    assert (added["tasks"], added["asked_after_the_end"]) == (6, 4)
    shown = typed("replay", "h.sqlite", "--add-framework", word)
    assert "it asks for 4 more after the end" in shown.out


def test_a_resource_that_no_agent_has_is_refused(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)])
    words = ("replay", "h.sqlite", "--add-framework", "role=db;task=cpu:1")
    ran = typed(*words)
    assert ran.status == 3
    assert "no agent has the resource 'cpu'" in ran.err
    assert "did you mean cpus?" in ran.err
    assert "no agent has room" in typed(*words, "--allow-new-resource").out


# --- What nobody recorded -----------------------------------------------------------------------------


def test_nobody_is_told_yes_about_waits_that_nobody_recorded(typed, tmp_path):
    recording(tmp_path, [("web", 10 * place, 60.0) for place in range(20)], asked_is_known=False)
    ran = typed("replay", "h.sqlite", "quota:web=cpus:2", "-o", "json")
    said = json.loads(ran.out)
    assert (ran.status, said["answer"], said["harmless"]) == (1, "unknown", False)
    assert said["verdict"].startswith("PERHAPS: nobody recorded when 20 of 20 tasks of web ")
    assert said["calibration"]["compared"] == 0
    assert "cannot be judged" in typed("replay", "h.sqlite").out


def test_what_does_not_depend_on_waits_is_answered_although_they_are_unknown(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)], asked_is_known=False)
    refused = typed("replay", "h.sqlite", "quota:web=cpus:800")
    assert (refused.status, refused.out.splitlines()[0]) == (1, "NO: it would be refused")
    never = typed("replay", "h.sqlite", "--add-framework", "role=db;task=cpus:9")
    assert (never.status, never.out.partition(":")[0]) == (1, "NO")


@pytest.mark.process
def test_alternatives_of_unknown_waits_are_unknown(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)], asked_is_known=False)
    each = typed("replay", "h.sqlite", "--each", "quota:web=cpus:{1,2}")
    assert (each.status, each.out.partition(":")[0]) == (1, "PERHAPS")
    largest = typed("replay", "h.sqlite", "--find-largest", "quota:web=cpus:?")
    assert (largest.status, largest.out.partition(":")[0]) == (1, "PERHAPS")


def test_few_tasks_that_nobody_knows_when_they_were_asked_for_leave_the_answer_as_it_is():
    tasks = [wanted("a", 0, float(place), 10.0) for place in range(100)]
    tasks[7] = tasks[7]._replace(asked_is_known=False)
    assert compare_replays(demand(["cpus:4;mem:4096"], tasks), changed("weight:a=2"), FORCED).answer == "yes"
    tasks[8] = tasks[8]._replace(asked_is_known=False)
    assert compare_replays(demand(["cpus:4;mem:4096"], tasks), changed("weight:a=2"), FORCED).answer == "unknown"


def test_a_window_no_longer_than_the_limit_says_that_nobody_can_wait_longer(typed, tmp_path):
    recording(tmp_path, [("web", 30, 60.0)])
    assert "nobody can wait longer than 1h in it" in typed("replay", "h.sqlite").out.splitlines()[1]
    assert "nobody can wait longer" not in typed("replay", "h.sqlite", "--wait-limit", "5m").out
