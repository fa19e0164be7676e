"""The file of a recording: rows come back as they were written, and a file that cannot serve is refused in words."""

import contextlib
import os
import re
import sqlite3
import stat
from collections import deque
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.history import sqlite
from mesosctl.history.contents import contents
from mesosctl.history.export import lines
from mesosctl.history.records import (
    Gap,
    Import,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    SkippedRows,
    Suppression,
    Window,
    to_micros,
    to_seconds,
)
from mesosctl.history.sqlite import SCHEMA_VERSION, SqliteRecording, SqliteWriter, open_recording, open_writer
from mesosctl.history.windows import window_of
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput, Conflict, UsageError
from mesosctl.usage.calculation import UsageOptions, usage

_CLUSTER = RecordedCluster("c", "http://master:5050", "1.11.0", 0, 10, clean_end=True, principal="ops")
_RESERVED = Resources(
    [
        Resource("cpus", 1500, (Reservation("STATIC", "ads"),)),
        Resource("mem", 1000, (Reservation("DYNAMIC", "ads", "p", Labels([("a", "b")])),)),
        Resource(
            "disk",
            5000,
            (Reservation("DYNAMIC", "ads", "p"),),
            disk=Disk("id", principal="p", container_path="path", mode="RW"),
            shared=True,
        ),
        Resource("cpus", 2000, revocable=True),
    ]
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "h.sqlite"


@pytest.fixture
def full(path):
    """A recording with a row in each table."""
    quota = '{"role": "web", "guarantees": {"cpus": {"value": 2}}}'
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
        recording.begin_import("c", "log.csv", "csv")
        recording.add_agent("c", RecordedAgent("a", "host", _RESERVED, 0, 9, "removed", {"rack": "r1"}))
        recording.add_framework("c", RecordedFramework("f", "name", ("web",), 0, 9, "ops", ("MULTI_ROLE",)))
        task = RecordedTask("f", "t", "web", parse_resources("cpus:1"), "a", 0, 1, 5, 4, "TASK_FINISHED", "R")
        recording.add_task("c", task)
        recording.end_import(Import("c", "log.csv", "csv", 2, 1, (SkippedRows("cause", 1, 2, "to"),)))
        recording.add_suppression("c", Suppression("f", "web", suppressed=True, start=0, end=9))
        recording.add_setting("c", RecordedSetting("quota", "web", quota, 0, 9))
        recording.add_runs("c", [1])
        recording.add_gap("c", Gap(2, 3))
    return path


@pytest.fixture
def written(path):
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
        recording.add_task("c", RecordedTask("f", "t", "web", parse_resources("cpus:1"), "a", start=0, end=5))
    return path


@given(st.integers(-(2**40), 2**52))
def test_a_microsecond_survives_the_seconds_of_the_file(micros):
    assert to_micros(to_seconds(micros)) == micros


def test_rows_come_back_as_they_were_written(path):
    task = RecordedTask(
        "f", "t", "ads/x", _RESERVED, "a", 1, 2, 3, None, "TASK_FAILED", "REASON_X", start_known=False, end_known=False
    )
    executor = RecordedTask("f", "e", "ads", parse_resources("cpus:0.1"), "a", start=4, is_executor=True, run=2)
    agent = RecordedAgent("a", "host", _RESERVED, 0, 9, "drained", {"rack": "r1", "size": 2.0})
    framework = RecordedFramework("f", "name", ("ads", "ads/x"), 0, None, "p", ("MULTI_ROLE",))
    suppression = Suppression("f", "ads", suppressed=True, start=1, end=2)
    setting = RecordedSetting("quota", "ads", '{"role":"ads"}', 0)
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
        recording.add_task("c", task)
        recording.add_task("c", executor)
        recording.add_agent("c", agent)
        recording.add_framework("c", framework)
        recording.add_suppression("c", suppression)
        recording.add_setting("c", setting)
        recording.add_runs("c", [5, 1, 5])
        recording.add_gap("c", Gap(6, 8))
    with open_recording(path) as read:
        assert read.clusters() == [_CLUSTER]
        assert list(read.tasks("c")) == [task, executor]
        assert list(read.demand("c")) == [task]
        assert list(read.agents("c")) == [agent]
        assert list(read.frameworks("c")) == [framework]
        assert list(read.suppressions("c")) == [suppression]
        assert list(read.settings("c")) == [setting]
        assert list(read.runs("c")) == [1, 5]
        assert list(read.gaps("c")) == [Gap(6, 8)]


def test_a_window_has_the_rows_that_hold_in_it_for_a_moment(path):
    def task(name, start, end):
        return RecordedTask("f", name, "web", parse_resources("cpus:1"), start=start, end=end)

    at_once = [task(f"at {moment}", moment, moment) for moment in (9, 10, 20)]
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
        for one in (task("before", 0, 10), task("across", 5, 11), task("open", 1, None), task("after", 20, 30)):
            recording.add_task("c", one)
        for one in at_once:
            recording.add_task("c", one)
    with open_recording(path) as read:
        assert [one.id for one in read.tasks("c", Window(10, 20))] == ["open", "across", "at 10"]


def test_the_demand_of_a_window_has_what_waited_or_ran_when_it_began(path):
    asked = {
        "gone": (2, None, None, 8), "waits": (2, None, None, 9), "endless": (2, None, None, None),
        "over": (2, 4, 10, None), "runs": (2, 4, 11, None), "later": (2, 15, 30, None), "new": (10, None, None, 5),
        "after": (20, None, None, 5),
    }  # fmt: skip
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
        for name, (at, start, end, lasts) in asked.items():
            size = parse_resources("cpus:1")
            row = RecordedTask("f", name, "web", size, asked=at, start=start, end=end, lasts=lasts)
            recording.add_task("c", row)
    with open_recording(path) as read:
        assert [one.id for one in read.demand("c", Window(10, 20))] == ["waits", "endless", "runs", "later", "new"]


def test_what_is_open_can_be_ended_by_its_key(written):
    with open_writer(written) as recording:
        with recording.transaction():
            recording.add_task("c", RecordedTask("f", "u", "web", parse_resources("cpus:2"), "a", start=1))
        (kept,) = recording.open_tasks("c")
        with recording.transaction():
            recording.end_task(kept.key, 7, "TASK_LOST", None, known=False)
        assert recording.open_tasks("c") == []
        assert [(one.end, one.state, one.end_known) for one in recording.tasks("c")] == [
            (5, None, True),
            (7, "TASK_LOST", False),
        ]


def begin_and_fail(recording):
    with recording.transaction():
        recording.add_task("c", RecordedTask("new", "u", "role", parse_resources("cpus:7"), "a", start=1))
        recording.add_gap("another cluster", Gap(0, 1))


def test_a_transaction_that_fails_leaves_nothing(written):
    with open_writer(written) as recording:
        with pytest.raises(BadInput, match="no cluster"):
            begin_and_fail(recording)
        with recording.transaction():
            recording.add_task("c", RecordedTask("new", "v", "role", parse_resources("cpus:7"), "a", start=1))
        assert [one.id for one in recording.tasks("c")] == ["t", "v"]


def test_only_its_owner_reads_it(written):
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_a_second_writer_is_refused_and_readers_are_not(written):
    with open_writer(written) as first:
        with pytest.raises(Conflict, match="another process is writing") as refused:
            open_writer(written)
        assert "another file" in str(refused.value.hint)
        with first.transaction(), open_recording(written) as reader:
            assert len(list(reader.tasks("c"))) == 1
    open_writer(written).close()


def linked_folder(path, other):
    """The same file by the name of a link to its folder."""
    other.with_suffix(".d").symlink_to(path.parent)
    return other.with_suffix(".d") / path.name


def linked(path, other):
    """A link to a link to the file."""
    (other.parent / "step").symlink_to(path.name)
    other.symlink_to("step")
    return other


def hard_linked(path, other):
    """A second name."""
    other.hardlink_to(path)
    return other


def renamed(path, other):
    """Another name."""
    return path.rename(other)


def count(path):
    with open_recording(path) as read:
        return len(list(read.tasks("c")))


def add(path):
    with open_writer(path) as recording, recording.transaction():
        recording.add_task("c", RecordedTask("f", "u", "web", parse_resources("cpus:1"), start=1))


@pytest.mark.parametrize("name", [linked, linked_folder, hard_linked, renamed])
def test_a_second_writer_is_refused_by_whatever_name_it_comes(written, tmp_path, name):
    with open_writer(written):
        other = name(written, tmp_path / "other.sqlite")
        with pytest.raises(Conflict, match="another process is writing to"):
            open_writer(other)
    assert count(other) == 1


@pytest.mark.parametrize("name", [linked, linked_folder, renamed])
def test_a_writer_after_the_first_may_use_another_name_and_its_log_is_beside_the_file(written, tmp_path, name):
    other = name(written, tmp_path / "other.sqlite")
    add(other)
    assert count(other) == 2
    with open_writer(other) as recording:
        with recording.transaction():
            recording.add_gap("c", Gap(0, 1))
        beside = {one.name for one in other.resolve().parent.glob("*-wal")}
        assert beside == {f"{other.resolve().name}-wal"}
        assert count(other) == 2


def test_a_recording_with_two_names_is_not_written_until_one_is_gone(written, tmp_path):
    other = hard_linked(written, tmp_path / "other.sqlite")
    for name in (written, other):
        with pytest.raises(Conflict, match=r"has 2 names \(hard links\)"):
            open_writer(name)
        assert count(name) == 1
    written.unlink()
    add(other)
    assert count(other) == 2


def test_a_link_to_a_file_that_is_not_there_yet_leads_to_the_new_recording(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "h.sqlite")
    with open_writer(tmp_path / "link") as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
    assert (tmp_path / "h.sqlite").stat().st_nlink == 1
    with open_recording(tmp_path / "h.sqlite") as read:
        assert read.clusters() == [_CLUSTER]


def test_a_reader_by_a_link_sees_what_is_written_meanwhile(written, tmp_path, monkeypatch):
    """Nobody may write in the folder of the link, and the log is in that of the file."""
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "link").symlink_to(written)
    monkeypatch.setattr(os, "access", lambda place, _: str(folder) not in str(place))
    with open_writer(written) as recording:
        with recording.transaction():
            recording.add_task("c", RecordedTask("f", "u", "web", parse_resources("cpus:1"), start=1))
        assert count(folder / "link") == 2


