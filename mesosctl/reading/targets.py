"""The agents that an operator names (Mesos documentation, "HTTP Endpoints", "/slaves")."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.hints import destroy_first
from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import (
    RegisteredAgent,
    plain_text,
    volume_names,
    without_owners,
)
from mesosctl.mesos.cluster.selectors import Selector, Selectors, take
from mesosctl.mesos.errors import Conflict, NotFound, RuleViolation, UsageError
from mesosctl.mesos.messages.elements import listed_agents as agents_api
from mesosctl.mesos.names import Kind, Names, agent_names
from mesosctl.mesos.roles import did_you_mean, shared_hostnames, short_ids
from mesosctl.mesos.rules.reservations.rules import check_stack
from mesosctl.suggestion import command, options_text


def read_agents(
    master: LeadingMaster, progress: Callable[..., None] = lambda *_: None, *, recovering: bool = False
) -> list[RegisteredAgent]:
    """Every registered agent, by host name and id; `progress` is called with a sentence, and the part that was read.

    With `recovering` also those that a former leader knew and that are not back.
    """
    read = agents_api.registered_and_recovering_agents if recovering else agents_api.registered_agents
    with master.hearing(lambda size, part: progress(f"reading the agents: {size / 2**20:.1f} MiB …", part)):
        agents: list[RegisteredAgent] = master.stream("/slaves", read)
    named = [{"hostname": agent.hostname, "id": agent.id, "attributes": dict(agent.attributes)} for agent in agents]
    master.settings.learn("/slaves", {"slaves": named})
    return in_order(agents)


def in_order(found: Iterable[RegisteredAgent]) -> list[RegisteredAgent]:
    """The agents by host name and id, with the names by which they are typed.

    They have short ids if several of them share a host name.
    """
    agents = sorted(found, key=lambda agent: (agent.hostname, agent.id))
    names = names_of(agents)
    hosts, ids = names.unclear("host"), names.unclear("id")
    shared = shared_hostnames(agent.hostname for agent in agents)
    if not (shared or hosts or ids):
        return agents
    short = short_ids({agent.id: agent.hostname for agent in agents}) if shared else {}
    return [
        replace(
            agent,
            short_id=names.spell("id", short.get(agent.id, "")),
            shares_host=agent.hostname in shared,
            unclear=_unclear(agent, hosts, ids),
        )
        for agent in agents
    ]


def _unclear(agent: RegisteredAgent, hosts: Collection[str], ids: Collection[str]) -> frozenset[Kind]:
    kinds: dict[Kind, bool] = {"host": agent.hostname in hosts, "id": agent.id in ids}
    return frozenset(kind for kind, is_unclear in kinds.items() if is_unclear)


def names_of(agents: Iterable[RegisteredAgent]) -> Names[str]:
    """The names of agents, which mean their ids."""
    return agent_names({agent.id: agent.hostname for agent in agents})


def read_agent(master: LeadingMaster, named: RegisteredAgent) -> RegisteredAgent:
    """The agent with the same id as it is now, under the name that it has among all."""
    path = f"/slaves?slave_id={quote(named.id, errors='surrogateescape')}"
    agents: list[RegisteredAgent] = master.stream(path, agents_api.registered_agents)
    return agents[0].named_like(named)


def read_listed_agent(master: LeadingMaster, agent: RegisteredAgent) -> RegisteredAgent | None:
    """The agent as it is now, registered or awaited since a failover; None if the master does not list it."""
    path = f"/slaves?slave_id={quote(agent.id, errors='surrogateescape')}"
    found: list[RegisteredAgent] = master.stream(path, agents_api.registered_and_recovering_agents)
    now = next((registered for registered in found if registered.id == agent.id), None)
    return now and now.named_like(agent)


def find_agent(agents: Sequence[RegisteredAgent], word: str, field: str = "agent") -> RegisteredAgent:
    """The agent that `word` means: by its id, its host name, or the beginning or end of its id.

    An end is enough because the ids of one master differ only there ("S0").  Raises NotFound for none, UsageError for
    several.
    """
    return find_agents(agents, [word], field)[0]


def find_agents(agents: Sequence[RegisteredAgent], words: Iterable[str], field: str = "agent") -> list[RegisteredAgent]:
    """The agent that each word means, in their order.  Raises what `find_agent` raises."""
    names, by_id = names_of(agents), {agent.id: agent for agent in agents}
    found = []
    for word in words:
        meant = names.one(word, field)
        if meant is None:
            raise _no_agent(names, agents, word, field)
        found.append(by_id[meant])
    return found


def _no_agent(names: Names[str], agents: Sequence[RegisteredAgent], word: str, field: str) -> NotFound:
    known = [name for agent in agents for name in (agent.hostname, agent.short_id) if name]
    otherwise = f"name an id, the beginning or end of one, or a host name; {_known(agents)}"
    error = names.absent(word, field, otherwise, known)
    if word in ("list", "ls", "get", "show"):
        error.hint = f"{command('agents')} alone lists them"
    return error


def no_agent_with(agents: Sequence[RegisteredAgent], wanted: Selectors) -> Conflict:
    """The error if no agent in service is taken by every selector; it names the known names or values."""
    for selector in wanted:
        if any(has_attributes(agent, (selector,)) for agent in agents):
            continue
        name, asked = selector.name, selector.values
        values = sorted({_text(agent.attributes[name]) for agent in agents if name in agent.attributes})
        if not values:
            names = sorted({known for agent in agents for known in agent.attributes})
            there = f"the attributes are {listed(names)}" if names else "the agents have no attributes"
            return _unmatched(f"no agent has an attribute '{name}'", did_you_mean(name, names, there))
        there = f"the values of {name} are {listed(values)}"
        if selector.negated or asked is None:
            return _unmatched(f"every agent has {_that_all_have(selector)}", there)
        if len(asked) > 1:
            return _unmatched(f"no agent has an attribute {name} with one of these values: {listed(asked)}", there)
        return _unmatched(f"no agent has the attribute {name}={asked[0]}", did_you_mean(asked[0], values, there))
    return _unmatched("no agent in service has all of these attributes", "give fewer attributes")


def _that_all_have(selector: Selector) -> str:
    """The words for the attribute that every agent has if a negated selector means none."""
    if selector.values is None:
        return f"an attribute '{selector.name}'"
    if len(selector.values) == 1:
        return f"the attribute {selector.name}={selector.values[0]}"
    return f"an attribute {selector.name} with one of these values: {listed(selector.values)}"


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else format_double(value)


def _unmatched(sentence: str, hint: str) -> Conflict:
    return Conflict(sentence, field="--attribute", rule="reserve.enough-agents", hint=hint)


def _known(agents: Sequence[RegisteredAgent]) -> str:
    return f"the agents are {listed([agent.name for agent in agents])}" if agents else "there are no agents"


def with_attributes(agents: Sequence[RegisteredAgent], wanted: Selectors) -> list[RegisteredAgent]:
    """The agents in service that every selector takes."""
    return [agent for agent in agents if agent.active and has_attributes(agent, wanted)]


def has_attributes(agent: RegisteredAgent, wanted: Selectors) -> bool:
    """Whether every selector takes an agent."""
    return take(wanted, agent.attributes)


def on_agents(agents: Iterable[RegisteredAgent], attributes: Selectors) -> frozenset[str]:
    """Return the ids of the agents that every selector takes."""
    return frozenset(agent.id for agent in agents if has_attributes(agent, attributes))


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a reservation, as arguments name it.

    `under` are the roles that it refines, from the bottom up. To reserve, `labels` and `principal` are those of the
    reservation; to undo, None matches any.
    """

    role: str
    under: tuple[str, ...] = ()
    labels: Labels | None = None
    principal: str | None = None


