"""Operations upon offers: OP-1 to OP-9, OP-13 to OP-15 and OP-27, and offers that operators take back."""

from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import Framework, amounts
from tests.conformance.callers.joining import quick
from tests.conformance.callers.operations import reserve, unreserve
from tests.conformance.callers.owning import owned
from tests.conformance.masters.carriers import Carrier, skip_before
from tests.conformance.masters.cluster import Setup
from tests.conformance.scenarios.reserving import dynamic, ports
from tests.conformance.scenarios.scenario import config, scalar, scalars

ONE = quick("cpus:12;mem:6144;disk:100;ports:[31000-31009]")
TWO = quick("cpus:1;mem:1024;disk:100;ports:[31000-31009]", "cpus:1;mem:1024;disk:100;ports:[31000-31009]")
REFINED = quick(
    "cpus:2;mem:1024;disk:100;ports:[31000-31009];cpus(r):2",
)


def launch(offer: dict[str, Any], cpus: float, name: str = "t") -> dict[str, Any]:
    task = {
        "name": name,
        "task_id": {"value": name},
        "agent_id": offer["agent_id"],
        "command": {"value": "true"},
        "resources": scalars(cpus=cpus, mem=32),
    }
    return {"type": "LAUNCH", "launch": {"task_infos": [task]}}


def test_nothing_is_unreserved_twice(start: Any, carrier: Carrier) -> None:
    def some(*spans: tuple[int, int]) -> list[dict[str, Any]]:
        return [ports(span, by=dynamic("ads")) for span in spans]

    def spans(offer: dict[str, Any]) -> list[Any]:
        entries = [entry for entry in offer["resources"] if entry["name"] == "ports" and "reservations" in entry]
        return [entry["ranges"]["range"] for entry in entries]

    with start(ONE) as (_, join):
        framework = join("ads").subscribe()
        framework.accept(framework.offers(), reserve(some((31000, 31003), (31002, 31005))))
        (offer,) = framework.offers()
        if carrier.profile.reserves_one_by_one:  # the second entry finds half of its ports reserved
            assert spans(offer) == []
            framework.accept([offer], reserve(some((31000, 31005))))
            (offer,) = framework.offers()
        assert spans(offer) == [[{"begin": 31000, "end": 31005}]]
        framework.accept([offer], unreserve(some((31000, 31001), (31000, 31001))))
        (offer,) = framework.offers()
        assert spans(offer) == [[{"begin": 31000, "end": 31005}]]
        framework.accept([offer], unreserve(some((31000, 31001), (31002, 31003))))
        assert spans(framework.offers()[0]) == [[{"begin": 31004, "end": 31005}]]


def test_operations_that_are_dropped_and_done(start: Any, carrier: Carrier) -> None:
    skip_before("1.6.2", carrier, "operations have no ids")
    from_source = {"type": "RESERVE", "reserve": {"source": scalars(cpus=1), "resources": owned("ads", "p", cpus=1)}}
    with start(ONE) as (_, join):
        framework = join("ads", principal="p").subscribe()
        offer = framework.offers()[0]
        whole = amounts(offer["resources"])
        assert (whole["cpus"], whole["mem"]) == (12.0, 6144.0)

        framework.accept([offer], reserve(owned("ads", "zz", cpus=1), id={"value": "op1"}))
        told = framework.next("UPDATE_OPERATION_STATUS")["update_operation_status"]["status"]
        assert (told["operation_id"], told["state"]) == ({"value": "op1"}, "OPERATION_ERROR")
        offer = framework.offers()[0]
        assert amounts(offer["resources"]) == whole

        for dropped in (
            reserve(owned("ads", "p", cpus=100)),
            reserve(owned("web", "p", cpus=1)),
            *(reserve([owned("ads", "p", cpus=1)[0] | {"allocation_info": of}]) for of in ({}, {"role": ""})),
            *((from_source,) if has(carrier.profile.release, "1.10.0") else ()),  # before it, `source` is ignored
            {"type": "RESERVE"},
        ):
            framework.accept([offer], dropped)
            offer = framework.offers()[0]
            assert amounts(offer["resources"]) == whole, dropped

        framework.accept([offer], reserve(owned("ads", "p", cpus=3, mem=1000)))
        offer = framework.offers()[0]
        now = amounts(offer["resources"])
        assert {name: now[name] for name in ("cpus(ads)", "mem(ads)", "cpus", "mem")} == {
            "cpus(ads)": 3.0,
            "mem(ads)": 1000.0,
            "cpus": 9.0,
            "mem": 5144.0,
        }
        reserved = [entry["reservations"] for entry in offer["resources"] if "reservations" in entry]
        assert reserved == [[{"type": "DYNAMIC", "role": "ads", "principal": "p"}]] * 2
        framework.accept([offer], unreserve(owned("ads", "p", cpus=1)))
        now = amounts(framework.offers()[0]["resources"])
        assert (now["cpus(ads)"], now["cpus"]) == (2.0, 10.0)


