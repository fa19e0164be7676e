"""Random histories, each on masters of its own, as many as MESOS_CONFORMANCE_STEPS has room for."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test

from mesosctl.mesos.messages.protobuf_json.releases import NEWEST
from tests.conformance.masters.carriers import REAL, Carrier

_GIVEN = os.environ.get("MESOS_CONFORMANCE_STEPS")
STEPS = int(_GIVEN or 1000)
"""Of all histories of a test together."""
SLOW_STEPS = int(_GIVEN or 200)
"""The same, if a step starts a master, or needs a framework and its offers."""
SEED = int(os.environ.get("CONFORMANCE_SEED", os.environ.get("SEED", "1")))
"""Of everything that is drawn."""


def steps_beside(real: Carrier) -> int:
    """The steps that are played beside a real master: fewer of a release before the newest."""
    return STEPS if real.version == NEWEST or real is REAL else SLOW_STEPS


def play_histories(start: Callable[[], RuleBasedStateMachine], steps: int, total: int = STEPS, **more: Any) -> None:
    """Play histories of so many steps, `total` of all together; `more` are settings of hypothesis."""
    play = get_state_machine_test(
        start,  # type: ignore[arg-type]  # a class or a function that makes one
        settings=settings(
            max_examples=max(1, total // steps),
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **more,
        ),
    )
    seed(SEED)(play)()  # hypothesis would draw the same whatever its own seed is where CI is set
