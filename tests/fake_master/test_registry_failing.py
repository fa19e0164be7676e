"""A full disk, a file that may not be written, a lock, a file that is none: told clearly, and nothing is lost."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from fake_master.cluster import AgentSpec, ClusterSpec
from fake_master.http.application import Application
from fake_master.http.exchange import Request, Response
from fake_master.master.agents import Absence
from fake_master.master.clocks import VirtualClock
from fake_master.master.registry import RegistryFailure, UnreadableRegistry
from fake_master.master.registry_sqlite import SqliteRegistry
from mesosctl.wire import recordio

ROOT = Path(__file__).parents[2]
JSON = {"content-type": "application/json", "accept": "application/json"}
AGENT = "cpus:12;mem:6144;disk:1000"


def send(application: Application, method: str, target: str, body: Any = None) -> Response:
    content = b"" if body is None else json.dumps(body).encode()
    return application.handle(Request(method, target, JSON, content))


def quota(role: str, padding: int = 0) -> dict[str, Any]:
    amount = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}
    return {"role": role + "x" * padding, "guarantee": [amount], "force": True}


def reserve(application: Application) -> dict[str, Any]:
    (agent,) = json.loads(send(application, "GET", "/slaves").body)["slaves"]
    part = {"type": "DYNAMIC", "role": "ads"}
    reserved = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 2}, "reservations": [part]}
    body = {"agent_id": {"value": agent["id"]}, "resources": [reserved]}
    return {"type": "RESERVE_RESOURCES", "reserve_resources": body}


WINDOW = {
    "machine_ids": [{"hostname": "agent-1", "ip": "127.0.0.1"}],
    "unavailability": {"start": {"nanoseconds": 1_895_232_742_000_000_000}},
}
CHANGES: dict[str, Callable[[Application], tuple[str, str, Any]]] = {
    "quota": lambda _: ("POST", "/quota", quota("r1")),
    "quota of v1": lambda _: (
        "POST",
        "/api/v1",
        {"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": [{"role": "a", "limits": {"cpus": {"value": 1}}}]}},
    ),
    "weights": lambda _: ("PUT", "/weights", [{"role": "a", "weight": 2.0}, {"role": "b", "weight": 3.0}]),
    "reservation": lambda application: ("POST", "/api/v1", reserve(application)),
    "schedule": lambda _: ("POST", "/maintenance/schedule", {"windows": [WINDOW]}),
    "gone": lambda application: (
        "POST",
        "/api/v1",
        {
            "type": "MARK_AGENT_GONE",
            "mark_agent_gone": {"agent_id": reserve(application)["reserve_resources"]["agent_id"]},
        },
    ),
}
VIEWS = ("/quota", "/weights", "/slaves", "/maintenance/schedule", "/maintenance/status", "/roles")


def seen(application: Application) -> list[bytes]:
    return [send(application, "GET", path).body for path in VIEWS]


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    registry = SqliteRegistry(tmp_path / "r.sqlite")
    yield Application(ClusterSpec(agents=(AGENT,), mesos_version="1.11").start(registry))
    registry.close()


def connection(application: Application) -> sqlite3.Connection:
    registry = application.master.registry
    assert isinstance(registry, SqliteRegistry)
    return registry._connection


@contextmanager
def full(_application: Application, _folder: Path) -> Iterator[None]:
    """Not a byte more can be written, to any file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def locked(application: Application, folder: Path) -> Iterator[None]:
    connection(application).execute("PRAGMA busy_timeout=0")
    with closing(sqlite3.connect(folder / "r.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def not_writable(application: Application, _folder: Path) -> Iterator[None]:
    connection(application).execute("PRAGMA query_only=ON")
    yield
    connection(application).execute("PRAGMA query_only=OFF")


@contextmanager
def moved_away(_application: Application, folder: Path) -> Iterator[None]:
    (folder / "r.sqlite").rename(folder / "elsewhere")
    yield
    (folder / "elsewhere").rename(folder / "r.sqlite")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("condition", [full, locked, not_writable, moved_away])
def test_the_answer_is_500_nothing_has_changed_and_later_it_works(
    application: Application,
    tmp_path: Path,
    change: str,
    condition: Callable[[Application, Path], Any],
) -> None:
    kept = send(application, "POST", "/quota", quota("kept"))
    assert kept.status == 200
    request = CHANGES[change](application)
    before = seen(application)
    with condition(application, tmp_path):
        answers = [send(application, *request) for _ in range(2)]
        assert [answer.status for answer in answers] == [500, 500]
        assert b"r.sqlite" in answers[0].body
        assert b"nothing was changed" in answers[0].body
        assert seen(application) == before
    assert seen(application) == before
    assert send(application, *request).status in (200, 202)
    after = seen(application)
    assert after != before
    # And it is what the next one finds.
    with closing(SqliteRegistry(tmp_path / "r.sqlite")) as registry:
        again = Application(ClusterSpec(agents=(AGENT,), mesos_version="1.11").start(registry))
        assert seen(again) == after


class Scheduler:
    """One framework of a master in virtual time."""

    def __init__(self, registry: SqliteRegistry) -> None:
        self.clock = VirtualClock()
        spec = ClusterSpec(agents=(AGENT,), mesos_version="1.11")
        self.application = Application(spec.start(registry, clock=self.clock))
        listed = [{"type": name} for name in ("MULTI_ROLE", "RESERVATION_REFINEMENT")]
        info = {"user": "u", "name": "f", "roles": ["ads"], "principal": "p", "capabilities": listed}
        answer = self.call("SUBSCRIBE", subscribe={"framework_info": info})
        assert answer.stream is not None
        self._stream = answer.stream
        self._events: list[dict[str, Any]] = []
        self._take()
        self.id = self._events[0]["subscribed"]["framework_id"]

    def call(self, kind: str, **body: Any) -> Response:
        named = {} if kind == "SUBSCRIBE" else {"framework_id": self.id}
        headers = {**JSON} if kind == "SUBSCRIBE" else {**JSON, "mesos-stream-id": self._stream.id}
        content = json.dumps({"type": kind, **named, **body}).encode()
        return self.application.handle(Request("POST", "/api/v1/scheduler", headers, content))

    def offer(self) -> dict[str, Any]:
        """The next one; a second or two may pass."""
        for _ in range(5):
            self._take()
            offers = [event["offers"]["offers"] for event in self._events if event["type"] == "OFFERS"]
            self._events.clear()
            if offers:
                return dict(offers[-1][0])
            self.clock.now += 1
            self.application.tick()
        raise AssertionError("nothing is offered")

    def reserve_and_launch(self, offer: dict[str, Any], task_id: str) -> Response:
        stack = [{"type": "DYNAMIC", "role": "ads", "principal": "p"}]
        part = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 2}, "reservations": stack}
        task = {
            "name": task_id,
            "task_id": {"value": task_id},
            "agent_id": offer["agent_id"],
            "command": {"value": "true"},
            "resources": [part],
        }
        operations = [
            {"type": "RESERVE", "reserve": {"resources": [part]}},
            {"type": "LAUNCH", "launch": {"task_infos": [task]}},
        ]
        return self.call("ACCEPT", accept={"offer_ids": [offer["id"]], "operations": operations})

    def _take(self) -> None:
        self._events += [json.loads(record) for record in recordio.decode(self._stream.take())]


