"""The principal of a framework: one that authenticates and names none has the authenticated one, on every master."""

from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import Framework, amounts
from tests.conformance.callers.joining import Join, quick, shown
from tests.conformance.callers.operations import reserve, unreserve
from tests.conformance.callers.owning import owned
from tests.conformance.callers.tasks import launch, task
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup, basic

OPERATOR, P, OTHER = "root", "p", "p2"
ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
OPEN = {"authenticate_http_readwrite": "true"}
GUARDED = {**OPEN, "authenticate_http_frameworks": "true"}


def only(principal: str, subject: str) -> list[dict[str, Any]]:
    """The operator and this principal may do it, and nobody else, whatever it is done to."""
    return [
        {"principals": {"values": [OPERATOR, principal]}, subject: ANY},
        {"principals": ANY, subject: NONE},
    ]


def setup(flags: dict[str, str], **acls: Any) -> Setup:
    return quick(
        "cpus:4;mem:2048;disk:100;ports:[31000-31009]",
        flags=flags,
        principals=(OPERATOR, P, OTHER),
        **({"acls": acls} if acls else {}),
    )


SETUP = setup(GUARDED)
WITHOUT_AUTHENTICATION = setup(OPEN)
ACLS = setup(
    GUARDED,
    reserve_resources=only(P, "roles"),
    unreserve_resources=only(P, "reserver_principals"),
    teardown_frameworks=[
        {"principals": {"values": [OPERATOR]}, "framework_principals": ANY},
        {"principals": {"values": [OTHER]}, "framework_principals": {"values": [P]}},
        {"principals": ANY, "framework_principals": NONE},
    ],
    run_tasks=only(P, "users"),
)


@pytest.fixture
def joined(join: Join) -> Join:
    """Frameworks that outlive their connections, so that they can come back."""
    return lambda *roles, **info: join(*roles, failover_timeout=100.0, **info)


def named(claim: str | None) -> dict[str, Any]:
    return {} if claim is None else {"principal": claim}


def principals(master: Cluster, framework: Framework) -> tuple[Any, Any]:
    """The framework as /frameworks and GET_FRAMEWORKS show it."""
    told = master.call("GET_FRAMEWORKS").json()["get_frameworks"]["frameworks"]
    (info,) = [of["framework_info"] for of in told if of["framework_info"]["id"] == {"value": framework.id}]
    return shown(master, framework)[0].get("principal"), info.get("principal")


def updated(framework: Framework, claim: str | None) -> int:
    """The status of an UPDATE_FRAMEWORK that names this principal."""
    info = {name: value for name, value in framework.info.items() if name != "principal"} | named(claim)
    info["id"] = {"value": framework.id}
    return framework.call("UPDATE_FRAMEWORK", update_framework={"framework_info": info}).status


def came_back(framework: Framework, claim: str | None, by: str) -> str | int:
    """The first event of a further SUBSCRIBE that names this principal, or its status."""
    framework.info = {name: value for name, value in framework.info.items() if name != "principal"} | named(claim)
    framework.headers = {**framework.headers, **basic(by)}
    stream = framework.open()
    if stream.status != 200:
        return stream.status
    assert framework.cluster.subscribers.wait(lambda: bool(stream.events))
    return str(stream.events[0]["type"])


@pytest.mark.parametrize("claim", [None, P])
def test_the_authenticated_one_whether_it_is_named_or_not(
    master: Cluster, joined: Join, carrier: Carrier, claim: str | None
) -> None:
    framework = joined("ads", by=P, **named(claim)).subscribe()
    assert principals(master, framework) == (P, P)
    assert f"frameworks/{P}/messages_received" in master.read("/metrics/snapshot")
    can_update = has(carrier.profile.release, "1.9.0")
    assert [updated(framework, name) for name in (P, OTHER, None)] == [200 if can_update else 400, 400, 400]
    assert principals(master, framework) == (P, P)
    framework.headers = {**framework.headers, **basic(OTHER)}
    assert framework.call("REVIVE").status == 400
    assert [came_back(framework, name, by) for name, by in ((None, P), (P, P))] == ["SUBSCRIBED"] * 2
    assert [came_back(framework, name, P) for name in (OTHER, "")] == [400, 400]
    told = "ERROR" if carrier.profile.refuses_another_principal else "SUBSCRIBED"
    assert [came_back(framework, name, OTHER) for name in (None, OTHER)] == [told] * 2
    assert principals(master, framework) == (P, P)


@pytest.mark.parametrize("claim", [OTHER, ""])
def test_a_principal_that_is_not_the_authenticated_one(joined: Join, claim: str) -> None:
    assert joined("ads", by=P, principal=claim).open().status == 400


def test_credentials_are_required(joined: Join) -> None:
    assert joined("ads", principal=P).open().status == 401


@pytest.mark.parametrize("claim", [None, P, OTHER, ""])
@pytest.mark.parametrize("by", [None, P, "stranger"])
def test_without_authentication_the_named_one(carrier: Carrier, pool: Pool, by: str | None, claim: str | None) -> None:
    master = pool.lend(carrier, WITHOUT_AUTHENTICATION)
    framework = Framework(master, "ads", by=by, **named(claim)).subscribe()
    try:
        assert principals(master, framework) == (claim, claim)
    finally:
        master.call("TEARDOWN", teardown={"framework_id": {"value": framework.id}})
        framework.stream.hang_up()


@pytest.fixture
def strict(carrier: Carrier, pool: Pool) -> Cluster:
    """A master whose ACLs let one principal do something."""
    return pool.lend(carrier, ACLS)


@pytest.mark.parametrize(("by", "may"), [(P, True), (OTHER, False)])
def test_acls_are_asked_about_the_authenticated_one(strict: Cluster, by: str, may: bool) -> None:
    framework = Framework(strict, "ads", by=by).subscribe()
    try:
        mine = owned("ads", by, cpus=1)
        framework.accept(framework.offers(), reserve(mine))
        offer = framework.offers()[0]
        assert (amounts(offer["resources"]).get("cpus(ads)") == 1.0) == may
        other = owned("ads", OTHER if by == P else P, cpus=1)  # whose principal it does not have
        framework.accept([offer], reserve(other))
        offer = framework.offers()[0]
        assert amounts(offer["resources"]).get("cpus(ads)", 0.0) == (1.0 if may else 0.0)
        framework.accept([offer], unreserve(mine))
        assert "cpus(ads)" not in amounts(framework.offers()[0]["resources"])
    finally:
        ended = [_teardown(strict, framework, who) for who in (P, OTHER, OPERATOR)]
        framework.stream.hang_up()
    assert ended == ([403, 200, 400] if by == P else [403, 403, 200])


def _teardown(master: Cluster, framework: Framework, by: str) -> int:
    return master.request("POST", "/teardown", content=f"frameworkId={framework.id}", headers=basic(by)).status


@pytest.mark.parametrize(("by", "may"), [(P, True), (OTHER, False)])
def test_tasks_run_if_the_authenticated_one_may_run_them(strict: Cluster, by: str, may: bool) -> None:
    framework = Framework(strict, "ads", by=by).subscribe()
    try:
        offer = framework.offers()[0]
        framework.accept([offer], launch(task(offer, "t")))
        assert (framework.next("UPDATE")["update"]["status"]["state"] != "TASK_ERROR") == may
    finally:
        _teardown(strict, framework, OPERATOR)
        framework.stream.hang_up()
