"""The page of a served master on a socket; `tests/test_in_a_browser.py` opens it."""

import asyncio

import pytest

from fake_master.http.page import LONGEST_WISH
from tests.fake_master.transports.raw_clients import ROOMY, post, served
from tests.helpers.waiting import PATIENCE


@pytest.mark.socket
def test_a_change_reaches_an_open_page() -> None:
    async def play() -> None:
        async with served(ROOMY, has_page=True) as at:
            page = await (await at.client()).says(b"GET /page/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert await page.status() == 200
            body = b'[{"role":"web","weight":2}]'
            head = f"PUT /weights HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            assert await (await (await at.client()).says(head + body)).status() == 200
            async with asyncio.timeout(PATIENCE):
                while b'"name":"web"' not in await page.reader.readline():
                    pass

    asyncio.run(play())


@pytest.mark.socket
def test_a_page_that_is_closed_is_let_go() -> None:
    async def play() -> None:
        async with served(ROOMY, has_page=True) as at:
            listeners = at.server._application.endpoints.page._listeners
            pages = []
            for _ in range(3):
                client = await at.client()
                pages.append(await client.says(b"GET /page/events HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                assert await pages[-1].status() == 200
            assert len(listeners) == 3
            pages[1].close()
            async with asyncio.timeout(PATIENCE):
                while len(listeners) == 3:
                    assert await at.healthy()
            assert len(listeners) == 2
            for page in pages:
                page.close()
            async with asyncio.timeout(PATIENCE):
                while listeners:
                    assert await at.healthy()

    asyncio.run(play())


@pytest.mark.socket
def test_a_long_wish_of_the_clock_is_refused_before_it_is_sent() -> None:
    async def play() -> None:
        async with served(ROOMY, has_page=True) as at:
            wish = post(b"", "/page/clock", Content_Length=LONGEST_WISH + 1)
            assert await (await (await at.client()).says(wish)).status() == 413
            wish = post(b" " * LONGEST_WISH, "/page/clock")
            assert await (await (await at.client()).says(wish)).status() == 403
            other = post(b" " * 2 * LONGEST_WISH, "/quota")
            assert await (await (await at.client()).says(other)).status() == 400

    asyncio.run(play())


@pytest.mark.socket
@pytest.mark.parametrize("path", ["/", "/page/cluster", "/page/events"])
def test_no_page(path: str) -> None:
    async def play() -> int:
        async with served(ROOMY) as at:
            return await (
                await (await at.client()).says(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            ).status()

    assert asyncio.run(play()) == 404
