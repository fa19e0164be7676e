"""Times and spans that nothing has: in a recording, each is damage to every command; typed, no span is zero."""

import shlex
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.__main__ import main
from mesosctl.history.records import (
    Gap,
    Import,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    Suppression,
)
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.program.reference.command_tree import commands
from tests.helpers.profiles import examples
from tests.helpers.surroundings import InMemory, Ran

SECOND = 1_000_000
GOALS = '[goals.web]\nwait_max = "1h"\n[change.web]\nweight = { from = 1, to = 2 }\n'
READERS = {
    "history list": "history list --history h.sqlite",
    "history export": "history export --history h.sqlite",
    "history import": "history import log.csv --format csv --history h.sqlite",
    "history record": "history record --history h.sqlite --duration 1m",
    "usage": "usage --history h.sqlite",
    "metrics": "metrics --history h.sqlite --prices prices.toml",
    "replay": "replay h.sqlite weight:web=2",
    "replay --wait": "replay h.sqlite --wait 'role=web;task=cpus:1'",
    "tune": "tune goals.toml --replay h.sqlite",
}
"""Every command that opens a recording."""
COLUMNS = {
    "clusters": ("first_time", "last_time"),
    "agent_rows": ("from_time", "to_time"),
    "framework_rows": ("from_time", "to_time"),
    "suppressed_rows": ("from_time", "to_time"),
    "task_rows": ("asked_time", "from_time", "to_time", "lasts"),
    "settings": ("from_time", "to_time"),
    "runs": ("time",),
    "gaps": ("from_time", "to_time"),
}
PLACES = [(table, column) for table, columns in COLUMNS.items() for column in columns]


