"""`replay -o jsonl` has a line for each task; the waits of a log stand beside those of its replay."""

import csv
import json
import re
from io import StringIO

import pytest

from mesosctl.__main__ import main
from mesosctl.history.records import RecordedAgent, RecordedCluster, RecordedFramework, RecordedTask, to_micros
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from tests.helpers.surroundings import InMemory, Ran

LOG = """\
task,role,framework,agent,resources,asked,from,to
b-1,batch,jobs,n1,cpus:4,2026-03-02T08:00:00Z,2026-03-02T08:00:30Z,2026-03-02T09:00:30Z
b-2,batch,jobs,n1,cpus:4,2026-03-02T08:00:10Z,2026-03-02T09:00:30Z,2026-03-02T10:00:30Z
b-3,batch,jobs,n1,cpus:4,2026-03-02T09:10:00Z,,2026-03-02T10:10:00Z
w-1,web,site,n1,cpus:1,2026-03-02T08:30:00Z,2026-03-02T08:50:00Z,2026-03-02T10:00:00Z
w-2,web,site,n1,cpus:9,2026-03-02T08:30:00Z,,2026-03-02T10:00:00Z
"""


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


@pytest.fixture
def log(typed, tmp_path):
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "nodes.csv").write_text("agent,resources\nn1,cpus:5\n", encoding="utf-8")
    ran = typed(*"history import log.csv --format csv --agents nodes.csv --history h.sqlite --cluster-id c".split())
    assert ran.status == 0, ran.err


def tasks_of(ran):
    """Return what each line says of a task, with times in seconds after eight o'clock."""
    found = {}
    for line in ran.out.splitlines():
        document = json.loads(line)
        assert document.pop("kind") == "replay.task"
        times = {name: _seconds(document[name]) for name in ("asked", "started", "start_before", "start_after")}
        found[document["task"]] = document | times
    return found


def _seconds(text):
    if text is None:
        return None
    hours, minutes, seconds = text[len("2026-03-02T") : -1].split(":")
    return (int(hours) - 8) * 3600 + int(minutes) * 60 + float(seconds)


def test_each_task_can_be_looked_up_before_and_after(typed, log):
    found = tasks_of(typed("replay", "h.sqlite", "limit:web=cpus:0.5", "-o", "jsonl"))
    assert list(found) == ["b-1", "b-2", "w-1", "w-2", "b-3"]
    first = found["b-1"]
    assert (first["framework_id"], first["role"], first["resources"]["amounts"]) == ("jobs", "batch", {"cpus": 4})
    assert (first["asked"], first["started"], first["start_before"], first["start_after"]) == (0, 30, 0, 0)
    assert found["b-2"]["started"] == 3630
    assert found["b-2"]["start_before"] == pytest.approx(3600, abs=2)
    web = found["w-1"]
    assert (web["asked"], web["started"], web["start_before"], web["start_after"]) == (1800, 3000, 1800, None)
    assert (found["w-2"]["never_fits"], found["w-2"]["start_before"], web["never_fits"]) == (True, None, False)
    assert (found["b-3"]["started"], found["b-3"]["asked"]) == (None, 4200)


def test_tasks_of_an_added_framework_are_among_them_without_an_id(typed, log):
    added = "role=db;task=cpus:1;tasks=2;every=40m;lasts=1m"
    lines = typed("replay", "h.sqlite", "--add-framework", added, "-o", "jsonl").out.splitlines()
    documents = [json.loads(line) for line in lines]
    assert [document["task"] for document in documents] == ["b-1", None, "b-2", "w-1", "w-2", None, "b-3"]
    assert all(document["start_before"] is None for document in documents if document["task"] is None)
    assert [document["started"] is None for document in documents] == [False, True, False, False, True, True, True]


