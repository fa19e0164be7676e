"""The page of a served master: its events on a socket, and the whole page in a real browser."""

import asyncio
import json

import pytest

from fake_master.http.request_response import Request
from tests.fake_master.transports.raw_clients import ROOMY, Served, served
from tests.helpers.waiting import PATIENCE

HOSTILE = "<b>b</b><img-src=x-onerror=document.title='ran'>"


def weigh(at: Served, role: str) -> None:
    body = json.dumps([{"role": role, "weight": 2.0}]).encode()
    answer = at.server._application.handle(Request("PUT", "/weights", {"content-type": "application/json"}, body))
    assert answer.status == 200, answer


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


@pytest.mark.socket
@pytest.mark.slow
def test_in_a_browser_its_own_script_runs_and_the_console_is_silent(browser: list[str]) -> None:
    async def play() -> tuple[str, list[str]]:
        async with served(ROOMY, has_page=True, agents=3) as at:
            weigh(at, HOSTILE)
            words = [*browser, "--timeout=5000", "--enable-logging=stderr", "--dump-dom"]
            process = await asyncio.create_subprocess_exec(
                *words, f"http://127.0.0.1:{at.port}/", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            async with asyncio.timeout(PATIENCE):
                html, log = await process.communicate()
            return html.decode(), [line for line in log.decode(errors="replace").splitlines() if "CONSOLE" in line]

    html, console = asyncio.run(play())
    assert console == []
    shown = html.partition("<main>")[2].partition("<script>")[0]
    assert "reserved and idle</li>" in shown  # the legend, which the script makes
    assert "<img" not in shown
    assert "<title>Fake Mesos master</title>" in html
