"""One step: where it stands, and the doing of it."""

from collections.abc import Sequence
from typing import Literal

from mesosctl.client.master import Master
from mesosctl.core.errors import Bug, NotFound
from mesosctl.core.quota import DesiredQuota
from mesosctl.core.wanted_plan import QuotaStep, Step, WeightsStep, shown_after
from mesosctl.core.wanted_reservations import ReservationStep, of_kinds
from mesosctl.ops.quota.state import read_quotas
from mesosctl.ops.reservation.agents import read_agents
from mesosctl.ops.reservation.making import plan_reserve
from mesosctl.ops.reservation.operating import Manner, operate
from mesosctl.ops.reservation.undoing import plan_unreserve
from mesosctl.ops.weights import read_weights, update_weights

Standing = Literal["before", "after", "other"]


def standing(master: Master, step: Step) -> Standing:
    """Whether the master shows what there was before the step, what there is after it, or something else."""
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


def undone(master: Master, steps: Sequence[Step]) -> list[Step]:
    """Which of these steps, that were all made, a master does not show any more.  It is read once, not once a step."""
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


def _compare(before: bool, after: bool) -> Standing:  # two facts
    return "after" if after else "before" if before else "other"


def perform(master: Master, step: Step, manner: Manner) -> None:
    """Send it, and read it back.  Raises what the command for it raises."""
    if isinstance(step, QuotaStep):
        _change_quota(master, step)
    elif isinstance(step, WeightsStep):
        update_weights(master, step.after, v1=manner.v1)
    else:
        _operate(master, step, manner)


def _change_quota(master: Master, step: QuotaStep) -> None:
    if step.after is None:
        from mesosctl.ops.quota.removing import remove_quotas

        remove_quotas(master, [step.role])
        return
    from mesosctl.ops.quota.options import QuotaOptions
    from mesosctl.ops.quota.updating import update_quotas

    # The names were checked, and everything was agreed to, when the plan was made.
    how = QuotaOptions(create=step.before is None, allow_new_resource=True)
    update_quotas(master, [(step.role, DesiredQuota(*step.after))], how)


def _operate(master: Master, step: ReservationStep, manner: Manner) -> None:
    agent = next((agent for agent in read_agents(master) if agent.id == step.agent_id), None)
    if agent is None:
        raise NotFound(f"agent {step.hostname} is gone", field="agent", rule="agent.exists")
    make = plan_reserve if step.deed == "reserved" else plan_unreserve
    changed = operate(master, [make(master, agent, list(step.resources))], manner)
    if len(changed) != 1:
        raise Bug("one operation became several")
