"""Which ACL decides, and what it says (docs/explanation/documents.md, "Authorization")."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fake_master
from fake_master.state import flag_values
from fake_master.state.acls import ENFORCED, Authorizer
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.errors import BadInput, Forbidden
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from tests.helpers.lab import Lab, Scheduler

ACLS = {
    "permissive": False,
    "update_quotas": [
        {"principals": {"values": ["op"]}, "roles": {"type": "ANY"}},
        {"principals": {"values": ["dev"]}, "roles": {"values": ["dev", "dev/%"]}},
    ],
    "view_roles": [
        {"principals": {"type": "NONE"}, "roles": {"values": ["secret"]}},
        {"principals": {"type": "ANY"}, "roles": {"type": "ANY"}},
    ],
}


@pytest.mark.parametrize(
    ("action", "principal", "role", "allowed"),
    [
        ("update_quotas", "op", "anything", True),
        ("update_quotas", "dev", "dev", True),
        ("update_quotas", "dev", "dev/x/y", True),
        ("update_quotas", "dev", "devs", False),
        ("update_quotas", "dev", "web", False),
        ("update_quotas", "other", "dev", False),
        ("update_quotas", None, "dev", False),
        ("view_roles", "op", "secret", False),
        ("view_roles", None, "secret", False),
        ("view_roles", "op", "web", True),
        ("view_roles", None, "web", True),
        ("get_quotas", "op", "web", False),
    ],
)
def test_the_first_match_decides_and_permissive_does_otherwise(
    action: str, principal: str | None, role: str, allowed: bool
):
    assert Authorizer.from_json(ACLS).allows(action, principal, role) is allowed


def test_without_acls_everything_is_allowed():
    Authorizer().require("update_quotas", None, "x")


@pytest.mark.parametrize(
    ("action", "principal", "target", "sentence"),
    [
        ("update_quotas", "dev", "web", "the ACLs do not allow principal 'dev' to update quotas (role 'web')"),
        ("view_flags", None, None, "the ACLs do not allow an unauthenticated client to view flags"),
        (
            "unreserve_resources",
            "dev",
            "op",
            "the ACLs do not allow principal 'dev' to unreserve resources (reserver principal 'op')",
        ),
    ],
)
def test_a_refusal_is_an_error_of_the_tree(action: str, principal: str | None, target: str | None, sentence: str):
    with pytest.raises(Forbidden) as refused:
        Authorizer.from_json(ACLS).require(action, principal, target)
    assert refused.value.message == sentence


def test_the_quota_actions_of_older_masters_are_ignored():
    acls = Authorizer.from_json(
        {
            "set_quotas": [{"principals": {"type": "ANY"}, "roles": {"type": "NONE"}}],
            "remove_quotas": [{"principals": {"type": "ANY"}, "quota_principals": {"values": ["op"]}}],
            "access_sandboxes": [{"principals": {"type": "ANY"}, "users": {"type": "NONE"}}],
        }
    )
    assert acls.allows("update_quotas", None, "x")
    assert acls.ignored == ("set_quotas", "remove_quotas", "access_sandboxes")


def test_a_path_that_cannot_be_authorized():
    def paths(*values: str) -> dict[str, object]:
        return {"get_endpoints": [{"principals": {"type": "ANY"}, "paths": {"values": list(values)}}]}

    with pytest.raises(BadInput, match="Path: '/flags' is not an authorizable path"):
        Authorizer.from_json(paths("/metrics/snapshot", "/flags"))
    assert Authorizer.from_json(paths("/logging/toggle", "/files/debug")).ignored == ("get_endpoints",)


def test_executors_are_seen_by_the_user_of_their_command():
    acls = {"view_executors": [{"principals": {"type": "ANY"}, "users": {"values": ["u"]}}], "permissive": False}
    free = {"view_frameworks": "users", "view_tasks": "users", "view_roles": "roles", "register_frameworks": "roles"}
    free |= {"run_tasks": "users", "register_agents": "agents"}
    for action, target in free.items():
        acls[action] = [{"principals": {"type": "ANY"}, target: {"type": "ANY"}}]
    lab = Lab(flags={"acls": json.dumps(acls)})
    framework = Scheduler(lab)
    framework.launch("t", executor="e")
    assert [one["executor_id"] for one in lab.framework()["executors"]] == ["e"]
    assert len(lab.call("GET_EXECUTORS")["executors"]) == 1
    other = Scheduler(lab, name="g", user="somebody")
    other.launch("s", executor="e")
    assert lab.framework("g")["executors"] == []
    assert lab.framework("g")["tasks"] != []
    assert len(lab.call("GET_EXECUTORS")["executors"]) == 1


def test_everything_that_is_enforced_is_asked_about():
    asked = "".join(path.read_text(encoding="utf-8") for path in Path(fake_master.__file__).parent.rglob("*.py"))
    assert {action for action in ENFORCED if asked.count(f'"{action}"') < 2} == set()


@pytest.mark.parametrize(
    "broken", [[], {"permissive": 1}, {"update_quotas": [{"roles": {"type": "ANY"}}]}, {"prune_images": [{}]}]
)
def test_broken_acls_are_refused(broken: object):
    with pytest.raises((ConversionError, BadInput)):
        Authorizer.from_json(broken)


def test_broken_acls_are_named_with_the_flag():
    with pytest.raises(BadInput, match="--acls: Not expecting a JSON number for field 'permissive'") as refused:
        flag_values.authorizer('{"permissive": 1}')
    assert refused.value.field == "acls.permissive"


LEVELS = ("web", "web/shop", "web/shop/cart")


@pytest.mark.parametrize("path", ["/slaves", "GET_AGENTS"])
@given(
    stack=st.lists(st.sampled_from(LEVELS), min_size=1, unique=True).map(sorted),
    visible=st.sets(st.sampled_from(LEVELS)),
)
def test_a_reservation_is_seen_by_who_may_see_every_role_of_it(path: str, stack: list[str], visible: set[str]) -> None:
    rules = [{"principals": {"type": "ANY"}, "roles": {"values": ["*", *sorted(visible)]}}]
    rules += [{"principals": {"type": "ANY"}, "roles": {"type": "NONE"}}]
    lab = Lab(flags={"acls": json.dumps({"view_roles": rules})})
    (agent,) = lab.master.state.agents.values()
    levels = tuple(Reservation("DYNAMIC", role, "ops") for role in stack)
    for depth in range(1, len(levels) + 1):
        lab.master.reservations.reserve(None, agent, [Resource("cpus", 3000, levels[:depth])], None)
    if path == "/slaves":
        (shown,) = lab.agents
        found = [entry for owned in shown["reserved_resources_full"].values() for entry in owned]
    else:
        (shown,) = lab.call("GET_AGENTS")["agents"]
        found = [entry for entry in shown["total_resources"] if entry.get("reservations")]
    assert bool(found) is (visible >= set(stack))
