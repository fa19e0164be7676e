"""A committed change stays, another one leaves no trace, and a bad file says so."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.registry.interface import MemoryRegistry, Registry, RegistryFailure
from fake_master.registry.sqlite import FILE_NAME, SqliteRegistry, open_registry
from fake_master.sources.cluster_file import ClusterSpec
from mesosctl.mesos.errors import BadInput
from tests import ROOT
from tests.helpers.profiles import examples


@pytest.fixture(params=["memory", "sqlite"])
def registry(request: pytest.FixtureRequest, tmp_path: Path):
    made: Registry = MemoryRegistry() if request.param == "memory" else SqliteRegistry(tmp_path / "r.sqlite")
    yield made
    made.close()


def test_records_come_back_in_the_order_they_were_made(registry: Registry):
    with registry.transaction():
        registry.write("thing", "b", {"x": 1})
        registry.write("thing", "a", {"x": 2})
        registry.write("weight", "a", 2.5)
        registry.write("weight", "\udcff\0", 1.0)
    assert list(registry.records("thing").items()) == [("b", {"x": 1}), ("a", {"x": 2})]
    with registry.transaction():
        registry.write("thing", "b", None)
    assert registry.records("thing") == {"a": {"x": 2}}
    assert registry.records("weight") == {"a": 2.5, "\udcff\0": 1.0}


KEYS = st.sampled_from(["a", "b", "\udcff\0"])
CHANGES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from(["thing", "other"]), KEYS, st.none() | st.integers(1, 9)), max_size=4),
        st.booleans(),
    ),
    max_size=5,
)


@given(CHANGES)
def test_memory_has_the_records_of_the_transactions_that_ended_well(changes) -> None:
    with closing(MemoryRegistry()) as registry:
        change_and_compare(registry, changes)


@given(CHANGES)
@settings(max_examples=examples(20))
def test_a_file_has_the_records_of_the_transactions_that_ended_well(changes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.sqlite"
        with closing(SqliteRegistry(path)) as registry:
            expected = change_and_compare(registry, changes)
        with closing(SqliteRegistry(path)) as again:
            assert {name: again.records(name) for name in expected} == expected


def change_and_compare(registry: Registry, changes) -> dict[str, dict[str, int]]:
    """Make the changes, and return the records that should be there."""
    expected: dict[str, dict[str, int]] = {"thing": {}, "other": {}}
    assert registry.was_written is False
    for writes, ends_well in changes:
        after = {name: dict(records) for name, records in expected.items()}
        with suppress(ZeroDivisionError), registry.transaction():
            assert not registry.was_written
            for name, key, value in writes:
                registry.write(name, key, value)
                if value is None:
                    after[name].pop(key, None)
                else:
                    after[name][key] = value
                assert registry.was_written
                assert registry.record(name, key) == value
            if not ends_well:
                raise ZeroDivisionError
        assert registry.was_written is bool(writes)
        assert not registry.changed_elsewhere()
        expected = after if ends_well else expected
        for name, records in expected.items():
            assert registry.records(name) == records
            assert [registry.record(name, key) for key in records] == list(records.values())
        assert registry.record("thing", "unknown") is registry.record("unknown", "a") is None
    return expected


@pytest.mark.parametrize(
    ("flags", "made"),
    [
        ({}, MemoryRegistry),
        ({"work_dir": "unused"}, MemoryRegistry),
        ({"registry": "in_memory"}, MemoryRegistry),
        ({"registry": "sqlite", "work_dir": "{}"}, SqliteRegistry),
    ],
)
def test_the_flags_of_a_master_name_its_registry(tmp_path: Path, flags: dict[str, str], made: type[Registry]) -> None:
    with closing(open_registry({name: value.format(tmp_path) for name, value in flags.items()})) as registry:
        assert type(registry) is made
    assert (tmp_path / FILE_NAME).exists() is (made is SqliteRegistry)
    assert registry.outlives_process is (made is SqliteRegistry)


@pytest.mark.parametrize(
    ("flags", "field", "words"),
    [
        ({"registry": "replicated_log"}, "registry", "replicated_log"),
        ({"registry": "sqlite"}, "work_dir", "--work-dir"),
    ],
)
def test_flags_that_name_no_registry_are_refused(flags: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        open_registry(flags)
    assert refused.value.field == field


def test_an_error_inside_leaves_no_trace(registry: Registry):
    with registry.transaction():
        registry.write("thing", "a", 1)

    def change_and_fail():
        with registry.transaction():
            registry.write("thing", "a", 2)
            registry.write("thing", "b", 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_and_fail()
    assert registry.records("thing") == {"a": 1}


def test_a_change_of_another_process_is_noticed_once(tmp_path: Path):
    one, two = SqliteRegistry(tmp_path / "r.sqlite"), SqliteRegistry(tmp_path / "r.sqlite")
    assert not one.changed_elsewhere()
    with two.transaction():
        two.write("quota", "a", 1)
    assert one.changed_elsewhere()
    assert not one.changed_elsewhere()
    assert not two.changed_elsewhere()
    one.close()
    two.close()


@pytest.mark.parametrize("seconds", [0, 0.5, 10])
def test_who_waits_for_another_process_waits_for_seconds(tmp_path: Path, seconds: float):
    """As SQLite itself says of the connection, in milliseconds."""
    with closing(SqliteRegistry(tmp_path / "r.sqlite", timeout=3)) as registry:
        assert registry._connection.execute("PRAGMA busy_timeout").fetchone() == (3000,)
        registry.wait_at_most(seconds)
        assert registry._connection.execute("PRAGMA busy_timeout").fetchone() == (seconds * 1000,)


def test_the_file_is_for_its_owner_only(tmp_path: Path):
    path = tmp_path / "new" / "r.sqlite"
    SqliteRegistry(path).close()
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_named(tmp_path: Path):
    path = tmp_path / "r.sqlite"
    path.write_bytes(b"this is no database, however long it may become" * 100)
    with pytest.raises(RegistryFailure, match=r"r\.sqlite is not a registry"):
        SqliteRegistry(path)
    assert path.read_bytes().startswith(b"this is no database")


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path):
    path = tmp_path / "r.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(RegistryFailure, match="another version"):
        SqliteRegistry(path)


def post(application: Application, role: str) -> int:
    body = f'{{"role":"{role}","guarantee":[{{"name":"cpus","type":"SCALAR","scalar":{{"value":1}}}}]}}'
    return application.handle(Request("POST", "/quota", body=body.encode())).status


def test_a_master_started_again_is_the_same_master(tmp_path: Path):
    spec = ClusterSpec(agents=("cpus:12",))
    first = spec.start(SqliteRegistry(tmp_path / "r.sqlite"))
    assert post(Application(first), "r1") == 200
    first.registry.close()
    second = spec.start(SqliteRegistry(tmp_path / "r.sqlite"))
    assert second.state.id == first.state.id
    assert list(second.state.agents) == list(first.state.agents)
    assert list(second.state.quotas) == ["r1"]
    second.registry.close()


def test_two_masters_on_one_registry_never_lose_each_others_changes(tmp_path: Path):
    spec = ClusterSpec(agents=("cpus:12",))
    one, two = (Application(spec.start(SqliteRegistry(tmp_path / "r.sqlite"))) for _ in range(2))
    assert post(one, "r1") == 200
    assert post(two, "r1") == 400
    assert post(two, "r2") == 200
    assert sorted(one.handle(Request("GET", "/quota")).body.count(role) for role in (b'"r1"', b'"r2"')) == [1, 1]
    one.master.registry.close()
    two.master.registry.close()


def test_when_the_registry_fails_the_answer_is_500_and_nothing_has_changed(tmp_path: Path):
    registry = SqliteRegistry(tmp_path / "r.sqlite")
    application = Application(ClusterSpec(agents=("cpus:12",)).start(registry))
    blocker = sqlite3.connect(tmp_path / "r.sqlite", isolation_level=None)
    registry._connection.execute("PRAGMA busy_timeout=0")
    blocker.execute("BEGIN IMMEDIATE")
    assert post(application, "r1") == 500
    blocker.execute("ROLLBACK")
    assert application.handle(Request("GET", "/quota")).body == b"{}"
    assert post(application, "r1") == 200
    blocker.close()
    application.master.registry.close()


_KILLED_AFTER_ITS_ANSWER = """
import os, signal, sys
from contextlib import closing
from pathlib import Path
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.registry.sqlite import SqliteRegistry
application = Application(ClusterSpec(agents=("cpus:12",)).start(SqliteRegistry(Path(sys.argv[1]))))
body = b'{"role":"r1","guarantee":[{"name":"cpus","type":"SCALAR","scalar":{"value":1}}]}'
assert application.handle(Request("POST", "/quota", body=body)).status == 200
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.process
def test_an_answered_change_survives_sigkill(tmp_path: Path):
    path = tmp_path / "r.sqlite"
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED_AFTER_ITS_ANSWER, str(path)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode == -signal.SIGKILL
    registry = SqliteRegistry(path)
    assert registry.records("quota") == {"r1": {"guarantees": {"cpus": 1.0}, "limits": {}}}
    registry.close()


_STARTED_AT_ONCE = """
import sys
from contextlib import closing
from pathlib import Path
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.registry.sqlite import SqliteRegistry
print("ready", flush=True)
sys.stdin.readline()
master = ClusterSpec(agents=("cpus:1", "cpus:2")).start(SqliteRegistry(Path(sys.argv[1])))
print(master.state.id, *master.state.agents)
"""


@pytest.mark.process
def test_processes_that_start_on_one_new_file_are_the_same_master(tmp_path: Path):
    for number in range(3):
        children = [
            subprocess.Popen(
                [sys.executable, "-c", _STARTED_AT_ONCE, str(tmp_path / f"{number}.sqlite")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                text=True,
            )
            for _ in range(4)
        ]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        said = [child.communicate("go\n", timeout=120)[0] for child in children]
        assert len(set(said)) == 1
        assert len(said[0].split()) == 3
