"""The work of `reserve`, `unreserve` and `volumes`: it plans the operation on each agent, and checks it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.hints import destroy_first
from mesosctl.mesos.amounts.notation import FEW, listed
from mesosctl.mesos.amounts.resource import Disk, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import (
    AcceptedOperation,
    RegisteredAgent,
    plain_text,
    volume_names,
    without_owners,
)
from mesosctl.mesos.desired.reservation_plan import StepAction
from mesosctl.mesos.errors import Conflict, NotFound, RuleViolation, UsageError
from mesosctl.mesos.names import VOLUME, Names, kind_of
from mesosctl.mesos.roles import did_you_mean, is_strict_subrole
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import check_create, check_destroy
from mesosctl.mesos.rules.reservations.rules import Requester, check_each, check_reserve, check_unreserve
from mesosctl.reading.quotas import check_entries
from mesosctl.reading.targets import (
    Owner,
    all_of,
    check_owner,
    missing_for,
    to_reserve,
    to_undo,
)
from mesosctl.reservations.send import Operation, SendOptions, operate
from mesosctl.suggestion import command, options_text


def requester(master: LeadingMaster) -> Requester:
    """The authenticated principal, if there is one."""
    credentials = master.settings.credentials
    return Requester(credentials.principal if credentials else None)


def plan_reserve(
    master: LeadingMaster,
    agent: RegisteredAgent,
    resources: Sequence[Resource],
    source: Sequence[Resource] | None = None,
) -> Operation:
    """A RESERVE of whole entries on one agent.  Raises RuleViolation."""
    check_reserve(
        resources,
        requester(master),
        source=source,
        agent_capabilities=agent.capabilities,
        profile=master.profile,
    )
    conversions = operations.reserve(resources, source, one_by_one=master.profile.reserves_one_by_one)
    return Operation(agent, "reserved", resources, conversions, source)


def plan_words(master: LeadingMaster, agent: RegisteredAgent, entries: Sequence[Resource], owner: Owner) -> Operation:
    """A RESERVE of what somebody has typed.  A master passes over mem:0 beside cpus:1; here it is a mistake."""
    resources = to_reserve(agent, entries, owner)
    check_each(resources, "resources")
    return plan_reserve(master, agent, resources)


def reserve_for(
    master: LeadingMaster,
    agents: Sequence[RegisteredAgent],
    entries: Sequence[Resource],
    owner: Owner,
    options: SendOptions,
    *,
    at_least: bool = False,
) -> list[AcceptedOperation]:
    """Reserve `entries` for `owner` on each of these agents; with `at_least`, what is missing until it has them.

    Raises RuleViolation, NotFound, Conflict or UsageError before anything is sent.
    """
    check_owner(owner)
    check_entries(master, entries)
    missing = _wanted(master, agents, entries, owner, at_least=at_least)
    agents = [agent for agent in agents if missing[agent.id]]
    plans = [plan_words(master, agent, missing[agent.id], owner) for agent in agents]
    for agent in agents:
        for sentence in refinable(agent, entries, owner):
            master.settings.notice(sentence)
    return operate(master, plans, options)


def _wanted(
    master: LeadingMaster,
    agents: Sequence[RegisteredAgent],
    entries: Sequence[Resource],
    owner: Owner,
    *,
    at_least: bool,
) -> dict[str, Sequence[Resource]]:
    """Return what is wanted on each agent, by its id: the entries, or with `at_least` what it lacks of them.

    A notice names the agents that lack nothing.
    """
    if not at_least:
        return {agent.id: entries for agent in agents}
    found: dict[str, Sequence[Resource]] = {agent.id: missing_for(agent, entries, owner) for agent in agents}
    complete = [agent.name for agent in agents if not found[agent.id]]
    if complete:
        master.notice(f"'{owner.role}' already has at least {Resources(entries)} reserved on {listed(complete, FEW)}")
    return found


def refinable(agent: RegisteredAgent, entries: Sequence[Resource], owner: Owner) -> list[str]:
    """Return a sentence for each reservation of a role above the owner's, which --under would refine instead."""
    if owner.under:
        return []
    names = {entry.name for entry in entries}
    found: dict[tuple[str, ...], Resources] = {}
    for entry in agent.available:
        stack = tuple(level.role for level in entry.reservations)
        if stack and entry.name in names and is_strict_subrole(owner.role, stack[-1]) and entry.disk is None:
            found[stack] = found.get(stack, Resources()) + Resources([replace(entry, reservations=())])
    return [
        f"'{stack[-1]}' has {without_owners(held).in_words} reserved on {agent.name}; "
        f"{' '.join(options_text(under=role) for role in stack)} refines those instead of taking more"
        for stack, held in sorted(found.items())
    ]


