"""Fields that nobody sets, values that no enumeration has, and numbers that are not finite, in both formats.

`fields/cases.json` has what a Mesos 1.11.0 master answers and shows.  Of an older release, the real master is asked,
and the fake one beside it has to answer and show the same.
"""

import json
from collections import Counter
from typing import Any

import pytest

from mesosctl.mesos.rules.version_profile import MESOS_1_11
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.cases import text
from tests.conformance.masters.carriers import IN_PROCESS, REAL, SOCKET, Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.codec import JSON_ALONE, WHOLE_PROTOBUF
from tests.conformance.masters.comparing import comparable, read

CASES: list[dict[str, Any]] = json.loads(text("fields/cases.json"))
SETUP = quick("cpus:4;mem:2048;disk:100")
BY_NAME = ("name", "user", "role", "roles", "capabilities", "checkpoint", "failover_timeout", "hostname", "webui_url")
"""Fields of a framework at the old endpoints that are compared."""


def name(case: dict[str, Any]) -> str:
    return f"{case['format']}: {case['case']}"


@pytest.fixture(params=(REAL, IN_PROCESS, SOCKET), ids=str)
def master(request: pytest.FixtureRequest, pool: Pool) -> Any:
    if request.param.profile is not MESOS_1_11:
        pytest.skip("the cases say what the newest release answers")
    lent = pool.lend(request.param, SETUP)
    yield lent
    lent.speak(JSON_ALONE)


def test_no_case_stands_twice() -> None:
    assert [said for said, count in Counter(map(name, CASES)).items() if count > 1] == []


NO_JSON = "a real master writes inf, which is no JSON"
ENDS = "this would end a real master, whose weights and timeouts have to be numbers in JSON"
ENDS_LATER = "a real master starts the task, and ends once somebody asks for it as JSON; the fake one refuses it"
NOT_ALIKE = {
    ("1.4.3", "json: a weight of infinite"): NO_JSON,
    ("1.4.3", "json: a weight of minus infinity"): NO_JSON,
    ("1.4.3", "json: a weight that is not set"): NO_JSON,
    ("1.8.1", "protobuf: a failover timeout of NaN"): ENDS,
    ("1.8.1", "protobuf: a failover timeout of infinite"): ENDS,
    ("1.8.1", "protobuf: a failover timeout of minus infinity"): ENDS,
    ("1.8.1", "protobuf: a health check after NaN seconds"): ENDS_LATER,
    ("1.8.1", "protobuf: a weight of NaN"): ENDS,
    ("1.8.1", "json: a weight of NaN"): ENDS,
    ("1.8.1", "protobuf: a weight of infinite"): ENDS,
    ("1.8.1", "json: a weight of infinite"): ENDS,
}
"""The cases that cannot be compared on a release, with the reason."""
PAIRS = [pair for pair in judged("1.4.3", "1.8.1") if pair[0].profile is not MESOS_1_11]


@pytest.mark.parametrize("case", CASES, ids=name)
@pytest.mark.parametrize(("real", "fake"), PAIRS, ids=str)
def test_each_is_answered_alike_by_older_releases(
    case: dict[str, Any], real: Carrier, fake: Carrier, pool: Pool
) -> None:
    if reason := NOT_ALIKE.get((real.profile.version, name(case))):
        pytest.skip(reason)
    found = []
    for carrier in (real, fake):
        lent = pool.lend(carrier, SETUP)
        if case["format"] == "protobuf":
            lent.speak(WHOLE_PROTOBUF)
        try:
            found.append(comparable(played(case, lent)))
        finally:
            lent.speak(JSON_ALONE)
    assert found[1] == found[0]


@pytest.mark.parametrize("case", CASES, ids=name)
def test_each_is_answered_and_answered_and_shown_as_by_the_real_master(case: dict[str, Any], master: Cluster) -> None:
    if case["format"] == "protobuf":
        master.speak(WHOLE_PROTOBUF)
    assert comparable(played(case, master)) == comparable(case["want"])


def played(case: dict[str, Any], master: Cluster) -> Any:
    """A master's answer to the call of a case, and its state afterwards."""
    if "subscribe" in case:
        return subscribed(case["subscribe"], master)
    if "scheduler" in case:
        return called(case["scheduler"], master)
    answer = master.call(case["call"]["type"], **case["call"].get("body", {}))
    shown = [read(master.call(kind).content) for kind in case.get("then", ())]
    return {"answer": answer.status, "shown": [part_of(one, case["of"]) for one in shown]}


def part_of(shown: Any, role: str) -> Any:
    """The entries about one role: others have been there before."""
    if isinstance(shown, dict):
        return {key: part_of(value, role) for key, value in shown.items()}
    if not isinstance(shown, list):
        return shown
    return [one for one in shown if not isinstance(one, dict) or one.get("role", role) == role]


def subscribed(subscribe: dict[str, Any], master: Cluster) -> Any:
    framework = Framework(master)
    framework.info = subscribe["framework_info"]
    stream = framework.open(**{key: part for key, part in subscribe.items() if key != "framework_info"})
    if stream.status != 200:
        return {"answer": stream.status}
    assert master.subscribers.wait(lambda: bool(stream.events) or stream.closed)
    kind = stream.events[0]["type"]
    if kind != "SUBSCRIBED":
        return {"answer": kind}
    framework.id = stream.events[0]["subscribed"]["framework_id"]["value"]
    (entry,) = [one for one in read_raw(master, "/frameworks") if one["id"] == framework.id]
    described = json.loads(master.call("GET_FRAMEWORKS").content.replace(b":nan", b":NaN"))["get_frameworks"][
        "frameworks"
    ]
    (info,) = [one["framework_info"] for one in described if one["framework_info"]["id"]["value"] == framework.id]
    framework.leave()
    stream.hang_up()
    return {
        "answer": kind,
        "listed": {key: entry[key] for key in BY_NAME if key in entry},
        "framework_info": {key: part for key, part in info.items() if key != "id"},
    }


def read_raw(master: Cluster, path: str) -> Any:
    return json.loads(master.request("GET", path).content.replace(b":nan", b":NaN"))["frameworks"]


def called(call: dict[str, Any], master: Cluster) -> Any:
    """The status of a call of a framework, what the master says of its task, or how often it is offered the agent."""
    framework = Framework(master, "r").subscribe()
    (offer,) = framework.offers()
    text = (
        json.dumps(call["body"])
        .replace('"$OFFER"', json.dumps(offer["id"]))
        .replace("$AGENT", offer["agent_id"]["value"])
    )
    status = framework.call(call["type"], **json.loads(text)).status
    framework.settle()
    kinds = Counter(event["type"] for event in framework.stream.events)
    updates = [event["update"]["status"] for event in framework.stream.events if event["type"] == "UPDATE"]
    told = [[one["state"], one.get("reason")] for one in updates if one["source"] == "SOURCE_MASTER"]
    framework.leave()
    framework.stream.hang_up()
    # What becomes of a task that is launched is the agent's affair.
    return (
        {"answer": status, "told": told} if call["type"] == "ACCEPT" else {"answer": status, "offers": kinds["OFFERS"]}
    )
