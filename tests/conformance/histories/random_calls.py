"""Random calls: such as a master accepts, most of them with one or two things changed (`changed_fields`)."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mesosctl.mesos.messages.protobuf_json.message_tables import Field, mesos_message
from tests.conformance.histories.changed_fields import UUID, Changes, Spot, in_field, in_message
from tests.endurance.jobs.extremes import ACCEPTED, AGENT, INFO, Request

CALLS = {"operator": "mesos.v1.master.Call", "scheduler": "mesos.v1.scheduler.Call"}
BODIES = CALLS | {
    "json POST /quota": "mesos.v1.quota.QuotaRequest",
    "json POST /maintenance/schedule": "mesos.v1.maintenance.Schedule",
}
TEXTS = {
    "agent_id": ("@A1", "nobody"),
    "role": ("r", "r", "*", "web", "r/x", ""),
    "framework_id": ("@F", "nobody"),
    "principal": ("p", ""),
    "hostname": ("somewhere", "127.0.0.1"),
    "ip": ("127.0.0.1", "10.0.0.1", "x"),
}


def _scheduler(kind: str, **body: Any) -> Request:
    return Request("scheduler", {"type": kind, kind.lower(): body})


def _operator(kind: str, **body: Any) -> Request:
    return Request("operator", {"type": kind, kind.lower(): body})


MORE: tuple[Request, ...] = (
    *(_scheduler("SUBSCRIBE", framework_info=INFO, suppressed_roles=roles) for roles in (["r"], ["web"])),
    _scheduler("REVIVE", roles=["r"]),
    _scheduler("ACKNOWLEDGE", agent_id=AGENT, task_id={"value": "t"}, uuid=UUID),
    _scheduler("ACKNOWLEDGE_OPERATION_STATUS", agent_id=AGENT, operation_id={"value": "o"}, uuid=UUID),
    _scheduler("RECONCILE", tasks=[{"task_id": {"value": "t"}, "agent_id": AGENT}]),
    _scheduler("RECONCILE_OPERATIONS", operations=[{"operation_id": {"value": "o"}, "agent_id": AGENT}]),
    _scheduler("MESSAGE", agent_id=AGENT, executor_id={"value": "e"}, data="eA=="),
    _scheduler("SHUTDOWN", agent_id=AGENT, executor_id={"value": "e"}),
    _scheduler("KILL", agent_id=AGENT, task_id={"value": "t"}),
    _scheduler("DECLINE_INVERSE_OFFERS", inverse_offer_ids=[{"value": "o"}], filters={"refuse_seconds": 1.0}),
    _scheduler("ACCEPT_INVERSE_OFFERS", inverse_offer_ids=[{"value": "o"}], filters={}),
    _operator("TEARDOWN", framework_id={"value": "nobody"}),
    _operator("MARK_AGENT_GONE", agent_id={"value": "nobody"}),
    _operator("DEACTIVATE_AGENT", agent_id={"value": "nobody"}),
    _operator("REACTIVATE_AGENT", agent_id={"value": "nobody"}),
    _operator("START_MAINTENANCE", machines=[{"hostname": "somewhere"}]),
    _operator("STOP_MAINTENANCE", machines=[{"hostname": "somewhere"}]),
    *(
        Request(f"query {path}", {})
        for path in ("/slaves", "/state", "/state-summary", "/frameworks", "/roles", "/quota")
    ),
    *(
        Request("operator", {"type": kind})
        for kind in sorted(mesos_message(CALLS["operator"]).types)
        if kind.startswith("GET_")
    ),
)


class CallDice:
    """A source of random calls that a seed fixes, of what a release has; without one, of everything."""

    def __init__(self, seed: int, release: str | None = None) -> None:
        self._random = random.Random(seed)
        self._changes = Changes(self._random, TEXTS)
        self._bodies = {door: mesos_message(name, release) for door, name in BODIES.items()}
        self._resources = Field(mesos_message("mesos.v1.Resource", release), "repeated")
        self._weights = mesos_message("mesos.v1.master.Call.UpdateWeights", release).fields["weight_infos"]
        self._accepted = [made for made in (*ACCEPTED, *MORE) if self._is_known(made)]

    def request(self) -> Request:
        """A call as an operator or a scheduler sends it."""
        made = self._random.choice(self._accepted)
        made = replace(made, in_protobuf=made.door in CALLS and self._random.random() < 0.4)
        for _ in range(self._random.choice((0, 1, 1, 1, 1, 2, 2, 3))):
            spots = list(self._spots(made))
            if not spots:
                break
            body, place = self._changes.change(made.body, spots, in_protobuf=made.in_protobuf)
            # The answer to an operator's SUBSCRIBE would never end.
            if not (made.door == "operator" and isinstance(body, dict) and body.get("type") == "SUBSCRIBE"):
                made = replace(made, body=body, place=place)
        return made

    def _is_known(self, request: Request) -> bool:
        return request.door not in CALLS or request.body["type"] in self._bodies[request.door].types

    def _spots(self, request: Request) -> Iterator[Spot]:
        body, message = request.body, self._bodies.get(request.door)
        if message is not None:
            yield from in_message(message, body)
        elif request.door.startswith("form"):
            for key in sorted({"resources", "volumes"} & body.keys()):
                yield from in_field(self._resources, body[key], (key,), key)
        elif request.door == "json PUT /weights":
            yield from in_field(self._weights, body, (), "")
