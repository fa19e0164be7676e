"""Answers that are made to eat up memory and time, on real sockets."""

import gzip
import time
import tracemalloc

import httpx
import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.deadline import Deadline
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response_body import HeldBody
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import DeadlinePassed, UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json import json_parts
from mesosctl.mesos.rules.version_profile import MESOS_1_11
from tests.helpers.needs import needs
from tests.mesosctl.client.scripted import Scripted, answer

MIB = 1 << 20
JSON = b"Content-Type: application/json"
GZIP = b"Content-Encoding: gzip"


def packed(text, times):
    """Members of gzip, which are the text so many times over."""
    return gzip.compress(text * (MIB // len(text)), 1) * times


@pytest.fixture
@needs("socket")
def master():
    opened = []

    def start(body, *headers, timeout=60.0):
        server = Scripted([answer(body, JSON, *headers)])
        opened.append((server, LeadingMaster(parse_address(server.base), ClientSettings(timeout=timeout))))
        return opened[-1][1]

    yield start
    for server, client in opened:
        client.close()
        server.stop()


def test_a_bomb_of_gzip_is_not_unpacked_whole(master):
    client = master(packed(b" ", 520), GZIP)
    tracemalloc.start()
    with pytest.raises(UnexpectedAnswer, match="more than 536870912 bytes"):
        client.stream("/slaves", lambda pieces: sum(map(len, pieces)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 64 * MIB


def test_a_bomb_of_values_is_not_read(master):
    client = master(packed(b"[],", 40), GZIP)
    with pytest.raises(UnexpectedAnswer, match="more than 8000000 values"):
        client.get("/quota")


@pytest.mark.parametrize("text", [b'"', b'"\\\\', b"["], ids=repr)
def test_a_bomb_of_one_sign_is_refused_in_time_and_memory(master, text):
    """Of 120 MB, the 113 KB of quotes that a client once spent 20 s and 4.5 GB on among them."""
    client = master(packed(text, 120), GZIP, timeout=5.0)
    started = time.process_time()
    tracemalloc.start()
    with pytest.raises(UnexpectedAnswer, match=r"broken|more than 8000000 values"):
        client.get("/quota")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 512 * MIB
    assert time.process_time() - started < 5


def test_what_cannot_be_read_in_time_is_not_begun():
    body = b"[" + b"1," * 3_000_000 + b"1]"
    answers = httpx.MockTransport(
        lambda _: httpx.Response(200, content=body, headers={"content-type": "application/json"})
    )
    settings = ClientSettings(timeout=1.0, clock=lambda: 0.0)
    started = time.monotonic()
    with LeadingMaster(parse_address("http://one"), settings, answers) as master:
        with pytest.raises(DeadlinePassed, match="too large to read within 1 s") as failed:
            master.get("/quota")
        assert failed.value.hint == "allow more time with --timeout"
    assert time.monotonic() - started < 30


def test_reading_in_pieces_ends_with_a_deadline_of_its_own():
    now = [0.0]

    def slow(chunks):
        for _ in chunks:
            now[0] += 3

    body = bytes(4_000_000)
    answers = httpx.MockTransport(
        lambda _: httpx.Response(200, content=body, headers={"content-type": "application/json"})
    )
    settings = ClientSettings(timeout=5.0, clock=lambda: now[0])
    with LeadingMaster(parse_address("http://one"), settings, answers) as master, pytest.raises(DeadlinePassed):
        master.stream("/slaves", slow)
    assert now[0] == 6


def test_a_body_without_an_end_ends_with_the_deadline_whatever_carries_it():
    now = [0.0]

    def endless():
        while now[0] < 100:
            now[0] += 3
            yield b" "

    answers = httpx.MockTransport(
        lambda _: httpx.Response(200, content=endless(), headers={"content-type": "application/json"})
    )
    settings = ClientSettings(timeout=5.0, clock=lambda: now[0])
    with LeadingMaster(parse_address("http://one"), settings, answers) as master, pytest.raises(DeadlinePassed):
        master.get("/quota")
    assert now[0] == 6


def test_one_value_of_a_large_answer_cannot_be_as_large_as_it(master):
    opening = gzip.compress(b'{"frozen": "')
    client = master(opening + packed(b"x", 100), GZIP)
    with pytest.raises(UnexpectedAnswer, match="more than 33554432 characters"):
        client.stream("/slaves", lambda chunks: list(json_parts.parts(chunks)))


def test_a_body_that_waits_for_its_reader_is_small():
    text = b'{"id": 12345678, "hostname": "agent.example"}, ' * (8 * MIB // 47)
    tracemalloc.start()
    held = HeldBody((text[at : at + 65536] for at in range(0, len(text), 65536)), "")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MIB
    assert sum(map(len, held.pieces(Deadline(10, lambda: 0.0)))) == len(text)


@pytest.mark.parametrize("version", ["one", "1.\u0661.0"])
def test_a_version_that_cannot_be_read_is_said(version):
    answers = httpx.MockTransport(lambda _: httpx.Response(200, json={"version": version}))
    said: list[str] = []
    with LeadingMaster(parse_address("http://one"), ClientSettings(notice=said.append), answers) as master:
        assert master.version() == version
        assert master.profile is MESOS_1_11
    assert len(said) == 1
    assert "as its version" in said[0]
