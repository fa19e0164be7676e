"""One fake master after another in virtual time, asked without a carrier."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.clock import VirtualClock

AGENT = "cpus:4;mem:2048"
JSON = {"content-type": "application/json", "accept": "application/json"}
PINGS = 75.0
"""Seconds until an agent that does not answer counts as unreachable: five pings."""
START = 1000.0
"""What the clock shows at first: seconds since the epoch."""


class Lab:
    """The master of the moment, and its clock.

    `registry` makes what each master is started upon; `rate_limits` is the flag of that name, as a value; `more` are
    further fields of `ClusterSpec`.
    """

    master: Master
    application: Application

    def __init__(
        self,
        *agents: AgentSpec | str,
        version: str = "1.11",
        registry: Callable[[], Registry] = MemoryRegistry,
        now: float = START,
        takes_over: bool = False,
        rate_limits: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        self.clock = VirtualClock(now)
        self.registry = registry
        if rate_limits:
            more["flags"] = {**more.get("flags", {}), "rate_limits": json.dumps(rate_limits)}
        self.start(ClusterSpec(agents=agents or (AGENT,), mesos_version=version, **more), takes_over=takes_over)

    def start(self, spec: ClusterSpec, *, takes_over: bool = True) -> None:
        """A new master, which by default takes the lead from the one before."""
        self.spec = spec
        self.master = spec.start(self.registry(), clock=self.clock, takes_over=takes_over)
        self.application = Application(self.master, has_page=True)

    def restart(self, spec: ClusterSpec | None = None, *, killed: bool = False, down: float = 0.0) -> None:
        """Another master; `killed`: the one before had no time to end, `down`: seconds without any."""
        if killed:
            self.master.registry.close()
        else:
            self.master.close()
        self.clock.sleep(down)
        self.start(spec or self.spec)

    def wait(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.clock.sleep(seconds)
        self.application.tick()

    def at(self, seconds: float) -> None:
        """Let time pass until `seconds` after the clock's usual start."""
        self.clock.now = START + seconds
        self.application.tick()

    def request(self, method: str, target: str, body: Any = None, **headers: str) -> Response:
        """The answer to one request, whatever it is."""
        content = b"" if body is None else json.dumps(body).encode()
        return self.application.handle(Request(method, target, JSON | headers, content))

    def read(self, path: str) -> Any:
        """The JSON of a GET that must succeed."""
        answer = self.request("GET", path)
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def post(self, path: str, body: Any) -> int:
        """The status of a POST."""
        return self.request("POST", path, body).status

    def post_form(self, path: str, **fields: Any) -> int:
        """The status of a form about the first agent, as the endpoints of reservations and volumes read it."""
        (agent_id, *_) = self.master.state.agents
        texts = {name: json.dumps(value) for name, value in fields.items()}
        content = urlencode({"slaveId": agent_id, **texts}).encode()
        return self.application.handle(Request("POST", path, {}, content)).status

    def call(self, kind: str, **body: Any) -> Any:
        """What a v1 operator call that must succeed answers, unwrapped, if anything."""
        answer = self.request("POST", "/api/v1", {"type": kind, kind.lower(): body})
        assert answer.status in (200, 202), answer
        return json.loads(answer.body)[kind.lower()] if answer.body else None

    def about(self, kind: str, agent_id: str, **more: Any) -> None:
        """A v1 operator call about one agent."""
        self.call(kind, agent_id={"value": agent_id}, **more)

    def take_down(self, hostname: str = "agent-1") -> dict[str, str]:
        """Schedule a machine for maintenance, and take it down."""
        machine = {"hostname": hostname, "ip": "127.0.0.1"}
        windows = [{"machine_ids": [machine], "unavailability": {"start": {"nanoseconds": 1}}}]
        assert self.post("/maintenance/schedule", {"windows": windows}) == 200
        assert self.post("/machine/down", [machine]) == 200
        return machine

    # --- What the master shows ----------------------------------------------------------------------

    @property
    def agents(self) -> list[Any]:
        """Entries of /slaves."""
        return list(self.read("/slaves")["slaves"])

    def ids(self) -> list[str]:
        """The last part of every registered agent's id."""
        return [agent["id"].rpartition("-")[2] for agent in self.agents]

    def used(self) -> float:
        """Cpus in use on all agents."""
        return sum(agent["used_resources"]["cpus"] for agent in self.agents)

    def frameworks(self) -> list[dict[str, Any]]:
        """Entries of /frameworks."""
        return list(self.read("/frameworks")["frameworks"])

    def framework(self, name: str = "f") -> dict[str, Any]:
        """The framework of this name, as /frameworks shows it."""
        (shown,) = (shown for shown in self.frameworks() if shown["name"] == name)
        return shown

    def tasks(self) -> dict[str, str]:
        """State by task id, of all that are not completed."""
        lists = self.tasks_by_list()
        return lists.get("tasks", {}) | lists.get("unreachable", {})

    def tasks_by_list(self) -> dict[str, dict[str, str]]:
        """By list of GET_TASKS that is not empty, without the "_tasks" of its name: state by task id."""
        shown = self.call("GET_TASKS")
        return {
            key.removesuffix("_tasks"): {task["task_id"]["value"]: task["state"] for task in listed}
            for key, listed in shown.items()
            if listed
        }

    def metric(self, name: str) -> float:
        """A metric of the master."""
        return float(self.read("/metrics/snapshot")[f"master/{name}"])

    def counters(self) -> dict[str, tuple[float, float]]:
        """Messages received and processed, by principal."""
        metrics = self.read("/metrics/snapshot")
        principals = [name[11:-18] for name in metrics if name.startswith("frameworks/") and name.endswith("_received")]
        return {
            principal: (
                metrics[f"frameworks/{principal}/messages_received"],
                metrics[f"frameworks/{principal}/messages_processed"],
            )
            for principal in principals
        }


@contextmanager
def lasting(path: Path, *agents: AgentSpec | str, **more: Any) -> Iterator[Lab]:
    """A lab whose masters follow each other upon one file in the folder `path`."""
    made = Lab(*agents, registry=lambda: SqliteRegistry(path / "r.sqlite"), takes_over=True, **more)
    try:
        yield made
    finally:
        made.master.registry.close()
