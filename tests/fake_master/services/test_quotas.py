"""Quotas and weights as a master keeps them: what is refused by which rule, what all of a request changes, and for
whom."""

import json
import math
from typing import Any

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.state.quota import SentQuota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import Conflict, Forbidden, MesosctlError, RuleViolation
from tests.helpers.lab import Lab, Scheduler, scalar


def acls(action: str) -> dict[str, str]:
    """The flag: "ops" may do it to role "a" only, "admin" to each, and nobody else to any."""
    of = "roles"
    rules = [
        {"principals": {"values": ["ops"]}, of: {"values": ["a"]}},
        {"principals": {"values": ["admin"]}, of: {"type": "ANY"}},
        {"principals": {"type": "ANY"}, of: {"type": "NONE"}},
    ]
    return {"acls": json.dumps({"permissive": True, action: rules})}


def cpus(amount: float) -> SentQuota:
    return SentQuota({"cpus": amount}, {})


def up_to(amount: float) -> SentQuota:
    return SentQuota({}, {"cpus": amount})


def shown(lab: Lab) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Guarantees and limits by role."""
    listed = lab.call("GET_QUOTA")["status"].get("configs", [])
    return {
        one["role"]: tuple(  # type: ignore[misc]
            {name: value["value"] for name, value in one.get(part, {}).items()} for part in ("guarantees", "limits")
        )
        for one in listed
    }


def weights(lab: Lab) -> dict[str, float]:
    return {one["role"]: one["weight"] for one in lab.read("/weights")}


def update(lab: Lab, force: bool = False, **configs: Any) -> None:
    lab.call("UPDATE_QUOTA", force=force, quota_configs=[
        {"role": role} | {part: {name: {"value": value} for name, value in amounts.items()}
                          for part, amounts in of.items()}
        for role, of in configs.items()
    ])  # fmt: skip


def refused(lab: Lab, *configs: tuple[str, SentQuota], principal: str | None = None, force: bool = False) -> Any:
    """The error of UPDATE_QUOTA, which changes nothing."""
    before = shown(lab)
    with pytest.raises(MesosctlError) as caught:
        lab.master.quotas.update(principal, configs, force=force)
    assert shown(lab) == before
    return caught.value


def test_an_update_sets_all_that_it_names_and_leaves_the_rest():
    lab = Lab("cpus:20;mem:1024")
    update(lab, a={"guarantees": {"cpus": 2}, "limits": {"cpus": 3}}, b={"guarantees": {"cpus": 4}})
    update(lab, b={"limits": {"mem": 64}}, c={"guarantees": {"cpus": 0}, "limits": {"cpus": 0}})
    assert shown(lab) == {"a": ({"cpus": 2}, {"cpus": 3}), "b": ({}, {"mem": 64}), "c": ({}, {"cpus": 0})}


@pytest.mark.parametrize(
    ("bad", "error", "rule"),
    [
        (("a/x", cpus(1)), RuleViolation, "quota.nested"),
        (("new", cpus(1)), RuleViolation, "role.whitelist"),
        (("b", cpus(math.nan)), RuleViolation, "quota.number"),
        (("b", SentQuota({"cpus": 2}, {"cpus": 1})), RuleViolation, "quota.guarantee-within-limit"),
        (("b", cpus(17)), Conflict, "quota.capacity"),
        (("used", up_to(1)), RuleViolation, "quota.consumption"),
    ],
)
def test_an_update_with_one_entry_that_is_refused_changes_nothing(bad, error, rule):
    lab = Lab("cpus:20;mem:1024", flags={"roles": "a,b,used,a/x"})
    Scheduler(lab, name="used").launch("t", "u")
    update(lab, a={"guarantees": {"cpus": 1}})
    found = refused(lab, ("a", cpus(4)), bad)
    assert (type(found), found.rule) == (error, rule)


def test_force_skips_the_room_of_the_cluster_and_what_a_role_holds_but_no_other_rule():
    lab = Lab("cpus:20;mem:1024")
    Scheduler(lab, name="used").launch("t", "u")
    update(lab, force=True, a={"guarantees": {"cpus": 100}}, used={"limits": {"cpus": 1}})
    assert shown(lab) == {"a": ({"cpus": 100}, {}), "used": ({}, {"cpus": 1})}
    assert refused(lab, ("b", cpus(-1)), force=True).rule == "quota.number"
    assert refused(lab, ("a", cpus(100))).rule == "quota.capacity"


@pytest.mark.parametrize("version", ["documents", "1.11"])
def test_an_update_follows_the_newest_rules_on_every_master(version):
    lab = Lab("cpus(web):4;cpus:8;mem:64", version=version)
    Scheduler(lab, name="used").launch("t", "u")
    lab.master.quotas.update(None, [("a", cpus(12))], force=False)
    assert refused(lab, ("a", cpus(13))).rule == "quota.capacity"
    assert refused(lab, ("used", up_to(1))).rule == "quota.consumption"


def test_what_is_reserved_counts_towards_the_limits_of_its_role_alone():
    lab = Lab("cpus(a):4;cpus:8;mem:64")
    assert refused(lab, ("a", up_to(3))).rule == "quota.consumption"
    update(lab, a={"limits": {"cpus": 4}}, b={"limits": {"cpus": 1}})


@pytest.mark.parametrize("principal", ["ops", "other", None])
def test_a_quota_of_another_role_is_forbidden_even_beside_one_that_is_allowed(principal):
    lab = Lab("cpus:20;mem:1024", flags=acls("update_quotas"))
    lab.master.quotas.update("ops", [("a", cpus(1))], force=False)
    found = refused(lab, ("a", cpus(2)), ("b", cpus(1)), principal=principal)
    assert (type(found), found.rule) == (Forbidden, "acl.update_quotas")
    with pytest.raises(Forbidden):
        lab.master.quotas.set(principal, "b", [Resource("cpus", 1000)], {"cpus": 1.0}, force=False)
    if principal != "ops":
        with pytest.raises(Forbidden):
            lab.master.quotas.remove(principal, "a")
    assert list(shown(lab)) == ["a"]


def test_who_may_do_it_for_one_role_sets_and_removes_its_quota():
    lab = Lab("cpus:20;mem:1024", flags=acls("update_quotas"))
    lab.master.quotas.set("ops", "a", [Resource("cpus", 1000)], {"cpus": 1.0}, force=False)
    assert list(shown(lab)) == ["a"]
    lab.master.quotas.remove("ops", "a")
    assert shown(lab) == {}


@pytest.mark.parametrize(("version", "limited"), [("documents", {}), ("1.11", {"cpus": 2})])
def test_a_guarantee_is_a_limit_too_since_mesos_1_9(version, limited):
    lab = Lab("cpus:20;mem:1024", version=version)
    assert lab.post("/quota", {"role": "a", "guarantee": [scalar("cpus", 2)]}) == 200
    assert lab.master.state.quotas["a"] == SentQuota({"cpus": 2}, limited)


@pytest.mark.parametrize(
    ("guarantee", "rule"),
    [
        ([scalar("cpus", 1), scalar("cpus", 2)], "quota.scalar-only"),
        ([scalar("cpus", 1) | {"reservations": [{"type": "STATIC", "role": "a"}]}], "quota.scalar-only"),
    ],
)
def test_a_request_names_plain_amounts_once(guarantee, rule):
    lab = Lab()
    assert lab.post("/quota", {"role": "a", "guarantee": guarantee}) == 400
    assert shown(lab) == {}


def test_a_quota_is_set_once_and_removed_once():
    lab = Lab()
    request = {"role": "a", "guarantee": [scalar("cpus", 1)]}
    assert [lab.post("/quota", request) for _ in range(2)] == [200, 400]
    assert [lab.request("DELETE", "/quota/a").status for _ in range(2)] == [200, 400]
    assert shown(lab) == {}


def test_a_removed_quota_limits_nobody_any_more():
    lab = Lab("cpus:4;mem:64")
    update(lab, a={"limits": {"cpus": 0}}, b={"guarantees": {"cpus": 3}})
    framework = Scheduler(lab, name="a")
    assert framework.offered() == 0
    for role in ("a", "b"):
        assert lab.request("DELETE", f"/quota/{role}").status == 200
    assert framework.offered() == 4


@pytest.mark.parametrize(("roles", "rescinded"), [((), 1), (("q", "q"), 2)])
def test_a_request_takes_back_an_agent_for_each_framework_of_its_role(roles, rescinded):
    lab = Lab(*["cpus:4;mem:64"] * 3)
    other = Scheduler(lab, name="other")
    assert other.offered() == 12
    for number, role in enumerate(roles):
        Scheduler(lab, name=f"f{number}", roles=[role])
    assert lab.post("/quota", {"role": "q", "guarantee": [scalar("cpus", 1)]}) == 200
    assert len(other.heard("RESCIND")) == rescinded


def test_offers_beyond_a_new_limit_are_taken_back():
    lab = Lab("cpus:4;mem:64", "cpus:4;mem:64")
    a, b = Scheduler(lab, name="a"), Scheduler(lab, name="b")
    lab.wait(2)
    before = sum(len(one.heard("OFFERS")) for one in (a, b))
    assert before
    update(lab, a={"limits": {"cpus": 0, "mem": 0}}, b={"limits": {"cpus": 100}})
    assert all(offer.framework_id != a.id for offer in lab.master.state.offers)
    assert not b.heard("RESCIND")


@pytest.mark.parametrize("version", ["documents", "1.11"])
def test_quotas_outlive_a_master_and_so_does_what_they_mean(tmp_path, version):
    lab = Lab("cpus:4;mem:64", version=version, registry=lambda: SqliteRegistry(tmp_path / "registry"))
    for role, amount in (("a", 1), ("b", 3)):
        assert lab.post("/quota", {"role": role, "guarantee": [scalar("cpus", amount)]}) == 200
    assert lab.request("DELETE", "/quota/a").status == 200
    before = dict(lab.master.state.quotas)
    lab.restart(killed=True)
    assert lab.master.state.quotas == before
    assert list(before) == ["b"]
    assert Scheduler(lab, name="c").offered() in (0, 1)


def test_what_another_process_sets_and_removes_holds_here_too(tmp_path):
    here, there = (Lab("cpus:4;mem:64", registry=lambda: SqliteRegistry(tmp_path / "registry")) for _ in range(2))
    update(there, a={"limits": {"cpus": 0}})
    assert shown(here) == shown(there) != {}
    framework = Scheduler(here, name="a")
    assert framework.offered() == 0
    assert there.request("DELETE", "/quota/a").status == 200
    assert shown(here) == {}
    assert framework.offered() == 4


# --- Weights ----------------------------------------------------------------------------------------


def put(lab: Lab, *entries: tuple[str, float], principal: str | None = None) -> None:
    lab.master.weights.update(principal, entries)


@pytest.mark.parametrize(
    ("bad", "rule", "field"),
    [
        (("b", 0.0), "weight.positive", "[1].weight"),
        (("b", -1.0), "weight.positive", "[1].weight"),
        (("b c", 1.0), "role.syntax", "[1].role"),
        (("b\f", 1.0), "role.syntax", "[1].role"),
        (("new", 1.0), "role.whitelist", None),
    ],
)
def test_weights_with_one_that_is_refused_change_nothing(bad, rule, field):
    lab = Lab(flags={"roles": "a,b"})
    with pytest.raises(RuleViolation) as caught:
        put(lab, ("a", 0.5), bad)
    assert caught.value.rule == rule
    assert field is None or caught.value.field == field
    assert field is None or "role" in field or f"{bad[1]:g} of role 'b'" in str(caught.value)
    assert weights(lab) == {}


@pytest.mark.parametrize(
    ("principal", "entries", "allowed"),
    [
        ("ops", [("a", 2.0)], True),
        ("ops", [("a", 2.0), ("b", 2.0)], False),
        ("other", [("a", 2.0)], False),
        (None, [("a", 2.0)], False),
        ("ops", [], False),
        ("admin", [], True),
        ("other", [], False),
    ],
)
def test_who_may_change_which_weights(principal, entries, allowed):
    lab = Lab(flags=acls("update_weights"))
    if allowed:
        put(lab, *entries, principal=principal)
    else:
        with pytest.raises(Forbidden) as caught:
            put(lab, *entries, principal=principal)
        assert caught.value.rule == "acl.update_weights"
    assert weights(lab) == (dict(entries) if allowed else {})


def test_weights_of_the_flag_hold_until_any_is_changed_and_are_kept_beside_it(tmp_path):
    lab = Lab(flags={"weights": "a=2,b=3"}, registry=lambda: SqliteRegistry(tmp_path / "registry"))
    assert weights(lab) == {"a": 2, "b": 3}
    assert lab.request("PUT", "/weights", [{"role": " b\t", "weight": 0.5}]).status == 200
    assert weights(lab) == {"a": 2, "b": 0.5}
    lab.restart(killed=True)
    assert weights(lab) == {"a": 2, "b": 0.5}


def test_a_leader_writes_the_weights_of_the_flag_to_a_registry_without_any(tmp_path):
    def kept(flag: str) -> object:
        lab = Lab(flags={"weights": flag}, registry=lambda: SqliteRegistry(tmp_path / "registry"), takes_over=True)
        found = lab.master.registry.records("weight")
        lab.master.close()
        return found

    assert kept("a=2,b=3") == {"a": 2, "b": 3}
    assert kept("a=7,c=1") == {"a": 2, "b": 3}


@pytest.mark.parametrize(("role", "rescinded"), [("a", 1), ("other", 0)])
def test_offers_are_taken_back_for_a_new_weight_of_a_role_that_somebody_is_in(role, rescinded):
    lab = Lab()
    framework = Scheduler(lab, name="a")
    assert framework.offered() == 4
    assert lab.request("PUT", "/weights", [{"role": role, "weight": 7}]).status == 200
    assert len(framework.heard("RESCIND")) == rescinded
    assert lab.master.state.weights == {role: 7}
