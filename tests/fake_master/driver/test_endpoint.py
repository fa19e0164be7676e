"""The messages of drivers, without a connection: older ones, those that come twice, and those that nobody may send."""

from typing import Any

import pytest

from fake_master.driver import endpoint
from fake_master.driver.messages import Address, parse_pid
from fake_master.http.request_response import Request
from fake_master.protobuf.conversion import serialize
from tests.fake_master.driver.by_hand import CLIENT, HERE, INFO, THERE, Drivers, authenticate


@pytest.fixture
def drivers() -> Drivers:
    return Drivers("cpus:4;mem:2048")


def test_an_older_driver_lives_by_single_messages(drivers: Drivers) -> None:
    known = drivers.registered()
    assert drivers.links.linked == [Address("10.0.0.1", 4000)]
    ((name, message),) = drivers.told()
    assert (name, message["pids"]) == ("ResourceOffersMessage", ["slave(1)@127.0.0.1:5050"])
    (offer,) = message["offers"]
    task = {
        "name": "t",
        "task_id": {"value": "t1"},
        "agent_id": offer["agent_id"],
        "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}],
        "command": {"value": "sleep 100"},
    }
    drivers.internal(HERE, "LaunchTasksMessage", framework_id=known, tasks=[task], filters={}, offer_ids=[offer["id"]])
    (name, starting), *_ = drivers.told()
    update = starting["update"]
    assert (name, update["status"]["state"], starting["pid"]) == (
        "StatusUpdateMessage",
        "TASK_STARTING",
        "slave(1)@127.0.0.1:5050",
    )
    ids = {"agent_id": offer["agent_id"], "framework_id": known, "task_id": {"value": "t1"}}
    drivers.internal(HERE, "StatusUpdateAcknowledgementMessage", **ids, uuid=update["uuid"])
    (name, running), *_ = drivers.told()
    assert running["update"]["status"]["state"] == "TASK_RUNNING"
    drivers.internal(HERE, "StatusUpdateAcknowledgementMessage", **ids, uuid=running["update"]["uuid"])
    drivers.internal(
        HERE,
        "ReconcileTasksMessage",
        framework_id=known,
        statuses=[{"task_id": {"value": "t1"}, "state": "TASK_RUNNING"}],
    )
    ((name, reconciled),) = drivers.told()
    assert "uuid" not in reconciled["update"]
    assert "pid" not in reconciled
    drivers.internal(HERE, "KillTaskMessage", framework_id=known, task_id={"value": "t1"})
    drivers.wait(1.0)
    killed = [document for name, document in drivers.told() if name == "StatusUpdateMessage"]
    assert killed[0]["update"]["latest_state"] == "TASK_KILLED"
    drivers.internal(HERE, "ReviveOffersMessage", framework_id=known)
    drivers.internal(HERE, "ResourceRequestMessage", framework_id=known)
    drivers.internal(HERE, "UnregisterFrameworkMessage", framework_id=known)
    assert not drivers.master.state.frameworks


def test_every_message_comes_from_the_master(drivers: Drivers) -> None:
    """A driver ignores what comes from anybody else than the master that it has detected."""
    drivers.registered()
    drivers.offers()
    assert set(drivers.links.senders) == {"master@127.0.0.1:5050"}


def test_a_driver_that_asks_twice_is_one_framework(drivers: Drivers) -> None:
    known = drivers.registered()
    drivers.told()
    assert drivers.registered() == known
    assert len(drivers.master.state.frameworks) == 1


def test_registering_with_an_id_and_again_without(drivers: Drivers) -> None:
    drivers.internal(HERE, "RegisterFrameworkMessage", framework={**INFO, "id": {"value": "x"}})
    drivers.internal(HERE, "ReregisterFrameworkMessage", framework=INFO, failover=False)
    assert drivers.told() == [
        ("FrameworkErrorMessage", {"message": "Registering with 'id' already set"}),
        ("FrameworkErrorMessage", {"message": "Re-registering without an 'id'"}),
    ]


def test_a_driver_that_registers_again_loses_what_it_was_offered(drivers: Drivers) -> None:
    known = drivers.registered(failover_timeout=100.0)
    drivers.offers()
    info = {**INFO, "id": known, "failover_timeout": 100.0}
    drivers.internal(HERE, "ReregisterFrameworkMessage", framework=info, failover=False)
    assert drivers.names()[:2] == ["RescindResourceOfferMessage", "FrameworkReregisteredMessage"]
    assert drivers.offers()


