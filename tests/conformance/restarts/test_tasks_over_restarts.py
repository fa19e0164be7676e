"""A master started again while tasks run: agents bring them, and their frameworks are recovered until they are back.

The agents of the real runner live in the master's process; here they are simulated ones outside of it, which outlive
the master and say when they register again what a real agent would.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import TICK
from tests.conformance.callers.tasks import custom, launch, task, told
from tests.conformance.masters import fakes
from tests.conformance.masters.agent_messages import reregistration
from tests.conformance.masters.carriers import EVERY_CARRIER, REAL, Carrier
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.processes import Process
from tests.conformance.masters.simulated import agents_of, returning_to

AGENT = "cpus:4;mem:2048;disk:100"
Operator = Any


@dataclass
class Restarts:
    """One master after another upon the same folder, with agents that outlive each."""

    carrier: Carrier
    folder: Path
    _masters: list[Cluster] = field(default_factory=list)
    _agents: ExitStack = field(default_factory=ExitStack)

    @property
    def master(self) -> Cluster:
        return self._masters[-1]

    def begin(self, agents: int = 1) -> Cluster:
        """The first master, and its agents."""
        flags = {"allocation_interval": f"{TICK * 1000:.0f}ms"}
        if self.carrier is REAL:
            flags |= {"registry": "replicated_log", "agent_ping_timeout": "15mins"}
            self._setup = Setup(flags=flags)
        else:
            flags |= {"registry": "sqlite", "work_dir": str(self.folder)}
            self._setup = Setup(agents=(AGENT,) * agents, flags=flags)
        self._start()
        if self.carrier is REAL:
            self._agents.enter_context(agents_of(self.master, (AGENT,) * agents))
        return self.master

    def begin_again(self) -> Cluster:
        """The next master, and the same agents with what they run."""
        known = self._known()
        self.end()
        self._start()
        if self.carrier is REAL:
            self._agents.enter_context(returning_to(self.master, known))
        return self.master

    def _start(self) -> None:
        self._masters.append(self.carrier.start(self._setup, self.folder))

    def _known(self) -> list[bytes]:
        """What each agent has to say: as the master shows it, but for the states, which the agents know better."""
        state = self.master.call("GET_STATE").json()["get_state"]
        frameworks = [entry["framework_info"] for entry in state["get_frameworks"].get("frameworks", ())]
        found = []
        for agent in state["get_agents"]["agents"]:
            own = agent["agent_info"]["id"]
            tasks = [{**one, "state": "TASK_RUNNING"} for one in _on(own, state["get_tasks"].get("tasks", ()))]
            executors = [one["executor_info"] for one in _on(own, state["get_executors"].get("executors", ()))]
            theirs = {one["framework_id"]["value"] for one in tasks}
            infos = [info for info in frameworks if info["id"]["value"] in theirs]
            found.append(reregistration(agent["agent_info"], tasks, executors, infos))
        return found

    def join(self, *roles: str, again: Framework | None = None, **info: Any) -> Framework:
        """A framework of the latest master; `again` is one of a former master that keeps its id."""
        framework = Framework(self.master, *roles, **{"failover_timeout": 1000.0, **info})
        framework.id = None if again is None else again.id
        return framework

    def listen(self) -> Operator:
        """An operator's stream."""
        json = '{"type": "SUBSCRIBE"}'
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        stream = self.master.subscribers.open("/api/v1", json, headers)
        self.master.subscribers.wait(lambda: len(stream.events) > 0)
        return stream

    def end(self) -> None:
        """The master first: nobody is left then who would speak to agents that are on their way out."""
        for master in self._masters:
            master.stop()
        self._agents.close()


def _on(agent_id: dict[str, str], entries: Any) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["agent_id"] == agent_id]


@pytest.fixture(params=EVERY_CARRIER, ids=str)
def restarts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restarts]:
    masters = Restarts(request.param, tmp_path)
    yield masters
    masters.end()


def run(restarts: Restarts, framework: Framework, *names: str, agents: int = 1) -> list[dict[str, Any]]:
    """A task on each agent, and what it was launched on."""
    offers = framework.offers(agents=agents)
    for offer, name in zip(offers, names, strict=False):
        framework.accept([offer], launch(task(offer, name)))
    if restarts.carrier is not REAL:  # a simulated agent of the real master says nothing
        states = [told(framework)["state"] for _ in names * 2]
        assert sorted(states) == ["TASK_RUNNING"] * len(names) + ["TASK_STARTING"] * len(names)
    await_tasks(restarts, *names)
    return offers


def await_tasks(restarts: Restarts, *names: str) -> None:
    """ACCEPT is answered before it takes effect."""

    def there() -> bool:
        tasks = restarts.master.call("GET_TASKS").json()["get_tasks"].get("tasks", ())
        return {*names} <= {one["task_id"]["value"] for one in tasks}

    assert restarts.master.subscribers.wait(there), names


