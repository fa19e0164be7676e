"""A mistake at the command line, as data, and how a test makes it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran

ONE_HOST = "fake:one-host.json"
"""Two agents on host-1, and one on host-2; the fixture `folder` has the file."""
BUSY, LISTED, RACKS = "fake:busy.toml", "fake:listed.toml", "fake:racks.toml"
"""A framework that holds every offer, a master with a list of roles, and agents in two racks."""
CLUSTERS = {
    BUSY: 'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:4;mem:4096"\n[[frameworks]]\n'
    'name = "marathon"\nroles = ["web"]\nanswer = "hold"\n',
    RACKS: "".join(
        f'[[agents]]\nresources = "cpus:4;mem:4096"\nattributes = {{ rack = "{rack}" }}\n' for rack in ("r1", "r2")
    ),
    LISTED: '[flags]\nroles = "web,ads"\n[[agents]]\nresources = "cpus:4;mem:4096"\n',
}


class Mistake(NamedTuple):
    """What is typed after `mesosctl`, the exit status, and what standard error says.

    `says` is the sentence or the part of it that names what was wrong and where, `hint` what to do about it.  A status
    of 1 is an answer, which stands on standard output.
    `on` is the master, `before` what was typed there before, a command a line, and `files` what lies in the folder.
    """

    words: str
    status: int
    says: str
    hint: str = ""
    on: str = "fake:"
    before: str = ""
    files: Mapping[str, str] = {}


def typed(words: str, folder: Path, master: str = "fake:") -> Ran:
    """Type words in a shell whose home is `folder`; nobody looks on.  The fake master keeps its state elsewhere."""
    variables = {"HOME": str(folder), "MESOSCTL_MASTER": master} if master else {"HOME": str(folder)}
    environment = InMemory(variables=variables)
    return Ran(main(shlex.split(words), environment), environment.out, environment.err)


def prepare(mistake: Mistake, folder: Path) -> None:
    """Do what was done before, in `folder`: there the process has to be already, and fake masters keep their state."""
    if mistake.on in CLUSTERS:
        (folder / mistake.on.removeprefix("fake:")).write_text(CLUSTERS[mistake.on], encoding="utf-8")
    for name, text in mistake.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for line in filter(None, mistake.before.splitlines()):
        ran = typed(line, folder, mistake.on)
        assert ran.status == 0, (line, ran.err)
