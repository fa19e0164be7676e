"""Clients that nobody here wrote, installed for one test run into folders of their own."""

import subprocess
import sys
import tarfile
import venv
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.tools import GO_PACKAGES, TOOLS

SECONDS = 180


class NotInstalled(Exception):
    """The client cannot be had here; says why."""


def run(*command: str | Path, folder: Path) -> None:
    """Run an installer.  Raises NotInstalled with the last line that it wrote."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{command[0]}: {error}") from error
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise NotInstalled(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")


def python_with(packages: Sequence[str], folder: Path, *, without_dependencies: Sequence[str] = ()) -> Path:
    """The interpreter of a new environment with these packages.  Raises NotInstalled."""
    venv.create(folder)  # without a pip of its own, which takes as long as all the rest
    interpreter = folder / "bin" / "python"
    installer = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        interpreter,
        "install",
        "--quiet",
        "--disable-pip-version-check",
    )
    pip = (*installer, "--no-compile")  # most of it is never imported
    run(*pip, *packages, folder=folder)
    if without_dependencies:
        run(*pip, "--no-deps", *without_dependencies, folder=folder)
    return interpreter


def pure_part(package: str, folder: Path) -> Path:
    """The unpacked source of a package whose extension module is optional.  Raises NotInstalled."""
    folder.mkdir()
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-deps", "--no-binary", ":all:", "--dest", folder, package, folder=folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def go_program(source: Path, folder: Path) -> Path:
    """A program built with the Go libraries that the system's packages brought.  Raises NotInstalled."""
    reason = TOOLS["go"].missing()
    if reason is not None:
        raise NotInstalled(reason)
    folder.mkdir()
    program = folder / source.stem
    settings = ("GO111MODULE=off", f"GOPATH={GO_PACKAGES}", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
    run("env", *settings, "go", "build", "-o", program, source, folder=folder)
    return program


def node_modules_with(package: str, folder: Path) -> Path:
    """A folder of Node modules with a package.  Raises NotInstalled."""
    folder.mkdir()
    run("npm", "install", "--no-audit", "--no-fund", "--silent", package, folder=folder)
    return folder / "node_modules"