def test_a_reader_by_a_hard_link_is_told_that_the_last_rows_are_beside_another_name(written, tmp_path):
    with open_writer(written) as recording:
        with recording.transaction():
            recording.add_task("c", RecordedTask("f", "u", "web", parse_resources("cpus:1"), start=1))
        other = hard_linked(written, tmp_path / "other.sqlite")
        for _ in range(2):
            with pytest.raises(Conflict, match="by another name"):
                open_recording(other)
        assert count(written) == 2
    assert count(other) == count(written) == 2


@pytest.mark.parametrize("opened", [open_recording, open_writer])
def test_a_fifo_is_refused_at_once(path, opened):
    os.mkfifo(path)
    with pytest.raises(BadInput, match="it is a FIFO"):
        opened(path)


def test_no_file(path):
    with pytest.raises(BadInput, match="there is no recording"):
        open_recording(path)


@pytest.mark.parametrize("opened", [open_recording, open_writer])
def test_for_a_folder_a_file_in_it_is_suggested(tmp_path, opened):
    with pytest.raises(BadInput, match="is a directory") as refused:
        opened(tmp_path)
    assert str(refused.value.hint).endswith(f" {tmp_path / 'h.sqlite'}")


@pytest.mark.parametrize("opened", [open_recording, open_writer])
@pytest.mark.parametrize("content", [b"", b"{}", b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_no_recording(path, opened, content):
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"is not a recording|is damaged"):
        opened(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("opened", [open_recording, open_writer])
def test_another_programs_database(path, opened):
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE tasks (id)")
    with pytest.raises(BadInput, match="another program's database"):
        opened(path)


@pytest.mark.parametrize("opened", [open_recording, open_writer])
def test_a_newer_schema(written, opened):
    with closing(sqlite3.connect(written)) as other:
        other.execute("PRAGMA user_version=99")
    with pytest.raises(BadInput, match="its schema is 99"):
        opened(written)


def test_a_recording_of_version_1_is_read_and_a_writer_makes_it_the_present_version(written):
    with closing(sqlite3.connect(written)) as other:
        other.execute("PRAGMA user_version=1")

    def version():
        with closing(sqlite3.connect(written)) as other:
            return other.execute("PRAGMA user_version").fetchone()

    with open_recording(written) as recording:
        assert [task.id for task in recording.tasks("c")] == ["t"]
    assert version() == (1,)
    lending = RecordedSetting("lending", "", '{"names": ["cpus"]}', 0)
    with open_writer(written) as recording, recording.transaction():
        assert [task.id for task in recording.tasks("c")] == ["t"]
        recording.add_setting("c", lending)
    assert version() == (SCHEMA_VERSION,)
    with open_recording(written) as read:
        assert list(read.settings("c")) == [lending]


def test_a_recording_from_before_profiles_is_read_and_a_writer_adds_them(written):
    with closing(sqlite3.connect(written)) as other:
        other.execute("ALTER TABLE clusters DROP COLUMN mesos_profile")
        other.execute("PRAGMA user_version=2")
    with open_recording(written) as recording:
        assert [cluster.mesos_profile for cluster in recording.clusters()] == [None]
    with open_writer(written) as recording, recording.transaction():
        recording.put_cluster(replace(_CLUSTER, mesos_profile="documents"))
    with open_recording(written) as recording:
        assert list(recording.clusters()) == [replace(_CLUSTER, mesos_profile="documents")]


@pytest.mark.parametrize("value", ["{}", '{"names": "cpus"}', '{"names": [3]}', "[]", "cpus"])
def test_what_is_lent_is_a_list_of_names(written, value):
    with open_writer(written) as recording, recording.transaction():
        recording.add_setting("c", RecordedSetting("lending", "", value, 0))
    with open_recording(written) as read, pytest.raises(BadInput, match="is damaged"):
        list(read.settings("c"))


@pytest.mark.parametrize("opened", [open_recording, open_writer])
def test_a_damaged_file(written, opened):
    content = bytearray(written.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    written.write_bytes(content)
    with pytest.raises(BadInput, match="is damaged"):
        opened(written)
    assert written.read_bytes() == content


def test_a_word_that_is_gone_is_damage_and_its_number_is_said(written):
    with closing(sqlite3.connect(written)) as other:
        (number,) = other.execute("SELECT role FROM task_rows").fetchone()
        other.execute("DELETE FROM names WHERE name = ?", (number,))
        other.commit()
    with open_recording(written) as recording, pytest.raises(BadInput, match=rf"is damaged: .* {number}$"):
        list(recording.tasks("c"))


NAMES = st.text("ab", min_size=1, max_size=3)
AMOUNTS = st.integers(1, 4).map(lambda number: Resources([Resource("cpus", number * 1000)]))
HELD = st.one_of(AMOUNTS, st.just(_RESERVED))


@given(st.lists(st.tuples(NAMES, NAMES, NAMES, HELD), max_size=30), st.sampled_from([0, 300, 3000]))
def test_how_much_is_remembered_changes_nothing(tmp_path_factory, rows, most):
    """Names and resources are written and read as they are, with a memory for none, for some or for all of them."""
    path = tmp_path_factory.mktemp("known") / "h.sqlite"
    tasks = [
        RecordedTask(framework, f"t{number}", role, held, agent, start=number)
        for number, (framework, role, agent, held) in enumerate(rows)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_MOST_KNOWN", most)
        for part in (tasks[::2], tasks[1::2]):
            with SqliteWriter(path) as recording, recording.transaction():
                recording.put_cluster(_CLUSTER)
                for task in part:
                    recording.add_task("c", task)
                words = recording._words
                sizes = (len(words._numbers), len(words._places), len(words._numbers_of_objects._kept))
                assert max(sizes) <= max(1, most // 100)
        with SqliteRecording(path) as read:
            assert list(read.tasks("c")) == tasks
            assert len(read._words._texts) <= max(1, most // 100)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) = count(DISTINCT text) FROM names").fetchone() == (1,)


def test_of_resources_that_are_long_few_are_remembered(path):
    """A writer that opens a recording knows those that it wrote last, as far as there is room."""
    with SqliteWriter(path) as recording, recording.transaction():
        recording.put_cluster(_CLUSTER)
        for number in range(40):
            held = parse_resources(f"ports:[{number}-{number}];{'r' * (1 << 19)}:1")
            recording.add_task("c", RecordedTask("f", f"{number}", "web", held, start=1))
    with SqliteWriter(path) as recording:
        known = [*recording._words._places.values()]
    assert 10 < len(known) < 25
    assert max(known) == 40


def test_a_value_that_is_far_too_large_is_refused_and_not_called_damage(written):
    with closing(sqlite3.connect(written)) as other:
        other.execute("UPDATE names SET text = ? WHERE text = 'web'", ("w" * ((64 << 20) + 1),))
        other.commit()
    with pytest.raises(BadInput, match="a value is larger than 64 MiB"):
        open_recording(written)


@pytest.mark.parametrize("table", ["clusters", "names", "resources", *(one.table for one in sqlite._ALL[1:])])
@pytest.mark.parametrize("opened", [open_recording, open_writer])
def test_a_view_in_the_place_of_a_table_is_refused_before_it_is_read(full, opened, table):
    """Its rows might have no end."""
    with closing(sqlite3.connect(full)) as other:
        names = [name for _, name, *_ in other.execute(f"PRAGMA table_info({table})")]
        other.executescript(f"""
            DROP TABLE {table};
            CREATE VIEW {table} ({", ".join(names)}) AS
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
            SELECT {", ".join("n" * len(names))} FROM numbers
        """)
    with pytest.raises(BadInput, match=f"it has no table {table}"):
        opened(full)


def fill(recording):
    with recording.transaction():
        for number in range(100_000):
            recording.add_task("c", RecordedTask("f", f"{number}", "web", parse_resources("cpus:1"), start=1))


ODD = [float("inf"), -1.0, 1e15, 1e308, 2**62, "abc", b"\x00\xff", "[1]", '{"role": "x", "guarantees": {"cpus": 7}}']
COLUMNS = {
    "clusters": ("cluster_id", "address", "version", "first_time", "last_time", "principal", "clock_steps"),
    "names": ("text",),
    "resources": ("text", "json"),
    "agent_rows": ("agent", "host", "attributes", "from_time", "to_time", "cause"),
    "framework_rows": ("framework_name", "principal", "roles", "capabilities", "from_time", "to_time"),
    "suppressed_rows": ("role", "suppressed", "from_time", "to_time"),
    "task_rows": ("task", "run", "asked_time", "from_time", "to_time", "lasts", "state", "is_executor"),
    "settings": ("kind", "name", "value", "from_time", "to_time"),
    "runs": ("time",),
    "gaps": ("from_time", "to_time"),
    "imports": ("rows", "skipped"),
}


@pytest.mark.parametrize(("table", "column"), [(table, one) for table, columns in COLUMNS.items() for one in columns])
def test_an_odd_value_of_another_program_is_damage_or_left_as_it_is_and_no_bug(full, table, column):
    """Every question ends, and with BadInput or an answer."""
    for odd in ODD:
        with closing(sqlite3.connect(full)) as other:
            before = (
                other.execute(f"SELECT rowid, {column} FROM {table} LIMIT 1").fetchone() if table != "runs" else None
            )
            where = "" if before is None else f"WHERE rowid = {before[0]}"
            other.execute(f"UPDATE OR IGNORE {table} SET {column} = ? {where}", (odd,))
            other.commit()
        with contextlib.suppress(BadInput, UsageError), open_recording(full) as recording:
            held = contents(recording)
            for cluster in held.clusters:
                assert list(lines(recording, [cluster.cluster], anonymise=False, keep_times=True))
                since, until = window_of(cluster.cluster, None, None)
                usage(recording, cluster.cluster, UsageOptions(since, until, half_life=10))
        if before is not None:
            with closing(sqlite3.connect(full)) as other:
                other.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (before[1], before[0]))
                other.commit()


def test_a_text_that_is_not_utf_8_is_damage_wherever_it_stands(full):
    with closing(sqlite3.connect(full)) as other:
        other.execute("PRAGMA journal_mode=DELETE")
    whole, at, refused = full.read_bytes(), -1, 0
    while (at := whole.find(b"TASK_FINISHED", at + 1)) >= 0:
        full.write_bytes(whole[:at] + b"\xff\xfe" + whole[at + 2 :])
        try:
            with open_recording(full) as recording:
                list(recording.tasks("c"))
        except BadInput as error:
            refused += "is damaged" in error.message
    assert refused >= 2  # in its table and in its index


def test_a_full_disk_loses_nothing_that_was_written_before(written):
    with SqliteWriter(written) as recording:
        recording._connection.execute("PRAGMA max_page_count=40")
        with pytest.raises(BadInput, match="full") as refused:
            fill(recording)
        assert "what was written before is whole" in str(refused.value.hint)
    with open_recording(written) as reader:
        assert [one.id for one in reader.tasks("c")] == ["t"]


class _Full(Exception):
    """The disk was full, and the statement that met it said so."""


def fill_with(recording, task_of):
    with recording.transaction():
        try:
            deque((recording.add_task("c", task_of(number)) for number in range(1, 10_000)), 0)
        except BadInput as error:  # already here: a recorder holds the transaction open, and is not inside of it
            raise _Full(error.message) from error


def of_new_words(number):
    return RecordedTask(f"f{number}" * 99, "t", "web", parse_resources("cpus:1"), start=1)


def of_new_resources(number):
    return RecordedTask("f", "t", "web", parse_resources(f"cpus:{number};{'r' * 999}:1"), start=1)


@pytest.mark.parametrize("task_of", [of_new_words, of_new_resources])
def test_a_disk_that_is_full_where_a_word_is_new_is_explained_at_once(written, task_of):
    with SqliteWriter(written) as recording:
        recording._connection.execute("PRAGMA max_page_count=40")
        with pytest.raises(_Full, match=re.escape(str(written))):
            fill_with(recording, task_of)
    with open_recording(written) as reader:
        assert [one.id for one in reader.tasks("c")] == ["t"]


def test_nothing_is_left_beside_a_recording_after_a_clean_end(written):
    folder = written.parent
    assert [file.name for file in folder.glob("h.sqlite*")] == ["h.sqlite"]
    for _ in range(2):
        with open_recording(written) as reader:
            assert len(list(reader.tasks("c"))) == 1
        assert [file.name for file in folder.glob("h.sqlite*")] == ["h.sqlite"]
        with open_writer(written) as writer, open_recording(written) as reader:
            assert len(list(reader.tasks("c"))) == len(list(writer.tasks("c"))) == 1
        assert [file.name for file in folder.glob("h.sqlite*")] == ["h.sqlite"]


def test_a_writer_that_ends_while_somebody_reads_leaves_the_rest_to_the_next(written):
    with open_recording(written) as reader:
        rows = reader.tasks("c")
        with open_writer(written):
            assert len(list(rows)) == 1
    with open_writer(written):
        pass
    assert [file.name for file in written.parent.glob("h.sqlite*")] == ["h.sqlite"]


def test_a_file_that_is_no_recording_gets_no_lock_beside_it(tmp_path):
    (tmp_path / "notes.txt").write_text("no database", encoding="utf-8")
    with pytest.raises(BadInput, match="is not a recording"):
        open_writer(tmp_path / "notes.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("is_writable", [False, True])
def test_a_reader_puts_files_beside_a_recording_only_where_it_may_write(written, monkeypatch, is_writable):
    with closing(sqlite3.connect(written)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")  # as a writer of an earlier version left it
    monkeypatch.setattr(os, "access", lambda *_: is_writable)
    with open_recording(written) as reader:
        assert len(list(reader.tasks("c"))) == 1
        assert written.with_name("h.sqlite-shm").exists() is is_writable


def test_a_folder_that_nobody_may_write_to_is_read(written):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    written.parent.chmod(0o500)
    try:
        with open_recording(written) as reader:
            assert len(list(reader.tasks("c"))) == 1
        with pytest.raises(BadInput, match="cannot be used"):
            open_writer(written)
    finally:
        written.parent.chmod(0o700)


def write_logs(path, *logs):
    """Imports that each give agent a a size, from a moment to another."""
    with open_writer(path) as recording:
        for number, (size, start, end) in enumerate(logs):
            with recording.transaction():
                recording.put_cluster(_CLUSTER)
                recording.begin_import("c", f"{number}.csv", "csv")
                recording.add_agent("c", RecordedAgent("a", "host", parse_resources(f"cpus:{size}"), start, end))
                recording.add_agent("c", RecordedAgent(f"of {number}", "host", parse_resources("cpus:1"), start, end))
                recording.end_import(Import("c", f"{number}.csv", "csv", 1, 1, ()))


@pytest.mark.parametrize(
    ("logs", "held"),
    [
        ([(1, 10, 20), (1, 3, 15)], [(1, 3, 20)]),
        ([(1, 10, 20), (1, 12, 30)], [(1, 10, 30)]),
        ([(1, 10, 20), (1, 12, 15)], [(1, 10, 20)]),
        ([(1, 10, 20), (1, 25, 30)], [(1, 10, 30)]),
        ([(1, 10, 20), (2, 15, 30)], [(1, 10, 15), (2, 15, 30)]),
        ([(1, 10, 20), (2, 5, 15)], [(2, 5, 10), (1, 10, 20)]),
        ([(1, 10, 20), (2, 10, 15)], [(2, 10, 20)]),
        ([(1, 10, 40), (2, 20, 25)], [(1, 10, 20), (2, 20, 40)]),
        ([(1, 10, 20), (2, 20, 25)], [(1, 10, 20), (2, 20, 25)]),
        ([(1, 10, 20), (2, 22, 25)], [(1, 10, 20), (2, 22, 25)]),
        ([(1, 10, 40), (2, 20, 25), (1, 30, 35)], [(1, 10, 20), (2, 20, 30), (1, 30, 40)]),
    ],
)
def test_an_agent_of_several_logs_has_one_size_at_each_moment(path, logs, held):
    write_logs(path, *logs)
    with open_recording(path) as read:
        found = [one for one in read.agents("c") if one.id == "a"]
        assert [(one.total, one.start, one.end) for one in found] == [
            (parse_resources(f"cpus:{size}"), start, end) for size, start, end in held
        ]
        assert [one.start for one in read.agents("c")] == sorted(one.start for one in read.agents("c"))
        for since in range(45):
            within = [one for one in found if one.start < since + 5 and (one.end or 0) > since]
            assert [one for one in read.agents("c", Window(since, since + 5)) if one.id == "a"] == within


def test_what_is_pruned_takes_its_resources_with_it_and_tasks_that_never_ran_too(path):
    held = [parse_resources(f"cpus:{number}") for number in (1, 2, 3, 4)]
    second = to_micros(1)
    with open_writer(path) as recording:
        with recording.transaction():
            recording.put_cluster(_CLUSTER)
            recording.add_task("c", RecordedTask("f", "old", "web", held[0], "a", start=0, end=5 * second))
            recording.add_task("c", RecordedTask("f", "new", "web", held[1], "a", start=0, end=50 * second))
            recording.add_task("c", RecordedTask("f", "never", "web", held[2], asked=second, lasts=2 * second))
            recording.add_task("c", RecordedTask("f", "late", "web", held[3], asked=second, lasts=90 * second))
        with recording.transaction():
            assert recording.prune("c", 10 * second) == 2
            again = recording.add_task("c", RecordedTask("f", "again", "web", held[0], "a", start=11 * second))
            assert again
    with closing(sqlite3.connect(path)) as read:
        assert sorted(row[0] for row in read.execute("SELECT text FROM resources")) == ["cpus:1", "cpus:2", "cpus:4"]
    with open_recording(path) as recorded:
        assert {one.id for one in recorded.demand("c")} == {"new", "late", "again"}
