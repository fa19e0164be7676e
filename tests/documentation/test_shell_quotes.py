"""Examples of the command line in help and hints: a shell must not end the command at a semicolon."""

import re

import pytest

from tests import ROOT
from tests.documentation.sentences import of_help, of_source

BARE = re.compile(r"(?<![\w:;'\"(={}])(?:[a-z-]+:[A-Za-z0-9-]+=)?[a-z]+:[0-9?][\w.?]*;[a-z]+:[0-9]")
"""Amounts with a semicolon that no quote precedes."""


@pytest.mark.parametrize("text", ["quota:web=cpus:12;mem:6GiB", "give cpus:12;mem:6144", "a change: cpus:?;mem:6GiB"])
def test_an_example_without_quotes_is_found(text):
    assert BARE.search(text)


def test_every_example_with_a_semicolon_is_quoted():
    sources = (one for path in sorted((ROOT / "mesosctl").rglob("*.py")) for one in of_source(path))
    texts = [*of_help(), *sources]
    assert [f"{one.place}: {one.text}" for one in texts if BARE.search(one.text)] == []
