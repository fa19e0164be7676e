"""Masters on loopback sockets, of which one leads: the fake master answers there, and the others redirect to it.

What the leader knows outlives an election, as the registry of real masters does.  Every request is
recorded with its headers.
"""

import http.server
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.sources.cluster_file import ClusterSpec

ANSWERED_BY_ALL = {
    "/version": b'{"version": "1.4.0"}',
    "/health": b"",
    "/flags": b'{"flags": {"rate_limits": "not of the leader"}}',
    "/metrics/snapshot": b'{"master/elected": 0.0}',
}
"""The answers of a master while another one leads, by path."""
AGENTS = ("cpus:12;mem:6144", "cpus:12;mem:6144")


@dataclass(frozen=True)
class Seen:
    """One request that a master got."""

    line: str
    headers: dict[str, str]

    @property
    def authorization(self) -> str | None:
        return self.headers.get("authorization")


Answer = tuple[int, dict[str, str], bytes]
Behaviour = Callable[[str, str], Answer]
"""Method and path to an answer, instead of what a master would say."""


class Server(http.server.ThreadingHTTPServer):
    """One of the masters."""

    daemon_threads = True
    behaviour: Behaviour | None = None

    def __init__(self, answer: Callable[["Server", Request], Answer], tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.tls = tls
        self.seen: list[Seen] = []
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @property
    def port(self) -> int:
        return self.server_address[1]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://{self.host}"

    @property
    def lines(self) -> list[str]:
        return [seen.line for seen in self.seen]

    def finish_request(self, request, client_address) -> None:
        if self.tls is not None:
            request.settimeout(60)
            try:
                request = self.tls.wrap_socket(request, server_side=True)
            except (ssl.SSLError, OSError):
                request.close()
                return
        try:
            super().finish_request(request, client_address)
        except OSError:
            pass
        finally:
            request.close()

    def handle_error(self, *_) -> None:
        """A client that hangs up is no news."""

    def stop(self) -> None:
        if self.thread.is_alive():
            self.shutdown()
            self.thread.join()
            self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    timeout = 60

    def _act(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append(Seen(f"{self.command} {self.path}", headers))
        if self.server.behaviour is not None:
            status, given, content = self.server.behaviour(self.command, self.path)
        else:
            status, given, content = self.server.answer(self.server, Request(self.command, self.path, headers, body))
        self.send_response(status)
        for name, value in {**given, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        if not self.server.thread.is_alive():
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_PUT = _act  # noqa: N815  # their names are the library's

    def log_message(self, *_) -> None:
        pass


@dataclass
class Ensemble:
    """Masters by number; `leader` is the number of the one that leads, None while nobody does.

    `after_change` is called once, when the next change has been made and before it is answered.
    """

    size: int = 3
    tls: ssl.SSLContext | None = None
    flags: dict[str, str] = field(default_factory=dict)
    leader: int | None = 0
    after_change: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.forget()
        self.masters = [Server(self._answer, self.tls) for _ in range(self.size)]

    def forget(self) -> None:
        """Whoever leads from here on knows nothing of what was."""
        self.application = Application(ClusterSpec(agents=AGENTS, flags=self.flags).start())

    def stop(self) -> None:
        for master in self.masters:
            master.stop()

    @property
    def address(self) -> str:
        return ",".join(master.base for master in self.masters)

    @property
    def changes(self) -> list[str]:
        """The changes that any of them was asked for and did not redirect."""
        return [line for master in self.masters for line in master.lines if not line.startswith("GET")]

    def _answer(self, server: Server, request: Request) -> Answer:
        with self._lock:
            path = request.target.removeprefix("/master")
            leader = None if self.leader is None else self.masters[self.leader]
            if server is not leader and path in ANSWERED_BY_ALL:
                return 200, {"Content-Type": "application/json"}, ANSWERED_BY_ALL[path]
            if leader is None:
                return 503, {}, b"No leader elected"
            if server is not leader:
                return 307, {"Location": f"//{leader.host}/master{path}"}, b""
            response = self.application.handle(request)
            if request.method != "GET" and self.after_change is not None:
                act, self.after_change = self.after_change, None
                act()
            return response.status, dict(response.headers), response.body
