"""One deadline over everything of an exchange, on real sockets."""

import select
import socket
import struct
import threading
import time

import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import DeadlinePassed, NoMaster

pytestmark = pytest.mark.socket

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"version": 1}'


@pytest.fixture
def dripping():
    """A server that sends its answer byte by byte."""
    end = threading.Event()

    def serve():
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            try:
                for byte in ANSWER:
                    connection.sendall(bytes([byte]))
                    if end.wait(0.1):
                        return
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        end.set()
    thread.join()


def test_an_answer_that_drips_ends_with_the_deadline(dripping):
    started = time.monotonic()
    with (
        LeadingMaster(parse_address(dripping), ClientSettings(timeout=2)) as master,
        pytest.raises(DeadlinePassed) as caught,
    ):
        master.get("/version")
    assert caught.value.may_have_happened is True
    assert time.monotonic() - started < 0.1 * len(ANSWER)


@pytest.mark.parametrize("begun", [b"", b"\x16\x03\x03\x00\x7a\x02"])
def test_a_handshake_that_never_ends_ends_with_the_deadline_and_nothing_was_sent(begun):
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take():
            taken.append(server.accept()[0])
            taken[0].sendall(begun)

        thread = threading.Thread(target=take)
        thread.start()
        address = parse_address(f"https://127.0.0.1:{server.getsockname()[1]}")
        with LeadingMaster(address, ClientSettings(timeout=0.5)) as master, pytest.raises(DeadlinePassed) as caught:
            master.post("/quota", b"{}")
        thread.join()
        taken[0].close()
    assert not caught.value.may_have_happened


@pytest.fixture
def deaf():
    """An address that did not accept a connection: its queue is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        callers = []
        while not takes_no_more(server):
            caller = socket.socket()
            caller.setblocking(False)
            caller.connect_ex(server.getsockname())
            callers.append(caller)
            select.select([], [caller], [], 0.1)  # until it is in the queue
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        for caller in callers:
            caller.close()


def takes_no_more(server):
    """Whether more wait to be accepted than may; Linux tells of a listening socket in the place of what is unacked."""
    told = server.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
    waiting, most = struct.unpack_from("II", told, 24)
    return waiting > most


@pytest.fixture
def answering():
    def serve():
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(ANSWER)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def test_a_silent_master_leaves_time_for_the_next(deaf, answering):
    with LeadingMaster(parse_address(f"{deaf},{answering}"), ClientSettings(timeout=8)) as master:
        assert master.get("/quota") == {"version": 1}


def test_silent_masters_all(deaf):
    started = time.monotonic()
    with (
        LeadingMaster(parse_address(f"{deaf},{deaf}"), ClientSettings(timeout=0.6)) as master,
        pytest.raises((DeadlinePassed, NoMaster)) as caught,
    ):
        master.get("/quota")
    assert not caught.value.may_have_happened
    assert time.monotonic() - started < 30  # the system itself tries for minutes