def check_owner(owner: Owner) -> None:
    """Check that roles are valid, and that each is below the one before it.  Raises RuleViolation."""
    check_stack([*(("--under", role) for role in owner.under), ("--role", owner.role)])


def to_reserve(agent: RegisteredAgent, entries: Sequence[Resource], owner: Owner) -> list[Resource]:
    """`entries`, plain as in arguments, with the stack of `owner` on this agent.

    Raises RuleViolation for entries that already have an owner, Conflict if there is no stack to refine, UsageError if
    there are several.
    """
    top = Reservation("DYNAMIC", owner.role, owner.principal, owner.labels)
    made = []
    for entry in entries:
        if entry.reservations:
            raise RuleViolation(
                f"'{entry.name}({entry.role})' names an owner, but --role names the owner here",
                field=entry.name,
                rule="reserve.one-owner",
                hint=f"write {entry.name}:… and {options_text(role=entry.role)}",
            )
        stack = _below(agent, entry, owner.under) if owner.under else ()
        made.append(replace(entry, reservations=(*stack, top)))
    return made


def missing_for(agent: RegisteredAgent, entries: Sequence[Resource], owner: Owner) -> list[Resource]:
    """The part of `entries`, plain as in arguments, that is not dynamically reserved for `owner` on this agent yet.

    Reservations count whatever their principal, and if the owner names no labels, whatever these are.
    """
    stack = (*owner.under, owner.role)
    counted = agent.total.filter(
        lambda entry: (
            entry.is_dynamically_reserved
            and not entry.revocable
            and _roles(entry.reservations) == stack
            and (owner.labels is None or entry.reservations[-1].labels == owner.labels)
        )
    )
    return list(Resources(entries) - without_owners(counted))


