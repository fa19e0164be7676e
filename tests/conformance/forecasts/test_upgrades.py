"""An upgrade that is forecast, and then happens: a real master of another release on the same registry and agents.

A first framework, in all roles, holds everything while the others subscribe in their order; then it leaves, on both
releases.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.holding import amounts, weigh
from tests.conformance.callers.joining import Join, joining, quick
from tests.conformance.callers.owning import owned
from tests.conformance.masters.carriers import real_of
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.real import RELEASE
from tests.conformance.scenarios.scenario import post_quota

GIB = 1024
NAMES = ("cpus", "mem")
REQUESTS = (
    ("GET", "/state", None),
    ("GET", "/state.json", None),
    ("GET", "/roles", None),
    ("GET", "/roles.json", None),
    ("GET", "/quota", None),
    ("GET", "/weights", None),
    ("GET", "/quota/", None),
    ("POST", "/api/v1", {"type": "GET_OPERATIONS"}),
    ("POST", "/api/v1", {"type": "GET_QUOTA"}),
    ("POST", "/api/v1", {"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": [{"role": "late"}]}}),
    ("POST", "/quota", {"role": "*", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}),
    ("DELETE", "/quota/nobody", None),
)

JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def name(request: tuple[str, str, Any]) -> str:
    """A request as a forecast names it."""
    method, path, body = request
    return f"{method} {path}" + (f" {body['type']}" if body and "type" in body else "")


def told(holding: dict[str, Any]) -> dict[str, float]:
    """The offers of somebody, by a forecast."""
    return {name: value for name, value in holding["offered"].items() if name in NAMES}


class Case(NamedTuple):
    """A cluster: agents that are alike, one framework for each role, and guarantees."""

    agents: int
    roles: Sequence[str]
    quotas: dict[str, dict[str, float]]
    more: str = ""
    """The resources of each agent beyond eight cpus and 8 GiB."""
    weights: dict[str, float] = {}  # noqa: RUF012  # nothing changes it
    reserved: str = ""
    """The role for which one cpu of each agent is reserved dynamically."""


CASES = {
    "no quota": Case(4, ["a", "b"], {}),
    "a part of an agent": Case(4, ["a", "b"], {"a": {"cpus": 3, "mem": GIB}}),
    "a name that is not guaranteed": Case(4, ["a", "b"], {"a": {"cpus": 12}}),
    "two guarantees": Case(
        8, ["a", "b", "c"], {"a": {"cpus": 16, "mem": 16 * GIB}, "b": {"cpus": 24, "mem": 24 * GIB}}
    ),
    "static reservations": Case(4, ["a", "b"], {"a": {"cpus": 24, "mem": 20 * GIB}}, more=";cpus(a):4;mem(a):1024"),
    "a dynamic reservation": Case(4, ["a", "b"], {"a": {"cpus": 8, "mem": 8 * GIB}}, reserved="a"),
    "roles below": Case(6, ["a/x", "a/y", "b"], {"a": {"cpus": 24, "mem": 24 * GIB}}),
    "a guarantee for nobody": Case(4, ["a", "b"], {"c": {"cpus": 9, "mem": 9 * GIB}}),
    "weights": Case(6, ["a", "b", "c"], {"b": {"cpus": 8, "mem": 8 * GIB}}, weights={"a": 2}),
}


SOME = ("a name that is not guaranteed", "static reservations", "roles below")


def start(release: str, case: Case, folder: Path) -> Cluster:
    """A real master of a release, always on the same registry, with the same agents."""
    setup = quick(*["cpus:8;mem:8192;disk:100;ports:[31000-31003]" + case.more] * case.agents)
    return real_of(release).start(
        Setup(agents=setup.agents, flags={**setup.flags, "registry": "replicated_log"}), folder
    )


def offered(join: Join, case: Case) -> dict[str, dict[str, float]]:
    """The offers of each framework after the first one has left."""
    first = join("z", *case.roles, capabilities=("MULTI_ROLE", "RESERVATION_REFINEMENT")).subscribe()
    first.settle()
    others = {f"in {role}": join(role, name=f"in {role}").subscribe() for role in case.roles}
    first.leave()
    first.id = None
    for framework in others.values():
        framework.settle()
    return {name: sums(framework) for name, framework in others.items()}


def sums(framework: Framework) -> dict[str, float]:
    """The sums of what a framework is offered, reserved or not."""
    found = dict.fromkeys(NAMES, 0.0)
    for key, value in amounts(framework, *NAMES).items():
        found[key.partition("(")[0]] += value
    return {key: value for key, value in found.items() if value}


def statuses(master: Cluster) -> list[int]:
    """The answers to the requests."""
    return [
        master.request(method, path, content=None if body is None else json.dumps(body), headers=JSON).status
        for method, path, body in REQUESTS
    ]


def forecast(master: Cluster, release: str, folder: Path) -> dict[str, Any]:
    """The forecast of the command line for this release."""
    file = folder / "requests.txt"
    lines = [f"{method} {path} {'' if body is None else json.dumps(body)}" for method, path, body in REQUESTS]
    file.write_text("\n".join(lines))
    status, said = run_for_json(master, f"whatif --upgrade {release} --requests {file}")
    assert said.get("kind") == "forecast", said
    assert status == (0 if said["harmless"] else 1)
    document: dict[str, Any] = said
    return document


def prepare(master: Cluster, case: Case) -> None:
    """Quotas, weights and reservations."""
    for role, guarantee in case.quotas.items():
        step = post_quota(role, force=True, **guarantee)
        assert master.request(step.method, step.path, content=step.content).status == 200
    if case.weights:
        assert weigh(master, **case.weights) == 200
    if case.reserved:
        for agent in master.agents():
            body = {"agent_id": {"value": agent["id"]}, "resources": owned(case.reserved, cpus=1)}
            assert master.call("RESERVE_RESOURCES", reserve_resources=body).status == 202


PAIRS = {"1.8.1 to 1.11.0": tuple(CASES), "1.4.3 to 1.11.0": SOME, "1.11.0 to 1.4.3": SOME}
"""The cases of each upgrade: every one of them costs two masters."""


@pytest.mark.parametrize(("pair", "case"), [(pair, name) for pair, names in PAIRS.items() for name in names])
@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
def test_an_upgrade_is_forecast_as_it_happens(pair: str, case: str, tmp_path: Path) -> None:
    if RELEASE in os.environ:
        pytest.skip(f"{RELEASE} chooses one release, and an upgrade needs two")
    before, after = pair.split(" to ")
    check_upgrade(before, after, CASES[case], tmp_path)


def check_upgrade(before: str, after: str, case: Case, folder: Path) -> None:
    """Forecast an upgrade, make it, and compare the offers and the answers."""
    old = start(before, case, folder)
    try:
        prepare(old, case)
        with joining(old) as join:
            held = offered(join, case)
            said = forecast(old, after, folder)
            were = statuses(old)
    finally:
        old.stop()
    parties = {party["name"]: party for party in said["frameworks"]}
    assert {name: told(parties[name]["before"]) for name in held} == held
    new = start(after, case, folder)
    try:
        with joining(new) as join:
            assert offered(join, case) == {name: told(parties[name]["after"]) for name in held}
            are = statuses(new)
    finally:
        new.stop()
    differing = {(name(request), was, become) for request, was, become in zip(REQUESTS, were, are, strict=True)}
    found = {(tried["request"], tried["today"], tried["there"]) for tried in said["upgrade"]["requests"]}
    assert {one for one in found if one[1] != one[2]} == {one for one in differing if one[1] != one[2]}


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
def test_a_master_that_does_not_start_is_forecast(tmp_path: Path) -> None:
    case = CASES["a part of an agent"]
    old = start("1.11.0", case, tmp_path)
    try:
        prepare(old, case)
        said = forecast(old, "1.8.1", tmp_path)
    finally:
        old.stop()
    assert (said["harmless"], said["upgrade"]["starts"]) == (False, False)
    with pytest.raises(AssertionError, match="QUOTA_V2"):
        start("1.8.1", case, tmp_path)
