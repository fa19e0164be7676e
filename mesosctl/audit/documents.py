"""The JSON of `mesosctl audit`, as models; see `show.document`."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored, UtcTime, named


class AuditEntry(Mirrored):
    """One command that sent at least one change; times are in UTC, as ISO 8601 writes them."""

    id: str
    begun: UtcTime
    ended: UtcTime | None
    user: Annotated[str, named("author.user")] = Field(description="The user of the system.")
    principal: Annotated[str | None, named("author.principal")]
    context: Annotated[str | None, named("author.context")]
    master: Annotated[str, named("author.master")]
    command: Annotated[str, named("author.command")] = Field(description="The words that were typed, without secrets.")
    requests: list[str] = Field(description="The changes that were sent.")
    status: int | None = Field(description="The exit status; null if the command is running, or was killed.")
    answer: dict[str, Any] | None = Field(description="The JSON of the answer, with the state before and after.")
    failure: str | None = Field(description="The message of the error.")


class AuditList(Document):
    """`audit list`; jsonl writes one of `commands` per line."""

    kind: Literal["audit.list"] = "audit.list"
    commands: list[AuditEntry]
