"""`replay --wait`: when one more task would start, from the lifetimes on record."""

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.__main__ import main
from mesosctl.history.records import RecordedAgent, RecordedCluster, RecordedFramework, RecordedTask, to_micros
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.replay.expected_wait import ExpectedWait, Lifetimes, TaskLifetime
from tests.helpers.surroundings import InMemory, Ran

SINCE, LENGTH = 1_000_000.0, 3600.0
WORDS = ("replay", "h.sqlite", "--wait")


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mesosctl.replay.wait_runs.DRAWS", 6)

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path), "MESOSCTL_MASTER": ""})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


def record(folder, ended, running):
    """A recording of one agent of 4 cpus: `ended` are lifetimes, `running` ages at its end, of tasks of one cpu."""
    with open_writer(folder / "h.sqlite") as writer, writer.transaction():
        start, end = to_micros(SINCE), to_micros(SINCE + LENGTH)
        writer.put_cluster(RecordedCluster("c", "10.0.0.1:5050", "1.11.0", start, end, clean_end=True))
        writer.add_agent("c", RecordedAgent("S0", "h0", parse_resources("cpus:4;mem:8192"), start, end))
        writer.add_framework("c", RecordedFramework("F", "web", ("web",), start))
        size = parse_resources("cpus:1;mem:256")
        for place, lasts in enumerate(ended):
            task = RecordedTask("F", f"e{place}", "web", size, "S0", start=start, end=start + to_micros(lasts))
            writer.add_task("c", task)
        for place, age in enumerate(running):
            task = RecordedTask("F", f"r{place}", "web", size, "S0", start=end - to_micros(age))
            writer.add_task("c", task)


def test_a_task_starts_at_once_where_there_is_room(typed, tmp_path):
    record(tmp_path, [600], [100, 100])
    ran = typed(*WORDS, "role=db;task=cpus:2")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[0].count("at once") == 2


@pytest.mark.process
def test_the_wait_is_what_is_left_of_lifetimes(typed, tmp_path, monkeypatch):
    """All lived 600 s, and four that hold everything are 100 s old."""
    record(tmp_path, [600] * 5, [100] * 4)
    ran = typed(*WORDS, "role=db;task=cpus:4", "-o", "json", "--report", "r.html")
    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    for name in ("median_wait_seconds", "p95_wait_seconds"):
        assert answer[name] == pytest.approx(500, abs=2)
    assert (answer["running"], answer["lifetimes"], answer["never_fits"]) == (4, 9, False)
    assert "would start" in (tmp_path / "r.html").read_text(encoding="utf-8")
    monkeypatch.setattr("mesosctl.replay.wait_runs.processors", lambda: 4)
    assert typed(*WORDS, "role=db;task=cpus:4", "-o", "json").out == ran.out


