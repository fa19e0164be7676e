"""The answer of `capacity`: a row for each loss that hurts, the worst first."""

from collections.abc import Sequence

from mesosctl.capacity import documents
from mesosctl.capacity.losses import Spare, SpareLoss, told
from mesosctl.mesos.amounts.amount_text import enumerated
from mesosctl.mesos.amounts.notation import FEW, listed
from mesosctl.show.lists import list_report
from mesosctl.show.report import OF_ANSWERS, Column, Report, Verdict
from mesosctl.whatif.losses import EACH_AGENT

_NUMBERS = {1: "one", 2: "two"}
_PLAYED = (
    "frameworks hold every offer without answering it",
    "a task that ends has a place if an agent has room for it that no task uses, even if somebody else is offered that",
)


def spare_report(found: Sequence[Spare], *, every: bool) -> Report:
    """A row for each loss that hurts; with `every`, for each loss."""
    return list_report(
        documents.SpareCapacity.without_losses(found),
        told(found, every=every),
        (
            Column("LOST", lambda one: one.loss.name, rank=-1),
            Column("AGENTS", lambda one: one.loss.agents, kind="number", rank=2),
            Column("ALIKE", lambda one: one.count, kind="number", rank=1),
            Column("HARMLESS", lambda one: one.is_harmless, meaning={"yes": "met", "no": "not met"}, rank=2),
            Column("WHO IS HURT", lambda one: "; ".join(one.harms), kind="sentence", rank=-1),
            Column("TASKS", lambda one: one.loss.tasks, kind="number", rank=3),
            Column("RESOURCES", lambda one: one.loss.lost, kind="amounts", rank=4),
        ),
        name=lambda one: one.loss.name,
        verdicts=[Verdict(_sentence(spare), OF_ANSWERS[spare.answer]) for spare in found],
        remark=[*(_played_of(spare) for spare in found), *(f"assumed: {sentence}" for sentence in _PLAYED)],
    )


def _sentence(spare: Spare) -> str:
    """`NO: any one rack can go, except r7: role web would be …`."""
    several = spare.at_once > 1
    what = f"{_NUMBERS[spare.at_once]} {spare.by}{'s' * several}"
    harmful = spare.harmful
    if not harmful:
        return f"YES: any {what} can go{' together' * several}"
    worst = listed(harmful[0].harms, FEW)
    count = sum(one.count for one in harmful)
    if count == spare.count:
        alone = "it is the only one" if count == 1 else f"of {count}, each would hurt"
        return f"NO: no {what} can go; {alone}: the loss of {harmful[0].loss.name} most: {worst}"
    named = [_named(one, spare.by) for one in harmful]
    names = listed(named, FEW) if len(named) > FEW else enumerated(named)
    return f"NO: any {what} can go{' together' * several}, except {names}: {worst}"


def _named(one: SpareLoss, by: str) -> str:
    """The loss as the answer names it: of an attribute its value alone, and how many are like it."""
    parts = one.loss.name.split(" and ")
    name = " with ".join(parts if by == EACH_AGENT else [part.removeprefix(f"{by}=") for part in parts])
    return name if one.count == 1 else f"{name} ({one.count - 1} more like it)"


def _played_of(spare: Spare) -> str:
    lost = f"{_NUMBERS[spare.at_once]} {spare.by}{'s' * (spare.at_once > 1)}"
    what = f"{spare.count} {'loss' if spare.count == 1 else 'losses'} of {lost}"
    if spare.played == spare.count:
        return f"{what}: each was played"
    few = [one for one in spare.losses if one.played < one.count]
    largest = max(few, key=lambda one: one.count)
    return (
        f"{what}: {spare.played} were played, the first and the last of those that look alike "
        f"({largest.played} of {largest.count} alike played at most); --all plays each"
    )
