"""`reserve` and `volumes create`."""

from collections.abc import Sequence
from dataclasses import replace

from mesosctl.client.master import Master
from mesosctl.core import operations
from mesosctl.core.errors import Conflict, NotFound, RuleViolation
from mesosctl.core.holdings import AgentChange, AgentHolding, plain_text
from mesosctl.core.reservation_rules import Requester, check_reserve
from mesosctl.core.resource import Disk, Resource
from mesosctl.core.resources import Resources
from mesosctl.core.volume_rules import check_create
from mesosctl.ops.reservation.operating import Manner, Operation, operate
from mesosctl.ops.reservation.stacks import Owner, check_owner, to_reserve, to_undo
from mesosctl.ops.resource_names import check_entries


def requester(master: Master) -> Requester:
    """Who asks: the authenticated principal, if there is one."""
    credentials = master.settings.credentials
    return Requester(credentials.principal if credentials else None)


def plan_reserve(
    master: Master, agent: AgentHolding, resources: Sequence[Resource], source: Sequence[Resource] | None = None
) -> Operation:
    """A RESERVE of whole entries on one agent.  Raises RuleViolation."""
    check_reserve(resources, requester(master), source=source, agent_capabilities=agent.capabilities)
    whole = Resources(resources)
    conversions = operations.reserve(whole, None if source is None else Resources(source))
    return Operation(agent, "reserved", resources, conversions, source)


def reserve_for(
    master: Master, agents: Sequence[AgentHolding], entries: Sequence[Resource], owner: Owner, manner: Manner
) -> list[AgentChange]:
    """Reserve `entries` for `owner` on each of these agents.

    Raises RuleViolation, NotFound, Conflict or UsageError before anything is sent.
    """
    check_owner(owner)
    check_entries(master, entries)
    return operate(master, [plan_reserve(master, on, to_reserve(on, entries, owner)) for on in agents], manner)


def reserve_on_some(  # the words of one command
    master: Master,
    agents: Sequence[AgentHolding],
    count: int,
    entries: Sequence[Resource],
    owner: Owner,
    manner: Manner,
) -> list[AgentChange]:
    """Reserve on `count` of these agents, those that have most left for it first.  Raises Conflict for too few."""
    check_owner(owner)
    check_entries(master, entries)
    plans = []
    for agent in agents:
        try:
            plan = plan_reserve(master, agent, to_reserve(agent, entries, owner))
            plan.check_fits()
        except (Conflict, NotFound):
            continue
        plans.append(plan)
    if len(plans) < count:
        raise Conflict(
            f"{len(plans)} of {len(agents)} agents can hold {Resources(entries)}, and {count} were asked for",
            rule="reserve.enough-agents",
            hint="ask for less, or on fewer agents",
        )
    plans.sort(key=lambda plan: _room(plan, entries), reverse=True)
    return operate(master, plans[:count], manner)


def _room(plan: Operation, entries: Sequence[Resource]) -> float:
    """How many times over the agent could do it: the scarcest resource decides."""
    free = plan.agent.available.unreserved().quantities()
    return min(free.get(name, 0) / wanted for name, wanted in Resources(entries).quantities().items())


def create_volume(
    master: Master, agent: AgentHolding, disk: Resource, volume: Disk, owner: Owner, manner: Manner
) -> list[AgentChange]:
    """Make a volume of reserved disk.  Raises RuleViolation, NotFound, Conflict or UsageError before it is sent."""
    check_owner(owner)
    asks = requester(master)
    try:
        (reserved,) = to_undo(agent, [disk], owner)
    except NotFound as error:
        error.hint = (
            "a volume is made of reserved disk; reserve it first: "
            f"mesosctl reserve {agent.word} {plain_text(Resources([disk]))} --role {owner.role}"
        )
        raise
    except Conflict as error:
        error.retell(f"agent {agent.name} has not got {disk} in one piece that is reserved for '{owner.role}' and free")
        error.hint = (
            "volumes are made of what is reserved and not in a volume yet: "
            f"mesosctl reservations --agent {agent.word} --role {owner.role} shows what there is"
        )
        raise
    made = replace(reserved, disk=replace(volume, principal=volume.principal or asks.principal))
    existing = [entry for entry in agent.total if entry.is_persistent_volume]
    try:
        check_create([made], asks, existing=existing, agent_capabilities=agent.capabilities)
    except RuleViolation as error:
        if error.rule == "create.unique-id":
            error.retell(f"'{owner.role}' has a volume '{volume.persistence_id}' on agent {agent.name} already")
            error.hint = f"choose another ID; mesosctl volumes list --agent {agent.word} shows those that are taken"
        raise
    return operate(master, [Operation(agent, "created", [made], operations.create(Resources([made])))], manner)
