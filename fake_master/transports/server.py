"""The fake master on a socket.  aiohttp handles HTTP; everything else is in the application.

It supports keep-alive, chunked bodies and thousands of open streams, keeps paths as they were sent, and needs no
command-line library.
"""

import asyncio
import contextlib
import logging
import signal
import ssl
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from fake_master.http.accepting import accepts_gzip
from fake_master.http.application import Application, registry_failed, without_body_for_head
from fake_master.http.request_response import Refusal, Request, Response
from fake_master.master import Master
from fake_master.registry.interface import HeldRegistry, RegistryFailure
from fake_master.state.clock import SteadyClock
from fake_master.state.streams import EventStream
from fake_master.transports.connections import ConnectionDropped
from fake_master.transports.cross_origin import CrossOriginRules
from fake_master.transports.limits import ClientLimits, Door, connection_of, cut_off, write_chunk
from fake_master.transports.request_bytes import GZIP, BodyTooLarge, Broken, Unpacker, origin_form

if TYPE_CHECKING:
    from fake_master.transports.driver_connections import DriverConnections

_REQUESTS = logging.getLogger("fake_master.requests")
_UNREADABLE = (RequestPayloadError, ConnectionError)
_SMALLEST_BODY_TO_COMPRESS = 1024
_SECONDS_TO_FINISH = 2.0
_SECONDS_BETWEEN_ATTEMPTS = 0.05
_CLOSE = {"Connection": "close"}
"""After a body that was not read to its end, nothing more can be read."""


