"""The image without a container: `python -m tests.endurance.jobs.image [--python PYTHON]`.

It runs the steps of the Containerfile in a new environment, which installs the pinned versions by their hashes from the
package index. Then it starts what the image starts: as a user without rights, with every file system read-only where it
may arrange that (as root, in a mount namespace of its own), and otherwise with its own files read-only. It checks that
the master is healthy and works, and that what is installed is what requirements.txt pins. The status is 0 if so.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import ROOT

NOBODY = 65534
_PATIENCE = 120.0
_READ_ONLY = """
awk '$2 !~ "^/(proc|sys|dev)" { print $2 }' /proc/mounts |
  while read -r at; do mount -o remount,bind,ro "$at" 2>/dev/null; done
exec "$@"
"""


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the Containerfile with its words, continued lines joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    told = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], " ".join(line.split()[1:])) for line in told]


def json_of(name: str) -> list[str]:
    """The words of the one instruction of this name that is a JSON list at its end."""
    (words,) = [words for instruction, words in instructions() if instruction == name]
    return list(json.loads(words[words.index("[") :]))


def sources() -> list[str]:
    """The paths that `COPY . .` copies, by .containerignore."""
    kept = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    return [line[1:] for line in kept if line.startswith("!")]


def copy_sources(to: Path) -> None:
    """The files that the build sees."""
    for name in sources():
        source, target = ROOT / name, to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)


def steps(wheels: Path) -> list[str]:
    """The commands of RUN, one by one, with their folder of wheels here; the user is made by the system in an image."""
    commands = [part.strip() for name, words in instructions() if name == "RUN" for part in words.split(" && ")]
    return [command.replace("/wheels", str(wheels)) for command in commands if not command.startswith("useradd")]


def build(folder: Path, python: str) -> Path:
    """Run the steps, and return the folder of programs."""
    environment, source = folder / "environment", folder / "source"
    subprocess.run([python, "-m", "venv", environment], check=True)
    copy_sources(source)
    path = f"{environment / 'bin'}:{os.environ['PATH']}"
    for step in steps(folder / "wheels"):
        print(f"$ {step.replace(str(folder), '')}", flush=True)
        subprocess.run(["sh", "-euc", step], cwd=source, env=os.environ | {"PATH": path, "PIP_QUIET": "1"}, check=True)
    shutil.rmtree(source)
    return environment / "bin"


def pinned() -> dict[str, str]:
    """The versions in requirements.txt by normalised name."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return {_normal(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def versions_in(bin_folder: Path) -> dict[str, str]:
    """The versions in the environment, without the tools that were in it from the start."""
    script = "import json, importlib.metadata as m; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    told = subprocess.run([bin_folder / "python", "-I", "-c", script], check=True, capture_output=True, text=True)
    return {
        _normal(name): version
        for name, version in json.loads(told.stdout).items()
        if name not in ("pip", "setuptools", "wheel")
    }


def differences(installed: Mapping[str, str], pinned: Mapping[str, str]) -> list[str]:
    """How the installed versions differ from the pinned ones, in sentences."""
    return [
        f"of {name}, {installed.get(name, 'nothing')} is installed and {pinned.get(name, 'nothing')} is pinned"
        for name in sorted(installed.keys() | pinned.keys())
        if installed.get(name) != pinned.get(name)
    ]


def as_nobody(words: Sequence[str | Path]) -> list[str]:
    """The command of a process without rights, to which everything is read-only; as far as this user may arrange it."""
    plain = [str(word) for word in words]
    if os.getuid() != 0:
        return plain
    dropped = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    dropped += ["--no-new-privs", "--bounding-set=-all"]
    return ["unshare", "--mount", "--propagation=private", "sh", "-c", _READ_ONLY, "sh", *dropped, *plain]


def serve(bin_folder: Path, home: Path) -> dict[str, Any]:
    """Start the image's command, ask it, and end it; return what was seen."""
    entry, arguments, check = json_of("ENTRYPOINT"), json_of("CMD"), json_of("HEALTHCHECK")
    # On the loopback interface and a free port: this is a machine with others on it.
    words = [entry[0], "--port", "0", *_without_ip(entry[1:]), *arguments]
    environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}
    child = subprocess.Popen(
        as_nobody(words), cwd=home, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    try:
        assert child.stdout is not None
        ready = json.loads(child.stdout.readline() or "{}")
        status = Path(f"/proc/{ready['pid']}/status").read_text(encoding="utf-8")
        with urllib.request.urlopen(f"{ready['url']}/slaves", timeout=_PATIENCE) as answer:  # it is ours
            agents = len(json.load(answer)["slaves"])
        healthy = [str(bin_folder / check[0]), *(word.replace("5050", str(ready["port"])) for word in check[1:])]
        return {
            "uid": int(re.findall(r"^Uid:\s+(\d+)", status, re.MULTILINE)[0]),
            "capabilities": int(re.findall(r"^CapEff:\s+(\S+)", status, re.MULTILINE)[0], 16),
            "writable": [] if os.getuid() else _writable(ready["pid"]),
            "agents": agents,
            "healthy": subprocess.run(healthy, check=False, env=environment).returncode == 0,
            "ended": _ended(child, ready["pid"]),
        }
    finally:
        if child.poll() is None:
            child.kill()
        child.wait(_PATIENCE)


def _without_ip(words: Sequence[str]) -> list[str]:
    at = words.index("--ip")
    return [*words[:at], *words[at + 2 :]]


def _writable(pid: int) -> list[str]:
    """The mounts of a process that are not read-only, without those that are no files."""
    lines = [line.split() for line in Path(f"/proc/{pid}/mounts").read_text(encoding="utf-8").splitlines()]
    virtual = re.compile(r"/(proc|sys|dev)(/|$)")
    return [at for _, at, _, options, *_ in lines if "ro" not in options.split(",") and not virtual.match(at)]


def _ended(child: "subprocess.Popen[str]", pid: int) -> int:
    os.kill(pid, signal.SIGTERM)
    return child.wait(_PATIENCE)


def try_image(folder: Path, python: str) -> list[str]:
    """Build and serve in `folder`; the sentences of what is not as it should be."""
    folder.chmod(0o755)
    bin_folder = build(folder, python)
    home = folder / "home"
    home.mkdir()
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222 | 0o444)
    seen, versions = serve(bin_folder, home), versions_in(bin_folder)
    print(json.dumps(seen), flush=True)
    versions.pop("mesosctl", None)
    wrong = differences(versions, pinned())
    if os.getuid() == 0 and seen["uid"] != NOBODY:
        wrong.append(f"it runs as user {seen['uid']}")
    if os.getuid() == 0 and seen["capabilities"]:
        wrong.append("it has capabilities")
    if seen["writable"]:
        wrong.append(f"it could write to {', '.join(seen['writable'])}")
    if (seen["agents"], seen["healthy"], seen["ended"]) != (1, True, 0):
        wrong.append(f"it does not work: {seen}")
    return wrong


def main() -> int:
    """Try it, and say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the Python of the new environment")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="image-"))
    try:
        wrong = try_image(folder, arguments.python)
    finally:
        for path in (folder, *folder.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(folder)
    print("\n".join(wrong) or "the image's steps work: a user without rights, a read-only tree, the pinned versions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
