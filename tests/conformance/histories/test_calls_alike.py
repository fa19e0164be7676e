"""A fake and a real master given the same random calls, in JSON and in protobuf: same answers, and the same state then.

What ends the real master has to be refused by the fake one.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from tests.conformance.callers.frameworks import HEADERS, PATH, Framework
from tests.conformance.callers.subscribers import Subscription
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_calls import CallDice
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster, MasterDied
from tests.conformance.masters.codec import WHOLE_PROTOBUF
from tests.conformance.masters.comparing import comparable, read
from tests.conformance.masters.judges import JUDGES_OF_HISTORIES
from tests.endurance.jobs.extremes import ACCEPTED, INFO, Request
from tests.endurance.jobs.lethal import Outcome as Taken
from tests.endurance.jobs.lethal import took
from tests.endurance.jobs.trial import SETUP, Trial, answer_of, filled

READ = ("/quota", "/weights", "/maintenance/schedule", "/maintenance/status", "/roles")
OF_AGENT = ("reserved_resources_full", "unreserved_resources_full", "active", "deactivated", "drain_info")
OF_FRAMEWORK = (
    *("name", "user", "principal", "roles", "role", "capabilities", "failover_timeout", "checkpoint", "labels"),
    *("hostname", "webui_url", "active", "connected", "offer_constraints", "framework_info"),
)
OF_PLACE = ("flags", "cluster", "log_dir", "external_log_file", "unregistered_frameworks", "orphan_tasks")
TOLD = "UPDATE_OPERATION_STATUS"
LATER_STATES = ("TASK_LOST", "TASK_KILLED", "TASK_GONE")
"""The states that a master gives to tasks of an agent that is gone."""
OF_PLACE_AND_TIME = ("GET_METRICS", "GET_FLAGS", "GET_LOGGING_LEVEL", "LIST_FILES", "READ_FILE", "/tasks")
"""Readings of which only the status is compared: what they show depends on the place, the time, or earlier tasks."""


@dataclass(frozen=True)
class Outcome:
    """The answer of one master to a call, and everything that the call changes there."""

    answer: int | str
    """An HTTP status, or the first event of a SUBSCRIBE."""
    shown: str = ""
    """The body of the answer, and what a framework is told and how it is shown."""
    launched: bool = False
    """Whether an agent has got a task; what becomes of it there is the agent's affair."""
    state: dict[str, str] = field(default_factory=dict)
    heard: tuple[str, ...] = ()
    """The events about frameworks and agents, as an operator's stream gets them."""


