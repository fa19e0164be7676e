"""Several forecasts as one report: a row for each change, or the largest change with its forecast.

The frame of both reports serves replays too.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.door.forecast import AnsweredChange, Forecast
from mesosctl.show.lists import list_report
from mesosctl.show.report import NOTHING, Column, Report, Verdict
from mesosctl.suggestion import command
from mesosctl.whatif import documents
from mesosctl.whatif.report import forecast_report
from mesosctl.whatif.variants import Answer, LargestVariant, Template, Variant


def alternatives_report(found: Sequence[Variant[Forecast]]) -> Report:
    """A row for each change, in the order in which they were given."""
    return list_report(
        documents.Alternatives(
            answer="yes" if any(variant.answer.is_harmless for variant in found) else "no", alternatives=[]
        ),
        found,
        (
            Column("CHANGE", lambda variant: variant.change, rank=-1),
            Column("HARMLESS", lambda variant: variant.answer.is_harmless, meaning={"yes": "met", "no": "not met"}),
            Column("WHY", lambda variant: _why(variant.answer), kind="sentence", rank=1),
            Column("RESCINDED", lambda variant: len(variant.answer.rescinded), kind="number", rank=3),
            Column(
                "EVICTED", lambda variant: sum(task.caused for task in variant.answer.evicted), kind="number", rank=4
            ),
            Column(
                "LARGEST GUARANTEE LEFT",
                lambda variant: variant.answer.headroom.unpromised[1],
                key="unpromised",
                kind="amounts",
                rank=2,
            ),
        ),
        name=lambda variant: variant.change,
        element=documents.Alternative.answering,
        verdicts=[how_many_are_harmless([variant.answer.is_harmless for variant in found])],
    )


def how_many_are_harmless(are: Sequence[bool], unknown: str | None = None) -> Verdict:
    """Return the verdict about several changes; `unknown` is why that of one is unknown."""
    if unknown is not None and not any(are):
        return Verdict(f"PERHAPS: {unknown}", "at risk")
    return Verdict(f"{sum(are)} of {len(are)} changes would be harmless", "met" if any(are) else "not met")


def _why(forecast: Forecast) -> str:
    """The fault of a change, in short; "-" if nothing is."""
    refused = [answer for answer in forecast.answers if not answer.accepted]
    if refused:
        return refusal(refused[0])
    starved = dict.fromkeys(f"{starvation.kind} {starvation.name}" for starvation in forecast.starved)
    harms = [f"starves {', '.join(starved)}"] if starved else []
    return "; ".join([*harms, *(forecast.traffic.overflows if forecast.traffic else ())]) or NOTHING


def refusal(answer: AnsweredChange) -> str:
    """Return why a change is refused, in short."""
    status = "" if answer.status is None else f" with {answer.status}"
    return f"refused{status}: {answer.message}"


def largest_report(found: LargestVariant[Forecast], *, is_alone: bool = True) -> Report:
    """The forecast of the largest change that is harmless, or the reason why there is none.

    `is_alone` means that it is tried on the live cluster as it is, of which `quota room` answers the other question.
    """

    def document() -> documents.LargestChange:
        return documents.LargestChange.answering(found)

    shown = found.best or found.beyond
    base = None if shown is None else forecast_report(shown.answer)
    other = _accepted(found.template) if is_alone else ""
    return largest_of(found, base, document, _why, "nobody would starve", other=other)


def _accepted(template: Template) -> str:
    """The sentence that names the command for the largest guarantee that is accepted, also if it starves somebody."""
    verb, _, rest = template.head.partition(":")
    if verb != "quota":
        return ""
    room = command("quota room", rest.partition("=")[0])
    return f"this counts what tasks and offers hold; the largest that a master would accept: {room}"


def largest_of(
    found: LargestVariant[Answer],
    base: Report | None,
    document: Callable[[], Any],
    why: Callable[[Answer], str],
    good: str,
    unknown: Callable[[Answer], str | None] = lambda _: None,
    other: str = "",
) -> Report:
    """The report of the shown answer, under sentences about the amount; empty if no agent has the resource.

    `why` says what is wrong with an answer, and `unknown` why one is unknown. `other` names what answers another
    question about the largest amount.
    """
    base = base or Report([], [], [], document)
    not_known = None if found.beyond is None else unknown(found.beyond.answer)
    if found.best is None and not_known is not None:
        sentences = [f"PERHAPS: {not_known}"]
        verdicts = [Verdict(sentences[0], "at risk")]
    else:
        sentences = [_answer(found, why, good), *([_beyond(found, why)] if found.best is not None else [])]
        verdicts = [Verdict(sentences[0], "met" if found.best is not None else "not met")]
    verdicts += [Verdict(sentence, "at risk") for sentence in (*sentences[1:], *filter(None, [other]))]
    drawn, table = base.terminal, base.table
    return base._replace(
        document=document,
        items=None,
        listing="",
        names=[found.best.change] if found.best is not None else [],
        verdicts=verdicts,
        table=None if table is None else lambda: table()._replace(verdicts=verdicts),
        terminal=None if drawn is None else lambda: drawn()._replace(verdicts=verdicts),
    )


def _answer(found: LargestVariant[Answer], why: Callable[[Answer], str], good: str) -> str:
    if found.largest is None or found.best is None:
        if found.beyond is None:
            return f"no agent has {found.template.resource}, so no amount is possible"
        return f"not even {found.beyond.change} is harmless: {why(found.beyond.answer)}"
    amount, step = (
        in_words(Quantities({found.template.resource: amount_of})) for amount_of in (found.largest, found.precision)
    )
    within = "" if found.precision <= 1000 else f", to within {step}"
    return f"the largest amount is {amount}{within}: {found.best.change} would be accepted, and {good}"


def _beyond(found: LargestVariant[Answer], why: Callable[[Answer], str]) -> str:
    if found.beyond is None:
        return f"this is all the {found.template.resource} that the agents have"
    return f"{found.beyond.change} is not harmless: {why(found.beyond.answer)}"
