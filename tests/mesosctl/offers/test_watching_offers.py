"""Watching offers while the master comes and goes."""

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mesosctl.client.deadline import Deadline
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import Unreachable
from mesosctl.offers.work import OfferSelection, watch_offers

GONE = Unreachable("nobody answers", may_have_happened=False)


def holding(*offer_ids: str) -> dict[str, Any]:
    offers = [
        {
            "id": {"value": name},
            "framework_id": {"value": "F"},
            "agent_id": {"value": "S"},
            "hostname": "h",
            "allocation_info": {"role": "ads"},
            "resources": [],
        }
        for name in offer_ids
    ]
    info = {"name": "shop", "id": {"value": "F"}, "user": "u"}
    return {"get_frameworks": {"frameworks": [{"framework_info": info, "offers": offers}]}}


class Scripted:
    """A master that answers what it was told to, one after the other; sleeping moves its clock."""

    def __init__(self, answers: list[Any]) -> None:
        self.now = 0.0
        self._answers = iter(answers)
        self.deadline = Deadline(10.0, lambda: self.now)
        self.settings = SimpleNamespace(sleep=self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def stream_call(self, _call: str, take: Callable[[list[bytes]], Any]) -> Any:
        answer = next(self._answers, GONE)
        if isinstance(answer, Exception):
            raise answer
        return take([json.dumps(answer).encode()])


def watching(answers: list[Any], notes: list[str]) -> Iterator[tuple[str, str]]:
    master = cast("LeadingMaster", Scripted(answers))
    for change in watch_offers(master, OfferSelection(), 1.0, notes.append):
        yield change.what, change.offer.id


def test_a_master_that_is_back_in_time_is_watched_on() -> None:
    notes: list[str] = []
    changes = watching([holding("O1"), GONE, GONE, GONE, holding("O1", "O2"), holding()], notes)
    found = [next(changes) for _ in range(4)]
    assert found == [("offered", "O1"), ("offered", "O2"), ("gone", "O1"), ("gone", "O2")]
    assert notes == ["nobody answers; trying again until it is back", "the master is back"]


def test_the_deadline_runs_anew_from_every_answer() -> None:
    away = [GONE] * 8
    changes = watching([holding("O1"), *away, holding("O1"), *away, holding("O2")], [])
    assert [next(changes) for _ in range(3)] == [("offered", "O1"), ("gone", "O1"), ("offered", "O2")]


def test_a_master_that_stays_away_ends_it() -> None:
    changes = watching([holding("O1")], [])
    assert next(changes) == ("offered", "O1")
    with pytest.raises(Unreachable):
        next(changes)


def test_a_master_that_never_was_there_is_not_waited_for() -> None:
    notes: list[str] = []
    with pytest.raises(Unreachable):
        next(watching([GONE, holding("O1")], notes))
    assert notes == []
