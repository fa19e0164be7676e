"""A random test that fails names the command that repeats it."""

import pytest

FAILS = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_small(number):
    assert number < 3

def test_without_examples():
    assert False
"""


def test_a_failure_names_its_seed_and_profile(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILS)
    pytester.makeconftest('pytest_plugins = ("tests.helpers.profiles",)')
    words = ("-p", "no:cacheprovider", "--hypothesis-seed=20261125", "--hypothesis-profile=dev")
    ran = pytester.runpytest_inprocess(*words)
    ran.assert_outcomes(failed=2)
    (repeated,) = (line for line in ran.outlines if line.startswith("python -m pytest "))
    assert "::test_small --hypothesis-seed=20261125 --hypothesis-profile=dev" in repeated
