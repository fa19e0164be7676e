"""Every scenario of scenarios.toml, in this process in virtual time; on a socket where seconds suffice."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.fake_master.extensions.lending.playing import cluster_file, play
from tests.fake_master.extensions.lending.stage import in_process, on_socket

SCENARIOS = tomllib.loads((Path(__file__).parent / "scenarios.toml").read_text(encoding="utf-8"))["scenario"]
RACES = {f"R{number}" for number in range(1, 9)} - {"R7"}  # a lost agent: test_books.py
_REAL_INTERVAL = 0.2
_REAL_STOP_SECONDS = 5.0
"""Long enough to look at a task that waits for another one's end, on any machine."""
CASES = {"Over evicting (1)", "Over evicting (2)", "Unnecessary reject"}


def _name(scenario: dict[str, Any]) -> str:
    return str(scenario["id"])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_name)
def test_in_process(scenario: dict[str, Any], tmp_path: Path) -> None:
    play(in_process(cluster_file(scenario, tmp_path)), scenario["steps"])


@pytest.mark.parametrize("scenario", [entry for entry in SCENARIOS if entry.get("socket")], ids=_name)
@pytest.mark.process
@pytest.mark.socket
def test_on_a_socket(scenario: dict[str, Any], tmp_path: Path) -> None:
    stage = on_socket(cluster_file(scenario, tmp_path, _REAL_INTERVAL, _REAL_STOP_SECONDS), _REAL_INTERVAL)
    try:
        play(stage, scenario["steps"])
    finally:
        stage.cluster.stop()


def test_every_number_and_name_is_played() -> None:
    names = [scenario["id"] for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    assert set(names) >= {str(number) for number in range(1, 30)} | RACES | CASES
