"""HTTP as masters, and what stands before them, speak it: on real sockets, byte for byte."""

import gzip
import socket
import threading
import zlib

import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import UnexpectedAnswer, Unreachable, UsageError
from tests.helpers.needs import needs
from tests.mesosctl.client.scripted import Scripted, answer


@pytest.fixture
@needs("socket")
def serve():
    opened = []

    def start(*connections):
        opened.append(Scripted(*connections))
        return opened[-1]

    yield start
    for server in opened:
        server.stop()


@pytest.fixture
def client():
    made = HttpClient()
    yield made
    made.close()


def ask(client, server, method="GET", path="/quota", body=None):
    return client.exchange(method, server.base, path, {"Accept": "application/json"}, body, Deadline(10, lambda: 0.0))


@pytest.mark.parametrize(("name", "pack"), [(b"gzip", gzip.compress), (b"deflate", zlib.compress)])
def test_a_packed_answer_is_unpacked(serve, client, name, pack):
    server = serve([answer(pack(b"{}" * 50_000), b"Content-Encoding: " + name)])
    assert ask(client, server).body == b"{}" * 50_000
    assert b"accept-encoding: gzip\r\n" in server.requests[0][1].lower()


def test_an_answer_of_several_members_is_unpacked_whole(serve, client):
    packed = gzip.compress(b"[1,") + gzip.compress(b"") + gzip.compress(b"2]" + b" " * 200_000)
    assert ask(client, serve([answer(packed, b"Content-Encoding: gzip")])).body.rstrip() == b"[1,2]"


def test_an_answer_of_nothing_at_all_is_empty_however_it_would_be_packed(serve, client):
    assert ask(client, serve([answer(b"", b"Content-Encoding: gzip")])).body == b""


ONE = gzip.compress(b"[1]", mtime=0)
MISPACKED = {
    "not at all": b"plain",
    "cut by a byte": ONE[:-1],
    "cut before its sum": ONE[:-8],
    "cut in its head": ONE[:5],
    "of another sum": ONE[:-8] + bytes(8),
    "with more after it": ONE + b"more",
    "cut in its second member": ONE + ONE[:12],
    "cut, in zlib": zlib.compress(b"[1]")[:-2],
}


@pytest.mark.parametrize("body", MISPACKED.values(), ids=MISPACKED)
def test_an_answer_that_is_not_packed_as_it_says(serve, client, body):
    with pytest.raises(UnexpectedAnswer, match="broken content encoding"):
        ask(client, serve([answer(body, b"Content-Encoding: gzip")]))


def test_chunks_and_a_body_that_ends_with_the_connection(serve, client):
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    unending = b"HTTP/1.0 200 OK\r\n\r\nfgh"
    server = serve([chunked, unending])
    assert ask(client, server).body == b"abcde"
    assert ask(client, server).body == b"fgh"
    assert [number for number, _ in server.requests] == [0, 0]


def test_an_announcement_is_no_answer(serve, client):
    server = serve([b"HTTP/1.1 100 Continue\r\n\r\n" + answer(b"x", status=b"404")])
    assert (ask(client, server, "POST", body=b"{}").status, len(server.requests)) == (404, 1)


