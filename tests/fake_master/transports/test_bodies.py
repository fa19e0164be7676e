"""The limits of request bodies: their size, packed and unpacked, spoken over raw sockets."""

import asyncio
import gzip
import time
from contextlib import suppress
from functools import cache

import pytest

from fake_master.transports.limits import ClientLimits
from fake_master.transports.request_bytes import BodyTooLarge, Unpacker
from tests.fake_master.transports.raw_clients import ROOMY, SMALL, post, served
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.socket


def test_a_body_that_is_too_large_is_413_before_it_is_sent() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b"", Content_Length=10**12))
            assert await client.status() == 413
            assert await at.healthy()

    asyncio.run(play())


def test_a_refusal_has_no_body_for_head() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b"", Content_Length=10**12).replace(b"POST", b"HEAD", 1))
            answer = await client.reader.read()
            assert answer.startswith(b"HTTP/1.1 413")
            assert b"exceeds" not in answer

    asyncio.run(play())


def test_a_body_in_chunks_is_413_once_it_is_too_large() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            head = b"POST /quota HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            client = await (await at.client()).says(head + b"1f4\r\n" + b"x" * 500 + b"\r\n")
            await client.says(b"1f5\r\n" + b"x" * 501 + b"\r\n")
            assert await client.status() == 413

    asyncio.run(play())


def test_a_body_that_unpacks_to_too_much_is_413() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            packed = gzip.compress(b"x" * 100_000)
            assert len(packed) < SMALL.body
            client = await (await at.client()).says(post(packed, Content_Encoding="gzip"))
            assert await client.status() == 413

    asyncio.run(play())


PACKED = gzip.compress(b"[]", mtime=0)


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        (PACKED[:-8], b"ends early"),
        (PACKED[:-1], b"ends early"),
        (PACKED[:-8] + bytes(8), b"is not gzip"),
        (PACKED + b"x", b"follows the end"),
        (b"no gzip", b"is not gzip"),
        (b"", b"ends early"),
    ],
)
def test_a_packed_body_that_is_not_whole_is_refused(packed: bytes, sentence: bytes) -> None:
    answer = asyncio.run(answer_to_packed(packed))
    assert answer.startswith(b"HTTP/1.1 500"), "as a real master does: tests/conformance/answers/test_http_habits.py"
    assert sentence in answer


def test_a_packed_body_that_is_whole_is_read() -> None:
    answer = asyncio.run(answer_to_packed(PACKED))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"expecting a JSON object" in answer


async def answer_to_packed(packed: bytes) -> bytes:
    async with served(ROOMY) as at:
        client = await (await at.client()).says(post(packed, Content_Encoding="gzip"))
        return await client.answer()


BOMBS = {
    "quotes": (b"", b'"' * 60),
    "an array of quotes": (b"[", b'"' * 60),
    "odd numbers": (b"[", b"01," * 20),
    "numbers": (b"[", b"1," * 30),
    "lists": (b"[", b"[]," * 20),
    "fields": (b"", b"a&" * 30),
}


@cache
def bomb(name: str) -> bytes:
    """At most 64 KiB that unpack to 60 MB."""
    first, rest = BOMBS[name]
    return gzip.compress(first + rest * 1_000_000, 9)[: 64 * 1024]


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("path", ["/quota", "/reserve", "/api/v1"])
def test_a_small_body_that_unpacks_to_much_keeps_nobody_waiting(name: str, path: str) -> None:
    async def play() -> None:
        async with served(ROOMY) as at:
            packed = bomb(name)
            started = time.process_time()
            request = post(packed, path, Content_Encoding="gzip", Content_Type="application/json")
            client = await (await at.client()).says(request)
            assert await client.status() in (400, 413)
            assert await at.healthy()
            assert time.process_time() - started < 2

    asyncio.run(play())


@pytest.mark.parametrize("body", [b"[" + b"1," * 2_000_000 + b"1]", b"[" * 4_000_000, b"[" + b'"' * 4_000_000])
@pytest.mark.parametrize("path", ["/quota", "/api/v1"])
def test_a_large_body_is_refused_before_it_costs_much(body: bytes, path: str) -> None:
    async def play() -> None:
        async with served(ROOMY) as at:
            started = time.process_time()
            client = await (await at.client()).says(post(body, path, Content_Type="application/json"))
            assert await client.status() == 400
            assert time.process_time() - started < 2

    asyncio.run(play())


def test_bodies_that_are_too_large_together_are_503() -> None:
    async def play() -> None:
        async with served(ClientLimits(body=1000, bodies=1500, body_seconds=PATIENCE)) as at:
            first = await (await at.client()).says(post(b"x" * 900, Content_Length=1000))
            second = await (await at.client()).says(post(b"x" * 900, Content_Length=1000))
            asked = [asyncio.ensure_future(client.status()) for client in (first, second)]
            turned_away = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            assert [done.result() for done in turned_away[0]] == [503]
            for waiting in turned_away[1]:
                waiting.cancel()
            assert await at.healthy()

    asyncio.run(play())


def test_a_slow_body_is_408() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b"{", Content_Length=100))
            assert await client.status() == 408
            assert await client.is_closed()

    asyncio.run(play())


def test_a_body_that_ends_early_is_no_change() -> None:
    async def play() -> None:
        async with served(SMALL) as at:
            client = await (await at.client()).says(post(b'{"role":"r"', Content_Length=100))
            client.writer.write_eof()
            assert await client.status() in (0, 400)
            assert await at.healthy()

    asyncio.run(play())


def test_a_packed_body_unpacks_to_a_hundred_times_its_length_at_most() -> None:
    limits = ClientLimits()
    Unpacker(limits.expansion, limits.body).feed(gzip.compress(bytes(64 * 1024)))
    with pytest.raises(BodyTooLarge):
        Unpacker(limits.expansion, limits.body).feed(gzip.compress(bytes(10_000_000)))


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b"0" * 1000),
        (b"1;", b"x" * 1000),
        (b"1" + b"0" * 20 + b"\r\n", b" " * 1000),
        (b"0\r\n", b"X-Y: z\r\n" * 100),
        (b"", b"1\r\n \r\n" * 100),
        (b"-1\r\n", b" " * 100),
    ],
    ids=["a size", "an extension", "2^80 bytes", "trailers", "one byte each", "a size below zero"],
)
def test_chunks_without_an_end_are_refused(first: bytes, again: bytes) -> None:
    """By a bound on sizes, or by the time for a body; meanwhile others are answered."""

    async def play() -> None:
        async with served(SMALL) as at:
            head = b"POST /quota HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            client = await (await at.client()).says(head + first)

            async def flood() -> None:
                with suppress(ConnectionError):
                    while True:
                        await client.says(again)
                        await asyncio.sleep(0.01)

            flooding = asyncio.create_task(flood())
            status = 0
            with suppress(ConnectionError):  # it may be closed before its answer is read
                status = await client.status()
            assert status in (0, 400, 408, 413)
            assert await at.healthy()
            flooding.cancel()

    asyncio.run(play())