def test_a_driver_that_takes_over_silences_the_other(drivers: Drivers) -> None:
    known = drivers.registered(failover_timeout=100.0)
    drivers.offers()
    info = {**INFO, "id": known, "failover_timeout": 100.0}
    drivers.tell(THERE, "SUBSCRIBE", framework_id=known, subscribe={"framework_info": info, "force": True})
    posted = [(to.ip, name) for to, name, _ in drivers.links.posted]
    assert posted == [("10.0.0.1", "FrameworkErrorMessage"), ("10.0.0.2", "FrameworkRegisteredMessage")]
    drivers.told()
    drivers.tell(HERE, "TEARDOWN", framework_id=known)
    assert known["value"] in drivers.master.state.frameworks


@pytest.mark.parametrize("before", ["update", "take over", "register again", "be away", "give up"])
def test_filters_end_only_where_the_framework_was_inactive(drivers: Drivers, before: str) -> None:
    known = drivers.registered(failover_timeout=100.0)
    (offer,) = drivers.offers()
    refused = {"offer_ids": [offer["id"]], "filters": {"refuse_seconds": 3600.0}}
    drivers.tell(HERE, "DECLINE", framework_id=known, decline=refused)
    info = {**INFO, "id": known, "failover_timeout": 100.0}
    if before == "update":
        drivers.tell(HERE, "UPDATE_FRAMEWORK", framework_id=known, update_framework={"framework_info": info})
    elif before == "be away":
        drivers.endpoint.exited(Address("10.0.0.1", 4000))
    elif before == "give up":
        drivers.internal(HERE, "DeactivateFrameworkMessage", framework_id=known)
    is_forced, sender = (False, HERE) if before == "register again" else (True, THERE)
    subscribe = {"framework_info": info, "force": is_forced}
    drivers.tell(sender, "SUBSCRIBE", framework_id=known, subscribe=subscribe)
    assert len(drivers.offers()) == (before in ("be away", "give up"))


def test_without_force_the_driver_that_there_is_hears_of_it(drivers: Drivers) -> None:
    known = drivers.registered(failover_timeout=100.0)
    info = {**INFO, "id": known, "failover_timeout": 100.0}
    drivers.tell(HERE, "SUPPRESS", framework_id=known)
    drivers.endpoint.exited(Address("10.0.0.1", 4000))
    drivers.told()
    drivers.tell(
        THERE, "SUBSCRIBE", framework_id=known, subscribe={"framework_info": info, "suppressed_roles": ["ads"]}
    )
    assert [(to.ip, name) for to, name, _ in drivers.links.posted] == [("10.0.0.1", "FrameworkReregisteredMessage")]


def test_a_framework_of_a_former_leader_is_registered_again(drivers: Drivers) -> None:
    info = {**INFO, "id": {"value": "former-0000"}}
    drivers.tell(HERE, "SUBSCRIBE", framework_id=info["id"], subscribe={"framework_info": info, "force": True})
    assert drivers.names()[0] == "FrameworkReregisteredMessage"


def test_a_lost_connection_is_a_framework_that_is_away(drivers: Drivers) -> None:
    known = drivers.registered(failover_timeout=5.0)
    drivers.offers()
    drivers.endpoint.exited(Address("10.0.0.1", 4000))
    framework = drivers.master.state.frameworks[known["value"]]
    assert (framework.connected, framework.active, len(framework.offers)) == (False, False, 0)
    drivers.told()
    drivers.tell(HERE, "REVIVE", framework_id=known)
    assert drivers.told() == [("FrameworkErrorMessage", {"message": "Framework disconnected"})]
    drivers.wait(5.0)
    assert not drivers.master.state.frameworks


def test_a_driver_that_gives_up_is_offered_nothing(drivers: Drivers) -> None:
    known = drivers.registered()
    assert drivers.names() == ["ResourceOffersMessage"]
    drivers.internal(THERE, "DeactivateFrameworkMessage", framework_id=known)
    assert drivers.names() == []
    drivers.internal(HERE, "DeactivateFrameworkMessage", framework_id=known)
    assert drivers.names() == ["RescindResourceOfferMessage"]
    assert drivers.offers() == []
    assert drivers.master.state.frameworks[known["value"]].connected


def test_what_cannot_be_read_is_dropped(drivers: Drivers) -> None:
    for body in (b"", b"\xff", b"\x10\x01", b"\x10\x63", b"{}"):
        request = Request("POST", "/master/mesos.scheduler.Call", {"libprocess-from": HERE}, body)
        assert drivers.application.handle(request).status == 202
    assert drivers.send(HERE, "mesos.internal.StatusUpdateMessage", {}) == 202
    assert drivers.told() == []


