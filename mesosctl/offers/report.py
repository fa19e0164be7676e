"""Offers as reports: those of today, what became of one, and why a framework gets none."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.offer_explanation import ExplainedAgent, OfferAccount, OfferExplanation, WithheldResources
from mesosctl.mesos.errors import printable
from mesosctl.mesos.names import PLAIN, Spelling, agent_names, framework_names
from mesosctl.mesos.roles import display_names, top_level
from mesosctl.mesos.rules.offers.offers import OutstandingOffer, TakenOffer
from mesosctl.offers import documents
from mesosctl.offers.crowds import Crowd, crowds
from mesosctl.offers.sentences import answer, helps, is_held, names, where
from mesosctl.show import output_formats
from mesosctl.show.agent_column import agent_id_column_of
from mesosctl.show.amounts import resources_in_words, resources_text
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.output_formats import json_text, yaml_text
from mesosctl.show.report import Column, Meaning, Minor, Report, Verdict, naturally


def offer_list(
    offers: Sequence[OutstandingOffer],
    *,
    empty: str = "nothing is offered",
    sort: str | None = None,
    spelling: Spelling = PLAIN,
) -> Report:
    """Every outstanding offer; `empty` is shown if there is none, and `sort` as in `naturally`."""

    def framework_id(offer: OutstandingOffer) -> str:
        return spelling.framework("id", offer.framework_id)

    hostnames = {offer.agent_id: offer.hostname for offer in offers}
    columns: Sequence[Column[OutstandingOffer]] = (
        Column("FRAMEWORK", lambda offer: spelling.framework("name", offer.framework) or framework_id(offer)),
        Column("ROLE", lambda offer: offer.role),
        Column("AGENT", lambda offer: spelling.agent("host", offer.hostname)),
        Column("RESOURCES", lambda offer: resources_text(offer.resources), kind="amounts"),
        Column("KIND", lambda offer: offer.resources.revocability, rank=1),
        Column("OFFER", lambda offer: offer.id, wide=True),
        Column("FRAMEWORK ID", framework_id, wide=True),
        agent_id_column_of(hostnames, lambda offer: offer.agent_id, spelling.agent),
    )
    return list_report(
        documents.OfferList(offers=[]),
        offers,
        columns,
        name=lambda offer: offer.id,
        in_order=naturally(
            offers,
            _named,
            lambda offer: offer.framework_id,
            lambda offer: offer.role,
            lambda offer: offer.hostname,
            lambda offer: offer.id,
            sort=sort,
        ),
        empty=empty,
    )


def _named(of: OutstandingOffer | OfferAccount) -> str:
    """A framework by its name, or by its id if the name is empty."""
    return of.framework or of.framework_id


def change_line(what: Literal["offered", "gone"], offer: OutstandingOffer, form: str, agent: str | None = None) -> str:
    """One change: a line of JSON or a document of YAML for a program; words for a person, who says `agent`."""
    if form in output_formats.DOCUMENTS:
        document = documents.OfferChange(change=what, offer=documents.Offer.of(offer))
        line = json_text(document, encoding="ascii")
        return f"---\n{yaml_text(line)}".rstrip("\n") if form == "yaml" else line
    if form == "name":
        return printable(offer.id)
    sign = "+" if what == "offered" else "-"
    where = f"{_named(offer)} {offer.role} {agent or offer.hostname}"
    return printable(f"{sign} {where}: {resources_in_words(offer.resources)}")


def offer_call(call: Mapping[str, Any]) -> Report:
    """A call that is ready to send; every format but json shows only the call."""

    def document() -> documents.OfferCall:
        return documents.OfferCall(call=dict(call))

    return Report((), [], [], document, remark=json.dumps(call, indent=2).splitlines(), verbatim=True)


def offer_taken(taken: TakenOffer) -> Report:
    """The operation that was made, and the offer that it used."""
    columns: Sequence[Column[TakenOffer]] = (
        Column("DONE", lambda taken_offer: taken_offer.operation.action),
        Column(
            "RESOURCES", lambda taken_offer: resources_text(Resources(taken_offer.operation.resources)), kind="amounts"
        ),
        Column("AGENT", lambda taken_offer: taken_offer.offer.hostname),
        Column("ROLE", lambda taken_offer: taken_offer.offer.role),
        Column("DECLINED", lambda taken_offer: taken_offer.declined, wide=True),
        Column("OFFER", lambda taken_offer: taken_offer.offer.id, wide=True),
    )
    return Report(columns, rows_of(columns, [taken]), [taken.offer.agent_id], lambda: documents.OfferTaken.of(taken))


_MOST_HOLDERS = 5
"""Rows of a table for what others hold; -o wide shows all."""


class _Line(NamedTuple):
    """A line of the account of an explanation."""

    crowd: Crowd
    line: WithheldResources
    is_minor: bool = False


def _told_apart(explanations: Sequence[OfferExplanation]) -> list[OfferExplanation]:
    """The explanations with short ids in the names of frameworks that share one, for sentences."""
    names: dict[str, str] = {}
    for explanation in explanations:
        names[explanation.account.framework_id] = explanation.account.framework or explanation.account.framework_id
        for line in explanation.account.lines:
            if line.framework_id is not None:
                names[line.framework_id] = line.framework or line.framework_id
    shown = display_names(names)
    if shown == names:
        return list(explanations)

    def renamed(agent: ExplainedAgent) -> ExplainedAgent:
        lines = (replace(line, framework=shown.get(line.framework_id or "", line.framework)) for line in agent.lines)
        return replace(agent, lines=tuple(lines))

    accounts = (
        replace(
            explanation.account,
            framework=shown[explanation.account.framework_id],
            agents=tuple(map(renamed, explanation.account.agents)),
        )
        for explanation in explanations
    )
    return [replace(explanation, account=account) for explanation, account in zip(explanations, accounts, strict=True)]


def explanation_report(plain: Sequence[OfferExplanation], *, each: bool = False) -> Report:
    """The answer for each role of a framework, where all resources are, and what would help.

    Equal rows, and explanations of alike frameworks, are added up unless each of them is to be shown.
    """
    explanations, spelling = _told_apart(plain), _spelling(plain)
    told = (
        [Crowd(explanation, explanation.account.lines) for explanation in explanations]
        if each
        else crowds(explanations)
    )

    def items() -> list[documents.Explanation]:
        return [
            documents.Explanation.of(explanation, answer=answer(shown), helps=helps(shown))
            for explanation, shown in zip(plain, explanations, strict=True)
        ]

    def document() -> documents.OfferExplain:
        return documents.OfferExplain(explanations=items())

    only_wide = len(told) == 1
    columns: Sequence[Column[_Line]] = (
        Column("FRAMEWORK", lambda line: _shown_as(line.crowd), rank=2, wide=only_wide),
        Column("ROLE", lambda line: line.crowd.first.account.role, rank=1, wide=only_wide),
        Column("WHERE", lambda line: where(line.line, line.crowd.first.refusals), kind="sentence", rank=-1),
        Column("AMOUNT", lambda line: line.line.amounts, kind="amounts", rank=0),
        Column("AGENTS", lambda line: line.line.agents or None, kind="number", rank=1),
        Column("CAUSE", lambda line: line.line.cause, wide=True),
        Column(
            "HOLDER",
            lambda line: line.line.framework_id and spelling.framework("id", line.line.framework_id),
            wide=True,
        ),
    )
    lines = [line for crowd in told for line in _lines(crowd)]
    minor = {tuple(row) for line, row in zip(lines, rows_of(columns, lines), strict=True) if line.is_minor}
    return Report(
        columns,
        rows_of(columns, lines),
        [
            f"{spelling.framework('id', explanation.account.framework_id)} {explanation.account.role}"
            for explanation in explanations
        ],
        document,
        items,
        remark=list(_remark([crowd.first for crowd in told])),
        detail=[part for explanation in explanations for part in _agents(explanation, spelling)] if each else (),
        verdicts=[Verdict(answer(crowd.first, _whom(crowd)), _meaning(crowd.first)) for crowd in told],
        minor=Minor(lambda row: tuple(row) in minor, "other holders", "other holder"),
    )


def _spelling(explanations: Sequence[OfferExplanation]) -> Spelling:
    """How the names of the frameworks and agents in explanations are typed."""
    accounts = [explanation.account for explanation in explanations]
    frameworks = {account.framework_id: account.framework for account in accounts}
    frameworks |= {
        line.framework_id: line.framework or "" for account in accounts for line in account.lines if line.framework_id
    }
    agents = {agent.agent_id: agent.hostname for account in accounts for agent in account.agents}
    return Spelling(agent=agent_names(agents).speller(), framework=framework_names(frameworks).speller())


def _shown_as(crowd: Crowd) -> str:
    """The framework in a cell: `jenkins-1 and 199 more` of many."""
    name = _named(crowd.first.account)
    return f"{name} and {len(crowd.others)} more" if crowd.others else name


def _whom(crowd: Crowd) -> str:
    """The frameworks of many in a sentence; empty for one."""
    if not crowd.others:
        return ""
    return f"each of {len(crowd.frameworks)} frameworks ({names(crowd.frameworks)})"


def _lines(crowd: Crowd) -> Iterator[_Line]:
    """The lines of its account; of those about what others hold, only the first are not minor."""
    holders = 0
    for line in crowd.lines:
        yield _Line(crowd, line, is_minor=is_held(line) and holders >= _MOST_HOLDERS)
        holders += is_held(line)


def _meaning(explanation: OfferExplanation) -> Meaning:
    if explanation.hindrance is not None:
        return "not met"
    if explanation.offers or explanation.reason == "due":
        return "met"
    return "at risk" if explanation.missing is None else "not met"


def _remark(explanations: Sequence[OfferExplanation]) -> Iterator[str | Report]:
    helping = list(dict.fromkeys(sentence for explanation in explanations for sentence in helps(explanation)))
    if helping:
        yield from ("", "what would help:", *(f"  {sentence}" for sentence in helping))
    for note in dict.fromkeys(note for explanation in explanations for note in _notes(explanation)):
        yield from ("", note)
    unknown = list(dict.fromkeys(sentence for explanation in explanations for sentence in explanation.unknown))
    if unknown:
        yield from ("", "what the master does not show:", *(f"  {sentence}" for sentence in unknown))


def _notes(explanation: OfferExplanation) -> Iterator[str]:
    """Return sentences about the role; frameworks of one role share most of them."""
    role, ahead, shortfall = explanation.account.role, explanation.account.ahead, explanation.account.shortfall
    if shortfall:
        is_next = not ahead and role == top_level(role) and explanation.hindrance is None
        first = ", so it is served first when resources become free" if is_next else ""
        if role != top_level(role):
            first = f", which is not offered to {role}"
        yield f"{top_level(role)} lacks {in_words(shortfall)} of its guarantee{first}"
    if ahead and explanation.missing is not None and explanation.hindrance is None:
        yield f"served before {role} when resources become free: {names(ahead)}"
    if explanation.account.evictable:
        tasks = ", ".join(f"{task.framework}/{task.task_id} on {task.agent}" for task in explanation.account.evictable)
        yield (
            f"if {explanation.account.role} used everything that it can get, these tasks would be evicted, "
            f"in this order: {tasks}"
        )


def _agents(explanation: OfferExplanation, spelling: Spelling) -> Iterator[str | Report]:
    """Every agent and what is where on it, for -o wide."""
    lines = [(agent, line) for agent in explanation.account.agents for line in agent.lines]
    if not lines:
        return
    hostnames = {agent.agent_id: agent.hostname for agent in explanation.account.agents}
    columns: Sequence[Column[tuple[ExplainedAgent, WithheldResources]]] = (
        Column("AGENT", lambda pair: spelling.agent("host", pair[0].hostname)),
        Column("WHERE", lambda pair: where(pair[1], explanation.refusals), kind="sentence", rank=-1),
        Column("AMOUNT", lambda pair: pair[1].amounts, kind="amounts"),
        agent_id_column_of(hostnames, lambda pair: pair[0].agent_id, spelling.agent),
    )
    yield ""
    yield f"agent by agent, for {_named(explanation.account)} in role {explanation.account.role}:"
    yield Report(columns, rows_of(columns, lines))
