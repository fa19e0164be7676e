"""The principal of a driver: one that authenticates and names none has the authenticated one, also for ACLs and limits.

Each case is tried by hand in process, and random ones with the driver of a real libmesos, on the fake and on the real
master: both show, allow and count the same.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.frameworks import amounts
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_acls import AclDice
from tests.conformance.masters.carriers import REAL, Pool
from tests.conformance.masters.cluster import SECRET, Cluster, Setup, basic
from tests.fake_master.driver.by_hand import HERE, INFO, Drivers, authenticate
from tests.fake_master.driver.conftest import FAKE
from tests.fake_master.driver.hosting import Program, RealDriver

ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
REFUSED = "refused"
# Whether authentication is required, as whom the driver has authenticated, the principal that it names: its principal.
CASES: dict[tuple[bool, str | None, str | None], str | None] = {
    (True, "p", None): "p",
    (True, "p", "p"): "p",
    (True, "p", "q"): REFUSED,
    (True, "p", ""): REFUSED,
    (True, None, None): REFUSED,
    (True, None, "p"): REFUSED,
    (False, "p", None): "p",
    (False, "p", "p"): "p",
    (False, "p", "q"): REFUSED,
    (False, "p", ""): REFUSED,
    (False, None, None): None,
    (False, None, "p"): "p",
    (False, None, ""): "",
}


def named(claim: str | None) -> dict[str, Any]:
    return {} if claim is None else {"principal": claim}


# --- By hand ------------------------------------------------------------------------------------------

Make = Callable[..., Drivers]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A master that knows p and q."""

    def run(*, required: bool, acls: Any = None, rate_limits: Mapping[str, Any] | None = None) -> Drivers:
        path = tmp_path / "credentials"
        entries = [{"principal": name, "secret": "s"} for name in ("p", "q")]
        path.write_text(json.dumps({"credentials": entries}), encoding="utf-8")
        flags = {"credentials": str(path), "authenticate_frameworks": str(required).lower()}
        flags |= {} if acls is None else {"acls": json.dumps(acls)}
        return Drivers("cpus:4;mem:2048", flags=flags, rate_limits=rate_limits)

    return run


def proven(drivers: Drivers, principal: str | None) -> Drivers:
    """The same, after the driver HERE has authenticated, or has not."""
    if principal is not None:
        assert authenticate(drivers, principal.encode(), b"s") == "AuthenticationCompletedMessage"
    return drivers


@pytest.mark.parametrize(("case", "principal"), CASES.items(), ids=str)
def test_the_principal_of_a_driver(
    make: Make, case: tuple[bool, str | None, str | None], principal: str | None
) -> None:
    required, by, claim = case
    drivers = proven(make(required=required), by)
    drivers.internal(HERE, "RegisterFrameworkMessage", framework=INFO | named(claim))
    if principal == REFUSED:
        assert drivers.names() == ["FrameworkErrorMessage"]
        assert not drivers.master.state.frameworks
        return
    (framework,) = drivers.read("/frameworks")["frameworks"]
    assert framework.get("principal") == principal
    counted = [name for name in drivers.read("/metrics/snapshot") if name.endswith("/messages_received")]
    assert counted == ([] if principal is None else [f"frameworks/{principal}/messages_received"])


def reserved(drivers: Drivers, known: dict[str, Any], principal: str) -> float:
    """How much is offered as reserved for the role after a RESERVE that names this principal as the reserver."""
    (offer,) = drivers.offers()
    level = {"type": "DYNAMIC", "role": "ads", "principal": principal}
    part = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": [level]}
    operation = {"type": "RESERVE", "reserve": {"resources": [part]}}
    accept = {"offer_ids": [offer["id"]], "operations": [operation], "filters": {"refuse_seconds": 0.0}}
    drivers.tell(HERE, "ACCEPT", framework_id=known, accept=accept)
    (agent,) = drivers.read("/slaves")["slaves"]
    return float(agent["reserved_resources"].get("ads", {}).get("cpus", 0.0))


@pytest.mark.parametrize("by", ["p", "q"])
@pytest.mark.parametrize("claim", [False, True])
def test_acls_go_by_the_authenticated_one(make: Make, by: str, claim: bool) -> None:
    may_p = [{"principals": {"values": ["p"]}, "roles": ANY}, {"principals": ANY, "roles": NONE}]
    drivers = proven(make(required=True, acls={"reserve_resources": may_p}), by)
    known = drivers.registered(**named(by if claim else None))
    assert reserved(drivers, known, by) == (1.0 if by == "p" else 0.0)


def test_a_reservation_names_the_authenticated_one_or_is_dropped(make: Make) -> None:
    drivers = proven(make(required=True), "p")
    known = drivers.registered()
    assert reserved(drivers, known, "q") == 0.0
    assert reserved(drivers, known, "p") == 1.0


def test_rate_limits_go_by_the_authenticated_one(make: Make) -> None:
    limits = {"limits": [{"principal": "p", "qps": 1}, {"principal": "q"}], "aggregate_default_qps": 100}
    for by, processed in (("p", 1.0), ("q", 3.0)):
        drivers = proven(make(required=True, rate_limits=limits), by)
        known = drivers.registered()
        for number in range(3):
            drivers.tell(HERE, "KILL", framework_id=known, kill={"task_id": {"value": f"t{number}"}})
        figures = drivers.read("/metrics/snapshot")
        counted = [figures[f"frameworks/{by}/messages_{what}"] for what in ("received", "processed")]
        assert counted == [3.0, processed]


