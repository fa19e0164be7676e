"""The operations of an operator on one agent: what each makes of its resources, and by which rule it is refused."""

import json
from typing import Any

import pytest

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Conflict, Forbidden, MesosctlError, RuleViolation
from tests.helpers.lab import Lab, Scheduler
from tests.helpers.reserving import push

WEB = Reservation("DYNAMIC", "web", "ops")
ADS = Reservation("DYNAMIC", "ads", "ops")


def held_by(owner: Reservation, text: str) -> list[Resource]:
    return list(push(parse_resources(text), owner))


def volume(name: str, mib: int, owner: Reservation = WEB, *, shared: bool = False, by: str = "ops") -> Resource:
    disk = Disk(name, principal=by, container_path="v", mode="RW")
    return Resource("disk", mib * 1000, (owner,), disk=disk, shared=shared)


class Operator:
    """Carries out operations as "ops" on the one agent of a lab."""

    def __init__(self, agent: str = "cpus:4;mem:64;disk:1000", **more: Any) -> None:
        self.lab = Lab(agent, **more)
        self.does = self.lab.master.reservations
        (self.agent,) = self.lab.master.state.agents.values()

    def __call__(self, name: str, *arguments: Any, principal: str | None = "ops") -> Resources:
        """The agent's resources after it."""
        getattr(self.does, name)(principal, self.agent, *arguments)
        return self.total

    @property
    def total(self) -> Resources:
        return self.agent.total

    def refused(self, name: str, *arguments: Any, principal: str | None = "ops") -> MesosctlError:
        """The error of an operation, which changes nothing."""
        before = self.total
        with pytest.raises(MesosctlError) as caught:
            self(name, *arguments, principal=principal)
        assert self.total == before
        return caught.value


@pytest.fixture
def operator() -> Operator:
    return Operator()


def test_what_is_reserved_moves_to_another_role_and_back_to_none(operator: Operator) -> None:
    plain = operator.total
    cpus = held_by(WEB, "cpus:3")
    assert operator("reserve", cpus, None) == plain - parse_resources("cpus:3") + Resources(cpus)
    moved = held_by(ADS, "cpus:3")
    assert operator("reserve", moved, cpus) == plain - parse_resources("cpus:3") + Resources(moved)
    assert operator("unreserve", moved) == plain


def test_a_volume_is_created_grown_shrunk_and_destroyed(operator: Operator) -> None:
    disk = held_by(WEB, "disk:500")
    reserved = operator("reserve", disk, None)
    small = volume("v", 100)
    assert operator("create", [small]) == reserved - Resources(held_by(WEB, "disk:100")) + Resources([small])
    large = volume("v", 150)
    (addition,) = held_by(WEB, "disk:50")
    assert operator("grow", small, addition) == reserved - Resources(held_by(WEB, "disk:150")) + Resources([large])
    smaller = volume("v", 120)
    assert operator("shrink", large, 30_000) == reserved - Resources(held_by(WEB, "disk:120")) + Resources([smaller])
    assert operator("destroy", [smaller]) == reserved
    operator("unreserve", disk)
    counts = operator.lab.read("/metrics/snapshot")
    for kind in ("reserve", "unreserve", "create", "destroy", "grow_volume", "shrink_volume"):
        assert counts[f"master/operations/{kind}/finished"] == 1, kind
    assert counts["master/operations/finished"] == counts["master/operations/total"] == 6


