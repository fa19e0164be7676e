"""A change has the effect that its dry run foretold: status, rescinds, and offers by role once the change has settled.

The change is forecast by the command line and then made by the documented request, on the same master.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.forecasts.forecast_cases import CASES
from tests.conformance.forecasts.forecast_cases_with_tasks import WITH_TASKS
from tests.conformance.forecasts.forecasting import (
    FILTERED,
    Amounts,
    Case,
    everything,
    forecast,
    offered_to,
    predicted_offers,
    predicted_rescinds,
    world_of,
)
from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS, Carrier, Pool

EVERY_CASE = CASES | WITH_TASKS


@pytest.mark.parametrize("name", EVERY_CASE)
def test_what_is_forecast_is_what_happens(
    name: str, carrier: Carrier, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    case = EVERY_CASE[name]
    if carrier is SOCKET_DOCUMENTS or (carrier is SOCKET and case.waits == FILTERED):
        pytest.skip("seconds are real on a socket, and the fake is the one of the other carriers")
    if case.newest and not carrier.profile.knows_update_quota:
        pytest.skip("this master does not know UPDATE_QUOTA")
    if case.suppresses and not carrier.profile.honours_suppressed_roles:
        pytest.skip("on this master nobody suppresses roles as it subscribes")
    # When a real master takes offers back, its allocator may run between two of them, and then shares out what it has
    # by then: seldom, and nobody can foresee it.  The same thing three times in a row is something else.
    for last in (False, False, True) if carrier is REAL else (True,):
        predicted, happened = played(case, carrier, pool, tmp_path)
        if last or predicted == happened:
            break
    assert predicted == happened


Outcome = tuple[Counter[str], dict[str, Amounts], dict[str, Amounts]]
"""The offers that were taken back, and those that each framework has in the end; of roles, if the master shows them."""


def played(case: Case, carrier: Carrier, pool: Pool, folder: Path) -> tuple[Outcome | None, Outcome | None]:
    """What was said, and what then happened; nothing of either where the change was refused all the same."""
    with world_of(case, carrier, pool, folder) as world:
        before = everything(world)
        said = forecast(world, case.words)
        assert everything(world) == before, "a dry run changes nothing"
        had = world.rescinded()
        status = world.type(case.words) if case.request is None else world.send(case.request)
        world.settle(case.waits)
        taken_back = world.rescinded() - had
        assert status == (case.old if carrier.version == "documents" and case.old is not None else case.status)
        if case.request is None:
            assert said["accepted"]
        elif said["answers"]:  # a framework that leaves asks nobody
            assert said["answers"][-1]["status"] == status, said["answers"]
        if not said["accepted"] and said["answers"][-1]["by"] == "mesosctl" and taken_back:
            # Sent all the same: a master takes offers back even for an operation that it refuses then.
            assert status == 409
            return None, None
        shows_roles = carrier.profile.roles_are_a_tree
        return (
            (predicted_rescinds(said), offered_to(said), predicted_offers(said) if shows_roles else {}),
            (taken_back, world.held(), world.offered() if shows_roles else {}),
        )
