"""A client in a process of its own, and what it says."""

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.helpers.waiting import PATIENCE


class Driver:
    """One run of a driver script; used with `with`."""

    def __init__(self, command: list[str | Path], environment: Mapping[str, str] | None = None) -> None:
        self._child = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self._lines: queue.Queue[list[Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.heard: list[list[Any]] = []

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def wait_for(self, *words: Any) -> list[Any]:
        """The next line that begins so."""
        while True:
            line = self._lines.get(timeout=PATIENCE)
            assert line is not None, f"it ended without saying {words}, but {self.heard}"
            self.heard.append(line)
            if line[: len(words)] == list(words):
                return line

    def tell(self, words: str) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(words + "\n")
        self._child.stdin.flush()

    def kill(self) -> None:
        """End it as a crash would."""
        self._child.kill()
        self._child.wait(timeout=PATIENCE)
        self._reader.join(timeout=PATIENCE)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child.stdout is not None
        if self._child.poll() is None or not self._child.stdout.closed:
            self.kill()
