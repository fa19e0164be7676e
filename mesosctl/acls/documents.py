"""The JSON of `acls -o json`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored, Strict, named


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
