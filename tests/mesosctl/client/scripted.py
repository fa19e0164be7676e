"""A server on a socket that says what it is told to, byte for byte."""

import socket
import threading


class Scripted:
    """A server that answers each connection by a script, bytes for each request, and then hangs up."""

    def __init__(self, *connections, tls=None):
        self.requests = []
        self._tls = tls
        self.hung_up = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(60)
        self.base = f"{'http' if tls is None else 'https'}://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, args=(connections,))
        self._thread.start()

    def _serve(self, connections):
        for number, answers in enumerate(connections):
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.settimeout(60)
            with connection if self._tls is None else self._tls.wrap_socket(connection, server_side=True) as connection:
                for answer in answers:
                    request = connection.recv(65536)
                    if not request:
                        break
                    self.requests.append((number, request))
                    connection.sendall(answer)
            self.hung_up.set()

    def stop(self):
        self._thread.join()
        self._socket.close()


def answer(body=b"", *headers, status=b"200 OK"):
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
