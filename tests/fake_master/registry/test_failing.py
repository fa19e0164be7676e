"""A full disk, a file that may not be written, a lock: told clearly, and nothing is lost."""

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.agents import Absence
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.messages.protobuf_json import recordio
from tests import ROOT
from tests.fake_master.sending import AGENT, JSON, as_json, quota, send
from tests.helpers.needs import require


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
        assert (b"nothing was changed" if condition is locked else b"was not saved") in answers[0].body
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
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.registry.sqlite import SqliteRegistry

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


@pytest.mark.process
def test_a_disk_that_really_is_full(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=512k tmpfs "$1" || exit 77; exec "$2" -c "$3" "$1"'
    words = ["unshare", "-rm", "sh", "-c", mount, "sh", str(tmp_path), sys.executable, _UNTIL_THE_DISK_IS_FULL]
    require("unshare")
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
