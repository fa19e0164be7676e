"""Lists of agents, frameworks and roles, read once or repeatedly."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from mesosctl.api import responses
from mesosctl.api.frameworks import listed_frameworks
from mesosctl.client.leading_master import Master
from mesosctl.model.errors import NotFound, Unreachable, UsageError
from mesosctl.model.holding import dominant_share
from mesosctl.model.notation import listed, natural
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.quota.role_status import RoleStatus
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.roles import did_you_mean
from mesosctl.model.suggestion import command
from mesosctl.operations.list_selection import (
    Selection,
    SortKey,
    entries_named,
    is_in_branch,
    role_key,
    serving,
    sort_entries,
)
from mesosctl.operations.quota.reading import quotas_if_allowed, read_roles
from mesosctl.operations.reservations.targets import find_agent, has_attributes, read_agents

Progress = Callable[..., None]
AGENT_KEYS = ("agent", "status", "use")
FRAMEWORK_KEYS = ("framework", "status", "offers")
ROLE_KEYS = ("role", "status", "weight", "frameworks", "share")
"""The keys that each list can be sorted by, in addition to the names of resources."""

Value = TypeVar("Value")


def list_agents(master: Master, wanted: Selection, progress: Progress = lambda *_: None) -> list[RegisteredAgent]:
    """Return the selected agents, by default sorted by host name.

    Raises NotFound for a name that no agent has, UsageError for one that several have, and for an unknown key.
    """
    agents = read_agents(master, progress, recovering=True)
    found = [find_agent(agents, word) for word in dict.fromkeys(wanted.names)] if wanted.names else agents
    chosen = [one for one in serving(found, wanted.role) if has_attributes(one, wanted.attributes)]
    keys: dict[str, SortKey[RegisteredAgent]] = {
        "agent": lambda one: (natural(one.hostname), natural(one.id)),
        "status": lambda one: (one.status == "active", one.status),
        "use": lambda one: -dominant_share(one.used.quantities() + one.offered.quantities(), one.total.quantities())[1],
    }
    known = (one.total.quantities() for one in agents)
    return sort_entries(chosen, wanted.sort, keys, lambda one: one.used.quantities(), known, own="agent")


def roles_of_agents(agents: Iterable[RegisteredAgent]) -> set[str]:
    """Return the roles with reservations or allocations."""
    return {role for agent in agents for role in (*agent.users, *agent.total.by_owner())}


def list_frameworks(master: Master, wanted: Selection) -> list[ListedFramework]:
    """Return the selected frameworks, by default sorted by name.

    Raises NotFound for a name or an id that none has, and UsageError for an unknown key.
    """
    frameworks = sorted(listed_frameworks(master.ask("GET_FRAMEWORKS")), key=lambda one: (one.name, one.id))
    named = frameworks_named(frameworks, wanted.names) if wanted.names else frameworks
    keys: dict[str, SortKey[ListedFramework]] = {
        "framework": lambda one: (natural(one.name), natural(one.id)),
        "status": lambda one: (one.status == "active", one.status),
        "offers": lambda one: -one.offers,
    }
    held = (one.used + one.offered for one in frameworks)
    chosen = list(serving(named, wanted.role))
    return sort_entries(chosen, wanted.sort, keys, lambda one: one.used + one.offered, held, own="framework")


def frameworks_named(
    frameworks: Sequence[ListedFramework], words: Sequence[str], field: str = "framework"
) -> list[ListedFramework]:
    """Return the frameworks that have one of these ids or names.  Raises NotFound for a word that none has."""
    return entries_named(
        frameworks,
        words,
        lambda one: (one.name, one.id),
        noun="framework",
        field=field,
        otherwise=f"{command('frameworks')} shows all of them",
    )


def find_framework(names: Mapping[str, str], word: str, field: str, otherwise: str | None = None) -> str:
    """The id of the framework that `word` means, by id or name; `names` has the name of each by id.

    `field` is the place of the word, `otherwise` the hint if no name is like it; by default it lists them.
    Raises UsageError for an ambiguous name, NotFound for an unknown one.
    """
    for candidates in ([word] if word in names else [], [one for one, name in names.items() if name == word]):
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise UsageError(
                f"{len(candidates)} frameworks are named '{word}'",
                field=field,
                hint=f"name one by its id: {', '.join(candidates)}",
            )
    raise NotFound(
        f"no framework is named '{word}'",
        field=field,
        rule="framework.exists",
        hint=did_you_mean(
            word,
            [name for one in names.items() for name in reversed(one)],
            otherwise
            or "give the name or the id of a framework; "
            + (f"the frameworks are {listed(sorted(set(names.values())))}" if names else "there are no frameworks"),
        ),
    )


def list_roles(master: Master, wanted: Selection) -> list[RoleStatus]:
    """Return the selected roles, including those that have only quota, by default sorted by name.

    Raises NotFound for a role that the master does not know, and UsageError for an unknown key.
    """
    known = read_roles(master, responses.roles(master.get("/roles")), quotas_if_allowed(master) or {})
    missing = [role for role in wanted.names if role not in known]
    if missing:
        raise NotFound(
            f"the master knows no role '{missing[0]}', or this principal may not see it",
            field="role",
            rule="role.exists",
            hint=did_you_mean(missing, known, f"{command('roles')} shows all of them"),
        )
    chosen = [
        status
        for role, status in known.items()
        if (not wanted.names or role in wanted.names) and is_in_branch(role, wanted.role)
    ]
    keys: dict[str, SortKey[RoleStatus]] = {
        "role": lambda one: role_key(one.role),
        "status": lambda one: (not one.missing, one.standing),
        "weight": lambda one: -(one.usage.weight if one.usage else 1.0),
        "frameworks": lambda one: -(one.usage.frameworks if one.usage else 0),
        "share": _share_of_guarantee,
    }
    return sort_entries(chosen, wanted.sort, keys, lambda one: one.used, [one.used for one in chosen], own="role")


def _share_of_guarantee(role: RoleStatus) -> float:
    """The smallest part of a guarantee that is used; roles without one come last."""
    used = role.counted
    parts = [used.get(name, 0) / milli for name, milli in role.quota.guarantees.items() if milli]
    return min(parts, default=float("inf"))


def readings(
    master: Master,
    read: Callable[[], Value],
    every: float,
    report: Callable[[str], None],
    count: int | None = None,
    wait: Callable[[float], bool] | None = None,
) -> Iterator[Value]:
    """Yield what `read` returns at an interval in seconds, `count` times or forever.

    `wait` waits for the interval in another way, and ends the readings if it returns False.

    If the master goes away, for example during a failover, wait for it; `report` is called with a sentence. Raises
    Unreachable if it was never there, or is not back before the deadline, which starts again with every answer.
    """
    made = 0
    is_away = False
    while count is None or made < count:
        if made and wait is None:
            master.settings.sleep(every)
        elif made and wait is not None and not wait(every):
            return
        if not is_away:
            master.deadline.extend_to(master.deadline.seconds)
        try:
            value = read()
        except Unreachable as error:
            if not made or master.deadline.remaining() <= every:
                raise
            if not is_away:
                report(f"{error.message}; trying again until it is back")
            is_away = True
            continue
        if is_away:
            report("the master is back")
        is_away = False
        made += 1
        yield value
