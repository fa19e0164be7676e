"""The audit file as a report."""

from collections.abc import Sequence
from datetime import datetime

from mesosctl.audit import documents
from mesosctl.changes.audited_commands import AuditedCommand
from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Report


def audit_list(commands: Sequence[AuditedCommand]) -> Report:
    """The commands, the oldest first."""
    return list_report(
        documents.AuditList(commands=[]),
        commands,
        (
            Column("TIME", lambda audited: _local_time(audited.begun)),
            Column("USER", lambda audited: audited.author.user),
            Column("PRINCIPAL", lambda audited: audited.author.principal, rank=2),
            Column("CONTEXT", lambda audited: audited.author.context, rank=3),
            Column("MASTER", lambda audited: audited.author.master, rank=1),
            Column("STATUS", lambda audited: audited.status, kind="number"),
            Column("COMMAND", lambda audited: audited.author.command, kind="sentence", rank=-1),
            Column("SENT", lambda audited: ", ".join(audited.requests), wide=True, kind="sentence"),
            Column("FAILURE", lambda audited: audited.failure, wide=True, kind="sentence"),
        ),
        name=lambda audited: audited.id,
        empty="the audit file has no such change",
    )


def _local_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(sep=" ", timespec="seconds")
