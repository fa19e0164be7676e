"""The page of a served master on a socket; `tests/test_in_a_browser.py` opens it."""

import asyncio

import pytest

from tests.fake_master.transports.raw_clients import ROOMY, served
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
@pytest.mark.parametrize("path", ["/", "/page/cluster", "/page/events"])
def test_no_page(path: str) -> None:
    async def play() -> int:
        async with served(ROOMY) as at:
            return await (
                await (await at.client()).says(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            ).status()

    assert asyncio.run(play()) == 404
