"""The page at the address of a master: one HTML file, the JSON that it shows, and its events.

The page is served with a content security policy that allows its own script and style by their hashes, and requests to
this master alone.  Events are server-sent events, one a second at most, so a page costs nothing while nothing happens.
"""

import base64
import hashlib
import re
import secrets
import time
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from fake_master.allocator.interface import Allocator
from fake_master.http.json_text import dumps
from fake_master.http.request_response import JSON, Refusal, Request, Response
from fake_master.http.views.page_document import Sharing
from fake_master.services.rate_limits import RateLimiting
from fake_master.state.account import AccountsOfMaster
from fake_master.state.clock import SteadyClock
from fake_master.state.credentials import is_same
from fake_master.state.master_state import MasterState
from fake_master.state.streams import EventStream, Listener
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError

_SECONDS_BETWEEN_UPDATES = 1.0
_REST = 10.0
"""Times as long as an update took, at least, until the next one: others are not answered meanwhile."""
_ACCOUNTS_OF_ONE_MAKER = 60
_LONGEST_STEP = 3600.0
"""Seconds by which one request may move the clock on: no other is answered meanwhile."""
LONGEST_WISH = 1024
"""Bytes of a request that changes the clock."""
TOKEN = secrets.token_urlsafe(18)
"""Sent by the page with a change; no page of somebody else can read it.  One for each process."""
_PRIVATE = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@cache
def _html() -> tuple[bytes, Mapping[str, str]]:
    """Return the page, and its headers."""
    text = files("fake_master.http").joinpath("page.html").read_text(encoding="utf-8")
    text = text.replace("TOKEN", TOKEN, 1)
    script, style = (_hashes(text, tag) for tag in ("script", "style"))
    policy = (
        f"default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text.encode(), {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        **_PRIVATE,
    }


def _hashes(text: str, tag: str) -> str:
    """Return the sources of a policy that allow what is in these elements."""
    found = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in found)


def event_record(document: Mapping[str, Any]) -> bytes:
    """Return a server-sent event: JSON has no line breaks of its own."""
    return b"data: " + dumps(document) + b"\n\n"


class Shown(Protocol):
    """The part of a master that the page shows and moves on."""

    state: MasterState
    allocator: Allocator
    rate_limiting: RateLimiting

    def advance(self) -> None: ...  # noqa: D102

    def next_deadline(self) -> float | None: ...  # noqa: D102


class PageEndpoints:
    """The page, its document, the streams that keep open pages up to date, and the clock."""

    def __init__(self, master: Shown) -> None:
        self._master = master
        self._state = master.state
        self._listeners: list[Listener] = []
        self._accounts = AccountsOfMaster()
        self._accounts_made = 0
        self._next = 0.0
        """When the next update may be sent, in seconds of `time.monotonic`."""

    def html(self, _request: Request, _principal: str | None) -> Response:
        """GET /."""
        return Response(200, *_html())

    def document(self, _request: Request, principal: str | None) -> Response:
        """GET /page/cluster; never wrapped for `?jsonp=`, so that no other page can read it."""
        return Response(200, dumps(self._sharing().document(principal)), {"Content-Type": JSON, **_PRIVATE})

    def events(self, _request: Request, principal: str | None) -> Response:
        """GET /page/events: the document now, and after changes."""
        stream = EventStream(encode=event_record)
        listener = Listener(stream, principal)
        stream.on_abandon(lambda: self._listeners.remove(listener))
        self._listeners.append(listener)
        if len(self._listeners) > int(self._state.flags.shown["max_operator_event_stream_subscribers"]):
            self._listeners.pop(0).stream.close()
        stream.send_first(event_record(self._sharing().document(principal)))
        return Response(200, headers={"Content-Type": "text/event-stream", **_PRIVATE}, stream=stream)

    def publish(self) -> float | None:
        """Send an update to open pages; return the seconds after which this should be called again at the latest.

        A page that has not read the last update gets the one after.
        """
        if not self._listeners:
            return None
        begun = time.monotonic()
        if begun < self._next:
            return self._next - begun
        ready = [listener for listener in self._listeners if not listener.stream.is_behind]
        sharing = self._sharing() if ready else None
        records: dict[str | None, bytes] = {}
        for stream, principal in ready:
            if principal not in records and sharing is not None:
                records[principal] = event_record(sharing.document(principal))
            stream.send_first(records[principal])
        took = time.monotonic() - begun
        self._next = begun + max(_SECONDS_BETWEEN_UPDATES, _REST * took)
        return None if len(ready) == len(self._listeners) else _SECONDS_BETWEEN_UPDATES

    def close(self) -> None:
        """End the streams: a browser then asks again."""
        for stream, _ in self._listeners:
            stream.close()
        self._listeners.clear()

    def _sharing(self) -> Sharing:
        # What makes accounts keeps the resources that it has read, which come and go.
        if self._accounts_made == _ACCOUNTS_OF_ONE_MAKER:
            self._accounts, self._accounts_made = AccountsOfMaster(), 0
        self._accounts_made += 1
        master = self._master
        return Sharing.now(
            self._state,
            self._accounts,
            master.allocator.serving_order(),
            master.rate_limiting.queues(),
            master.next_deadline(),
        )

    # --- The clock ------------------------------------------------------------------------------------

    def clock(self, request: Request, _principal: str | None) -> Response:
        """POST /page/clock: `{"do": "run" | "pause" | "advance" | "next"}`, and for "advance" the `seconds`.

        The header X-Page-Token must have the token of the page.  Raises Refusal (400, 403, 409).
        """
        clock = self._state.clock
        if not is_same(TOKEN.encode(), request.headers.get("x-page-token", "").encode(errors="replace")):
            raise Refusal(403, "Only the page of this master changes its clock: reload the page")
        if not isinstance(clock, SteadyClock):
            raise Refusal(409, "The program that this master belongs to moves its clock")
        try:
            asked = request.json()
        except ConversionError as error:
            raise Refusal(400, f"This is not JSON: {error}") from error
        match asked:
            case {"do": "run"}:
                clock.run()
            case {"do": "pause"}:
                clock.pause()
            case {"do": "next"}:
                deadline = self._master.next_deadline()
                self._advance(clock, 0.0 if deadline is None else max(0.0, deadline - clock()))
            case {"do": "advance", "seconds": float() | int() as seconds} if (
                seconds is not True and 0 < seconds <= _LONGEST_STEP
            ):
                self._advance(clock, seconds)
            case _:
                raise Refusal(
                    400,
                    'Send {"do": "run"}, {"do": "pause"}, {"do": "next"}, or {"do": "advance", "seconds": 60}; '
                    f"at most {_LONGEST_STEP:g} seconds",
                )
        self._next = 0.0  # the page that asked is shown the outcome at once
        return Response(204)

    def _advance(self, clock: SteadyClock, seconds: float) -> None:
        """Move the clock on, and do what becomes due, at the time at which it does."""
        end = clock() + seconds
        while True:
            deadline = self._master.next_deadline()
            clock.sleep(max(0.0, min(end, end if deadline is None else deadline) - clock()))
            self._master.advance()
            if clock() >= end:
                return
