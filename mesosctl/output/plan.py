"""Differences and plans as reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.model.notation import counted, listed
from mesosctl.model.quantities import Quota
from mesosctl.model.reservations.holdings import plain_text
from mesosctl.model.resources import Resources
from mesosctl.model.suggestion import command
from mesosctl.output.formats.report import MOST_LINES, NOTHING, Column, Report, Verdict, rest_line
from mesosctl.planning.cleanup import Cleanup, CleanupSelection, InUse
from mesosctl.planning.desired_state import Difference
from mesosctl.planning.forecast import Forecast
from mesosctl.planning.plan import Step, describe, destroys, in_words, takes_away
from mesosctl.planning.saved_plan import Fact, fingerprint

if TYPE_CHECKING:
    from mesosctl.output.json_documents import plan as documents


def wanted_state(content: Mapping[str, Any]) -> Report:
    """The state that `export` writes, for -o json and -o jsonl; `content` is the content of its file."""

    def document() -> "documents.DesiredStateDocument":
        from mesosctl.output.json_documents import plan as documents

        return documents.DesiredStateDocument.model_validate(content)

    return Report([], [], [], document, lambda: [document()])


def wanted_differences(found: Sequence[Difference], file: str, *, prune: bool = False, compares: bool = True) -> Report:
    """Differences between the cluster and the file; `prune` says that they include what the file does not name.

    `compares` says whether the file names anything to compare.
    """

    def items() -> "list[documents.StateDifference]":
        from mesosctl.output.json_documents import plan as documents

        return [
            documents.StateDifference.of(one, actual_values=_state(one.before), wanted_values=_state(one.after))
            for one in found
        ]

    def document() -> "documents.Differences":
        from mesosctl.output.json_documents import plan as documents

        return documents.Differences(differences=items())

    return Report(
        [
            Column("KIND"),
            Column("NAME", rank=-1),
            Column("ACTUAL", kind="sentence", rank=1, meaning="lost"),
            Column("WANTED", kind="sentence", meaning="gained"),
        ],
        [[one.kind, one.name, one.actual or NOTHING, one.wanted or NOTHING] for one in found],
        [f"{one.kind}/{one.name}" for one in found],
        document,
        items,
        empty=_no_difference(compares=compares),
        verdicts=[_differences_verdict(found, file, prune=prune)] if found else [],
    )


def _no_difference(*, compares: bool) -> str:
    return "nothing differs from the file" if compares else "nothing was compared"


def _state(value: Quota | float | Resources | None) -> "documents.ComparedState | None":
    """A quota, a weight or reserved resources as numbers."""
    from mesosctl.output.json_documents import plan as documents
    from mesosctl.output.json_documents.document import amounts

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
    counts = Counter(one.kind for one in found)
    return ", ".join(counted(count, kind) for kind, count in counts.items())


def _in_words(step: Step, index: int, done: int) -> dict[str, Any]:
    """The fields of a step in a document."""
    return {"number": index + 1, **in_words(step), "done": index < done}


def _items(steps: Sequence[Step], done: int) -> "list[documents.PlanStep]":
    from mesosctl.output.json_documents import plan as documents

    return [documents.PlanStep(**_in_words(step, index, done)) for index, step in enumerate(steps)]


def plan_report(
    steps: Sequence[Step], done: int, *, applied: bool, checksum: str | None = None, compares: bool = True
) -> Report:
    """A plan and how far it has come; `applied` says that this command has gone through it.

    `checksum` is the one of the file that it was saved in; `compares` is that of `wanted_differences`.
    """

    def items() -> "list[documents.PlanStep]":
        return _items(steps, done)

    def document() -> "documents.Plan":
        from mesosctl.output.json_documents import plan as documents

        return documents.Plan(applied=applied, checksum=checksum, steps=items())

    described = [describe(step) for step in steps]
    has_states = any(state != NOTHING for _, _, *states in described for state in states)  # a reservation has none
    return Report(
        [
            Column("STEP", kind="number"),
            Column("DONE", rank=2, meaning={"yes": "met"}),
            Column("WHAT", kind="sentence", rank=-1),
            Column("OF", rank=-1),
            Column("BEFORE", kind="sentence", rank=1, wide=not has_states),
            Column("AFTER", kind="sentence", wide=not has_states),
        ],
        [[str(index + 1), "yes" if index < done else NOTHING, *words] for index, words in enumerate(described)],
        [f"{what}/{whom}" for what, whom, *_ in described],
        document,
        items,
        empty=_no_difference(compares=compares),
        done="every step is done" if applied else "",
        remark=[] if checksum is None else ["", _checksum_line(checksum)],
        verdicts=[_plan_verdict(steps, done)] if steps else [],
    )


def in_use_text(left: Sequence[InUse]) -> str:
    """The resources that a cleanup leaves, as one sentence."""
    return listed([one.sentence for one in left], MOST_LINES)


def cleanup_report(
    steps: Sequence[Step], done: int, *, applied: bool, cleanup: Cleanup, wanted: CleanupSelection
) -> Report:
    """The plan of a cleanup like any other, with what is in use and stays."""
    left = cleanup.left
    plan = plan_report(steps, done, applied=applied)

    def document() -> "documents.CleanupPlan":
        from mesosctl.output.json_documents import plan as documents

        return documents.CleanupPlan(
            applied=applied,
            steps=_items(steps, done),
            left=[
                documents.InUse(
                    role=one.role,
                    agent=one.agent.name,
                    agent_id=one.agent.id,
                    resources=plain_text(one.resources),
                    volumes=[entry.disk.persistence_id or "" for entry in one.resources if entry.disk is not None],
                )
                for one in left
            ],
        )

    lines = [f"  {one.sentence}" for one in left[:MOST_LINES]]
    if len(left) > MOST_LINES:
        lines.append(rest_line(len(left) - MOST_LINES))
    return plan._replace(
        document=document,
        empty="" if left else _nothing_to_clean_up(cleanup, wanted),
        remark=["", "in use, and left:", *lines] if left else [],
    )


def _nothing_to_clean_up(cleanup: Cleanup, wanted: CleanupSelection) -> str:
    """Why a cleanup has no steps: nothing is reserved for what is selected, or only by an agent's configuration."""
    selected = wanted.in_words
    if cleanup.static:
        only = "only static reservations, which are part of an agent's configuration"
        return f"nothing to clean up: {selected} has {only}"
    return f"nothing to clean up: {selected} has no volumes and no reservations"


def _checksum_line(checksum: str) -> str:
    return f"checksum of the plan: {checksum}"


class PlanOrigin(NamedTuple):
    """When, by what, for which master and from which file a plan was made."""

    made_at: float
    made_by: str
    master: str
    mesos_version: str
    file: str
    wanted: str
    prune: bool
    allow_new_resource: bool


def saved_plan(
    origin: PlanOrigin, steps: Sequence[tuple[Step, Mapping[str, Any]]], rests_on: Sequence[Fact], forecast: Forecast
) -> "documents.SavedPlan":
    """The document of a plan, without its checksum; of each step, its JSON for the file is given too."""
    from mesosctl.output.json_documents import plan as documents
    from mesosctl.output.json_documents.forecast import ForecastDocument

    return documents.SavedPlan(
        **origin._asdict(),
        rests_on=[documents.Fact.of(fact) for fact in rests_on],
        fingerprint=fingerprint(rests_on),
        steps=[
            documents.SavedStep(**_in_words(step, index, 0), change=dict(change))
            for index, (step, change) in enumerate(steps)
        ],
        forecast=ForecastDocument.answering(forecast),
        checksum="",
    )


def saved_plan_report(plan: "documents.SavedPlan", forecast: Report) -> Report:
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
