"""Role names and the tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.roles import (
    Priorities,
    ancestors,
    check_name,
    check_role,
    check_whitelist,
    is_strict_subrole,
    role_error,
    top_level,
    with_ancestors,
)

VALID = "foo 123 foo_123 * foo-bar foo.bar foo..bar ... foo/bar foo/.bar foo/bar/baz a/b/c/d/e/f/g/h".split()
INVALID = ["", ".", "..", "-foo", "/", "/foo", "foo/", "foo//bar", "foo/bar/", "foo bar", "foo\tbar", "foo\nbar"]
INVALID += "./. ../.. ./foo ../foo foo/. foo/.. foo/./bar foo/../bar foo/-bar foo/* foo/*/bar */foo".split()


@pytest.mark.parametrize("role", VALID)
def test_valid(role: str):
    assert role_error(role) is None


@pytest.mark.parametrize("role", INVALID)
def test_invalid(role: str):
    with pytest.raises(RuleViolation) as refused:
        check_role(role, "here")
    assert (refused.value.field, refused.value.rule) == ("here", "role.syntax")
    assert str(refused.value) == role_error(role)


def test_the_tree():
    assert ancestors("a/b/c") == ["a/b", "a"]
    assert top_level("a/b/c") == "a"
    assert is_strict_subrole("a/b", "a")
    assert not is_strict_subrole("ab", "a")
    assert not is_strict_subrole("a", "a")
    assert ancestors("*") == []


ROLES = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map("/".join)


@given(ROLES, ROLES)
def test_a_role_is_below_each_of_its_ancestors_and_below_no_other(role: str, other: str):
    above = ancestors(role)
    assert is_strict_subrole(role, other) is (other in above)
    assert [len(one) for one in above] == sorted((len(one) for one in above), reverse=True)
    assert top_level(role) == [role, *above][-1]
    assert with_ancestors([role, other]) == {role, other, *above, *ancestors(other)}


def test_with_a_whitelist_only_its_roles_and_the_default_one_exist():
    for role, whitelist in (("web", None), ("web", ["web"]), ("*", ["web"]), ("*", []), ("web/a", ["web/a"])):
        check_whitelist(role, whitelist)
    with pytest.raises(RuleViolation, match="'wbe'") as refused:
        check_whitelist("wbe", ["web", "ads"])
    for role, whitelist in (("web/a", ["web"]), ("web", ["web/a"]), ("web/a/b", ["web/a"]), ("we", ["web"])):
        with pytest.raises(RuleViolation):
            check_whitelist(role, whitelist)
    assert (refused.value.field, refused.value.rule) == ("role", "role.whitelist")
    assert "did you mean web?" in str(refused.value.hint)
    assert "--roles" in str(refused.value.hint)


def test_a_resource_is_a_standard_one_or_one_of_an_agent():
    for name in ("cpus", "mem", "disk", "gpus", "ports", "licences"):
        check_name(name, ["licences"], "where")
    for name, known, hint in (
        ("CPU", (), "did you mean cpus?"),
        ("licence", ("licences",), "did you mean licences?"),
        ("bandwidth", ("b", "a", "mem"), "known: cpus, mem, disk, gpus, ports, a, b"),
        ("zzz", "cab", "known: cpus, mem, disk, gpus, ports, a, b, c"),
        ("zzz", "fedcba", "known: cpus, mem, disk, gpus, ports, a, b, c and others"),
    ):
        with pytest.raises(RuleViolation, match=f"'{name}'") as refused:
            check_name(name, known, "where")
        assert (refused.value.field, refused.value.rule) == ("where", "resource.known")
        assert refused.value.override == "allow_new_resource"
        assert refused.value.hint == hint


def test_a_role_without_a_priority_has_that_of_its_nearest_ancestor():
    priorities = Priorities.parse(" prod = 100 ,, batch=-1, prod/db=7,")
    roles = ["prod", "prod/web", "prod/db", "prod/db/a", "batch", "production", "*"]
    assert [priorities.of(role) for role in roles] == [100, 100, 7, 7, -1, 0, 0]
    assert Priorities().of("prod") == 0


@pytest.mark.parametrize(
    ("text", "named"), [("prod", "prod"), ("-x=1", "-x"), ("a=1,b=x", "b=x"), ("a=1,a=2", "a"), ("a=1.5", "a=1.5")]
)
def test_what_is_no_priority_is_refused(text: str, named: str):
    with pytest.raises(RuleViolation, match=f"'{named}") as refused:
        Priorities.parse(text)
    assert refused.value.field == "priorities"
    assert refused.value.hint in ("prod=100,batch=1", None if named == "a" else "")


def test_a_priority_of_what_is_no_role_says_why():
    with pytest.raises(RuleViolation, match="dash"):
        Priorities.parse("-x=1")


def test_a_priority_without_a_number_is_named():
    with pytest.raises(RuleViolation) as refused:
        Priorities.parse("prod")
    assert str(refused.value) == "'prod' is not ROLE=PRIORITY"
