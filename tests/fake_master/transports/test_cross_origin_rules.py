"""The rules about requests of web pages, without a socket: every method, host and origin."""

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from fake_master.http.request_response import Refusal
from fake_master.transports.cross_origin import CrossOriginRules

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH")
READING = METHODS[:3]


def refused(pages: CrossOriginRules, method: str, **headers: str) -> bool:
    """Whether the request gets 403."""
    try:
        pages.check(make_mocked_request(method, "/quota", headers=headers))
    except Refusal as refusal:
        return refusal.response.status == 403
    return False


LOCAL, OPEN = CrossOriginRules("http", is_local=True), CrossOriginRules("http", is_local=False)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://localhost", "https://127.0.0.1:5050"])
def test_a_foreign_origin_changes_nothing(origin: str) -> None:
    for pages in (LOCAL, OPEN):
        for method in METHODS:
            assert refused(pages, method, Host="127.0.0.1:5050", Origin=origin) is (method not in READING)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:5050", "localhost.evil.example", "127.0.0.1.x"])
def test_on_loopback_a_name_that_is_not_local_gets_nothing(host: str) -> None:
    """Its own origin does not help: the name was given this machine's address."""
    for method in METHODS:
        assert refused(LOCAL, method, Host=host)
        assert refused(LOCAL, method, Host=host, Origin=f"http://{host}")
        assert not refused(OPEN, method, Host=host)


def test_two_hosts_are_as_bad_as_the_worse_one() -> None:
    headers = CIMultiDict([("Host", "localhost"), ("Host", "evil.example")])
    with pytest.raises(Refusal):
        LOCAL.check(make_mocked_request("GET", "/state", headers=headers))


def test_what_is_its_own_passes() -> None:
    for host in ("", "127.0.0.1:5050", "localhost", "[::1]:5050"):
        assert not refused(LOCAL, "POST", Host=host)
    assert not refused(LOCAL, "POST", Host="localhost:5050", Origin="http://localhost:5050")
    named = CrossOriginRules(
        "http", is_local=True, names=frozenset({"mesos"}), allowed=frozenset({"http://ours.example"})
    )
    assert not refused(named, "POST", Host="mesos:5050", Origin="http://ours.example")
