"""The programs that some tests need beside Python: how to find them, and which Debian packages bring them.

``python3 -m tests.helpers.tools`` prints those that are not here, each with its packages; `.ci/run` installs them.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ZOOKEEPER_JAR = Path("/usr/share/java/zookeeper.jar")
GO_PACKAGES = Path("/usr/share/gocode")
"""Where Debian's golang-*-dev packages put their sources."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program by its name, its Debian packages, and why it is missing, or None where it is here."""

    name: str
    packages: tuple[str, ...]
    missing: Callable[[], str | None]


def _program(name: str, package: str) -> Tool:
    return Tool(name, (package,), lambda: None if shutil.which(name) else f"there is no {name}")


def _no_browser() -> str | None:
    return None if any(map(shutil.which, BROWSERS)) else f"there is none of {', '.join(BROWSERS)}"


def _no_zookeeper() -> str | None:
    if shutil.which("java") is None:
        return "there is no java"
    if os.environ.get("ZOOKEEPER_CLASSPATH") or ZOOKEEPER_JAR.exists():
        return None
    return f"there is no ZooKeeper server: neither {ZOOKEEPER_JAR} nor ZOOKEEPER_CLASSPATH"


def _no_go() -> str | None:
    if shutil.which("go") is None:
        return "there is no go"
    return None if (GO_PACKAGES / "src").is_dir() else f"there are no Go packages in {GO_PACKAGES}"


TOOLS = {
    tool.name: tool
    for tool in (
        _program("bash", "bash"),
        _program("zsh", "zsh"),
        _program("fish", "fish"),
        _program("groff", "groff-base"),
        _program("man", "man-db"),
        _program("mandoc", "mandoc"),
        _program("setpriv", "util-linux"),
        _program("unshare", "util-linux"),
        _program("npm", "npm"),
        Tool("go", ("golang-go", "golang-github-mesos-mesos-go-dev"), _no_go),
        Tool("chromium", ("chromium",), _no_browser),
        Tool("zookeeper", ("zookeeper", "default-jre-headless"), _no_zookeeper),
    )
}


def main() -> None:
    """Print what is missing, one a line, each followed by its packages."""
    for tool in TOOLS.values():
        if tool.missing() is not None:
            print(tool.name, *tool.packages)


if __name__ == "__main__":
    main()
