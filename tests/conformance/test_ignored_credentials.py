"""A master that authenticates nobody ignores credentials: who sends them is nobody, and every principal is free."""

import json
from urllib.parse import urlencode

import pytest

from tests.conformance.callers.owning import owned, reserve, unreserve
from tests.conformance.masters.cluster import Cluster, basic

HEADERS = {
    "none": {},
    "of nobody": basic("nobody", "anything"),
    "another scheme": {"Authorization": "Bearer x"},
    "not base64": {"Authorization": "Basic %%%"},
}
PATHS = ("/state", "/slaves", "/roles", "/quota", "/weights", "/metrics/snapshot")


@pytest.mark.parametrize("sent", HEADERS)
def test_they_open_and_close_nothing(master: Cluster, sent: str) -> None:
    for path in PATHS:
        assert master.request("GET", path, headers=HEADERS[sent]).status == 200, path
    content = json.dumps({"type": "GET_ROLES"})
    headers = {"Content-Type": "application/json", "Accept": "application/json", **HEADERS[sent]}
    assert master.request("POST", "/api/v1", content=content, headers=headers).status == 200


@pytest.mark.parametrize("named", ["somebody", "else", None])
@pytest.mark.parametrize("sent", HEADERS)
def test_whoever_sends_them_reserves_in_any_name_and_undoes_it(master: Cluster, sent: str, named: str | None) -> None:
    part = [*owned("ads", named, cpus=1), *owned("web", "a third", cpus=1)]
    content = urlencode({"slaveId": master.agents()[0]["id"], "resources": json.dumps(part)})
    for path in ("/reserve", "/unreserve"):
        assert master.request("POST", path, content=content, headers=HEADERS[sent]).status == 202, path
    assert reserve(master, part) == 202
    assert unreserve(master, part, by="nobody") == 202
