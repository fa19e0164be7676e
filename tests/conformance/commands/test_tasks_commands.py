"""`mesosctl tasks` on every carrier: what it lists is what the master answers."""

from typing import Any

from mesosctl.mesos.rules.version_profile import TERMINAL_STATES
from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.tasks import SETUP, joined, launch, task, told
from tests.conformance.masters.cluster import Cluster

Task = dict[str, Any]


def listed(master: Cluster, words: str = "") -> list[Task]:
    status, said = run_for_json(master, f"tasks {words}")
    assert status == 0, said
    found: list[Task] = said["tasks"]
    return found


def shown(master: Cluster) -> list[Task]:
    """Every task of GET_TASKS."""
    answer = master.call("GET_TASKS").json()["get_tasks"]
    return [one for kind, part in answer.items() for one in part if kind.endswith("tasks")]


def in_a_list(message: Task, master: Cluster) -> Task:
    """The fields of a task that the list must show, without the time."""
    (hostname,) = (one["hostname"] for one in master.agents() if one["id"] == message["agent_id"]["value"])
    return {
        "id": message["task_id"]["value"],
        "name": message["name"],
        "framework_id": message["framework_id"]["value"],
        "framework": "ours",
        "role": message["resources"][0]["allocation_info"]["role"],
        "agent_id": message["agent_id"]["value"],
        "agent": hostname,
        "state": message["state"],
        "resources": {one["name"]: one["scalar"]["value"] for one in message["resources"]},
    }


def as_shown(master: Cluster, words: str = "", *, ended: bool = False) -> tuple[list[Task], list[Task]]:
    """The tasks that are listed and those that should be, read while no state has changed."""
    for _ in range(20):
        before = shown(master)
        found = [{**one, "resources": one["resources"]["amounts"]} for one in sorted(listed(master, words), key=str)]
        if shown(master) == before:
            break
    else:
        raise AssertionError("the states of tasks keep changing")
    for one in found:
        assert (one.pop("since") is None) == (one["state"] == "TASK_STAGING")
    wanted = [in_a_list(one, master) for one in before if ended or one["state"] not in TERMINAL_STATES]
    return sorted(found, key=lambda one: one["id"]), sorted(wanted, key=lambda one: one["id"])


def test_tasks_are_listed_as_the_master_shows_them(start: Any) -> None:
    with start(SETUP) as (master, join):
        assert listed(master, "--all") == []
        framework = joined(join, name="ours")
        offer = framework.offers()[0]
        framework.accept([offer], launch(task(offer, "t-1"), {**task(offer, "t-2", cpus=0.5), "name": "second"}))
        told(framework)
        for words, ended in (("", False), ("--all", True), ("--framework ours --role ads --all", True)):
            found, wanted = as_shown(master, words, ended=ended)
            assert found == wanted
        assert [one["id"] for one in listed(master, "second --all")] == ["t-2"]
        assert listed(master, "--role web --all") == []
        framework.leave()
        assert listed(master) == []
        found, wanted = as_shown(master, "--all --framework ours", ended=True)
        assert found == wanted
        assert [one["id"] for one in found] == ["t-1", "t-2"]
        status, said = run_for_json(master, "tasks t-1")
        assert (status, said["rule"]) == (5, "task.exists")
        assert said["message"] == "task 't-1' has ended"
