"""Tasks that a framework launches with ACCEPT: the status of the call, and what becomes of each task."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.conformance.cases import text
from tests.helpers.lab import Lab, Scheduler

CASES: list[dict[str, Any]] = json.loads(text("tasks/refused-and-launched.json"))["cases"]
AGENT = "cpus:12;mem:6144;disk:1000;ports:[31000-32000]"
LITTLE = "cpus:3.5;mem:2048;disk:200;ports:[31000-31010]"


def name(case: dict[str, Any]) -> str:
    return f"{case['kind']}: {case['case']}"


def test_no_case_stands_twice() -> None:
    assert [said for said, count in Counter(map(name, CASES)).items() if count > 1] == []


@pytest.mark.parametrize("case", CASES, ids=name)
def test_each_task_ends_as_on_the_real_master(case: dict[str, Any]) -> None:
    lab = Lab(LITTLE if case["kind"] == "room" else AGENT)
    framework = Scheduler(lab, "SHARED_RESOURCES", roles=["ads/video"])
    (offer,) = framework.offers()
    written = json.dumps(case["operations"])
    written = written.replace("$AGENT", offer["agent_id"]["value"]).replace("$FRAMEWORK", framework.id)
    answer = framework.call("ACCEPT", offer_ids=[offer["id"]], operations=json.loads(written))
    assert answer.status == case["want"]["status"], case["want"]["message"]
    lab.wait(1)
    assert told(framework) == case["want"]["tasks"], case["want"]["message"]


def told(framework: Scheduler) -> dict[str, str]:
    """The first update of each task: the refusal, or that it was launched."""
    found: dict[str, str] = {}
    for update in framework.heard("UPDATE"):
        status = update["status"]
        refused = status["state"] in ("TASK_ERROR", "TASK_LOST")
        found.setdefault(status["task_id"]["value"], f"{status['state']}/{status['reason']}" if refused else "launched")
    return found


def test_accepting_no_offer_loses_each_task() -> None:
    lab = Lab(AGENT)
    framework = Scheduler(lab)
    (offer,) = framework.offers()
    call = json.loads(text("tasks/accept-without-offers.json"))["accept"]
    task = {"name": "t", "agent_id": offer["agent_id"], "resources": [], "command": {"value": "true"}}
    call["operations"][0]["launch"]["task_infos"] = [{**task, "task_id": {"value": name}} for name in ("a", "b")]
    assert framework.call("ACCEPT", **call).status == 202
    assert told(framework) == dict.fromkeys(("a", "b"), "TASK_LOST/REASON_INVALID_OFFERS")
