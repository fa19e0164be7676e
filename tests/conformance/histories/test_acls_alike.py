"""A fake and a real master started with the same random ACL files: both start or neither, and both allow the same."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.owning import owned
from tests.conformance.histories.guests import play
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_acls import AclDice
from tests.conformance.histories.random_frameworks import FrameworkDice, Guest
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster, Setup, basic
from tests.conformance.masters.judges import JUDGES_OF_HISTORIES
from tests.conformance.scenarios.reserving import dynamic
from tests.conformance.scenarios.scenario import scalars

PRINCIPALS = ("p", "q", "root")
PAIRS = judged(*JUDGES_OF_HISTORIES)
GUESTS = 12
"""Frameworks for each master, one after the other."""
READ = ("/roles", "/quota", "/weights", "/flags", "/state", "/frameworks", "/tasks", "/maintenance/schedule")
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def reserved_by(by: str) -> list[list[dict[str, Any]]]:
    """The reservations of a principal: one entry, two for two roles, and one that refines its own and others' ones."""
    one = owned("r", by, cpus=1)
    refined = [{**entry, "reservations": [dynamic("r", by), dynamic("r/x", by)]} for entry in one]
    others = [{**entry, "reservations": [dynamic("r", "p"), dynamic("r/x", by)]} for entry in one]
    return [one, [*owned("r", by, cpus=0.5), *owned("q", by, mem=64)], one, refined, others]


def requests(agent: str) -> Iterator[tuple[str, str, str, str | None, dict[str, str]]]:
    """Principal, method, path, body and headers of every request."""
    about = {"agent_id": {"value": agent}}
    for by in PRINCIPALS:
        for path in READ:
            yield by, "GET", path, None, JSON
        yield by, "POST", "/quota", json.dumps({"role": "r", "guarantee": scalars(cpus=1)}), JSON
        yield by, "DELETE", "/quota/r", None, JSON
        yield by, "PUT", "/weights", json.dumps([{"role": "r", "weight": 2}]), JSON
        for parts in reserved_by(by):
            form = urlencode({"slaveId": agent, "resources": json.dumps(parts)})
            yield by, "POST", "/reserve", form, FORM
        for parts in (*reserved_by(by)[::-1], owned("r", "p", cpus=1) + owned("r/x", "q", mem=64)):
            form = urlencode({"slaveId": agent, "resources": json.dumps(parts)})
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


def answers_of(master: Cluster) -> list[Any]:
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


def answers_with(guests: list[Guest]) -> Callable[[Cluster], list[Any]]:
    """The same of a master with other agents, on which frameworks meet what operators have reserved."""

    def judge(master: Cluster) -> list[Any]:
        answers: list[Any] = [[agent["resources"] for agent in master.agents()]]
        for agent in master.agents():
            for by in PRINCIPALS:
                for parts in reserved_by(by):
                    form = urlencode({"slaveId": agent["id"], "resources": json.dumps(parts)})
                    answer = master.request("POST", "/reserve", content=form, headers={**basic(by), **FORM})
                    answers.append(answer.status)
        return [*answers, *((guest, play(master, guest)) for guest in guests)]

    return judge


def started(
    pool: Pool, carrier: Carrier, setup: Setup, judge: Callable[[Cluster], list[Any]] = answers_of
) -> list[Any] | None:
    """The answers of a new master; None if it does not start."""
    try:
        master = pool.start(carrier, setup)
    except Exception:  # noqa: BLE001  # each carrier fails in its own way, and a fault of the setup fails both
        return None
    try:
        return judge(master)
    finally:
        master.stop()


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize(("real", "fake"), PAIRS, ids=str)
def test_random_acls_are_read_and_enforced_alike(pool: Pool, real: Carrier, fake: Carrier) -> None:
    dice = AclDice(SEED)
    steps, refused, number = 0, 0, 0
    while steps < SLOW_STEPS or not refused:
        acls = dice.file(odd=number % 3 == 0)
        setup = Setup(
            agents=("cpus:4;mem:2048;disk:100;ports:[31000-31009]",),
            flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
            principals=PRINCIPALS,
            acls=acls,
        )
        wanted = started(pool, real, setup)
        assert started(pool, fake, setup) == wanted, acls
        refused += wanted is None
        number += 1
        steps += 1 if wanted is None else len(wanted)
    assert refused < number


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize(("real", "fake"), PAIRS[:1], ids=str)
def test_frameworks_and_agents_meet_the_same_under_random_acls(pool: Pool, real: Carrier, fake: Carrier) -> None:
    acls, frameworks = AclDice(SEED), FrameworkDice(SEED)
    met: list[Any] = []
    while len(met) < SLOW_STEPS:
        setup = Setup(
            agents=frameworks.agents(),
            flags={
                "allocation_interval": "20ms",
                "authenticate_http_readwrite": "true",
                "authenticate_http_frameworks": str(frameworks.is_likely()).lower(),
            },
            principals=PRINCIPALS,
            acls=acls.file_of_frameworks(),
        )
        judge = answers_with([frameworks.guest() for _ in range(GUESTS)])
        # As on a real master, counters of frameworks that use HTTP stay.
        of_fake = replace(setup, flags={**setup.flags, "rate_limit_http": "false"})
        wanted = started(pool, fake, of_fake, judge)
        assert wanted is not None, setup
        # A real master knows by no other sign that an agent which it refuses will not come.
        registered = len(wanted[0])
        given = started(pool, real, replace(setup, registered=registered), judge)
        assert wanted == given, (setup.agents, setup.flags, setup.acls)
        met += [step for answer in given if isinstance(answer, tuple) for step in answer[1]]
    kinds = {str(step[0]) for step in met if isinstance(step, tuple)}
    assert kinds >= {"200", "reserve", "unreserve", "update", "come_back"}, kinds
