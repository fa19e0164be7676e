"""A forecast in sentences: the answer, and a line for each request, offer, task and guarantee."""

from collections.abc import Iterable, Sequence

from mesosctl.mesos.amounts.amount_text import in_words, percent_text
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.door.forecast import (
    AnsweredChange,
    Eviction,
    Forecast,
    GuaranteeFit,
    HolderChange,
    Rescission,
    Starvation,
)
from mesosctl.show.amounts import resources_in_words


def share_text(party: HolderChange) -> str:
    """`12% → 30% cpus`: the dominant share before and after."""
    before, after = percent_text(party.share_before), percent_text(party.share_after)
    moved = before if before == after else f"{before} → {after}"
    return f"{moved} {party.dominant or ''}".rstrip()


def answer_text(answer: AnsweredChange) -> str:
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


def starving_text(starvation: Starvation) -> str:
    """One that starves."""
    return f"{'' if starvation.caused else '(was already starving) '}{starvation.sentence(in_words)}"


def fit_text(fit: GuaranteeFit) -> str:
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


def rescinded_text(offer: Rescission) -> str:
    """One offer that would be rescinded."""
    held = resources_in_words(offer.resources)
    return f"{offer.framework} {offer.role} {offer.agent}: {held}{_not_sent(offer)}"


def rescinded_texts(offers: Iterable[Rescission]) -> list[str]:
    """The offers of each framework in a role: one by itself, of several the sum; -o json has each."""
    holders: dict[tuple[str, str, bool], list[Rescission]] = {}
    for offer in offers:
        holders.setdefault((offer.framework_id, offer.role, offer.out_now), []).append(offer)
    return [rescinded_text(same[0]) if len(same) == 1 else _summed_up(same) for same in holders.values()]


def _summed_up(offers: Sequence[Rescission]) -> str:
    """`12 of spark (role ads) on 12 agents: 48 cpus and 96GiB mem`."""
    first, agents = offers[0], len({offer.agent_id for offer in offers})
    held = in_words(Quantities.total(offer.resources.scalar_quantities() for offer in offers))
    name = first.framework or first.framework_id
    return f"{len(offers)} of {name} (role {first.role}) on {agents_text(agents)}: {held}{_not_sent(first)}"


def _not_sent(offer: Rescission) -> str:
    return "" if offer.out_now else " (not sent yet: the master would send it before the change)"


def evicted_text(task: Eviction) -> str:
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
    return [f"{gain.kind} {gain.name}: it was offered {in_words(gain.before.offered)}" for gain in forecast.unoffered]
