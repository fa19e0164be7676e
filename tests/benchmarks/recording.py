"""The cost of `mesosctl history record` on a large cluster: the first state, the events after it, the readings.

    python -m tests.benchmarks.recording [--small] [--json FILE]

A server in this process shows what a master of so many agents and tasks would: the whole state, and then a hundred
changes of tasks a second. So the figures are those of the recorder alone, which is a process of its own.
"""

import json
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.benchmarks.reporting.report import Reporter, arguments
from tests.conformance.masters.processes import Process
from tests.helpers.waiting import wait_until

AGENTS, TASKS_EACH, FRAMEWORKS, ROLES = 50_000, 4, 200, 100
SMALL_AGENTS = 500
CHANGES = 100
"""Task changes a second."""
SECONDS, SMALL_SECONDS = 60, 3
"""The time in which the cost of events is measured."""
MOST_SECONDS, MOST_MIB, MOST_OF_A_CORE, MOST_BYTES = 60, 500, 0.05, 120
"""Budgets: of the first state and of a reading of agents, of a core for the events, and of the disk for a task."""
_TICKS = os.sysconf("SC_CLK_TCK")
_EPOCH = 1_764_000_000.0


def _scalars(role: str | None = None, **amounts: float) -> list[dict[str, Any]]:
    allocation = {} if role is None else {"allocation_info": {"role": role}}
    return [
        {"name": name, "type": "SCALAR", "scalar": {"value": value}, **allocation} for name, value in amounts.items()
    ]


def _agent(number: int) -> dict[str, Any]:
    return {
        "active": True,
        "agent_info": {
            "attributes": [{"name": "rack", "text": {"value": f"r{number % 40}"}, "type": "TEXT"}],
            "hostname": f"rack-{number % 40:02d}-{number}.example",
            "id": {"value": f"7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-S{number}"},
            "port": 5051,
            "resources": _scalars(cpus=24.0, mem=65536.0, disk=400000.0),
        },
        "agent_id": {"value": f"S{number}"},
        "allocated_resources": _scalars("r1", cpus=8.0, mem=16384.0),
        "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
        "offered_resources": [],
        "pid": f"slave(1)@10.0.{number % 256}.{number // 256}:5051",
        "registered_time": {"nanoseconds": 1_763_990_000_000_000_000},
        "total_resources": _scalars(cpus=24.0, mem=65536.0, disk=400000.0),
        "version": "1.11.0",
    }


def _framework(number: int) -> dict[str, Any]:
    return {
        "active": True,
        "connected": True,
        "framework_info": {
            "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
            "id": {"value": f"7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-{number:04d}"},
            "name": f"framework-{number}",
            "roles": [f"r{number % ROLES}"],
            "user": "root",
        },
        "registered_time": {"nanoseconds": 1_763_990_000_000_000_000},
    }


def _status(name: str, state: str, agent: int) -> dict[str, Any]:
    return {
        "agent_id": {"value": f"7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-S{agent}"},
        "container_status": {
            "container_id": {"value": f"0d9dbbd6-{agent:08d}"},
            "network_infos": [{"ip_addresses": [{"ip_address": f"10.0.{agent % 256}.{agent // 256}"}]}],
        },
        "executor_id": {"value": name},
        "source": "SOURCE_EXECUTOR",
        "state": state,
        "task_id": {"value": name},
        "timestamp": time.time(),
        "uuid": "MTIzNDU2Nzg5MDEyMzQ1Ng==",
    }


