"""The syntax of ids; each case was put to a Mesos 1.11.0 master as the id of a framework."""

import pytest

from mesosctl.mesos.roles import id_error


@pytest.mark.parametrize(
    "name", ["a b", " a", "a.", "..a", "-a", "*", "a:b", "X", "#?%20&", "é", "\u2028", "\x85", "x" * 255, "é" * 127]
)
def test_what_may_be(name: str) -> None:
    assert id_error(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\nb", "\0", "\x1f", "\x7f", "x" * 256, "é" * 128])
def test_what_may_not_be(name: str) -> None:
    assert id_error(name)
