"""The page of a served master and the HTML reports, in a real browser: nothing complains, and everybody can read them.

axe-core finds nothing serious, at the width of a phone, in dark and light colours and on paper; a hostile cluster runs
nothing.
"""

import asyncio
import json
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fake_master.http.request_response import Request
from fake_master.state.clock import SteadyClock
from tests.fake_master.transports.raw_clients import ROOMY, Served, served
from tests.helpers.devtools import Tab, tab_of
from tests.mesosctl.show.reports import written_reports

pytestmark = pytest.mark.slow

ROLE = "<b>b<img-src=x-onerror=document.title='ran'>"
FRAMEWORK = "</td><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
DRAWN = "document.querySelectorAll('#roles tbody tr').length > 0"
A4 = 680
"""Pixels of a sheet between its margins."""
STATUS = "document.getElementById('running').textContent"


def ask(at: Served, method: str, path: str, body: Any) -> None:
    sent = Request(method, path, {"content-type": "application/json"}, json.dumps(body).encode())
    answer = at.server._application.handle(sent)
    assert answer.status in (200, 202), answer


def subscribe(at: Served, name: str, role: str, **more: Any) -> None:
    info = {"user": "u", "name": name, "roles": [role], "capabilities": [{"type": "MULTI_ROLE"}], **more}
    ask(at, "POST", "/api/v1/scheduler", {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})


def promise(at: Served, role: str, **guarantee: float) -> None:
    config = {"role": role, "guarantees": {name: {"value": value} for name, value in guarantee.items()}}
    ask(at, "POST", "/api/v1", {"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": [config]}})


@asynccontextmanager
async def opened(devtools: str, agents: int = 3) -> AsyncIterator[tuple[Served, Tab, str]]:
    async with served(ROOMY, has_page=True, agents=agents) as at, tab_of(devtools) as tab:
        yield at, tab, f"http://127.0.0.1:{at.port}/"


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_everybody_can_read_the_page(devtools: str, axe: str) -> None:
    async def story() -> None:
        async with opened(devtools) as (at, tab, url):
            subscribe(at, "shop", "web")
            promise(at, "web", cpus=4, gpus=1)
            await tab.show(url)
            await tab.until(DRAWN)
            assert await tab.faults(axe) == []
            await tab.look(dark=True)
            assert await tab.faults(axe) == []
            await tab.show(url, width=360)
            await tab.until(DRAWN)
            assert await tab.overflow() <= 0
            assert await tab.faults(axe) == []
            printed = b64decode((await tab.call("Page.printToPDF", preferCSSPageSize=True))["data"])
            assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 4
            assert tab.complaints == []

    play(story)


def test_the_page_alone_answers_who_lacks_what_who_is_next_and_what_an_agent_takes_along(devtools: str) -> None:
    async def story() -> None:
        async with opened(devtools) as (at, tab, url):
            subscribe(at, "shop", "web")
            promise(at, "web", gpus=1)
            promise(at, "ads", cpus=20)
            await tab.show(url)
            await tab.until(f"{DRAWN} && document.querySelectorAll('#next tbody tr').length > 0")
            roles, turns, agents = [
                await tab.evaluate(f"document.getElementById('{part}').innerText")
                for part in ("roles", "next", "agents")
            ]
            short = await tab.evaluate("document.getElementById('short').innerText")
            assert "Role web lacks gpus 1 of its guarantee" in short
            assert "Role web gets the next offer" in short
            assert "says of each what happens if it goes" in short
            assert "below guarantee" in roles
            assert "gpus 1. No agent in service has gpus." in roles
            assert "No framework is subscribed to it" in roles
            assert turns.splitlines()[1].startswith("web")
            assert "below its guarantee by gpus 1" in turns
            assert "WHETHER ITS GUARANTEE IS MET, AND WHAT IT LACKS" in roles
            absent = await tab.evaluate("document.getElementById('absent').innerText")
            assert "ads (no frameworks)" in absent
            assert "the rest cannot meet all guarantees: cpus 4" in agents

    play(story)


@pytest.mark.parametrize(
    ("free", "told"),
    [
        ({"cpus": 1, "mem": 64}, "Role web gets the next offer: "),
        ({"cpus": 0, "mem": 64}, "Role web comes first when cpus become free: "),
        ({"cpus": 0, "mem": 0}, "Role web comes first when resources become free: "),
    ],
)
def test_nothing_that_cannot_be_offered_is_promised(devtools: str, free: dict[str, float], told: str) -> None:
    turn = {"role": "web", "share": 0, "weight": 1, "lacking": {}, "reached": {}}
    document = {
        "free": free,
        "totals": {"cpus": 8, "mem": 64},
        "roles": {"rows": []},
        "next": {"rows": [turn]},
        "agents": {"rows": []},
    }
    lost: dict[str, Any] = {"tasks": [], "reserved": {}, "unpromisable": {}}
    below = [{"role": "web", "missing": {"cpus": 4}, "now": {"cpus": 1}}]

    async def story() -> None:
        async with opened(devtools) as (_, tab, url):
            await tab.show(url)
            await tab.until("typeof inShort === 'function'")
            assert told in await tab.evaluate(f"inShort({json.dumps(document)}).join(' ')")
            gone = await tab.evaluate(f"ifItGoes({json.dumps({**lost, 'below': below})})")
            assert "then lack cpus 4 of its guarantee (now cpus 1)" in gone

    play(story)