def _task(name: str, agent: int, owner: int) -> dict[str, Any]:
    return {
        "agent_id": {"value": f"7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-S{agent}"},
        "executor_id": {"value": ""},
        "framework_id": {"value": f"7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-{owner:04d}"},
        "labels": {"labels": [{"key": "team", "value": f"team-{owner}"}]},
        "name": name,
        "resources": _scalars(f"r{owner % ROLES}", cpus=2.0, mem=4096.0),
        "state": "TASK_RUNNING",
        "status_state": "TASK_RUNNING",
        "statuses": [_status(name, state, agent) for state in ("TASK_STARTING", "TASK_RUNNING")],
        "task_id": {"value": name},
        "user": "root",
    }


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Cluster:
    """The answers of the server as text, built before the recorder starts."""

    def __init__(self, agents: int) -> None:
        listed = b",".join(_text(_agent(number)) for number in range(agents))
        owners = ((number, (number * 7 + place) % FRAMEWORKS, place) for number in range(agents)
                  for place in range(TASKS_EACH))  # fmt: skip
        tasks = b",".join(_text(_task(f"task-{number}-{place}.{owner}", number, owner))
                          for number, owner, place in owners)  # fmt: skip
        frameworks = b",".join(_text(_framework(number)) for number in range(FRAMEWORKS))
        self.agents = agents
        self.readings = 0
        """How often the agents have been read."""
        self.get_agents = b'{"type":"GET_AGENTS","get_agents":{"agents":[%s]}}' % listed
        self.state = recordio.encode(
            b'{"type":"SUBSCRIBED","subscribed":{"get_state":{"get_tasks":{"tasks":[%s]},"get_executors":{},'
            b'"get_frameworks":{"frameworks":[%s]},"get_agents":{"agents":[%s]}},"heartbeat_interval_seconds":15}}'
            % (tasks, frameworks, listed)
        )
        self.may_change = threading.Event()
        self.over = threading.Event()

    def events(self) -> Iterator[bytes]:
        """Two changes at a time: a task begins, and the one before it ends."""
        self.may_change.wait()
        began = time.monotonic()
        for number in count():
            if self.over.wait(max(0.0, began + 2 * number / CHANGES - time.monotonic())):
                return
            agent, owner = number % self.agents, number % FRAMEWORKS
            task = _task(f"new-{number}", agent, owner)
            yield recordio.encode(_text({"type": "TASK_ADDED", "task_added": {"task": task}}))
            status = _status(f"new-{number - 1}", "TASK_FINISHED", agent)
            owner_before = {"value": f"7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-{(number - 1) % FRAMEWORKS:04d}"}
            change = {"framework_id": owner_before, "state": "TASK_FINISHED", "status": status}
            yield recordio.encode(_text({"type": "TASK_UPDATED", "task_updated": change}))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A recorder that is stopped closes its connections, which is no error of this server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cluster: Cluster

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """The small answers."""
        uptime = {"master/uptime_secs": time.time() - _EPOCH}
        metrics = uptime | {
            f"master/frameworks/framework-{one}/7ea1d93e-0a2d-4bd3-9d36-0d9dbbd6f9a1-{one:04d}/roles/r{one % ROLES}"
            "/suppressed": 0.0
            for one in range(FRAMEWORKS)
        }
        answers = {
            "/version": {"version": "1.11.0"},
            "/flags": {"flags": {"cluster": "large"}},
            "/metrics/snapshot": metrics,
            "/quota": {"infos": []},
            "/weights": [],
        }
        self._answer(_text(answers.get(self.path, {})))

    def do_POST(self) -> None:
        """The stream, and the lists that are read now and then."""
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["type"]
        if call != "SUBSCRIBE":
            small = {
                "GET_EXECUTORS": b'{"type":"GET_EXECUTORS","get_executors":{}}',
                "GET_MASTER": _text({"get_master": {"master_info": {}, "start_time": _EPOCH}}),
            }
            self._answer(self.cluster.get_agents if call == "GET_AGENTS" else small.get(call, b"{}"))
            self.cluster.readings += call == "GET_AGENTS"
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(ConnectionError):
            for record in self._stream():
                self.wfile.write(b"%x\r\n%s\r\n" % (len(record), record))

    def _stream(self) -> Iterator[bytes]:
        yield self.cluster.state
        yield from self.cluster.events()

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def cpu_seconds(pid: int) -> float:
    """The seconds for which processors have worked for a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _tasks(history: Path) -> int:
    try:
        with open_recording(history) as recording:
            return sum(recording.counts(one.cluster_id).tasks for one in recording.clusters())
    except BadInput:
        return 0


def _bytes_of_a_task(history: Path) -> float:
    """The bytes that the file has for each of its tasks, beside the text of its id."""
    with closing(sqlite3.connect(history, isolation_level=None)) as file:
        tasks, ids = file.execute("SELECT count(*), sum(length(task)) FROM task_rows").fetchone()
        (whole,) = file.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
        file.execute("DELETE FROM task_rows")
        file.execute("VACUUM")
        (rest,) = file.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    return float(whole - rest - ids) / int(tasks)


def measure(reporter: Reporter, agents: int, seconds: int) -> None:
    """Record one cluster, and add the row of its figures."""
    cluster = Cluster(agents)
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    with tempfile.TemporaryDirectory() as folder, _Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        history = Path(folder) / "h.sqlite"
        words = ["--master", f"http://127.0.0.1:{server.server_port}", "history", "record", "--history", str(history)]
        began = time.monotonic()
        every = ["--every-agents", str(2 * seconds)]
        recorder = Process([sys.executable, "-m", "mesosctl", *words, *every], Path(folder) / "recorder.log")
        try:
            wait_until(lambda: _tasks(history) == agents * TASKS_EACH, recorder.last_words, 600)
            first, first_cpu = time.monotonic() - began, cpu_seconds(recorder.pid)
            peak = _peak_mib(recorder.pid)
            cluster.may_change.set()
            start, before, read_before = time.monotonic(), cpu_seconds(recorder.pid), cluster.readings
            time.sleep(max(1.0, min(seconds, began + 2 * seconds - start - 2)))  # before the first reading of agents
            of_events = (cpu_seconds(recorder.pid) - before) / (time.monotonic() - start)
            wait_until(lambda: cluster.readings > read_before, recorder.last_words, 600)
            time.sleep(0.7 * seconds)  # what is read is also compared and written
            whole = cpu_seconds(recorder.pid) - before
            of_reading = max(0.0, whole - of_events * (time.monotonic() - start))
            peak_of_reading = _peak_mib(recorder.pid)
        finally:
            cluster.over.set()
            cluster.may_change.set()
            recorder.stop()
            server.shutdown()
        a_task = _bytes_of_a_task(history)
    reporter.row(f"{agents:,} agents", first, first_cpu, peak, 100 * of_events, of_reading, peak_of_reading, a_task)
    if agents == AGENTS:
        reporter.budget("history record, the first state", first, MOST_SECONDS, "s")
        reporter.budget("history record, memory", peak_of_reading, MOST_MIB, "MiB")
        reporter.budget("history record, 100 changes a second", 100 * of_events, 100 * MOST_OF_A_CORE, "% of a core")
        reporter.budget("history record, a reading of agents", of_reading, MOST_SECONDS, "s")
        reporter.budget("history record, bytes a task beside its id", a_task, MOST_BYTES, "bytes")


def main() -> None:
    """Print a line for each cluster."""
    given = arguments(__doc__).parse_args()
    reporter = Reporter(
        "Recording a cluster",
        f"A server shows {TASKS_EACH} tasks on each agent, and then {CHANGES} changes of tasks a second. The figures "
        "are those of the recorder alone.",
    )
    reporter.table(
        "Cost of a recorder", "cluster", "first state s", "its CPU s", "MiB", "% of a core", "reading agents, CPU s",
        "MiB with it", "bytes a task",
    )  # fmt: skip
    if given.small:
        measure(reporter, SMALL_AGENTS, SMALL_SECONDS)
    else:
        for agents in (AGENTS // 10, AGENTS):
            measure(reporter, agents, SECONDS)
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
