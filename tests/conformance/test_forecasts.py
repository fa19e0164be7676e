"""What a dry run says would happen is what happens: status, rescinds, and offers by role once the change has settled.

The change is forecast by the command line and then made by the documented request, on the same master.
"""

from pathlib import Path

import pytest

from .carriers import SOCKET, SOCKET_OLD, Carrier, Pool
from .forecast_cases import CASES
from .forecasting import FILTERED, everything, forecast, predicted_offers, predicted_rescinds, world_of


@pytest.mark.parametrize("name", CASES)
def test_what_is_forecast_is_what_happens(
    name: str, carrier: Carrier, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    case = CASES[name]
    if carrier is SOCKET_OLD or (carrier is SOCKET and case.waits == FILTERED):
        pytest.skip("seconds are real on a socket, and the fake is the one of the other carriers")
    if case.newest and carrier.version == "1.4":
        pytest.skip("a master before 1.9 does not know UPDATE_QUOTA")
    with world_of(case, carrier, pool, tmp_path) as world:
        before = everything(world)
        said = forecast(world, case.words)
        assert everything(world) == before, "a dry run changes nothing"
        had = world.rescinded()
        status = world.type(case.words) if case.request is None else world.send(case.request)
        world.settle(case.waits)
        happened = world.rescinded() - had
        assert status == (case.old if carrier.version == "1.4" and case.old is not None else case.status)
        if case.request is None:
            assert said["accepted"]
        elif said["answers"]:  # a framework that leaves asks nobody
            assert said["answers"][-1]["status"] == status, said["answers"]
        if not said["accepted"] and said["answers"][-1]["by"] == "mesosctl" and happened:
            # Sent all the same: a master takes offers back even for an operation that it refuses then.
            assert status == 409
            return
        assert predicted_rescinds(said) == happened
        assert predicted_offers(said) == world.offered()
