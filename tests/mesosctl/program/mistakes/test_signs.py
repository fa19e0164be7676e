"""A sign never vanishes: no option takes +2 for 2, or -0 for 0."""

import inspect
import shlex

import pytest
import typer

from mesosctl.program.main import app
from tests.mesosctl.program.mistakes.mistake import typed
from tests.mesosctl.program.mistakes.test_small_sizes import every_command


def _numbers() -> list[tuple[str, str]]:
    """Every option that is a number, with the words that its command needs."""
    found = []
    for path, command in every_command(typer.main.get_command(app)):
        given = inspect.signature(command.callback).parameters
        needed = [
            "x" if one.param_type_name == "argument" else f"{max(one.opts, key=len)} 1s"
            for one in command.params
            if one.required
        ]
        for one in command.params:
            kinds = str(given[one.name].annotation) if one.name in given else ""
            if one.param_type_name == "option" and ("int" in kinds or "float" in kinds):
                words = shlex.join(path.split()[1:])
                found.append((f"{words} {' '.join(needed)}", max(one.opts, key=len)))
    return found


NUMBERS = _numbers()


def test_there_are_numbers():
    assert len(NUMBERS) > 40


@pytest.mark.parametrize("number", ["+2", "-0"])
@pytest.mark.parametrize(("words", "option"), [pytest.param(*one, id=" ".join(one)) for one in NUMBERS])
def test_no_option_takes_a_number_with_a_sign(words, option, number, tmp_path):
    ran = typed(f"{words} {option}={number}", tmp_path, "fake:?version=1.11")
    assert ran.status in (2, 3), ran.err
    assert option.lstrip("-") in ran.err
    assert number == "-0" or "has a sign" in ran.err or "--lose-fraction" in ran.err