def test_a_protocol_that_was_not_asked_for_is_no_answer(serve, client):
    with pytest.raises(Unreachable):
        ask(client, serve([b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n"]))


def test_a_connection_is_used_again(serve, client):
    server = serve([answer(b"1"), answer(b"2")])
    assert [ask(client, server).body, ask(client, server).body] == [b"1", b"2"]


@pytest.mark.parametrize("last", [answer(b"1", b"Connection: close"), answer(b"1"), answer(b"1") + b"more"])
def test_a_connection_that_ended_or_said_too_much_is_not(serve, client, last):
    server = serve([last], [answer(b"2")])
    assert ask(client, server).body == b"1"
    assert server.hung_up.wait(60)
    assert ask(client, server).body == b"2"
    assert [number for number, _ in server.requests] == [0, 1]


def test_an_answer_that_came_before_the_request_is_none(serve, client):
    twice = answer(b"1") + answer(b"1")
    server = serve([twice, answer(b"2")])
    assert ask(client, server).body == b"1"
    with pytest.raises(Unreachable, match="answered before the request was sent"):
        ask(client, server)


def test_a_master_is_not_told_what_another_gave_as_a_cookie(serve, client):
    server = serve([answer(b"1", b"Set-Cookie: a=b"), answer(b"2")])
    ask(client, server)
    ask(client, server)
    assert b"cookie" not in server.requests[1][1].lower()


def test_a_netrc_means_nothing(serve, client, monkeypatch, tmp_path):
    server = serve([answer(b"1")])
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login op password s3cret")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ask(client, server).body == b"1"
    assert b"authorization" not in server.requests[0][1].lower()


IN_CLEAR = {
    "OpenSSL": b"\x15\x03\x01\x00\x02\x02F",
    "Go": answer(b"Client sent an HTTP request to an HTTPS server.\n", status=b"400 Bad Request"),
    "nginx": answer(b"<html>The plain HTTP request was sent to HTTPS port</html>", status=b"400 Bad Request"),
    "Apache": answer(b"You're speaking plain HTTP to an SSL-enabled server port.", status=b"400 Bad Request"),
}


@pytest.mark.parametrize("said", IN_CLEAR.values(), ids=IN_CLEAR)
def test_http_where_https_is_spoken_is_said_in_words(serve, said):
    server = serve([said])
    with LeadingMaster(parse_address(server.base)) as master, pytest.raises(Unreachable) as failed:
        master.post("/quota", b"{}")
    assert failed.value.message == f"{server.base} speaks https, but the request used http"
    assert failed.value.hint == f"write https{server.base[4:]}"
    assert not failed.value.may_have_happened


@pytest.mark.socket
def test_a_refusal_is_heard_although_the_body_was_not_taken(client):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)

        def refuse():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer(b"too large", b"Connection: close", status=b"413 Too Large"))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 20):
                    pass

        thread = threading.Thread(target=refuse)
        thread.start()
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        found = client.exchange("POST", base, "/quota", {}, b"x" * 8_000_000, Deadline(10, lambda: 0.0))
        thread.join()
    assert (found.status, found.body) == (413, b"too large")


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [("GET", None, None), ("DELETE", None, None), ("POST", None, b"0"), ("PUT", b"{}", b"2"), ("DELETE", b"x", b"1")],
)
def test_a_length_is_told_where_there_may_be_a_body(serve, client, method, body, length):
    server = serve([answer()])
    ask(client, server, method, body=body)
    head = server.requests[0][1].lower()
    assert head.startswith(method.lower().encode() + b" /quota http/1.1\r\nhost: 127.0.0.1:")
    assert (b"content-length: " + (length or b"") in head) == (length is not None)


def test_a_path_that_http_cannot_hold_is_not_sent(serve, client):
    server = serve([answer()])
    with pytest.raises(Unreachable, match="no request can be sent to") as refused:
        ask(client, server, "DELETE", "/quota/a b")
    assert not refused.value.may_have_happened


def test_a_host_that_only_looks_like_one(client):
    with pytest.raises(UsageError, match="is not the address of a master"):
        client.exchange("GET", "http://\u2488.example", "/quota", {}, None, Deadline(10, lambda: 0.0))


UNSPOKEN = (9999, socket.SOCK_STREAM, 0, "", ("nowhere", 1))
"""An address of a family that no machine speaks."""


def found_at(monkeypatch, *places):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: list(places))


def test_an_address_of_a_kind_that_is_not_spoken_here_is_passed_over(serve, client, monkeypatch):
    server = serve([answer(b"x")])
    port = int(server.base.rpartition(":")[2])
    found_at(monkeypatch, UNSPOKEN, (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port)))
    assert ask(client, server).body == b"x"


def test_a_host_with_no_address_that_is_spoken_here_cannot_be_reached(client, monkeypatch):
    found_at(monkeypatch, UNSPOKEN)
    with pytest.raises(Unreachable) as failed:
        client.exchange("GET", "http://master.example:5050", "/quota", {}, None, Deadline(10, lambda: 0.0))
    assert not failed.value.may_have_happened


@pytest.mark.parametrize(
    ("begun", "hint"),
    [
        (b"", "it may speak https: write https:// in --master"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", None),
    ],
)
def test_only_a_master_that_never_answered_may_speak_https(serve, client, begun, hint):
    with pytest.raises(Unreachable) as failed:
        ask(client, serve([begun]))
    assert failed.value.hint == hint


@pytest.mark.parametrize("location", ["//\U0001f4a9:5050/quota", "//\u3002:1/quota"])
def test_a_redirect_to_what_is_no_host_is_the_masters_fault(serve, location):
    redirect = answer(b"", b"Location: " + location.encode(), status=b"307 Temporary Redirect")
    with (
        LeadingMaster(parse_address(serve([redirect]).base)) as master,
        pytest.raises(UnexpectedAnswer, match="redirects to"),
    ):
        master.get("/quota")


@pytest.mark.parametrize("location", ["//" + "a" * 70_000 + ":1/quota", "//" + "a." * 200 + ":1/quota", "x" * 70_000])
def test_a_redirect_of_any_length_is_told_shortly(serve, location):
    redirect = answer(b"", b"Location: " + location.encode(), status=b"307 Temporary Redirect")
    with LeadingMaster(parse_address(serve([redirect]).base)) as master, pytest.raises(UnexpectedAnswer) as failed:
        master.get("/quota")
    assert len(failed.value.message) < 500
