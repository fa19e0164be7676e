"""The actual state, the desired state, and the plan between the two."""

from collections import Counter
from dataclasses import replace

from mesosctl.client.master import Master
from mesosctl.model.errors import NotFound, RuleViolation
from mesosctl.model.quantities import Quantities
from mesosctl.model.quota.capacity import AgentCapacity, capacity
from mesosctl.model.quota.rules import DesiredQuota, check_limits_fit_request
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.resource import Labels, Resource
from mesosctl.model.resources import Resources
from mesosctl.model.roles import check_name
from mesosctl.operations.quota.state import check_config, names_of_quota, read_quotas, usage_if_allowed
from mesosctl.operations.quota.update import of_role
from mesosctl.operations.reservations.change import plan_reserve, plan_unreserve, requester
from mesosctl.operations.reservations.targets import find_agent, read_agents
from mesosctl.operations.weights import read_weights
from mesosctl.planning.desired_state import Actual, DesiredState, Difference, differences, quota_changes
from mesosctl.planning.plan import Step, plan
from mesosctl.planning.reservation_plan import DesiredReservation, ReservationStep


def read_actual(master: Master, desired: DesiredState | None = None) -> Actual:
    """Read the actual state of the sections in `desired`, or of all.  Raises the errors of `Master`."""
    asked = desired or DesiredState({}, {}, [])
    # Quotas need the agents too: what can be promised hangs on them.
    agents = asked.reservations is not None or asked.quotas is not None
    return Actual(
        quotas=read_quotas(master) if asked.quotas is not None else {},
        weights=read_weights(master) if asked.weights is not None else {},
        agents={agent.id: agent for agent in read_agents(master)} if agents else {},
        profile=master.profile,
    )


def exported(actual: Actual) -> tuple[DesiredState, list[str]]:
    """Return the actual state as a desired state, and sentences about the parts that none can express."""
    hostnames = Counter(agent.hostname for agent in actual.agents.values())
    reservations: list[DesiredReservation] = []
    left_out: list[str] = []
    for agent in actual.agents.values():
        name = agent.hostname if hostnames[agent.hostname] == 1 else agent.id
        found, sentences = _reservations(agent, name)
        reservations += found
        left_out += sentences
    unwritable = [role for role in {**actual.quotas, **actual.weights} if not _is_text(role)]
    left_out += [f"role {role!r}: it is no UTF-8, as TOML has to be" for role in unwritable]
    quotas = {
        role: DesiredQuota(*quota) for role, quota in actual.quotas.items() if _is_text(role) and not quota.is_default
    }
    weights = {role: weight for role, weight in actual.weights.items() if _is_text(role)}
    return DesiredState(quotas, weights, reservations), left_out


