"""Several forecasts or replays as one report: a row for each change, or the largest change with its forecast."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mesosctl.model.amount_text import in_words
from mesosctl.model.quantities import Quantities, to_number
from mesosctl.output.forecasts.forecast import forecast_report
from mesosctl.output.forecasts.replay import (
    about_recording,
    plain_span,
    replay_document,
    replay_report,
    span_for_people,
)
from mesosctl.output.formats.amounts import amounts_text
from mesosctl.output.formats.report import NOTHING, Column, Report, Verdict
from mesosctl.output.rate_limits_simulation import overflow_texts
from mesosctl.planning.forecast import ChangeAnswer, Forecast
from mesosctl.planning.replay import Replay, limit_text
from mesosctl.planning.whatif_variants import Alternative, Answer, LargestChange

if TYPE_CHECKING:
    from mesosctl.output.json_documents import forecast as documents
    from mesosctl.output.json_documents import replay as replay_documents

_COLUMNS = (
    Column("CHANGE", rank=-1),
    Column("HARMLESS", meaning={"yes": "met", "no": "not met"}),
    Column("WHY", kind="sentence", rank=1),
    Column("RESCINDED", kind="number", rank=3),
    Column("EVICTED", kind="number", rank=4),
    Column("LARGEST GUARANTEE LEFT", key="unpromised", kind="amounts", rank=2),
)


def alternatives_report(found: Sequence[Alternative[Forecast]]) -> Report:
    """A row for each change, in the order in which they were given."""

    def items() -> "list[documents.Alternative]":
        from mesosctl.output.json_documents import forecast as documents

        return [documents.Alternative.answering(one) for one in found]

    def document() -> "documents.Alternatives":
        from mesosctl.output.json_documents import forecast as documents

        return documents.Alternatives(alternatives=items())

    return Report(
        _COLUMNS,
        [_row(one) for one in found],
        [one.change for one in found],
        document,
        items,
        verdicts=[_how_many_are_harmless([one.answer.is_harmless for one in found])],
    )


def _how_many_are_harmless(are: Sequence[bool]) -> Verdict:
    return Verdict(f"{sum(are)} of {len(are)} changes would be harmless", "met" if any(are) else "not met")


def _row(one: Alternative[Forecast]) -> list[str]:
    forecast = one.answer
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
        return _refusal(refused[0])
    starved = dict.fromkeys(f"{one.kind} {one.name}" for one in forecast.starved)
    harms = [f"starves {', '.join(starved)}"] if starved else []
    return "; ".join([*harms, *overflow_texts(forecast.traffic)]) or NOTHING


def _refusal(answer: ChangeAnswer) -> str:
    status = "" if answer.status is None else f" with {answer.status}"
    return f"refused{status}: {answer.message}"


def largest_report(found: LargestChange[Forecast]) -> Report:
    """The forecast of the largest change that is harmless, or the reason why there is none."""

    def document() -> "documents.LargestChange":
        from mesosctl.output.json_documents import forecast as documents

        return documents.LargestChange.answering(found)

    shown = found.best or found.beyond
    base = None if shown is None else forecast_report(shown.answer)
    return _largest(found, base, document, _why, "nobody would starve")


def _largest(
    found: LargestChange[Answer],
    base: Report | None,
    document: Callable[[], Any],
    why: Callable[[Answer], str],
    good: str,
) -> Report:
    """The report of the shown answer, under sentences about the amount; empty if no agent has the resource."""
    base = base or Report([], [], [], document, lambda: [document()])
    sentences = [_answer(found, why, good), *([_beyond(found, why)] if found.best is not None else [])]
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


def _answer(found: LargestChange[Answer], why: Callable[[Answer], str], good: str) -> str:
    if found.largest is None or found.best is None:
        if found.beyond is None:
            return f"no agent has {found.template.resource}, so no amount is possible"
        return f"not even {found.beyond.change} is harmless: {why(found.beyond.answer)}"
    amount, step = (in_words(Quantities({found.template.resource: one})) for one in (found.largest, found.precision))
    within = "" if found.precision <= 1000 else f", to within {step}"
    return f"the largest amount is {amount}{within}: {found.best.change} would be accepted, and {good}"


def _beyond(found: LargestChange[Answer], why: Callable[[Answer], str]) -> str:
    if found.beyond is None:
        return f"this is all the {found.template.resource} that the agents have"
    return f"{found.beyond.change} is not harmless: {why(found.beyond.answer)}"


# --- Replays ------------------------------------------------------------------------------------------


def replayed_alternatives_report(found: Sequence[Alternative[Replay]]) -> Report:
    """A row for each change; how many tasks wait, and for how long, over all roles."""
    limit = limit_text(found[0].answer.wait_limit)

    def items() -> "list[replay_documents.ReplayedAlternative]":
        return [_replayed(one) for one in found]

    def document() -> "replay_documents.ReplayedAlternatives":
        from mesosctl.output.json_documents import replay as documents

        return documents.ReplayedAlternatives(alternatives=items())

    def report(span: Callable[[float | None], str]) -> Report:
        return Report(
            (
                Column("CHANGE", rank=-1),
                Column("HARMLESS", meaning={"yes": "met", "no": "not met"}),
                Column("WHY", kind="sentence", rank=1),
                Column(f"WAIT > {limit.upper()} BEFORE", key="above_limit_before", kind="number", rank=4),
                Column(f"WAIT > {limit.upper()}", key="above_limit", kind="number", rank=2),
                Column("LONGEST", key="longest_wait_seconds", kind="number", rank=3),
            ),
            [_replay_row(one, span) for one in found],
            [one.change for one in found],
            document,
            items,
            verdicts=[_how_many_are_harmless([one.answer.is_harmless for one in found])],
            remark=about_recording(found[0].answer),
        )

    return report(plain_span)._replace(terminal=lambda: report(span_for_people))


def _replay_row(one: Alternative[Replay], span: Callable[[float | None], str]) -> list[str]:
    answer = one.answer
    longest = max((of.longest_wait for of in answer.after.values() if of.longest_wait is not None), default=None)
    return [
        one.change,
        "yes" if answer.is_harmless else "no",
        _why_not(answer),
        *(str(sum(of.above_limit for of in side.values())) for side in (answer.before, answer.after)),
        span(longest),
    ]


def _why_not(answer: Replay) -> str:
    """The fault of a change, in short; "-" if nothing is."""
    refused = [one for one in answer.answers if not one.accepted]
    return _refusal(refused[0]) if refused else answer.harm or NOTHING


def largest_replay_report(found: LargestChange[Replay]) -> Report:
    """The replay of the largest change that is harmless, or the reason why there is none."""

    def document() -> "replay_documents.LargestReplayedChange":
        from mesosctl.output.json_documents import replay as documents

        return documents.LargestReplayedChange(
            question=found.template.word,
            resource=found.template.resource,
            largest=None if found.largest is None else to_number(found.largest),
            precision=to_number(found.precision),
            tried=found.tried,
            best=None if found.best is None else _replayed(found.best),
            beyond=None if found.beyond is None else _replayed(found.beyond),
        )

    shown = found.best or found.beyond
    base = None if shown is None else replay_report(shown.answer)
    return _largest(found, base, document, _why_not, "no role would wait much longer")


def _replayed(one: Alternative[Replay]) -> "replay_documents.ReplayedAlternative":
    from mesosctl.output.json_documents import replay as documents

    return documents.ReplayedAlternative(change=one.change, replay=replay_document(one.answer))
