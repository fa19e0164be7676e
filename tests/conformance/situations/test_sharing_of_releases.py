"""Each release shares out as itself: its real master offers what its fake one may offer, in some order of the agents.

A first framework holds everything while the others subscribe and quotas are set.  Then it leaves, and what the table
says happens.  `results.json` lists what may come of each situation.
"""

from itertools import islice
from pathlib import Path

import pytest

from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.situations.orders import outcomes
from tests.conformance.situations.playing import play
from tests.conformance.situations.results import RELEASES, listed
from tests.conformance.situations.table import of_release
from tests.helpers.needs import needs

RESULTS = listed()
TRIED = 2
"""How many orders the test in process tries."""
EACH = [(release, name) for release in RELEASES for name in of_release(release)]


def test_there_are_forty_situations_for_each_release() -> None:
    for release in RELEASES:
        situations = of_release(release)
        assert len(situations) >= 40
        assert {name for name, by_release in RESULTS.items() if release in by_release} == set(situations)
        assert sum(len(RESULTS[name][release]) > 3 for name in situations) * 3 <= len(situations)


@pytest.mark.parametrize(("release", "name"), EACH)
def test_the_fake_master_offers_what_is_listed(release: str, name: str, tmp_path: Path) -> None:
    """In the first orders; `python -m tests.conformance.situations.results` plays it in all."""
    for shares in islice(outcomes(release, of_release(release)[name], tmp_path), TRIED):
        assert shares in RESULTS[name][release]


@pytest.mark.parametrize("name", of_release("1.11.0"))
@pytest.mark.parametrize(("real", "fake"), judged(*RELEASES), ids=str)
@needs(*REAL.needs)
def test_each_release_shares_out_as_itself(pool: Pool, real: Carrier, fake: Carrier, name: str) -> None:
    release = fake.profile.version
    situation = of_release(release).get(name)
    if situation is None:
        pytest.skip("this release has no limits")
    master = pool.start(real, situation.setup())
    found = play(master, situation)
    master.stop()
    assert found in RESULTS[name][release]
