"""Several replays as one report, and the expected wait of one more task."""

from collections.abc import Iterable, Iterator, Sequence

from mesosctl.mesos.amounts.amount_text import text_in_words
from mesosctl.mesos.amounts.notation import utc_minute
from mesosctl.mesos.door.replay import Replay, limit_text
from mesosctl.mesos.exit_status import Answer
from mesosctl.replay import documents
from mesosctl.replay.expected_wait import ExpectedWait
from mesosctl.show.html_page import ReportOrigin, html_report, section, sentences, text_table
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import NOTHING, OF_ANSWERS, Column, Meaning, Report, Verdict
from mesosctl.whatif.played_demand_report import (
    Span,
    about_recording,
    assumed,
    plain_span,
    replay_report,
    span_for_people,
)
from mesosctl.whatif.variants import LargestVariant, Variant
from mesosctl.whatif.variants_report import how_many_are_harmless, largest_of, refusal

# --- Several replays ----------------------------------------------------------------------------------


def replayed_alternatives_report(found: Sequence[Variant[Replay]]) -> Report:
    """A row for each change; how many tasks wait, and for how long, over all roles."""
    limit = limit_text(found[0].answer.wait_limit)

    def longest(variant: Variant[Replay]) -> float | None:
        return max(
            (of.longest_wait for of in variant.answer.after.values() if of.longest_wait is not None), default=None
        )

    def report(span: Span) -> Report:
        return list_report(
            documents.ReplayedAlternatives(
                answer=_best_answer(variant.answer.answer for variant in found), alternatives=[]
            ),
            found,
            (
                Column("CHANGE", lambda variant: variant.change, rank=-1),
                Column("HARMLESS", lambda variant: variant.answer.answer, meaning=OF_ANSWERS),
                Column("WHY", lambda variant: _why_not(variant.answer), kind="sentence", rank=1),
                Column(
                    f"WAIT > {limit.upper()} BEFORE",
                    lambda variant: sum(of.above_limit for of in variant.answer.before.values()),
                    key="above_limit_before",
                    kind="number",
                    rank=4,
                ),
                Column(
                    f"WAIT > {limit.upper()}",
                    lambda variant: sum(of.above_limit for of in variant.answer.after.values()),
                    key="above_limit",
                    kind="number",
                    rank=2,
                ),
                Column(
                    "LONGEST", lambda variant: span(longest(variant)), key="longest_wait_seconds", kind="number", rank=3
                ),
            ),
            name=lambda variant: variant.change,
            verdicts=[
                how_many_are_harmless(
                    [variant.answer.is_harmless for variant in found],
                    next(filter(None, (_unknown(variant.answer) for variant in found)), None),
                )
            ],
            remark=about_recording(found[0].answer),
        )

    return report(plain_span)._replace(table=lambda: report(span_for_people))


def _best_answer(answers: Iterable[Answer]) -> Answer:
    """The answer about several changes, of which one is enough."""
    given = set(answers)
    return "yes" if "yes" in given else "unknown" if "unknown" in given else "no"


def _why_not(answer: Replay) -> str:
    """The fault of a change, in short; "-" if nothing is."""
    refused = [given for given in answer.answers if not given.accepted]
    return refusal(refused[0]) if refused else answer.harm or _unknown(answer) or NOTHING


def _unknown(answer: Replay) -> str | None:
    """Why the answer is unknown; None if it is yes or no."""
    return answer.unknown if answer.answer == "unknown" else None


def largest_replay_report(found: LargestVariant[Replay]) -> Report:
    """The replay of the largest change that is harmless, or the reason why there is none."""

    def document() -> documents.LargestReplayedChange:
        tried = [variant.answer.answer for variant in (found.best, found.beyond) if variant is not None]
        return documents.LargestReplayedChange.of(found, answer=_best_answer(tried))

    shown = found.best or found.beyond
    base = None if shown is None else replay_report(shown.answer)
    return largest_of(found, base, document, _why_not, "no role would wait much longer", _unknown)


# --- One more task ------------------------------------------------------------------------------------


def expected_wait_report(answer: ExpectedWait) -> Report:
    """A row with the percentiles of the wait."""

    def document() -> documents.ExpectedWaitDocument:
        median, p95 = answer.percentile(50), answer.percentile(95)
        return documents.ExpectedWaitDocument.of(
            answer, median_wait_seconds=median, p95_wait_seconds=p95, draws=len(answer.waits)
        )

    def report(span: Span, size: str) -> Report:
        columns: Sequence[Column[ExpectedWait]] = [
            Column("ROLE", lambda wait: wait.role, rank=-1),
            Column("TASK", lambda _: size),
            Column("MEDIAN", lambda wait: span(wait.percentile(50)), key="median_wait_seconds", kind="number"),
            Column("P95", lambda wait: span(wait.percentile(95)), key="p95_wait_seconds", kind="number"),
        ]
        meaning: Meaning = "not met" if answer.percentile(50) is None else "met"
        return Report(
            columns,
            rows_of(columns, [answer]),
            [answer.role],
            document,
            verdicts=[Verdict(answer.sentence, meaning)],
            remark=["", *_basis(answer), *assumed(answer.assumptions)],
        )

    shown = report(plain_span, str(answer.task))
    return shown._replace(table=lambda: report(span_for_people, text_in_words(str(answer.task))))


def _basis(answer: ExpectedWait) -> Iterator[str]:
    yield f"asked for at {utc_minute(answer.at)} UTC, the end of what is read of the recording"
    yield answer.basis


def expected_wait_page(answer: ExpectedWait, origin: ReportOrigin) -> str:
    """An HTML report: the answer, and how the wait is distributed."""
    rows = [[f"{percent}%", span_for_people(answer.percentile(percent))] for percent in (10, 25, 50, 75, 90, 95)]
    return html_report(
        f"One more task of {answer.role}",
        answer.sentence,
        "no" if answer.percentile(50) is None else "yes",
        origin.facts(),
        [
            section("The wait", text_table(["Part of all cases", "Starts within"], rows)),
            sentences("What this rests on", _basis(answer)),
            sentences("Assumed", answer.assumptions),
        ],
    )
