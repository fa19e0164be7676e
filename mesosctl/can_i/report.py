"""The answers of `can-i` and `acls check` as reports."""

from collections.abc import Mapping, Sequence

from mesosctl.can_i import documents
from mesosctl.can_i.command_permissions import ClientPermission, CommandPermission, deciding
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import Column, Meaning, Report

_ALLOWED = {True: "yes", False: "no", None: "unknown"}
_MEANING: Mapping[str, Meaning] = {"yes": "met", "no": "not met", "unknown": "at risk"}


def permission(found: Sequence[CommandPermission], principal: str | None) -> Report:
    """The answer to one question about each name of a command."""

    def document() -> documents.CanI:
        one = documents.Permission.of(deciding(found))
        return documents.CanI(
            principal=principal,
            known=one.known,
            allowed=one.allowed,
            permission=one,
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
    names = [one.client.principal for one in found if one.found.allowed and one.client.principal is not None]
    return list_report(document, found, _OF_CLIENTS, names=names)


def _allowed(found: Sequence[CommandPermission]) -> list[str]:
    return [one.question.words for one in found if one.allowed]


_COLUMNS: Sequence[Column[CommandPermission]] = (
    Column("COMMAND", lambda one: one.question.words, rank=-1),
    Column("ALLOWED", lambda one: _ALLOWED[one.allowed], meaning=_MEANING, rank=-1),
    Column("BY", lambda one: one.by, rank=1),
    Column("REASON", lambda one: one.reason, kind="sentence"),
    Column("ACTIONS", lambda one: ", ".join(one.question.verb.actions), wide=True),
)
_OF_CLIENTS: Sequence[Column[ClientPermission]] = (
    Column("PRINCIPAL", lambda one: one.client.principal or f"({one.client.who})", rank=-1),
    Column("ALLOWED", lambda one: _ALLOWED[one.found.allowed], meaning=_MEANING, rank=-1),
    Column("REASON", lambda one: one.found.reason, kind="sentence"),
)