def _below(agent: RegisteredAgent, entry: Resource, under: Sequence[str]) -> tuple[Reservation, ...]:
    """Return the one stack of these roles from which `entry` can be taken."""
    meant = [present for present in agent.total if _roles(present.reservations) == tuple(under)]
    choices = [
        replace(entry, reservations=stack) for stack in dict.fromkeys(resource.reservations for resource in meant)
    ]
    held = [choice for choice in choices if agent.available.contains(Resources([choice]))]
    if not held and any(agent.total.contains(Resources([choice])) for choice in choices):
        raise Conflict(
            f"agent {agent.name} does not have {entry.in_words} free and reserved for {' > '.join(under)}: tasks use "
            "it",
            field=entry.name,
            rule="operation.available",
            hint=f"{command('reservations', agent=agent.typed_name, role=under[-1])} shows what there is",
        )
    read_by = command("reserve", agent.typed_name, f="FILE")
    choose = f"{read_by} reads JSON that names the principal and the labels of each level"
    there, lacking = _there(agent, under[-1]), Resources([entry]) - without_owners(Resources(meant))
    deeper = _deeper(agent, entry.name, under)
    if lacking and deeper:
        there += f"; to refine that, write {' or '.join(deeper)}"
    elif lacking and len(under) <= 2:  # a suggested command has an option once
        above = under[-2] if len(under) == 2 else None
        first = command("reserve", agent.typed_name, plain_text(lacking), role=under[-1], under=above)
        there += f"; reserve for '{under[-1]}' first: {first}"
    what = f"{entry.in_words} reserved for {' > '.join(under)}"
    return _the_one(held, what, agent, there, choose=choose).reservations


def _deeper(agent: RegisteredAgent, name: str, under: Sequence[str]) -> list[str]:
    """The options that name each stack of this resource that ends in these roles and has others below them."""
    stacks = dict.fromkeys(_roles(present.reservations) for present in agent.total if present.name == name)
    meant = [stack for stack in stacks if len(stack) > len(under) and stack[-len(under) :] == tuple(under)]
    return [" ".join(options_text(under=role) for role in stack) for stack in meant]


