"""Every scenario of scenarios.toml, on the sorter or on the allocator."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fake_master.allocator.options import Options
from mesosctl.mesos.roles import Priorities
from tests.fake_master.allocator.player import Player
from tests.fake_master.allocator.sorter_player import SorterPlayer

DATA = tomllib.loads((Path(__file__).parent / "scenarios.toml").read_text(encoding="utf-8"))


def options_of(scenario: dict[str, Any]) -> Options:
    said = scenario.get("options", {})
    return Options(
        allocation_interval=said.get("interval", 1.0),
        fair_sharing_excluded_resource_names=frozenset(said.get("excluded", ())),
        reservations_consume_quota=not said.get("seed_profile", False),
    )


@pytest.mark.parametrize("scenario", DATA["sorter"] + DATA["scenario"], ids=lambda scenario: scenario["id"])
def test_scenario(scenario: dict[str, Any]) -> None:
    play(SorterPlayer() if scenario in DATA["sorter"] else Player(options_of(scenario)), scenario)


@pytest.mark.parametrize("scenario", DATA["scenario"], ids=lambda scenario: scenario["id"])
def test_strict_priority_among_equals(scenario: dict[str, Any]) -> None:
    """Where nobody has a priority, the strict priority module shares as the other one."""
    play(Player(options_of(scenario), Priorities()), scenario)


def play(player: Player | SorterPlayer, scenario: dict[str, Any]) -> None:
    steps = scenario["steps"].strip().splitlines()
    for number, step in enumerate(steps, 1):
        try:
            player.play(step)
        except AssertionError as wrong:
            wrong.add_note(f"{scenario['id']}, step {number}: {step}")
            raise


def test_every_identifier_is_used_once() -> None:
    identifiers = [scenario["id"] for scenario in DATA["sorter"] + DATA["scenario"]]
    assert len(set(identifiers)) == len(identifiers)
