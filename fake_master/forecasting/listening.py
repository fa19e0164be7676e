"""The transport of a rehearsal: it keeps what every change was answered."""

import json
from collections.abc import Callable

import httpx

from fake_master.carriers.in_process import InProcessTransport
from fake_master.master.clocks import VirtualClock
from fake_master.master.master import Master
from mesosctl.core.forecast import Answer

_V1 = "/api/v1"
_SCHEDULER = "/api/v1/scheduler"
_READING = ("GET_", "LIST_", "READ_", "SUBSCRIBE")
# Of a framework's calls, those that can be refused and those that change more than an offer.
_FRAMEWORKS_CALLS = ("SUBSCRIBE", "ACCEPT")


class ListeningTransport(httpx.BaseTransport):
    """Carries requests to a master in virtual time, and reports the answer to each that would change something."""

    def __init__(self, master: Master, clock: VirtualClock, report: Callable[[Answer], None]) -> None:
        self._carrier = InProcessTransport(master, clock.sleep)
        self._report = report
        self.label: str | None = None
        """What the next changes are called; without one, by method, path and call."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange."""
        name = _change(request)
        response = self._carrier.handle_request(request)
        if name is not None:
            accepted = response.status_code < 400
            message = "" if accepted else response.read().decode(errors="replace").strip()
            self._report(Answer(self.label or name, response.status_code, accepted, message))
        return response


def _change(request: httpx.Request) -> str | None:
    """What a request would change, in short; None where it only reads."""
    if request.method in ("GET", "HEAD"):
        return None
    path = request.url.path
    if path not in (_V1, _SCHEDULER):
        return f"{request.method} {path}"
    try:
        call = str(json.loads(request.read())["type"])
    except (ValueError, KeyError, TypeError):
        return f"{request.method} {path}"
    if path == _SCHEDULER:
        return call if call in _FRAMEWORKS_CALLS else None
    return None if call.startswith(_READING) else call
