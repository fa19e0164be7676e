"""The scheduler driver of a real libmesos, in a process of its own: compiled once a run, and spoken to by messages."""

import contextlib
import os
import queue
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from fake_master.protobuf.conversion import parse, serialize
from tests.fake_master.protobuf.library import of_process
from tests.helpers.needs import lacking
from tests.helpers.waiting import PATIENCE

SOURCE = Path(__file__).parent / "host.cpp"
_HEARD = {
    "registered": ("FrameworkID", "MasterInfo"),
    "reregistered": ("MasterInfo",),
    "offerRescinded": ("OfferID",),
    "statusUpdate": ("TaskStatus",),
    "slaveLost": ("AgentID",),
    "executorLost": ("ExecutorID", "AgentID"),
}
"""The messages that come with what is heard; those of v0, which are the v1 ones on the wire."""
Document = dict[str, Any]


class Program:
    """The compiled host, and the library that it loads."""

    def __init__(self, library: Path, folders: set[str], folder: Path) -> None:
        compiler = shutil.which("g++")
        if compiler is None:
            lacking("g++", "it compiles the host of the real driver")
        self.library = library
        self.folders = folders
        self.path = folder / "host"
        options = ("-std=c++17", "-O1", "-w", "-rdynamic")
        subprocess.run([compiler, *options, "-o", self.path, SOURCE, "-ldl", "-pthread"], check=True)


def program(real_master_pid: int, folder: Path) -> Program:
    """Compile the host for the library that a real master has loaded, beside what that needs."""
    library = of_process(real_master_pid)
    maps = Path(f"/proc/{real_master_pid}/maps").read_text(encoding="utf-8").splitlines()
    loaded = {line.split()[-1] for line in maps if ".so" in line}
    folders = {str(Path(path).parent) for path in loaded if not path.startswith(("/usr/", "/lib"))}
    return Program(library, folders, folder)


class RealDriver:
    """One driver in one process.  Close it."""

    def __init__(self, made: Program) -> None:
        with contextlib.ExitStack() as stack:
            self._log = stack.enter_context(tempfile.TemporaryFile())  # the child keeps it
            self._child = subprocess.Popen(
                [made.path, made.library],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={
                    **os.environ,
                    "LD_LIBRARY_PATH": ":".join(sorted(made.folders)),
                    "LIBPROCESS_IP": "127.0.0.1",
                    "LIBPROCESS_PORT": "0",
                    "GLOG_minloglevel": "2",
                },
            )
            stack.pop_all()
        self._returned: queue.Queue[int] = queue.Queue()
        self._news = threading.Condition()
        self.heard: list[tuple[str, Any]] = []
        """What the scheduler has been told, in order: what happened, and its documents."""
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    # --- What it does ---------------------------------------------------------------------------------

    def start(
        self,
        address: str,
        info: Document,
        *,
        implicit: bool = True,
        credential: tuple[str, str] | None = None,
        suppressed: tuple[str, ...] = (),
    ) -> None:
        known = b""
        if credential is not None:
            # Credential: principal 1, secret 2, both strings.
            principal, secret = (text.encode() for text in credential)
            known = b"\x0a" + bytes([len(principal)]) + principal + b"\x12" + bytes([len(secret)]) + secret
        packed = serialize("mesos.v1.FrameworkInfo", info)
        self.do("start", address, packed, str(implicit).lower(), known, *suppressed)

    def accept(self, offers: list[Document], operations: list[Document], refuse: float | None = 0.0) -> None:
        self.do(
            "accept",
            _filters(refuse),
            str(len(offers)),
            *(serialize("mesos.v1.OfferID", offer["id"]) for offer in offers),
            *(serialize("mesos.v1.Offer.Operation", operation) for operation in operations),
        )

    def launch(self, offers: list[Document], tasks: list[Document], refuse: float | None = 0.0) -> None:
        self.do(
            "launch",
            _filters(refuse),
            str(len(offers)),
            *(serialize("mesos.v1.OfferID", offer["id"]) for offer in offers),
            *(serialize("mesos.v1.TaskInfo", task) for task in tasks),
        )

    def decline(self, offer: Document, refuse: float | None = None) -> None:
        self.do("decline", serialize("mesos.v1.OfferID", offer["id"]), _filters(refuse))

    def kill(self, task: str) -> None:
        self.do("kill", serialize("mesos.v1.TaskID", {"value": task}))

    def reconcile(self, *tasks: str, agent: str | None = None) -> None:
        on = {} if agent is None else {"agent_id": {"value": agent}}
        self.do("reconcile", *(_status({"task_id": {"value": task}, "state": "TASK_RUNNING", **on}) for task in tasks))

    def acknowledge(self, status: Document) -> None:
        self.do("acknowledge", _status(status))

    def message(self, executor: str, agent: str, data: bytes) -> None:
        ids = (serialize("mesos.v1.ExecutorID", {"value": executor}), serialize("mesos.v1.AgentID", {"value": agent}))
        self.do("message", *ids, data)

    def update(self, info: Document, *suppressed: str) -> None:
        self.do("update", serialize("mesos.v1.FrameworkInfo", info), *suppressed)

    def do(self, *parts: str | bytes) -> None:
        """Call the driver, and wait until the call returns."""
        encoded = [part.encode() if isinstance(part, str) else part for part in parts]
        record = struct.pack("<I", len(encoded)) + b"".join(struct.pack("<I", len(part)) + part for part in encoded)
        assert self._child.stdin is not None
        self._child.stdin.write(record)
        self._child.stdin.flush()
        self._returned.get(timeout=PATIENCE)

    # --- What it hears --------------------------------------------------------------------------------

    def wait(self, until: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Until something holds, looked at whenever something is heard."""
        with self._news:
            return self._news.wait_for(until, seconds)

    def of(self, kind: str) -> list[Any]:
        """The documents of everything of one kind that was heard."""
        return [documents for heard, documents in self.heard if heard == kind]

    def next(self, kind: str, after: int = 0) -> Any:
        """The documents of the first of a kind after so many of it."""
        assert self.wait(lambda: len(self.of(kind)) > after), (kind, self.heard, self.last_words())
        return self.of(kind)[after]

    def last_words(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-2000:]

    def close(self) -> None:
        """End the process without a goodbye, as a crash does."""
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait(PATIENCE)
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError, struct.error):
            while True:
                parts = [self._bytes(self._number()) for _ in range(self._number())]
                self._take(parts[0].decode(), parts[1:])
        with self._news:
            self.ended = True
            self._news.notify_all()

    def _take(self, kind: str, parts: list[bytes]) -> None:
        if kind == "returned":
            self._returned.put(int(parts[0]))
            return
        documents: Any
        if kind == "resourceOffers":
            documents = [parse("mesos.v1.Offer", part) for part in parts]
        elif kind in _HEARD:
            documents = [parse(f"mesos.v1.{name}", part) for name, part in zip(_HEARD[kind], parts, strict=False)]
        else:
            documents = [part.decode(errors="replace") for part in parts]
        with self._news:
            self.heard.append((kind, documents))
            self._news.notify_all()

    def _number(self) -> int:
        found: int = struct.unpack("<I", self._bytes(4))[0]
        return found

    def _bytes(self, size: int) -> bytes:
        assert self._child.stdout is not None
        return self._child.stdout.read(size)


def _filters(refuse: float | None) -> bytes:
    return serialize("mesos.v1.Filters", {} if refuse is None else {"refuse_seconds": refuse})


def _status(status: Document) -> bytes:
    return serialize("mesos.v1.TaskStatus", status)
