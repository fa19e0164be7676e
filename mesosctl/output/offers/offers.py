"""Offers as reports: those of today, what became of one, and why a framework gets none."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from mesosctl.model.amount_text import in_words
from mesosctl.model.errors import printable
from mesosctl.model.offers.offers import Offer, TakenOffer
from mesosctl.model.resources import Resources
from mesosctl.model.roles import display_names, top_level
from mesosctl.output.formats import output_formats
from mesosctl.output.formats.amounts import amounts_text, resources_in_words, resources_text
from mesosctl.output.formats.output_formats import json_text, yaml_text
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Minor, Report, Rows, Verdict, naturally
from mesosctl.output.offers.sentences import answer, helps, is_held, names, where
from mesosctl.output.reservations import agent_id_column_of
from mesosctl.planning.offer_explanation import AccountLine, AgentAccount, OfferExplanation

if TYPE_CHECKING:
    from mesosctl.output.json_documents import offers as offers_documents

_COLUMNS = (
    Column("FRAMEWORK"),
    Column("ROLE"),
    Column("AGENT"),
    Column("RESOURCES", kind="amounts"),
    Column("KIND", rank=1),
    Column("OFFER", wide=True),
    Column("FRAMEWORK ID", wide=True),
)


def offer_list(offers: Sequence[Offer], *, empty: str = "nothing is offered", sort: str | None = None) -> Report:
    """Every outstanding offer; `empty` is shown if there is none, and `sort` as in `naturally`."""

    def items() -> "Iterator[offers_documents.Offer]":
        from mesosctl.output.json_documents import offers as offers_documents

        return map(offers_documents.Offer.of, offers)

    def document() -> "offers_documents.OfferList":
        from mesosctl.output.json_documents import offers as offers_documents

        return offers_documents.OfferList(offers=[])

    shown = naturally(
        offers,
        _named,
        lambda one: one.framework_id,
        lambda one: one.role,
        lambda one: one.hostname,
        lambda one: one.id,
        sort=sort,
    )
    return Report(
        (*_COLUMNS, agent_id_column_of({offer.agent_id: offer.hostname for offer in offers})),
        Rows(shown, _row),
        [offer.id for offer in shown],
        document,
        items,
        empty=empty,
        listing="offers",
    )


def _named(of: Offer) -> str:
    """A framework by its name, or by its id if the name is empty."""
    return of.framework or of.framework_id


def _row(offer: Offer) -> list[str]:
    return [
        _named(offer),
        offer.role,
        offer.hostname,
        resources_text(offer.resources),
        offer.resources.revocability,
        offer.id,
        offer.framework_id,
        offer.agent_id,
    ]


def change_line(what: Literal["offered", "gone"], offer: Offer, form: str, agent: str | None = None) -> str:
    """One change: a line of JSON or a document of YAML for a program; words for a person, who says `agent`."""
    if form in output_formats.DOCUMENTS:
        from mesosctl.output.json_documents import offers as offers_documents

        document = offers_documents.OfferChange(change=what, offer=offers_documents.Offer.of(offer))
        line = json_text(document, encoding="ascii")
        return f"---\n{yaml_text(line)}".rstrip("\n") if form == "yaml" else line
    if form == "name":
        return printable(offer.id)
    sign = "+" if what == "offered" else "-"
    where = f"{_named(offer)} {offer.role} {agent or offer.hostname}"
    return printable(f"{sign} {where}: {resources_in_words(offer.resources)}")


def offer_call(call: Mapping[str, Any]) -> Report:
    """A call that is ready to send; every format but json shows only the call."""

    def document() -> "offers_documents.OfferCall":
        from mesosctl.output.json_documents import offers as offers_documents

        return offers_documents.OfferCall(call=dict(call))

    return Report(
        (), [], [], document, lambda: [document()], remark=json.dumps(call, indent=2).splitlines(), verbatim=True
    )


def offer_taken(taken: TakenOffer) -> Report:
    """The operation that was made, and the offer that it used."""

    def document() -> "offers_documents.OfferTaken":
        from mesosctl.output.json_documents import offers as offers_documents

        return offers_documents.OfferTaken.of(taken)

    columns = (
        Column("DONE"),
        Column("RESOURCES", kind="amounts"),
        Column("AGENT"),
        Column("ROLE"),
        Column("DECLINED", wide=True),
        Column("OFFER", wide=True),
    )
    row = [
        taken.operation.action,
        resources_text(Resources(taken.operation.resources)),
        taken.offer.hostname,
        taken.offer.role,
        str(taken.declined),
        taken.offer.id,
    ]
    return Report(columns, [row], [taken.offer.agent_id], document, lambda: [document()])


if TYPE_CHECKING:
    from mesosctl.output.json_documents import offers as documents

_MOST_HOLDERS = 5
"""Rows of a table for what others hold; -o wide shows all."""

_ACCOUNT_COLUMNS = (
    Column("FRAMEWORK", rank=2, wide=True),
    Column("ROLE", rank=1, wide=True),
    Column("WHERE", kind="sentence", rank=-1),
    Column("AMOUNT", kind="amounts", rank=0),
    Column("AGENTS", kind="number", rank=1),
    Column("CAUSE", wide=True),
    Column("HOLDER", wide=True),
)


def _told_apart(explanations: Sequence[OfferExplanation]) -> list[OfferExplanation]:
    """The explanations with short ids in the names of frameworks that share one, for sentences."""
    names: dict[str, str] = {}
    for one in explanations:
        names[one.account.framework_id] = one.account.framework or one.account.framework_id
        for line in one.account.lines:
            if line.framework_id is not None:
                names[line.framework_id] = line.framework or line.framework_id
    shown = display_names(names)
    if shown == names:
        return list(explanations)

    def renamed(agent: AgentAccount) -> AgentAccount:
        lines = (replace(line, framework=shown.get(line.framework_id or "", line.framework)) for line in agent.lines)
        return replace(agent, lines=tuple(lines))

    accounts = (
        replace(one.account, framework=shown[one.account.framework_id], agents=tuple(map(renamed, one.account.agents)))
        for one in explanations
    )
    return [replace(one, account=account) for one, account in zip(explanations, accounts, strict=True)]


def explanation_report(plain: Sequence[OfferExplanation]) -> Report:
    """The answer for each role of a framework, where all resources are, and what would help."""
    explanations = _told_apart(plain)

    def items() -> "list[documents.Explanation]":
        from mesosctl.output.json_documents import offers as documents

        return [
            documents.Explanation.of(one, answer=answer(shown), helps=helps(shown))
            for one, shown in zip(plain, explanations, strict=True)
        ]

    def document() -> "documents.OfferExplain":
        from mesosctl.output.json_documents import offers as documents

        return documents.OfferExplain(explanations=items())

    several = len(explanations) > 1
    columns = [
        column._replace(wide=column.wide and not (several and column.title in ("FRAMEWORK", "ROLE")))
        for column in _ACCOUNT_COLUMNS
    ]
    rows: list[list[str]] = []
    minor: set[tuple[str, ...]] = set()
    for one in explanations:
        lines = one.account.lines
        for number, line in enumerate(lines):
            row = _account_row(one, line)
            rows.append(row)
            if is_held(line) and sum(map(is_held, lines[:number])) >= _MOST_HOLDERS:
                minor.add(tuple(row))
    return Report(
        columns,
        rows,
        [f"{one.account.framework_id} {one.account.role}" for one in explanations],
        document,
        items,
        remark=list(_remark(explanations)),
        detail=[part for one in explanations for part in _agents(one, document)],
        verdicts=[Verdict(answer(one), _meaning(one)) for one in explanations],
        minor=Minor(lambda row: tuple(row) in minor, "other holders", "other holder"),
    )


def _account_row(one: OfferExplanation, line: AccountLine) -> list[str]:
    return [
        one.account.framework or one.account.framework_id,
        one.account.role,
        where(line, one.refusals),
        amounts_text(line.amounts),
        str(line.agents),
        line.cause,
        line.framework_id or NOTHING,
    ]


def _meaning(one: OfferExplanation) -> Meaning:
    if one.hindrance is not None:
        return "not met"
    if one.offers or one.reason == "due":
        return "met"
    return "at risk" if one.missing is None else "not met"


def _remark(explanations: Sequence[OfferExplanation]) -> Iterator[str | Report]:
    helping = list(dict.fromkeys(sentence for one in explanations for sentence in helps(one)))
    if helping:
        yield from ("", "what would help:", *(f"  {sentence}" for sentence in helping))
    for note in dict.fromkeys(note for one in explanations for note in _notes(one)):
        yield from ("", note)
    unknown = list(dict.fromkeys(sentence for one in explanations for sentence in one.unknown))
    if unknown:
        yield from ("", "what the master does not show:", *(f"  {sentence}" for sentence in unknown))


def _notes(one: OfferExplanation) -> Iterator[str]:
    """Return sentences about the role; frameworks of one role share most of them."""
    role, ahead, shortfall = one.account.role, one.account.ahead, one.account.shortfall
    if shortfall:
        is_next = not ahead and role == top_level(role) and one.hindrance is None
        first = ", so it is served first when resources become free" if is_next else ""
        yield f"{top_level(role)} lacks {in_words(shortfall)} of its guarantee{first}"
    if ahead and one.missing is not None and one.hindrance is None:
        yield f"served before {role} when resources become free: {names(ahead)}"
    if one.account.evictable:
        tasks = ", ".join(f"{task.framework}/{task.task_id} on {task.agent}" for task in one.account.evictable)
        yield (
            f"if {one.account.role} used everything that it can get, these tasks would be evicted, in this order: "
            f"{tasks}"
        )


def _agents(one: OfferExplanation, document: "Callable[[], documents.OfferExplain]") -> Iterator[str | Report]:
    """Every agent and what is where on it, for -o wide."""
    rows = [
        [agent.hostname, where(line, one.refusals), amounts_text(line.amounts), agent.agent_id]
        for agent in one.account.agents
        for line in agent.lines
    ]
    if not rows:
        return
    columns = (
        Column("AGENT"),
        Column("WHERE", kind="sentence", rank=-1),
        Column("AMOUNT", kind="amounts"),
        agent_id_column_of({agent.agent_id: agent.hostname for agent in one.account.agents}),
    )
    yield ""
    yield f"agent by agent, for {one.account.framework or one.account.framework_id} in role {one.account.role}:"
    yield Report(columns, rows, [], document, list)
