"""The answers of `can-i` and `acls check` as reports."""

from collections.abc import Mapping, Sequence

from mesosctl.can_i import documents
from mesosctl.can_i.command_permissions import ClientPermission, CommandPermission, deciding
from mesosctl.mesos.exit_status import Answer
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import OF_ANSWERS, Column, Report

_ANSWERS: Mapping[bool | None, Answer] = {True: "yes", False: "no", None: "unknown"}


def permission(found: Sequence[CommandPermission], principal: str | None) -> Report:
    """The answer to one question about each name of a command."""

    def document() -> documents.CanI:
        permission = documents.Permission.of(deciding(found))
        return documents.CanI(
            principal=principal,
            known=permission.known,
            allowed=permission.allowed,
            permission=permission,
            permissions=[documents.Permission.of(each) for each in found],
        )

    return Report(_COLUMNS, rows_of(_COLUMNS, found), _allowed(found), document, lambda: document().permissions)


def permission_list(found: Sequence[CommandPermission], principal: str | None) -> Report:
    """The answers to a question about each command."""
    document = documents.CanIList(principal=principal, permissions=[])
    return list_report(document, found, _COLUMNS, names=_allowed(found))


def who_can_list(found: Sequence[ClientPermission], command: str) -> Report:
    """The clients that may run a command, and those that may not."""
    document = documents.WhoCan(command=command, clients=[])
    names = [
        answer.client.principal for answer in found if answer.found.allowed and answer.client.principal is not None
    ]
    return list_report(document, found, _OF_CLIENTS, names=names)


def _allowed(found: Sequence[CommandPermission]) -> list[str]:
    return [permission.question.words for permission in found if permission.allowed]


_COLUMNS: Sequence[Column[CommandPermission]] = (
    Column("COMMAND", lambda permission: permission.question.words, rank=-1),
    Column("ALLOWED", lambda permission: _ANSWERS[permission.allowed], meaning=OF_ANSWERS, rank=-1),
    Column("BY", lambda permission: permission.by, rank=1),
    Column("REASON", lambda permission: permission.reason, kind="sentence"),
    Column("ACTIONS", lambda permission: ", ".join(permission.question.verb.actions), wide=True),
)
_OF_CLIENTS: Sequence[Column[ClientPermission]] = (
    Column("PRINCIPAL", lambda answer: answer.client.principal or f"({answer.client.who})", rank=-1),
    Column("YOU", lambda answer: "you" if answer.is_you else None, rank=1),
    Column("ALLOWED", lambda answer: _ANSWERS[answer.found.allowed], meaning=OF_ANSWERS, rank=-1),
    Column("REASON", lambda answer: answer.found.reason, kind="sentence"),
)
