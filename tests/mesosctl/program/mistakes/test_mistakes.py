"""Every row of the table of mistakes: the exit status, the message, the hint, and that the master is unchanged."""

import itertools
import re
import shlex
import socket
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from mesosctl.__main__ import main
from mesosctl.program.reference.command_tree import commands
from tests.helpers.places import assert_place_was_given
from tests.helpers.surroundings import InMemory
from tests.mesosctl.program.mistakes.mistake import Mistake, prepare, typed
from tests.mesosctl.program.mistakes.suggested import check_pastes
from tests.mesosctl.program.mistakes.table import MISTAKES as ROWS
from tests.mesosctl.program.mistakes.table_of_files import IN_FILES
from tests.mesosctl.program.mistakes.table_of_words import WORDS

MISTAKES = (*ROWS, *WORDS, *IN_FILES)


def _row(mistake: Mistake) -> ParameterSet:
    """A row by its words; a master that is named by its port is asked over a socket."""
    marks = [pytest.mark.socket] if "http://127" in f"{mistake.words} {mistake.on}" else []
    return pytest.param(mistake, id=f"{mistake.words} [{mistake.on}]", marks=marks)


def _assert_in_words(told: str) -> None:
    """Amounts and roles stand in an error as people write them, not in the notation of Mesos's own messages."""
    for line in told.splitlines():
        assert not re.search(r"\w\{", line), line
        # The changes of whatif are written NAME(ROLE):AMOUNT, so hints have them.
        assert line.startswith("  hint: ") or not re.search(r"\b\w+\(", line), line


@pytest.mark.parametrize("mistake", [_row(mistake) for mistake in MISTAKES])
def test_a_mistake_is_told(mistake: Mistake, folder: Path, monkeypatch: pytest.MonkeyPatch):
    prepare(mistake, folder)
    there_is = typed("export", folder, mistake.on).out
    ran = typed(mistake.words, folder, mistake.on)
    said = ran.out + ran.err if mistake.status == 1 else ran.err  # an answer that is no
    assert (ran.status, mistake.says in said, mistake.hint in said) == (mistake.status, True, True), said
    assert ran.out == "" or mistake.status < 2
    assert "Traceback" not in ran.err
    _assert_in_words(ran.err)
    assert_place_was_given(ran.err, shlex.split(mistake.words))
    check_pastes(ran.err, monkeypatch)
    assert typed("export", folder, mistake.on).out == there_is


def test_there_are_sixty_and_each_is_another():
    assert len({(mistake.words, mistake.on, *mistake.files.values()) for mistake in MISTAKES}) == len(MISTAKES) >= 60


_HINTING = [one for one in MISTAKES if one.status > 1 and "--" in one.hint and "-o json" not in one.words]


@pytest.mark.parametrize("mistake", [_row(mistake) for mistake in _HINTING])
def test_a_hint_names_options_that_exist_there(mistake: Mistake, folder: Path):
    """Options in a hint are options of the command that it names, or of the one that was typed."""
    prepare(mistake, folder)
    told = typed(mistake.words, folder, mistake.on).err
    (hint,) = [line for line in told.splitlines() if line.startswith("  hint: ")]
    nodes = {" ".join(node.path): node for node in commands().walk()}
    for text, option in re.findall(r"((?:mesosctl [^;,]*)?)(--[a-z-]+)", hint):
        below = re.search(rf"write {option} after '([^']*)'", hint)
        words = f"mesosctl {below[1]}".split() if below else (text or f"mesosctl {mistake.words}").split()
        path = max((name for name in nodes if words[: len(name.split())] == name.split()), key=len)
        assert option in {name for one in nodes[path].options for name in one.names}, (hint, path)


@pytest.mark.socket
def test_a_master_that_does_not_answer_is_given_up_in_time(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ran = typed(f"quota list --master http://127.0.0.1:{silent.getsockname()[1]} --timeout 200ms", tmp_path)
    assert (ran.status, ran.out) == (9, "")
    assert "did not answer within 0.2 s" in ran.err


def test_a_fake_master_that_is_late_is_named_by_its_address(folder: Path):
    ticks = itertools.count()
    environment = InMemory(variables={"HOME": str(folder)}, clock=lambda: float(next(ticks)))
    assert main(["quota", "list", "--master", "fake:", "--timeout", "1"], environment) == 9
    assert environment.err.startswith("mesosctl: fake: did not answer within 1 s")
