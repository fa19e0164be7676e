"""Frameworks that send messages and see what becomes of them: by driver to a real master, over HTTP to a fake one.

A message is a call that reconciles one unknown task, since a master answers each with a status:
the status tells that the message was processed, and when.
"""

import contextlib
import json
import queue
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from mesosctl.mesos.messages.protobuf_json import recordio
from tests.conformance.callers.driver import Driver, inside
from tests.conformance.masters.cluster import Cluster
from tests.helpers.waiting import PATIENCE


@dataclass(frozen=True, slots=True)
class Seen:
    """A task whose message was processed, or the text of a refusal; `at` in monotonic seconds."""

    processed: str | None
    refused: str | None
    at: float


class Sender(ABC):
    """One registered framework."""

    @abstractmethod
    def send(self, *tasks: str) -> None:
        """One message for each task, without a pause."""

    @abstractmethod
    def next(self) -> Seen: ...

    @abstractmethod
    def fail_over(self) -> "Sender":
        """The same framework on another connection."""

    @abstractmethod
    def teardown(self) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Break the connection."""

    def until(self, task: str) -> list[str]:
        """The tasks processed until that one is."""
        found: list[str] = []
        while task not in found:
            seen = self.next()
            if seen.processed is not None:
                found.append(seen.processed)
        return found


class DriverSender(Sender):
    def __init__(
        self, cluster: Cluster, principal: str | None, failover_timeout: float, known: bytes | None = None
    ) -> None:
        self._again = (cluster, principal, failover_timeout)
        self._driver = Driver(httpx.URL(cluster.address).port or 0, principal=principal)
        self._driver.subscribe(failover_timeout=failover_timeout, framework_id=known)

    def fail_over(self) -> "DriverSender":
        return DriverSender(*self._again, self._driver.framework_id)

    def send(self, *tasks: str) -> None:
        self._driver.reconcile(*tasks)

    def next(self) -> Seen:
        message = self._driver.next_of("StatusUpdateMessage", "FrameworkErrorMessage")
        if message.name == "FrameworkErrorMessage":
            return Seen(None, inside(message.body, 2).decode(), message.at)
        return Seen(inside(message.body, 1, 4, 1, 1).decode(), None, message.at)

    def teardown(self) -> None:
        self._driver.teardown()

    def close(self) -> None:
        self._driver.close()


class HttpSender(Sender):
    def __init__(
        self, cluster: Cluster, principal: str | None, failover_timeout: float, known: dict[str, Any] | None = None
    ) -> None:
        self._again = (cluster, principal, failover_timeout)
        url = httpx.URL(cluster.address)
        self._events: queue.Queue[tuple[dict[str, Any], float]] = queue.Queue()
        self._calls = httpx.Client(trust_env=False, base_url=url, timeout=PATIENCE)
        info = {"user": "u", "name": "http", "failover_timeout": failover_timeout}
        info |= {} if principal is None else {"principal": principal}
        body = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
        if known is not None:
            info["id"] = body["framework_id"] = known
        # A socket of its own, as the stream has to be broken from another thread.
        self._socket = socket.create_connection((url.host, url.port or 0), timeout=PATIENCE)
        text = json.dumps(body).encode()
        self._socket.sendall(
            f"POST /api/v1/scheduler HTTP/1.1\r\nHost: {url.host}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode()
            + text
        )
        self._stream = self._socket.makefile("rb")
        assert b" 200 " in self._stream.readline()
        headers = {}
        while line := self._stream.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        self._stream_id = headers["mesos-stream-id"]
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        subscribed, _ = self._events.get(timeout=PATIENCE)
        self.framework_id = subscribed["subscribed"]["framework_id"]

    def fail_over(self) -> "HttpSender":
        return HttpSender(*self._again, self.framework_id)

    def send(self, *tasks: str) -> None:
        for task in tasks:
            self._call({"type": "RECONCILE", "reconcile": {"tasks": [{"task_id": {"value": task}}]}})

    def next(self) -> Seen:
        while True:
            event, at = self._events.get(timeout=PATIENCE)
            if event["type"] == "UPDATE":
                return Seen(event["update"]["status"]["task_id"]["value"], None, at)
            if event["type"] == "ERROR":
                return Seen(None, event["error"]["message"], at)

    def teardown(self) -> None:
        self._call({"type": "TEARDOWN"})

    def close(self) -> None:
        with contextlib.suppress(OSError):  # the master may have closed it
            self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.join(PATIENCE)
        self._stream.close()
        self._socket.close()
        self._calls.close()

    def _call(self, call: dict[str, Any]) -> None:
        answer = self._calls.post(
            "/api/v1/scheduler",
            json=call | {"framework_id": self.framework_id},
            headers={"Mesos-Stream-Id": self._stream_id},
        )
        assert answer.status_code == 202, answer.text

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # broken off
            for record in recordio.decode(self._chunks()):
                self._events.put((json.loads(record), time.monotonic()))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._stream.readline() or b"0", 16):
            yield self._stream.read(size)
            self._stream.readline()