@pytest.mark.parametrize("condition", [full, locked])
def test_a_scheduler_goes_on_when_the_registry_works_again(
    tmp_path: Path, condition: Callable[[Any, Path], Any]
) -> None:
    with closing(SqliteRegistry(tmp_path / "r.sqlite")) as registry:
        scheduler = Scheduler(registry)
        first = scheduler.offer()
        with condition(scheduler.application, tmp_path):
            assert scheduler.reserve_and_launch(first, "early").status == 500
        (agent,) = json.loads(send(scheduler.application, "GET", "/slaves").body)["slaves"]
        assert agent["reserved_resources"] == {}
        # Whether the offer is still there or made anew, all of the agent can be had.
        assert (
            scheduler.call("DECLINE", decline={"offer_ids": [first["id"]], "filters": {"refuse_seconds": 0}}).status
            == 202
        )
        again = scheduler.offer()
        assert scheduler.reserve_and_launch(again, "late").status == 202
        (agent,) = json.loads(send(scheduler.application, "GET", "/slaves").body)["slaves"]
        assert agent["reserved_resources"]["ads"]["cpus"] == 2.0
        tasks = json.loads(send(scheduler.application, "GET", "/tasks").body)["tasks"]
        assert "late" in [task["id"] for task in tasks]
        assert agent["used_resources"]["cpus"] == 2.0 * len([t for t in tasks if t["state"] == "TASK_RUNNING"])