@pytest.mark.process
@pytest.mark.parametrize("agent", ["S0", None])
def test_tasks_of_many_frameworks_take_their_places_before_the_new_one_asks(typed, tmp_path, agent):
    """The agent is offered to one framework after the other, each time at an allocation."""
    record(tmp_path, [], [])
    many = 25
    with open_writer(tmp_path / "h.sqlite") as writer, writer.transaction():
        start, end = to_micros(SINCE), to_micros(SINCE + LENGTH)
        whole = parse_resources(f"cpus:{many}")
        writer.add_agent("c", RecordedAgent("S1", "h1", whole, start, end))
        for place in range(many + 4):
            ended = RecordedTask(f"F{place}", "e", f"r{place}", parse_resources("cpus:1"), agent, start=start)
            writer.add_task("c", replace(ended, end=start + to_micros(600)))
            running = replace(ended, id="r", start=end - to_micros(100), agent_id=agent and f"S{int(place >= 4)}")
            writer.add_task("c", running)
    ran = typed(*WORDS, "role=db;task=cpus:3", "-o", "json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["median_wait_seconds"] == pytest.approx(500, abs=1)


@pytest.mark.process
def test_where_the_record_does_not_reach_it_says_so(typed, tmp_path):
    record(tmp_path, [60] * 5, [3000] * 4)
    ran = typed(*WORDS, "role=db;task=cpus:4")
    assert ran.status == 1
    assert "not start within 50m" in ran.out.splitlines()[0]


def test_a_task_that_fits_nowhere_is_told_from_one_that_waits(typed, tmp_path):
    record(tmp_path, [60], [10])
    ran = typed(*WORDS, "role=db;task=cpus:5")
    assert ran.status == 1
    assert ran.out.startswith("db: no agent has room")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("role=db;task=cpus:1", "weight:db=2"), "CHANGES cannot be used with --wait"),
        (("role=db;task=cpus:1", "--lose-agent", "h0"), "--lose-agent cannot be used with --wait"),
        (("role=db;task=cpus:1", "--lose-fraction", "0.1"), "--lose-fraction cannot be used with --wait"),
        (("role=db;task=cpus:1", "--add-agent", "cpus:1"), "--add-agent cannot be used with --wait"),
        (("role=db;task=cpus:1", "--add-framework", "role=b;task=cpus:1"), "--add-framework cannot be used with"),
        (("role=db;task=cpus:1", "--each", "weight:db={1,2}"), "--each cannot be used with --wait"),
        (("role=db;task=cpus:1", "--find-largest", "quota:a=cpus:?"), "--find-largest cannot be used with --wait"),
        (("role=db;task=cpus:1", "--wait-limit", "1h"), "--wait-limit cannot be used with --wait"),
        (("role=db;task=cpus:1", "--uncalibrated"), "--uncalibrated cannot be used with --wait"),
        (("role=db;task=cpus:1", "--force"), "--force cannot be used with --wait"),
        (("role=db;task=cpus:1;tasks=3",), "'tasks' is not a part of --wait"),
        (("role=db",), "--wait has no task"),
        (("role=db;task=cpu:1",), "no agent has the resource 'cpu'"),
    ],
)
def test_words_that_ask_nothing(typed, tmp_path, words, said):
    record(tmp_path, [60], [10])
    ran = typed(*WORDS, *words)
    assert ran.status in (2, 3), ran.err
    assert said in ran.err


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ((5.0,) * 20, "would start within 5.00s (median), and within 5.00s in 95 of 100 cases"),
        (
            (5.0,) * 18 + (None,) * 2,
            "would start within 5.00s (median); in more than 5 of 100 cases it would not start within 1h00m",
        ),
        ((None,) * 20, "would most likely not start within 1h00m"),
    ],
)
def test_the_answer_in_a_sentence(waits, said):
    answer = ExpectedWait("db", parse_resources("cpus:1"), SINCE, waits, 3600.0, 9, 4)
    assert answer.sentence == f"db: such a task {said}"


FOUND = st.lists(st.builds(TaskLifetime, st.integers(1, 50).map(float), st.booleans()), max_size=8)


@given(FOUND, st.integers(0, 60).map(float), st.integers(0, 100))
def test_a_lifetime_that_is_drawn_is_on_record_and_longer_than_the_age(found, age, seed):
    drawn = Lifetimes(found).draw(Random(seed), age)
    if drawn is None:
        longest = max((one.seconds for one in found), default=0.0)
        assert longest <= age or not all(one.has_ended for one in found if one.seconds == longest)
    else:
        assert drawn > age
        assert TaskLifetime(drawn, has_ended=True) in found


def test_draws_follow_the_kaplan_meier_estimate():
    """Of four, one ended at 1 s, one was last seen at 2 s: the other two share its part."""
    lifetimes = Lifetimes([TaskLifetime(1, True), TaskLifetime(2, False), TaskLifetime(3, True), TaskLifetime(4, True)])
    random = Random(7)
    drawn = [lifetimes.draw(random, 0) for _ in range(4000)]
    for seconds, part in ((1, 0.25), (3, 0.375), (4, 0.375)):
        assert drawn.count(seconds) / len(drawn) == pytest.approx(part, abs=0.03)
