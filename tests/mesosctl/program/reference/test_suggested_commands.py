"""Commands that hints suggest: the command line has them, and pasting one runs only that."""

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.program.reference.command_tree import Node, commands
from mesosctl.suggestion import command
from tests import ROOT
from tests.mesosctl.program.mistakes.mistake import typed

SOURCES = sorted((ROOT / "mesosctl").rglob("*.py"))
PUT_TOGETHER = re.compile(r"\bmesosctl ((?:[a-z-]+ )+?)(?:--?[a-z-]+ )*$")
"""A command at the end of a text that goes on with a value."""


every_command = cache(commands)


def suggested() -> Iterator[tuple[str, ast.Call]]:
    """Every call of `command` with its place."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if "mesosctl.suggestion" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "command":
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def found(verb: str) -> Node | None:
    node: Node | None = every_command()
    for word in verb.split():
        node = next((child for child in node.children if child.path[-1] == word), None) if node else None
    return node


def test_every_suggested_command_and_option_exists():
    calls = list(suggested())
    assert calls
    for where, call in calls:
        verb = ast.literal_eval(call.args[0])
        node = found(verb)
        assert node is not None, f"{where}: there is no {verb}"
        known = {name for option in node.options for name in option.names}
        named = [option.arg for option in call.keywords if option.arg is not None]
        for name in named:  # what stands behind ** is put together elsewhere
            written = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
            assert written in known, f"{where}: {verb} has no {written}"


def test_an_option_that_is_suggested_has_a_value_if_it_takes_one():
    for where, call in suggested():
        node = found(ast.literal_eval(call.args[0]))
        assert node is not None
        takes = {name.lstrip("-").replace("-", "_"): option.value for option in node.options for name in option.names}
        for option in call.keywords:
            if option.arg is not None and isinstance(option.value, ast.Constant):
                has_value = option.value.value is not True
                assert has_value is (takes[option.arg] is not None), f"{where}: {option.arg}"


ALONE = sorted({ast.literal_eval(call.args[0]) for _, call in suggested() if len(call.args) == 1 and not call.keywords})
"""Commands that a hint suggests as they are."""


@pytest.mark.parametrize("verb", ALONE)
def test_a_command_that_is_suggested_without_arguments_takes_none(verb: str, tmp_path: Path):
    ran = typed(verb, tmp_path)
    assert ran.status != ExitStatus.USAGE, ran.err


def put_together(path: Path) -> Iterator[int]:
    """Lines on which a text with a command goes on with a value that nobody has quoted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for part, after in zip(node.values, node.values[1:], strict=False):
                told = PUT_TOGETHER.search(str(part.value)) if isinstance(part, ast.Constant) else None
                is_value = isinstance(after, ast.FormattedValue) and "quote" not in ast.unparse(after)
                if told is not None and is_value and found(told[1]) is not None:
                    yield node.lineno


def test_no_command_is_put_together_by_hand():
    assert [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in put_together(path)] == []


OF_NO_CLUSTER = frozenset({"context", "audit", "completion", "options", "help"})
WRITTEN_OUT = frozenset(
    f"mesosctl/{name}.py"
    for name in (
        "offers/work",
        "replay/work",
        "usage/report",
        "apply/command",
        "program/reference/pages",
    )
)
"""The name of a framework, commands that read files, and a page."""


def written_out(path: Path) -> Iterator[str]:
    """Commands about a cluster that stand in a sentence as they are, so that none of them names the cluster."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "examples"]
    apart = {id(part) for call in calls for part in ast.walk(call)}
    apart |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    verbs = {node.path[1] for node in every_command().walk() if len(node.path) > 1} - OF_NO_CLUSTER
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            for told in re.finditer(r"(?<![\w-])mesosctl ([a-z-]+)", node.value):
                if told[1] in verbs:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {told[0]}"


def test_every_command_in_a_sentence_is_for_the_cluster_of_the_command():
    looked_at = [path for path in SOURCES if path.relative_to(ROOT).as_posix() not in WRITTEN_OUT]
    assert [one for path in looked_at for one in written_out(path)] == []


@given(st.lists(st.text(min_size=1), max_size=3), st.text(min_size=1))
def test_whatever_the_names_a_shell_reads_one_command_with_them(names, role):
    words = shlex.split(command("volumes destroy", *names, role=role))
    option = ["--role", role]
    apart = (
        [*option, "--", *names] if any(name.startswith("-") and name != "-" for name in names) else [*names, *option]
    )
    assert words == ["mesosctl", "volumes", "destroy", *apart]


def test_a_name_that_a_framework_has_chosen_is_not_run():
    assert command("volumes destroy", "agent-1", "v;reboot $(id)", role="web") == (
        "mesosctl volumes destroy agent-1 'v;reboot $(id)' --role web"
    )
    assert command("volumes destroy", "agent-1", "-v") == "mesosctl volumes destroy -- agent-1 -v"
