"""The table of rooms fits the tree, and what a mutant changes is read rightly."""

import ast

import pytest

from tests import ROOT
from tests.mutants.__main__ import Mutant, rooms, survivors


@pytest.mark.parametrize("room", rooms().values(), ids=list(rooms()))
def test_a_room_names_what_exists(room):
    missing = [path for path in (*room.code, *room.tests, *room.wider) if not (ROOT / path).exists()]
    assert not missing


def test_a_known_survivor_is_of_a_function_that_exists_and_has_a_reason():
    for survivor in survivors():
        module, _, name = survivor["in"].partition(":")
        tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        names = {
            f"{scope.name}.{node.name}" if isinstance(scope, ast.ClassDef) else node.name
            for scope in ast.walk(tree)
            if isinstance(scope, ast.Module | ast.ClassDef)
            for node in scope.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert name in names
        assert survivor["why"]


@pytest.mark.parametrize(
    ("removed", "added", "is_wording"),
    [
        ('"the role is busy",', '"XXthe role is busyXX",', True),
        ('hint="leave it out",', 'hint="LEAVE IT OUT",', True),
        ('rule="quota.number",', 'rule="XXquota.numberXX",', False),
        ('hint="leave it out",', "hint=None,", False),
        ('hint="leave it out",', "", False),
        ("if value < 0:", "if value <= 0:", False),
        ('"SELECT name FROM names WHERE text = ?",', '"XXSELECT name FROM names WHERE text = ?XX",', False),
        ('f" WHERE cluster = ? AND {noun} = ?",', 'f"XX WHERE cluster = ? AND {noun} = ?XX",', False),
        ('"CREATE needs a principal",', '"XXCREATE needs a principalXX",', True),
    ],
)
def test_only_the_text_of_a_sentence_is_wording(removed, added, is_wording):
    assert Mutant("module.x_name__mutmut_1", "module:name", removed, added).is_wording is is_wording
