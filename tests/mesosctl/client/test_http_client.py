"""One request over a real socket: its limits, its TLS files, and connections that break."""

import socket
import sys
import threading
import types

import httpx
import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings, Tls
from mesosctl.mesos.errors import BadInput, TlsFailure, UnexpectedAnswer, Unreachable
from tests.helpers.needs import needs


def deadline():
    return Deadline(10, lambda: 0.0)


def test_an_answer_beyond_all_measure_is_not_read_to_its_end():
    read = []

    def endless():
        while True:
            read.append(1)
            yield b"x" * 100

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=endless()))
    with pytest.raises(UnexpectedAnswer, match="more than 1000 bytes"):
        HttpClient(transport=transport, largest=1000).exchange("GET", "http://one", "/slaves", {}, None, deadline())
    assert len(read) == 11


@pytest.mark.parametrize("tls", [Tls(ca_file="/nonexistent"), Tls(cert_file="/nonexistent")])
def test_tls_files_that_cannot_be_used(tls):
    with pytest.raises(BadInput):
        HttpClient(tls=tls).exchange("GET", "https://one", "/quota", {}, None, deadline())


@pytest.fixture
@needs("socket")
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


def test_a_closed_port_is_certainly_not_sent(listener):
    port = listener.getsockname()[1]
    listener.close()
    with pytest.raises(Unreachable) as caught:
        HttpClient().exchange("POST", f"http://127.0.0.1:{port}", "/quota", {}, b"{}", deadline())
    assert caught.value.may_have_happened is False
    assert caught.value.message.endswith("cannot be reached: Connection refused")


def serve_once(listener, answer):
    """Take one connection, read what comes first, write `answer` and close; returns what was read."""
    seen = []

    def act():
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        with connection:
            seen.append(connection.recv(65536))
            if answer:
                connection.sendall(answer)

    thread = threading.Thread(target=act)
    thread.start()
    return thread, seen


def exchange(listener, base="http://127.0.0.1:{}", path="/quota", answer=b""):
    thread, seen = serve_once(listener, answer)
    client = HttpClient()
    try:
        return client.exchange("DELETE", base.format(listener.getsockname()[1]), path, {}, None, deadline()), seen
    finally:
        client.close()
        thread.join()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def test_a_connection_cut_after_the_request_left(listener):
    with pytest.raises(Unreachable) as caught:
        exchange(listener)
    assert caught.value.may_have_happened is True


@pytest.mark.parametrize("role", ["dev", "50%", "a%41b", 'a"b', "a\\b", "[x]", "..", "a//b", "a?b"])
def test_the_path_on_the_wire_is_the_role_byte_for_byte(listener, role):
    answer, seen = exchange(listener, path=f"/quota/{role}", answer=OK)
    assert answer.status == 200
    assert seen[0].startswith(f"DELETE /quota/{role} HTTP/1.1\r\n".encode())


def test_tls_with_something_that_does_not_speak_it(listener):
    with pytest.raises(TlsFailure) as caught:
        exchange(listener, base="https://127.0.0.1:{}", answer=b"HTTP/1.1 400 Bad Request\r\n\r\n")
    assert "_ssl.c" not in caught.value.message


def test_something_that_is_not_http(listener):
    with pytest.raises(Unreachable, match="something that is not HTTP") as caught:
        exchange(listener, answer=b"\x16\x03\x01garbage\r\n\r\n")
    assert caught.value.may_have_happened is True


def test_half_an_answer_is_a_broken_connection(listener):
    with pytest.raises(Unreachable) as caught:
        exchange(listener, answer=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    assert caught.value.may_have_happened is True


class Known(httpx.MockTransport):
    """What stands behind a `fake:` address: a master that only knows its version."""

    closed = False

    def close(self):
        self.closed = True


def test_a_fake_address_opens_the_transport_of_the_fake_master(monkeypatch):
    asked, transport = [], Known(lambda _: httpx.Response(200, json={"version": "1.4.0", "git_tag": "documents"}))
    passed: list[float] = []
    monkeypatch.setattr(transport, "pass_time", passed.append, raising=False)

    def open_transport(address, longest_wait, notice):
        asked.append(address)
        return transport

    monkeypatch.setitem(sys.modules, "fake_master", types.SimpleNamespace(open_transport=open_transport))
    with LeadingMaster(parse_address("fake:small.toml?fresh"), ClientSettings(sleep=lambda _: None)) as master:
        assert master.profile.name == "documents"
        master.settings.sleep(2.0)
    assert (asked, passed) == (["fake:small.toml?fresh"], [2.0]), "the master is told how long its client waits"
    assert transport.closed
