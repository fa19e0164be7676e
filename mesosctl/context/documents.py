"""The JSON of `mesosctl context`, as models; see `show.document`."""

from typing import Literal

from pydantic import Field

from mesosctl.show.document import Document, Strict


class Context(Strict):
    """A context; null for settings that it does not have."""

    name: str
    current: bool
    master: str | None
    principal: str | None


class ContextList(Document):
    """`context list`; jsonl writes one of `contexts` per line."""

    kind: Literal["context.list"] = "context.list"
    contexts: list[Context]


class SettingInEffect(Strict):
    """A setting; secrets are hidden."""

    key: str
    value: str
    origin: Literal["flag", "environment", "context", "default"]
    name: str | None = Field(description="The option, the variable or the context.")
    place: str | None = Field(description="File and line.")


class ContextShow(Document):
    """`context show`; jsonl writes one of `settings` per line."""

    kind: Literal["context.show"] = "context.show"
    context: str | None
    settings: list[SettingInEffect]


class ContextChange(Strict):
    """A change to one context."""

    name: str
    done: Literal["set", "used", "removed"]


class ContextChanges(Document):
    """`context set`, `context use` and `context remove`; jsonl writes one of `changes` per line."""

    kind: Literal["context.changes"] = "context.changes"
    changes: list[ContextChange]
    current: str | None
