"""A failover that is forecast, and then happens: with part of the agents back, on the real master too."""

from typing import Any

import pytest

from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.masters.carriers import IN_PROCESS, REAL, SOCKET
from tests.conformance.restarts.test_failover import LONG, TIMEOUT, Restarts, restarts, set_quota

__all__ = ["restarts"]
CPUS = 4.0
"""Of each agent."""


def wait_for_cpus(framework: Framework, cpus: float) -> None:
    """Until so many cpus have been offered, in however many offers, and no more than that."""
    offered = 0.0
    while offered < cpus:
        offered += sum(
            entry["scalar"]["value"]
            for offer in framework.offers()
            for entry in offer["resources"]
            if entry["name"] == "cpus"
        )
    assert offered == cpus


def offered_to(forecast: dict[str, Any], moment: str) -> dict[str, float]:
    return {role["name"]: role[moment]["offered"]["cpus"] for role in forecast["roles"]}


# Of 1.11 alone: before limits, the first framework is offered everything, and the second one nothing.
# Where offers are made at once, they arrive although the master may hold them back for ten minutes.
@pytest.mark.parametrize("restarts", [REAL, SOCKET, IN_PROCESS], ids=str, indirect=True)
@pytest.mark.parametrize(
    ("known", "back", "timeout", "suspended"), [(5, 4, LONG, 0), (5, 3, TIMEOUT, TIMEOUT), (2, 1, LONG, 0)]
)
def test_a_failover_is_forecast_as_it_happens(
    restarts: Restarts, known: int, back: int, timeout: int, suspended: int
) -> None:
    mine = 1.0  # with /quota the guarantee is the limit too
    first = restarts.start(known, timeout=timeout)
    set_quota(first)
    in_role = restarts.join("r1")
    wait_for_cpus(in_role, mine)
    other = restarts.join("n")
    wait_for_cpus(other, known * CPUS - mine)
    status, forecast = run_for_json(first, f"whatif failover:{back / known}")
    assert status in (0, 1), forecast
    assert forecast["changes"][0].startswith(f"failover: {back} of {known} agents {'is' if back == 1 else 'are'} back")
    assert offered_to(forecast, "before") == {"r1": mine, "n": known * CPUS - mine}
    assert forecast["offers_suspended"] == suspended
    second = restarts.start(back, timeout=timeout)
    in_role, other = restarts.join("r1", again=in_role), restarts.join("n", again=other)
    predicted = offered_to(forecast, "after")
    wait_for_cpus(in_role, predicted["r1"])
    wait_for_cpus(other, predicted["n"])
    assert sum(predicted.values()) == back * CPUS
    assert second.subscribers.now() - second.read("/state")["elected_time"] >= forecast["offers_suspended"]
