"""Drawn changes that are forecast from a live master: they come true there, or the forecast says what it cannot know.

CONFORMANCE_SEED draws others, and CONFORMANCE_ROUNDS says how many there are of each release.
"""

import os
from pathlib import Path

import pytest

from tests.conformance.forecasts.forecasting import Amounts, Case, forecast, offered_to, world_of
from tests.conformance.forecasts.random_rounds import in_order, make, with_one_result
from tests.conformance.histories.playing import SEED
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.helpers.needs import needs

NUMBER = int(os.environ.get("CONFORMANCE_ROUNDS", "2"))
ATTEMPTS = 2
"""The allocator of a real master may run between two things that happen in one change."""


def played(case: Case, carrier: Carrier, pool: Pool, folder: Path) -> tuple[list[Amounts], list[Amounts], bool]:
    """The offers that were foretold, those that each framework then has, and whether suppression was not known."""
    with world_of(case, carrier, pool, folder) as world:
        said = forecast(world, case.words)
        is_unsure = any(unknown["what"].startswith("suppressed roles") for unknown in said["unknowns"])
        return in_order(world, offered_to(said)), make(world, case), is_unsure


@pytest.mark.parametrize("number", range(NUMBER))
@pytest.mark.parametrize(("real", "fake"), judged("1.4.3", "1.8.1", "1.11.0"), ids=str)
@needs(*REAL.needs)
def test_a_drawn_forecast_comes_true(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: Carrier, fake: Carrier, number: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    case = with_one_result(f"{SEED} {number}", fake, pool, tmp_path)
    for _attempt in range(ATTEMPTS):
        said, happened, is_unsure = played(case, real, pool, tmp_path)
        if said == happened:
            break
    assert said == happened or (case.suppresses and is_unsure), case
