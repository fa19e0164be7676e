"""The JSON of `can-i` and `acls`, as models; see `json_documents`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.output.json_documents.document import Document, Mirrored, Strict, named

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
    """`can-i`; jsonl writes its `permission`."""

    kind: Literal["can-i"] = "can-i"
    principal: str | None = _PRINCIPAL
    known: bool
    allowed: bool | None = Field(description="Null if it is unknown.")
    permission: Permission


class CanIList(Document):
    """`can-i --list`; jsonl writes one of `permissions` per line."""

    kind: Literal["can-i.list"] = "can-i.list"
    principal: str | None = _PRINCIPAL
    permissions: list[Permission]


class AclsFinding(Mirrored):
    """A finding about a file of ACLs; with an error, a master does not start, or ignores a part of the file."""

    level: Literal["error", "warning"]
    rule: str
    field: str
    line: int | None
    message: Annotated[str, named("sentence")]
    hint: str | None


class Decision(Mirrored):
    """The decision about some objects."""

    names: tuple[str, ...] | None = Field(description="Null for everything that no decision before it names.")
    allowed: bool


class AccessTo(Strict):
    """The objects that a principal may do an action to: the first of `decisions` that names an object counts."""

    action: str
    objects: str = Field(description="The name of the field that names objects.")
    decisions: list[Decision]


class AclsCheck(Document):
    """`acls check`; jsonl writes one of `findings` per line, or with --as one of `access`."""

    kind: Literal["acls.check"] = "acls.check"
    file: str
    valid: bool
    findings: list[AclsFinding]
    principal: str | None = Field(description="That of --as.")
    access: list[AccessTo] | None = Field(description="Null without --as, and if there is an error.")