def test_every_rule_is_asked_before_anything_happens(operator: Operator) -> None:
    disk = held_by(WEB, "disk:500")
    operator("reserve", disk, None)
    operator("create", [volume("v", 100), volume("s", 100, shared=True)])
    (addition,) = held_by(WEB, "disk:50")
    for name, arguments, rule in (
        ("reserve", ([], None), "operation.empty"),
        ("reserve", (list(parse_resources("cpus:1")), None), "reserve.dynamic"),
        ("reserve", (held_by(ADS, "cpus:1"), held_by(WEB, "cpus:2")), "reserve.same-amounts"),
        ("unreserve", (list(parse_resources("cpus:1")),), "unreserve.dynamic"),
        ("create", ([volume("v", 10)],), "create.unique-id"),
        ("create", ([volume("w", 10, by="other")],), "create.principal"),
        ("destroy", ([volume("w", 10)],), "destroy.exists"),
        ("grow", (volume("s", 100, shared=True), addition), "resize.shared"),
        ("shrink", (volume("s", 100, shared=True), 1000), "resize.shared"),
    ):
        found = operator.refused(name, *arguments)
        assert (type(found), found.rule) == (RuleViolation, rule), name


def test_another_principal_reserves_for_itself_only(operator: Operator) -> None:
    assert operator.refused("reserve", held_by(WEB, "cpus:1"), None, principal="other").rule == "reserve.principal"
    assert operator.refused("create", [volume("v", 1)], principal="other").rule == "create.principal"


def test_a_volume_in_use_is_not_destroyed(operator: Operator) -> None:
    operator("reserve", held_by(WEB, "disk:500"), None)
    of_web = volume("v", 100)
    operator("create", [of_web])
    framework = Scheduler(operator.lab, name="web", principal="ops")
    (offer,) = framework.offers()
    (part,) = [one for one in offer["resources"] if one.get("disk")]
    info = {"name": "t", "task_id": {"value": "t"}, "agent_id": offer["agent_id"], "command": {"value": "true"}}
    (cpus, mem) = (next(one for one in offer["resources"] if one["name"] == name) for name in ("cpus", "mem"))
    launch = {"type": "LAUNCH", "launch": {"task_infos": [info | {"resources": [cpus, mem, part]}]}}
    framework.ask("ACCEPT", offer_ids=[offer["id"]], operations=[launch])
    assert operator.refused("destroy", [of_web]).rule == "destroy.unused"


def acls(action: str, of: str) -> dict[str, str]:
    """The flag: "ops" may do it to role or creator "web" only, and nobody else to any."""
    rules = [
        {"principals": {"values": ["ops"]}, of: {"values": ["web"]}},
        {"principals": {"type": "ANY"}, of: {"type": "NONE"}},
    ]
    return {"acls": json.dumps({"permissive": True, action: rules})}


BY_WEB = Reservation("DYNAMIC", "web", "web")


@pytest.mark.parametrize(
    ("action", "of", "name", "good", "bad"),
    [
        ("reserve_resources", "roles", "reserve", (held_by(WEB, "cpus:1"), None), (held_by(ADS, "cpus:1"), None)),
        ("create_volumes", "roles", "create", ([volume("v", 1)],), ([volume("w", 1, ADS)],)),
        ("unreserve_resources", "reserver_principals", "unreserve", (held_by(BY_WEB, "cpus:1"),),
         (held_by(WEB, "cpus:1"),)),
        ("destroy_volumes", "creator_principals", "destroy", ([volume("own", 1, by="web")],), ([volume("not", 1)],)),
        ("resize_volumes", "roles", "grow", (volume("not", 1), held_by(WEB, "disk:1")[0]),
         (volume("ads", 2, ADS), held_by(ADS, "disk:1")[0])),
        ("resize_volumes", "roles", "shrink", (volume("not", 1), 500), (volume("ads", 2, ADS), 500)),
        ("unreserve_resources", "reserver_principals", "reserve", (held_by(ADS, "cpus:1"), held_by(BY_WEB, "cpus:1")),
         (held_by(ADS, "cpus:1"), held_by(WEB, "cpus:1"))),
    ],
)  # fmt: skip
def test_who_may_do_what_to_whose(action, of, name, good, bad) -> None:
    operator = Operator(flags=acls(action, of))
    if action != "reserve_resources":
        for owner in (WEB, ADS, BY_WEB):
            for text in ("cpus:1", "disk:100"):
                operator("reserve", held_by(owner, text), None, principal=owner.principal)
        if action != "create_volumes":
            operator("create", [volume("own", 1, by="web")], principal="web")
            operator("create", [volume("not", 1), volume("ads", 2, ADS)])
    found = operator.refused(name, *bad)
    assert (type(found), found.rule) == (Forbidden, f"acl.{action}")
    operator.refused(name, *good, principal="web")
    operator(name, *good)


