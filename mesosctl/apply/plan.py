"""The steps from the actual to the desired state, in an order in which a master takes each of them.

Reservations are released first, as what a role has reserved counts against its limits on newer masters; then
quotas, what becomes smaller before what becomes larger; then weights; then what is to be reserved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mesosctl.mesos.amounts.amount_text import NotationText
from mesosctl.mesos.amounts.quantities import Quantities, Quota, format_double
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import format_value
from mesosctl.mesos.cluster.holdings import without_owners
from mesosctl.mesos.desired.desired_state import Actual, DesiredState, quota_changes, quota_text, weight_changes
from mesosctl.mesos.desired.reservation_plan import AgentReservations, ReservationStep, of_kinds
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.roles import top_level
from mesosctl.mesos.rules.quota.capacity import check_capacity, total_guarantees
from mesosctl.mesos.rules.quota.rules import check_consumption


@dataclass(frozen=True, slots=True)
class QuotaStep:
    """One role's quota; None is none."""

    role: str
    before: Quota | None
    after: Quota | None


@dataclass(frozen=True, slots=True)
class WeightsStep:
    """Weights of several roles, all in one call."""

    before: Mapping[str, float]
    after: Mapping[str, float]


Step = QuotaStep | WeightsStep | ReservationStep


class StepInWords(NamedTuple):
    """Operation, role or agent, state before and state after, as text; texts about amounts have words too.

    The fields are those of a step in documents; None for no state.
    """

    step: str
    of: str
    before: str | None = None
    after: str | None = None


VERBS = {"reserved": "reserve", "unreserved": "unreserve", "destroyed": "destroy"}
"""By the action of a step with reservations, its verb."""


def describe(step: Step) -> StepInWords:
    """Return the words for a step."""
    if isinstance(step, QuotaStep):
        verb = "remove quota" if step.after is None else "set quota" if step.before is None else "update quota"
        return StepInWords(verb, step.role, quota_text(step.before), quota_text(step.after))
    if isinstance(step, WeightsStep):
        return StepInWords("set weights", ", ".join(step.after), _weights(step.before), _weights(step.after))
    verb = VERBS[step.action]
    roles = sorted({" > ".join(level.role for level in entry.reservations) for entry in step.resources})
    amounts = "; ".join(f"{entry.name}:{format_value(entry.value)}" for entry in step.resources)
    action = NotationText.with_words(f"{verb} {amounts}", lambda: f"{verb} {without_owners(step.resources).in_words}")
    if step.action == "destroyed":
        volumes = [entry.disk.persistence_id or "" for entry in step.resources if entry.disk is not None]
        action = NotationText.with_words(
            f"{verb} volume {', '.join(volumes)} ({amounts})",
            lambda: f"{verb} volume {', '.join(volumes)} ({without_owners(step.resources).in_words})",
        )
    return StepInWords(action, f"{', '.join(roles)} on {step.hostname}")


def shown_after(steps: Sequence[Step]) -> list[Step]:
    """Return the final state of each thing that the steps change, as steps with that state as `after`.

    Of a role that is changed twice the later step counts, and a reservation counts with what later steps took from
    it or put on it.
    """
    quotas = {step.role: step for step in steps if isinstance(step, QuotaStep)}
    found: list[Step] = [*quotas.values(), *(step for step in steps if isinstance(step, WeightsStep))]
    for number, step in enumerate(steps):
        if isinstance(step, ReservationStep):
            after = step.after
            kinds = {entry.kind for entry in step.resources}
            for later in steps[number + 1 :]:
                if isinstance(later, ReservationStep) and later.agent_id == step.agent_id:
                    for conversion in later.conversions():
                        after = after - of_kinds(conversion.consumed, kinds) + of_kinds(conversion.converted, kinds)
            found.append(replace(step, after=after))
    return found


def takes_away(step: Step) -> bool:
    """Whether it takes something away: a quota gone or smaller, a lower weight, a reservation undone."""
    if isinstance(step, WeightsStep):
        return any(step.after[role] < before for role, before in step.before.items())
    if isinstance(step, QuotaStep):
        return step.before is not None and (step.after is None or _is_less(step.before, step.after))
    return step.action != "reserved"


def destroys(step: Step) -> bool:
    """Whether it destroys a volume with its data."""
    return isinstance(step, ReservationStep) and step.action == "destroyed"