def test_the_clock_obeys_the_keyboard(devtools: str) -> None:
    async def story() -> None:
        async with opened(devtools) as (at, tab, url):
            await tab.show(url)
            await tab.until(f"{STATUS}.startsWith('running')")
            await tab.press("Tab", 9)
            assert await tab.evaluate("document.activeElement.textContent") == "Pause"
            await tab.press("Enter", 13)
            await tab.until(f"{STATUS}.startsWith('paused')")
            clock = at.server._application.master.state.clock
            assert isinstance(clock, SteadyClock)
            assert clock.is_paused
            before = clock()
            for _ in range(3):
                await tab.press("Tab", 9)
            assert await tab.evaluate("document.activeElement.textContent") == "Advance 60 s"
            await tab.press("Enter", 13)
            shown = (
                "new Date(document.getElementById('time').textContent.replace(' UTC', 'Z').replace(' ', 'T')).getTime()"
            )
            await tab.until(f"Math.floor({shown} / 1000) >= {int(before) + 60}")
            assert clock() == before + 60
            assert await tab.evaluate("document.activeElement.textContent") == "Advance 60 s"
            assert tab.complaints == []

    play(story)


def test_a_hostile_cluster_neither_breaks_the_page_nor_runs_anything(devtools: str, axe: str) -> None:
    async def story() -> None:
        async with opened(devtools) as (at, tab, url):
            labels = {"labels": [{"key": "k", "value": "<script>" + "v" * 2_000_000}]}
            subscribe(at, FRAMEWORK + "x" * 2_000_000, "web", labels=labels)
            ask(at, "PUT", "/weights", [{"role": ROLE, "weight": 2.0}])
            ask(at, "PUT", "/weights", [{"role": f"role-{number}", "weight": 2.0} for number in range(10_000)])
            promise(at, ROLE, cpus=1)
            for width in (1200, 360):
                await tab.show(url, width=width)
                await tab.until(DRAWN)
                assert await tab.evaluate("document.title") == "Fake Mesos master"
                assert await tab.evaluate("document.querySelectorAll('main img, main script, main b').length") == 0
                assert ROLE in await tab.evaluate("document.getElementById('roles').textContent")
                assert FRAMEWORK in await tab.evaluate("document.getElementById('frameworks').textContent")
                assert await tab.overflow() <= 0
            assert await tab.faults(axe) == []
            assert tab.complaints == []

    play(story)


def test_a_page_of_another_origin_reads_and_changes_nothing(devtools: str) -> None:
    async def story() -> None:
        async with opened(devtools) as (at, tab, url), served(ROOMY) as other:
            await tab.show(f"http://127.0.0.1:{other.port}/version")
            for path in ("", "page/cluster", "page/events", "quota", "state"):
                read = f"fetch('{url}{path}').then(() => 'read', () => 'refused')"
                assert await tab.evaluate(read) == "refused", path
            changes = "{method: 'POST', mode: 'no-cors', body: JSON.stringify({do: 'pause'})}"
            assert await tab.evaluate(f"fetch('{url}page/clock', {changes}).then(r => r.type)") == "opaque"
            for headers in ("{'X-Page-Token': 'x'}", "{'Content-Type': 'application/json'}"):
                wish = f"{{method: 'POST', headers: {headers}, body: JSON.stringify({{do: 'pause'}})}}"
                assert await tab.evaluate(f"fetch('{url}page/clock', {wish}).then(() => 'read', () => 'no')") == "no"
            clock = at.server._application.master.state.clock
            assert isinstance(clock, SteadyClock)
            assert not clock.is_paused

    play(story)


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A report of each kind."""
    monkeypatch.chdir(tmp_path)
    return written_reports(tmp_path, ROLE)


def test_everybody_can_read_a_report(devtools: str, axe: str, reports: dict[str, Path]) -> None:
    async def story() -> None:
        async with tab_of(devtools) as tab:
            for kind, file in reports.items():
                for dark in (False, True):
                    await tab.show(file.as_uri(), dark=dark)
                    assert await tab.faults(axe) == [], kind
                await tab.show(file.as_uri(), width=360)
                assert await tab.overflow() <= 0, kind
                assert await tab.faults(axe) == [], kind
                await tab.show(file.as_uri(), width=A4, paper=True)
                assert await tab.overflow() <= 0, kind
                printed = b64decode((await tab.call("Page.printToPDF", preferCSSPageSize=True))["data"])
                assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 5, kind
                boxes = re.findall(rb"/MediaBox\s*\[0 0 ([0-9.]+) ([0-9.]+)\]", printed)
                assert {(round(float(wide)), round(float(high))) for wide, high in boxes} == {(595, 842)}, kind
                assert await tab.evaluate("document.scripts.length") == 0
                assert tab.complaints == [], kind

    play(story)
