"""Routing, methods and the small habits of the real HTTP front."""

import json
import sys

import pytest

from tests.fake_master.conftest import Send


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/quota", 200),
        ("/master/quota", 200),
        ("/master//quota//", 200),
        ("//quota", 200),
        ("//master/quota", 404),
        ("/maintenance//status", 404),
        ("/version//", 200),
        ("//version", 404),
        ("/metrics//snapshot", 200),
        ("//metrics/snapshot", 404),
        ("/redirect/", 404),
        ("/slave(1)//state", 200),
        ("//slave(1)/state", 404),
        ("/quota/anything/at/all", 200),
        ("/state/x", 200),
        ("/roles/", 200),
        ("/health/", 200),
        ("/state.json", 404),
        ("/", 404),
        ("/master", 404),
        ("/redirect/x", 404),
        ("/version/x", 404),
        ("/master/version", 404),
        ("/master/metrics/snapshot", 404),
        ("/metrics", 404),
        ("/api", 404),
    ],
)
def test_routes(send: Send, target: str, status: int):
    assert send("GET", target).status == status


def test_reading_endpoints_answer_every_method_and_the_others_name_theirs(send: Send):
    assert send("POST", "/state").status == 200
    assert send("BREW", "/roles").status == 200
    refused = send("PUT", "/quota")
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, POST, DELETE")
    assert send("HEAD", "/quota").status == 405


def test_head_has_the_length_and_no_body(send: Send):
    whole, head = send("GET", "/slaves"), send("HEAD", "/slaves")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(whole.body))


def test_jsonp_wraps(send: Send):
    answer = send("GET", "/quota?jsonp=cb")
    assert (answer.body, answer.headers["Content-Type"]) == (b"cb({})", "text/javascript")


def test_one_agent_by_its_id(send: Send):
    agents = json.loads(send("GET", "/slaves").body)["slaves"]
    one = json.loads(send("GET", f"/slaves?slave_id={agents[1]['id']}").body)
    assert one["slaves"] == [agents[1]]
    assert json.loads(send("GET", "/slaves?slave_id=nope").body)["slaves"] == []


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, b"{}", 400),
        ({"content_type": "text/plain"}, b"{}", 415),
        ({"content_type": "application/json; charset=utf-8"}, b"{}", 415),
        ({"content_type": "application/json"}, b"{", 400),
        ({"content_type": "application/json"}, b"[]", 400),
        ({"content_type": "application/json"}, b"{}", 400),
        ({"content_type": "application/json"}, b'{"type":"get_health"}', 400),
        ({"content_type": "application/json"}, b'{"type":"GET_METRICS"}', 400),
        ({"content_type": "application/json"}, b'{"type":"UNKNOWN"}', 501),
        ({"content_type": "application/json", "accept": "text/html"}, b'{"type":"GET_HEALTH"}', 406),
        ({"content_type": "application/json", "accept": "application/json;q=0"}, b'{"type":"GET_HEALTH"}', 406),
        ({"content_type": "application/json", "accept": "text/html, */*;q=0.1"}, b'{"type":"GET_HEALTH"}', 200),
        ({"content_type": "application/json"}, b'{"type":"GET_HEALTH","other":1}', 200),
    ],
)
def test_the_operator_api_checks_a_call_in_order(send: Send, headers: dict[str, str], body: bytes, status: int):
    assert send("POST", "/api/v1", body, **headers).status == status


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"a":' * 50_000, b'{"role":' + b"9" * 100_000 + b"}", b"\xff\xfe", b'{"role":"\\ud800"}']
)
def test_hostile_json_is_a_400(send: Send, body: bytes):
    assert send("POST", "/quota", body).status == 400
    assert send("PUT", "/weights", body).status == 400


def test_a_role_that_is_no_utf_8_is_taken_and_shown_as_it_came(send: Send):
    quota = b'{"role":"\xff","guarantee":[{"name":"cpus","type":"SCALAR","scalar":{"value":01}}]}'
    assert send("POST", "/quota", quota).status == 200
    assert b'"role":"\xff"' in send("GET", "/quota").body


def test_amounts_that_nobody_can_count(send: Send):
    (agent, _) = json.loads(send("GET", "/slaves").body)["slaves"]
    volume = {"name": "disk", "type": "SCALAR", "scalar": {"value": 1}}
    shrink = {"agent_id": {"value": agent["id"]}, "volume": volume, "subtract": {"value": 1e18}}
    call = {"type": "SHRINK_VOLUME", "shrink_volume": shrink}
    assert send("POST", "/api/v1", json.dumps(call).encode(), content_type="application/json").status == 400
    least = {"ads": {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 1e18}}}]}}}
    info = {"user": "u", "name": "n", "role": "ads", "offer_filters": least}
    call = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
    # A real master ends, because it counts thousandths in 64 bits.
    picky = send("POST", "/api/v1/scheduler", json.dumps(call).encode(), content_type="application/json")
    assert (picky.status, b"SUBSCRIBED" in b"".join(picky.stream.take() if picky.stream else ())) == (400, False)


def test_a_constraint_about_text_needs_re2(send: Send, monkeypatch: pytest.MonkeyPatch):
    """Without it the framework is not subscribed, and is told how to install it."""
    monkeypatch.setitem(sys.modules, "re2", None)
    about = {"selector": {"pseudoattribute_type": "HOSTNAME"}, "predicate": {"text_matches": {"regex": "a.*"}}}
    constraints = {"role_constraints": {"web": {"groups": [{"attribute_constraints": [about]}]}}}
    info = {"user": "u", "name": "f", "roles": ["web"], "capabilities": [{"type": "MULTI_ROLE"}]}
    call = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info, "offer_constraints": constraints}}
    answer = send("POST", "/api/v1/scheduler", json.dumps(call).encode(), content_type="application/json")
    assert answer.status == 400
    assert b"pip install '.[constraints]'" in answer.body
    assert b'"frameworks":[]' in send("GET", "/frameworks").body


def test_what_would_kill_a_real_master_is_a_400(send: Send):
    text = b'{"role":"r","guarantee":[{"name":"cpus","type":"TEXT"}]}'
    assert send("POST", "/quota", text).status == 400
    huge = b'{"role":"r","force":true,"guarantee":[{"name":"cpus","type":"SCALAR","scalar":{"value":1e13}}]}'
    assert send("POST", "/quota", huge).status == 400
    unknown = b'{"type":"REMOVE_QUOTA","remove_quota":{"role":"nobody"}}'
    assert send("POST", "/api/v1", unknown, content_type="application/json").status == 400
