"""Which ACL decides, and what it says (spec/quota.md §10)."""

import pytest

from fake_master.state.acls import Authorizer
from mesosctl.model.errors import BadInput, Forbidden

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


def test_the_names_of_older_masters_are_understood():
    old = Authorizer.from_json(
        {"permissive": False, "set_quotas": [{"principals": {"values": ["op"]}, "roles": {"type": "ANY"}}]}
    )
    assert old.allows("update_quotas", "op", "x")


@pytest.mark.parametrize("broken", [[], {"permissive": 1}, {"update_quotas": [{"roles": {"type": "ANY"}}]}])
def test_broken_acls_are_refused(broken: object):
    with pytest.raises(BadInput, match="--acls"):
        Authorizer.from_json(broken)
