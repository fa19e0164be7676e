"""A note about sizes that were probably meant in GiB: where an amount stands, and only there."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from mesosctl.cli.meanings import Meaning, parameters_of
from mesosctl.program.main import app
from tests.mesosctl.program.mistakes.mistake import typed

NOTED = "note: {0}:{1} means {1} MiB"


@pytest.mark.parametrize(
    "words",
    [
        "quota check web mem:6",
        "quota check web cpus:1 --limit mem:6",
        "quota room --task cpus:1,mem:6",
        "reserve agent-1 'cpus:1;mem:6' --role web --dry-run",
        "whatif quota:web=mem:6",
        pytest.param("whatif --each 'quota:web=cpus:{1,2};mem:6'", marks=pytest.mark.process),
        "whatif --add-agent 'cpus:1;mem:6'",
        "whatif --add-framework 'role=web;task=cpus:1,mem:6'",
        "wait reserved/agent-1/web=mem:6 --timeout 1ms",
        "wait --for reserved/agent-1/web=mem:6 --timeout 1ms",
    ],
)
def test_an_amount_is_noted_wherever_it_stands(words, tmp_path):
    ran = typed(words, tmp_path, "fake:?version=1.11")
    assert ran.status in (0, 1, 9)
    assert NOTED.format("mem", 6) in ran.err


@pytest.mark.parametrize(
    "words",
    [
        "offers list mem:6",
        "quota list mem:6",
        "reservations --role mem:6",
        "tasks list mem:6",
        "quota check web mem:0.001",
        "quota check web mem:0.5",
        "quota check web mem:32",
        "quota check web mem:6GiB",
    ],
)
def test_a_name_or_a_likely_size_is_not_noted(words, tmp_path):
    assert " MiB; for " not in typed(words, tmp_path).err


def every_command(group: Any, path: str = "mesosctl") -> Iterator[tuple[str, Any]]:
    for word in group.list_commands(None):
        command = group.get_command(None, word)
        if hasattr(command, "list_commands"):
            yield from every_command(command, f"{path} {word}")
        else:
            yield f"{path} {word}", command


def test_every_value_that_is_called_resources_or_changes_is_looked_at():
    found = {
        (path, one.name): one.name in parameters_of(command.callback, Meaning.AMOUNTS)
        for path, command in every_command(typer.main.get_command(app))
        for one in command.params
        if any(word in (one.metavar or "") for word in ("RESOURCES", "CHANGE", "CONDITION"))
    }
    assert len(found) > 10
    assert [where for where, is_marked in found.items() if not is_marked] == []
