"""An interactive bash, zsh or fish on a pseudo-terminal, in which a test presses keys."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests import ROOT
from tests.helpers.needs import require
from tests.helpers.waiting import PATIENCE

SHELLS = ("bash", "zsh", "fish")
_COMMANDS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
_SETUP = {
    # History expansion is on, as for a person. A list is written at the first Tab, one word a line, and as a whole.
    "bash": "for file in {files}/*.bash; do source $file; done; "
    "bind 'set show-all-if-ambiguous on' 'set completion-query-items 0' 'set page-completions off' "
    "'set completion-display-width 0' 'set enable-bracketed-paste off'",
    "zsh": "fpath=({files} $fpath); autoload -Uz compinit; compinit -D -u; "
    "LISTMAX=100000; PROMPT=; unset zle_bracketed_paste",
    "fish": "for file in {files}/*.fish; source $file; end; set -g fish_autosuggestion_enabled 0; "
    "function fish_prompt; end; function fish_title; end",
}
_SEQUENCES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\([A-Z0-9]|\][^\x07]*\x07|[=>])")
_DONE = "\x1e"
"""What the program of a test writes to the terminal when it has run."""


def stand_in(path: Path, real: str, log: Path) -> None:
    """Make a program that completes as the command `real` does, and otherwise notes its words and does nothing."""
    variable = f"_{path.name}_COMPLETE".replace("-", "_").upper()
    path.write_text(
        f'#!/bin/sh\nif [ -n "${variable}" ]; then exec {real}; fi\n'
        f"printf '%s\\0' \"$@\" >>'{log}'; printf '\\n\\0' >>'{log}'; printf '\\036'\n"
    )
    path.chmod(0o755)


class InteractiveShell:
    """A shell with the scripts of a folder, in its home folder; `log` is that of its `stand_in`s.

    `shown` is everything that it wrote for the last `run`.
    """

    def __init__(
        self,
        shell: str,
        variables: Mapping[str, str],
        log: Path,
        *,
        files: Path = ROOT / "completions",
        columns: int = 300,
    ) -> None:
        require(shell)
        self.shell, self._log = shell, log
        self.shown = ""
        self._terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, columns, 0, 0))
        self._process = subprocess.Popen(
            ["setsid", "-c", "-w", *_COMMANDS[shell]],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**variables, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
            cwd=variables["HOME"],
        )
        os.close(inside)
        self.run(f"{_SETUP[shell].format(files=files)}; mesosctl ready\r")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # A shell ends when its terminal is gone.
        os.close(self._terminal)
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()

    def run(self, keys: str) -> list[str]:
        """Press the keys, which end in a program that runs, and return the words that it got."""
        before = self._ran()
        self.press(keys)
        self.shown = self.read_until(lambda seen: _DONE in seen)
        after = self._ran()
        assert len(after) == len(before) + 1, after[len(before) :]
        return after[-1]

    def press(self, keys: str) -> None:
        """Press the keys."""
        os.write(self._terminal, keys.encode())

    def read_until(self, is_enough: Callable[[str], object]) -> str:
        """What the shell writes, without the sequences that move the cursor or colour, until it is enough."""
        seen, end = b"", time.monotonic() + PATIENCE
        while True:
            plain = _SEQUENCES.sub("", seen.decode(errors="replace"))
            if is_enough(plain):
                return plain
            ready = select.select([self._terminal], [], [], max(0, end - time.monotonic()))[0]
            assert ready, f"{self.shell} wrote {plain!r}"
            seen += os.read(self._terminal, 1 << 16)

    def _ran(self) -> list[list[str]]:
        if not self._log.exists():
            return []
        return [ran.split("\0")[:-1] for ran in self._log.read_bytes().decode().split("\n\0")[:-1]]
