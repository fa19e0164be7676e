"""The requests that a web page may send to a master that is served on a socket.

A browser runs pages of anybody, and sends their requests to any address that it reaches, this machine's own included.
It names the page's origin in the header Origin of a request that may change something, and the name that the page used
for the server in Host.  A page may give its own name another address at any time (DNS rebinding), so a name that is not
this master's is refused where only this machine should get through.
"""

import ipaddress
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

from fake_master.http.request_response import PLAIN, Refusal
from mesosctl.mesos.errors import BadInput

_LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost")
"""Names that mean this machine on itself, by its own file of hosts."""
_READING = ("GET", "HEAD", "OPTIONS")
_HEADERS = "Accept, Authorization, Content-Type, Mesos-Stream-Id"
"""Those that an allowed page may send; X-Page-Token is not among them, so that only the page itself moves the clock."""
_METHODS = "GET, HEAD, POST, PUT, DELETE"


def check_origins(origins: Collection[str]) -> None:
    """Raise BadInput unless each is what a browser sends: scheme, host and port if it is not the usual one."""
    for origin in origins:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or origin != f"{parts.scheme}://{parts.netloc}":
            raise BadInput(
                f"--allow-origin: '{origin}' is not the origin of a web page",
                field="allow_origin",
                hint="--allow-origin http://localhost:3000",
            )


@dataclass(frozen=True, slots=True)
class CrossOriginRules:
    """Which pages may do what."""

    scheme: str
    is_local: bool
    """Whether only this machine reaches the socket."""
    names: frozenset[str] = frozenset()
    """The master's own names, in lower case, beside addresses and those of this machine."""
    allowed: frozenset[str] = frozenset()
    """The origins of pages of others that may do everything."""

    def check(self, request: web.BaseRequest) -> None:
        """Raise Refusal (403) for a request that comes from a page of somebody else."""
        hosts = request.headers.getall("Host", [""])
        if self.is_local and not all(self._is_own(host) for host in hosts):
            raise _refused(f"The host '{hosts[0]}' is not this machine's: use its address, or --hostname")
        if request.method in _READING:
            return
        for origin in request.headers.getall("Origin", []):
            if origin not in self.allowed and not self._is_of(origin, hosts[0]):
                raise _refused(f"A page of '{origin}' may change nothing here: start the master with --allow-origin")

    def headers_for(self, request: web.BaseRequest) -> Mapping[str, str]:
        """The headers with which a browser lets an allowed page read an answer; none for other requests."""
        origin = request.headers.get("Origin")
        if origin is None or origin not in self.allowed:
            return {}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": "Mesos-Stream-Id",
            "Vary": "Origin",
        }

    def preflight(self, request: web.BaseRequest) -> web.Response | None:
        """The answer to a browser that asks what an allowed page may send; None for any other request."""
        headers = self.headers_for(request)
        if request.method != "OPTIONS" or not headers or "Access-Control-Request-Method" not in request.headers:
            return None
        allowed = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _HEADERS}
        return web.Response(status=204, headers={**headers, **allowed, "Access-Control-Max-Age": "600"})

    def _is_of(self, origin: str, host: str) -> bool:
        """Whether a page comes from this master itself, by a name that nobody else can give away."""
        return bool(host) and origin.lower() == f"{self.scheme}://{host.lower()}" and self._is_own(host)

    def _is_own(self, host: str) -> bool:
        """Whether a Host names this master; none at all, or an empty one as of drivers, does."""
        name = _name_of(host)
        if name in ("", *_LOCAL_NAMES, socket.gethostname().lower(), *self.names) or name.endswith(".localhost"):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _name_of(host: str) -> str:
    """The name in a Host, without a port and without the dot that ends it."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower().removesuffix(".")


def _refused(sentence: str) -> Refusal:
    # The body was not read, so nothing more can be.
    return Refusal(403, sentence, {"Content-Type": PLAIN, "Connection": "close"})