def test_without_principal(start: Any) -> None:
    with start(ONE) as (_, join):
        framework = join("ads").subscribe()
        framework.accept(framework.offers(), reserve(owned("ads", cpus=3)))
        offer = framework.offers()[0]
        assert amounts(offer["resources"])["cpus(ads)"] == 3.0
        framework.accept([offer], unreserve(owned("ads", cpus=3)))
        (offer,) = framework.offers()
        assert "cpus(ads)" not in amounts(offer["resources"])
        framework.accept([offer], reserve(owned("ads", "any", cpus=3)))
        assert amounts(framework.offers()[0]["resources"])["cpus(ads)"] == 3.0


def test_what_was_converted_comes_back_at_once_whatever_was_refused_with_it(start: Any, carrier: Carrier) -> None:
    with start(ONE) as (_, join):
        framework = join("ads").subscribe()
        framework.accept(framework.offers(), reserve(owned("ads", cpus=3)), refuse=1000)
        if not carrier.profile.converted_comes_back_at_once:
            framework.none_of("OFFERS")
            framework.ask("REVIVE")
        offered = amounts(framework.offers()[0]["resources"])
        assert (offered["cpus(ads)"], offered["cpus"]) == (3.0, 9.0)


def test_what_was_converted_and_back_again_is_refused_with_the_rest(start: Any) -> None:
    with start(ONE) as (_, join):
        framework = join("ads").subscribe()
        operations = reserve(owned("ads", cpus=3)), unreserve(owned("ads", cpus=3))
        framework.accept(framework.offers(), *operations, refuse=1000)
        framework.none_of("OFFERS")


def test_a_volume_on_what_is_reserved_for_a_role_above(start: Any) -> None:
    with start(quick("cpus:1;mem:512;disk:100;disk(ads):50")) as (_, join):
        framework = join("ads/web").subscribe()
        volume = {
            **scalar("disk", 20, reservations=[{"type": "STATIC", "role": "ads"}]),
            "disk": {"persistence": {"id": "v"}, "volume": {"container_path": "v", "mode": "RW"}},
        }
        framework.accept(framework.offers(), {"type": "CREATE", "create": {"volumes": [volume]}})
        (offer,) = framework.offers()
        assert [entry["scalar"]["value"] for entry in offer["resources"] if "disk" in entry] == [20.0]


def test_an_acl_forbids_it(start: Any) -> None:
    acls = {"reserve_resources": [{"principals": {"values": ["p"]}, "roles": {"type": "NONE"}}]}
    with start(quick(*ONE.agents, acls=acls)) as (_, join):
        framework = join("ads", principal="p").subscribe()
        framework.accept(framework.offers(), reserve(owned("ads", "p", cpus=3)))
        assert "cpus(ads)" not in amounts(framework.offers()[0]["resources"])


@pytest.mark.parametrize(("capability", "state"), [("MULTI_ROLE", "TASK_LOST"), ("PARTITION_AWARE", "TASK_DROPPED")])
def test_a_launch_upon_no_offer(start: Any, capability: str, state: str) -> None:
    with start(ONE) as (_, join):
        framework = join("ads", capabilities=("MULTI_ROLE", capability)).subscribe()
        offer = framework.offers()[0]
        framework.ask("ACCEPT", accept={"offer_ids": [{"value": "nope"}], "operations": [launch(offer, 1)]})
        status = framework.next("UPDATE")["update"]["status"]
        assert status["state"] == state
        assert status["source"] == "SOURCE_MASTER"
        assert status["reason"] == "REASON_INVALID_OFFERS"
        assert status["message"] == "Task launched with invalid offers: Offer nope is no longer valid"