def to_undo(
    agent: RegisteredAgent,
    entries: Sequence[Resource],
    owner: Owner,
    *,
    of_file: str | None = None,
) -> list[Resource]:
    """`entries` with the stack, labels and principal that they have on this agent.

    `of_file` says which command reads the JSON that chooses among several.
    Raises Conflict if there is no such reservation, UsageError if it could be one of several.
    """
    of_file = of_file or f"{command('unreserve', agent.typed_name, f='FILE')} reads JSON that names all of it"
    made, there = [], _there(agent, owner.role)
    for entry in entries:
        meant = agent.total.filter(
            lambda present, name=entry.name: not present.is_persistent_volume and _is_meant(present, owner, name)  # type: ignore[misc]
        )
        choices = [replace(entry, reservations=present.reservations, disk=present.disk) for present in meant]
        held = [choice for choice in choices if agent.available.contains(Resources([choice]))]
        volumes = agent.volumes.filter(
            lambda present, name=entry.name: _is_meant(present, owner, name)  # type: ignore[misc]
        )
        if volumes and not held:
            raise Conflict(
                f"agent {agent.name} does not have {entry.in_words} of '{owner.role}' outside its volumes, "
                f"{volume_names(volumes)}",
                field=entry.name,
                rule="operation.available",
                hint=destroy_first(agent, volumes),
            )
        if choices and not held:
            raise Conflict(
                f"agent {agent.name} does not have {entry.in_words} in a single entry reserved for '{owner.role}', or "
                "tasks use it",
                field=entry.name,
                rule="operation.available",
                hint=f"{there}; {command('reservations', agent=agent.typed_name, role=owner.role)} shows it all",
            )
        choose = f"choose one by --under, --label and --reserver; {of_file}"
        what = f"{entry.in_words} dynamically reserved for '{owner.role}'{_as_given(owner)}"
        made.append(_the_one(held, what, agent, there, choose=choose))
    return made


def _as_given(owner: Owner) -> str:
    """The end of a sentence that names the demands of arguments beside the role; empty if there are none."""
    parts = (("stack", owner.under), ("labels", owner.labels), ("principal", owner.principal))
    given = [name for name, value in parts if value]
    return f" with the given {' and '.join(given)}" if given else ""


def _there(agent: RegisteredAgent, role: str) -> str:
    """A hint: what an agent has for a role, dynamically and statically reserved."""
    of_role = agent.total.filter(lambda entry: entry.is_reserved and entry.role == role)
    dynamic = of_role.filter(lambda entry: entry.is_dynamically_reserved)
    static = of_role.filter(lambda entry: not entry.is_dynamically_reserved)
    both = ((dynamic, "dynamically"), (static, "statically"))
    kinds = [f"{without_owners(resources).in_words} {how}" for resources, how in both if resources]
    has = f"has {' and '.join(kinds)} reserved" if kinds else "has nothing reserved"
    never = "; a static reservation is part of the agent's configuration" if static else ""
    return f"agent {agent.name} {has} for '{role}'{never}"


def all_of(agent: RegisteredAgent, owner: Owner) -> Resources:
    """All dynamic reservations of `owner` on this agent."""
    return agent.total.filter(lambda entry: _is_meant(entry, owner, entry.name))


def _is_meant(entry: Resource, owner: Owner, name: str) -> bool:
    if entry.name != name or not entry.is_dynamically_reserved or entry.role != owner.role:
        return False
    is_stack = not owner.under or _roles(entry.reservations) == (*owner.under, owner.role)
    return is_stack and entry.reservations[-1].matches(owner.principal, owner.labels)


def _roles(stack: Sequence[Reservation]) -> tuple[str, ...]:
    return tuple(level.role for level in stack)


def _the_one(
    found: Sequence[Resource], what: str, agent: RegisteredAgent, there: str | None = None, *, choose: str
) -> Resource:
    different = list({str(entry): entry for entry in found}.values())
    if not different:
        raise NotFound(
            f"agent {agent.name} does not have {what}", field="resources", rule="reservation.exists", hint=there
        )
    if len(different) > 1:
        raise UsageError(
            f"agent {agent.name} has {what} more than once: {'; '.join(entry.in_words for entry in different)}",
            field="resources",
            hint=choose,
        )
    return different[0]
