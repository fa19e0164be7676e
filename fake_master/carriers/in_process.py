"""The fake master in the same process: an httpx transport with no socket and no thread."""

import httpx

from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.state import Master


class InProcessTransport(httpx.BaseTransport):
    """Carries each request of an httpx client straight to a master."""

    def __init__(self, master: Master) -> None:
        self._application = Application(master)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange; the answer is whole before it returns."""
        response = self._application.handle(
            Request(
                method=request.method,
                # A client that must not have its path normalised says it here, as to a socket.
                target=request.extensions.get("target", request.url.raw_path).decode(errors="surrogateescape"),
                headers={name.lower(): value for name, value in request.headers.items()},
                body=request.read(),
            )
        )
        headers = {"Content-Length": str(len(response.body)), **response.headers}
        return httpx.Response(response.status, headers=headers, content=response.body)

    def close(self) -> None:
        """Let go of the master's registry."""
        self._application.master.registry.close()
