"""Differences and plans as reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mesosctl.apply import documents
from mesosctl.apply.plan import QuotaStep, Step, StepInWords, describe, destroys, takes_away
from mesosctl.apply.saved_plan import Premise, fingerprint
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.desired.desired_state import DesiredState, Difference
from mesosctl.mesos.desired.reservation_plan import ReservationStep
from mesosctl.mesos.door.forecast import Forecast
from mesosctl.show.document import amounts
from mesosctl.show.lists import list_report
from mesosctl.show.report import Column, Report, Verdict
from mesosctl.suggestion import command
from mesosctl.whatif.documents import ForecastDocument


def wanted_state(wanted: DesiredState) -> Report:
    """The state that `export` writes, for -o json and -o jsonl."""

    def document() -> documents.DesiredStateDocument:
        return documents.DesiredStateDocument.of(wanted)

    return Report([], [], [], document)


def wanted_differences(found: Sequence[Difference], file: str, *, prune: bool = False, compares: bool = True) -> Report:
    """Differences between the cluster and the file; `prune` says that they include what the file does not name.

    `compares` says whether the file names anything to compare.
    """
    return list_report(
        documents.Differences(differences=[]),
        found,
        (
            Column("KIND", lambda difference: difference.kind),
            Column("NAME", lambda difference: difference.name, rank=-1),
            Column("ACTUAL", lambda difference: difference.actual, kind="sentence", rank=1, meaning="lost"),
            Column("WANTED", lambda difference: difference.wanted, kind="sentence", meaning="gained"),
        ),
        name=lambda difference: f"{difference.kind}/{difference.name}",
        element=lambda difference: documents.StateDifference.of(
            difference, actual_values=_state(difference.before), wanted_values=_state(difference.after)
        ),
        empty=_no_difference(compares=compares),
        verdicts=[_differences_verdict(found, file, prune=prune)] if found else (),
    )


def _no_difference(*, compares: bool) -> str:
    return "nothing differs from the file" if compares else "nothing was compared"


def _state(value: Quota | float | Resources | None) -> documents.ComparedState | None:
    """A quota, a weight or reserved resources as numbers."""
    if value is None:
        return None
    if isinstance(value, Quota):
        return documents.ComparedState(guarantee=amounts(value.guarantees), limit=amounts(value.limits))
    if isinstance(value, Resources):
        return documents.ComparedState(reserved=amounts(value.quantities()))
    return documents.ComparedState(weight=value)


def _differences_verdict(found: Sequence[Difference], file: str, *, prune: bool) -> Verdict:
    apply = command("apply", f=file, prune=prune or None)
    return Verdict(f"different from the file: {_counted(found)}; {apply} would change that", "not met")


def unnamed_text(unnamed: Sequence[Difference]) -> str:
    """A sentence about what exists but is not in the file, for `diff` without --prune."""
    return f"not in the file: {_counted(unnamed)}; --prune compares what the file does not name too"


def _counted(found: Sequence[Difference]) -> str:
    counts = Counter(difference.kind for difference in found)
    return ", ".join(counted(count, kind) for kind, count in counts.items())


def plan_report(
    steps: Sequence[Step], done: int, *, applied: bool, checksum: str | None = None, compares: bool = True
) -> Report:
    """A plan and how far it has come; `applied` says that this command has gone through it.

    `checksum` is the one of the file that it was saved in; `compares` is that of `wanted_differences`.
    """
    described = [_Line(number, step, describe(step), number <= done) for number, step in enumerate(steps, start=1)]
    has_states = any(line.words.before or line.words.after for line in described)  # a reservation has none
    columns: Sequence[Column[_Line]] = (
        Column("STEP", lambda line: line.number, kind="number"),
        Column("DONE", lambda line: line.done or None, rank=2, meaning={"yes": "met"}),
        Column("WHAT", lambda line: line.words.step, kind="sentence", rank=-1),
        Column("OF", lambda line: line.words.of, rank=-1),
        Column("BEFORE", lambda line: line.words.before, kind="sentence", rank=1, wide=not has_states),
        Column("AFTER", lambda line: line.words.after, kind="sentence", wide=not has_states),
    )
    return list_report(
        documents.Plan(applied=applied, checksum=checksum, steps=[]),
        described,
        columns,
        name=lambda line: f"{line.words.step}/{line.words.of}",
        element=lambda line: documents.PlanStep(**line.fields()),
        empty=_no_difference(compares=compares),
        done="every step is done" if applied else "",
        remark=() if checksum is None else ["", _checksum_line(checksum)],
        verdicts=[_plan_verdict(steps, done)] if steps else (),
    )


class _Line(NamedTuple):
    """A step, with its number from 1 on, and whether it is done."""

    number: int
    step: Step
    words: StepInWords
    done: bool

    def fields(self) -> dict[str, Any]:
        """The fields of a step in a document."""
        fields: dict[str, Any] = {"number": self.number, **self.words._asdict(), "done": self.done}
        if isinstance(self.step, QuotaStep):
            fields |= {"before_values": _state(self.step.before), "after_values": _state(self.step.after)}
        elif isinstance(self.step, ReservationStep):
            fields["resources"] = self.step.resources
        return fields


def _checksum_line(checksum: str) -> str:
    return f"checksum of the plan: {checksum}"


class PlanOrigin(NamedTuple):
    """When, by what, for which master and from which file a plan was made."""

    made_at: float
    made_by: str
    master: str
    mesos_version: str
    mesos_profile: str
    upgrade_to: str | None
    file: str
    wanted: str
    prune: bool
    allow_new_resource: bool


def saved_plan(
    origin: PlanOrigin, steps: Sequence[tuple[Step, Mapping[str, Any]]], rests_on: Sequence[Premise], forecast: Forecast
) -> documents.SavedPlan:
    """The document of a plan, without its checksum; of each step, its JSON for the file is given too."""
    return documents.SavedPlan(
        **origin._asdict(),
        rests_on=[documents.Fact.of(fact) for fact in rests_on],
        fingerprint=fingerprint(rests_on),
        steps=[
            documents.SavedStep(**_Line(number, step, describe(step), done=False).fields(), change=dict(change))
            for number, (step, change) in enumerate(steps, start=1)
        ],
        forecast=ForecastDocument.answering(forecast),
        checksum="",
    )


def saved_plan_report(plan: documents.SavedPlan, forecast: Report) -> Report:
    """The forecast of a plan, and its checksum; the document is the plan itself."""

    def with_checksum(report: Report) -> Report:
        return report._replace(remark=[*report.remark, "", _checksum_line(plan.checksum)])

    terminal = forecast.terminal
    return with_checksum(forecast)._replace(
        document=lambda: plan,
        items=lambda: [plan],
        listing="",
        listed=None,
        terminal=None if terminal is None else lambda: with_checksum(terminal()),
    )


def losses_text(steps: Sequence[Step]) -> str:
    """The clause that says how many of the steps take something away; empty if none does."""
    losses = sum(map(takes_away, steps))
    which = "which" if len(steps) == 1 else f"{losses} of which"
    destroyed = sum(map(destroys, steps))
    data = f", and the data of {counted(destroyed, 'volume')} is lost" if destroyed else ""
    return f", {which} take{'s' * (losses == 1)} something away{data}" if losses else ""


def _plan_verdict(steps: Sequence[Step], done: int) -> Verdict:
    total = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    if done == len(steps):
        all_of_them = {1: "the step was", 2: "both steps were"}.get(len(steps), f"all {total} were")
        made = f"{all_of_them} done and read back"
        return Verdict(made, "met")
    taking = losses_text(steps[done:])
    if done:
        are = "is" if done == 1 else "are"
        return Verdict(f"{done} of {total} {are} done; {len(steps) - done} to go{taking}", "at risk")
    return Verdict(f"{total} to do{taking}", "at risk" if taking else "met")