@pytest.mark.parametrize(("claim", "is_error"), [(None, True), ("p", False), ("q", True)])
def test_an_update_that_leaves_the_principal_out_changes_it(make: Make, claim: str | None, is_error: bool) -> None:
    drivers = proven(make(required=True), "p")
    known = drivers.registered()
    drivers.told()
    info = INFO | named(claim) | {"id": known, "webui_url": "http://here"}
    drivers.tell(HERE, "UPDATE_FRAMEWORK", framework_id=known, update_framework={"framework_info": info})
    assert ("FrameworkErrorMessage" in drivers.names()) == is_error
    (framework,) = drivers.read("/frameworks")["frameworks"]
    assert (framework["principal"], framework["webui_url"]) == ("p", "" if is_error else "http://here")


# --- With the driver of a real libmesos ---------------------------------------------------------------

OPERATORS = ("root", "p", "q")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Guest:
    """One driver: how it authenticates, what it names, and the reserver that its RESERVE names."""

    by: str | None
    claim: str | None
    reserver: str | None
    ends: str
    """The operator who tears it down."""


def drawn(chance: random.Random) -> Guest:
    by = chance.choice(["p", "q", "p", "q", None])
    claim = chance.choice([by, None, None, "p", "q", ""])
    return Guest(by, claim, chance.choice([by, by, "p", "q", None]), chance.choice(OPERATORS))


def met(master: Cluster, driver: RealDriver, guest: Guest) -> Any:
    """The answer to a driver, and what is shown, allowed and counted of it."""
    capabilities = [{"type": name} for name in ("MULTI_ROLE", "RESERVATION_REFINEMENT")]
    info = {"user": "u", "name": "d", "roles": ["r"], "capabilities": capabilities, "failover_timeout": 1000.0}
    credential = None if guest.by is None else (guest.by, SECRET.format(guest.by))
    driver.start(master.address.removeprefix("http://"), info | named(guest.claim), credential=credential)
    assert driver.wait(lambda: bool(driver.of("registered") or driver.of("error"))), driver.last_words()
    if driver.of("error"):
        return "error"
    framework_id, _ = driver.next("registered")
    shown = master.call("GET_FRAMEWORKS").json()["get_frameworks"].get("frameworks", ())
    principals = [entry["framework_info"].get("principal") for entry in shown]
    counted = sorted(name for name in master.read("/metrics/snapshot") if name.endswith("/messages_received"))
    (offer,) = driver.next("resourceOffers")
    level = {"type": "DYNAMIC", "role": "r", **named(guest.reserver)}
    part = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": [level]}
    part["allocation_info"] = {"role": "r"}
    driver.accept([offer], [{"type": "RESERVE", "reserve": {"resources": [part]}}])
    (offer,) = driver.next("resourceOffers", after=1)
    has = {name: amount for name, amount in amounts(offer["resources"]).items() if name.startswith("cpus")}
    mine = [entry for entry in offer["resources"] if entry.get("reservations")]
    driver.accept([offer], [{"type": "UNRESERVE", "unreserve": {"resources": mine}}] if mine else [])
    (offer,) = driver.next("resourceOffers", after=2)
    has_then = {name: amount for name, amount in amounts(offer["resources"]).items() if name.startswith("cpus")}
    ended = []
    for by in (guest.ends, "root"):
        body, headers = f"frameworkId={framework_id['value']}", {**FORM, **basic(by)}
        ended.append(master.request("POST", "/teardown", content=body, headers=headers).status)
    driver.do("stop", "false")
    assert master.subscribers.wait(lambda: not master.read("/metrics/snapshot")["master/frameworks_active"])
    return principals, counted, has, has_then, ended


@pytest.mark.socket
@pytest.mark.process
@pytest.mark.real_master
@pytest.mark.slow
def test_random_drivers_meet_the_same(host: Program, pool: Pool) -> None:
    chance, acls, count = random.Random(SEED), AclDice(SEED), 0
    while count < SLOW_STEPS // 5:
        guests = [drawn(chance) for _ in range(6)]
        always = {name: [{"principals": ANY, of: ANY}] for name, of in OPEN}
        setup = Setup(
            agents=("cpus:4;mem:2048;disk:100;ports:[31000-31001]",),
            flags={
                "allocation_interval": "20ms",
                **({"authenticate_frameworks": "true"} if chance.random() < 0.6 else {}),
                "authenticate_http_readwrite": "true",
                "rate_limits": json.dumps({"limits": [{"principal": "p", "qps": 500}], "aggregate_default_qps": 500}),
            },
            principals=OPERATORS,
            acls=acls.file_of_frameworks() | always,
        )
        played = [_all_met(pool, carrier, setup, host, guests) for carrier in (REAL, FAKE)]
        assert played[1] == played[0], (guests, setup.flags, setup.acls)
        count += len(guests)


OPEN = (("register_agents", "agents"), ("register_frameworks", "roles"))
"""What every file allows here: otherwise nothing would be there to try."""


def _all_met(pool: Pool, carrier: Any, setup: Setup, host: Program, guests: list[Guest]) -> list[Any]:
    master = pool.start(carrier, setup)
    try:
        found = []
        for guest in guests:
            with RealDriver(host) as driver:
                found.append(met(master, driver, guest))
        return found
    finally:
        master.stop()
