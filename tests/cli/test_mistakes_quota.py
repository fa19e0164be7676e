"""The mistakes of `mistakes_quota`, typed; and every option that a hint names is one of the command's."""

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer

import mesosctl
from mesosctl.__main__ import main
from mesosctl.cli.declared_settings import declared
from mesosctl.cli.main import app
from tests.cli.mistakes_quota import BEFORE, FILES, MISTAKES, OLDER_MISTAKES
from tests.surroundings import InMemory

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_MASTERS = {"--roles", "--zk"}
"""Flags of mesos-master that hints speak of."""
ROOT = typer.main.get_command(app)
GLOBAL = {setting.option for setting in declared()} | {"--yes", "--context", "--help", "--version"}


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name, text in FILES.items():
        Path(name).write_text(text)

    def type_words(line, version):
        environment = InMemory(
            variables={
                "MESOSCTL_MASTER": "" if "--context" in line else f"fake:?version={version}",
                "XDG_STATE_HOME": str(tmp_path),
                "XDG_CONFIG_HOME": str(tmp_path),
            }
        )
        return main(shlex.split(line), environment), environment.out, environment.err

    return type_words


def options_of(line):
    """The options of the command that words name, and all global ones."""
    command = ROOT
    for word in shlex.split(line):
        inner = command.get_command(None, word) if hasattr(command, "get_command") else None
        if inner is None:
            break
        command = inner
    return {option for parameter in command.params for option in parameter.opts} | GLOBAL


@pytest.mark.parametrize(
    ("version", "line", "status", "sentence"),
    [("1.11", *row) for row in MISTAKES] + [("1.4", *row) for row in OLDER_MISTAKES],
)
def test_a_mistake_is_refused_in_a_sentence_that_helps(typed, version, line, status, sentence):
    for words in BEFORE if version == "1.11" else ():
        assert typed(words, version)[0] == 0
    before = typed("export", version)[1]
    ended, out, err = typed(f"{line} -o wide" if "check" in line else line, version)
    assert (ended, sentence in out + err) == (status, True), out + err
    assert "Traceback" not in err
    assert typed("export", version)[1] == before
    hints = "\n".join(told for told in err.splitlines() if told.strip().startswith("hint:"))
    assert set(OPTION.findall(hints)) <= options_of(line)


def hints_in_source():
    """(file below the package, the text of a hint) for each that stands in the source."""
    folder = Path(mesosctl.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                parts = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
                text = " ".join(part for part in parts if isinstance(part, str))
                if OPTION.search(text):
                    yield path.relative_to(folder).as_posix(), text


WHO_SAYS_IT = {
    "api/files/desired_state.py": ("diff", "apply"),
    "api/files/offers.py": ("offers reserve", "offers unreserve"),
    "model/quota/rules.py": ("quota set", "quota update"),
    "operations/apply/journal.py": ("apply",),
    "operations/apply/run.py": ("apply",),
    "operations/reservations/send.py": ("reserve", "unreserve", "volumes create", "volumes destroy", "apply"),
    "operations/reservations/targets.py": ("reserve",),
    "operations/reservations/change.py": ("reserve", "volumes destroy"),
}
"""The commands in which a module that is none itself gives its hints."""


def commands_in(module):
    """Options of each command that a module of commands has, in one set: a hint is given in one of them."""
    name = "mesosctl." + module.removesuffix(".py").replace("/", ".")
    found: set[str] = set()

    def walk(group, path):
        for word, place in group.verbs.items():
            command = group.get_command(None, word)
            if place.partition(":")[0] == name:
                found.update(option for parameter in command.params for option in parameter.opts)
            if hasattr(command, "verbs"):
                if place.partition(":")[0] == name:
                    for inner in command.verbs:
                        found.update(options_of(f"{path} {word} {inner}"))
                walk(command, f"{path} {word}")

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
