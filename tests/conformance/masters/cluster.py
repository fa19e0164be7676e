"""A started master, whatever carries it, and what one needs to start it.

Setup    what to start: agents, flags, files
Cluster  what has been started; takes requests
Answer   what came back
"""

import base64
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.conformance.callers.subscribers import Subscribers
from tests.conformance.masters.codec import JSON_ALONE, Codec

SECRET = "secret-of-{}"  # every principal in a setup has a secret of this form


class MasterDied(AssertionError):
    """A master stopped answering; the message holds the end of its log."""


@dataclass(frozen=True, eq=False, slots=True)
class Setup:
    """What to start.  Two setups are the same only if they are the same object.

    `flags` are master flags by their Mesos names.  `principals` are written into a credentials file and
    `acls` into an ACL file; the carrier adds the flags that name these files.  The first principal is the
    one that may do everything.
    """

    agents: tuple[str, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    principals: tuple[str, ...] = ()
    acls: Mapping[str, Any] | None = None
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    """Of every agent."""
    registered: int | None = None
    """How many of the agents may register; None for all."""
    elsewhere: tuple[str, ...] = ()
    """Agents in another region, of scalars.  A real master has none of its own there; `simulated` has `agents_of`."""
    order: tuple[int, ...] = ()
    """The order in which a fake master lists all of them, by their places; as they stand, if it is empty."""

    def all_flags(self, folder: Path) -> dict[str, str]:
        """The flags, with those for the files that this writes into `folder`."""
        flags = dict(self.flags)
        if self.principals:
            entries = [{"principal": name, "secret": SECRET.format(name)} for name in self.principals]
            flags["credentials"] = _written(folder / "credentials.json", {"credentials": entries})
        if self.acls is not None:
            flags["acls"] = _written(folder / "acls.json", self.acls)
        return flags

    def operator(self) -> dict[str, str]:
        """Headers of somebody who may do everything."""
        return basic(self.principals[0]) if self.principals else {}


def _written(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def basic(principal: str, secret: str | None = None) -> dict[str, str]:
    """The header that authenticates a principal, by default with its right secret."""
    pair = f"{principal}:{SECRET.format(principal) if secret is None else secret}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body of one answer."""

    status: int
    headers: httpx.Headers
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


class Cluster:
    """One started master and its agents."""

    def __init__(
        self,
        setup: Setup,
        client: httpx.Client,
        address: str,
        *,
        subscribers: Subscribers,
        transport: httpx.BaseTransport | None = None,
        stop: Callable[[], None],
        last_words: Callable[[], str] = str,
        pid: int | None = None,
    ) -> None:
        self.setup = setup
        self.subscribers = subscribers
        self.transport = transport
        """What carries requests, where that is not the network."""
        self.address = address
        self.pid = pid
        """Of its process, where it has one of its own."""
        self.alive = True
        self.lose_agent: Callable[[str], None] | None = None
        """Registers an agent with such resources and disconnects it, where that can be had of the master."""
        self.count_anew: Callable[[random.Random], None] | None = None
        """Lets chance say how often each role and framework was served, where that can be had of the master."""
        self.codec = JSON_ALONE
        self._stopped = False
        self._client = client
        self._stop = stop
        self._last_words = last_words

    def request(
        self,
        method: str,
        path: str,
        *,
        content: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request.  The path reaches the master as it is, repeated slashes and escapes included."""
        # A real master answers HEAD with a body, which the next answer on that connection would seem to begin with.
        once = {"Connection": "close"} if method == "HEAD" else {}
        content, headers = self.codec.request(path, content, headers or {})
        try:
            response = self._client.request(method, self.address + path, content=content, headers={**once, **headers})
        except httpx.TransportError as error:
            self.alive = False
            raise MasterDied(f"{method} {path} {content!r}: {error!r}\n{self._last_words()}") from error
        return Answer(response.status_code, response.headers, self.codec.answer(response))

    def speak(self, codec: Codec) -> None:
        """Send calls, and take their answers and events, as `codec` writes them."""
        self.codec = self.subscribers.codec = codec

    def read(self, path: str) -> Any:
        """The JSON of a GET that must succeed, asked by the setup's operator."""
        answer = self.request("GET", path, headers=self.setup.operator())
        assert answer.status == 200, (path, answer)
        return answer.json()

    def call(self, name: str, **body: Any) -> Answer:
        """A v1 operator call, asked by the setup's operator."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self.setup.operator()}
        return self.request("POST", "/api/v1", content=json.dumps({"type": name, **body}), headers=headers)

    def await_allocations(self) -> None:
        """Until the allocator has run on all that was asked of the master before.

        Counted when it begins, and perhaps put into its queue before that: of three runs the second is whole and new.
        """

        def runs() -> float:
            figures: dict[str, float] = self.read("/metrics/snapshot")
            return figures["allocator/mesos/allocation_runs"]

        enough = runs() + 3
        assert self.subscribers.wait(lambda: runs() >= enough), "the master does not allocate any more"

    def agents(self) -> list[Any]:
        """Entries of /slaves, in the order in which the setup names the agents."""
        found = self.read("/slaves")["slaves"]
        return sorted(found, key=lambda agent: int(agent["pid"].partition("(")[2].partition(")")[0]))

    def fill(self, text: str | bytes | None) -> str | bytes | None:
        """The text of a step with the id of the first agent for "@A1", of the second for "@A2"."""
        if not isinstance(text, str) or "@A" not in text:
            return text
        for number, agent in enumerate(self.agents(), 1):
            text = text.replace(f"@A{number}", agent["id"])
        return text

    def clear_reservations(self) -> None:
        """Destroy every volume and undo every dynamic reservation, so that the next test finds none."""
        for agent in self.agents():
            owned = [entry for entries in agent["reserved_resources_full"].values() for entry in entries]
            volumes = [entry for entry in owned if "persistence" in entry.get("disk", {})]
            self._undo("DESTROY_VOLUMES", "volumes", agent["id"], volumes)
        while undone := [self._undo_top(agent) for agent in self.agents()]:
            if not any(undone):
                return

    def _undo_top(self, agent: Any) -> bool:
        """Take the top off every dynamic reservation of an agent; whether there was any."""
        owned = [entry for entries in agent["reserved_resources_full"].values() for entry in entries]
        dynamic = [entry for entry in owned if entry["reservations"][-1]["type"] == "DYNAMIC"]
        self._undo("UNRESERVE_RESOURCES", "resources", agent["id"], dynamic)
        return bool(dynamic)

    def _undo(self, call: str, field: str, agent_id: str, entries: list[Any]) -> None:
        if entries:
            answer = self.call(call, **{call.lower(): {"agent_id": {"value": agent_id}, field: entries}})
            assert answer.status == 202, (call, entries, answer)

    def clear_quota(self) -> None:
        """Remove every quota, so that the next test finds none."""
        for entry in self.call("GET_QUOTA").json()["get_quota"]["status"].get("infos", ()):
            removed = self.call("REMOVE_QUOTA", remove_quota={"role": entry["role"]})
            assert removed.status == 200, (entry, removed)

    def stop(self) -> None:
        """End the master and everything that was opened for it; again does nothing."""
        if self._stopped:
            return
        self._stopped, self.alive = True, False
        self.subscribers.close()
        self._client.close()
        self._stop()
