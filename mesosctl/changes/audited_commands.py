"""Commands that sent changes, as the audit file keeps them: who, where, when, what and with which exit status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Author(NamedTuple):
    """The person and the place of a change; None for what is unknown or was not named."""

    user: str
    """The user of the system; after sudo with the name of the one who called it."""
    principal: str | None
    context: str | None
    master: str
    command: str


@dataclass(slots=True)
class AuditedCommand:
    """One command that sent at least one change."""

    id: str
    begun: float
    """In seconds since 1970."""
    author: Author
    requests: list[str] = field(default_factory=list)
    """The changes that were sent, such as `POST /quota`."""
    ended: float | None = None
    status: int | None = None
    """The exit status; None if the command is running, or was killed."""
    answer: Mapping[str, Any] | None = None
    """The JSON document of the answer, with the state before and after; None if there was none."""
    failure: str | None = None
    """The message of the error."""


AUDIT_KEYS = ("time", "user", "master", "status", "command")
"""The keys that the list of commands can be sorted by."""


class AuditFilter(NamedTuple):
    """The commands that are asked for."""

    since: float | None = None
    by: str | None = None
    """The user or the principal."""
    on: str | None = None
    """The master or the context."""
    words: Sequence[str] = ()
    """Words that the command line contains."""
    failed: bool = False
    """Only those that did not end with 0."""

    def accepts(self, audited: AuditedCommand) -> bool:
        """Whether a command is asked for."""
        author = audited.author
        typed = author.command.split()
        return (
            (self.since is None or audited.begun >= self.since)
            and (self.by is None or self.by in (author.user, author.principal, *author.user.split(" as ")))
            and (self.on is None or self.on in (author.master, author.context))
            and all(word in typed for word in self.words)
            and not (self.failed and audited.status == 0)
        )
