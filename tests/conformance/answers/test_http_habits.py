"""Requests as few libraries write them, and legal all the same: by raw sockets, so not in process."""

import gzip
import json
import random
import socket
import zlib

import pytest

from tests.conformance.callers.joining import quick
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS, Carrier, Pool
from tests.conformance.masters.cluster import Cluster
from tests.helpers.waiting import PATIENCE

AGENTS = quick("cpus:4;mem:2048")
CALL = json.dumps({"type": "REVIVE", "framework_id": {"value": "nobody"}})
INFO = {"user": "u", "name": "odd", "roles": ["ads"], "capabilities": [{"type": "MULTI_ROLE"}]}
SUBSCRIBE = json.dumps({"type": "SUBSCRIBE", "subscribe": {"framework_info": INFO}})


@pytest.fixture(params=(REAL, SOCKET, SOCKET_DOCUMENTS), ids=str)
def master(request: pytest.FixtureRequest, pool: Pool) -> Cluster:
    carrier: Carrier = request.param
    return pool.lend(carrier, AGENTS)


def connect(master: Cluster) -> socket.socket:
    host, _, port = master.address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), PATIENCE)


def post(target: str, content: str, *, version: str = "1.1", headers: tuple[str, ...] = ()) -> bytes:
    lines = (
        f"POST {target} HTTP/{version}",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *headers,
    )
    return ("\r\n".join(lines) + "\r\n\r\n" + content).encode()


def until(connection: socket.socket, end: bytes) -> bytes:
    """What comes up to `end`, which must come."""
    heard = b""
    while end not in heard:
        piece = connection.recv(65536)
        assert piece, heard
        heard += piece
    return heard


def status(master: Cluster, *pieces: bytes) -> int:
    """Of the answer to a request that is sent in pieces."""
    with connect(master) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return int(until(connection, b"\r\n\r\n").split()[1])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/api/v1/scheduler", 400),  # for the framework is unknown
        ("//api/v1/scheduler", 400),
        ("/master//api/v1/scheduler//", 400),
        ("http://elsewhere:1/api/v1/scheduler?a=b", 400),
        ("/api//v1/scheduler", 404),
        ("//master/api/v1/scheduler", 404),
    ],
)
def test_targets(master: Cluster, target: str, expected: int) -> None:
    assert status(master, post(target, CALL)) == expected


PACKED = gzip.compress(b'{"type": "GET_HEALTH"}', mtime=0)


@pytest.mark.parametrize(
    ("packed", "expected"),
    [
        (PACKED, 200),
        (PACKED[:-8], 500),  # the client's fault, and libprocess says that it is its own
        (PACKED[:-1], 500),
        (PACKED[:-8] + bytes(8), 500),
        (PACKED + PACKED, 500),
        (b"no gzip", 500),
        (zlib.compress(b'{"type": "GET_HEALTH"}'), 500),
        (gzip.compress(b"", mtime=0), 400),
    ],
    ids=["whole", "no trailer", "half a trailer", "another sum", "two members", "no gzip", "zlib", "nothing packed"],
)
def test_a_packed_body(master: Cluster, packed: bytes, expected: int) -> None:
    head = post("/api/v1", "", headers=("Content-Encoding: gzip",)).replace(b"Length: 0", b"Length: %d" % len(packed))
    assert status(master, head + packed) == expected


def test_one_byte_at_a_time(master: Cluster) -> None:
    assert status(master, *(bytes([byte]) for byte in post("/api/v1/scheduler", CALL))) == 400


def test_a_call_in_chunks(master: Cluster) -> None:
    head = post("/api/v1/scheduler", "").replace(b"Content-Length: 0", b"transfer-encoding: chunked")
    chunks = [f"{len(CALL[at : at + 7]):x}\r\n{CALL[at : at + 7]}\r\n".encode() for at in range(0, len(CALL), 7)]
    assert status(master, head, *chunks, b"0\r\n\r\n") == 400


@pytest.mark.parametrize(("version", "stays"), [("1.0", False), ("1.1", True)])
def test_who_closes(master: Cluster, version: str, stays: bool) -> None:
    """A client of 1.0 is not kept unless it asks for that; `Connection: close` is as good as 1.0."""
    for headers, kept in (((), stays), (("Connection: close",), False), (("Connection: keep-alive",), True)):
        with connect(master) as connection:
            connection.sendall(post("/api/v1/scheduler", CALL, version=version, headers=headers))
            until(connection, b"found")
            if kept:
                connection.sendall(post("/api/v1/scheduler", CALL, version=version, headers=headers))
                until(connection, b"found")
            else:
                assert connection.recv(1) == b""


@pytest.mark.parametrize("master", [SOCKET, SOCKET_DOCUMENTS], indirect=True, ids=str)
def test_who_says_no_more_is_answered_still(master: Cluster) -> None:
    """A real master that reads the end together with the call says nothing at all: sometimes it does."""
    with connect(master) as connection:
        connection.sendall(post("/api/v1/scheduler", CALL))
        connection.shutdown(socket.SHUT_WR)
        until(connection, b"found")
        assert connection.recv(1) == b""