def only(entries: list[Any]) -> Any:
    (entry,) = entries
    return entry


def of_frameworks(operator: Operator) -> list[str]:
    """What an operator was told of frameworks so far."""
    return [event["type"] for event in operator.events if event["type"].startswith("FRAMEWORK")]


def test_a_framework_is_recovered_from_the_agents_that_run_its_tasks(restarts: Restarts) -> None:
    restarts.begin()
    before = restarts.join("r1", principal="p", name="keeper").subscribe()
    run(restarts, before, "t")
    keys = sorted(only(restarts.master.read("/frameworks")["frameworks"]))
    second = restarts.begin_again()
    entry = only(second.read("/frameworks")["frameworks"])
    assert (entry["id"], entry["name"], entry["principal"]) == (before.id, "keeper", "p")
    assert (entry["active"], entry["connected"], entry["recovered"]) == (False, False, True)
    assert (entry["registered_time"], entry["unregistered_time"]) == (0.0, 0.0)
    assert sorted(entry) == [key for key in keys if key != "reregistered_time"]
    assert (entry["used_resources"]["cpus"], entry["offered_resources"]["cpus"]) == (1.0, 0.0)
    shown = only(entry["tasks"])
    assert (shown["id"], shown["state"], shown["role"], shown["resources"]["mem"]) == ("t", "TASK_RUNNING", "r1", 32.0)
    described = only(second.call("GET_FRAMEWORKS").json()["get_frameworks"]["frameworks"])
    assert sorted(described) == sorted(
        "framework_info active connected recovered allocated_resources offer_constraints".split()
    )
    assert (described["active"], described["connected"], described["recovered"]) == (False, False, True)


def test_what_recovered_frameworks_hold_is_counted(restarts: Restarts) -> None:
    restarts.begin()
    run(restarts, restarts.join("r1").subscribe(), "t")
    second = restarts.begin_again()
    agent = only(second.read("/slaves")["slaves"])
    assert (agent["used_resources"]["cpus"], agent["offered_resources"]["cpus"]) == (1.0, 0.0)
    roles = {role["name"]: role for role in second.read("/roles")["roles"]}
    assert roles["r1"]["allocated"] == roles["r1"]["quota"]["consumed"] == {"cpus": 1.0, "mem": 32.0}
    assert len(roles["r1"]["frameworks"]) == 1
    figures = second.read("/metrics/snapshot")
    counted = "tasks_running frameworks_disconnected frameworks_inactive frameworks_active cpus_used"
    assert [figures[f"master/{name}"] for name in counted.split()] == [1.0, 1.0, 1.0, 0.0, 1.0]
    other = restarts.join("n").subscribe()
    assert {part["name"]: part["scalar"]["value"] for part in only(other.offers())["resources"]}["cpus"] == 3.0


def test_a_recovered_framework_is_back_once_it_subscribes(restarts: Restarts) -> None:
    restarts.begin()
    before = restarts.join("r1").subscribe()
    agent_id = only(run(restarts, before, "t"))["agent_id"]
    second = restarts.begin_again()
    operator = restarts.listen()
    snapshot = only(operator.events[0]["subscribed"]["get_state"]["get_frameworks"]["frameworks"])
    assert snapshot["recovered"] is True
    back = restarts.join("r1", again=before).subscribe()
    assert back.id == before.id
    entry = only(second.read("/frameworks")["frameworks"])
    assert (entry["active"], entry["connected"], entry["recovered"]) == (True, True, False)
    assert entry["registered_time"] >= second.read("/state")["start_time"]
    asked: dict[str, Any] = {"tasks": [{"task_id": {"value": "t"}, "agent_id": agent_id}]}
    of_all: dict[str, Any] = {"tasks": []}
    for tasks in (asked, of_all):
        back.ask("RECONCILE", reconcile=tasks)
        status = back.next("UPDATE")["update"]["status"]
        assert (status["task_id"]["value"], status["state"]) == ("t", "TASK_RUNNING")
        assert (status["reason"], status["source"], "uuid" in status) == (
            "REASON_RECONCILIATION",
            "SOURCE_MASTER",
            False,
        )
    offered = only(back.offers())["resources"]
    assert {part["name"]: part["scalar"]["value"] for part in offered}["cpus"] == 3.0
    assert second.subscribers.wait(lambda: len(of_frameworks(operator)) > 0)
    assert of_frameworks(operator) == ["FRAMEWORK_UPDATED"]
    figures = second.read("/metrics/snapshot")
    assert figures["master/messages_reregister_framework"] == 1.0


