"""Random histories with the driver of a real libmesos, on the fake and on the real master: no step differs.

MESOS_DRIVER_HISTORIES says how many are played, and MESOS_DRIVER_STEPS how long each is.
"""

import os

import pytest

from tests.conformance.masters.carriers import REAL, Pool
from tests.fake_master.driver.conftest import FAKE
from tests.fake_master.driver.histories import SETUP, Player, Told
from tests.fake_master.driver.history_steps import draw
from tests.fake_master.driver.hosting import Program

HISTORIES = int(os.environ.get("MESOS_DRIVER_HISTORIES", "2"))
STEPS = int(os.environ.get("MESOS_DRIVER_STEPS", "40"))

pytestmark = [pytest.mark.socket, pytest.mark.process, pytest.mark.real_master, pytest.mark.slow]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_step_differs(seed: int, host: Program, pool: Pool) -> None:
    masters = [pool.start(carrier, SETUP) for carrier in (REAL, FAKE)]
    players = [Player(host, master) for master in masters]
    played = []
    try:
        for step in draw(seed, STEPS):
            played.append(step)
            wanted, given = (player.play(step) for player in players)
            assert given == wanted, f"step {len(played)}, after {played[-4:]}: {_differences(wanted, given)}"
    finally:
        for player in players:
            player.close()
        for master in masters:
            master.stop()


def _differences(wanted: Told, given: Told) -> str:
    """What the real master alone told, and what the fake alone."""
    real, fake = [[*told.heard, *told.offers] for told in (wanted, given)]
    return f"only the real: {[o for o in real if o not in fake]}, only the fake: {[o for o in fake if o not in real]}"
