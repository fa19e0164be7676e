"""Random requests to the fake master: it answers each, within bounds, never with a 5xx, and its books balance."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.endurance.fuzz.lab import Lab
from tests.endurance.fuzz.requests import ENDPOINTS, Sent, any_request, protobuf_requests, requests_to

EXAMPLES = int(os.environ.get("MESOSCTL_FUZZ_EXAMPLES", "100"))
patient = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("version", ["documents", "1.11"])
@patient
@given(plan=st.lists(any_request, min_size=2, max_size=8))
def test_a_history_of_odd_requests(version: str, plan: list[Sent]) -> None:
    lab = Lab(version)
    for sent in plan:
        lab.send(sent)
    lab.wait(20)
    lab.check()


@pytest.mark.parametrize("route", ENDPOINTS.routes, ids=lambda route: route.path)
@settings(patient, max_examples=max(10, EXAMPLES // 5))
@given(data=st.data())
def test_every_route(route: object, data: st.DataObject) -> None:
    lab = Lab("1.11")
    lab.send(data.draw(requests_to(route)))
    lab.check()


@patient
@given(plan=st.lists(protobuf_requests() | any_request, min_size=2, max_size=8))
def test_a_history_of_odd_requests_in_protobuf(plan: list[Sent]) -> None:
    lab = Lab("1.11")
    for sent in plan:
        lab.send(sent)
    lab.wait(20)
    lab.check()
