"""200 drivers that send 1,000 messages a second, some of them throttled: python -m tests.endurance.jobs.drivers.

Each driver reconciles an unknown task again and again, and the master answers each message by a status when its turn
has come.  The rate of every principal is measured over the middle of the run, beside what its limit allows.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fake_master.protobuf.conversion import serialize
from tests.conformance.masters import fakes
from tests.conformance.masters.cluster import Setup

LIMITS = {"slow": 20.0, "paced": 100.0, "quick": 240.0, "free": None}
"""Messages a second of each principal; a quarter of the drivers has each."""
TOLERANCE = 0.05
_WARM_UP = 2.0
"""Seconds that are not measured, at both ends."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Messages a second by principal: sent, allowed, processed."""

    sent: dict[str, float]
    allowed: dict[str, float]
    processed: dict[str, float]

    def wrong(self) -> list[str]:
        """The principals whose rate is not what is allowed, within five per cent."""
        return [name for name, rate in self.allowed.items() if abs(self.processed[name] / rate - 1) > TOLERANCE]


class Drivers:
    """Many drivers behind one address."""

    def __init__(self, host: str, port: int) -> None:
        self._master = (host, port)
        self.answers: Counter[str] = Counter()
        self._writers: list[asyncio.StreamWriter] = []
        self._registered: dict[str, asyncio.Future[bytes]] = {}

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._read, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End all connections, the master's too."""
        self._server.close()
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    async def start(self, number: int, principal: str) -> "Driver":
        """One driver, registered."""
        name = f"scheduler({number})"
        _, writer = await asyncio.open_connection(*self._master)
        self._writers.append(writer)
        driver = Driver(writer, f"{name}@127.0.0.1:{self._port}", principal)
        self._registered[name] = asyncio.get_running_loop().create_future()
        info = {"user": "u", "name": "n", "role": "r", "principal": principal}
        driver.post("mesos.scheduler.Call", {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})
        body = await self._registered[name]
        driver.framework_id = body[4 : 4 + body[3]].decode()  # FrameworkRegisteredMessage.framework_id.value
        driver.post("mesos.scheduler.Call", {"type": "SUPPRESS", "framework_id": {"value": driver.framework_id}})
        return driver

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(asyncio.CancelledError, asyncio.IncompleteReadError):  # the run is over
            await self._read_messages(reader)

    async def _read_messages(self, reader: asyncio.StreamReader) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            body = b""
            while size := int(await reader.readline(), 16):
                body += await reader.readexactly(size)
                await reader.readexactly(2)
            await reader.readline()
            path = head.split(b" ", 2)[1].decode()
            _, name, message = path.split("/")
            if message.endswith("FrameworkRegisteredMessage"):
                self._registered[name].set_result(body)
            elif message.endswith("StatusUpdateMessage"):
                principal = next(known for known in LIMITS if f"task-{known}".encode() in body)
                self.answers[principal] += 1


class Driver:
    """One framework."""

    def __init__(self, writer: asyncio.StreamWriter, pid: str, principal: str) -> None:
        self._writer = writer
        self._pid = pid
        self.principal = principal
        self.framework_id = ""

    def reconcile(self) -> None:
        tasks = [{"task_id": {"value": f"task-{self.principal}"}}]
        call = {"type": "RECONCILE", "framework_id": {"value": self.framework_id}, "reconcile": {"tasks": tasks}}
        self.post("mesos.scheduler.Call", call)

    def post(self, name: str, document: Mapping[str, object]) -> None:
        body = serialize(name, document)
        self._writer.write(
            f"POST /master/{name} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: libprocess/{self._pid}\r\n"
            f"Libprocess-From: {self._pid}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )


async def run(address: str, count: int, rate: float, seconds: float) -> Figures:
    """Send `rate` messages a second from `count` drivers for so many seconds."""
    host, _, port = address.removeprefix("http://").partition(":")
    drivers = Drivers(host, int(port))
    await drivers.listen()
    try:
        return await _send(drivers, count, rate, seconds)
    finally:
        await drivers.close()


async def _send(drivers: Drivers, count: int, rate: float, seconds: float) -> Figures:
    names = list(LIMITS)
    made = [await drivers.start(number, names[number % len(names)]) for number in range(count)]
    sent: Counter[str] = Counter()
    began = time.monotonic()
    marks: list[tuple[float, Counter[str], Counter[str]]] = []
    number = 0
    while (now := time.monotonic() - began) < seconds:
        while number < now * rate:
            driver = made[number % count]
            driver.reconcile()
            sent[driver.principal] += 1
            number += 1
        if not marks and now >= _WARM_UP:
            marks.append((now, drivers.answers.copy(), sent.copy()))
        await asyncio.sleep(0.002)
    marks.append((time.monotonic() - began, drivers.answers.copy(), sent.copy()))
    (start, before, sent_before), (end, after, sent_after) = marks
    span = end - start
    sending = {name: (sent_after[name] - sent_before[name]) / span for name in names}
    allowed = {name: min(sending[name], LIMITS[name] or sending[name]) for name in names}
    return Figures(sending, allowed, {name: (after[name] - before[name]) / span for name in names})


def measure(count: int, rate: float, seconds: float) -> Figures:
    """The same against a fake master of its own."""
    limits = {"limits": [{"principal": name, **({} if qps is None else {"qps": qps})} for name, qps in LIMITS.items()]}
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(agents=("cpus:4;mem:2048",), flags={"rate_limits": json.dumps(limits)})
        master = fakes.start_for_drivers(setup, Path(folder))
        try:
            return asyncio.run(run(master.address, count, rate, seconds))
        finally:
            master.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drivers", type=int, default=200)
    parser.add_argument("--rate", type=float, default=1000.0, help="messages a second, of all of them")
    parser.add_argument("--seconds", type=float, default=20.0)
    typed = parser.parse_args()
    figures = measure(typed.drivers, typed.rate, typed.seconds)
    print(f"{'principal':10} {'sent/s':>8} {'allowed/s':>10} {'processed/s':>12}")
    for name in LIMITS:
        print(f"{name:10} {figures.sent[name]:8.1f} {figures.allowed[name]:10.1f} {figures.processed[name]:12.1f}")
    wrong = figures.wrong()
    print(f"not within {TOLERANCE:.0%}: {', '.join(wrong)}" if wrong else f"all within {TOLERANCE:.0%}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
