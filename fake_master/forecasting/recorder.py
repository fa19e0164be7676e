"""What carries requests to the master of a dry run: it keeps what every change was answered."""

import json
from collections.abc import Callable, Mapping

from fake_master.http.exchange import Response
from fake_master.master import Master
from fake_master.state.clock import VirtualClock
from fake_master.transports.direct import DirectTransport
from mesosctl.planning.forecast import ChangeAnswer

_V1 = "/api/v1"
_SCHEDULER = "/api/v1/scheduler"
_READING = ("GET_", "LIST_", "READ_", "SUBSCRIBE")
# Of a framework's calls, those that can be refused and those that change more than an offer.
_FRAMEWORKS_CALLS = ("SUBSCRIBE", "ACCEPT")


class Recorder(DirectTransport):
    """Carries requests to a master in virtual time, and reports the answer to each that would change something."""

    def __init__(self, master: Master, clock: VirtualClock, report: Callable[[ChangeAnswer], None]) -> None:
        super().__init__(master, clock.sleep)
        self._report = report
        self.label: str | None = None
        """What the next changes are called; without one, by method, path and call."""

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See `DirectTransport.answer`."""
        name = _change(method, target.partition("?")[0], body)
        response = super().answer(method, target, headers, body)
        if name is not None:
            accepted = response.status < 400
            message = "" if accepted else response.body.decode(errors="replace").strip()
            self._report(ChangeAnswer(self.label or name, response.status, accepted, message))
        return response


def _change(method: str, path: str, body: bytes) -> str | None:
    """What a request would change, in short; None where it only reads."""
    if method in ("GET", "HEAD"):
        return None
    if path not in (_V1, _SCHEDULER):
        return f"{method} {path}"
    try:
        call = str(json.loads(body)["type"])
    except (ValueError, KeyError, TypeError):
        return f"{method} {path}"
    if path == _SCHEDULER:
        return call if call in _FRAMEWORKS_CALLS else None
    return None if call.startswith(_READING) else call
