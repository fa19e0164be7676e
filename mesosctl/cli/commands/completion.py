"""`mesosctl completion`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.model.errors import BadInput

Shell = Annotated[
    Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)
]
Server = Annotated[bool, typer.Option("--server", help="That of mesos-fake-master.", show_default=False)]

_NAMES = {"bash": "{}.bash", "zsh": "_{}", "fish": "{}.fish"}
_HERE = Path(__file__).parents[1]
_FOLDERS = (_HERE / "reference" / "made", _HERE.parents[1] / "completions")
"""In an installed package, and in a checkout."""

EXAMPLES = (
    ("completion bash > ~/.local/share/bash-completion/completions/mesosctl", "for bash-completion to find"),
    ("completion zsh > ~/.zfunc/_mesosctl", "for a zsh with fpath=(~/.zfunc $fpath)"),
    ("completion fish > ~/.config/fish/completions/mesosctl.fish", "for fish"),
)


@verb(EXAMPLES, obeys_context=False)
def command(session: Session, shell: Shell, *, server: Server = False) -> None:
    """Write the completion of a shell.

    An installation below /usr, /usr/local or ~/.local has put it in its place already, and so has a
    pipx of today. The others, those of uv and virtual environments among them, need it kept as a file
    once.
    """
    name = _NAMES[shell].format("mesos-fake-master" if server else "mesosctl")
    for folder in _FOLDERS:
        if (folder / name).is_file():
            session.environment.stdout.write((folder / name).read_text(encoding="utf-8"))
            return
    raise BadInput("the completions were not installed", hint="install mesosctl from its wheel or its sources")
