"""Requests that launch, each by a new framework, and what the master itself says of their tasks."""

import json
from collections import Counter
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.masters.cluster import Cluster

CAPABILITIES = ("MULTI_ROLE", "RESERVATION_REFINEMENT", "SHARED_RESOURCES")
Outcome = tuple[int, dict[str, dict[str, int]]]
"""The status of the ACCEPT; by task id, how often the master gave each state and reason, of refused tasks."""


def launched_on(master: Cluster, operations: list[Any], *roles: str, **info: Any) -> Outcome:
    """Accept one fresh offer with these operations, $AGENT and $FRAMEWORK filled in, and tear the framework down."""
    framework = Framework(master, *(roles or ("ads/video",)), capabilities=CAPABILITIES, **info).subscribe()
    (offer,) = framework.offers()
    text = json.dumps(operations).replace("$AGENT", offer["agent_id"]["value"]).replace("$FRAMEWORK", str(framework.id))
    accept = {"offer_ids": [offer["id"]], "operations": json.loads(text), "filters": {"refuse_seconds": 0}}
    status = framework.call("ACCEPT", accept=accept).status
    found: dict[str, Counter[str]] = {}
    if status == 202:
        for marker in ("marker-1", "marker-2"):
            framework.ask("RECONCILE", reconcile={"tasks": [{"task_id": {"value": marker}}]})
            _await(framework, marker)
        for update in _updates(framework):
            if update["source"] == "SOURCE_MASTER" and update["reason"] != "REASON_RECONCILIATION":
                said = f"{update['state']} {update['reason']}"
                found.setdefault(update["task_id"]["value"], Counter())[said] += 1
    framework.leave()
    framework.stream.hang_up()
    return status, {name: dict(said) for name, said in found.items()}


def _updates(framework: Framework) -> list[Any]:
    return [event["update"]["status"] for event in framework.stream.events if event["type"] == "UPDATE"]


def _await(framework: Framework, marker: str) -> None:
    arrived = framework.cluster.subscribers.wait(
        lambda: any(update["task_id"]["value"] == marker for update in _updates(framework))
    )
    assert arrived, framework.stream.events