def test_a_subscriber_that_says_no_more_is_gone(master: Cluster) -> None:
    with connect(master) as connection:
        connection.sendall(post("/api/v1/scheduler", SUBSCRIBE.replace("odd", "deaf")))
        until(connection, b"HEARTBEAT")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
        gone = master.subscribers.wait(
            lambda: all(entry["name"] != "deaf" for entry in master.read("/frameworks")["frameworks"])
        )
        assert gone


@pytest.mark.parametrize(
    ("version", "headers"),
    [
        ("1.0", ()),
        ("1.0", ("connection: keep-alive",)),
        ("1.1", ("Connection: close",)),
        ("1.1", ("accept-encoding: gzip, deflate", "ACCEPT: */*")),
    ],
)
def test_a_subscription(master: Cluster, version: str, headers: tuple[str, ...]) -> None:
    """Whatever was asked with, it is a stream in chunks, and whoever hangs up is gone."""
    with connect(master) as connection:
        connection.sendall(post("/api/v1/scheduler", SUBSCRIBE, version=version, headers=headers))
        heard = until(connection, b'"OFFERS"')
        head, _, rest = heard.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\ntransfer-encoding: chunked" in head.lower()
        assert b"content-encoding" not in head.lower()
        size, _, record = rest.partition(b"\r\n")
        length, _, event = record[: int(size, 16)].partition(b"\n")
        assert len(event) == int(length)  # one record a chunk
        framework_id = json.loads(event)["subscribed"]["framework_id"]["value"]
    gone = master.subscribers.wait(
        lambda: all(entry["id"] != framework_id for entry in master.read("/frameworks")["frameworks"])
    )
    assert gone


def asked(master: Cluster, *headers: str, target: str = "/state") -> dict[str, str]:
    """The headers of the answer to a GET, or to a call that reads, by their names in small letters."""
    call = json.dumps({"type": "GET_HEALTH"}) if target == "/api/v1" else ""
    request = post(target, call, headers=headers)
    with connect(master) as connection:
        connection.sendall(request if call else request.replace(b"POST", b"GET", 1))
        head = until(connection, b"\r\n\r\n").partition(b"\r\n\r\n")[0].decode()
    status, *lines = head.split("\r\n")
    found = dict(line.split(": ", 1) for line in lines)
    return {":status": status.split()[1]} | {name.lower(): value for name, value in found.items()}


def is_packed(master: Cluster, *headers: str, target: str = "/state") -> bool:
    return asked(master, *headers, target=target).get("content-encoding") == "gzip"


@pytest.mark.parametrize(
    ("headers", "packed"),
    [
        ((), False),
        (("Accept-Encoding: gzip",), True),
        (("Accept-Encoding: GZIP",), True),
        (("Accept-Encoding: gzip;q=0",), False),
        (("Accept-Encoding: gzip ; q = 0.0, *",), False),
        (("Accept-Encoding: *",), True),
        (("Accept-Encoding: identity;q=0",), False),
        (("Accept-Encoding: identity;q=0, *;q=0.1",), True),
        (("Accept-Encoding: x-gzip, gzipped",), False),
        (("Accept-Encoding: br, gzip;q=1e-3",), True),
        (("Accept-Encoding: gzip;q=yes",), False),
        (("Accept-Encoding: gzip;q=0", "Accept-Encoding: gzip"), True),
        (("Accept-Encoding: gzip", "Accept-Encoding: gzip;q=0"), False),
    ],
)
def test_who_is_answered_in_gzip(master: Cluster, headers: tuple[str, ...], packed: bool) -> None:
    assert is_packed(master, *headers) is packed


def test_what_is_short_is_not_packed(master: Cluster) -> None:
    around = len(master.request("GET", "/weights?jsonp=f").content) - len("f")
    for size, packed in ((1023, False), (1024, True)):
        assert is_packed(master, "Accept-Encoding: gzip", target=f"/weights?jsonp={'f' * (size - around)}") is packed


WORDS = (
    *("gzip", "GZip", "*", "identity", "br", "gzip2", "application/json", "application/*", "*/*", "Application/JSON"),
    *("application/x-protobuf", "text/html", "q", "q=0", "q=0.0", "q=1", "q=.5", "q=1e-3", "q=-1", "q=x", "q=inf"),
    *("q=nan", "q=0x1", "q=", "Q=0", "a=b", "", " ", "\t", "="),
)


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
def test_any_header_is_read_alike(pool: Pool) -> None:
    """Words in any order, with any separators between them, of what a client takes."""
    dice = random.Random(SEED)
    real, fake = pool.lend(REAL, AGENTS), pool.lend(SOCKET, AGENTS)
    for _ in range(SLOW_STEPS):
        text = "".join(
            dice.choice(WORDS) + dice.choice((",", ";", ";", ", ", " ; ")) for _ in range(dice.randint(1, 5))
        )
        given = dice.choice(("Accept", "Accept-Encoding"))
        header = f"{given}: {text.strip()[: -1 if dice.random() < 0.8 else None]}"
        target = "/api/v1" if given == "Accept" else "/state"
        wanted, found = asked(real, header, target=target), asked(fake, header, target=target)
        for name in (":status", "content-type", "content-encoding"):
            assert found.get(name) == wanted.get(name), (header, name)
