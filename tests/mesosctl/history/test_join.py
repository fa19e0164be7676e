"""`history import --format demand`: who asked for recorded tasks, and when."""

import json
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesosctl.__main__ import main
from mesosctl.history.export import lines
from mesosctl.history.imports import join as joining
from mesosctl.history.imports.join import import_demand
from mesosctl.history.records import (
    Gap,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedTask,
    Window,
    to_micros,
    to_seconds,
)
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.history.windows import time_zone
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput, UsageError
from tests.helpers.profiles import examples
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.history import true_demand

SINCE = 1_000_000.0
SMALL, LARGE = "cpus:1;mem:1024", "cpus:4;mem:2048"
FRAMEWORKS = {"F1": ("jobs", ("batch",)), "F2": ("site", ("web", "batch")), "F3": ("site", ("web",))}


def recorded(folder, tasks, gaps=()):
    """Record 1,000 seconds with these tasks: (id, framework, role, size, start, end); one with @1 is back again."""
    path = folder / "h.sqlite"
    path.unlink(missing_ok=True)
    with open_writer(path) as recording, recording.transaction():
        span = (to_micros(SINCE), to_micros(SINCE + 1000))
        recording.put_cluster(RecordedCluster("c", "master", "1.11.0", *span, clean_end=True))
        for framework_id, (name, roles) in FRAMEWORKS.items():
            begins = span[0] if framework_id != "F3" else to_micros(SINCE + 500)
            ends = to_micros(SINCE + 500) if framework_id == "F2" else None
            recording.add_framework("c", RecordedFramework(framework_id, name, roles, begins, ends))
        for name, framework, role, size, start, end in tasks:
            task_id, _, run = name.partition("@")
            recording.add_task("c", RecordedTask(
                framework, task_id, role, parse_resources(size), "S0", None, to_micros(SINCE + start),
                to_micros(SINCE + end), run=int(run or 0),
            ))  # fmt: skip
        for begin, end in gaps:
            recording.add_gap("c", Gap(to_micros(SINCE + begin), to_micros(SINCE + end)))
    return path


def joined(folder, text, **options):
    """Join demand with the recording; `@5` in the text stands for a time five seconds after the beginning."""
    (folder / "asked.csv").write_text(at_times(text), encoding="utf-8")
    with open_writer(folder / "h.sqlite") as recording:
        notes: list[str] = []
        done = import_demand(recording, folder / "asked.csv", "demand", None, lambda *_: None, notes.append, **options)
    return done, notes


def at_times(text):
    return (
        "\n".join(
            ",".join(f"{SINCE + float(cell[1:]):.6f}" if cell.startswith("@") else cell for cell in line.split(","))
            for line in text.strip().splitlines()
        )
        + "\n"
    )


def asked(folder):
    """Return when each task was asked for, in seconds after the beginning."""
    with open_recording(folder / "h.sqlite") as recording:
        return {
            f"{task.id}@{task.run}" if task.run else task.id: None if task.asked is None else task.asked / 1e6 - SINCE
            for task in recording.demand("c")
        }


def exported(folder):
    with open_recording(folder / "h.sqlite") as recording:
        rows = lines(recording, recording.clusters(), anonymise=False, keep_times=True)
        return [json.dumps(row) if isinstance(row, dict) else row for row in rows]


THREE = [
    ("a", "F1", "batch", SMALL, 10, 60), ("b", "F1", "batch", SMALL, 20, 60), ("c", "F1", "batch", SMALL, 30, 60),
    ("d", "F1", "batch", LARGE, 25, 60), ("e", "F2", "batch", SMALL, 15, 60),
]  # fmt: skip


def test_a_row_with_an_id_is_joined_with_its_task_whatever_the_order(tmp_path):
    recorded(tmp_path, THREE)
    done, _ = joined(tmp_path, "task,asked\nc,@1\nb,@2\na,@3\n")
    assert (done.by_id, done.in_order, done.never_started, done.still_unknown) == (3, 0, 0, 2)
    assert asked(tmp_path) == {"a": 3, "b": 2, "c": 1, "d": None, "e": None}


def test_rows_without_ids_are_joined_by_framework_role_size_and_order(tmp_path):
    recorded(tmp_path, THREE)
    done, _ = joined(
        tmp_path,
        "framework,role,cpus,mem,asked\n"
        "jobs,batch,1,1024,@7\nF1,batch,4,2048,@9\njobs,batch,1,1024,@2\nF1,batch,1,1024,@28\nsite,batch,1,1024,@3\n",
    )
    assert (done.by_id, done.in_order, done.never_started, done.still_unknown) == (0, 5, 0, 0)
    assert asked(tmp_path) == {"a": 2, "b": 7, "c": 28, "d": 9, "e": 3}


