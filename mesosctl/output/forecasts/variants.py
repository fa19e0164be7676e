"""Several forecasts as one report: a row for each change, or the largest change with its forecast."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mesosctl.model.amount_text import in_words
from mesosctl.model.quantities import Quantities
from mesosctl.output.forecasts.forecast import forecast_report
from mesosctl.output.formats.amounts import amounts_text
from mesosctl.output.formats.report import NOTHING, Column, Report, Verdict
from mesosctl.output.rate_limits_simulation import overflow_texts
from mesosctl.planning.forecast import Forecast
from mesosctl.planning.whatif_variants import Alternative, LargestChange

if TYPE_CHECKING:
    from mesosctl.output.json_documents import forecast as documents

_COLUMNS = (
    Column("CHANGE", rank=-1),
    Column("HARMLESS", meaning={"yes": "met", "no": "not met"}),
    Column("WHY", kind="sentence", rank=1),
    Column("RESCINDED", kind="number", rank=3),
    Column("EVICTED", kind="number", rank=4),
    Column("LARGEST GUARANTEE LEFT", key="unpromised", kind="amounts", rank=2),
)


def alternatives_report(found: Sequence[Alternative]) -> Report:
    """A row for each change, in the order in which they were given."""

    def items() -> "list[documents.Alternative]":
        from mesosctl.output.json_documents import forecast as documents

        return [documents.Alternative.answering(one) for one in found]

    def document() -> "documents.Alternatives":
        from mesosctl.output.json_documents import forecast as documents

        return documents.Alternatives(alternatives=items())

    harmless = sum(one.forecast.is_harmless for one in found)
    sentence = f"{harmless} of {len(found)} changes would be harmless"
    return Report(
        _COLUMNS,
        [_row(one) for one in found],
        [one.change for one in found],
        document,
        items,
        verdicts=[Verdict(sentence, "met" if harmless else "not met")],
    )


def _row(one: Alternative) -> list[str]:
    forecast = one.forecast
    return [
        one.change,
        "yes" if forecast.is_harmless else "no",
        _why(forecast),
        str(len(forecast.rescinded)),
        str(sum(task.caused for task in forecast.evicted)),
        amounts_text(forecast.headroom.unpromised[1]),
    ]


def _why(forecast: Forecast) -> str:
    """The fault of a change, in short; "-" if nothing is."""
    refused = [answer for answer in forecast.answers if not answer.accepted]
    if refused:
        status = "" if refused[0].status is None else f" with {refused[0].status}"
        return f"refused{status}: {refused[0].message}"
    starved = dict.fromkeys(f"{one.kind} {one.name}" for one in forecast.starved)
    harms = [f"starves {', '.join(starved)}"] if starved else []
    return "; ".join([*harms, *overflow_texts(forecast.traffic)]) or NOTHING


def largest_report(found: LargestChange) -> Report:
    """The forecast of the largest change that is harmless, or the reason why there is none."""

    def document() -> "documents.LargestChange":
        from mesosctl.output.json_documents import forecast as documents

        return documents.LargestChange.answering(found)

    shown = found.best or found.beyond
    # Where the agents have none of the resource, nothing was forecast.
    base = Report([], [], [], document, lambda: [document()]) if shown is None else forecast_report(shown.forecast)
    sentences = [_answer(found), *([_beyond(found)] if found.best is not None else [])]
    verdicts = [Verdict(sentences[0], "met" if found.best is not None else "not met")]
    verdicts += [Verdict(one, "at risk") for one in sentences[1:]]
    drawn = base.terminal
    return base._replace(
        document=document,
        items=lambda: [document()],
        listing="",
        names=[found.best.change] if found.best is not None else [],
        verdicts=verdicts,
        terminal=None if drawn is None else lambda: drawn()._replace(verdicts=verdicts),
    )


def _answer(found: LargestChange) -> str:
    if found.largest is None or found.best is None:
        if found.beyond is None:
            return f"no agent has {found.template.resource}, so no amount is possible"
        return f"not even {found.beyond.change} is harmless: {_why(found.beyond.forecast)}"
    amount, step = (in_words(Quantities({found.template.resource: one})) for one in (found.largest, found.precision))
    within = "" if found.precision <= 1000 else f", to within {step}"
    return f"the largest amount is {amount}{within}: {found.best.change} would be accepted, and nobody would starve"


def _beyond(found: LargestChange) -> str:
    if found.beyond is None:
        return f"this is all the {found.template.resource} that the agents have"
    return f"{found.beyond.change} is not harmless: {_why(found.beyond.forecast)}"
