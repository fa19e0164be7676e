"""Lists of agents, frameworks and roles, read once or repeatedly."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.holding import dominant_share
from mesosctl.mesos.amounts.notation import listed, natural
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.errors import NotFound, Unreachable
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.frameworks import completed_frameworks, listed_frameworks
from mesosctl.mesos.names import framework_names, kind_of
from mesosctl.mesos.roles import did_you_mean
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.reading.quotas import quotas_if_allowed, read_roles
from mesosctl.reading.selection import (
    Selection,
    SortKey,
    is_in_branch,
    role_key,
    serving,
    sort_entries,
)
from mesosctl.reading.targets import find_agents, has_attributes, read_agents
from mesosctl.suggestion import command

Progress = Callable[..., None]
AGENT_KEYS = ("agent", "status", "use")
FRAMEWORK_KEYS = ("framework", "status", "offers")
ROLE_KEYS = ("role", "status", "weight", "frameworks", "share")
"""The keys that each list can be sorted by, in addition to the names of resources."""

Value = TypeVar("Value")


def list_agents(
    master: LeadingMaster, wanted: Selection, progress: Progress = lambda *_: None
) -> list[RegisteredAgent]:
    """Return the selected agents, by default sorted by host name.

    Raises NotFound for a name that no agent has, UsageError for one that several have, and for an unknown key.
    """
    agents = read_agents(master, progress, recovering=True)
    found = find_agents(agents, dict.fromkeys(wanted.names)) if wanted.names else agents
    chosen = [agent for agent in serving(found, wanted.role) if has_attributes(agent, wanted.attributes)]
    keys: dict[str, SortKey[RegisteredAgent]] = {
        "agent": lambda agent: (natural(agent.hostname), natural(agent.id)),
        "status": lambda agent: (agent.status == "active", agent.status),
        "use": lambda agent: (
            -dominant_share(agent.used.quantities() + agent.offered.quantities(), agent.total.quantities())[1]
        ),
    }
    known = (agent.total.quantities() for agent in agents)
    return sort_entries(chosen, wanted.sort, keys, lambda agent: agent.used.quantities(), known, own="agent")


def list_frameworks(master: LeadingMaster, wanted: Selection, *, ended: bool = False) -> list[ListedFramework]:
    """Return the selected frameworks, by default sorted by name.

    With `ended`, completed ones are among them, as far as the master keeps them; one that is named always is.
    Raises NotFound for a name or an id that none has, UsageError for an unknown key and for a word that is the name of
    one and the id of another.
    """
    answer = master.ask("GET_FRAMEWORKS")
    present, completed = listed_frameworks(answer), completed_frameworks(answer)
    there = {name for framework in present for _, name in framework.names}
    may_be_completed = ended or any(kind_of(word)[1] not in there for word in wanted.names)
    spelled = as_typed([*present, *(completed if may_be_completed else ())], [*present, *completed])
    frameworks = sorted(spelled, key=lambda framework: (framework.name, framework.id))
    named = frameworks_named(frameworks, wanted.names) if wanted.names else frameworks
    keys: dict[str, SortKey[ListedFramework]] = {
        "framework": lambda framework: (natural(framework.name), natural(framework.id)),
        "status": lambda framework: (framework.status == "active", framework.status),
        "offers": lambda framework: -framework.offers,
    }
    held = (framework.used + framework.offered for framework in frameworks)
    chosen = list(serving(named, wanted.role))
    return sort_entries(
        chosen, wanted.sort, keys, lambda framework: framework.used + framework.offered, held, own="framework"
    )


def frameworks_named(
    frameworks: Sequence[ListedFramework],
    words: Sequence[str],
    field: str = "framework",
    otherwise: str = "",
) -> list[ListedFramework]:
    """Return the frameworks that one of these words means: one by its id, or every one of a name.

    `otherwise` is the hint if no name is like a word; by default it says what lists them.
    Raises NotFound for a word that none has, and UsageError for one that is the id of one and the name of another.
    """
    names = framework_names({framework.id: framework.name for framework in frameworks})
    meant = set(names.chosen(words, field, otherwise or f"{command('frameworks')} shows all of them"))
    return [framework for framework in frameworks if framework.id in meant]


def as_typed(frameworks: Iterable[ListedFramework], among: Iterable[ListedFramework]) -> list[ListedFramework]:
    """Return frameworks with the kinds of their names that could mean another one of `among` too."""
    names = framework_names({framework.id: framework.name for framework in among})
    unclear = {kind: names.unclear(kind) for kind in ("name", "id")}
    return [
        replace(framework, unclear=kinds)
        if (kinds := frozenset(kind for kind, text in framework.names if text in unclear[kind]))
        else framework
        for framework in frameworks
    ]


def find_framework(names: Mapping[str, str], word: str, field: str, otherwise: str | None = None) -> str:
    """The id of the framework that `word` means, by id or name; `names` has the name of each by id.

    `field` is the place of the word, `otherwise` the hint if no name is like it; by default it lists them.
    Raises UsageError for a word that means several, NotFound for an unknown one.
    """
    known = framework_names(names)
    found = known.one(word, field)
    if found is None:
        there = f"the frameworks are {listed(sorted(set(names.values())))}" if names else "there are no frameworks"
        raise known.absent(word, field, otherwise or f"give the name or the id of a framework; {there}")
    return found


def list_roles(master: LeadingMaster, wanted: Selection) -> list[RoleStatus]:
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
        "role": lambda status: role_key(status.role),
        "status": lambda status: (not status.missing, status.standing),
        "weight": lambda status: -(status.usage.weight if status.usage else 1.0),
        "frameworks": lambda status: -(status.usage.frameworks if status.usage else 0),
        "share": _share_of_guarantee,
    }
    return sort_entries(
        chosen, wanted.sort, keys, lambda status: status.used, [status.used for status in chosen], own="role"
    )


def _share_of_guarantee(role: RoleStatus) -> float:
    """The smallest part of a guarantee that is used; roles without one come last."""
    used = role.counted
    parts = [used.get(name, 0) / milli for name, milli in role.quota.guarantees.items() if milli]
    return min(parts, default=float("inf"))


def readings(
    master: LeadingMaster,
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
