"""A ZooKeeper server that lies: it speaks the protocol as far as a reading of masters needs it."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

_CHILDREN, _DATA, _EXISTS, _PING, _CLOSE = 8, 4, 3, 11, -11
STAT = struct.pack(">qqqqiiiqiiq", *[0] * 11)
Pieces = Callable[[], Iterator[bytes]]


def text(value: bytes) -> bytes:
    """A string or a buffer, as the protocol writes it."""
    return struct.pack(">i", len(value)) + value


def children(names: list[bytes]) -> bytes:
    """The body of an answer with the names of nodes."""
    return struct.pack(">i", len(names)) + b"".join(map(text, names))


def data(value: bytes) -> bytes:
    """The body of an answer with the data of a node."""
    return text(value) + STAT


class HostileZooKeeper:
    """Answers each kind of request with `answers` by its opcode: a body, or pieces that are sent without a frame."""

    def __init__(self, listing: bytes | Pieces, content: bytes | Pieces = b"", hello: Pieces | None = None) -> None:
        self._answers = {_CHILDREN: listing, _DATA: content, _EXISTS: STAT}
        self._hello = hello
        self._stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.port = self._socket.getsockname()[1]
        self.sent = 0
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        speaking: list[threading.Thread] = []
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                connection, _ = self._socket.accept()
                connection.settimeout(1)
                speaking.append(threading.Thread(target=self._speak, args=(connection,)))
                speaking[-1].start()
        for thread in speaking:
            thread.join()

    def _speak(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, struct.error):
            self._frame(connection)
            if self._hello is not None:
                self._send_all(connection, self._hello())
                return
            self._send(connection, struct.pack(">iiq", 0, 10_000, 1) + text(b"0" * 16) + b"\0")
            while not self._stopped.is_set():
                xid, opcode = struct.unpack(">ii", self._frame(connection)[:8])
                answer = self._answers.get(opcode, b"")
                if callable(answer):
                    self._send_all(connection, answer())
                else:
                    self._send(connection, struct.pack(">iqi", xid, 1, 0) + answer)

    def _frame(self, connection: socket.socket) -> bytes:
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                head = connection.recv(4, socket.MSG_WAITALL)
                if len(head) < 4:
                    raise ConnectionResetError
                return connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL)
        raise ConnectionResetError

    def _send(self, connection: socket.socket, body: bytes) -> None:
        self._send_all(connection, iter([struct.pack(">i", len(body)), body]))

    def _send_all(self, connection: socket.socket, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            if self._stopped.is_set():
                return
            connection.sendall(piece)
            self.sent += len(piece)

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._socket.close()
