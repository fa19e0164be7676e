"""The job in small; that it finds what it looks for; and that it reaches every place and every bound."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.masters.carriers import IN_PROCESS
from tests.conformance.masters.cluster import MasterDied
from tests.endurance.jobs.extremes import ACCEPTED, LARGEST, Extremes, Request
from tests.endurance.jobs.lethal import Outcome, Report, compare, look


class Answering:
    """A master that answers everything alike, or dies of it."""

    def __init__(self, outcome: Outcome | None) -> None:
        self._outcome = outcome

    def play(self, request: Request) -> Outcome:
        if self._outcome is None:
            raise MasterDied("a log\nF1129 resources.cpp:1] Check failed: x > 0\nand more")
        return self._outcome


QUOTA = next(request for request in ACCEPTED if request.door == "json POST /quota")
ACCEPT = next(request for request in ACCEPTED if request.name.startswith("ACCEPT LAUNCH"))
TAKEN, REFUSED, DEAD = Outcome(200), Outcome(400), None


@pytest.mark.parametrize(
    ("request_", "fake", "real", "found"),
    [
        (QUOTA, TAKEN, DEAD, "lethal"),
        (QUOTA, REFUSED, DEAD, "refused"),
        (QUOTA, REFUSED, TAKEN, "different"),
        (QUOTA, TAKEN, Outcome(200, changed=True), "different"),
        (QUOTA, TAKEN, TAKEN, None),
        # The answer to an ACCEPT says nothing of its operations.
        (ACCEPT, Outcome(202), DEAD, "refused"),
        (ACCEPT, Outcome(202, changed=True), DEAD, "lethal"),
    ],
)
def test_what_is_found(request_: Request, fake: Outcome, real: Outcome | None, found: str | None) -> None:
    report, said = Report(), list[str]()
    for _ in range(2):
        compare(request_, report, Answering(fake), Answering(real), said.append)
    named = {kind: list(getattr(report, kind)) for kind in ("lethal", "refused", "different")}
    assert named == {kind: [request_.name] if kind == found else [] for kind in named}
    assert len(said) == (found is not None)  # once, however often
    assert (report.deaths, report.requests) == (2 if real is None else 0, 2)
    if real is None:
        assert "Check failed: x > 0" in said[0]


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value[:20]:
            yield from numbers(part)
    elif isinstance(value, int | float):
        yield value


def test_every_request_and_every_bound_is_drawn() -> None:
    extremes = Extremes(SEED)
    drawn = [extremes.request() for _ in range(1500)]
    names = [{request.name.partition(":")[0] for request in requests} for requests in (drawn, ACCEPTED)]
    assert names[0] == {*names[1], "ACCEPT"}  # one without operations
    seen = {repr(number) for request in drawn for number in numbers(request.body)}
    assert {"0", "-0.0", "nan", "inf", "-inf", "1e+16", "9223372036854775", repr(2**63), repr(LARGEST)} <= seen
    texts = [json.dumps(request.body) for request in drawn[:500]]
    for part in ('"TEXT"', '"SET"', '"range": []', '"begin": 31005, "end": 31001', '"resources": []', '"volumes": []'):
        assert any(part in text for text in texts), part
    assert any(len(text) > 100_000 for text in texts)
    assert {request.in_protobuf for request in drawn} == {True, False}


def test_a_number_that_json_lacks_is_a_string_and_protobuf_has_it() -> None:
    body = {"type": "UPDATE_WEIGHTS", "update_weights": {"weight_infos": [{"role": "r", "weight": math.nan}]}}
    assert '"weight": "NaN"' in Request("operator", body).text()
    assert '"weight": NaN' in Request("operator", body, in_protobuf=True).text()


def test_two_fake_masters_do_not_differ() -> None:
    report = look(12, SEED, real=IN_PROCESS)
    assert (report.requests, report.deaths, report.lethal, report.different) == (12, 0, {}, {})


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.slow
def test_what_ends_a_real_master_is_refused() -> None:
    report = look(SLOW_STEPS, SEED)
    assert report.lethal == {}, report
    assert report.requests == SLOW_STEPS