@pytest.mark.parametrize(("lower", "upper", "is_allowed"), [
    (BY_WEB, "web", True),
    (WEB, "web", False),
    (BY_WEB, "ops", False),
])  # fmt: skip
def test_each_level_that_a_reserve_takes_away_is_authorized(lower: Reservation, upper: str, is_allowed: bool) -> None:
    operator = Operator(flags=acls("unreserve_resources", "reserver_principals"))
    refinement = Reservation("DYNAMIC", "web/x", upper)
    operator("reserve", held_by(lower, "cpus:1"), None, principal=lower.principal)
    refined = list(push(Resources(held_by(lower, "cpus:1")), refinement))
    operator("reserve", refined, None, principal=upper)
    if is_allowed:
        operator("reserve", held_by(ADS, "cpus:1"), refined)
    else:
        found = operator.refused("reserve", held_by(ADS, "cpus:1"), refined)
        assert (type(found), found.rule) == (Forbidden, "acl.unreserve_resources")


def test_what_is_missing_is_said_with_the_volumes_that_have_it(operator: Operator) -> None:
    operator("reserve", held_by(WEB, "disk:100"), None)
    operator("reserve", held_by(ADS, "disk:100"), None)
    operator("create", [volume("v", 60), volume("w", 40), volume("other", 100, ADS)])
    found = operator.refused("unreserve", held_by(WEB, "disk:100"))
    assert type(found) is Conflict
    assert str(found).endswith("volumes: v, w")
    assert "volumes" not in str(operator.refused("reserve", held_by(WEB, "cpus:5"), None))
    assert "volumes" not in str(operator.refused("unreserve", held_by(WEB, "cpus:1")))


def test_what_is_in_use_is_not_free(operator: Operator) -> None:
    Scheduler(operator.lab, name="f").launch("t", "u")
    found = operator.refused("reserve", held_by(WEB, "cpus:4"), None)
    assert (type(found), found.rule) == (Conflict, "operation.contained")
    operator("reserve", held_by(WEB, "cpus:1"), None)


class RefusesOperations(HierarchicalAllocator):
    """An allocator that gives nothing to operators."""

    def update_available(self, agent: str, conversions: Any) -> bool:
        return False


def test_an_allocator_of_others_may_refuse_what_is_free() -> None:
    operator = Operator(flags={"allocator": f"{__name__}:{RefusesOperations.__name__}"})
    found = operator.refused("reserve", held_by(WEB, "cpus:1"), None)
    assert (type(found), found.rule) == (Conflict, "operation.available")
    assert operator.agent.id in str(found)


def test_roles_below_others_need_an_agent_that_knows_them(operator: Operator) -> None:
    below = Reservation("DYNAMIC", "web/a", "ops")
    operator("reserve", held_by(below, "disk:10"), None)
    operator.agent.capabilities = ()
    for name, arguments in (("reserve", (held_by(below, "cpus:1"), None)), ("create", ([volume("v", 10, below)],))):
        assert operator.refused(name, *arguments).rule == "agent.hierarchical", name


def test_an_operation_that_its_agent_can_no_longer_apply_counts_as_dropped(operator: Operator) -> None:
    operator.agent.faults.delay = 3.0
    operator("reserve", held_by(WEB, "cpus:3"), None)
    operator.lab.master.checkpointed_resources.restart(operator.agent, parse_resources("cpus:1"))
    operator.lab.wait(3.0)
    assert operator.total == parse_resources("cpus:1")
    counts = operator.lab.read("/metrics/snapshot")
    assert (counts["master/operations/reserve/dropped"], counts["master/operations/reserve/finished"]) == (1, 0)