def test_what_ran_at_the_beginning_and_what_nobody_recorded_is_null(typed, tmp_path):
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        at = [to_micros(1_772_438_400 + second) for second in (0, 50, 200, 3600, 55)]
        recording.put_cluster(RecordedCluster("c", "master", "1.11.0", at[0], at[3], clean_end=True))
        recording.add_agent("c", RecordedAgent("S0", "n1", parse_resources("cpus:5"), at[0], at[3]))
        recording.add_framework("c", RecordedFramework("F", "jobs", ("batch",), at[0], at[3]))
        for name, start, asked in (("early", at[4], None), ("unknown", at[2], None), ("known", at[2], at[1])):
            size = parse_resources("cpus:1")
            recording.add_task("c", RecordedTask("F", name, "batch", size, "S0", asked, start, at[3]))
    found = tasks_of(typed("replay", "h.sqlite", "--since", "2026-03-02T08:01Z", "--uncalibrated", "-o", "jsonl"))
    assert {name: (task["asked"], task["started"]) for name, task in found.items()} == {
        "early": (None, None), "unknown": (None, 200), "known": (50, 200),
    }  # fmt: skip
    assert {name: task["ran_from_the_beginning"] for name, task in found.items()} == {
        "early": True, "unknown": False, "known": False,
    }  # fmt: skip


def test_the_waits_of_a_log_stand_beside_those_of_its_replay(typed, log):
    ran = typed("replay", "h.sqlite", "--wait-limit", "15m", "-o", "json")
    document = json.loads(ran.out)
    batch, web = document["roles"]
    assert (batch["recorded"]["above_limit"], batch["before"]["above_limit"]) == (2, 2)
    assert (web["recorded"]["above_limit"], web["before"]["above_limit"]) == (2, 0)
    assert web["recorded"]["median_wait_seconds"] == 1200
    assert web["before"]["median_wait_seconds"] == 0
    assert "in the replay; 4 did on record" in document["verdict"]
    (first, second) = csv.DictReader(StringIO(typed("replay", "h.sqlite", "--wait-limit", "15m", "-o", "csv").out))
    assert (first["above_limit_recorded"], second["above_limit_recorded"]) == ("2", "2")


def test_csv_has_numbers(typed, log):
    rows = list(csv.DictReader(StringIO(typed("replay", "h.sqlite", "limit:web=cpus:0.5", "-o", "csv").out)))
    assert [row["part_served_before"] for row in rows][1] == "1"
    assert 0.7 < float(rows[0]["part_served"]) < 0.75
    for row in rows:
        assert all(re.fullmatch(r"[\d.]*", value) for name, value in row.items() if name != "role")


@pytest.mark.process
def test_documents_about_several_changes_have_the_answer(typed, log):
    each = json.loads(typed("replay", "h.sqlite", "--each", "limit:web=cpus:{0.25,0.5}", "-o", "json").out)
    assert (each["answer"], [one["replay"]["answer"] for one in each["alternatives"]]) == ("no", ["no", "no"])
    each = json.loads(typed("replay", "h.sqlite", "--each", "limit:web=cpus:{0.5,2}", "-o", "json").out)
    assert (each["answer"], [one["replay"]["answer"] for one in each["alternatives"]]) == ("yes", ["no", "yes"])
    largest = json.loads(typed("replay", "h.sqlite", "--find-largest", "quota:batch=cpus:?", "-o", "json").out)
    assert (largest["answer"], largest["best"] is None) == ("yes", False)


def test_the_page_says_at_which_hour_and_on_which_day_who_waits(typed, log, tmp_path):
    typed("replay", "h.sqlite", "limit:web=cpus:0.5", "--wait-limit", "30m", "--report", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for row, column, cell in (
        ("08:00", "web after", "1 of 1"), ("08:00", "batch before", "1 of 2"), ("09:00", "batch after", "1 of 1"),
        ("Monday", "web before", "0 of 1"), ("Monday", "batch after", "2 of 3"),
    ):  # fmt: skip
        assert re.search(f'<th scope="row">{row}</th>(<td[^>]*>[^<]*</td>)*<td data-title="{column}">{cell}</td>', page)
    for row in ("Sunday", "10:00"):
        assert f'<th scope="row">{row}</th>' not in page