def test_a_task_that_started_before_it_was_asked_for_is_another_one(tmp_path):
    recorded(tmp_path, THREE)
    done, _ = joined(tmp_path, f"framework,role,resources,asked\njobs,batch,{SMALL},@12\njobs,batch,{SMALL},@30.5\n")
    assert (done.in_order, done.never_started) == (2, 0)
    assert asked(tmp_path) == {"a": None, "b": 12, "c": 30.5, "d": None, "e": None}  # who asks may count whole seconds


def test_what_never_started_is_kept_with_the_framework_that_was_there_then(tmp_path):
    recorded(tmp_path, THREE)
    done, _ = joined(
        tmp_path,
        f"task,framework,role,resources,asked,lasts\nx,jobs,batch,{LARGE},@900,7\n"
        f",site,web,{SMALL},@400,\n,site,web,{SMALL},@600,\n",
    )
    assert (done.done.used, done.never_started, done.still_unknown) == (3, 3, 5)
    with open_recording(tmp_path / "h.sqlite") as recording:
        never = [task for task in recording.demand("c") if task.start is None]
        assert [(task.framework_id, task.id, task.lasts) for task in never] == [
            ("F2", "line-3", None), ("F3", "line-4", None), ("F1", "x", 7_000_000),
        ]  # fmt: skip
        assert not recording.is_of_log("c")
        assert [(one.format, one.rows, one.used) for one in recording.imports()] == [("demand", 3, 3)]


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        (f",nobody,batch,{SMALL},@5", joining.NO_FRAMEWORK),
        ("z,,,,@5", joining.NOT_ENOUGH),
        (f"z,jobs,batch,{SMALL},@-5", joining.ENDED_BEFORE),
        (f"z,jobs,batch,{LARGE},@-5", joining.TOO_EARLY),
        (f",jobs,batch,{SMALL},@-5", joining.TOO_MANY_EARLIER),
        (f"z,jobs,batch,{SMALL},@1000", joining.TOO_LATE),
        ("a,,,,@50", joining.STARTED_BEFORE),
        ("b,,,,@4", joining.ASKED_ALREADY),
        ("twin,,,,@4", joining.SEVERAL_FRAMEWORKS),
    ],
)
def test_what_fits_nothing_is_counted_and_listed(tmp_path, row, cause):
    twins = [("twin", framework, "batch", LARGE, 50, 60) for framework in ("F1", "F2")]
    recorded(tmp_path, [*THREE, *twins])
    done, _ = joined(tmp_path, f"task,framework,role,resources,asked\nb,,,,@3\n{row}\n")
    assert [(one.row.line, one.cause) for one in done.unjoined] == [(3, cause)]
    assert (done.done.rows, done.done.used) == (2, 1)
    assert [(one.cause, one.rows, one.line) for one in done.done.skipped] == [(cause, 1, 3)]
    assert {name: at for name, at in asked(tmp_path).items() if at is not None} == {"b": 3}


@pytest.mark.parametrize(
    ("begins", "asked_for", "cause"),
    [
        ([("a", 0, -30), ("b", 10, -20)], -40, joining.ENDED_BEFORE),  # both that started were asked for later
        ([("a", 0, -30), ("b", 10, -20)], -10, None),  # b waited at the beginning, and x came after it
        ([("a", 0, -30), ("b", 10, -20)], -25, joining.ENDED_BEFORE),
        ([("b", 10, -20), ("c", 20, -5)], -10, joining.TOO_EARLY),  # it would have started between them
        ([("a", 0, -30), ("b", 0, -20)], -10, joining.TOO_EARLY),
        ([("a", 0, -30), ("b", 10, 5)], -40, joining.ENDED_BEFORE),
        ([], -40, joining.TOO_EARLY),
    ],
)
def test_tasks_that_are_alike_say_whether_one_still_waited_when_the_recording_began(tmp_path, begins, asked_for, cause):
    recorded(tmp_path, [(name, "F1", "batch", SMALL, start, 60) for name, start, _ in begins])
    others = "".join(f"{name},,,,@{at}\n" for name, _, at in begins)
    done, _ = joined(tmp_path, f"task,framework,role,resources,asked\n{others}x,jobs,batch,{SMALL},@{asked_for}\n")
    assert [one.cause for one in done.unjoined] == ([] if cause is None else [cause])
    assert ("x" in asked(tmp_path)) == (cause is None)


