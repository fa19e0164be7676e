"""The registration of a master in ZooKeeper, by which frameworks, agents and tools find it.

Source: Mesos documentation, "High-Availability Mode".  A master that is up keeps an ephemeral node
`json.info_NNNNNNNNNN` with its MasterInfo in JSON; the lowest number leads.  A fake master always leads, so it
registers only if no other is.
"""

import json
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.mesos.errors import BadInput

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_ADDRESS = re.compile(r"zk://(?:([^/@]+:[^/@]*)@)?([^/@]+)(/[^\s]+)")
_NODE = "json.info_"
_SECONDS_TO_CONNECT = 10.0
_SESSION_SECONDS = 10.0
_SECONDS_TO_WAIT = 2 * _SESSION_SECONDS
"""For the node of a master that was killed, which lasts as long as its session."""
_PAUSE = 0.2


class ZooKeeperPlace(NamedTuple):
    """Where masters register."""

    hosts: str
    path: str
    digest: str | None


def parse_place(text: str) -> ZooKeeperPlace:
    """Read `zk://[USER:PASSWORD@]HOST:PORT,…/PATH`.  Raises BadInput."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise BadInput("it is not a ZooKeeper address", field="zk", hint="--zk zk://127.0.0.1:2181/mesos")
    return ZooKeeperPlace(found[2], found[3].rstrip("/"), found[1])


class Registration:
    """One master's node, created again if its session is lost. Close it."""

    def __init__(self, place: ZooKeeperPlace, info: Mapping[str, Any]) -> None:
        self._place = place
        self._data = json.dumps(info, separators=(",", ":")).encode()
        self._client = self._connected()
        try:
            self._await_turn()
            self._register()
        except BaseException:
            self.close()
            raise
        self._client.add_listener(self._on_state)

    def close(self) -> None:
        """End the session, and the node with it."""
        self._client.stop()
        self._client.close()

    def _connected(self) -> "KazooClient":
        from kazoo.client import KazooClient
        from kazoo.handlers.threading import KazooTimeoutError

        digest = self._place.digest
        client = KazooClient(
            hosts=self._place.hosts,
            timeout=_SESSION_SECONDS,
            auth_data=None if digest is None else [("digest", digest)],
        )
        try:
            client.start(timeout=_SECONDS_TO_CONNECT)
        except KazooTimeoutError:
            client.stop()
            client.close()
            raise BadInput(
                f"no ZooKeeper answers at {self._place.hosts}", field="zk", hint="start it first, or leave out --zk"
            ) from None
        return client

    def _await_turn(self) -> None:
        """Until no other master is registered.  Raises BadInput."""
        self._client.ensure_path(self._place.path)
        deadline = time.monotonic() + _SECONDS_TO_WAIT
        while any(name.startswith(_NODE) for name in self._client.get_children(self._place.path)):
            if time.monotonic() > deadline:
                raise BadInput(
                    f"another master is registered at {self._place.path}",
                    field="zk",
                    hint="stop it, or name another path",
                )
            time.sleep(_PAUSE)

    def _register(self) -> None:
        self._client.create(f"{self._place.path}/{_NODE}", self._data, ephemeral=True, sequence=True, makepath=True)
        self._is_lost = False

    def _on_state(self, state: str) -> None:
        """Called by the client's own thread, in which nothing may wait for an answer."""
        if state == "LOST":
            self._is_lost = True
        elif state == "CONNECTED" and self._is_lost:
            self._client.handler.spawn(self._register)
