"""The work of `apply`: a plan is carried out step by step, and continues wherever it stopped."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from mesosctl.apply.comparison import compare
from mesosctl.apply.journal import Journal, JournalEntry
from mesosctl.apply.plan import VERBS, QuotaStep, Step, WeightsStep, describe, shown_after
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.amount_text import text_in_words
from mesosctl.mesos.amounts.notation import FEW, listed
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.desired.reservation_plan import ReservationStep, of_kinds
from mesosctl.mesos.errors import Bug, Conflict, MesosctlError, NotFound
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.quota.work import remove_quotas, update_quotas
from mesosctl.reading.quotas import QuotaOptions, read_quotas
from mesosctl.reading.targets import read_agents
from mesosctl.reservations.send import SendOptions, operate
from mesosctl.reservations.work import PLANNERS
from mesosctl.suggestion import command
from mesosctl.weights.work import read_weights, update_weights


def resume(master: LeadingMaster, journal: Journal, digest: str) -> JournalEntry | None:
    """Return the steps that an interrupted apply of this desired state left, after checking the one that was under way.

    Raises Conflict if a completed step has since been undone, or the next one is not as that apply left it.
    """
    left = journal.read()
    for other in journal.replaced() if left is None else ([left] if left.digest != digest else []):
        master.notice(
            f"an earlier {journal.verb} of this file was interrupted: {other.done} of {len(other.steps)} steps "
            f"{'was' if other.done == 1 else 'were'} confirmed, "
            "and the next one may have been done; the file or --prune has changed since, so mesosctl makes a "
            f"new plan"
        )
    if left is None or left.digest != digest:
        return None
    done = left.done
    # The master shows whether the step that was under way happened.
    while done < len(left.steps) and step_status(master, left.steps[done]) == "after":
        done += 1
    for step in undone(master, left.steps[:done]):
        raise _changed(step)
    if done < len(left.steps):
        _check_untouched(master, left.steps[done])
    master.notice(
        f"an earlier {journal.verb} was interrupted: the master shows {done} of its {len(left.steps)} steps"
        f"{_in_short(left.steps[:done])}"
    )
    return JournalEntry(digest, left.steps, done)


def run(
    master: LeadingMaster,
    journal: Journal,
    entry: JournalEntry,
    options: SendOptions,
    tell: Callable[[str, float], None],
) -> None:
    """Make the remaining steps; each is checked before and read back after.

    `tell` gets a sentence and the fraction that is done. Raises the errors of a step; the journal then says how far it
    came.
    """
    journal.write(entry)
    for number in range(entry.done, len(entry.steps)):
        step = entry.steps[number]
        part = number / len(entry.steps)
        tell(f"step {number + 1} of {len(entry.steps)}: {_sentence(step)}", part)
        # Each step has the whole timeout of a command.
        master.deadline.extend_to(master.settings.timeout)
        before = master.changes_sent
        try:
            if step_status(master, step) != "after":
                _check_untouched(master, step)
                perform(master, step, replace(options, progress=partial(_tell_part, tell, part)))
        except MesosctlError as error:
            if number:
                problem = _CHANGED if error.rule == "apply.unchanged" else error.message
                told = f"step {number + 1} of {len(entry.steps)}, {_sentence(step)}: {problem}"
                begun = master.changes_sent > before
                error.reword(told if begun else f"{told}; the steps before it are done; this one was not started")
            raise
        except KeyboardInterrupt as stopped:
            stopped.__notes__ = list(_known(entry.steps, number, begun=master.changes_sent > before, stopped=stopped))
            raise
        try:
            journal.write(JournalEntry(entry.digest, entry.steps, number + 1))
        except KeyboardInterrupt as stopped:
            stopped.add_note(_continues(number + 1, entry.steps))
            raise
    try:
        journal.end()
    except MesosctlError as error:
        error.reword(f"every step is done, but {error.message}")
        raise
    except KeyboardInterrupt as stopped:
        stopped.add_note("every step is done")
        raise


def _tell_part(tell: Callable[[str, float], None], part: float, sentence: str) -> None:
    tell(sentence, part)


def _continues(done: int, steps: Sequence[Step]) -> str:
    return f"{done} of {len(steps)} steps done; run the same command to continue"


def _known(steps: Sequence[Step], done: int, *, begun: bool, stopped: KeyboardInterrupt) -> Iterator[str]:
    """Yield the known facts after an interruption of the step that follows `done` ones."""
    if not begun and not getattr(stopped, "__notes__", None):
        yield _continues(done, steps)
        return
    if done:
        yield f"{done} of {len(steps)} steps done"
    step = f"step {done + 1} of {len(steps)}, {_sentence(steps[done])},"
    yield f"{step} was under way, and it is unknown whether it was done"
    yield "run the same command to find out and continue"


def _in_short(steps: Sequence[Step]) -> str:
    """Return how many steps of each kind are done, after a colon; empty for none."""
    if not steps:
        return ""
    kinds = Counter(_kind(step) for step in steps)
    return ": " + ", ".join(f"{kind} ({count})" for kind, count in kinds.items())


def _kind(step: Step) -> str:
    """Return the kind of a step, without role and amounts."""
    return VERBS[step.action] if isinstance(step, ReservationStep) else describe(step).step


def check_same(shown: Sequence[Step], now: Sequence[Step]) -> None:
    """Raise Conflict if the plan is no longer the one that was shown."""
    if list(shown) != list(now):
        raise Conflict(
            "the cluster has changed since the plan was made; nothing was done",
            rule="apply.unchanged",
            hint="run the same command again, and read the new plan",
        )


_CHANGED = "the cluster has changed there since the plan was made"


def _check_untouched(master: LeadingMaster, step: Step) -> None:
    if step_status(master, step) != "before":
        raise _changed(step)


def _changed(step: Step) -> Conflict:
    return Conflict(f"{_sentence(step)}: {_CHANGED}", rule="apply.unchanged")


def prove(master: LeadingMaster, desired: DesiredState, *, prune: bool) -> None:
    """Raise Conflict if the cluster differs from the desired state although every step was confirmed."""
    try:
        left = compare(master, desired, prune=prune)
    except MesosctlError as error:
        error.reword(f"every step is done, but the cluster could not be compared with the file: {error.message}")
        raise
    except KeyboardInterrupt as stopped:
        stopped.add_note("every step is done; run the same command to compare again")
        raise
    if left:
        named = listed([f"{difference.kind} of {difference.name}" for difference in left], FEW)
        raise Conflict(
            f"every step is done, but the cluster differs from the file: {named} changed meanwhile",
            rule="apply.unchanged",
            hint=f"compare with {command('diff', f='FILE')}, then run the same command again",
        )


def _sentence(step: Step) -> str:
    words = describe(step)
    done, after = text_in_words(words.step), f" to {text_in_words(words.after)}" if words.after else ""
    reserves = isinstance(step, ReservationStep) and step.action == "reserved"
    return f"{done} {'for' if reserves else 'of'} {words.of}{after}"


StepStatus = Literal["before", "after", "other"]


def step_status(master: LeadingMaster, step: Step) -> StepStatus:
    """Whether the master shows the state before the step, the state after it, or something else."""
    if isinstance(step, QuotaStep):
        quota = read_quotas(master).get(step.role)
        return _compare(quota == step.before, quota == step.after)
    if isinstance(step, WeightsStep):
        weights = read_weights(master)
        return _compare(
            all(weights.get(role, 1.0) == weight for role, weight in step.before.items()),
            all(weights.get(role, 1.0) == weight for role, weight in step.after.items()),
        )
    agent = next((agent for agent in read_agents(master) if agent.id == step.agent_id), None)
    if agent is None:
        return "other"
    shown = of_kinds(agent.total, {entry.kind for entry in step.resources})
    return _compare(shown == step.before, shown == step.after)


def undone(master: LeadingMaster, steps: Sequence[Step]) -> list[Step]:
    """Those of these completed steps that a master no longer shows. It is read once for all steps."""
    expected = shown_after(steps)
    quotas = read_quotas(master) if any(isinstance(step, QuotaStep) for step in expected) else {}
    weights = read_weights(master) if any(isinstance(step, WeightsStep) for step in expected) else {}
    agents = read_agents(master) if any(isinstance(step, ReservationStep) for step in expected) else []
    totals = {agent.id: agent.total for agent in agents}

    def is_shown(step: Step) -> bool:
        if isinstance(step, QuotaStep):
            return quotas.get(step.role) == step.after
        if isinstance(step, WeightsStep):
            return all(weights.get(role, 1.0) == weight for role, weight in step.after.items())
        kinds = {entry.kind for entry in step.resources}
        return step.agent_id in totals and of_kinds(totals[step.agent_id], kinds) == step.after

    return [step for step in expected if not is_shown(step)]


def _compare(before: bool, after: bool) -> StepStatus:  # two facts
    return "after" if after else "before" if before else "other"


def perform(master: LeadingMaster, step: Step, options: SendOptions) -> None:
    """Send it, and read it back. Raises the errors of its command."""
    if isinstance(step, QuotaStep):
        _change_quota(master, step)
    elif isinstance(step, WeightsStep):
        update_weights(master, step.after, v1=options.v1)
    else:
        _operate(master, step, options)


def _change_quota(master: LeadingMaster, step: QuotaStep) -> None:
    if step.after is None:
        remove_quotas(master, [step.role])
        return

    # The names were checked, and the user agreed, when the plan was made.
    how = QuotaOptions(create=step.before is None, allow_new_resource=True)
    update_quotas(master, [(step.role, DesiredQuotaChange(*step.after))], how)


def _operate(master: LeadingMaster, step: ReservationStep, options: SendOptions) -> None:
    agent = next((agent for agent in read_agents(master) if agent.id == step.agent_id), None)
    if agent is None:
        raise NotFound(f"agent {step.hostname} has left the master", field="agent", rule="agent.exists")
    changed = operate(master, [PLANNERS[step.action](master, agent, list(step.resources))], options)
    if len(changed) != 1:
        raise Bug("one operation became several")
