"""Going through a plan, step by step, so that it can be taken up again wherever it stops."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from mesosctl.client.master import Master
from mesosctl.core.errors import Conflict, MesosctlError
from mesosctl.core.wanted import Wanted
from mesosctl.core.wanted_plan import Step, describe
from mesosctl.core.wanted_reservations import ReservationStep
from mesosctl.ops.apply.journal import Entry, Journal
from mesosctl.ops.apply.state import compare
from mesosctl.ops.apply.steps import perform, standing, undone
from mesosctl.ops.reservation.operating import Manner

_NAMED = 3
"""Differences in one sentence."""


def resume(master: Master, journal: Journal, digest: str) -> Entry | None:
    """What an earlier apply of the same wishes left undone, and the step that was under way settled.

    Raises Conflict where a step that was made is not so any more, or the next one not where that apply left it.
    """
    left = journal.read()
    for other in journal.replaced() if left is None else ([left] if left.digest != digest else []):
        master.notice(
            f"an earlier apply of this file was interrupted after {other.done} of {len(other.steps)} steps; "
            "the file or --prune is another now, so everything is planned anew"
        )
    if left is None or left.digest != digest:
        return None
    done = left.done
    # Whether the step that was under way happened is for the master to say.
    while done < len(left.steps) and standing(master, left.steps[done]) == "after":
        done += 1
    for step in undone(master, left.steps[:done]):
        raise _changed(step)
    if done < len(left.steps):
        _check_untouched(master, left.steps[done])
    master.notice(
        f"an earlier apply was interrupted after {done} of {len(left.steps)} steps; {_in_short(left.steps[:done])}"
    )
    return Entry(digest, left.steps, done)


def run(master: Master, journal: Journal, entry: Entry, manner: Manner, tell: Callable[[str], None]) -> None:
    """The steps that are left, each looked at before and read back after it.

    Raises what a step raises; the journal then says how far it came.
    """
    journal.write(entry)
    for number in range(entry.done, len(entry.steps)):
        step = entry.steps[number]
        tell(f"step {number + 1} of {len(entry.steps)}: {_words(step)}")
        # Each step has the whole time that one command has.
        master.deadline.extend_to(master.settings.timeout)
        left = master.changes_left
        try:
            if standing(master, step) != "after":
                _check_untouched(master, step)
                perform(master, step, manner)
        except MesosctlError as error:
            if number:
                told = f"step {number + 1} of {len(entry.steps)}, {_words(step)}: {error.message}"
                begun = master.changes_left > left
                error.retell(told if begun else f"{told}; the steps before it are done, and it was not begun")
            raise
        except KeyboardInterrupt as stopped:
            stopped.__notes__ = list(_known(entry.steps, number, begun=master.changes_left > left, stopped=stopped))
            raise
        journal.write(Entry(entry.digest, entry.steps, number + 1))
    journal.end()


def _known(steps: Sequence[Step], done: int, *, begun: bool, stopped: KeyboardInterrupt) -> Iterator[str]:
    """What is known where the step after `done` ones was interrupted."""
    yield f"{done} of {len(steps)} steps done; run the same command to continue"
    if begun or getattr(stopped, "__notes__", None):
        yield f"whether step {done + 1}, {_words(steps[done])}, was made is not known, and the same command finds out"


def _in_short(steps: Sequence[Step]) -> str:
    """Steps that are done: how many of each kind."""
    if not steps:
        return "nothing was done before"
    kinds = Counter(_kind(step) for step in steps)
    return "done before: " + ", ".join(f"{kind} ({count})" for kind, count in kinds.items())


def _kind(step: Step) -> str:
    """What is done, without whom and how much."""
    deed = describe(step)[0]
    return deed.partition(" ")[0] if isinstance(step, ReservationStep) else deed


def check_same(shown: Sequence[Step], now: Sequence[Step]) -> None:
    """Raises Conflict where the plan that was shown is not the plan any more."""
    if list(shown) != list(now):
        raise Conflict(
            "the cluster has changed since the plan was made; nothing was done",
            rule="apply.unchanged",
            hint="run it again, and look at the new plan",
        )


def _check_untouched(master: Master, step: Step) -> None:
    if standing(master, step) != "before":
        raise _changed(step)


def _changed(step: Step) -> Conflict:
    return Conflict(
        f"{_words(step)}: the cluster has changed there since the plan was made",
        rule="apply.unchanged",
        hint="look with mesosctl diff, then plan anew with mesosctl apply --restart",
    )


def prove(master: Master, wanted: Wanted, *, prune: bool) -> None:
    """Raises Conflict where the cluster is not as wanted, though every step was made and seen."""
    try:
        left = compare(master, wanted, prune=prune)
    except KeyboardInterrupt as stopped:
        stopped.add_note("every step is done; run the same command to compare once more")
        raise
    if left:
        named = ", ".join(f"{one.kind} of {one.name}" for one in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        raise Conflict(
            f"every step was made, and the cluster is not as wanted: {named}{more} changed meanwhile",
            rule="apply.unchanged",
            hint="look with mesosctl diff, and run it again",
        )


def _words(step: Step) -> str:
    done, whom, _, after = describe(step)
    return f"{done} of {whom}" + (f" to {after}" if after != "-" else "")