def test_a_launch_larger_than_the_offer(start: Any) -> None:
    with start(ONE) as (_, join):
        framework = join("ads").subscribe()
        offer = framework.offers()[0]
        framework.accept([offer], launch(offer, 100))
        status = framework.next("UPDATE")["update"]["status"]
        assert (status["state"], status["reason"]) == ("TASK_ERROR", "REASON_TASK_INVALID")
        assert amounts(framework.offers()[0]["resources"])["cpus"] == 12.0


def test_offers_of_two_agents(start: Any) -> None:
    with start(TWO) as (_, join):
        framework = join("ads").subscribe()
        offers = framework.offers(agents=2)
        framework.accept(offers, launch(offers[0], 1), refuse=1000)
        status = framework.next("UPDATE")["update"]["status"]
        assert (status["state"], status["reason"]) == ("TASK_LOST", "REASON_INVALID_OFFERS")
        assert len(framework.offers(agents=2)) == 2


def test_old_frameworks_see_the_old_format_and_no_refinements(start: Any) -> None:
    with start(REFINED) as (master, join):
        agent = master.read("/slaves")["slaves"][0]["id"]
        stack = [{"type": "STATIC", "role": "r"}, {"type": "DYNAMIC", "role": "r/x"}]
        answer = master.call(
            "RESERVE_RESOURCES",
            reserve_resources={
                "agent_id": {"value": agent},
                "resources": [scalar("cpus", 1) | {"reservations": stack}],
            },
        )
        assert answer.status == 202, answer
        new = join("r/x").subscribe()
        offer = new.offers()[0]
        assert amounts(offer["resources"])["cpus(r/x)"] == 1.0
        assert [entry["reservations"] for entry in offer["resources"] if len(entry.get("reservations", ())) > 1] == [
            stack
        ]
        new.leave()
        old = join("r/x", capabilities=("MULTI_ROLE",)).subscribe()
        offer = old.offers()[0]
        seen = amounts(offer["resources"])
        assert (seen["cpus"], seen["cpus(r)"], seen.get("cpus(r/x)")) == (2.0, 1.0, None)
        assert all("reservations" not in entry and "role" in entry for entry in offer["resources"])
        old.leave()
        oldest = join(capabilities=(), roles=None, role="r").subscribe()
        offer = oldest.offers()[0]
        assert "allocation_info" not in offer
        assert all("allocation_info" not in entry for entry in offer["resources"])


# --- What operators take back -------------------------------------------------------------------------


def rescinded(framework: Framework) -> int:
    """How many offers have been taken back once everything is done."""
    framework.settle()
    return sum(event["type"] == "RESCIND" for event in framework.stream.events)


def small_agents(count: int, cpus: float = 2) -> Setup:
    return quick(*[f"cpus:{cpus};mem:1024;disk:100;ports:[31000-31009]"] * count)


def test_one_agent_for_each_framework_of_the_role(start: Any) -> None:
    with start(small_agents(3)) as (master, join):
        holder = join("role1").subscribe()
        holder.offers(agents=3)
        others = [join("role2").subscribe() for _ in range(2)]
        body = '{"role":"role2","guarantee":[{"name":"cpus","type":"SCALAR","scalar":{"value":1}}]}'
        assert master.request("POST", "/quota", content=body).status == 200
        assert rescinded(holder) == 2

        def offered() -> bool:
            return any(event["type"] == "OFFERS" for other in others for event in other.stream.events)

        assert master.subscribers.wait(offered)
        master.clear_quota()


