"""Values that an option cannot have: both programs refuse them without the words of the libraries that find them."""

import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from fake_master.__main__ import app as fake_master
from fake_master.__main__ import main as fake_main
from mesosctl.cli.command import usage_error
from mesosctl.mesos.errors import MesosctlError
from mesosctl.program.main import app as mesosctl
from mesosctl.shells.mistakes import sentence_of

PROGRAMS = {"mesosctl": typer.main.get_command(mesosctl), "mesos-fake-master": typer.main.get_command(fake_master)}
WRONG = ("abc", "-1", "1.5", "1e999", "nan", "9" * 30, "")
OF_LIBRARIES = re.compile(
    r"Value error|Input should|unable to parse|valid (integer|number|boolean|string)|pydantic|_type"
)


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command without commands of its own, with its path."""
    if not isinstance(command, TyperGroup):
        yield path, command
        return
    ctx: Any = None
    for name in command.list_commands(ctx):
        yield from commands(command.get_command(ctx, name), (*path, name))


def valued_options() -> Iterator[tuple[str, tuple[str, ...], Any, str]]:
    """Every option with a value: its program, its command and the word; of one that many have, the first."""
    seen = set()
    for program, root in PROGRAMS.items():
        for path, command in commands(root, ()):
            for option in command.params:
                if option.param_type_name == "option" and not option.is_flag:
                    word = max(option.opts, key=len)
                    if (program, word, option.help) not in seen:
                        seen.add((program, word, option.help))
                        yield program, path, command, word


def test_no_option_says_what_a_library_says() -> None:
    said = {}
    for program, path, command, word in valued_options():
        for value in WRONG:
            words = (program, *path, word, value)
            try:
                command.make_context(" ".join((program, *path)), [f"{word}={value}"])
            except typer.TyperException as error:
                is_ours = program == "mesosctl"
                said[words] = usage_error(error, (), PROGRAMS[program]).message if is_ours else sentence_of(error)
            except MesosctlError as error:
                said[words] = error.message
    assert said["mesos-fake-master", "--port", "abc"].endswith("the value is not a whole number")
    assert {words: sentence for words, sentence in said.items() if OF_LIBRARIES.search(sentence)} == {}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--port", "abc"], "--port': the value is not a whole number (see mesos-fake-master --help)"),
        (["--port", "70000"], "the value must be less than or equal to 65535"),
        (["--log-format", "xml"], "'xml' is not one of"),
        (["--prot", "1"], "No such option: --prot"),
    ],
)
def test_the_fake_master_refuses_a_command_line_in_one_line(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(sys, "argv", ["mesos-fake-master", *words])
    with pytest.raises(SystemExit) as ended:
        fake_main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mesos-fake-master: ")
    assert sentence in line
