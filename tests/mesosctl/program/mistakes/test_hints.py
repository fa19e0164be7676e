"""Every option that a hint in the source names is one of the command's that gives it."""

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer

import mesosctl
from mesosctl.cli.global_options import known_settings
from mesosctl.program.main import app

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_MASTERS = {"--roles", "--zk"}
"""Flags of mesos-master that hints speak of."""
ROOT = typer.main.get_command(app)
GLOBAL = {setting.option for setting in known_settings()} | {"--yes", "--context", "--help", "--version"}


def options_of(line):
    """The options of the command that words name, and all global ones."""
    command = ROOT
    for word in shlex.split(line):
        inner = command.get_command(None, word) if hasattr(command, "get_command") else None
        if inner is None:
            break
        command = inner
    return {option for parameter in command.params for option in parameter.opts} | GLOBAL


def options_built_in(hint):
    """`--name` for each option that a hint has from the builder of options."""
    for call in ast.walk(hint):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "options_text":
            names = [option.arg or "" for option in call.keywords]
            yield from (f"--{name.replace('_', '-')}" for name in names if len(name) > 1)


def hints_in_source():
    """(file below the package, the text of a hint) for each that stands in the source."""
    folder = Path(mesosctl.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                parts = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
                text = " ".join([*(part for part in parts if isinstance(part, str)), *options_built_in(node.value)])
                if OPTION.search(text):
                    yield path.relative_to(folder).as_posix(), text


WHO_SAYS_IT = {
    "whatif/change_options.py": ("whatif", "replay"),
    "whatif/rate_limits.py": ("whatif",),
    "can_i/command_permissions.py": ("can-i",),
    "can_i/questions.py": ("can-i",),
    "can_i/work.py": ("can-i", "who-can"),
    "history/contents.py": ("usage", "tune", "replay"),
    "history/windows.py": ("usage",),
    "history/imports/run.py": ("history import",),
    "history/sqlite.py": ("history import",),
    "apply/journal.py": ("apply",),
    "cli/several_contexts.py": ("export",),
    "apply/work.py": ("apply",),
    "apply/saved_plan_file.py": ("apply",),
    "cleanup/work.py": ("cleanup",),
    "history/recorder.py": ("history record",),
    "whatif/played_demand.py": ("replay",),
    "replay/work.py": ("replay", "tune"),
    "history/asked_queue.py": ("history record",),
    "tasks/work.py": ("tasks list",),
    "tune/work.py": ("tune",),
    "usage/cost.py": ("usage",),
    "wait/work.py": ("wait",),
    "reservations/send.py": ("reserve", "unreserve", "volumes create", "volumes destroy", "apply"),
    "reading/targets.py": ("reserve",),
    "whatif/variants.py": ("whatif", "replay"),
    "reservations/work.py": ("reserve", "volumes destroy"),
}
"""The commands in which a module that is none itself gives its hints."""


def commands_in(module):
    """Options of each command that a module of commands has, in one set: a hint is given in one of them."""
    name = "mesosctl." + module.removesuffix(".py").replace("/", ".")
    found: set[str] = set()

    def walk(group, path):
        for word in group.list_commands(None):
            command = group.get_command(None, word)
            if hasattr(command, "list_commands"):
                walk(command, f"{path} {word}")
            elif command.callback.__module__ == name:
                found.update(options_of(f"{path} {word}"))

    walk(ROOT, "")
    return found


@pytest.mark.parametrize(("module", "hint"), list(hints_in_source()))
def test_a_hint_names_options_that_exist_where_it_is_given(module, hint):
    said = set(OPTION.findall(hint))
    named = OF_MASTERS.union(*(options_of(words) for words in hint.split("mesosctl ")[1:]))
    if module in WHO_SAYS_IT:
        for line in WHO_SAYS_IT[module]:
            assert said <= options_of(line) | named, line
    else:
        assert said <= commands_in(module) | named | GLOBAL
