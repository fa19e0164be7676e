"""Contexts and settings as reports."""

from collections.abc import Sequence
from typing import Literal

from mesosctl.context.documents import Context, ContextChange, ContextChanges, ContextList, ContextShow, SettingInEffect
from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Report


def context_list(contexts: Sequence[Context]) -> Report:
    """Every context."""
    return list_report(
        ContextList(contexts=[]),
        contexts,
        (
            Column("CURRENT", lambda context: "*" if context.current else None),
            Column("CONTEXT", lambda context: context.name),
            Column("MASTER", lambda context: context.master),
            Column("PRINCIPAL", lambda context: context.principal),
        ),
        name=lambda context: context.name,
        empty="there are no contexts; see mesosctl context set --help",
    )


def context_show(context: str | None, settings: Sequence[SettingInEffect], *, with_origin: bool) -> Report:
    """The settings in effect."""
    return list_report(
        ContextShow(context=context, settings=[]),
        settings,
        (
            Column("SETTING", lambda setting: setting.key),
            Column("VALUE", lambda setting: setting.value, kind="sentence", rank=-1),
            Column("ORIGIN", _origin, wide=not with_origin, kind="sentence", rank=-1),
        ),
        name=lambda setting: setting.key,
    )


def _origin(setting: SettingInEffect) -> str:
    return " ".join(filter(None, (setting.origin, setting.name, setting.place and f"({setting.place})")))


def context_change(
    names: Sequence[str], done: Literal["set", "used", "removed"], current: str | None, sentence: str
) -> Report:
    """Changes that were made in the configuration file."""
    return list_report(
        ContextChanges(changes=[], current=current),
        [ContextChange(name=name, done=done) for name in names],
        (Column("CONTEXT", lambda change: change.name), Column("DONE", lambda change: change.done)),
        name=lambda change: change.name,
        done=sentence,
    )