def test_what_still_waited_is_wanted_in_every_later_window_however_short_it_would_run(tmp_path):
    path = recorded(tmp_path, THREE)
    joined(tmp_path, f"task,framework,role,resources,asked,lasts\nx,jobs,batch,{LARGE},@70,5\n")
    with open_recording(path) as recording:
        assert [one.id for one in recording.demand("c", Window(to_micros(SINCE + 500), None))] == ["x"]


def test_a_task_that_is_back_with_its_agent_was_wanted_from_then_on(tmp_path):
    recorded(tmp_path, [("a", "F1", "batch", SMALL, 10, 60), ("a@1", "F1", "batch", SMALL, 100, 160)])
    joined(tmp_path, "task,asked\na,@3\n")
    assert asked(tmp_path) == {"a": 3, "a@1": 100}


def test_an_id_that_is_used_again_is_joined_in_order(tmp_path):
    recorded(tmp_path, [("a", "F1", "batch", SMALL, start, start + 5) for start in (10, 110, 210)])
    done, _ = joined(tmp_path, "task,asked\na,@200\na,@5\na,@109\n")
    assert done.by_id == 3
    with open_recording(tmp_path / "h.sqlite") as recording:
        assert [to_seconds(task.asked or 0) - SINCE for task in recording.tasks("c")] == [5, 109, 200]


DEMAND = (
    "task,framework,role,resources,asked\n"
    f"b,,,,@3\nx,jobs,batch,{LARGE},@70\n,jobs,batch,{SMALL},@2\n,jobs,batch,{SMALL},@40\n,site,web,{SMALL},@40\n"
)


def test_the_same_file_twice_gives_the_same_recording_and_the_same_counts(tmp_path):
    recorded(tmp_path, THREE)
    first, _ = joined(tmp_path, DEMAND)
    rows = exported(tmp_path)
    assert (first.by_id, first.in_order, first.never_started) == (1, 1, 3)
    again, _ = joined(tmp_path, DEMAND)
    assert again == first
    assert exported(tmp_path) == rows


def test_what_was_kept_as_waiting_is_joined_once_a_longer_recording_has_it(tmp_path):
    path = recorded(tmp_path, THREE)
    joined(tmp_path, DEMAND)
    with open_writer(path) as recording, recording.transaction():
        for name, role, size in (("x", "batch", LARGE), ("y", "batch", SMALL), ("z", "web", SMALL)):
            framework = "F2" if role == "web" else "F1"
            start, end = to_micros(SINCE + 80), to_micros(SINCE + 90)
            recording.add_task("c", RecordedTask(framework, name, role, parse_resources(size), "S0", None, start, end))
    done, _ = joined(tmp_path, DEMAND)
    assert (done.by_id, done.in_order, done.never_started) == (2, 3, 0)
    assert asked(tmp_path) == {"a": 2, "b": 3, "c": None, "d": None, "e": None, "x": 70, "y": 40, "z": 40}


def test_a_later_file_changes_only_what_it_names(tmp_path):
    recorded(tmp_path, THREE)
    joined(tmp_path, "task,asked\na,@3\n")
    joined(tmp_path, f"framework,role,resources,asked\njobs,batch,{SMALL},@4\n")
    assert asked(tmp_path) == {"a": 3, "b": 4, "c": None, "d": None, "e": None}
    done, _ = joined(tmp_path, "task,asked\na,@5\n", replace=True)
    assert done.by_id == 1
    assert asked(tmp_path) == {"a": 5, "b": 4, "c": None, "d": None, "e": None}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task\na\n", "has no column 'asked'"),
        ("asked,framework,role\n@1,jobs,batch\n", "neither a column 'task' nor a column 'resources'"),
        ("asked,framework,cpus\n@1,jobs,1\n", "neither a column 'task' nor a column 'role'"),
        ("task,asked\n", "has no rows"),
        ("task,asked\na,@3\nb,soon\n", "line 3, column asked: asked is not a number"),
        ("task,asked\na,@3\nb,\n", "line 3, column asked"),
        ("task,asked\na,@3\n,@4\n", "line 3: it has neither a task nor all of"),
        ("task,asked,cpus\na,@3,1\nb,@4\n", "line 3, column cpus"),
        ("task,asked,cpus\na,@3,1\nb,@4,-1\n", "line 3, column cpus: cpus is below zero"),
        ("task,asked,role\na,@3,\nb,@4,.\n", "line 3, column role"),
        ("task,asked,lasts\na,@3,\nb,@4,-2\n", "line 3, column lasts"),
        ('task,asked\na,@3\n"b,@4\n', "line 3"),
        (f"task,framework,role,resources,asked\nq,jobs,batch,{SMALL},@3\nr,jobs,batch,{SMALL},@4\n", "no task of"),
    ],
)
def test_a_file_that_is_wrong_anywhere_leaves_the_recording_as_it_was(tmp_path, text, says):
    recorded(tmp_path, THREE)
    before = exported(tmp_path)
    with pytest.raises(BadInput, match=says):
        joined(tmp_path, text)
    assert exported(tmp_path) == before


