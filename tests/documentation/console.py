"""The console sessions of a page, run as they stand.

A block of the language `console` holds commands and what they print:

    $ mesosctl quota set web cpus:12
    ROLE  DONE  GUARANTEE  LIMIT
    web   set   cpus:12    -

A command that goes on has `> ` before its further lines.  All blocks of a page are one session of bash, in a home of
its own, on a terminal without colours.  A block with a title (```toml title="wanted.toml") is a file: it is written
before the next command runs.  A command that fails is followed by `$ echo $?`, so that a reader sees its status.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests import ROOT
from tests.documentation.pages import Fence, fences

WIDTH = 100
"""Columns of the terminal."""
LONGEST = 300
"""Seconds that one page may take."""
_END = "\x1e"
_PROGRAMS = {"mesosctl": "mesosctl", "mesos-fake-master": "fake_master"}
_CHECKSUM = "sha256:" + 4 * "5d0c8e7f1b3a2946"
"""How pages write the checksum of a plan, in which there are times and ids."""
_HOME = "/srv/operator"
"""How pages write the path of the home that a session has: as long as the path is, which decides what fits a line."""


class SessionFailed(Exception):
    """A session did not come to its end, or a command failed where the page does not show it."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it is typed, of one or more lines, and what it printed."""

    typed: str
    output: str

    def __str__(self) -> str:
        """Return it as a page shows it."""
        first, *others = self.typed.split("\n")
        return "\n".join([f"$ {first}", *(f"> {line}".rstrip() for line in others), *self.output.splitlines()])


@dataclass(frozen=True, slots=True)
class Block:
    """One console block, by the line of its opening fence."""

    line: int
    commands: tuple[Command, ...]

    @property
    def text(self) -> str:
        """Return what stands between its fences."""
        return "".join(f"{command}\n" for command in self.commands)


def parse(text: str) -> Iterator[Command]:
    """Yield the commands of a console block."""
    typed: list[str] = []
    output: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if typed:
                yield Command("\n".join(typed), "\n".join(output))
            typed, output = [line[2:]], []
        elif not typed:
            raise SessionFailed(f"a console block begins with {line!r} and not with a command")
        elif not output and re.match(r">( |$)", line):
            typed.append(line[2:])
        else:
            output.append(line)
    if typed:
        yield Command("\n".join(typed), "\n".join(output))


def blocks(page: Path) -> list[Block]:
    """Return the console blocks of a page."""
    return [Block(one.line, tuple(parse(one.text))) for one in fences(page) if one.language == "console"]


def run(page: Path) -> list[Block]:
    """Run the session of a page; the same blocks with what was printed now."""
    steps = [one for one in fences(page) if one.language == "console" or one.title is not None]
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as home, tempfile.TemporaryDirectory() as folder:
        assert len(home) == len(_HOME)
        script = Path(folder) / "session"
        script.write_text("\n".join(_script(steps)), encoding="utf-8")
        printed = _in_terminal(script, Path(home))
    plain = re.sub(r"sha256:[0-9a-f]{64}", _CHECKSUM, printed.replace(home, _HOME))
    ended = plain.split(_END)
    outputs = iter(zip(ended[::2], ended[1::2], strict=False))
    return [_filled(block, outputs) for block in blocks(page)]


def _filled(block: Block, outputs: Iterator[tuple[str, str]]) -> Block:
    commands = []
    for number, command in enumerate(block.commands):
        output, status = next(outputs, ("", "ended"))
        following = block.commands[number + 1].typed if number + 1 < len(block.commands) else ""
        if status not in ("0", "ended") and following != "echo $?":
            raise SessionFailed(f"status {status} without `$ echo $?` after it: {command.typed}\n{output}")
        if status == "ended":
            raise SessionFailed(f"the session ended before: {command.typed}")
        lines = (line.rstrip() for line in output.splitlines())
        commands.append(replace(command, output="\n".join(lines).rstrip("\n")))
    return replace(block, commands=tuple(commands))


def _script(steps: list[Fence]) -> Iterator[str]:
    yield "exec </dev/null"
    yield "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"
    for step in steps:
        if step.language != "console":
            assert step.title is not None
            yield f"cat >'{step.title}' <<'END OF FILE'\n{step.text}END OF FILE"
            continue
        for command in parse(step.text):
            yield command.typed
            yield f"_status=$?; printf '{_END}%s{_END}' $_status; (exit $_status)"
    yield ""


def _in_terminal(script: Path, home: Path) -> str:
    """Run a script of bash on a terminal of its own, and return all that it writes there."""
    programs = script.parent / "bin"
    programs.mkdir()
    for name, module in _PROGRAMS.items():
        _program(programs / name, f"-m {module}")
    _program(programs / "python", "")
    controlling, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    session = subprocess.Popen(
        ["bash", "--norc", "--noprofile", script],
        cwd=home,
        env={
            "HOME": str(home),
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
        },
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        return b"".join(_read(controlling)).decode().replace("\r\n", "\n")
    finally:
        os.close(controlling)
        session.wait(LONGEST)


def _program(path: Path, words: str) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def _read(terminal: int) -> Iterator[bytes]:
    """Yield what is written until every program at the terminal has ended."""
    while True:
        try:
            read = os.read(terminal, 65_536)
        except OSError:  # Linux says EIO where others say that there is no more
            return
        if not read:
            return
        yield read


def written(page: Path, found: list[Block]) -> str:
    """Return the text of a page with other console blocks in place of its own."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    for block in reversed(found):
        end = next(number for number in range(block.line, len(lines)) if lines[number].rstrip() == "```")
        lines[block.line : end] = [block.text]
    return "".join(lines)
