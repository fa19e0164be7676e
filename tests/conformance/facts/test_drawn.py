"""The generators of random histories draw the case of each fact, so that a difference between releases is met."""

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conformance.facts.cases import CASES, DRAWN, DRAWN_AS_CALLS, DRAWN_AS_TASKS, NEED_A_CLUSTER
from tests.conformance.histories.random_calls import CallDice
from tests.conformance.histories.random_tasks import TaskDice
from tests.conformance.histories.test_histories import STEPS_IN_A_HISTORY, History

STEPS = 1200
"""As many as are played beside a release draw each case, too, but for bad luck: six times as many do in any case."""


def test_every_case_is_drawn_or_says_why_not() -> None:
    ends = [name for name, case in CASES.items() if case.ends]
    drawn = [*DRAWN, *DRAWN_AS_CALLS, *DRAWN_AS_TASKS]
    assert Counter([*drawn, *NEED_A_CLUSTER, *ends]) == Counter(CASES.keys())


def test_histories_of_operators_draw_the_cases() -> None:
    drawn: set[str] = set()

    class Drawn(History):
        """A history without masters."""

        def __init__(self) -> None:
            super(History, self).__init__()

        def teardown(self) -> None:
            pass

        def roles_with_quota(self) -> list[str]:
            return ["r1"]

        def choose(self, role: str, known: int | None) -> str:
            return "r1"

        def play(self, *_: Any) -> None:
            pass

        def play_case(self, name: str) -> None:
            drawn.add(name)

    run_state_machine_as_test(
        Drawn,
        settings=settings(
            max_examples=STEPS // STEPS_IN_A_HISTORY,
            stateful_step_count=STEPS_IN_A_HISTORY,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert drawn == DRAWN.keys()


@pytest.mark.parametrize("member", DRAWN_AS_CALLS.values())
def test_random_calls_draw_the_cases_of_frameworks(member: str) -> None:
    dice = CallDice(1)
    bodies = [dice.request().body for _ in range(STEPS)]
    subscribed = [body for body in bodies if isinstance(body, dict) and body.get("type") == "SUBSCRIBE"]
    assert any(isinstance(body.get("subscribe"), dict) and body["subscribe"].get(member) for body in subscribed)


def test_random_tasks_have_the_id_of_another_of_the_same_accept() -> None:
    dice, again = TaskDice(1), 0
    for _ in range(STEPS):
        ids = re.findall(r'"task_id": {"value": ("[^"]*")', json.dumps(dice.operations()))
        again += len(set(ids)) < len(ids)
    assert again > STEPS / 40