def fill(path):
    """Two rows in each table that has times, and one that ends nowhere."""
    held = parse_resources("cpus:1")
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(RecordedCluster("c", "http://master:5050", "1.11.0", 0, 90 * SECOND, clean_end=True))
        recording.begin_import("c", "log.csv", "csv")
        for number in range(2):
            end = (10 + number) * SECOND
            recording.add_agent("c", RecordedAgent(f"a{number}", f"host-{number}", parse_resources("cpus:4"), 0, end))
            recording.add_framework("c", RecordedFramework(f"f{number}", "name", ("web",), 0, end))
            recording.add_task("c", RecordedTask("f0", f"t{number}", "web", held, "a0", 0, SECOND, end))
            recording.add_task("c", RecordedTask("f0", f"w{number}", "web", held, asked=0, lasts=end))
            recording.add_suppression("c", Suppression("f0", "web", suppressed=True, start=0, end=end))
            recording.add_setting("c", RecordedSetting("weight", "web", '{"role": "web", "weight": 2}', 0, end))
            recording.add_runs("c", [end])
            recording.add_gap("c", Gap(end, end + 1))
        recording.add_agent("c", RecordedAgent("open", "host-9", parse_resources("cpus:4"), 0))
        recording.end_import(Import("c", "log.csv", "csv", 4, 4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("times")
    fill(folder / "whole.sqlite")
    (folder / "goals.toml").write_text(GOALS, encoding="utf-8")
    (folder / "prices.toml").write_text('currency = "EUR"\n[[prices]]\ncpu_hour = 1\n', encoding="utf-8")
    (folder / "log.csv").write_text("task,role,resources,from,to\nnew,web,cpus:1,1,2\n", encoding="utf-8")
    return folder


def typed(folder, line):
    """Run a line in a folder, in which it leaves no state."""
    variables = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "MESOSCTL_MASTER": "fake:"}
    environment = InMemory(variables=variables, sleep=lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        return Ran(main(shlex.split(line), environment), environment.out, environment.err)


def put(path, place, value, row):
    """Write a value where another program might; the row is counted from the first or the last."""
    table, column = place
    with closing(sqlite3.connect(path)) as other:
        key = other.execute(f"PRAGMA table_info({table})").fetchone()[1] if table != "gaps" else "rowid"
        keys = "time" if table == "runs" else key
        count = other.execute(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL").fetchone()[0]
        (chosen,) = other.execute(
            f"SELECT {keys} FROM {table} WHERE {column} IS NOT NULL LIMIT 1 OFFSET {row % count}"
        ).fetchone()
        other.execute(f"UPDATE {table} SET {column} = ? WHERE {keys} = ?", (value, chosen))
        other.commit()


def test_these_are_all_commands_that_open_a_recording():
    def opens(node):
        words = [name for option in node.options for name in option.names] + [one.name for one in node.arguments]
        return bool({"--history", "RECORDING"} & {*words}) or node.path[-1] == "tune"

    verbs = {" ".join(node.path[1:]) for node in commands().walk() if opens(node)}
    assert verbs == {*READERS} - {"replay --wait"}


@pytest.mark.process
def test_the_whole_recording_is_read_by_all(folder):
    for line in READERS.values():
        (folder / "h.sqlite").write_bytes((folder / "whole.sqlite").read_bytes())
        ran = typed(folder, line)
        assert "is damaged" not in ran.err
        assert ran.status in (0, 1, 2), (line, ran.err)


@settings(max_examples=examples(60))
@given(
    st.sampled_from(PLACES),
    st.one_of(
        st.sampled_from([float("inf"), float("-inf"), 9e99, -9e99, 1e15, -1.0, -1e-9, "soon", "inf", b"\0", 2**62]),
        st.floats(min_value=253_402_300_801),
        st.floats(max_value=-1e-6, allow_nan=False),
    ),
    st.integers(0, 5),
)
def test_a_time_that_no_calendar_has_is_damage_to_every_command(folder, place, value, row):
    path = folder / "h.sqlite"
    path.write_bytes((folder / "whole.sqlite").read_bytes())
    put(path, place, value, row)
    for line in READERS.values():
        ran = typed(folder, line)
        assert (ran.status, ran.out) == (3, ""), (line, ran.err)
        assert f"h.sqlite is damaged: {place[1]} in {place[0]} is " in ran.err, line


# --- Spans -----------------------------------------------------------------------------------------

SPANS = {
    "agents drain": "agents drain agent-1 --yes",
    "history record": "history record --history new.sqlite",
    "offers watch": "offers watch",
    "top": "top",
    "maintenance plan": "maintenance plan agent-1 --at 2030-01-01T00:00Z --yes",
    "ratelimit suggest": "ratelimit suggest",
    "ratelimit watch": "ratelimit watch --count 1",
    "tune": "tune goals.toml --replay whole.sqlite",
    "usage": "usage --history whole.sqlite",
    "replay": "replay whole.sqlite weight:web=2",
    "whatif": "whatif --add-framework 'role=web;task=cpus:1'",
    "audit list": "audit list",
}
"""A line that lacks nothing, for each verb with a span of its own."""


def spans():
    """Each verb and each of its options that is followed by a span."""
    for node in commands().walk():
        if node.children:
            continue
        verb = " ".join(node.path[1:])
        for option in node.options:
            is_span = option.value == "SPAN" or option.names[-1] in ("--since", "--until")
            if is_span and (not option.shared or verb == "quota list"):
                yield verb, option.names[-1]


@pytest.mark.parametrize(("verb", "option"), list(spans()))
@pytest.mark.parametrize("zero", ["0", "0s", "0.0", "00m"])
def test_no_span_that_is_typed_is_zero(folder, verb, option, zero):
    """A verb that is a list takes --every with --watch."""
    line = SPANS.get(verb, f"{verb} --watch --count 1" if option == "--every" else verb)
    ran = typed(folder, f"{line} {option} {zero}")
    assert (ran.status, ran.out) == (2, ""), ran.err
    assert f"at: field {option}" in ran.err, ran.err
    assert zero in ran.err


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("ratelimit simulate limits.json --traffic 'foo=200/s*0'", "--traffic"),
        ("ratelimit simulate limits.json --traffic 'foo=200/s*0.0@5'", "--traffic"),
        ("whatif --add-framework 'role=web;task=cpus:1;every=0s'", "--add-framework"),
        ("whatif --add-framework 'role=web;task=cpus:1;lasts=0'", "--add-framework"),
        ("quota list --master 'fake:cluster.toml?advance=0s'", "advance"),
    ],
)
def test_no_span_within_a_word_is_zero(folder, line, field):
    (folder / "limits.json").write_text('{"limits": []}', encoding="utf-8")
    ran = typed(folder, line)
    assert (ran.status, ran.out) == (2, ""), ran.err
    assert f"at: field {field}" in ran.err
