"""A browser that tests steer by the DevTools protocol: each page is a tab of one process, and its complaints are kept.

Source: Chrome DevTools Protocol, https://chromedevtools.github.io/devtools-protocol/.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.conformance.clients.installing import NotInstalled, node_modules_with
from tests.helpers.needs import lacking, needs, require
from tests.helpers.waiting import PATIENCE, wait_until

AXE = "axe-core@4"
_SERIOUS = ("serious", "critical")
_COMPLAINTS = ("error", "warning", "assert")


class Tab:
    """One page in the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self.session: str | None = None
        self.complaints: list[str] = []
        """Errors and warnings of the console, refused requests and exceptions."""

    async def read(self) -> None:
        """Take what the browser says, until it ends."""
        async for message in self._socket:
            said = json.loads(message.data)
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
            else:
                self._note(said["method"], said["params"])

    def _note(self, event: str, said: Any) -> None:
        if event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(said["exceptionDetails"]))
        elif event == "Log.entryAdded" and said["entry"]["level"] in _COMPLAINTS:
            self.complaints.append(said["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and said["type"] in _COMPLAINTS:
            self.complaints.append(json.dumps(said["args"]))

    async def call(self, method: str, **parameters: Any) -> Any:
        """Send a command, and return its result."""
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        asked = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            asked["sessionId"] = self.session
        await self._socket.send_json(asked)
        async with asyncio.timeout(PATIENCE):
            answer = await self._answers[number]
        assert "error" not in answer, (method, answer)
        return answer["result"]

    async def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page, or of its promise."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until an expression in the page is true."""
        look = f"const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look();"
        await self.evaluate(f"new Promise(done => {{ {look} }})")

    async def show(self, url: str, *, width: int = 1200, dark: bool = False, paper: bool = False) -> None:
        """Open an address in a window of this width."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
        )
        await self.look(dark=dark, paper=paper)
        await self.call("Page.navigate", url=url)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def look(self, *, dark: bool = False, paper: bool = False) -> None:
        """Prefer dark or light colours, and a screen or paper."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", media="print" if paper else "screen", features=[scheme])

    async def press(self, key: str, code: int) -> None:
        """Press a key that writes nothing, or Enter."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    async def text(self, place: str) -> str:
        """Return the text that is shown in the element of this id."""
        return str(await self.evaluate(f"document.getElementById('{place}').innerText"))

    async def overflow(self) -> int:
        """Return how many pixels of the page are right of the window."""
        return int(await self.evaluate("document.documentElement.scrollWidth - innerWidth"))

    async def faults(self, axe: str) -> list[str]:
        """Return what axe-core finds serious: a rule and an element each."""
        await self.evaluate(f"{axe}; 0")
        found = await self.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
        return [
            f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:200]}"
            for one in found
            if one["impact"] in _SERIOUS
            for node in one["nodes"]
        ]


@asynccontextmanager
async def tab_of(endpoint: str) -> AsyncIterator[Tab]:
    """A new tab of the browser that listens at `endpoint`."""
    async with aiohttp.ClientSession() as session, session.ws_connect(endpoint, max_msg_size=0) as socket:
        tab = Tab(socket)
        reading = asyncio.create_task(tab.read())
        try:
            target = (await tab.call("Target.createTarget", url="about:blank"))["targetId"]
            tab.session = (await tab.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                await tab.call(f"{domain}.enable")
            yield tab
            await tab.call("Page.close")
        finally:
            reading.cancel()


@pytest.fixture(scope="session")
@needs("socket")
def devtools(browser: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address at which one browser for all tests is steered."""
    profile = tmp_path_factory.mktemp("devtools")
    words = [*browser, f"--user-data-dir={profile}", "--remote-debugging-port=0", "--no-first-run"]
    process = subprocess.Popen([*words, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = profile / "DevToolsActivePort"
    try:
        wait_until(lambda: told.exists() and told.read_text().count("\n"), "the browser listens nowhere")
        port, path = told.read_text().split()
        yield f"ws://127.0.0.1:{port}{path}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="session")
@needs("foreign", "process")
def axe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, installed by npm once for all runs into pytest's cache."""
    require("npm")
    cache = getattr(request.config, "cache", None)
    folder = tmp_path_factory.mktemp("npm") if cache is None else Path(cache.mkdir("npm"))
    script = folder / "axe" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        shutil.rmtree(folder / "axe", ignore_errors=True)
        try:
            node_modules_with(AXE, folder / "axe")
        except NotInstalled as reason:
            lacking("axe-core", str(reason))
    return script.read_text(encoding="utf-8")
