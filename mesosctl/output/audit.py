"""The audit file as a report."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from mesosctl.output.formats.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from mesosctl.model.audited_commands import AuditedCommand
    from mesosctl.output.json_documents import audit as documents


def audit_list(commands: "Sequence[AuditedCommand]") -> Report:
    """The commands, the oldest first."""

    def items() -> "list[documents.AuditEntry]":
        from mesosctl.output.json_documents import audit as documents

        return [documents.AuditEntry.of(one) for one in commands]

    def document() -> "documents.AuditList":
        from mesosctl.output.json_documents import audit as documents

        return documents.AuditList(commands=items())

    columns = (
        Column("TIME"),
        Column("USER"),
        Column("PRINCIPAL", rank=2),
        Column("CONTEXT", rank=3),
        Column("MASTER", rank=1),
        Column("STATUS", kind="number"),
        Column("COMMAND", kind="sentence", rank=-1),
        Column("SENT", wide=True, kind="sentence"),
        Column("FAILURE", wide=True, kind="sentence"),
    )
    rows = [
        [
            datetime.fromtimestamp(one.begun).astimezone().isoformat(sep=" ", timespec="seconds"),
            one.author.user,
            one.author.principal or NOTHING,
            one.author.context or NOTHING,
            one.author.master,
            NOTHING if one.status is None else str(one.status),
            one.author.command,
            ", ".join(one.requests),
            one.failure or NOTHING,
        ]
        for one in commands
    ]
    return Report(
        columns, rows, [one.id for one in commands], document, items, empty="the audit file has no such change"
    )
