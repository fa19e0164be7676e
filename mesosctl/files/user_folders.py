"""The folders of a user in which mesosctl and the fake master keep files (XDG Base Directory Specification)."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mesosctl.mesos.errors import BadInput

_BELOW_HOME = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
}


def own_folder(variable: str, variables: Mapping[str, str] | None = None) -> Path | None:
    """The program's own folder: in the folder that `variable` names, or else below the home; None without a home.

    A path that is not absolute counts as none.  `variables` replace those of the process.
    """
    known = os.environ if variables is None else variables
    base = known.get(variable, "")
    if not base.startswith("/"):
        home = known.get("HOME")
        if not home:
            return None
        base = f"{home}/{_BELOW_HOME[variable]}"
    return Path(base, "mesosctl")


def state_folder(variables: Mapping[str, str] | None = None) -> Path:
    """The folder of what lasts between commands; without HOME it is in the home of the user who runs the process.

    `variables` come before those of the process. A container may run as a user that its system does not know.  Raises
    BadInput if there is no folder at all.
    """
    folder = own_folder("XDG_STATE_HOME", {**os.environ, **(variables or {})})
    if folder is not None:
        return folder
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        raise BadInput(
            f"there is no home folder: HOME is not set, and the system does not know user {os.getuid()}",
            hint="set HOME or XDG_STATE_HOME to a folder",
        ) from None
    return Path(home, _BELOW_HOME["XDG_STATE_HOME"], "mesosctl")


_STARTUP_FILES = (".bashrc", ".zshrc")


@contextmanager
def edits_told(words: Sequence[str], option: str, tell: Callable[[str], object]) -> Iterator[None]:
    """Tell which startup files of shells are edited in this block, if `option` is among the words: typer does not."""
    is_asked = any(word.partition("=")[0] == option for word in words)
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  # as it is if there is no home
    before = {home / name: _content(home / name) for name in _STARTUP_FILES if is_asked}
    try:
        yield
    finally:
        for file, content in before.items():
            if _content(file) != content:
                tell(f"{file} has a line for completion now, which the shell reads when it starts")


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None
