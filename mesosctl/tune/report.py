"""The answer of `tune` as a report, and as a page with the trade-off between two goals drawn."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from mesosctl.apply.documents import DesiredQuota
from mesosctl.mesos.amounts.amount_text import percent_text
from mesosctl.mesos.amounts.notation import counted, utc_minute
from mesosctl.mesos.door.replay import RecordedDemand
from mesosctl.show.charts import COLOURS
from mesosctl.show.framed_chart import HEIGHT, WIDTH, PointChart
from mesosctl.show.html_page import TONE_OF_ANSWERS, ReportOrigin, escape, html_report, section, sentences, text_table
from mesosctl.show.lists import rows_of
from mesosctl.show.report import OF_ANSWERS, Column, Report, Verdict, shown_cells
from mesosctl.tune import documents
from mesosctl.tune.search import Candidate, Goal, GoalResult, Tuning
from mesosctl.whatif.played_demand_report import assumed

_MOST_SHOWN = 10
"""Candidates on a terminal."""
_UNCHANGED = "(as on record)"


class Tuned(NamedTuple):
    """An answer, and its recording."""

    demand: RecordedDemand
    tuning: Tuning
    seed: int = 0


def same_window(demand: RecordedDemand) -> str:
    """Return the options by which another run has the same demand, even if the recording has grown."""
    since, until = (datetime.fromtimestamp(at, UTC).isoformat() for at in (demand.since, demand.until))
    return f"--since {since} --until {until}".replace("+00:00", "Z")


def tuning_report(answer: Tuned) -> Report:
    """A row for each candidate, the best first: what each goal came to, and by how much it is met or missed."""
    ranked = answer.tuning.ranked
    best = answer.tuning.best
    shown = _report(answer, ranked, for_people=False)
    names = list(answer.tuning.space.words(best)) if best is not None else []
    return shown._replace(
        names=names,
        table=lambda: _report(answer, ranked, for_people=True)._replace(
            names=names, terminal=lambda: _report(answer, ranked[:_MOST_SHOWN], for_people=True)._replace(names=names)
        ),
    )


def _title(goal: Goal) -> str:
    bound = f" {'>=' if goal.kind == 'hours_served' else '<='} {goal.text}" if goal.text else ""
    return f"{goal.role} {goal.kind}{bound}"


def _missed(tuning: Tuning, shown: Sequence[Candidate]) -> list[bool]:
    """Return for each goal whether one of these candidates misses it, or may miss it."""
    met = [tuning.met(candidate) for candidate in shown if not tuning.tried[candidate].refusal]
    return [not all(of_goal) for of_goal in zip(*met, strict=True)] or [False] * len(tuning.goals)


def _unjudged(tuning: Tuning, candidate: Candidate) -> str | None:
    """Why goals are not met although what was measured is good enough; None if there are none."""
    if tuning.tried[candidate].refusal:
        return None
    return (
        "; ".join(
            f"{result.goal.kind} of {result.goal.role} is unknown, and counts as missed: {percent_text(result.unseen)} "
            "of its tasks had not started at the end"
            for result in tuning.results(candidate)
            if result.unseen
        )
        or None
    )


def _report(answer: Tuned, shown: Sequence[Candidate], *, for_people: bool) -> Report:
    tuning = answer.tuning

    def measured(place: int, candidate: Candidate) -> str | None:
        return (
            None if tuning.tried[candidate].refusal else _cell(tuning.results(candidate)[place], for_people=for_people)
        )

    columns: Sequence[Column[Candidate]] = [
        Column("CHANGES", lambda candidate: tuning.space.quoted(candidate) or _UNCHANGED, kind="sentence", rank=-1),
        Column("SIZE", lambda candidate: f"{tuning.space.size(candidate):.10g}", kind="number", rank=3),
        Column("MET", lambda candidate: _goals_met(tuning, candidate), kind="number", rank=-1),
        # A goal that is missed says why one candidate is worse than another.
        *(
            Column(_title(goal), partial(measured, place), key=f"{goal.role}.{goal.kind}", rank=1 if missed else 2)
            for place, (goal, missed) in enumerate(zip(tuning.goals, _missed(tuning, shown), strict=True))
        ),
    ]
    if not for_people and any(_unjudged(tuning, candidate) for candidate in shown):  # a cell says so to people
        columns = [*columns, Column("WHY", lambda candidate: _unjudged(tuning, candidate), kind="sentence")]
    return Report(
        columns,
        rows_of(columns, shown),
        [],
        lambda: _document(answer),
        lambda: _document(answer).candidates,
        verdicts=[Verdict(tuning.verdict, OF_ANSWERS[tuning.answer])],
        remark=["", *_remark(answer, len(shown)), *assumed(answer.demand.assumptions)],
    )


def _goals_met(tuning: Tuning, candidate: Candidate) -> str:
    met = tuning.met(candidate)
    return "refused" if tuning.tried[candidate].refusal else f"{sum(met)}/{len(met)}"


def _cell(result: GoalResult, *, for_people: bool) -> str:
    if not for_people:
        return f"{result.measured:.10g}"
    goal, text = result.goal, result.goal.text_of(result.measured)
    if result.unseen:
        return f"{text} at least ({percent_text(result.unseen)} of the tasks had not started at the end)"
    if result.met:
        return text
    apart = abs(result.margin)
    return f"{text} (missed by {goal.text_of(apart) if goal.kind != 'hours_served' else f'{apart * 100:.1f} points'})"


def _remark(answer: Tuned, shown: int) -> Iterator[str]:
    tuning, demand = answer.tuning, answer.demand
    more = len(tuning.tried) - shown
    if more:
        yield f"{counted(more, 'more candidate')} (-o csv shows all)"
    if tuning.best not in (None, tuning.space.unchanged):
        yield (
            "no smaller change within the bounds meets the goals: every one was tried"
            if tuning.is_smallest
            else "it is the smallest of those that were tried; smaller ones may meet the goals too"
        )
    for first, other in tuning.pairs_against if tuning.best is None else ():
        yield f"no candidate met both {first.sentence} and {other.sentence}"
    for goal in tuning.never_met if tuning.best is None else ():
        yield f"no candidate met {goal.sentence}"
    if tuning.stopped:
        yield f"the search was stopped: the same command with {same_window(demand)} goes on with what is known"
    yield f"candidates replayed: {len(tuning.tried)} of {tuning.space.count:,} within the bounds"
    yield (
        f"{demand.cluster_id} from {utc_minute(demand.since)} to {utc_minute(demand.until)} UTC, played on "
        f"{demand.master}"
    )
    unchanged = tuning.tried.get(tuning.space.unchanged)
    if unchanged is not None and unchanged.calibration is not None:
        yield unchanged.calibration.sentence


# --- The document ---------------------------------------------------------------------------------------


def _candidate(tuning: Tuning, candidate: Candidate) -> documents.TuningCandidate:
    evidence = tuning.tried[candidate]
    return documents.TuningCandidate(
        changes=list(tuning.space.words(candidate)),
        size=tuning.space.size(candidate),
        accepted=not evidence.refusal,
        refusal=evidence.refusal or None,
        meets_all=tuning.meets_all(candidate),
        goals=list(map(documents.GoalMeasured.of, tuning.results(candidate))),
        roles=[documents.CandidateRole.of(figures, role=role) for role, figures in sorted(evidence.roles.items())],
    )


def _wanted(tuning: Tuning) -> documents.Wanted | None:
    if tuning.best is None:
        return None
    desired = tuning.space.desired(tuning.best)
    quotas = {role: DesiredQuota.of(quota) for role, quota in (desired.quotas or {}).items()}
    return documents.Wanted(quotas=quotas or None, weights=dict(desired.weights or {}) or None)


def _document(answer: Tuned) -> documents.TuningDocument:
    tuning = answer.tuning
    unchanged = tuning.tried.get(tuning.space.unchanged)
    return documents.TuningDocument.of(
        answer,
        found=tuning.best is not None,
        nothing_to_change=tuning.best == tuning.space.unchanged,
        changes=None if tuning.best is None else tuning.space.words(tuning.best),
        wanted=_wanted(tuning),
        candidates=[_candidate(tuning, candidate) for candidate in tuning.ranked],
        tried=len(tuning.tried),
        calibration=unchanged and unchanged.calibration,
    )


# --- The page -------------------------------------------------------------------------------------------


def tuning_page(answer: Tuned, origin: ReportOrigin) -> str:
    """An HTML report: the verdict, the trade-off between goals, and the table of candidates."""
    tuning = answer.tuning
    titles, rows = shown_cells(_report(answer, tuning.ranked, for_people=True))
    return html_report(
        f"Tuning of {answer.demand.cluster_id}",
        tuning.verdict,
        TONE_OF_ANSWERS[tuning.answer],
        origin.facts(),
        [
            section("What stands against what", _chart(tuning)),
            section("Candidates", text_table(titles, rows)),
            sentences("What this rests on", _remark(answer, len(rows))),
            sentences("Assumed", answer.demand.assumptions),
        ],
    )


_DOT, _BOUND, _MET = COLOURS[:3]


def _axes(tuning: Tuning) -> tuple[int, int | None]:
    """The places of the two goals that are drawn: those that stand against each other, else the first two."""
    if tuning.pairs_against:
        goal, other = tuning.pairs_against[0]
        return tuning.goals.index(goal), tuning.goals.index(other)
    return 0, 1 if len(tuning.goals) > 1 else None


def _chart(tuning: Tuning) -> str:
    """A dot for each candidate: one goal to the right, another upwards, and a line at each bound.

    With one goal, the size of the change is to the right.
    """
    accepted = [candidate for candidate in tuning.tried if not tuning.tried[candidate].refusal]
    if not accepted:
        return "<p>No candidate would be accepted.</p>"
    across, up = _axes(tuning)
    upwards = tuning.goals[across if up is None else up]
    measured = {candidate: tuning.measured(candidate) for candidate in accepted}
    heights = {candidate: measured[candidate][across if up is None else up] for candidate in accepted}
    shown: Callable[[float], str]
    if up is None:
        places = {candidate: tuning.space.size(candidate) for candidate in accepted}
        sideways, last, shown = "the size of the change", max(places.values()), _size_text
    else:
        goal = tuning.goals[across]
        places = {candidate: measured[candidate][across] for candidate in accepted}
        sideways, last, shown = _title(goal), max(*places.values(), goal.bound), goal.text_of
    drawing = PointChart(
        "Candidates by what they come to: filled if all goals are met",
        f"to the right: {sideways}; upwards: {_title(upwards)}",
        last,
        max(*heights.values(), upwards.bound),
        shown,
        upwards.text_of,
    )
    dashed = f'stroke="{_BOUND}" stroke-dasharray="4,3"'
    drawing.draw(f'<path d="M0,{drawing.y(upwards.bound):.1f} H{WIDTH:.0f}" {dashed}/>')
    if up is not None:
        drawing.draw(f'<path d="M{drawing.x(tuning.goals[across].bound):.1f},0 V{HEIGHT:.0f}" {dashed}/>')
    for candidate in accepted:
        fill, radius = (_MET if tuning.meets_all(candidate) else "none"), (6 if candidate == tuning.best else 4)
        words = escape(tuning.space.quoted(candidate) or _UNCHANGED)
        drawing.draw(
            f'<circle cx="{drawing.x(places[candidate]):.1f}" cy="{drawing.y(heights[candidate]):.1f}" r="{radius}" '
            f'fill="{fill}" stroke="{_DOT}"><title>{words}</title></circle>'
        )
    drawing.name("the bound of a goal, dashed", _BOUND)
    drawing.name("meets all goals", _MET)
    return drawing.svg()


def _size_text(size: float) -> str:
    return f"{size:g}"
