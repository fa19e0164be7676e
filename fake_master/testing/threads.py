"""The threads that use the master of a `FakeMaster`.

A master knows no threads, so one thread at a time may touch it.  Once there is a server, its thread does everything:
events reach an asyncio loop from nowhere else.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from fake_master.http.application import Application

T = TypeVar("T")
_SECONDS_TO_START = 30.0


class ThreadGate:
    """Lets one thread at a time use the master: `gate(action)` returns what the action returns."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __call__(self, action: Callable[[], T]) -> T:
        """Run the action in this thread, or in the server's once there is one; raises what the action raises."""
        with self._lock:
            loop = self._loop
            if loop is None or threading.current_thread() is self._thread:
                return action()
        done: Future[T] = Future()

        def do() -> None:
            try:
                done.set_result(action())
            except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
                done.set_exception(error)

        loop.call_soon_threadsafe(do)
        return done.result()

    def run_in(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """From now on, run actions in this thread, which runs `loop`; if it is None, in the calling thread."""
        with self._lock:
            self._loop, self._thread = loop, threading.current_thread()


class ServerThread:
    """A server for the application, in a separate thread; `url` is its address."""

    def __init__(self, application: Application, gate: ThreadGate) -> None:
        # Imported late: in process, aiohttp is not needed.
        from fake_master.transports.server import Server

        self._application = application
        self._gate = gate
        self._server_type = Server
        self._address: Future[str] = Future()
        self._thread = threading.Thread(target=self._run, name="fake-master", daemon=True)
        self._thread.start()
        self.url = self._address.result(_SECONDS_TO_START)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._address.done():
                raise
            self._address.set_exception(error)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._gate.run_in(self._loop)
        try:
            self._server = self._server_type(self._application)
            await self._server.run("127.0.0.1", 0, self._address.set_result, obey_signals=False)
        finally:
            self._gate.run_in(None)

    def close(self) -> None:
        """End the server and its master."""
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join()