def reserve_on_some(  # the options of one command
    master: LeadingMaster,
    agents: Sequence[RegisteredAgent],
    count: int,
    entries: Sequence[Resource],
    owner: Owner,
    options: SendOptions,
    *,
    at_least: bool = False,
) -> list[AcceptedOperation]:
    """Reserve on `count` of these agents, those with the most room first.  Raises Conflict for too few.

    With `at_least`, agents that have the entries already count first, and others get what they lack.
    """
    check_owner(owner)
    check_entries(master, entries)
    if not agents:
        raise Conflict(
            "no agent is in service to reserve on",
            rule="reserve.enough-agents",
            hint=f"{command('agents')} shows the status of each",
        )
    missing = _wanted(master, agents, entries, owner, at_least=at_least)
    complete = [agent for agent in agents if not missing[agent.id]]
    plans = []
    for agent in agents:
        if not missing[agent.id]:
            continue
        try:
            plan = plan_words(master, agent, missing[agent.id], owner)
            plan.check_fits()
        except (Conflict, NotFound):
            continue
        plans.append(plan)
    if len(plans) + len(complete) < count:
        fits = f"fits on {len(plans) + len(complete)} of {len(agents)} agents, but you asked for {count}"
        raise Conflict(
            f"{Resources(entries).in_words} {fits if plans or complete else f'fits on none of {len(agents)} agents'}",
            rule="reserve.enough-agents",
            hint="ask for less, or for fewer agents"
            if plans
            else f"ask for less; {command('agents')} shows what is free, and "
            f"{command('reservations')} what is reserved",
        )
    plans.sort(key=lambda plan: _times_it_fits(plan, entries), reverse=True)
    return operate(master, plans[: max(0, count - len(complete))], options)


def _times_it_fits(plan: Operation, entries: Sequence[Resource]) -> float:
    """The number of times that it fits in what it is taken from; the scarcest resource decides."""
    taken_from = {entry.kind for conversion in plan.conversions for entry in conversion.consumed}
    free = plan.agent.available.filter(lambda entry: entry.kind in taken_from).quantities()
    return min(free.get(name, 0) / target for name, target in Resources(entries).quantities().items())


def create_volume(
    master: LeadingMaster, agent: RegisteredAgent, disk: Resource, volume: Disk, owner: Owner, options: SendOptions
) -> list[AcceptedOperation]:
    """Make a volume of reserved disk.  Raises RuleViolation, NotFound, Conflict or UsageError before it is sent."""
    check_owner(owner)
    of_file = f"{command('volumes create', agent.typed_name, f='FILE')} reads JSON that names the disk"
    try:
        (reserved,) = to_undo(agent, [disk], owner, of_file=of_file)
    except NotFound as error:
        error.hint = "a volume is made of reserved disk; reserve it first: " + command(
            "reserve", agent.typed_name, plain_text(Resources([disk])), role=owner.role
        )
        raise
    except Conflict as error:
        error.reword(
            f"agent {agent.name} has no single free entry of {disk.in_words} that is reserved for '{owner.role}'"
        )
        error.hint = (
            "a volume needs reserved disk that is not in a volume yet: "
            f"{command('reservations', agent=agent.typed_name, role=owner.role)} shows what there is"
        )
        raise
    source = reserved.disk.source if reserved.disk is not None else None
    principal = volume.principal or requester(master).principal
    made = replace(reserved, disk=volume._replace(principal=principal, source=source))
    try:
        plan = plan_create(master, agent, [made])
    except RuleViolation as error:
        if error.rule == "create.unique-id":
            error.reword(f"role '{owner.role}' already has a volume '{volume.persistence_id}' on agent {agent.name}")
        raise
    return operate(master, [plan], options)


def plan_create(master: LeadingMaster, agent: RegisteredAgent, volumes: Sequence[Resource]) -> Operation:
    """A CREATE of whole volumes on one agent.  Raises RuleViolation."""
    existing = agent.total.filter(lambda entry: entry.is_persistent_volume)
    try:
        check_create(volumes, requester(master), existing=existing, agent_capabilities=agent.capabilities)
    except RuleViolation as error:
        if error.rule == "create.unique-id":
            error.hint = f"choose another id; {command('volumes list', agent=agent.typed_name)} shows the ids in use"
        raise
    return Operation(agent, "created", volumes, operations.create(volumes))


def plan_unreserve(_master: LeadingMaster, agent: RegisteredAgent, resources: Sequence[Resource]) -> Operation:
    """An UNRESERVE of whole entries on one agent; called like `plan_reserve`, in its place.  Raises RuleViolation."""
    check_unreserve(resources)
    return Operation(agent, "unreserved", resources, operations.unreserve(resources))


def plan_destroy_all(_master: LeadingMaster, agent: RegisteredAgent, volumes: Sequence[Resource]) -> Operation:
    """A DESTROY of whole volumes on one agent; called like `plan_reserve`, in its place.  Raises RuleViolation."""
    check_destroy(volumes, existing=list(agent.total), in_use=list(agent.used))
    return Operation(agent, "destroyed", volumes, operations.destroy(volumes))