def test_too_many_rows_are_refused(tmp_path, monkeypatch):
    recorded(tmp_path, THREE)
    monkeypatch.setattr(joining, "MOST_ROWS", 2)
    joined(tmp_path, "task,asked\na,@3\nb,@4\n")
    before = exported(tmp_path)
    with pytest.raises(BadInput, match="more than 2 rows"):
        joined(tmp_path, "task,asked\na,@3\nb,@4\nc,@5\n")
    assert exported(tmp_path) == before


def test_columns_that_nobody_knows_and_gaps_are_noted(tmp_path):
    recorded(tmp_path, THREE, gaps=[(40, 50), (70, 80)])
    _, notes = joined(tmp_path, "task,asked,colour\na,@3,red\n")
    assert any("'colour'" in note for note in notes)
    assert any("2 gaps" in note for note in notes)


def test_the_cluster_has_to_be_there(tmp_path):
    recorded(tmp_path, THREE)
    (tmp_path / "asked.csv").write_text("task,asked\na,1\n", encoding="utf-8")
    with open_writer(tmp_path / "h.sqlite") as recording, pytest.raises(UsageError, match="no cluster 'other'"):
        import_demand(recording, tmp_path / "asked.csv", "demand", "other", lambda *_: None)


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recorded(tmp_path, THREE)

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


IMPORT = ("history", "import", "--into", "h.sqlite", "--format", "demand", "asked.csv")


@pytest.mark.parametrize(("zone", "noted"), [(None, True), ("Europe/Berlin", False)])
def test_asked_times_without_a_zone_are_of_the_one_that_is_named_or_of_utc_with_a_note(tmp_path, zone, noted):
    recorded(tmp_path, [("t-1", "F1", "batch", SMALL, 10, 20), ("t-2", "F1", "batch", LARGE, 12, 20)])
    local = None if zone is None else time_zone(zone)
    first, second = (datetime.fromtimestamp(SINCE + at, local or UTC).replace(tzinfo=None).isoformat() for at in (3, 4))
    done, notes = joined(tmp_path, f"task,asked\nt-1,{first}\nt-2,{second}", zone=local)
    assert (done.by_id, len(done.unjoined)) == (2, 0)
    with open_recording(tmp_path / "h.sqlite") as recording:
        assert [task.asked for task in recording.demand("c")] == [to_micros(SINCE + at) for at in (3, 4)]
    assert len(notes) == noted
    assert all("read as UTC" in note for note in notes)


def test_the_table_and_the_json_list_what_fits_nothing(typed, tmp_path):
    late = "".join(f"z{number},,,,@{number}\n" for number in range(25))
    (tmp_path / "asked.csv").write_text(at_times(DEMAND + late), encoding="utf-8")
    shown = typed(*IMPORT)
    assert shown.status == 0
    for words in ("joined by task id", "joined by framework, role, size and order", "kept: never started"):
        assert words in shown.out
    assert "… and 5 more" in shown.out
    assert "3 recorded tasks have no asked time yet" in shown.out
    written = json.loads(typed(*IMPORT, "-o", "json").out)
    found = written["joined"]
    assert (found["by_id"], found["in_order"], found["never_started"], found["still_unknown"]) == (1, 1, 3, 3)
    assert len(found["not_joined"]) == 25
    assert found["not_joined"][1] == {
        "line": 8, "task": "z1", "framework": None, "role": None, "asked": "1970-01-12T13:46:41.000Z",
        "cause": joining.NOT_ENOUGH,
    }  # fmt: skip
    assert written["imported"]["skipped"] == {joining.NOT_ENOUGH: 25}
    listed = json.loads(typed("history", "list", "--history", "h.sqlite", "-o", "json").out)
    assert [(one["format"], one["rows"], one["used"]) for one in listed["imports"]] == [("demand", 30, 5)]


