"""`unreserve` and `volumes destroy`."""

from collections.abc import Sequence
from dataclasses import replace

from mesosctl.client.master import Master
from mesosctl.core import operations
from mesosctl.core.errors import Conflict, NotFound, RuleViolation, UsageError
from mesosctl.core.holdings import AgentChange, AgentHolding
from mesosctl.core.reservation_rules import check_unreserve
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.core.suggestion import did_you_mean
from mesosctl.core.volume_rules import check_destroy
from mesosctl.ops.reservation.operating import Manner, Operation, operate
from mesosctl.ops.reservation.stacks import Owner, all_of, check_owner, destroy_first, to_undo, volume_names
from mesosctl.ops.resource_names import check_entries


def plan_unreserve(_master: Master, agent: AgentHolding, resources: Sequence[Resource]) -> Operation:
    """An UNRESERVE of whole entries on one agent, asked for as `plan_reserve` is.  Raises RuleViolation."""
    check_unreserve(resources)
    return Operation(agent, "unreserved", resources, operations.unreserve(Resources(resources)))


def unreserve_of(
    master: Master, agent: AgentHolding, entries: Sequence[Resource], owner: Owner, manner: Manner
) -> list[AgentChange]:
    """Hand `entries` back to whoever lies below `owner`; the reserver's principal and the labels are found."""
    check_owner(owner)
    check_entries(master, entries)
    return operate(master, [plan_unreserve(master, agent, to_undo(agent, entries, owner))], manner)


def plan_all(master: Master, agents: Sequence[AgentHolding], owner: Owner) -> list[Operation]:
    """An UNRESERVE of all that `owner` has, for each agent with any.

    Raises NotFound where there is nothing, Conflict where a volume or a task is in the way.
    """
    check_owner(owner)
    plans = []
    for agent in agents:
        owned = all_of(agent, owner)
        if not len(owned):
            continue
        volumes = owned.filter(lambda entry: entry.is_persistent_volume)
        if len(volumes):
            raise Conflict(
                f"agent {agent.name} has volumes of '{owner.role}': {volume_names(volumes)}",
                rule="unreserve.no-volume",
                hint=destroy_first(agent, volumes),
            )
        plan = plan_unreserve(master, agent, list(owned))
        plan.check_fits()
        plans.append(plan)
    if not plans:
        raise NotFound(
            f"nothing is dynamically reserved for '{owner.role}' there",
            field="role",
            rule="reservation.exists",
            hint=did_you_mean(
                owner.role,
                sorted({entry.role for agent in agents for entry in agent.total if entry.is_dynamically_reserved}),
                "mesosctl reservations shows what is reserved, and for whom",
            ),
        )
    return plans


def refined_left(agents: Sequence[AgentHolding], owner: Owner) -> list[str]:
    """What stays reserved on top of the owner's reservations, a sentence for each stack, over all these agents."""
    left: dict[tuple[str, ...], Resources] = {}
    for agent in agents:
        for entry in agent.total:
            stack = tuple(level.role for level in entry.reservations)
            if entry.is_dynamically_reserved and owner.role in stack[:-1]:
                plain = replace(entry, reservations=(), disk=None, shared=False, copies=1)
                left[stack] = left.get(stack, Resources()) + Resources([plain])
    return [
        f"left: {resources} refined for '{stack[-1]}' ({' > '.join(stack)}); --role {stack[-1]} unreserves it"
        for stack, resources in sorted(left.items())
    ]


def destroy_volume(
    master: Master, agent: AgentHolding, volume_id: str, role: str | None, manner: Manner
) -> list[AgentChange]:
    """Destroy a volume and what it holds.  Raises what `plan_destroy` raises."""
    return operate(master, [plan_destroy(agent, volume_id, role)], manner)


def plan_destroy(agent: AgentHolding, volume_id: str, role: str | None) -> Operation:
    """A DESTROY of one volume.

    Raises NotFound, RuleViolation where a task uses it, or UsageError where several roles have one of that id.
    """
    known = {
        (entry.disk.persistence_id, entry.role): entry
        for entry in agent.volumes
        if entry.disk is not None and entry.disk.persistence_id is not None
    }
    found = [entry for (name, owner), entry in known.items() if name == volume_id and role in (None, owner)]
    if not found:
        others = [owner for name, owner in known if name == volume_id]
        likely = [name for name, owner in known if role in (None, owner)]
        look = f"mesosctl volumes list --agent {agent.word} shows them"
        raise NotFound(
            f"agent {agent.name} has no volume '{volume_id}'" + (f" of '{role}'" if role else ""),
            field="volume",
            rule="destroy.exists",
            hint=f"there is one of {', '.join(others)}; {look}" if others else did_you_mean(volume_id, likely, look),
        )
    if len(found) > 1:
        owners = ", ".join(entry.role for entry in found)
        raise UsageError(
            f"several roles have a volume '{volume_id}' there: {owners}", field="--role", hint="give --role"
        )
    try:
        check_destroy(found, existing=list(agent.total), in_use=list(agent.used))
    except RuleViolation as error:
        if error.rule == "destroy.unused":
            error.retell(f"a task on {agent.name} uses volume '{volume_id}'")
            error.hint = "it can be destroyed once the task has ended"
        raise
    return Operation(agent, "destroyed", found, operations.destroy(Resources(found)))
