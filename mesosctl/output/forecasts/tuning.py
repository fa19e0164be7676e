"""The answer of `tune` as a report, and as a page with the trade-off between two goals drawn."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from mesosctl.model.amount_text import in_mesos_notation, percent_text
from mesosctl.model.notation import counted, utc_minute, utc_text
from mesosctl.output.forecasts.replay import assumed
from mesosctl.output.formats.charts import COLOURS
from mesosctl.output.formats.framed_chart import HEIGHT, WIDTH, PointChart
from mesosctl.output.formats.html_page import Origin, escape, html_report, section, sentences, text_table
from mesosctl.output.formats.report import NOTHING, Column, Report, Verdict, shown_cells
from mesosctl.planning.replay import RecordedDemand
from mesosctl.planning.tuning import Candidate, Goal, Tuning

if TYPE_CHECKING:
    from mesosctl.output.json_documents import tuning as documents
    from mesosctl.output.json_documents.replay import Calibration

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
        terminal=lambda: _report(answer, ranked[:_MOST_SHOWN], for_people=True)._replace(names=names),
    )


def _title(goal: Goal) -> str:
    bound = f" {'>=' if goal.kind == 'hours_served' else '<='} {goal.text}" if goal.text else ""
    return f"{goal.role} {goal.kind}{bound}"


def _missed(tuning: Tuning, shown: Sequence[Candidate]) -> list[bool]:
    """Return for each goal whether one of these candidates misses it."""
    measured = [tuning.measured(one) for one in shown if not tuning.tried[one].refusal]
    return [any(not goal.is_met(one[index]) for one in measured) for index, goal in enumerate(tuning.goals)]


def _report(answer: Tuned, shown: Sequence[Candidate], *, for_people: bool) -> Report:
    tuning = answer.tuning
    columns = [
        Column("CHANGES", kind="sentence", rank=-1),
        Column("SIZE", kind="number", rank=3),
        Column("MET", kind="number", rank=-1),
        # A goal that is missed says why one candidate is worse than another.
        *(
            Column(_title(goal), key=f"{goal.role}.{goal.kind}", rank=1 if missed else 2)
            for goal, missed in zip(tuning.goals, _missed(tuning, shown), strict=True)
        ),
    ]
    rows = []
    for candidate in shown:
        met = tuning.met(candidate)
        measured = zip(tuning.goals, tuning.measured(candidate), strict=True)
        refused = tuning.tried[candidate].refusal
        unseen = tuning.unseen(candidate)
        cells = [
            _cell(goal, one, part, for_people=for_people) for (goal, one), part in zip(measured, unseen, strict=True)
        ]
        rows.append(
            [
                tuning.space.quoted(candidate) or _UNCHANGED,
                f"{tuning.space.size(candidate):.10g}",
                f"{sum(met)}/{len(met)}" if not refused else "refused",
                *(cells if not refused else [NOTHING] * len(cells)),
            ]
        )
    return Report(
        columns,
        rows,
        [],
        lambda: _document(answer),
        lambda: _document(answer).candidates,
        verdicts=[Verdict(tuning.verdict, "met" if tuning.best is not None else "not met")],
        remark=["", *_remark(answer, len(shown)), *assumed(answer.demand.assumptions)],
    )


def _cell(goal: Goal, measured: float, unseen: float, *, for_people: bool) -> str:
    if not for_people:
        return f"{measured:.10g}"
    text = goal.text_of(measured)
    if unseen:
        return f"{text} at least ({percent_text(unseen)} of the tasks had not started at the end)"
    if goal.is_met(measured):
        return text
    return f"{text} (missed by {_apart(goal, measured)})"


def _apart(goal: Goal, measured: float) -> str:
    apart = abs(measured - goal.bound)
    return goal.text_of(apart) if goal.kind != "hours_served" else f"{apart * 100:.1f} points"


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
    for one, other in tuning.pairs_against if tuning.best is None else ():
        yield f"no candidate met both {one.sentence} and {other.sentence}"
    for goal in tuning.never_met if tuning.best is None else ():
        yield f"no candidate met {goal.sentence}"
    if tuning.stopped:
        yield f"the search was stopped: the same command with {same_window(demand)} goes on with what is known"
    yield f"candidates replayed: {len(tuning.tried)} of {tuning.space.count:,} within the bounds"
    yield (
        f"{demand.cluster_id} from {utc_minute(demand.since)} to {utc_minute(demand.until)} UTC, played on Mesos "
        f"{demand.version}"
    )
    unchanged = tuning.tried.get(tuning.space.unchanged)
    if unchanged is not None and unchanged.calibration is not None:
        yield unchanged.calibration.sentence


# --- The document ---------------------------------------------------------------------------------------


def _goal(goal: Goal) -> "documents.TuningGoal":
    from mesosctl.output.json_documents import tuning as documents

    return documents.TuningGoal(role=goal.role, goal=goal.kind, bound=goal.bound)


def _candidate(tuning: Tuning, candidate: Candidate) -> "documents.TuningCandidate":
    from mesosctl.output.json_documents import tuning as documents

    evidence = tuning.tried[candidate]
    measured = zip(tuning.goals, tuning.measured(candidate), tuning.met(candidate), strict=True)
    return documents.TuningCandidate(
        changes=list(tuning.space.words(candidate)),
        size=tuning.space.size(candidate),
        accepted=not evidence.refusal,
        refusal=evidence.refusal or None,
        meets_all=tuning.meets_all(candidate),
        goals=[
            documents.GoalMeasured(
                role=goal.role,
                goal=goal.kind,
                measured=one,
                met=met,
                margin=one - goal.bound if goal.kind == "hours_served" else goal.bound - one,
            )
            for goal, one, met in measured
        ],
        roles=[
            documents.CandidateRole(
                role=role,
                tasks=figures.tasks,
                never_fit=figures.never_fit,
                median_wait_seconds=figures.median_wait,
                p95_wait_seconds=figures.p95_wait,
                longest_wait_seconds=figures.longest_wait,
                part_served=figures.part_served,
                below_guarantee_seconds=figures.below_guarantee,
                waiting_at_the_end=figures.waiting_at_the_end,
            )
            for role, figures in sorted(evidence.roles.items())
        ],
    )


def _wanted(tuning: Tuning) -> "documents.Wanted | None":
    from mesosctl.output.json_documents import tuning as documents
    from mesosctl.output.json_documents.plan import DesiredQuota

    if tuning.best is None:
        return None
    desired = tuning.space.desired(tuning.best)
    quotas = {
        role: DesiredQuota(
            guarantee=in_mesos_notation(quota.guarantees) or None if quota.guarantees is not None else None,
            limit=in_mesos_notation(quota.limits) or None if quota.limits is not None else None,
        )
        for role, quota in (desired.quotas or {}).items()
    }
    return documents.Wanted(quotas=quotas or None, weights=dict(desired.weights or {}) or None)


def _calibration(tuning: Tuning) -> "Calibration | None":
    from mesosctl.output.json_documents.replay import Calibration

    unchanged = tuning.tried.get(tuning.space.unchanged)
    known = None if unchanged is None else unchanged.calibration
    if known is None:
        return None
    return Calibration(
        compared=known.compared,
        off=known.off,
        part_off=known.part_off,
        worst_hours_difference=known.worst_hours,
        worst_role=known.worst_role,
    )


def _document(answer: Tuned) -> "documents.TuningDocument":
    from mesosctl.output.json_documents import tuning as documents

    tuning, demand = answer.tuning, answer.demand
    return documents.TuningDocument(
        found=tuning.best is not None,
        nothing_to_change=tuning.best == tuning.space.unchanged,
        verdict=tuning.verdict,
        cluster_id=demand.cluster_id,
        mesos_version=demand.version,
        since=utc_text(demand.since),
        until=utc_text(demand.until),
        imported=demand.is_imported,
        seed=answer.seed,
        goals=[_goal(goal) for goal in tuning.goals],
        changes=None if tuning.best is None else list(tuning.space.words(tuning.best)),
        wanted=_wanted(tuning),
        candidates=[_candidate(tuning, one) for one in tuning.ranked],
        tried=len(tuning.tried),
        possible=tuning.space.count,
        smallest=tuning.is_smallest,
        whole=tuning.is_whole,
        stopped=tuning.stopped,
        never_met=[_goal(goal) for goal in tuning.never_met],
        pairs_against=[[_goal(one), _goal(other)] for one, other in tuning.pairs_against],
        calibration=_calibration(tuning),
        assumptions=list(demand.assumptions),
    )


# --- The page -------------------------------------------------------------------------------------------


def tuning_page(answer: Tuned, origin: Origin) -> str:
    """An HTML report: the verdict, the trade-off between goals, and the table of candidates."""
    tuning = answer.tuning
    titles, rows = shown_cells(_report(answer, tuning.ranked, for_people=True))
    return html_report(
        f"Tuning of {answer.demand.cluster_id}",
        tuning.verdict,
        "yes" if tuning.best is not None else "no",
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
        one, other = tuning.pairs_against[0]
        return tuning.goals.index(one), tuning.goals.index(other)
    return 0, 1 if len(tuning.goals) > 1 else None


def _chart(tuning: Tuning) -> str:
    """A dot for each candidate: one goal to the right, another upwards, and a line at each bound.

    With one goal, the size of the change is to the right.
    """
    accepted = [one for one in tuning.tried if not tuning.tried[one].refusal]
    if not accepted:
        return "<p>No candidate would be accepted.</p>"
    across, up = _axes(tuning)
    upwards = tuning.goals[across if up is None else up]
    measured = {one: tuning.measured(one) for one in accepted}
    heights = {one: measured[one][across if up is None else up] for one in accepted}
    shown: Callable[[float], str]
    if up is None:
        places = {one: tuning.space.size(one) for one in accepted}
        sideways, last, shown = "the size of the change", max(places.values()), _size_text
    else:
        goal = tuning.goals[across]
        places = {one: measured[one][across] for one in accepted}
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
    for one in accepted:
        fill, radius = (_MET if tuning.meets_all(one) else "none"), (6 if one == tuning.best else 4)
        words = escape(tuning.space.quoted(one) or _UNCHANGED)
        drawing.draw(
            f'<circle cx="{drawing.x(places[one]):.1f}" cy="{drawing.y(heights[one]):.1f}" r="{radius}" '
            f'fill="{fill}" stroke="{_DOT}"><title>{words}</title></circle>'
        )
    drawing.name("the bound of a goal, dashed", _BOUND)
    drawing.name("meets all goals", _MET)
    return drawing.svg()


def _size_text(size: float) -> str:
    return f"{size:g}"
