"""`sentences.toml` names every sentence of the five documents that states behaviour, and the tests that show it.

No sentence is without a test, and every test that it names exists.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from typing import Any

import pytest

from tests import ROOT
from tests.documentation.documents import DOCUMENTS, REGISTER, documents
from tests.documentation.pages import DOCS

NODE = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<name>\w+(?:::\w+)?)(?P<parameters>\[.+\])?")
SENTENCES: list[dict[str, Any]] = tomllib.loads(REGISTER.read_text(encoding="utf-8"))["sentences"]
NODES = sorted({test for sentence in SENTENCES for test in sentence["tests"]})


@cache
def defined(file: str) -> frozenset[str]:
    """The tests of a file, and its classes, which may make tests of state machines."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return frozenset(functions | {node.targets[0].id for node in tree.body if _is_name(node)})  # type: ignore[attr-defined]


def _is_name(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def test_every_document_is_there_and_no_other():
    assert {sentence["document"] for sentence in SENTENCES} == set(DOCUMENTS)


@pytest.mark.parametrize("path", sorted(documents()))
def test_the_page_lists_what_the_register_says(path: str):
    assert (DOCS / path).read_text(encoding="utf-8") == documents()[path], "run python -m tests.documentation --write"


def test_every_sentence_is_whole():
    for sentence in SENTENCES:
        parts = set(sentence) - {"fault", "not_plantable"}
        assert parts == {"document", "section", "says", "tests"}, sentence
        assert all(sentence.values()), sentence
        if "fault" in sentence:
            assert set(sentence["fault"]) == {"where", "text", "becomes"}, sentence


def test_hardly_any_sentence_is_without_a_planted_fault():
    """Those have the reason instead."""
    without = [sentence for sentence in SENTENCES if "not_plantable" in sentence]
    assert [sentence["says"] for sentence in without if "fault" in sentence] == []
    assert len(without) <= 10


def test_no_sentence_stands_twice():
    counts = Counter((sentence["document"], sentence["section"], sentence["says"]) for sentence in SENTENCES)
    assert [said for said, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("file", sorted({node.partition("::")[0] for node in NODES}))
def test_every_test_is_defined(file: str):
    named = {
        match["name"].partition("::")[0] for node in NODES if (match := NODE.fullmatch(node)) and match["file"] == file
    }
    assert named - defined(file) == set()


def test_every_name_has_the_form_of_a_test():
    assert [node for node in NODES if NODE.fullmatch(node) is None] == []


@pytest.mark.process
@pytest.mark.slow
def test_every_test_is_collected():
    """With its parameters, as pytest names it."""
    files = sorted({node.partition("::")[0] for node in NODES})
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "--all", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout.splitlines()
    found = set(collected) | {line.partition("[")[0] for line in collected}
    assert [node for node in NODES if node not in found] == []
