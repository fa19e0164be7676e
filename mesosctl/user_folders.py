"""The folders of a user in which mesosctl and the fake master keep files (XDG Base Directory Specification)."""

import os
from collections.abc import Mapping
from pathlib import Path

from mesosctl.model.errors import BadInput

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
