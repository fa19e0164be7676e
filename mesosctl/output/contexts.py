"""Contexts and settings as reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mesosctl.output.formats.report import NOTHING, Column, Report

if TYPE_CHECKING:
    from mesosctl.output.json_documents import contexts as contexts_documents


@dataclass(frozen=True, slots=True)
class Kept:
    """A context, with empty texts for settings that it does not have."""

    name: str
    current: bool
    master: str
    principal: str


@dataclass(frozen=True, slots=True)
class InEffect:
    """A setting and its origin: `name` is the flag, the variable or the context, `place` file and line."""

    key: str
    value: str
    kind: Literal["flag", "environment", "context", "default"]
    name: str
    place: str


def context_list(contexts: Sequence[Kept]) -> Report:
    """Every context."""

    def items() -> "list[contexts_documents.Context]":
        from mesosctl.output.json_documents.contexts import Context

        return [
            Context(name=c.name, current=c.current, master=c.master or None, principal=c.principal or None)
            for c in contexts
        ]

    def document() -> "contexts_documents.ContextList":
        from mesosctl.output.json_documents.contexts import ContextList

        return ContextList(contexts=items())

    return Report(
        (Column("CURRENT"), Column("CONTEXT"), Column("MASTER"), Column("PRINCIPAL")),
        [("*" if c.current else NOTHING, c.name, c.master or NOTHING, c.principal or NOTHING) for c in contexts],
        [c.name for c in contexts],
        document,
        items,
        empty="there are no contexts; see mesosctl context set --help",
    )


def context_show(context: str | None, settings: Sequence[InEffect], *, with_origin: bool) -> Report:
    """The settings in effect."""

    def items() -> "list[contexts_documents.SettingInEffect]":
        from mesosctl.output.json_documents.contexts import SettingInEffect

        return [
            SettingInEffect(key=s.key, value=s.value, origin=s.kind, name=s.name or None, place=s.place or None)
            for s in settings
        ]

    def document() -> "contexts_documents.ContextShow":
        from mesosctl.output.json_documents.contexts import ContextShow

        return ContextShow(context=context, settings=items())

    return Report(
        (
            Column("SETTING"),
            Column("VALUE", kind="sentence", rank=-1),
            Column("ORIGIN", wide=not with_origin, kind="sentence", rank=-1),
        ),
        [
            (s.key, s.value, " ".join(part for part in (s.kind, s.name, s.place and f"({s.place})") if part))
            for s in settings
        ],
        [s.key for s in settings],
        document,
        items,
    )


def context_change(
    names: Sequence[str], done: Literal["set", "used", "removed"], current: str | None, sentence: str
) -> Report:
    """Changes that were made in the configuration file."""

    def items() -> "list[contexts_documents.ContextChange]":
        from mesosctl.output.json_documents.contexts import ContextChange

        return [ContextChange(name=name, done=done) for name in names]

    def document() -> "contexts_documents.ContextChanges":
        from mesosctl.output.json_documents.contexts import ContextChanges

        return ContextChanges(changes=items(), current=current)

    return Report(
        (Column("CONTEXT"), Column("DONE")),
        [(name, done) for name in names],
        list(names),
        document,
        items,
        done=sentence,
    )