def test_what_falls_due_meanwhile_is_done_when_the_registry_works_again(tmp_path: Path) -> None:
    lost = AgentSpec("cpus:4", absence=Absence(leaves_after=10))
    clock = VirtualClock()
    with closing(SqliteRegistry(tmp_path / "r.sqlite")) as registry:
        application = Application(ClusterSpec(agents=(AGENT, lost)).start(registry, clock=clock))
        with locked(application, tmp_path):
            clock.now += 200
            application.tick()
            assert len(json.loads(send(application, "GET", "/slaves").body)["slaves"]) == 2
        clock.now += 2
        application.tick()
        assert json.loads(send(application, "GET", "/state").body)["unreachable_slaves"] == 1.0


_UNTIL_THE_DISK_IS_FULL = """
import json, sys
from pathlib import Path
from fake_master.cluster import ClusterSpec
from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.registry_sqlite import SqliteRegistry

folder = Path(sys.argv[1])
(folder / "ballast").write_bytes(bytes(64 * 1024))

def open_it():
    return Application(ClusterSpec(agents=("cpus:12",)).start(SqliteRegistry(folder / "r.sqlite")))

def post(application, role):
    amount = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}
    body = json.dumps({"role": role, "guarantee": [amount], "force": True}).encode()
    return application.handle(Request("POST", "/quota", body=body)).status

def roles(application):
    return [info["role"] for info in json.loads(application.handle(Request("GET", "/quota")).body).get("infos", [])]

application, answered = open_it(), []
for number in range(2000):
    role = f"{number}-" + "x" * 200
    status = post(application, role)
    if status != 200:
        break
    answered.append(role)
same = sorted(roles(application)) == sorted(answered)
print(json.dumps({"refused with": status, "kept": len(answered), "as answered": same}))
(folder / "ballast").unlink()
print(json.dumps({"with room again": post(application, "late")}))
application.master.registry.close()
print(json.dumps({"afterwards": sorted(roles(open_it())) == sorted([*answered, "late"])}))
"""


def test_a_disk_that_really_is_full(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=512k tmpfs "$1" || exit 77; exec "$2" -c "$3" "$1"'
    words = ["unshare", "-rm", "sh", "-c", mount, "sh", str(tmp_path), sys.executable, _UNTIL_THE_DISK_IS_FULL]
    if shutil.which("unshare") is None:
        pytest.skip("no unshare: a small disk cannot be had")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120, env=environment)
    if ended.returncode in (1, 77) and "Traceback" not in ended.stderr:
        pytest.skip(f"a small disk cannot be had: {ended.stderr}")
    full, later, reopened = map(as_json, ended.stdout.splitlines())
    assert full["refused with"] == 500
    assert full["kept"] > 0
    assert full["as answered"]
    assert later == {"with room again": 200}
    assert reopened == {"afterwards": True}


# --- Opening --------------------------------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database, however long it may become" * 200)


def torn(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])


