"""An interruption while a change's connection is being made: nothing was sent, and nothing is said to be open."""

import socket

import pytest

from mesosctl.changes.confirm import confirm
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.quota.replacement import replace_quota


class Silent:
    """A connection that takes what is written; whoever reads from it is interrupted."""

    def settimeout(self, seconds):
        pass

    def setsockopt(self, *_):
        pass

    def connect(self, address):
        pass

    def sendall(self, data):
        pass

    def recv(self, size):
        raise KeyboardInterrupt

    def close(self):
        pass


class NeverConnected(Silent):
    def connect(self, address):
        raise KeyboardInterrupt


@pytest.fixture
def master(monkeypatch):
    """A master on the network, as far as the sockets of the client are one."""
    place = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 5050))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [place])
    with LeadingMaster(parse_address("http://192.0.2.1:5050")) as opened:
        yield opened


def interrupted(master):
    with pytest.raises(KeyboardInterrupt) as stopped:
        confirm(master, lambda: master.post("/quota", b"{}"), lambda: True, what="the new quota of 'dev'")
    return getattr(stopped.value, "__notes__", [])


def test_while_it_connects_nothing_was_sent(master, monkeypatch):
    monkeypatch.setattr(socket, "socket", lambda *_: NeverConnected())
    assert interrupted(master) == []
    assert master.changes_sent == 0


def test_after_that_it_may_have_been(master, monkeypatch):
    monkeypatch.setattr(socket, "socket", lambda *_: Silent())
    (said,) = interrupted(master)
    assert said.startswith("the new quota of 'dev' was sent; ")
    assert said.endswith(" is unknown: check with mesosctl quota list")
    assert master.changes_sent == 1


def test_a_quota_whose_removal_was_never_sent_is_not_looked_for(master, monkeypatch):
    monkeypatch.setattr(socket, "socket", lambda *_: NeverConnected())
    before, wanted = (Quota(Quantities({"cpus": amount}), Limits()) for amount in (1000, 2000))
    with pytest.raises(KeyboardInterrupt) as stopped:
        replace_quota(master, "dev", before, wanted, force=False, wait=True)
    assert not hasattr(stopped.value, "__notes__")
