"""kazoo's threads and sockets for one reading, bounded: a server may claim any length, and kazoo would read it.

Imported only where a `zk://` address is read, because kazoo takes long to import.
"""

import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

MOST_BYTES = 16 << 20
"""Of all answers of a session: a ZooKeeper keeps at most 1 MiB in a node, and a MasterInfo is about 1 KiB."""
_PIECE = 1 << 16


class Handler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """Ends the session with a server that says more than `MOST_BYTES`, or what is not ZooKeeper's protocol."""

    def __init__(self, pause: Callable[[float], None]) -> None:
        super().__init__()
        self.sleep_func = pause
        self.read = 0
        """Bytes of all connections so far."""

    @property
    def is_flooded(self) -> bool:
        """Whether a server said too much."""
        return self.read > MOST_BYTES

    def create_connection(self, *args: Any, **kwargs: Any) -> socket.socket:
        """Connect as usual, with a count of the bytes."""
        return _CountedSocket(super().create_connection(*args, **kwargs), self)

    def spawn(self, func: Callable[..., None], *args: Any, **kwargs: Any) -> Any:
        """A thread as usual, which ends silently if kazoo cannot read an answer: the reader waits, and says so."""

        def run() -> None:
            with suppress(Exception):
                func(*args, **kwargs)

        return super().spawn(run)


class _CountedSocket(socket.socket):
    """A connection that breaks when all of them have read too much."""

    def __init__(self, plain: socket.socket, handler: Handler) -> None:
        timeout = plain.gettimeout()
        super().__init__(plain.family, plain.type, plain.proto, fileno=plain.detach())
        self.settimeout(timeout)
        self._handler = handler

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Read a piece; the size that kazoo wants was claimed by the server.  Raises OSError if it is too much."""
        if self._handler.is_flooded:
            raise OSError(errno.EMSGSIZE, "the server says too much")
        piece = super().recv(min(size, _PIECE), flags)
        self._handler.read += len(piece)
        return piece
