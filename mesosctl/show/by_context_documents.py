"""The JSON of a command that works on several contexts, as models; see `show.document`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mesosctl.show.document import Document, Error, Strict


class ContextAnswer(Strict):
    """The end of the command on one context."""

    context: str
    exit_status: int | None = Field(description="Null if an interruption came before it was begun.")
    answer: dict[str, Any] | None = Field(
        description="The document that the command writes for this context alone; its `kind` names the schema. Null "
        "if there is none."
    )
    error: Error | None


class ByContext(Document):
    """Any command on several contexts; jsonl writes the lines of each context with `context` as their first field."""

    kind: Literal["by-context"] = "by-context"
    contexts: list[ContextAnswer]


class InContext(BaseModel):
    """A line of jsonl, and its context."""

    model_config = ConfigDict(extra="allow", ser_json_inf_nan="strings")

    context: str
