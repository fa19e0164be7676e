"""A reservation on every one of some agents: what is missing on each, what keeps it from some, and what was rounded."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.amount_text import shown_amount
from mesosctl.mesos.amounts.notation import FEW, counted, listed
from mesosctl.mesos.amounts.quantities import is_part, is_rounded, part_of
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.cluster.holdings import AcceptedOperation, RegisteredAgent
from mesosctl.mesos.errors import Conflict, MesosctlError, NotFound, RuleViolation
from mesosctl.mesos.rules.reservations.rules import check_each
from mesosctl.reading.quotas import check_entries
from mesosctl.reading.targets import Owner, check_owner, missing_for
from mesosctl.reservations.send import Operation, SendOptions, operate
from mesosctl.reservations.work import plan_words


class LeftOut(NamedTuple):
    """An agent on which something could not be reserved, and why."""

    agent: RegisteredAgent
    why: str


class PlanForEach(NamedTuple):
    """An operation for each agent, and the agents without one."""

    operations: list[Operation]
    complete: list[RegisteredAgent]
    """The agents on which the role has it already."""
    left_out: list[LeftOut]

    @property
    def agents(self) -> int:
        """How many were chosen."""
        return len(self.operations) + len(self.complete) + len(self.left_out)


def plan_for_each(
    master: LeadingMaster,
    agents: Sequence[RegisteredAgent],
    amounts: Callable[[RegisteredAgent], Sequence[Resource]],
    owner: Owner,
) -> PlanForEach:
    """Plan what each agent lacks of its own amounts, so that what was interrupted is completed.

    Raises RuleViolation if the amounts are wrong on every agent.
    """
    check_owner(owner)
    plan = PlanForEach([], [], [])
    wrong: list[RuleViolation] = []
    for agent in agents:
        if not agent.active:
            plan.left_out.append(LeftOut(agent, f"it is {agent.status}"))
            continue
        try:
            entries = amounts(agent)
            check_entries(master, entries)
            check_each(entries, "resources")  # nothing is missing of mem:0
            missing = missing_for(agent, entries, owner)
            if not missing:
                plan.complete.append(agent)
                continue
            operation = plan_words(master, agent, missing, owner)
            operation.check_fits()
        except (Conflict, NotFound) as error:
            plan.left_out.append(LeftOut(agent, error.message))
        except RuleViolation as error:
            wrong.append(error)
            plan.left_out.append(LeftOut(agent, error.message))
        else:
            plan.operations.append(operation)
    if wrong and len(wrong) == len(agents):
        raise wrong[0]
    return plan


def operate_on_each(
    master: LeadingMaster, plan: PlanForEach, options: SendOptions
) -> tuple[list[AcceptedOperation], list[LeftOut]]:
    """Send every operation, also after one that a master refuses; return what was done, and where it was not.

    Raises what `operate` raises, but for refusals.
    """
    done: list[AcceptedOperation] = []
    left_out = list(plan.left_out)
    for place, operation in enumerate(plan.operations, 1):
        options.progress(f"reserving on {operation.agent.name} ({place} of {len(plan.operations)})")
        try:
            done += operate(master, [operation], options)
        except (Conflict, RuleViolation) as error:
            left_out.append(LeftOut(operation.agent, error.message))
        except (MesosctlError, KeyboardInterrupt) as stopped:
            before = f"accepted before that: {_names(done)} ({len(done)} of {len(plan.operations)})"
            if done and isinstance(stopped, KeyboardInterrupt):
                stopped.add_note(before)
            elif done:
                master.notice(before)
            raise
    return done, left_out


def _names(done: Sequence[AcceptedOperation]) -> str:
    return listed([change.agent.name for change in done], FEW)


def incomplete(plan: PlanForEach, left_out: Sequence[LeftOut]) -> Conflict:
    """The error for agents on which it could not be reserved."""
    names = listed([one.agent.name for one in left_out], FEW)
    return Conflict(
        f"not reserved on {len(left_out)} of {counted(plan.agents, 'agent')}: {names}",
        rule="reserve.each-agent",
        hint="when these agents have room, run the command again: it reserves only what is missing",
    )


def check_parts(words: Sequence[str], agents: Sequence[RegisteredAgent]) -> None:
    """Raise RuleViolation for a part such as `ports:10%` of a resource that is no amount on some agent."""
    counted_on = {entry.name: entry.is_scalar for agent in agents for entry in agent.total}
    for token, name in _parts(words):
        if name == "ports" or not counted_on.get(name, True):
            raise RuleViolation(
                f"'{token}' is a part of {name}, but only an amount, such as cpus or mem, has parts",
                field=name,
                rule="resource.number",
                hint="leave it out, or name what is reserved on each agent, such as ports:[31000-31009]",
            )


def _parts(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each token of the words that is a part of an agent, once, and the name of its resource."""
    for token in dict.fromkeys(token.strip() for word in words for token in word.split(";")):
        name, _, amount = (part.strip() for part in token.partition(":"))
        if is_part(amount):
            yield token, name.partition("(")[0]


def rounded(words: Sequence[str], agents: Sequence[RegisteredAgent]) -> list[str]:
    """A sentence for each part that is rounded down on some agent, with the first of these."""
    found = []
    for token, name in _parts(words):
        amount = token.partition(":")[2].strip()
        wholes = {agent.name: agent.total.non_revocable().scalar_quantities() for agent in agents}
        fewer = [who for who, whole in wholes.items() if is_rounded(name, amount, whole)]
        if fewer:
            first = wholes[fewer[0]]
            part, whole = part_of(name, amount, first), first.get_amount(name)
            found.append(
                f"{token} is rounded down on {listed(fewer, FEW)}: {shown_amount(name, part)} of the "
                f"{shown_amount(name, whole)} that {fewer[0]} has"
            )
    return found
