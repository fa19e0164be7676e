"""The findings in a file of ACLs, as a report."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mesosctl.acls import documents
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.rules.acls import Access, AclFinding
from mesosctl.show.lists import rows_of
from mesosctl.show.report import Column, Report


class CheckedAcls(NamedTuple):
    """A file of ACLs, what is to be said about it, and what the principal of --as may do."""

    file: str
    name: str
    """The name of the file in sentences."""
    findings: Sequence[AclFinding]
    principal: str | None = None
    access: Mapping[str, tuple[str, Access]] | None = None
    """By action: the kind of its objects, and which of them it is allowed for."""

    @property
    def valid(self) -> bool:
        """Whether a master would start with it, and ignore no part of it."""
        return all(finding.level != "error" for finding in self.findings)


def acls_check(check: CheckedAcls) -> Report:
    """The findings; with --as the table of what the principal may do, and the findings under it."""

    def document() -> documents.AclsCheck:
        access = None
        if check.access is not None:
            access = [
                documents.AccessTo(
                    action=action, objects=kind, decisions=[documents.Decision.of(each) for each in access_to.decisions]
                )
                for action, (kind, access_to) in check.access.items()
            ]
        return documents.AclsCheck(
            file=check.file,
            valid=check.valid,
            findings=[documents.AclsFinding.of(finding) for finding in check.findings],
            principal=check.principal,
            access=access,
        )

    columns: Sequence[Column[AclFinding]] = (
        Column("LEVEL", lambda finding: finding.level, meaning={"error": "not met", "warning": "at risk"}),
        Column("LINE", lambda finding: finding.line, kind="number"),
        Column("FIELD", lambda finding: finding.field if finding.column is None else f"column {finding.column}"),
        Column("FINDING", lambda finding: finding.sentence, kind="sentence", rank=-1),
        Column("HINT", lambda finding: finding.hint, kind="sentence", rank=1),
        Column("RULE", lambda finding: finding.rule, wide=True),
    )
    findings = Report(
        columns,
        rows_of(columns, check.findings),
        [finding.field for finding in check.findings],
        document,
        lambda: document().findings,
        remark=[f"{check.name}: {_verdict(check)}"],
    )
    if check.access is None:
        return findings
    may = [[action, str(access), kind] for action, (kind, access) in check.access.items()]
    return Report(
        (Column("ACTION"), Column("MAY", kind="sentence", rank=-1), Column("OBJECTS", rank=1)),
        may,
        [action for action, (_, access) in check.access.items() if access.anything],
        document,
        lambda: document().access or [],
        remark=[findings] if check.findings else findings.remark,
    )


def _verdict(check: CheckedAcls) -> str:
    errors = sum(finding.level == "error" for finding in check.findings)
    if errors:
        return f"{counted(errors, 'error')}; a master would not start with it, or would ignore a part of it"
    if check.findings:
        return f"{counted(len(check.findings), 'warning')}; a master would start with it"
    return "a master would start with it, and every rule has an effect"