class CallTrial(Trial[Outcome]):
    """A master of which everything is compared that a call leaves behind."""

    protobuf = WHOLE_PROTOBUF

    def __init__(self, start: Callable[[], Cluster]) -> None:
        super().__init__(start)
        self._listener: tuple[Cluster, Subscription] | None = None
        """The stream of an operator, and its master."""

    def send(self, master: Cluster, request: Request) -> Outcome:
        """Send a call; the framework of a scheduler's call leaves then."""
        if request.door == "scheduler":
            framework = Framework(master, "r")
            outcome = self._by(framework, request)
            if framework.id is not None and not framework.stream.closed:
                framework.call("TEARDOWN")
            framework.stream.hang_up()
            return replace(outcome, heard=self._heard(master, framework.id))
        answer = answer_of(master, request)
        of_place = any(name in request.text() or name in request.door for name in OF_PLACE_AND_TIME)
        return Outcome(answer.status, "" if of_place else body_of(answer))

    def finished(self, master: Cluster, outcome: Outcome) -> Outcome:
        """The outcome with the state after it."""
        agent = master.agents()[0]
        parts = {path: comparable(read(master.request("GET", path).content)) for path in READ}
        return replace(outcome, state=parts | {name: comparable(agent.get(name)) for name in OF_AGENT})

    def restore(self, master: Cluster) -> None:
        """Bring machines and the agent back too."""
        if down := master.read("/maintenance/status").get("down_machines"):
            assert master.call("STOP_MAINTENANCE", stop_maintenance={"machines": down}).status == 200
        if self._listener is None or self._listener[0] is not master:
            self._listener = master, master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)
        master.call("REACTIVATE_AGENT", reactivate_agent={"agent_id": {"value": master.agents()[0]["id"]}})
        super().restore(master)

    def _heard(self, master: Cluster, framework_id: str | None) -> tuple[str, ...]:
        """The events of a framework that has left, to its last."""
        assert self._listener is not None
        stream = self._listener[1]

        def own() -> list[Any]:
            return [event for event in stream.events if about(event) == framework_id is not None]

        def has_left() -> bool:
            return framework_id is None or any(event["type"] == "FRAMEWORK_REMOVED" for event in own())

        assert master.subscribers.wait(has_left), (framework_id, stream.events[-3:])
        return tuple(comparable(read(json.dumps(event).encode())) for event in own())

    def _by(self, framework: Framework, request: Request) -> Outcome:
        master = framework.cluster
        if is_subscription(request.body):
            return self._subscribed(framework, filled(request, master, None, []))
        framework.info = INFO
        framework.subscribe()
        body = filled(request, master, framework.id, [offer["id"] for offer in framework.offers()])
        kind = body.get("type") if isinstance(body, dict) else None
        if isinstance(body, dict):
            body = {"framework_id": {"value": framework.id}, **body}
            if is_update(body):
                body["update_framework"]["framework_info"]["id"] = {"value": framework.id}
        headers = framework.headers | {"Mesos-Stream-Id": framework.stream.headers["Mesos-Stream-Id"]}
        answer = master.request("POST", PATH, content=json.dumps(body), headers=headers)
        framework.settle()
        if kind == "ACCEPT" and answer.status == 202:
            await_first_updates(framework)
        updates = [event["update"]["status"] for event in framework.stream.events if event["type"] == "UPDATE"]
        of_master = [one for one in updates if one["source"] == "SOURCE_MASTER"]
        told = sorted(
            [one["task_id"]["value"], one["state"], one.get("reason")]
            for one in of_master
            if kind == "ACCEPT" or one["state"] not in LATER_STATES
        )
        ended = framework.stream.closed, [one for one in framework.stream.events if one["type"] == "ERROR"] != []
        # What an ACCEPT leaves is the agent's affair too.
        seen = None if ended[0] or kind == "ACCEPT" else described(framework)
        shown = comparable([told, ended, seen, body_of(answer), operations_of(framework)])
        return Outcome(answer.status, shown, len(of_master) < len(updates))

    def _subscribed(self, framework: Framework, body: Any) -> Outcome:
        framework.info = body["subscribe"]["framework_info"]
        more = {name: part for name, part in body["subscribe"].items() if name != "framework_info"}
        stream = framework.open(**more)
        if stream.status != 200:
            return Outcome(stream.status)
        framework.cluster.subscribers.wait(lambda: bool(stream.events) or stream.closed)
        if not stream.events:
            framework.cluster.request("GET", "/version")  # raises MasterDied
        kind = str(stream.events[0]["type"])
        if kind != "SUBSCRIBED":
            return Outcome(kind)
        framework.id = stream.events[0]["subscribed"]["framework_id"]["value"]
        return Outcome(kind, comparable(described(framework)))


def about(event: dict[str, Any]) -> str | None:
    """The id of the framework that an operator hears of."""
    part = event.get(event["type"].lower(), {})
    info = part.get("framework", part).get("framework_info") if event["type"].startswith("FRAMEWORK_") else None
    return None if info is None else str(info["id"]["value"])


def is_subscription(body: Any) -> bool:
    """Whether a call subscribes a framework, or is refused for what it says of one."""
    if not isinstance(body, dict) or body.get("type") != "SUBSCRIBE":
        return False
    return isinstance(body.get("subscribe"), dict) and isinstance(body["subscribe"].get("framework_info"), dict)


def names_nothing(part: Any) -> bool:
    """Whether a resource in a body is none of anything."""
    if isinstance(part, list):
        return any(map(names_nothing, part))
    if not isinstance(part, dict):
        return False
    if part.get("type") == "RANGES" and "name" in part and not _in(part, "ranges", "range"):
        return True
    if part.get("type") == "SCALAR" and "name" in part and not _in(part, "scalar", "value"):
        return True
    return any(map(names_nothing, part.values()))


def _in(part: dict[str, Any], field: str, name: str) -> Any:
    held = part.get(field)
    return held.get(name) if isinstance(held, dict) else None


def is_update(body: dict[str, Any]) -> bool:
    """Whether a call describes a framework that is there."""
    update = body.get("update_framework")
    return isinstance(update, dict) and isinstance(update.get("framework_info"), dict)


def body_of(answer: Answer) -> str:
    """The body of an answer with status 200; empty for others, because each master words its refusals itself."""
    return comparable(without_history(read(answer.content))) if answer.status == 200 and answer.content else ""


def without_history(part: Any) -> Any:
    """A reading without what frameworks and tasks have left that are gone, and without what a place has."""
    if isinstance(part, dict):
        return {
            name: without_history(value)
            for name, value in part.items()
            if not (name.startswith("completed_") or name in OF_PLACE)
        }
    return list(map(without_history, part)) if isinstance(part, list) else part


