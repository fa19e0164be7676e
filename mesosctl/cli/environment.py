"""Everything the command line touches besides the master: streams, terminal, variables, clock.

Tests replace it as a whole.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from mesosctl.core.redaction import Secrets
from mesosctl.render import forms

if TYPE_CHECKING:
    from mesosctl.client.settings import Transport


def _ask_secret(prompt: str) -> str:
    import getpass

    return getpass.getpass(prompt)


@dataclass(slots=True)
class Environment:
    """The surroundings of one run.

    `transport` replaces the network, `ask_secret` the silent prompt; both only in tests.  `notes`
    keeps sentences back while standard error may have to be one JSON object.
    """

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    ask_secret: Callable[[str], str] = _ask_secret
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    transport: "Transport | None" = None
    notes: list[str] = field(default_factory=list)
    form: str | None = None
    """How data is written, once that is settled."""
    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """What must not be shown or kept, whoever says it: a master, or a proxy before it, may repeat what it was sent."""

    def take_notes(self) -> list[str]:
        """The sentences that were kept back for a JSON error, and are told with it."""
        taken, self.notes = self.notes, []
        return list(map(self.secrets.redact, taken))

    def tell_notes(self) -> None:
        """Write the sentences that no JSON error has taken along: JSON lines where data is JSON."""
        notes = self.take_notes()
        if notes and self.speaks_json:
            import json

            told = [note.partition(": ") for note in notes]
            self.stderr.writelines(
                json.dumps({"schema_version": 1, "kind": "note", "level": level.lower(), "message": message}) + "\n"
                for level, _, message in told
            )
            return
        self.stderr.writelines(f"mesosctl: {note}\n" for note in notes)

    @property
    def speaks_json(self) -> bool:
        """Whether a program reads what is written, on both streams."""
        return self.form in forms.JSON

    @property
    def may_prompt(self) -> bool:
        """Whether there is a person to ask: never in a script, which must not hang."""
        return self.stdin.isatty() and self.stderr.isatty()

    @property
    def draws(self) -> bool:
        """Whether output is for a terminal's eyes (FORCE_COLOR says so too)."""
        return self.stdout.isatty() or bool(self.variables.get("FORCE_COLOR"))

    @property
    def overwrites(self) -> bool:
        """Whether a line on standard error can be written over: by a terminal that knows how."""
        return self.stderr.isatty() and self.variables.get("TERM") != "dumb"

    @property
    def colours(self) -> bool:
        """Whether it may have colours: NO_COLOR forbids them, whatever else is said."""
        return self.draws and not self.variables.get("NO_COLOR") and self.variables.get("TERM") != "dumb"