class Server:
    """Serves one master until it is stopped, over https if there is a context for it.

    With `drivers` it takes messages of scheduler drivers too, which needs the package `protobuf`. Web pages of
    `allowed_origins` may do what programs may.  `has_page` serves a page at the address, unless it
    is given an application.
    """

    def __init__(
        self,
        served: Master | Application,
        tls: ssl.SSLContext | None = None,
        limits: ClientLimits | None = None,
        *,
        drivers: bool = False,
        allowed_origins: Collection[str] = (),
        has_page: bool = False,
    ) -> None:
        self._tls = tls
        self._allowed_origins = frozenset(allowed_origins)
        self._cross_origin = CrossOriginRules("http", is_local=False)
        self._limits = limits or ClientLimits()
        if drivers:
            left = max(1, self._limits.connections - self._limits.driver_connections)
            self._limits = replace(self._limits, connections=left)
        self._held = 0
        """Bytes of the bodies that are being read."""
        self._application = served if isinstance(served, Application) else Application(served, has_page=has_page)
        self._application.master.registry.wait_at_most(0)  # no request would be answered meanwhile: see `_respond`
        self._turn = asyncio.Lock()
        """Held by the request that tries for the registry again; those that come later wait for it."""
        self._writing = asyncio.Lock()
        """Held while a piece of a large event is written: the system accepts megabytes at once for every subscriber."""
        self._busy = asyncio.Event()
        self._stop = asyncio.Event()
        self._drivers = drivers
        self._driver_connections: DriverConnections | None = None

    def stop(self) -> None:
        """End `run`, as the signals do."""
        self._stop.set()

    async def run(self, host: str, port: int, ready: Callable[[str], None], *, obey_signals: bool = True) -> None:
        """Listen until `stop` is called, or until the master ends by itself.

        `ready` is called with the URL once it accepts requests. Port 0 chooses a free one. SIGTERM and SIGINT call
        `stop`, unless `obey_signals` is off, which it must be outside of the main thread. Raises OSError if the address
        is not available.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT) if obey_signals else ():
            loop.add_signal_handler(number, self.stop)
        # A client that disconnects is not worth a log message; everything else is.
        logging.getLogger("aiohttp.server").addFilter(_is_news)
        runner = web.ServerRunner(Door(self._handle, self._limits), shutdown_timeout=_SECONDS_TO_FINISH)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port, ssl_context=self._tls)
            await site.start()
            address = runner.addresses[0]
            self._application.master.listens_on(address[1])
            self._cross_origin = CrossOriginRules(
                "http" if self._tls is None else "https",
                is_local=all(ip_address(listening[0]).is_loopback for listening in runner.addresses),
                names=frozenset({host.lower(), self._application.master.state.hostname.lower()}),
                allowed=self._allowed_origins,
            )
            if self._drivers:
                from fake_master.transports.driver_connections import serve_drivers

                self._driver_connections = serve_drivers(
                    self._application, self._busy.set, self._limits.driver_connections
                )
            clockwork = asyncio.create_task(self._keep_time())
            scheme = "http" if self._tls is None else "https"
            ready(f"{scheme}://{f'[{host}]' if ':' in host else host}:{address[1]}")
            stopped = asyncio.create_task(self._stop.wait())
            await asyncio.wait((clockwork, stopped), return_when=asyncio.FIRST_COMPLETED)
            if clockwork.done():
                # The master has ended, or its clock has failed and nothing would ever be allocated again: better to end
                # than to look alive.
                clockwork.result()
            clockwork.cancel()
        finally:
            if self._driver_connections is not None:
                await self._driver_connections.close()
            self._application.endpoints.page.close()
            await runner.cleanup()
            self._application.master.close()

    async def _keep_time(self) -> None:
        """Let the master do what becomes due between requests, until it ends."""
        master = self._application.master
        while True:
            self._application.tick()
            if master.state.ended is not None:
                return
            deadline, clock = master.next_deadline(), master.state.clock
            is_still = deadline is None or (isinstance(clock, SteadyClock) and clock.is_paused)
            wait = None if deadline is None or is_still else max(0.0, deadline - clock())
            until_update = self._application.publish()
            if until_update is not None:
                wait = until_update if wait is None else min(wait, until_update)
            self._busy.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._busy.wait(), wait)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = connection_of(request)
        connection.begin()
        begun = asyncio.get_running_loop().time()
        try:
            response = await self._answer(request)
        finally:
            connection.end()
        if _REQUESTS.isEnabledFor(logging.INFO):
            _log_request(request, response.status, asyncio.get_running_loop().time() - begun)
        return response

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            self._cross_origin.check(request)
            if (preflight := self._cross_origin.preflight(request)) is not None:
                return preflight
            headers = {name.lower(): value for name, value in request.headers.items()}
            asked = Request(request.method, origin_form(request.raw_path), headers)
            longest = self._application.longest_body(asked.path)
            most = self._limits.body if longest is None else min(longest, self._limits.body)
            answer = await self._respond(replace(asked, body=await self._body(request, most)))
        except Refusal as refusal:
            answer = without_body_for_head(refusal.response, request.method)
        except ConnectionDropped:
            cut_off(request)
            return web.Response()  # there is no receiver
        self._busy.set()
        if not answer.is_awaited and self._driver_connections is not None:
            return self._driver_connections.unanswered()
        if readable := self._cross_origin.headers_for(request):
            answer = replace(answer, headers={**answer.headers, **readable})
        if answer.stream is not None:
            try:
                if not connection_of(request).stream(partial(self._left, answer.stream)):
                    answer.stream.abandon()
                return await _carry(request, answer, answer.stream, self._writing)
            finally:
                self._busy.set()  # the consequences of a lost subscriber may be due at once
        return await self._send(request, answer)

    async def _send(self, request: web.BaseRequest, answer: Response) -> web.StreamResponse:
        """Send an answer, perhaps of hundreds of megabytes; the uncompressed text is never in one piece."""
        response = web.StreamResponse(status=answer.status, headers=answer.headers)
        parts: Iterable[bytes] = answer.parts()
        size = answer.size
        if size >= _SMALLEST_BODY_TO_COMPRESS and accepts_gzip(_last(request, "Accept-Encoding")):
            # All of it, before the first byte is sent: a master sends Content-Length.  At the default level that takes
            # longer than to write and send a large answer.
            packer = zlib.compressobj(zlib.Z_BEST_SPEED, wbits=GZIP)
            parts = [*map(packer.compress, parts), packer.flush()]
            size = sum(map(len, parts))
            response.headers["Content-Encoding"] = "gzip"
        if "Content-Length" not in response.headers:
            response.content_length = size
        try:
            async with asyncio.timeout(self._limits.answer_seconds):
                await response.prepare(request)
                for part in parts:
                    await response.write(part)
                await response.write_eof()
        except TimeoutError:
            cut_off(request)
        return response

    def _left(self, stream: EventStream) -> None:
        """The connection of a subscriber has ended."""
        stream.left()
        self._busy.set()

    async def _respond(self, request: Request) -> Response:
        """The answer; if another process holds the registry, others get theirs while this one waits."""
        give_up = asyncio.get_running_loop().time() + self._limits.registry_seconds
        try:
            return self._application.respond(request)
        except HeldRegistry:
            async with self._turn:
                return await self._respond_with_retries(request, give_up)
        except RegistryFailure as failure:
            return registry_failed(failure, request)

    async def _respond_with_retries(self, request: Request, give_up: float) -> Response:
        """Return the answer, with new attempts until `give_up` (the loop's time)."""
        while True:
            try:
                return self._application.respond(request)
            except RegistryFailure as failure:
                if not isinstance(failure, HeldRegistry) or asyncio.get_running_loop().time() >= give_up:
                    return registry_failed(failure, request)
            await asyncio.sleep(_SECONDS_BETWEEN_ATTEMPTS)

    async def _body(self, request: web.BaseRequest, most: int) -> bytes:
        """The whole body, chunked or not, of `most` bytes.  Raises Refusal (400, 408, 413, 500, 503)."""
        if request.content_length is not None and request.content_length > most:
            raise self._too_large(most)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # the output is not part of the answer
        parts = bytearray()
        is_packed = _last(request, "Content-Encoding") == "gzip"
        unpacker = Unpacker(self._limits.expansion, most) if is_packed else None
        try:
            connection_of(request).await_body(request.content)
            async with asyncio.timeout(self._limits.body_seconds):
                async for chunk in request.content.iter_any():
                    piece = chunk if unpacker is None else unpacker.feed(chunk)
                    parts += piece
                    self._held += len(piece)
                    if len(parts) > most:
                        raise self._too_large(most)
                    if self._held > self._limits.bodies:
                        raise Refusal(503, "There are too many large requests at once", _CLOSE)
            if unpacker is not None:
                unpacker.finish()
        except BodyTooLarge:
            raise self._too_large(most) from None
        except Broken as error:
            # libprocess answers so, though the fault is the client's.
            raise Refusal(500, f"Failed to decompress the body: {error}", _CLOSE) from None
        except TimeoutError:
            raise Refusal(408, "The body did not arrive in time", _CLOSE) from None
        except _UNREADABLE as error:
            # Truncated, or not in the encoding of its headers; the client may be gone.
            raise Refusal(400, f"The body cannot be read: {error}", _CLOSE) from error
        finally:
            self._held -= len(parts)
        return bytes(parts)

    def _too_large(self, most: int) -> Refusal:
        sentence = f"The body exceeds {most} bytes, or {self._limits.expansion} times its compressed size"
        return Refusal(413, sentence, _CLOSE)


def _last(request: web.BaseRequest, name: str) -> str | None:
    """Return a header; a master keeps the last of those with one name."""
    found: list[str] = request.headers.getall(name, [])
    return found[-1] if found else None


def _log_request(request: web.BaseRequest, status: int, seconds: float) -> None:
    """Log a request that was answered; of a stream, when it ends."""
    asked = {"client": request.remote, "method": request.method, "path": request.raw_path}
    fields = {**asked, "status": status, "seconds": round(seconds, 3)}
    _REQUESTS.info("%s %s %d", request.method, request.raw_path, status, extra={"fields": fields})


def _is_news(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], (*_UNREADABLE, HttpProcessingError))


async def _carry(
    request: web.BaseRequest, answer: Response, stream: EventStream, writing: asyncio.Lock
) -> web.StreamResponse:
    """Events as they come, until the master closes the stream or the subscriber is gone."""
    response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
    response.enable_chunked_encoding()
    news = asyncio.Event()

    def wake() -> None:
        news.set()
        if stream.overrun:
            cut_off(request)

    stream.on_event(wake)
    try:
        await response.prepare(request)
        while True:
            news.clear()
            if records := stream.take():
                for record in records:
                    await write_chunk(request, response, record, writing)
            elif stream.closed:
                break
            else:
                await news.wait()
        await response.write_eof()
    finally:
        # aiohttp cancels the handler when the other side disconnects; however it ends, the client is gone.
        stream.abandon()
    return response
