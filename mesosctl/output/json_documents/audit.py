"""The JSON of `mesosctl audit`, as models; see `json_documents`."""

from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from mesosctl.model.notation import utc_text
from mesosctl.output.json_documents.document import Document, Strict

if TYPE_CHECKING:
    from mesosctl.model.audited_commands import AuditedCommand


class AuditEntry(Strict):
    """One command that sent at least one change; times are in UTC, as ISO 8601 writes them."""

    id: str
    begun: str
    ended: str | None
    user: str = Field(description="The user of the system.")
    principal: str | None
    context: str | None
    master: str
    command: str = Field(description="The words that were typed, without secrets.")
    requests: list[str] = Field(description="The changes that were sent.")
    status: int | None = Field(description="The exit status; null if the command is running, or was killed.")
    answer: dict[str, Any] | None = Field(description="The JSON of the answer, with the state before and after.")
    failure: str | None = Field(description="The message of the error.")

    @classmethod
    def of(cls, one: "AuditedCommand") -> Self:
        """Make it from an audited command."""
        return cls(
            id=one.id,
            begun=utc_text(one.begun),
            ended=None if one.ended is None else utc_text(one.ended),
            **one.author._asdict(),
            requests=one.requests,
            status=one.status,
            answer=None if one.answer is None else dict(one.answer),
            failure=one.failure,
        )


class AuditList(Document):
    """`audit list`; jsonl writes one of `commands` per line."""

    kind: Literal["audit.list"] = "audit.list"
    commands: list[AuditEntry]
