"""Authorization of tasks: who may run them, who may see them, and what the operators' event stream tells to whom."""

import json
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import TICK
from tests.conformance.callers.launching import launched_on
from tests.conformance.callers.subscribers import Subscription
from tests.conformance.callers.tasks import group, launch
from tests.conformance.masters.cluster import Cluster, Setup, basic
from tests.conformance.scenarios.scenario import scalars

ANY, NONE = {"type": "ANY"}, {"type": "NONE"}


def setup(*, permissive: bool) -> Setup:
    def rules(action_users: str, *named: tuple[str, Any]) -> list[dict[str, Any]]:
        return [{"principals": {"values": [principal]}, action_users: users} for principal, users in named]

    seeing = rules("users", ("root", ANY), ("blind", NONE), ("half", {"values": ["u"]}), ("half", NONE))
    return Setup(
        agents=("cpus:4;mem:2048;disk:1000;ports:[31000-31009]",),
        flags={
            "authenticate_http_readwrite": "true",
            "authenticate_http_readonly": "true",
            "allocation_interval": f"{TICK * 1000:.0f}ms",
        },
        principals=("root", "blind", "half"),
        acls={
            "permissive": permissive,
            "register_agents": [{"principals": ANY, "agents": ANY}],
            "register_frameworks": [{"principals": ANY, "roles": ANY}],
            "teardown_frameworks": [{"principals": ANY, "framework_principals": ANY}],
            "view_frameworks": [
                {"principals": {"values": ["root", "half"]}, "users": ANY},
                *rules("users", ("blind", NONE)),
            ],
            "view_tasks": seeing,
            "view_executors": seeing,
            "view_roles": rules("roles", ("root", ANY), ("blind", NONE), ("half", ANY)),
            "run_tasks": rules("users", ("runner", {"values": ["u", "root"]}), ("runner", NONE), ("idle", NONE)),
        },
    )


SETUPS = {permissive: setup(permissive=permissive) for permissive in (True, False)}


def info(name: str, user: str | None = None) -> dict[str, Any]:
    command = {"value": "true"} | ({} if user is None else {"user": user})
    return {
        "name": name,
        "task_id": {"value": name},
        "agent_id": {"value": "$AGENT"},
        "resources": scalars(cpus=0.1, mem=32),
        "command": command,
    }


def under(user: str) -> dict[str, Any]:
    """A task whose executor runs as a user."""
    executor = {"executor_id": {"value": f"e-{user}"}, "command": {"value": "x", "user": user}}
    return {name: value for name, value in info(user).items() if name != "command"} | {"executor": executor}


def default_executor() -> dict[str, Any]:
    return {
        "executor_id": {"value": "e"},
        "type": "DEFAULT",
        "framework_id": {"value": "$FRAMEWORK"},
        "resources": scalars(cpus=0.1, mem=32, disk=10),
    }


def test_running_tasks(master: Cluster, permissive: bool) -> None:
    forbidden = {"TASK_ERROR REASON_TASK_UNAUTHORIZED": 1}

    def refused(principal: str, *operations: Any) -> dict[str, Any]:
        return launched_on(master, list(operations), "ads", principal=principal)[1]

    tasks = launch(info("own"), info("root", "root"), info("nobody", "nobody"), under("bin"), under("root"))
    tasks["launch"]["task_infos"][-1]["task_id"] = {"value": "executor of root"}
    assert refused("runner", tasks) == {"nobody": forbidden, "bin": forbidden}
    assert refused("idle", launch(info("own"))) == {"own": forbidden}
    assert refused("stranger", launch(info("own"))) == ({} if permissive else {"own": forbidden})
    of_group = {name: {"TASK_ERROR REASON_TASK_GROUP_UNAUTHORIZED": 1} for name in ("g1", "g2")}
    assert refused("runner", group(default_executor(), info("g1"), info("g2", "nobody"))) == of_group
    assert refused("runner", group(default_executor(), info("g1"), info("g2", "root"))) == {}
    for user, expected in (("nobody", of_group), ("root", {})):
        as_user = default_executor() | {"type": "CUSTOM", "command": {"value": "x", "user": user}}
        assert refused("runner", group(as_user, info("g1"), info("g2", "root"))) == expected
    # What is forbidden is said of a task that is invalid as well.
    both = info("nobody", "nobody") | {"resources": []}
    assert refused("runner", launch(both)) == {"nobody": forbidden}
    assert refused("runner", group(default_executor(), both)) == {"nobody": of_group["g1"]}


def listen(master: Cluster, principal: str) -> Subscription:
    headers = {"Content-Type": "application/json", "Accept": "application/json", **basic(principal)}
    stream = master.subscribers.open("/api/v1", json.dumps({"type": "SUBSCRIBE"}), headers)
    assert stream.status == 200
    return stream


def test_seeing_tasks_and_hearing_of_them(master: Cluster, permissive: bool) -> None:
    streams = {principal: listen(master, principal) for principal in ("root", "blind", "half")}
    framework = Framework(master, "ads", principal="runner").subscribe()
    (offer,) = framework.offers()
    tasks = json.loads(json.dumps([info("own"), info("other", "root")]).replace("$AGENT", offer["agent_id"]["value"]))
    framework.accept([offer], launch(*tasks), refuse=1000)

    def seen(by: str) -> set[str]:
        answer = master.request("GET", "/tasks", headers=basic(by))
        return {task["id"] for task in answer.json()["tasks"] if task["framework_id"] == framework.id}

    def in_state(by: str) -> set[str]:
        (shown,) = [
            of
            for of in master.request("GET", "/state", headers=basic(by)).json()["frameworks"]
            if of["id"] == framework.id
        ] or [{}]
        return {task["id"] for key in ("tasks", "completed_tasks") for task in shown.get(key, ())}

    def listed(by: str) -> set[str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **basic(by)}
        answer = master.request("POST", "/api/v1", content='{"type": "GET_TASKS"}', headers=headers)
        found = [task for tasks in answer.json()["get_tasks"].values() for task in tasks]
        return {task["task_id"]["value"] for task in found if task["framework_id"]["value"] == framework.id}

    assert master.subscribers.wait(lambda: seen("root") == {"own", "other"})
    for shown in (seen, in_state, listed):
        assert (shown("root"), shown("half"), shown("blind")) == ({"own", "other"}, {"own"}, set()), shown
    framework.leave()

    def heard(by: str, kind: str) -> int:
        return sum(event["type"] == kind for event in streams[by].events)

    assert master.subscribers.wait(
        lambda: heard("root", "FRAMEWORK_REMOVED") == 1 == heard("half", "FRAMEWORK_REMOVED")
    )
    added = {principal: heard(principal, "TASK_ADDED") for principal in streams}
    assert added == {"root": 2, "half": 1, "blind": 0}
    assert (heard("half", "FRAMEWORK_ADDED"), heard("blind", "FRAMEWORK_ADDED")) == (1, 0)
    assert heard("blind", "TASK_UPDATED") == heard("blind", "FRAMEWORK_REMOVED") == 0
    for stream in (*streams.values(), framework.stream):
        stream.hang_up()
