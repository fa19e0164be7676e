"""Role names and the tree."""

import pytest

from mesosctl.model.errors import RuleViolation
from mesosctl.model.roles import ancestors, check_role, is_strict_subrole, role_error, top_level

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


def test_the_tree():
    assert ancestors("a/b/c") == ["a/b", "a"]
    assert top_level("a/b/c") == "a"
    assert is_strict_subrole("a/b", "a")
    assert not is_strict_subrole("ab", "a")
    assert not is_strict_subrole("a", "a")
    assert ancestors("*") == []