def test_what_never_started_waits_in_a_replay(typed, tmp_path):
    """Of four small tasks and one large one, all asked for, two never start, and wait from when they were asked for."""
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        span = to_micros(SINCE), to_micros(SINCE + 1000)
        recording.add_agent("c", RecordedAgent("S0", "S0", parse_resources("cpus:2;mem:4096"), *span))
    rows = f"jobs,batch,{SMALL},@100,950\n" * 2 + f"jobs,batch,{SMALL},@250,950\n" * 2 + f"site,web,{LARGE},@300,\n"
    (tmp_path / "asked.csv").write_text(at_times(f"framework,role,resources,asked,lasts\n{rows}"), encoding="utf-8")
    assert typed(*IMPORT).status == 0
    ran = typed(
        "replay", "h.sqlite", "--since", "1970-01-12T13:48:10Z", "--wait-limit", "5m", "-o", "json", "--uncalibrated"
    )
    roles = {role["role"]: role["before"] for role in json.loads(ran.out)["roles"]}
    assert (roles["batch"]["tasks"], roles["batch"]["started"], roles["batch"]["above_limit"]) == (4, 2, 2)
    assert roles["batch"]["longest_wait_seconds"] == 750
    assert (roles["web"]["tasks"], roles["web"]["never_fit"]) == (1, 1)


# --- The truth ----------------------------------------------------------------------------------------


def check_truth(folder, seed, *, contended, with_ids):
    """Record a cluster that knows who asked when, join that, and replay it: everything is as it was."""
    truth = true_demand.random_recording(folder, Random(seed), contended=contended)
    true_demand.write_demand(folder / "asked.csv", truth, with_ids=with_ids)
    done = true_demand.join(truth, folder / "asked.csv")
    assert (done.unjoined, done.still_unknown) == ((), 0)
    assert (done.by_id, done.in_order) == ((len(truth.started), 0) if with_ids else (0, len(truth.started)))
    assert done.never_started == len(truth.tasks) - len(truth.started)
    with open_recording(truth.path) as recording:
        for task in recording.demand("true"):
            if task.start is not None:
                assert task.asked == true_demand.micros(truth.asked[task.id])
    like = true_demand.replayed(truth)
    assert like.off <= like.started / 100
    for true, replayed in like.percentiles.values():
        assert replayed == pytest.approx(true, abs=2.0)
    unknown = like.replay.unknown
    assert unknown is None or "had not started at the end" in unknown


def check_likeness(folder, seed, **cluster):
    """Record a cluster in which not everything is seen; return the part of the starts that are off, None if unknown."""
    truth = true_demand.random_recording(folder, Random(seed), **cluster)
    true_demand.write_demand(folder / "asked.csv", truth, with_ids=True)
    true_demand.join(truth, folder / "asked.csv")
    like = true_demand.replayed(truth)
    unknown = like.replay.unknown
    return None if unknown is not None and "off the recording" in unknown else like.off / like.started


@pytest.mark.parametrize("contended", [False, True])
@pytest.mark.parametrize("cluster", [{"leaves": True}, {"begins": 150.0}, {"leaves": True, "begins": 90.0}])
def test_where_agents_leave_or_a_recording_begins_late_each_task_starts_when_it_did(tmp_path, cluster, contended):
    assert check_likeness(tmp_path, 3, contended=contended, **cluster) == 0


@settings(max_examples=examples(6))
@given(
    seed=st.integers(0, 10_000),
    contended=st.booleans(),
    leaves=st.booleans(),
    begins=st.sampled_from([0.0, 80.0, 240.0]),
)
def test_what_a_recording_does_not_say_is_unknown_if_a_replay_shows_that_it_matters(
    tmp_path_factory, seed, contended, leaves, begins
):
    off = check_likeness(tmp_path_factory.mktemp("true"), seed, contended=contended, leaves=leaves, begins=begins)
    assert off is None or off <= 0.01


@settings(max_examples=examples(6))
@given(seed=st.integers(0, 10_000), contended=st.booleans(), with_ids=st.booleans())
@example(seed=5, contended=True, with_ids=True)
@example(seed=6, contended=True, with_ids=False)
def test_a_replay_starts_each_task_when_it_truly_started(tmp_path_factory, seed, contended, with_ids):
    folder = tmp_path_factory.mktemp("true")
    check_truth(folder, seed, contended=contended, with_ids=with_ids)