def test_a_framework_that_nobody_brought_is_added_and_updated(restarts: Restarts) -> None:
    restarts.begin()
    before = restarts.join("r1").subscribe()
    restarts.begin_again()
    operator = restarts.listen()
    restarts.join("r1", again=before).subscribe().offers()
    assert restarts.master.subscribers.wait(lambda: len(of_frameworks(operator)) > 1)
    assert of_frameworks(operator) == ["FRAMEWORK_ADDED", "FRAMEWORK_UPDATED"]
    added = only([event["framework_added"]["framework"] for event in operator.events if "framework_added" in event])
    assert (added["active"], added["connected"], added["recovered"]) == (False, False, True)
    assert added["registered_time"] == added["reregistered_time"] == {"nanoseconds": 0}


def test_nobody_else_is_taken_for_a_recovered_framework(restarts: Restarts) -> None:
    restarts.begin()
    before = restarts.join("r1", principal="p").subscribe()
    run(restarts, before, "t")
    second = restarts.begin_again()
    other = restarts.join("r1", again=before, principal="q")
    other.open()
    assert "principal" in other.next("ERROR")["error"]["message"]
    assert only(second.read("/frameworks")["frameworks"])["recovered"] is True


def test_a_recovered_framework_is_torn_down_like_any_other(restarts: Restarts) -> None:
    restarts.begin()
    before = restarts.join("r1").subscribe()
    run(restarts, before, "t")
    second = restarts.begin_again()
    assert second.call("TEARDOWN", teardown={"framework_id": {"value": before.id}}).status == 200
    shown = second.read("/frameworks")
    assert shown["frameworks"] == []
    gone = only(shown["completed_frameworks"])
    assert (gone["id"], gone["tasks"], only(gone["completed_tasks"])["state"]) == (before.id, [], "TASK_KILLED")
    assert only(second.read("/slaves")["slaves"])["used_resources"]["cpus"] == 0.0
    back = restarts.join("r1", again=before)
    back.open()
    assert back.next("ERROR")["error"]["message"] == "Framework has been removed"


def test_a_framework_on_several_agents_is_recovered_once(restarts: Restarts) -> None:
    restarts.begin(agents=3)
    before = restarts.join("r1").subscribe()
    run(restarts, before, "t1", "t2", agents=3)
    second = restarts.begin_again()
    entry = only(second.read("/frameworks")["frameworks"])
    assert sorted(shown["id"] for shown in entry["tasks"]) == ["t1", "t2"]
    assert entry["used_resources"]["cpus"] == 2.0
    assert sorted(agent["used_resources"]["cpus"] for agent in second.read("/slaves")["slaves"]) == [0.0, 1.0, 1.0]


def test_an_executor_comes_back_with_its_tasks(restarts: Restarts) -> None:
    restarts.begin()
    before = restarts.join("r1").subscribe()
    offer = only(before.offers())
    under = custom(before)
    tasks = [task(offer, name, command=None, executor=under) for name in ("t1", "t2")]
    before.accept([offer], launch(*tasks))
    if restarts.carrier is not REAL:
        for _ in range(4):
            told(before)
    await_tasks(restarts, "t1", "t2")
    second = restarts.begin_again()
    entry = only(second.read("/frameworks")["frameworks"])
    assert only(entry["executors"])["executor_id"] == "c"
    assert entry["used_resources"]["cpus"] == only(second.read("/slaves")["slaves"])["used_resources"]["cpus"] == 2.1


@pytest.mark.parametrize("end", [Process.stop, Process.kill], ids=["ended", "killed"])
@pytest.mark.process
@pytest.mark.socket
def test_a_framework_does_not_fail_over_because_its_master_ends(tmp_path: Path, end: Callable[[Process], None]) -> None:
    """With no time to fail over at all, and its stream open to the last."""
    with _served(tmp_path, end) as first:
        framework = Framework(first, "r1").subscribe()
        offer = only(framework.offers())
        framework.accept([offer], launch(task(offer, "t")))
        assert told(framework)["state"] == "TASK_STARTING"
    with _served(tmp_path, end) as second:
        entry = only(second.read("/frameworks")["frameworks"])
        assert (entry["id"], entry["recovered"], only(entry["tasks"])["state"]) == (framework.id, True, "TASK_RUNNING")


@contextmanager
def _served(folder: Path, end: Callable[[Process], None]) -> Iterator[Cluster]:
    """A fake master on a socket that is ended before anybody hangs up."""
    words = ["--registry", "sqlite", "--work-dir", str(folder), "--agent", AGENT]
    process = Process([*fakes.PROGRAM, *words], folder / "fake.log")
    try:
        cluster = fakes.on_socket(process, Setup())
        yield cluster
    finally:
        end(process)
    cluster.stop()