def roles_given(steps: Sequence[Step]) -> list[str]:
    """The roles that the steps give something: a quota, a weight or a reservation; each once."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, WeightsStep):
            found += step.after
        elif isinstance(step, QuotaStep):
            found += [step.role] if step.after is not None else []
        elif step.action == "reserved":
            found += [entry.role for entry in step.resources]
    return list(dict.fromkeys(found))


def quotas_given(steps: Sequence[Step]) -> dict[str, Quota]:
    """The quotas that the steps give."""
    return {step.role: step.after for step in steps if isinstance(step, QuotaStep) and step.after is not None}


def _is_less(before: Quota, after: Quota) -> bool:
    """Whether less is promised of something, or less of it allowed; what no limit names is not limited."""
    lower = any(name not in before.limits or bound < before.limits[name] for name, bound in after.limits.items())
    return lower or not after.guarantees.contains(before.guarantees)


def _weights(weights: Mapping[str, float]) -> str:
    return ", ".join(map(format_double, weights.values()))


def plan(
    desired: DesiredState,
    actual: Actual,
    *,
    prune: bool,
    capacity: Quantities | None,
    whole_updates: bool,
    principal: str | None = None,
    consumed: Mapping[str, Quantities] | None = None,
) -> list[Step]:
    """The steps.  Agents in `desired` are named by id.

    `capacity` is what the master's heuristic allows and `consumed` what each role consumes, None if it is not
    known; `whole_updates` says that the master knows UPDATE_QUOTA.  Raises Conflict if no order leads there,
    RuleViolation if a limit would be below what is consumed.
    """
    releases: list[ReservationStep] = []
    reserves: list[ReservationStep] = []
    if desired.reservations is not None:
        for agent in actual.agents.values():
            mine = [wanted_agent for wanted_agent in desired.reservations if wanted_agent.agent == agent.id]
            for step in AgentReservations(agent, mine, prune=prune, principal=principal).steps():
                (releases if step.action == "unreserved" else reserves).append(step)
    changes = list(quota_changes(desired, actual, prune=prune))
    for role, _, after in changes:
        if after is not None and consumed is not None and role in consumed:
            check_consumption(role, after.limits, consumed[role] - _released(role, releases))
    weights = list(weight_changes(desired, actual, prune=prune))
    heavier: list[Step] = []
    if weights:
        heavier.append(
            WeightsStep({role: before for role, before, _ in weights}, {role: after for role, _, after in weights})
        )
    return [
        *releases,
        *order_quotas(actual.quotas, changes, capacity, whole_updates=whole_updates),
        *heavier,
        *reserves,
    ]


def _released(role: str, releases: Sequence[ReservationStep]) -> Quantities:
    """Return the resources that a role and the roles below it release, and so no longer consume."""
    return Quantities.total(
        Resources(
            entry for entry in step.resources if len(entry.reservations) == 1 and top_level(entry.role) == role
        ).quantities()
        for step in releases
    )


def order_quotas(
    stored: Mapping[str, Quota],
    changes: Sequence[tuple[str, Quota | None, Quota | None]],
    capacity: Quantities | None,
    *,
    whole_updates: bool,
) -> list[QuotaStep]:
    """An order in which every step passes the capacity heuristic, if there is one.  Raises Conflict.

    A change that makes one amount smaller and another larger is made in two steps if others wait for it.
    """
    current = dict(stored)
    waiting = [QuotaStep(role, before, after) for role, before, after in changes]
    final = _applied(current, waiting)
    if capacity is not None and not _may_follow(current, final, capacity):
        check_capacity(final, capacity)
    found: list[QuotaStep] = []
    # Removals and whatever only becomes smaller go first, in any case.
    waiting.sort(key=lambda step: not _shrinks(step))
    while waiting:
        step = next((step for step in waiting if _passes(current, step, capacity)), None)
        if step is not None:
            waiting.remove(step)
        else:
            step = _first_half(waiting, whole_updates=whole_updates)
            waiting = [QuotaStep(s.role, step.after, s.after) if s.role == step.role else s for s in waiting]
        found.append(step)
        current = _applied(current, [step])
    return found


def _first_half(waiting: Sequence[QuotaStep], *, whole_updates: bool) -> QuotaStep:
    """The part of a change that makes room.  Raises Conflict if none does."""
    for step in waiting:
        if whole_updates and step.before is not None and step.after is not None:
            smaller = Quantities(
                {
                    name: min(milli, step.after.guarantees.get_amount(name))
                    for name, milli in step.before.guarantees.items()
                }
            )
            if smaller not in (step.before.guarantees, step.after.guarantees):
                half = Quota(smaller, step.before.limits)
                # An entry without guarantees and limits is not a quota.
                return QuotaStep(step.role, step.before, None if half.is_default else half)
    roles = ", ".join(step.role for step in waiting)
    raise Conflict(
        f"no order of changing the quotas of {roles} passes the capacity check at every step",
        rule="quota.capacity",
        hint="lower a quota by hand first, or wait for more agents",
    )


def _shrinks(step: QuotaStep) -> bool:
    before = step.before.guarantees if step.before is not None else Quantities()
    return step.after is None or before.contains(step.after.guarantees)


def _applied(quotas: Mapping[str, Quota], steps: Sequence[QuotaStep]) -> dict[str, Quota]:
    result = dict(quotas)
    for step in steps:
        if step.after is None:
            result.pop(step.role, None)
        else:
            result[step.role] = step.after
    return result


def _passes(current: Mapping[str, Quota], step: QuotaStep, capacity: Quantities | None) -> bool:
    if capacity is None or step.after is None:
        return True  # DELETE /quota asks nothing about capacity
    return capacity.contains(total_guarantees(_applied(current, [step])))


def _may_follow(current: Mapping[str, Quota], final: Mapping[str, Quota], capacity: Quantities) -> bool:
    """Whether the end is something that a master takes: within capacity, or reached by removals alone."""
    removed_only = all(current.get(role) == quota for role, quota in final.items())
    return removed_only or capacity.contains(total_guarantees(final))
