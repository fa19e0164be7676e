"""A master whose answers a test writes, and a client of it in a time that only a test lets pass."""

import httpx
import pytest
import respx

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings

ONE = "http://one:5050"
TWO = "http://two:5050"
THREE = "http://three:5050"


class Clock:
    """Time that passes only while somebody sleeps or a test says so."""

    def __init__(self):
        self.now = 0.0
        self.pauses = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def notices():
    return []


@pytest.fixture
def open_master(clock, notices, net):
    opened = []

    def make(address=ONE, **settings):
        settings = {"clock": clock, "sleep": clock.sleep, "jitter": lambda: 1.0, "notice": notices.append} | settings
        master = LeadingMaster(parse_address(address), ClientSettings(**settings), httpx.MockTransport(net.handler))
        opened.append(master)
        return master

    yield make
    for master in opened:
        master.close()


@pytest.fixture
def net():
    return respx.MockRouter(assert_all_called=False, assert_all_mocked=True)


def redirect(location):
    return httpx.Response(307, headers={"Location": location})