def _is_text(*names: str | None) -> bool:
    """Whether they can stand in a file of UTF-8."""
    try:
        "".join(filter(None, names)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _reservations(agent: RegisteredAgent, name: str) -> tuple[list[DesiredReservation], list[str]]:
    sums: dict[tuple[tuple[str, ...], str | None, Labels | None], Resources] = {}
    left_out: list[str] = []
    for entry in agent.total:
        if not entry.is_dynamically_reserved:
            continue
        if entry.disk is not None and entry.disk.source is not None:
            left_out.append(f"{entry} on {name}: a disk of its own cannot be written as an amount")
            continue
        top = entry.reservations[-1]
        if not _is_text(entry.name, top.principal, str(top.labels), *(level.role for level in entry.reservations)):
            left_out.append(f"{str(entry)!r} on {name}: a name is no UTF-8, as TOML has to be")
            continue
        key = (tuple(level.role for level in entry.reservations), top.principal, top.labels)
        plain = Resources([replace(entry, reservations=(), disk=None, shared=False, copies=1)])
        sums[key] = sums.get(key, Resources()) + plain
    targets = [
        DesiredReservation(name, roles[-1], resources, roles[:-1], principal, labels)
        for (roles, principal, labels), resources in sums.items()
    ]
    return targets, left_out


def resolved(desired: DesiredState, actual: Actual) -> DesiredState:
    """With the ids of agents in place of what they are called.  Raises NotFound or UsageError."""
    if desired.reservations is None:
        return desired
    everybody = list(actual.agents.values())
    reservations = []
    for index, target in enumerate(desired.reservations):
        try:
            reservations.append(replace(target, agent=find_agent(everybody, target.agent).id))
        except NotFound as error:
            error.field = f"reservations[{index}].agent"
            raise
    return replace(desired, reservations=reservations)


def _consumed(master: Master, desired: DesiredState) -> dict[str, Quantities] | None:
    """Return the consumption by role, where limits are desired and a master shows it."""
    quotas = (desired.quotas or {}).values()
    if not any(quota.limits or (quota.limits is None and master.profile.quota_sets_limits) for quota in quotas):
        return None
    usages = usage_if_allowed(master) or {}
    return {role: usage.consumed for role, usage in usages.items() if usage.consumed is not None}


def check_names(desired: DesiredState, actual: Actual) -> None:
    """Raises RuleViolation for a resource that no agent has, unless the role, or the agent, has it already."""
    known = {entry.name for agent in actual.agents.values() for entry in agent.total}
    for role, quota in (desired.quotas or {}).items():
        had = names_of_quota(actual.quotas.get(role))
        with of_role(role):
            for part, names in (("guarantee", quota.guarantees), ("limit", quota.limits)):
                for name in names or ():
                    check_name(name, {*known, *had}, f"quotas.{role}.{part}")
    for index, target in enumerate(desired.reservations or ()):
        for entry in target.resources:
            check_name(entry.name, known, f"reservations[{index}].resources")


def _check_quotas(desired: DesiredState, actual: Actual) -> None:
    """Raises RuleViolation for what no quota can be, and for limits that the master cannot set."""
    for role, _, after in quota_changes(desired, actual, prune=False):
        if after is None:
            continue
        with of_role(role):
            check_config(role, after)
            if not actual.profile.knows_update_quota:
                guarantee = [Resource(name, milli) for name, milli in after.guarantees.items()]
                check_limits_fit_request(guarantee, after, actual.profile)


def _placed(error: RuleViolation) -> RuleViolation:
    """Give an error on one quota its place in the file of the desired state."""
    if error.role and error.field in ("limits", "guarantees"):
        error.field = f"quotas.{error.role}.{error.field.removesuffix('s')}"
    return error


def compare(
    master: Master, desired: DesiredState, *, prune: bool, allow_new_resource: bool = False
) -> list[Difference]:
    """Everything that is not as wanted.  Raises RuleViolation for a resource that no agent has."""
    actual = read_actual(master, desired)
    if not allow_new_resource:
        check_names(desired, actual)
    return differences(resolved(desired, actual), actual, prune=prune, principal=requester(master).principal)


def make_plan(master: Master, desired: DesiredState, *, prune: bool, allow_new_resource: bool = False) -> list[Step]:
    """The steps, each checked by the rules.  Nothing is sent.  Raises Conflict, RuleViolation, NotFound, UsageError."""
    actual = read_actual(master, desired)
    profile = actual.profile
    if not allow_new_resource:
        check_names(desired, actual)
    try:
        _check_quotas(desired, actual)
        steps = plan(
            resolved(desired, actual),
            actual,
            prune=prune,
            capacity=capacity((AgentCapacity(agent.total, agent.active) for agent in actual.agents.values()), profile),
            whole_updates=profile.knows_update_quota,
            principal=requester(master).principal,
            consumed=_consumed(master, desired),
        )
    except RuleViolation as error:
        raise _placed(error) from None
    for step in steps:
        if isinstance(step, ReservationStep):
            make = plan_reserve if step.deed == "reserved" else plan_unreserve
            make(master, actual.agents[step.agent_id], list(step.resources))
    return steps