def scribbled(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    for start in range(4096, len(whole), 512):
        whole[start : start + 256] = b"\xff" * 256
    path.write_bytes(bytes(whole))


def somebody_elses(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.executescript("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x');")


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version=99")


def without_its_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("ALTER TABLE record RENAME TO record_no_more")


def no_json(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE record SET value = '{' WHERE kind = 'quota'")
        other.commit()


def no_utf_8(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE record SET value = CAST(x'ff' AS TEXT) WHERE kind = 'quota'")
        other.commit()


def another_shape(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE record SET value = '[3]' WHERE kind = 'quota'")
        other.commit()


DAMAGE = [garbage, torn, scribbled, somebody_elses, newer, without_its_table, no_json, no_utf_8, another_shape]


def make(path: Path) -> None:
    with closing(SqliteRegistry(path)) as registry:
        application = Application(ClusterSpec(agents=(AGENT,)).start(registry))
        for number in range(40):
            assert send(application, "POST", "/quota", quota(f"r{number}", padding=300)).status == 200


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_no_registry_is_told_from_one_that_cannot_be_used_and_left_as_it_is(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "r.sqlite"
    make(path)
    damage(path)
    before = path.read_bytes()

    def start() -> None:
        with closing(SqliteRegistry(path)) as registry:
            ClusterSpec(agents=(AGENT,)).start(registry)

    with pytest.raises(UnreadableRegistry, match=r"r(egistry|\.sqlite)"):
        start()
    assert path.read_bytes() == before


def test_a_place_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.sqlite").mkdir()
    for path in (tmp_path / "file" / "r.sqlite", tmp_path / "folder.sqlite"):
        with pytest.raises(RegistryFailure, match=r"cannot be used"):
            SqliteRegistry(path)


# --- The two commands, as a user without special rights ---------------------------------------------------


def as_a_user() -> list[str]:
    """What makes the rights of files count for root as well, whom they would not stop."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to give up its rights")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of the user as whom commands are run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield folder
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700)


def run(home: Path, *words: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    """A command that ends by itself; `limit` is shell before it."""
    return subprocess.run(
        [*as_a_user(), "sh", "-c", f'{limit} exec "$@"', "sh", sys.executable, "-m", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home), "XDG_STATE_HOME": str(home), "NO_COLOR": "1"},
    )


def as_json(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


def tool(home: Path, *words: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    return run(home, "mesosctl", *words, "--master", "fake:?version=1.11", limit=limit)


def state(home: Path) -> Path:
    return home / "mesosctl" / "fake" / "built-in-1.11.sqlite"


@contextmanager
def read_only_file(path: Path) -> Iterator[str]:
    path.chmod(0o400)
    yield ""
    path.chmod(0o600)


@contextmanager
def read_only_folder(path: Path) -> Iterator[str]:
    path.parent.chmod(0o500)
    yield ""
    path.parent.chmod(0o700)


@contextmanager
def no_way_in(path: Path) -> Iterator[str]:
    path.parent.chmod(0)
    yield ""
    path.parent.chmod(0o700)


@contextmanager
def no_room(_path: Path) -> Iterator[str]:
    yield "ulimit -f 0;"


@contextmanager
def little_room(_path: Path) -> Iterator[str]:
    yield "ulimit -f 8;"


CONDITIONS = [read_only_file, read_only_folder, no_way_in, no_room, little_room]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_tool_says_what_is_wrong_and_works_again_afterwards(home: Path, condition: Callable[[Path], Any]) -> None:
    assert tool(home, "quota", "set", "ads", "cpus:1").returncode == 0
    before = as_json(tool(home, "quota", "list", "-o", "json").stdout)
    with condition(state(home)) as limit:
        refused = tool(home, "quota", "set", "web", "cpus:1", limit=limit)
    assert refused.returncode in (3, 8), refused
    assert refused.stdout == ""
    assert "built-in-1.11.sqlite" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "fresh" not in refused.stderr, "nothing is wrong with the file"
    assert as_json(tool(home, "quota", "list", "-o", "json").stdout) == before
    assert tool(home, "quota", "set", "web", "cpus:1").returncode == 0


def test_starting_over_does_not_put_aside_a_file_that_only_cannot_be_written_now(home: Path) -> None:
    assert tool(home, "quota", "set", "ads", "cpus:1").returncode == 0
    with read_only_file(state(home)):
        refused = run(home, "mesosctl", "quota", "list", "--master", "fake:?version=1.11&fresh")
    assert refused.returncode == 3, refused
    assert [path.name for path in state(home).parent.glob("*damaged*")] == []
    assert "ads" in tool(home, "quota", "list").stdout


def test_starting_over_puts_each_damaged_file_aside(home: Path) -> None:
    for _ in range(2):
        assert tool(home, "quota", "set", "ads", "cpus:1").returncode == 0
        garbage(state(home))
        refused = tool(home, "quota", "list")
        assert refused.returncode == 3
        assert "fresh" in refused.stderr
        assert run(home, "mesosctl", "quota", "list", "--master", "fake:?version=1.11&fresh").returncode == 0
    aside = sorted(path.name for path in state(home).parent.glob("*damaged*"))
    assert aside == ["built-in-1.11.damaged", "built-in-1.11.damaged-2"]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_server_does_not_start_and_says_why(home: Path, condition: Callable[[Path], Any]) -> None:
    path = home / "work" / "registry.sqlite"
    path.parent.mkdir()
    make(path)
    before = path.read_bytes()
    with condition(path) as limit:
        ended = run(
            home, "fake_master", "--port", "0", "--registry", "sqlite", "--work-dir", str(path.parent), limit=limit
        )
    assert ended.returncode in (2, 3), ended
    assert ended.stdout == ""
    assert str(path.parent) in ended.stderr
    assert "Traceback" not in ended.stderr
    assert path.read_bytes() == before
