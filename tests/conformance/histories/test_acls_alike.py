"""A fake and a real master started with the same random ACL files: both start or neither, and both allow the same."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.owning import owned
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_acls import AclDice
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier, Pool
from tests.conformance.masters.cluster import Answer, Cluster, Setup, basic
from tests.conformance.scenarios.scenario import scalars

PRINCIPALS = ("p", "q", "root")
READ = ("/roles", "/quota", "/weights", "/flags", "/state", "/frameworks", "/tasks", "/maintenance/schedule")
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def requests(agent: str) -> Iterator[tuple[str, str, str, str | None, dict[str, str]]]:
    """Principal, method, path, body and headers of every request."""
    about = {"agent_id": {"value": agent}}
    for by in PRINCIPALS:
        for path in READ:
            yield by, "GET", path, None, JSON
        yield by, "POST", "/quota", json.dumps({"role": "r", "guarantee": scalars(cpus=1)}), JSON
        yield by, "DELETE", "/quota/r", None, JSON
        yield by, "PUT", "/weights", json.dumps([{"role": "r", "weight": 2}]), JSON
        form = urlencode({"slaveId": agent, "resources": json.dumps(owned("r", by, cpus=1))})
        yield by, "POST", "/reserve", form, FORM
        yield by, "POST", "/unreserve", form, FORM
        for call in ("DEACTIVATE_AGENT", "REACTIVATE_AGENT"):
            yield by, "POST", "/api/v1", json.dumps({"type": call, call.lower(): about}), JSON


def shown(path: str, answer: Answer) -> Any:
    """The part of an answer that depends on the principal."""
    if answer.status != 200 or not answer.content:
        return None
    found = answer.json()
    if path == "/weights":
        return sorted(entry["role"] for entry in found)
    if path in ("/frameworks", "/state"):
        return len(found["frameworks"]), "flags" in found
    key = {"/roles": "roles", "/quota": "infos"}.get(path)
    return None if key is None else sorted(entry.get("name", entry.get("role")) for entry in found.get(key, ()))


def judged(master: Cluster) -> list[Any]:
    """The answer to each request, after a framework has subscribed or could not."""
    agent = master.request("GET", "/slaves", headers=basic("root")).json()["slaves"][0]["id"]
    framework = Framework(master, "r", principal="p")
    stream = framework.open()
    master.subscribers.wait(lambda: bool(stream.events) or stream.closed)
    answers: list[Any] = [(stream.status, [event["type"] for event in stream.events[:1]])]
    for by, method, path, body, headers in requests(agent):
        answer = master.request(method, path, content=body, headers={**basic(by), **headers})
        answers.append((by, method, path, answer.status, shown(path, answer) if method == "GET" else None))
    stream.hang_up()
    return answers


def started(pool: Pool, carrier: Carrier, setup: Setup) -> list[Any] | None:
    """The answers of a new master; None if it does not start."""
    try:
        master = pool.start(carrier, setup)
    except Exception:  # noqa: BLE001  # each carrier fails in its own way, and a fault of the setup fails both
        return None
    try:
        return judged(master)
    finally:
        master.stop()


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
def test_random_acls_are_read_and_enforced_alike(pool: Pool) -> None:
    dice = AclDice(SEED)
    steps, refused, number = 0, 0, 0
    while steps < SLOW_STEPS:
        acls = dice.file(odd=number % 3 == 0)
        setup = Setup(
            agents=("cpus:4;mem:2048;disk:100;ports:[31000-31009]",),
            flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
            principals=PRINCIPALS,
            acls=acls,
        )
        real = started(pool, REAL, setup)
        assert started(pool, IN_PROCESS, setup) == real, acls
        refused += real is None
        number += 1
        steps += 1 if real is None else len(real)
    assert 0 < refused < number
