"""The commands that hints and notes suggest, and whether the command line accepts them as they are pasted."""

import re
import shlex
from collections.abc import Iterator

import pytest

from mesosctl.__main__ import main
from mesosctl.cli.command import Command
from mesosctl.program.reference.command_tree import commands
from tests.helpers.surroundings import InMemory

_TOKEN = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'"])+""")
_PROSE = frozenset(
    "shows writes reads lists sets removes chooses changes checks finishes releases or and to with first is make makes "
    "alone for instead destroys creates see which that before after allows adds gives needs skips the a it on "
    "what".split()
)
"""Words of a sentence that go on after a command."""


def suggested(said: str) -> Iterator[str]:
    """Each command in what was said: from the name of the program to the end of the clause."""
    for line in said.splitlines():
        told = re.match(r"  hint: (.*)|mesosctl: (?:note|WARNING): (.*)", line)
        if told is None:
            continue
        text = told[1] or told[2]
        for start in re.finditer(r"(?<![\w/-])mesosctl ", text):
            words = list(_clause(text[start.end() :]))
            if words:
                yield " ".join(words)


def _clause(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        plain = token.rstrip(";,.)?") if token.count("(") < token.count(")") or token[-1] in ";,.?" else token
        if plain in _PROSE or not plain:
            return
        yield plain
        if plain != token:
            return


def check_pastes(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every command that was suggested to the parser; nothing is run.  Of one that is only named, see its help."""
    names = {" ".join(node.path).removeprefix("mesosctl ") for node in commands().walk()}
    with monkeypatch.context() as patch:
        patch.setattr(Command, "invoke", lambda *_: 0)
        for words in suggested(said):
            environment = InMemory()
            pasted = [*shlex.split(words), *(["--help"] if words in names else [])]
            assert main(pasted, environment) == 0, (words, environment.err)
