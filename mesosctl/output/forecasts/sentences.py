"""A forecast in sentences: the answer, and a line for each request, offer, task and guarantee."""

from collections.abc import Iterable, Sequence

from mesosctl.model.amount_text import in_words, percent_text, shown_amount
from mesosctl.model.notation import counted
from mesosctl.model.quantities import Quantities
from mesosctl.output.formats.amounts import resources_in_words
from mesosctl.output.offers.sentences import names
from mesosctl.output.rate_limits_simulation import overflow_texts
from mesosctl.planning.forecast import (
    ChangeAnswer,
    EvictedTask,
    Forecast,
    QuotaFit,
    RescindedOffer,
    ShareChange,
    Starving,
)


def share_text(party: ShareChange) -> str:
    """`12% → 30% cpus`: the dominant share before and after."""
    before, after = percent_text(party.share_before), percent_text(party.share_after)
    moved = before if before == after else f"{before} → {after}"
    return f"{moved} {party.dominant or ''}".rstrip()


def answer_text(answer: ChangeAnswer) -> str:
    """One request, and its answer."""
    verdict = "accepted" if answer.accepted else "REFUSED"
    status = "" if answer.status is None else f" ({answer.status})"
    by = ""
    if answer.by == "mesosctl":
        by = " by mesosctl, before anything is sent"
        status = "" if answer.status is None else f" (a master would answer {answer.status})"
    rule = f" [{answer.rule}]" if answer.rule else ""
    why = f": {answer.message}" if answer.message else ""
    todo = f" ({answer.hint})" if answer.hint else ""
    return f"{answer.change}: {verdict}{by}{status}{rule}{why}{todo}"


def verdict(forecast: Forecast) -> str:
    """The whole answer in one sentence."""
    if not forecast.accepted:
        return "NO: it would be refused"
    # Only a request can be accepted: the loss of agents and a restart are none.
    asked = bool(forecast.answers)
    harms = [*(_harm(one) for one in forecast.starved), *overflow_texts(forecast.traffic)]
    if harms:
        return f"NO: {'it would be accepted, but ' if asked else ''}{names(harms)}"
    going = sum(task.caused for task in forecast.evicted)
    evicted = f"; {counted(going, 'task')} would be evicted" if going else ""
    lost = f"; {counted(forecast.tasks_lost, 'task')} would end with the agents" if forecast.tasks_lost else ""
    return f"YES: {'it would be accepted, and ' if asked else ''}nobody would starve{lost}{evicted}"


def _harm(one: Starving) -> str:
    """`role r3 would be 2 cpus below its guarantee (1 before)`."""
    if one.reason == "nothing":
        return f"{one.kind} {one.name} would have nothing left"
    if one.is_raised:
        until = " until other roles release enough" if one.can_be_met else ""
        return f"role {one.name} would be {in_words(one.short)} below its new guarantee{until}"
    # Of what was missing before, show the resources that are missing now, if any of them were.
    before = Quantities({name: milli for name, milli in one.before.items() if name in one.short}) or one.before
    if not before:
        was = "met by offers before" if one.was_met_by_offers else "met before"
    elif list(before) == list(one.short) and len(before) == 1:
        was = f"{shown_amount(*next(iter(before.items())))} before"
    else:
        was = f"{in_words(before)} before"
    return f"role {one.name} would be {in_words(one.short)} below its guarantee ({was})"


def starving_text(one: Starving) -> str:
    """One that starves."""
    return f"{'' if one.caused else '(was already starving) '}{one.sentence(in_words)}"


def fit_text(fit: QuotaFit) -> str:
    """The number of agents on which a whole guarantee fits."""
    guarantee = in_words(fit.guarantee)
    if not fit.agents_whole:
        largest = in_words(fit.largest)
        return f"{fit.role}: {guarantee} fits on no single agent; the most that one agent has is {largest}"
    whole = f"{fit.role}: {guarantee} fits on {agents_text(fit.agents_whole)} if nothing else runs there"
    return f"{whole}, and on {fit.agents_now} with the tasks that run there now"


def agents_text(count: int) -> str:
    """`1 agent`, `3 agents`."""
    return counted(count, "agent")


def in_service(forecast: Forecast) -> str:
    """`6 agents in service`, and how many there are after the change if that differs."""
    after = f" before the change, {forecast.agents_after} after it" if forecast.agents_after != forecast.agents else ""
    return f"{agents_text(forecast.agents)} in service{after}"


def rescinded_text(offer: RescindedOffer) -> str:
    """One offer that would be rescinded."""
    held = resources_in_words(offer.resources)
    return f"{offer.framework} {offer.role} {offer.agent}: {held}{_not_sent(offer)}"


def rescinded_texts(offers: Iterable[RescindedOffer]) -> list[str]:
    """The offers of each framework in a role: one by itself, of several the sum; -o json has each."""
    holders: dict[tuple[str, str, bool], list[RescindedOffer]] = {}
    for offer in offers:
        holders.setdefault((offer.framework_id, offer.role, offer.out_now), []).append(offer)
    return [rescinded_text(same[0]) if len(same) == 1 else _summed_up(same) for same in holders.values()]


def _summed_up(offers: Sequence[RescindedOffer]) -> str:
    """`12 of spark (role ads) on 12 agents: 48 cpus and 96GiB mem`."""
    first, agents = offers[0], len({offer.agent_id for offer in offers})
    held = in_words(Quantities.total(offer.resources.scalar_quantities() for offer in offers))
    name = first.framework or first.framework_id
    return f"{len(offers)} of {name} (role {first.role}) on {agents_text(agents)}: {held}{_not_sent(first)}"


def _not_sent(offer: RescindedOffer) -> str:
    return "" if offer.out_now else " (not sent yet: the master would send it before the change)"


def evicted_text(task: EvictedTask) -> str:
    """One task that would be evicted."""
    when = "" if task.happens else ", once what is offered there is used"
    before = "" if task.caused else "(was already starving) "
    assumed = "" if task.runs_now else " (not running yet: assumed to start before the change)"
    grace = f"{task.grace_seconds:g} s to end"
    return (
        f"{before}{task.framework}/{task.task_id} {task.role} {task.agent}: "
        f"{resources_in_words(task.resources)}, {grace}{when}{assumed}"
    )


def unoffered_texts(forecast: Forecast) -> list[str]:
    """Roles and frameworks that ran nothing, held offers, and would no longer be offered anything."""
    return [f"{one.kind} {one.name}: it was offered {in_words(one.before.offered)}" for one in forecast.unoffered]