def described(framework: Framework) -> Any:
    """A framework as both APIs show it."""
    master = framework.cluster
    old = read(master.request("GET", "/frameworks").content)["frameworks"]
    new = read(master.call("GET_FRAMEWORKS").content)["get_frameworks"].get("frameworks", [])
    return [{name: one[name] for name in OF_FRAMEWORK if name in one} for one in (*old, *new)]


def await_first_updates(framework: Framework) -> None:
    """Wait until the framework has heard of each task that it launched; releases before 1.7 count no events for it."""

    def heard_of_all() -> bool:
        answer = read(framework.cluster.call("GET_TASKS").content)["get_tasks"]
        own = [task["task_id"] for name in ("tasks", "pending_tasks") for task in answer.get(name, ())]
        heard = [event["update"]["status"]["task_id"] for event in framework.stream.events if event["type"] == "UPDATE"]
        return framework.stream.closed or all(task_id in heard for task_id in own)

    assert framework.cluster.subscribers.wait(heard_of_all), framework.stream.events


def operations_of(framework: Framework) -> list[Any]:
    """The operations of a framework, which acknowledges them then: an agent repeats what nobody does."""
    if framework.stream.closed:
        return []
    answer = framework.cluster.call("GET_OPERATIONS")
    if answer.status != 200:  # the release has no such call
        return []
    told = [event["update_operation_status"]["status"] for event in framework.stream.events if event["type"] == TOLD]
    for status in told:
        if "uuid" in status:
            named = {name: status[name] for name in ("operation_id", "agent_id")}
            body = {**named, "uuid": status["uuid"]["value"]}
            framework.ask("ACKNOWLEDGE_OPERATION_STATUS", acknowledge_operation_status=body)
    listed = read(answer.content)["get_operations"].get("operations", [])
    return [
        [[one["info"], one["latest_status"]["state"]] for one in listed],
        sorted({(status["operation_id"]["value"], status["state"]) for status in told}),
    ]


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize("carriers", judged(*JUDGES_OF_HISTORIES), ids=lambda pair: str(pair[0]))
def test_random_calls_are_answered_alike(pool: Pool, carriers: tuple[Carrier, Carrier]) -> None:
    dice, statuses = CallDice(SEED, carriers[0].profile.release), Counter[int | str]()
    real, fake = (CallTrial(partial(pool.start, carrier, SETUP)) for carrier in carriers)
    for number in range(SLOW_STEPS):
        request = dice.request()
        given = fake.play(request)
        try:
            wanted = real.play(request)
        except MasterDied:
            assert not took(request, Taken(given.answer, given.launched)), (number, request)
            fake.stop()  # the new master knows no role
            continue
        if (given.answer, wanted.answer) == (400, 409) and names_nothing(request.body):
            continue  # it could end a real master, had that not found something else first
        assert given == wanted, (number, request)
        statuses[wanted.answer] += 1
    fake.stop()
    real.stop()
    assert {200, 202, 400, "SUBSCRIBED"} <= statuses.keys()


def with_number(part: Any, name: str, number: float) -> Any:
    """A body with this number in each field of a name."""
    if isinstance(part, dict):
        return {key: number if key == name else with_number(value, name, number) for key, value in part.items()}
    return [with_number(value, name, number) for value in part] if isinstance(part, list) else part


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize("carriers", judged(*JUDGES_OF_HISTORIES), ids=lambda pair: str(pair[0]))
def test_numbers_that_json_lacks_are_answered_alike(pool: Pool, carriers: tuple[Carrier, Carrier]) -> None:
    real, fake = (CallTrial(partial(pool.start, carrier, SETUP)) for carrier in carriers)
    lived = dict[str, bool]()
    for kind, name, number in (
        ("UPDATE_WEIGHTS", "weight", math.nan),
        ("SUBSCRIBE", "failover_timeout", math.nan),
        ("LAUNCH", "interval_seconds", math.inf),
    ):
        made = next(made for made in ACCEPTED if f'"type": "{kind}"' in made.text())
        request = replace(made, body=with_number(made.body, name, number), in_protobuf=True)
        given = fake.play(request)
        try:
            assert given == real.play(request), request
        except MasterDied:
            fake.stop()
        lived[name] = took(request, Taken(given.answer, given.launched))
    fake.stop()
    real.stop()
    ends = carriers[0].profile.release in ("1.7.3", "1.8.1", "1.9.0")
    shows = "health_check" in mesos_message("mesos.v1.Task", carriers[0].profile.release).fields
    assert lived == {"weight": not ends, "failover_timeout": not ends, "interval_seconds": not (ends and shows)}
