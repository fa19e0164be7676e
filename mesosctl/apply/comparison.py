"""The actual state, the desired state, and the plan that leads from one to the other."""

from dataclasses import replace

from mesosctl.apply.plan import Step, plan
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.desired.desired_state import Actual, DesiredState, Difference, differences, quota_changes
from mesosctl.mesos.desired.reservation_plan import ReservationStep
from mesosctl.mesos.errors import NotFound, RuleViolation, UsageError
from mesosctl.mesos.roles import check_name
from mesosctl.mesos.rules.quota.capacity import capacity
from mesosctl.mesos.rules.quota.desired import of_role
from mesosctl.mesos.rules.quota.rules import QUOTA_ON_MASTER, REMOVABLE, GivenFacts, Wish, refuse
from mesosctl.reading.quotas import newer_version_named, read_quotas, usage_if_allowed
from mesosctl.reading.targets import find_agent, read_agents
from mesosctl.reservations.work import PLANNERS, requester
from mesosctl.weights.work import read_weights


def read_actual(master: LeadingMaster, desired: DesiredState | None = None) -> Actual:
    """Read the actual state of the sections in `desired`, or of all.  Raises the errors of `LeadingMaster`."""
    asked = desired or DesiredState({}, {}, [])
    # Quotas need the agents too, because the capacity depends on them.
    agents = asked.reservations is not None or asked.quotas is not None
    return Actual(
        quotas=read_quotas(master) if asked.quotas is not None else {},
        weights=read_weights(master) if asked.weights is not None else {},
        agents={agent.id: agent for agent in read_agents(master)} if agents else {},
        profile=master.profile,
    )


def resolved(desired: DesiredState, actual: Actual) -> DesiredState:
    """The state with the ids of agents instead of their names.  Raises NotFound or UsageError."""
    if desired.reservations is None:
        return desired
    everybody = list(actual.agents.values())
    reservations = []
    for index, target in enumerate(desired.reservations):
        try:
            reservations.append(replace(target, agent=find_agent(everybody, target.agent).id))
        except (NotFound, UsageError) as error:
            error.field = f"reservations[{index}].agent"
            raise
    return replace(desired, reservations=reservations)


def _consumed(master: LeadingMaster, desired: DesiredState) -> dict[str, Quantities] | None:
    """Return the consumption by role, if limits are desired and a master shows it."""
    quotas = (desired.quotas or {}).values()
    if not master.profile.knows_update_quota or all(quota.limits is not None and not quota.limits for quota in quotas):
        return None
    usages = usage_if_allowed(master) or {}
    return {role: usage.consumed for role, usage in usages.items() if usage.consumed is not None}


def check_names(desired: DesiredState, actual: Actual) -> None:
    """Raise RuleViolation for a resource that no agent has, unless the role or the agent already has it."""
    known = {entry.name for agent in actual.agents.values() for entry in agent.total}
    for role, quota in (desired.quotas or {}).items():
        had = actual.quotas.get(role, Quota()).names
        with of_role(role):
            for part, names in (("guarantee", quota.guarantees), ("limit", quota.limits)):
                for name in names or ():
                    check_name(name, {*known, *had}, f"quotas.{role}.{part}")
    for index, target in enumerate(desired.reservations or ()):
        for entry in target.resources:
            check_name(entry.name, known, f"reservations[{index}].resources")


def _check_quotas(desired: DesiredState, actual: Actual) -> None:
    """Raise RuleViolation for an invalid quota, and for limits that the master cannot set."""
    facts = GivenFacts(actual.profile)
    for role, before, after in quota_changes(desired, actual, prune=False):
        if after is not None:
            rules = QUOTA_ON_MASTER if before is not None else (*QUOTA_ON_MASTER, REMOVABLE)
            with of_role(role):
                refuse(rules, Wish.of(role, after, by_request=not actual.profile.knows_update_quota), facts)


def _placed(error: RuleViolation) -> RuleViolation:
    """Give an error on one quota its place in the file of the desired state."""
    if error.role and error.field in ("limits", "guarantees"):
        error.field = f"quotas.{error.role}.{error.field.removesuffix('s')}"
    return error


def compare(
    master: LeadingMaster, desired: DesiredState, *, prune: bool, allow_new_resource: bool = False
) -> list[Difference]:
    """The differences from the desired state; without `prune`, only of what it names.

    Raises RuleViolation for a resource that no agent has.
    """
    actual = read_actual(master, desired)
    if not allow_new_resource:
        check_names(desired, actual)
    found = differences(resolved(desired, actual), actual, requester(master).principal)
    return [difference for difference in found if prune or difference.is_named]


def make_plan(
    master: LeadingMaster, desired: DesiredState, *, prune: bool, allow_new_resource: bool = False
) -> list[Step]:
    """The steps, each checked by the rules.  Nothing is sent.  Raises Conflict, RuleViolation, NotFound, UsageError."""
    actual = read_actual(master, desired)
    profile = actual.profile
    try:
        with newer_version_named(master):
            _check_quotas(desired, actual)
        if not allow_new_resource:
            check_names(desired, actual)
        steps = plan(
            resolved(desired, actual),
            actual,
            prune=prune,
            capacity=capacity(actual.agents.values(), profile),
            whole_updates=profile.knows_update_quota,
            principal=requester(master).principal,
            consumed=_consumed(master, desired),
        )
    except RuleViolation as error:
        raise _placed(error) from None
    for step in steps:
        if isinstance(step, ReservationStep):
            PLANNERS[step.action](master, actual.agents[step.agent_id], list(step.resources))
    return steps
