"""The waits in `usage`, of tasks of which it is known when they were asked for."""

import csv
import json
from io import StringIO

import pytest

from mesosctl.__main__ import main
from mesosctl.history.records import RecordedAgent, RecordedCluster, RecordedFramework, RecordedTask, to_micros
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from tests.helpers.surroundings import InMemory, Ran

SINCE = 1_772_438_400.0
"""2026-03-02, 08:00 UTC."""
DAY = 86_400
TASKS = [  # id, framework, role, asked, start, end
    ("a", "F1", "batch", 0, 10, 600),
    ("b", "F1", "batch", 0, 30, 600),
    ("c", "F2", "batch", 100, 300, 600),
    ("d", "F2", "web", 100, 100, 600),
    ("e", "F2", "web", DAY, DAY + 50, DAY + 600),
    ("f", "F1", "batch", 2 * DAY - 500, None, None),
]


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


def recorded(folder, tasks, runs=()):
    """Record two days with these tasks; those of `runs` are the later runs of tasks, by id, start and end."""

    def at(second):
        return None if second is None else to_micros(SINCE + second)

    first, last = at(0), at(2 * DAY)
    with open_writer(folder / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(RecordedCluster("c", "master", "1.11.0", first, last, clean_end=True))
        recording.add_agent("c", RecordedAgent("S0", "n1", parse_resources("cpus:9"), first, last))
        for framework in ("F1", "F2"):
            recording.add_framework("c", RecordedFramework(framework, framework, ("batch", "web"), first, last))
        for name, framework, role, asked, start, end in tasks:
            agent = None if start is None else "S0"
            row = RecordedTask(framework, name, role, parse_resources("cpus:1"), agent, at(asked), at(start), at(end))
            recording.add_task("c", row)
        for name, start, end in runs:
            size = parse_resources("cpus:1")
            recording.add_task("c", RecordedTask("F1", name, "batch", size, "S0", None, at(start), at(end), run=1))


def waits(ran, key="role"):
    assert ran.status == 0, ran.err
    return {row[key]: row["wait_seconds"] for row in json.loads(ran.out)["rows"]}


def test_waits_are_those_of_each_role_and_framework(typed, tmp_path):
    recorded(tmp_path, TASKS)
    assert waits(typed("usage", "--history", "h.sqlite", "-o", "json")) == {
        "batch": {"median": 30, "p95": 500, "known": 4, "unasked": 0},
        "web": {"median": 0, "p95": 50, "known": 2, "unasked": 0},
    }
    by_framework = waits(typed("usage", "--history", "h.sqlite", "--by", "framework", "-o", "json"), "framework")
    assert {name: (of["median"], of["p95"]) for name, of in by_framework.items()} == {"F1": (30, 500), "F2": (50, 200)}


def test_waits_are_those_of_each_day(typed, tmp_path):
    recorded(tmp_path, TASKS)
    ran = typed("usage", "--history", "h.sqlite", "--step", "1d", "-o", "csv")
    found = {(row["role"], row["from"][:10]): row["p95_wait_seconds"] for row in csv.DictReader(StringIO(ran.out))}
    assert found == {
        ("batch", "2026-03-02"): "200", ("batch", "2026-03-03"): "", ("batch", "2026-03-04"): "500",
        ("web", "2026-03-02"): "0", ("web", "2026-03-03"): "50", ("web", "2026-03-04"): "",
    }  # fmt: skip


def test_a_window_has_the_tasks_that_start_in_it(typed, tmp_path):
    recorded(tmp_path, TASKS)
    ran = typed(*"usage --history h.sqlite --since 2026-03-02T08:00:20Z --until 2026-03-02T08:04:00Z -o json".split())
    assert waits(ran) == {
        "batch": {"median": 30, "p95": 140, "known": 2, "unasked": 0},
        "web": {"median": 0, "p95": 0, "known": 1, "unasked": 0},
    }


def test_waits_that_nobody_recorded_are_unknown(typed, tmp_path):
    unasked = [("u", "F1", "batch", None, 40, 600), ("v", "F1", "batch", None, 50, 600)]
    recorded(tmp_path, [*TASKS, *unasked], runs=[("a", 700, 800)])
    found = waits(typed("usage", "--history", "h.sqlite", "-o", "json"))
    assert found["batch"] == {"median": None, "p95": None, "known": 4, "unasked": 2}
    assert found["web"]["p95"] == 50
    shown = typed("usage", "--history", "h.sqlite").out
    assert "P95 WAIT" in shown
    assert "waits of 2 of 8 tasks are unknown" in shown
    assert "the 6 tasks that ended in this time" not in shown  # six tasks ended once, and one of them again
    assert "the 8 tasks that ended in this time" in shown


def test_a_recording_without_any_wait_has_no_columns_of_waits(typed, tmp_path):
    recorded(
        tmp_path, [(name, framework, role, None, start, end) for name, framework, role, _, start, end in TASKS[:4]]
    )
    assert "WAIT" not in typed("usage", "--history", "h.sqlite").out


def test_a_single_step_is_a_step(typed, tmp_path):
    recorded(tmp_path, TASKS)
    words = "usage --history h.sqlite --until 2026-03-02T10:00Z -o json".split()
    stepped, whole = (json.loads(typed(*words, *more).out)["rows"] for more in (("--step", "1d"), ()))
    assert [len(row["steps"]) for row in stepped] == [1, 1]
    assert [len(row["steps"]) for row in whole] == [0, 0]
    for row in stepped:
        assert row["steps"][0]["wait_seconds"] == row["wait_seconds"]
        assert row["steps"][0]["hours"] == row["hours"]
