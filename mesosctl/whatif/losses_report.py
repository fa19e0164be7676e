"""Losses as a report: a row for each, the worst first."""

from mesosctl.mesos.amounts.notation import FEW, counted, listed
from mesosctl.mesos.door.forecast import ASSUMPTIONS
from mesosctl.show.lists import list_report
from mesosctl.show.report import OF_ANSWERS, Column, Report, Verdict
from mesosctl.whatif import documents
from mesosctl.whatif.losses import EACH_AGENT, Loss, Losses


def losses_report(found: Losses) -> Report:
    """A row for each loss: who would starve for it, and what ends with the agents."""
    single = found.by == (EACH_AGENT,)
    return list_report(
        documents.LossRanking(
            answer=found.answer, assume=found.assume, by=list(found.by), not_tried=found.not_tried, losses=[]
        ),
        found.losses,
        (
            Column("LOST", lambda loss: loss.name, rank=-1),
            Column("AGENTS", lambda loss: loss.agents, kind="number", rank=2, wide=single),
            Column("ALIKE", lambda loss: len(loss.alike), kind="number", rank=2, wide=EACH_AGENT not in found.by),
            Column("HARMLESS", lambda loss: loss.is_harmless, meaning={"yes": "met", "no": "not met"}, rank=1),
            Column("WHO STARVES", _who_starves, kind="sentence", rank=-1),
            Column("TASKS", lambda loss: loss.tasks, kind="number", rank=3),
            Column("RESOURCES", lambda loss: loss.lost, kind="amounts", rank=4),
        ),
        name=lambda loss: loss.name,
        verdicts=[Verdict(_answer(found), OF_ANSWERS[found.answer])],
        remark=_remarks(found, single=single),
    )


def _who_starves(loss: Loss) -> str:
    return "; ".join(starvation.harm for starvation in loss.starved)


def _answer(found: Losses) -> str:
    """The answer in a sentence: the loss that would hurt most."""
    parts = ["a single agent" if name == EACH_AGENT else f"the agents with one value of {name}" for name in found.by]
    lost = " or ".join(parts)
    harmful = [loss for loss in found.losses if not loss.is_harmless]
    if not harmful:
        if found.not_tried:
            return f"PERHAPS: none of the {len(found.losses)} losses that were tried would starve anybody"
        return f"YES: nobody would starve if {lost} were lost"
    worst = harmful[0]
    harms = listed([starvation.harm for starvation in worst.starved], FEW)
    count = sum(1 + len(loss.alike) for loss in harmful)
    others = f" ({count - 1} other {'loss' if count == 2 else 'losses'} would starve somebody too)" if count > 1 else ""
    return f"NO: the loss of {worst.name} would hurt most: {harms}{others}"


def _remarks(found: Losses, *, single: bool) -> list[str]:
    told = [f"assumed: {ASSUMPTIONS[found.assume]}; --assume chooses"]
    if any(loss.alike for loss in found.losses):
        told.append("ALIKE: the other agents of which each is like this one, so that only one was tried")
    if found.not_tried:
        kinds = counted(found.not_tried, "kind") + " of agents" if single else f"{found.not_tried} more"
        told.append(f"not tried: {kinds}; they hold less than those above")
    return told
