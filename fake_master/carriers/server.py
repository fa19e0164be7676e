"""The fake master on a socket.  aiohttp speaks HTTP; everything else is the application's.

aiohttp because it carries keep-alive, chunked bodies and thousands of open streams, takes paths
as they are sent, and brings no command-line library along, which httpx would load at every start
of the command line.
"""

import asyncio
import signal
from collections.abc import Callable

from aiohttp import web

from fake_master.http.application import Application
from fake_master.http.exchange import Refusal, Request
from fake_master.master.state import Master

_LARGEST_BODY = 64 * 1024 * 1024
_SMALLEST_BODY_TO_COMPRESS = 1024
_SECONDS_TO_FINISH = 2.0


class Server:
    """Serves one master until it is told to stop."""

    def __init__(self, master: Master) -> None:
        self._application = Application(master)

    async def run(self, host: str, port: int, ready: Callable[[str], None]) -> None:
        """Listen until SIGTERM or SIGINT; `ready` is called with the URL once requests are taken.

        Port 0 takes any free one.  Raises OSError where the address cannot be had.
        """
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=_SECONDS_TO_FINISH)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port)
            await site.start()
            address = runner.addresses[0]
            self._application.master.port = address[1]
            ready(f"http://{f'[{host}]' if ':' in host else host}:{address[1]}")
            await stop.wait()
        finally:
            await runner.cleanup()
            self._application.master.registry.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            body = await _body(request)
            answer = self._application.handle(
                Request(
                    method=request.method,
                    target=request.raw_path,
                    headers={name.lower(): value for name, value in request.headers.items()},
                    body=body,
                )
            )
        except Refusal as refusal:
            answer = refusal.response
        response = web.Response(status=answer.status, body=answer.body, headers=dict(answer.headers))
        if len(answer.body) > _SMALLEST_BODY_TO_COMPRESS and "gzip" in request.headers.get("Accept-Encoding", ""):
            response.enable_compression(web.ContentCoding.gzip)
        return response


async def _body(request: web.BaseRequest) -> bytes:
    """The whole body, chunked or not.  Raises Refusal (413)."""
    parts = bytearray()
    async for chunk in request.content.iter_any():
        parts += chunk
        if len(parts) > _LARGEST_BODY:
            raise Refusal(413, f"The body is larger than {_LARGEST_BODY} bytes")
    return bytes(parts)
