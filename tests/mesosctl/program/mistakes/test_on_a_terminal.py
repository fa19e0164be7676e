"""Errors and notes where somebody looks on: wrapped between words, with the prefix in colour and hints dim."""

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Terminal


def said(folder, *words: str, **variables: str) -> str:
    environment = InMemory(
        stdin=Terminal(),
        stderr=Terminal(),
        variables={"HOME": str(folder), "MESOSCTL_MASTER": "fake:", "COLUMNS": "60", **variables},
    )
    main(list(words), environment)
    return environment.err


def test_lines_are_wrapped_between_words(folder):
    lines = said(folder, "quota", "set", "ads", "cpus:1000", NO_COLOR="1").splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("mesosctl: not sent, because the master would answer 409: ")
    assert all(line.startswith("  ") for line in lines[1:])
    assert " ".join(line.strip() for line in lines).endswith("--force skips this check")


def test_a_command_in_a_hint_stays_in_one_line(folder):
    lines = said(
        folder, "volumes", "create", "agent-1", "v", "disk:10", "--role", "a-role-with-a-long-name"
    ).splitlines()
    assert any("mesosctl reserve agent-1 disk:10 --role a-role-with-a-long-name" in line for line in lines)


def test_the_prefix_has_a_colour_and_the_hint_is_dim(folder):
    text = said(folder, "quota", "show", "ads", TERM="xterm")
    assert text.startswith("\x1b[1;31mmesosctl:\x1b[0m no quota is set")
    assert "\x1b[2m  hint: " in text


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_forbidden(folder, variables):
    assert "\x1b" not in said(folder, "quota", "show", "ads", **variables)


def test_a_note_is_wrapped_too(folder):
    main(
        ["reserve", "agent-1", "cpus:4", "--role", "web"],
        InMemory(variables={"HOME": str(folder), "MESOSCTL_MASTER": "fake:"}),
    )
    lines = said(folder, "reserve", "agent-1", "cpus:2", "--role", "web/a", NO_COLOR="1").splitlines()
    assert max(map(len, lines)) <= 60
    told = " ".join(line.strip() for line in lines)
    assert "note: 'web' has 4 cpus reserved on agent-1; --under web refines those instead of taking more" in told
