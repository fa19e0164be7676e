"""Kill a program that writes a file, over and over: `python -m tests.endurance.jobs.files [--times 500] [--seed N]`.

At every moment the file is one of those that were written, whole, with the permissions that it had.
Prints what was seen; ends with 1 where that was not so.
"""

import hashlib
import random
import subprocess
import sys
import time
from pathlib import Path

from tests.endurance.jobs.killing import Report, command
from tests.helpers.waiting import PATIENCE

_MODE = 0o640
_LONGEST_LIFE = 0.2
"""Seconds between the first file that is written and the kill."""

WRITER = """
import hashlib, sys
from pathlib import Path
from mesosctl.files.writing import write_atomically
path, number = Path(sys.argv[1]), int(sys.argv[2])
while True:
    number += 1
    body = f"{number}\\n" + "x" * (number % 50 * 4000)
    write_atomically(path, hashlib.blake2s(body.encode()).hexdigest() + "\\n" + body)
    print(number, flush=True)
"""


def kill_repeatedly(folder: Path, times: int, seed: int, writer: str = WRITER) -> Report:
    """Start and kill a writer `times` times, each upon the file that the one before it left."""
    report, choice = Report(), random.Random(seed)
    (folder / "elsewhere").mkdir()
    real, link = folder / "elsewhere" / "file", folder / "link"
    link.symlink_to(real)
    real.touch()
    real.chmod(_MODE)
    number = 0
    for _ in range(times):
        # Without a buffer, `communicate` reads on where the first line ends.
        child = subprocess.Popen(
            [sys.executable, "-c", writer, str(link), str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first, child.communicate(timeout=PATIENCE)
        time.sleep(choice.random() * _LONGEST_LIFE)  # the moment is what is varied
        child.kill()
        said = [first, *child.communicate(timeout=PATIENCE)[0].splitlines()]
        report.kills += 1
        answered = int(said[-1]) if said[-1].strip() else int(said[-2])
        found, problem = _look(real, answered)
        report.seen["written and said so"] += len(said)
        report.seen["written and not said so"] += found > answered
        report.seen["left behind"] = len(list(real.parent.iterdir())) - 1
        if problem is None and real.stat().st_mode & 0o777 != _MODE:
            problem = f"the permissions are {real.stat().st_mode:o}"
        if problem is None and not link.is_symlink():
            problem = "the link is a file"
        report.problems += [] if problem is None else [f"kill {report.kills}: {problem}"]
        number = max(found, answered)
    return report


def _look(path: Path, answered: int) -> tuple[int, str | None]:
    """Which number the file has, and what is wrong with it."""
    digest, _, body = path.read_text(encoding="utf-8").partition("\n")
    if hashlib.blake2s(body.encode()).hexdigest() != digest:
        return 0, f"a file in part: {len(body)} characters"
    found = int(body.partition("\n")[0])
    return found, None if found in (answered, answered + 1) else f"found {found} after {answered} was written"


if __name__ == "__main__":
    sys.exit(command(__doc__, kill_repeatedly, times=500))