PLANNERS: Mapping[StepAction, Callable[[LeadingMaster, RegisteredAgent, Sequence[Resource]], Operation]] = {
    "reserved": plan_reserve,
    "unreserved": plan_unreserve,
    "destroyed": plan_destroy_all,
}
"""The function that plans each operation of a plan."""


def unreserve_of(
    master: LeadingMaster, agent: RegisteredAgent, entries: Sequence[Resource], owner: Owner, options: SendOptions
) -> list[AcceptedOperation]:
    """Return `entries` to the role below `owner`; the reserver's principal and the labels are found."""
    check_owner(owner)
    check_entries(master, entries)
    plan = plan_unreserve(master, agent, to_undo(agent, entries, owner))
    return operate(master, [plan], options)


def plan_all(master: LeadingMaster, agents: Sequence[RegisteredAgent], owner: Owner) -> list[Operation]:
    """An UNRESERVE of everything that `owner` has, for each agent with any.

    Raises NotFound if there is nothing, Conflict if a volume or a task is in the way.
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
        reserved = sorted({entry.role for agent in agents for entry in agent.total if entry.is_dynamically_reserved})
        raise NotFound(
            f"nothing is dynamically reserved for '{owner.role}' on "
            f"{agents[0].name if len(agents) == 1 else 'any agent'}",
            field="role",
            rule="reservation.exists",
            hint="; ".join(refined_left(agents, owner))
            or did_you_mean(owner.role, reserved, f"{command('reservations')} shows what is reserved, and for whom"),
        )
    return plans


def refined_left(agents: Sequence[RegisteredAgent], owner: Owner) -> list[str]:
    """Return a sentence for each stack that stays reserved on top of the owner's reservations on these agents."""
    left: dict[tuple[str, ...], Resources] = {}
    for agent in agents:
        for entry in agent.total:
            stack = tuple(level.role for level in entry.reservations)
            if entry.is_dynamically_reserved and owner.role in stack[:-1]:
                plain = replace(entry, reservations=(), disk=None, shared=False, copies=1)
                left[stack] = left.get(stack, Resources()) + Resources([plain])
    return [
        f"still reserved: {resources.in_words} refined for '{stack[-1]}' ({' > '.join(stack)}); "
        f"{options_text(role=stack[-1])} returns it to '{stack[-2]}'; "
        f"to undo both: {command('cleanup', role=owner.role)}"
        for stack, resources in sorted(left.items())
    ]


def fallen_back(undone: Iterable[Resources]) -> list[str]:
    """Return a sentence for each role that `undone` reservations were refined from: it has these resources again."""
    back: dict[str, Resources] = {}
    for resources in undone:
        for entry in resources:
            if entry.is_refined:
                role = entry.reservations[-2].role
                plain = replace(entry, reservations=(), disk=None, shared=False, copies=1)
                back[role] = back.get(role, Resources()) + Resources([plain])
    return [f"reserved for '{role}' again: {resources.in_words}" for role, resources in sorted(back.items())]


def destroy_volume(
    master: LeadingMaster, agent: RegisteredAgent, volume_id: str, role: str | None, options: SendOptions
) -> list[AcceptedOperation]:
    """Destroy a volume and its data.  Raises what `plan_destroy` raises."""
    return operate(master, [plan_destroy(agent, volume_id, role)], options)


def plan_destroy(agent: RegisteredAgent, word: str, role: str | None) -> Operation:
    """A DESTROY of the volume that `word` means.

    Raises NotFound, RuleViolation if a task uses it, or UsageError if several roles have one of that id.
    """
    known = {
        (entry.disk.persistence_id, entry.role): entry
        for entry in agent.volumes
        if entry.disk is not None and entry.disk.persistence_id is not None
    }
    names = Names(known, lambda key: (("id", key[0]),), VOLUME)
    volume_id = kind_of(word)[1]
    found = [known[key] for key in names.every(word, "volume") if role in (None, key[1])]
    if not found:
        others = [owner for name, owner in known if name == volume_id]
        likely = [name for name, owner in known if role in (None, owner)]
        look = f"{command('volumes list', agent=agent.typed_name)} shows them"
        raise NotFound(
            f"agent {agent.name} has no volume '{volume_id}'" + (f" of '{role}'" if role else ""),
            field="volume",
            rule="destroy.exists",
            hint=f"this id belongs to {', '.join(others)}; {look}" if others else did_you_mean(volume_id, likely, look),
        )
    if len(found) > 1:
        owners = ", ".join(entry.role for entry in found)
        raise UsageError(
            f"several roles have a volume '{volume_id}' on {agent.name}: {owners}", field="--role", hint="give --role"
        )
    try:
        check_destroy(found, existing=list(agent.total), in_use=list(agent.used))
    except RuleViolation as error:
        if error.rule == "destroy.unused":
            error.reword(f"a task on {agent.name} uses volume '{volume_id}'")
            error.hint = "it can be destroyed when the task has ended"
        raise
    return Operation(agent, "destroyed", found, operations.destroy(found))
