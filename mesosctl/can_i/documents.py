"""The JSON of `can-i` and `who-can`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored, named

_PRINCIPAL = Field(description="Null for an unauthenticated client.")


class Permission(Mirrored):
    """A command, and whether the principal may run it."""

    command: Annotated[str, named("question.verb.command")]
    name: Annotated[str | None, named("question.name")] = Field(
        description="The name that the question is about; null if it is about everything."
    )
    name_is: Annotated[str, named("question.verb.of")] = Field(
        description="The kind of the name: role, principal or user; empty if the command needs none."
    )
    actions: Annotated[tuple[str, ...], named("question.verb.actions")] = Field(
        description="The actions of ACLs that the command needs."
    )
    known: bool
    allowed: bool | None = Field(description="Null if it is unknown.")
    by: Literal["master", "acls"] | None = Field(description="The source of the answer.")
    reason: str


class CanI(Document):
    """`can-i`; jsonl writes one of `permissions` per line."""

    kind: Literal["can-i"] = "can-i"
    principal: str | None = _PRINCIPAL
    known: bool
    allowed: bool | None = Field(description="Null if it is unknown.")
    permission: Permission = Field(description="The answer that decides, if the command is about several names.")
    permissions: list[Permission] = Field(description="The answer about each name.")


class CanIList(Document):
    """`can-i --list`; jsonl writes one of `permissions` per line."""

    kind: Literal["can-i.list"] = "can-i.list"
    principal: str | None = _PRINCIPAL
    permissions: list[Permission]


class Permitted(Mirrored):
    """A client, and whether it may run the command."""

    principal: Annotated[str | None, named("client.principal")] = Field(
        description="Null if it is unauthenticated, and for all principals that no rule names."
    )
    who: Annotated[Literal["named", "anybody else", "unauthenticated"], named("client.who")]
    allowed: Annotated[bool | None, named("found.allowed")] = Field(description="Null if it is unknown.")
    reason: Annotated[str, named("found.reason")]
    you: Annotated[bool, named("is_you")] = Field(description="Whether these are your credentials.")


class WhoCan(Document):
    """`who-can`; jsonl writes one of `clients` per line."""

    kind: Literal["who-can"] = "who-can"
    command: str = Field(description="The command, and the names that it is about.")
    clients: list[Permitted]