@pytest.mark.parametrize("name", ["mesos.scheduler.Call", "mesos.internal.ReconcileTasksMessage"])
def test_a_message_with_too_many_values_is_refused_with_the_reason(
    drivers: Drivers, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = drivers.registered()
    statuses = [{"task_id": {"value": "t"}, "state": "TASK_RUNNING"}] * 5
    call = {"type": "DECLINE", "decline": {"offer_ids": [{"value": "o"}] * 20}}
    document = {"framework_id": known, **(call if name.endswith("Call") else {"statuses": statuses})}
    assert drivers.send(HERE, name, document) == 202
    drivers.told()
    monkeypatch.setattr(endpoint, "MOST_VALUES", 10)
    assert drivers.send(HERE, name, document) == 202
    assert drivers.told() == [("FrameworkErrorMessage", {"message": "The message holds more than 10 values"})]


def test_an_authentication_with_too_many_values_is_dropped(guarded: Drivers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MOST_VALUES", 0)
    guarded.internal(HERE, "AuthenticateMessage", pid=HERE)
    assert guarded.told() == []


def test_who_gets_an_answer(drivers: Drivers) -> None:
    body = serialize("mesos.internal.RegisterFrameworkMessage", {"framework": INFO})
    path = "/master/mesos.internal.RegisterFrameworkMessage"
    by_header = drivers.application.handle(Request("POST", path, {"libprocess-from": HERE}, body))
    by_agent = drivers.application.handle(Request("POST", path, {"user-agent": f"libprocess/{HERE}"}, body))
    nobody = drivers.application.handle(Request("POST", path.replace("master", "nobody"), {"libprocess-from": HERE}))
    nameless = drivers.application.handle(Request("POST", path, {"libprocess-from": "nobody"}, body))
    assert [(a.status, a.is_awaited) for a in (by_header, by_agent, nobody, nameless)] == [
        (202, True),
        (202, False),
        (404, True),
        (404, True),
    ]


@pytest.mark.parametrize(
    ("text", "is_pid"),
    [
        (HERE, True),
        ("@10.0.0.1:1", True),
        ("a@[::1]:80", True),
        ("a@10.0.0.1", False),
        ("a@10.0.0.1:0", False),
        ("a@10.0.0.1:65536", False),
        ("a@host:1", False),
        ("\xff@10.0.0.1:1", False),
        ("a b@10.0.0.1:1", False),
        ("a\r\nX-Y: z@10.0.0.1:1", False),
        ("a b\r\n@10.0.0.1:1\r\n", False),
        ("", False),
    ],
)
def test_pids(text: str, is_pid: bool) -> None:
    pid = parse_pid(text)
    assert (pid is not None) == is_pid
    if pid is not None:
        assert str(pid) == text


def test_messages_to_executors_go_by_way_of_their_agent(drivers: Drivers) -> None:
    known = drivers.registered()
    (agent,) = drivers.master.state.agents.values()
    ids = {"agent_id": {"value": agent.id}, "framework_id": known, "executor_id": {"value": "e"}}
    name = "mesos.internal.FrameworkToExecutorMessage"
    assert drivers.send(HERE, name, {**ids, "data": "AA=="}, actor="slave(1)") == 202
    assert drivers.send(HERE, name, {**ids, "data": "AA=="}, actor="slave(9)") == 404
    drivers.internal(HERE, "FrameworkToExecutorMessage", **ids, data="AA==")
    assert drivers.master.state.counts["valid_framework_to_executor_messages"] == 2


@pytest.mark.parametrize(
    "name", ["\udcff", "é", "a b", "a\r\nX: y", "a\tb", "\0", "\x7f", "a@b", "x HTTP/1.1", "\u2028", "\uff11"]
)
def test_a_sender_that_cannot_be_written_into_an_answer_is_none(drivers: Drivers, name: str) -> None:
    body = {"framework": INFO}
    assert drivers.send(f"{name}@10.0.0.1:4000", "mesos.internal.RegisterFrameworkMessage", body) == 404
    assert not drivers.master.state.frameworks
    assert not drivers.links.linked


@pytest.mark.parametrize(
    "where",
    [
        "10.0.0.1:0",
        "10.0.0.1:65536",
        "\uff110.0.0.1:4000",
        "10.0.0.1:\u0664000",
        "host:4000",
        "999.0.0.1:4000",
        "[::x]:1",
    ],
)
def test_a_sender_without_an_address_is_none(drivers: Drivers, where: str) -> None:
    body = {"framework": INFO}
    assert drivers.send(f"scheduler(1)@{where}", "mesos.internal.RegisterFrameworkMessage", body) == 404
    assert not drivers.master.state.frameworks


# --- Authentication -----------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path: Any) -> Drivers:
    path = tmp_path / "credentials"
    path.write_text('{"credentials":[{"principal":"ads","secret":"s"}]}', encoding="utf-8")
    return Drivers(flags={"credentials": str(path), "authenticate_frameworks": "true"})


def test_a_driver_that_knows_its_secret_registers(guarded: Drivers) -> None:
    assert authenticate(guarded, b"ads", b"s") == "AuthenticationCompletedMessage"
    guarded.registered(principal="ads")


@pytest.mark.parametrize(
    ("principal", "secret"), [(b"ads", b"t"), (b"web", b"s"), (b"web", b""), (b"ads", b""), (b"", b""), (b"\xff", b"")]
)
def test_a_driver_that_does_not_is_refused(guarded: Drivers, principal: bytes, secret: bytes) -> None:
    assert authenticate(guarded, principal, secret) == "AuthenticationFailedMessage"
    guarded.internal(HERE, "RegisterFrameworkMessage", framework=INFO)
    assert guarded.told() == [("FrameworkErrorMessage", {"message": f"Framework at {HERE} is not authenticated."})]


def test_a_driver_that_comes_back_proves_it_anew(guarded: Drivers) -> None:
    authenticate(guarded, b"ads", b"s")
    guarded.registered(principal="ads")
    guarded.told()
    guarded.endpoint.exited(Address("10.0.0.1", 4000))
    guarded.internal(HERE, "RegisterFrameworkMessage", framework={**INFO, "principal": "ads"})
    assert guarded.names() == ["FrameworkErrorMessage"]


def test_authenticating_out_of_turn(guarded: Drivers) -> None:
    guarded.internal(CLIENT, "AuthenticateMessage", pid=HERE)
    guarded.told()
    actor = guarded.links.senders[-1].partition("@")[0]
    guarded.send(CLIENT, "mesos.internal.AuthenticationStepMessage", {"data": "AA=="}, actor=actor)
    assert guarded.names() == ["AuthenticationErrorMessage"]
    guarded.send(CLIENT, "mesos.internal.AuthenticationStartMessage", {"mechanism": "CRAM-MD5"}, actor=actor)
    assert guarded.names() == []


# --- Rate limits --------------------------------------------------------------------------------------


def _limited(**more: Any) -> Drivers:
    limits = {"limits": [{"principal": "ads", "qps": 1.0, **more}]}
    return Drivers(rate_limits=limits, flags={"rate_limit_http": "false"})


def _counters(drivers: Drivers) -> tuple[float, float]:
    metrics = drivers.master.rate_limiting.metrics()
    return metrics["frameworks/ads/messages_received"], metrics["frameworks/ads/messages_processed"]


def test_messages_of_drivers_are_throttled_whatever_becomes_of_http() -> None:
    drivers = _limited()
    known = drivers.registered(principal="ads")
    assert _counters(drivers) == (0.0, 0.0)
    for number in range(3):
        drivers.tell(HERE, "KILL", framework_id=known, kill={"task_id": {"value": f"t{number}"}})
    drivers.send(HERE, "mesos.scheduler.Call", {})  # one that is dropped waits its turn, too
    assert _counters(drivers) == (4.0, 1.0)
    drivers.wait(1.0)
    drivers.wait(1.0)
    killed = [d["update"]["status"]["task_id"]["value"] for n, d in drivers.told() if n == "StatusUpdateMessage"]
    assert killed == ["t0", "t1", "t2"]
    drivers.wait(1.0)
    assert _counters(drivers) == (4.0, 4.0)


def test_a_driver_beyond_its_capacity_hears_of_it_and_stays() -> None:
    drivers = _limited(capacity=1)
    known = drivers.registered(principal="ads")
    for _ in range(3):
        drivers.tell(HERE, "REVIVE", framework_id=known)
    error = {"message": "Message mesos.scheduler.Call dropped: capacity(1) exceeded"}
    assert ("FrameworkErrorMessage", error) in drivers.told()
    assert drivers.master.state.frameworks[known["value"]].connected
    assert _counters(drivers) == (3.0, 1.0)
