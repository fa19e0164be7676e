"""Drawn situations: what a real master offers is what the fake one of its release offers in some order of the agents.

CONFORMANCE_SEED draws others, and CONFORMANCE_SITUATIONS says how many there are of each release.
"""

import itertools
import os
from pathlib import Path

import pytest

from tests.conformance.histories.playing import SEED
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.situations.drawing import drawn
from tests.conformance.situations.orders import outcomes
from tests.conformance.situations.playing import Situation, play
from tests.helpers.needs import needs

NUMBER = int(os.environ.get("CONFORMANCE_SITUATIONS", "3"))


TRIED, MOST_RESULTS = 16, 3


def with_few_results(release: str, seed: str, folder: Path) -> Situation:
    """A drawn situation in which the first orders have few results, so that no other is likely to be missed."""
    for attempt in itertools.count():
        situation = drawn(release, f"{seed} {attempt}")
        if (
            len({str(shares) for shares in itertools.islice(outcomes(release, situation, folder), TRIED)})
            <= MOST_RESULTS
        ):
            return situation
    raise AssertionError


@pytest.mark.parametrize("number", range(NUMBER))
@pytest.mark.parametrize(("real", "fake"), judged("1.4.3", "1.8.1", "1.11.0"), ids=str)
@needs(*REAL.needs)
def test_what_a_real_master_offers_is_among_what_the_fake_one_may(
    pool: Pool, real: Carrier, fake: Carrier, number: int, tmp_path: Path
) -> None:
    release = fake.profile.version
    situation = with_few_results(release, f"{SEED} {number}", tmp_path)
    master = pool.start(real, situation.setup())
    found = play(master, situation)
    master.stop()
    assert any(shares == found for shares in outcomes(release, situation, tmp_path)), (situation, found)