def test_offers_are_taken_back_until_they_suffice(start: Any, carrier: Carrier) -> None:
    setup = quick(
        "cpus:12;mem:6144;disk:100;ports:[31000-31009]",
        "cpus:8;mem:4096;disk:100;ports:[31000-31009]",
        "cpus:2;mem:1024;disk:100;ports:[31000-31009];cpus(ads):2",
    )
    with start(setup) as (master, join):
        holder = join("ads").subscribe()
        offers = {offer["id"]["value"]: offer["agent_id"]["value"] for offer in holder.offers(agents=3)}
        body = '{"role":"r2","guarantee":[{"name":"cpus","type":"SCALAR","scalar":{"value":3}}]}'
        assert master.request("POST", "/quota", content=body).status == 200
        rescinds = [holder.next("RESCIND")["rescind"]["offer_id"]["value"]]
        if carrier.name == "real":  # it begins anywhere, and may come upon the one that is too small
            assert rescinded(holder) in (1, 2)
        else:
            assert rescinded(holder) == 1
            assert offers[rescinds[0]] == master.agents()[0]["id"]
        master.clear_quota()


def test_reserved_agents_are_visited_too(start: Any) -> None:
    setup = quick("cpus:2;mem:1024;disk:100;ports:[31000-31009];cpus(ads):2")
    with start(setup) as (master, join):
        holder = join("ads").subscribe()
        holder.offers()
        body = '{"role":"r2","force":true,"guarantee":[{"name":"cpus","type":"SCALAR","scalar":{"value":3}}]}'
        assert master.request("POST", "/quota", content=body).status == 200
        assert rescinded(holder) == 1
        master.clear_quota()


def limits(role: str, **quantities: float) -> dict[str, Any]:
    return {"update_quota": {"quota_configs": [config(role, {}, quantities)]}}


def test_limits_take_back_the_offers_of_the_subtree(start: Any, carrier: Carrier) -> None:
    skip_before("1.9.0", carrier, "there are no limits")
    with start(TWO) as (master, join):
        parent = join("role1").subscribe()
        first = parent.offers(agents=2)
        child = join("role1/child").subscribe()
        parent.decline(first[1:], refuse=1000)
        child.offers()
        assert master.call("UPDATE_QUOTA", **limits("role1", cpus=2, mem=2048)).status == 200
        assert (rescinded(parent), rescinded(child)) == (0, 0)
        assert master.call("UPDATE_QUOTA", **limits("role1", cpus=0.5, mem=512)).status == 200
        assert (rescinded(parent), rescinded(child)) == (1, 1)
        master.clear_quota()


def test_limits_lowered_step_by_step(start: Any, carrier: Carrier) -> None:
    skip_before("1.9.0", carrier, "there are no limits")
    setup = quick(
        "cpus:10;mem:1024;disk:100;ports:[31000-31009]",
        "cpus:4;mem:1024;disk:100;ports:[31000-31009]",
    )
    with start(setup) as (master, join):
        framework = join("role1").subscribe()
        framework.offers(agents=2)
        assert master.call("UPDATE_QUOTA", **limits("role1", cpus=16)).status == 200
        framework.none_of("RESCIND")
        assert master.call("UPDATE_QUOTA", **limits("role1", cpus=12)).status == 200
        framework.next("RESCIND")
        # The filter that a rescinded offer leaves does not keep back other amounts of another agent.
        again = amounts(framework.offers()[0]["resources"])["cpus"]
        assert again in (2.0, 8.0)
        assert master.call("UPDATE_QUOTA", **limits("role1", cpus=0)).status == 200
        framework.next("RESCIND")
        framework.next("RESCIND")
        assert all("cpus" not in amounts(offer["resources"]) for offer in framework.offers(agents=2))
        master.clear_quota()


def test_weights_take_back_every_offer_if_they_concern_anybody(start: Any) -> None:
    with start(TWO) as (master, join):
        first = join("a").subscribe()
        offers = first.offers(agents=2)
        second = join("z").subscribe()
        first.decline(offers[1:], refuse=0)
        second.offers()
        assert master.request("PUT", "/weights", content='[{"role":"nobody","weight":2}]').status == 200
        assert (rescinded(first), rescinded(second)) == (0, 0)
        assert master.request("PUT", "/weights", content='[{"role":"a","weight":2}]').status == 200
        first.next("RESCIND")
        second.next("RESCIND")
        assert first.offers() or second.offers()
