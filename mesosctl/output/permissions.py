"""The answers of `can-i` and `acls check` as reports."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mesosctl.model.acls import Access, Finding
from mesosctl.model.command_permissions import Permission
from mesosctl.model.notation import counted
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report

if TYPE_CHECKING:
    from mesosctl.output.json_documents import permissions as documents

_ALLOWED = {True: "yes", False: "no", None: "unknown"}
_MEANING: Mapping[str, Meaning] = {"yes": "met", "no": "not met", "unknown": "at risk"}


def permission(found: Permission, principal: str | None) -> Report:
    """The answer to one question."""

    def document() -> "documents.CanI":
        from mesosctl.output.json_documents import permissions as documents

        one = documents.Permission.of(found)
        return documents.CanI(principal=principal, known=one.known, allowed=one.allowed, permission=one)

    return _table([found])._replace(document=document, items=lambda: [document().permission])


def permission_list(found: Sequence[Permission], principal: str | None) -> Report:
    """The answers to a question about each command."""

    def document() -> "documents.CanIList":
        from mesosctl.output.json_documents import permissions as documents

        return documents.CanIList(principal=principal, permissions=[documents.Permission.of(one) for one in found])

    return _table(found)._replace(document=document, items=lambda: document().permissions)


def _table(found: Sequence[Permission]) -> Report:
    columns = (
        Column("COMMAND", rank=-1),
        Column("ALLOWED", meaning=_MEANING, rank=-1),
        Column("BY", rank=1),
        Column("REASON", kind="sentence"),
        Column("ACTIONS", wide=True),
    )
    rows = [
        [
            one.question.words,
            _ALLOWED[one.allowed],
            one.by or NOTHING,
            one.reason,
            ", ".join(one.question.verb.actions) or NOTHING,
        ]
        for one in found
    ]
    names = [one.question.words for one in found if one.allowed]
    return Report(columns, rows, names, _no_document, tuple)


def _no_document() -> "documents.CanI":
    raise AssertionError("the caller names the document")


class CheckedAcls(NamedTuple):
    """A file of ACLs, what is to be said about it, and what the principal of --as may do."""

    file: str
    name: str
    """The name of the file in sentences."""
    findings: Sequence[Finding]
    principal: str | None = None
    access: Mapping[str, tuple[str, Access]] | None = None
    """By action: the kind of its objects, and which of them it is allowed for."""

    @property
    def valid(self) -> bool:
        """Whether a master would start with it, and ignore no part of it."""
        return all(one.level != "error" for one in self.findings)


def acls_check(check: CheckedAcls) -> Report:
    """The findings; with --as the table of what the principal may do, and the findings under it."""

    def document() -> "documents.AclsCheck":
        from mesosctl.output.json_documents import permissions as documents

        access = None
        if check.access is not None:
            access = [
                documents.AccessTo(
                    action=action, objects=kind, decisions=[documents.Decision.of(each) for each in one.decisions]
                )
                for action, (kind, one) in check.access.items()
            ]
        return documents.AclsCheck(
            file=check.file,
            valid=check.valid,
            findings=[documents.AclsFinding.of(one) for one in check.findings],
            principal=check.principal,
            access=access,
        )

    columns = (
        Column("LEVEL", meaning={"error": "not met", "warning": "at risk"}),
        Column("LINE", kind="number"),
        Column("FIELD"),
        Column("FINDING", kind="sentence", rank=-1),
        Column("HINT", kind="sentence", rank=1),
        Column("RULE", wide=True),
    )
    rows = [
        [
            one.level,
            NOTHING if one.line is None else str(one.line),
            one.field.removeprefix(f"line {one.line}, "),
            one.sentence,
            one.hint or NOTHING,
            one.rule,
        ]
        for one in check.findings
    ]
    findings = Report(
        columns,
        rows,
        [one.field for one in check.findings],
        document,
        lambda: document().findings,
        remark=[f"{check.name}: {_verdict(check)}"],
    )
    if check.access is None:
        return findings
    may = [[action, str(one), kind] for action, (kind, one) in check.access.items()]
    return Report(
        (Column("ACTION"), Column("MAY", kind="sentence", rank=-1), Column("OBJECTS", rank=1)),
        may,
        [action for action, (_, one) in check.access.items() if one.anything],
        document,
        lambda: document().access or [],
        remark=[findings] if check.findings else findings.remark,
    )


def _verdict(check: CheckedAcls) -> str:
    errors = sum(one.level == "error" for one in check.findings)
    if errors:
        return f"{counted(errors, 'error')}; a master would not start with it, or would ignore a part of it"
    if check.findings:
        return f"{counted(len(check.findings), 'warning')}; a master would start with it"
    return "a master would start with it, and every rule has an effect"
