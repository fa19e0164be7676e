"""Random histories, each on masters of its own, as many as MESOS_CONFORMANCE_STEPS has room for."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

STEPS = int(os.environ.get("MESOS_CONFORMANCE_STEPS", "1000"))
"""Of all histories of a test together."""


def play_histories(start: Callable[[], RuleBasedStateMachine], steps: int, **more: Any) -> None:
    """Play histories of so many steps; `more` are settings of hypothesis."""
    run_state_machine_as_test(
        start,  # type: ignore[arg-type]  # a class or a function that makes one
        settings=settings(
            max_examples=max(1, STEPS // steps),
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **more,
        ),
    )
