"""Damaged state of a `fake:` address is told as a bad file: which, and how to start over."""

import io
import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.registry.sqlite import SqliteRegistry
from mesosctl.__main__ import main
from tests.helpers.profiles import examples
from tests.helpers.surroundings import InMemory, Ran

SOMETHING = (
    ("quota", "set", "dev", "cpus:1"),
    ("reserve", "agent-1", "cpus:2", "--role", "a"),
    ("apply", "-f", "-", "-y"),
)
WISHES = "[weights]\nweb = 2.0\n"
COMMANDS = (("quota", "list"), ("quota", "show", "dev"), ("quota", "set", "x", "mem:1"), ("snapshot",))


def type_words(*words):
    environment = InMemory(
        stdin=io.StringIO(WISHES), variables={"MESOSCTL_MASTER": "fake:?version=1.11"}, sleep=lambda _: None
    )
    return Ran(main(words, environment), environment.out, environment.err)


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """A file with records of the kinds that the commands above make."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        for words in SOMETHING:
            assert type_words(*words).status == 0
    return folder / "mesosctl" / "fake" / "built-in-1.11.sqlite"


@pytest.fixture
def copy(state, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "mesosctl" / "fake" / state.name
    path.parent.mkdir(parents=True)
    shutil.copy(state, path)
    return path


def execute(path, statement, *values):
    """And what it leaves is told from no other by its seal, as in a file of the version that had none."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)
        connection.execute("DROP TABLE IF EXISTS seal")
        connection.execute("PRAGMA user_version=2")


def records(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT kind, key, value FROM record ORDER BY kind, key").fetchall()


def check_told(ran, path):
    assert (ran.status, ran.out) == (3, ""), ran.err
    assert str(path) in ran.err
    assert "hint: 'fake:?version=1.11&fresh' starts over, " in ran.err


DAMAGED = {
    "agent": [
        "null",
        '{"id": "S0"}',
        '{"id": "S0", "registered_time": null}',
        '{"id": "S0", "registered_time": "x"}',
        '{"id": "S0", "registered_time": 1e308}',
        '{"id": "S0", "registered_time": 1, "drain_info": {}}',
        '{"id": 7, "registered_time": 1}',
    ],
    "checkpoint": ["7", "true", '"x"', "[7]", "[[]]", "[{}]", '{"a": 1}', '[{"name": "cpus", "type": "SCALAR"}]'],
    "weight": ["null", "[]", '"x"', "true", "-1", "NaN"],
    "quota": ["null", "7", "{}", '{"guarantees": {"cpus": null}, "limits": {}}', '{"guarantees": [], "limits": {}}'],
    "master": ["null", "{}", '{"id": {}, "start_time": 1}', '{"id": "m", "start_time": "x"}'],
}
NO_JSON = ["", "{", "[" * 100_000, b"\xff\xfe"]


def test_every_kind_is_damaged_here(state):
    assert {kind for kind, *_ in records(state)} == {*DAMAGED}


@pytest.mark.parametrize(
    ("kind", "value"), [(kind, value) for kind, values in DAMAGED.items() for value in (*values, *NO_JSON)]
)
def test_a_record_that_no_master_has_written(copy, kind, value):
    execute(copy, "UPDATE record SET value = ? WHERE kind = ?", value, kind)
    for words in COMMANDS[1:]:
        check_told(type_words(*words), copy)
    assert type_words("quota", "list", "--master", "fake:?version=1.11&fresh").status == 0


def test_two_agents_of_one_id(copy):
    execute(
        copy, "UPDATE record SET value = (SELECT value FROM record WHERE key = x'6167656e742d31') WHERE kind = 'agent'"
    )
    check_told(type_words("quota", "show", "dev"), copy)


def test_records_with_more_in_them_than_is_known_are_good(copy):
    with closing(SqliteRegistry(copy)) as registry, registry.transaction():
        for kind, key, value in records(copy):
            known = json.loads(value)
            if isinstance(known, dict):
                registry.write(kind, bytes(key).decode(), known | {"later": [1]})
        registry.write("later", "a", [[]])
    assert [type_words(*words).status for words in COMMANDS] == [0] * len(COMMANDS)


@given(st.lists(st.tuples(st.integers(0, 20_479), st.integers(1, 255)), min_size=1, max_size=40), st.booleans())
@settings(max_examples=examples(60))
def test_bytes_that_are_wrong_anywhere_in_it(tmp_path_factory, state, flips, cut):
    folder = tmp_path_factory.mktemp("home")
    path = folder / "mesosctl" / "fake" / state.name
    path.parent.mkdir(parents=True)
    content = bytearray(state.read_bytes())
    for place, bits in flips:
        content[place % len(content)] ^= bits
    path.write_bytes(content[: flips[0][0] % len(content)] if cut else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        for words in COMMANDS:
            ran = type_words(*words)
            # What still makes sense is as if it had been written so.
            assert ran.status != 8, ran.err
            if ran.status == 3 and "the state of the fake master" in ran.err:
                assert (ran.out, str(path) in ran.err, "hint: " in ran.err) == ("", True, True), ran.err


def test_damage_that_only_a_change_meets(copy):
    execute(copy, "CREATE TRIGGER broken BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'the page is torn'); END")
    assert type_words("quota", "list").status == 0
    for words in (("quota", "set", "x", "mem:1"), ("reserve", "agent-2", "cpus:1", "--role", "b")):
        check_told(type_words(*words), copy)
