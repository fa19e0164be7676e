"""Changes on the command line of a what-if: one word each, as in `EXAMPLES`.

If a reservation is refined, the owners are listed from the bottom up: reserve:AGENT=cpus(ads>ads/video):2.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from mesosctl.mesos import roles as roles_model
from mesosctl.mesos.amounts.notation import parse_entries, parse_fraction, parse_of_agents
from mesosctl.mesos.amounts.quantities import Limits, parse_double, refuse_sign
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import MesosctlError, RuleViolation, UsageError
from mesosctl.mesos.names import new_name
from mesosctl.mesos.roles import closest

EXAMPLES = {
    "quota": "quota:web=cpus:12;mem:6GiB",
    "limit": "limit:web=cpus:16",
    "remove-quota": "remove-quota:web",
    "weight": "weight:web=2",
    "reserve": "reserve:agent-1=cpus(web):2",
    "unreserve": "unreserve:agent-1=cpus(web):2",
    "create": "create:agent-1=v1:disk(db):1GiB",
    "destroy": "destroy:agent-1=v1",
    "failover": "failover:80%",
    "priority": "priority:web=10",
    "preemption": "preemption:on",
    "lending": "lending:on",
    "ratelimits": "ratelimits:limits.json",
}


def example(verb: str = "quota") -> str:
    """An example of a change, quoted for a shell."""
    return shlex.quote(EXAMPLES.get(verb, EXAMPLES["quota"]))


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A guarantee for a role."""

    role: str
    entries: tuple[Resource, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a role; empty for no limits."""

    role: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class NoQuota:
    """A role without quota."""

    role: str


@dataclass(frozen=True, slots=True)
class ChangedWeight:
    """A weight for a role."""

    role: str
    weight: float


@dataclass(frozen=True, slots=True)
class Owned:
    """An amount and its owners, roles from the bottom of the stack up."""

    entry: Resource
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _OwnedOnAgent:
    agent: str
    parts: tuple[Owned, ...]


class ReserveOnAgent(_OwnedOnAgent):
    """Reservations on an agent."""


class UnreserveOnAgent(_OwnedOnAgent):
    """Reservations to undo on an agent."""


@dataclass(frozen=True, slots=True)
class CreateVolume:
    """A volume of reserved disk."""

    agent: str
    id: str
    disk: Owned


@dataclass(frozen=True, slots=True)
class DestroyVolume:
    """A volume to destroy."""

    agent: str
    id: str


@dataclass(frozen=True, slots=True)
class LoseAgents:
    """Agents that are gone, by id or host name, and a part of all, evenly spread in the order of host names."""

    names: tuple[str, ...] = ()
    fraction: float = 0.0


@dataclass(frozen=True, slots=True)
class AddAgents:
    """Agents that register."""

    entries: tuple[Resource, ...]
    count: int = 1
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoseFramework:
    """A framework that is gone, by id or name."""

    word: str


@dataclass(frozen=True, slots=True)
class Failover:
    """A new master leads, and `part` of the agents is back."""

    part: float


@dataclass(frozen=True, slots=True)
class Priority:
    """The strict priority allocator, with a priority for a role."""

    role: str
    priority: str


@dataclass(frozen=True, slots=True)
class Switch:
    """A flag of the master that is on or off."""

    flag: Literal["oversubscribe_reservations", "preemption"]
    on: bool


@dataclass(frozen=True, slots=True)
class LimitsFile:
    """The rate limits of a file, as the master's --rate_limits takes them."""

    path: str


Restart = Failover | Priority | Switch | LimitsFile
"""Changes that restart the master."""

ChangeOnAgent = ReserveOnAgent | UnreserveOnAgent | CreateVolume | DestroyVolume
Change = Guarantee | Bounds | NoQuota | ChangedWeight | ChangeOnAgent | LoseAgents | AddAgents | LoseFramework | Restart


def parse_change(word: str) -> Change:
    """One change.  Raises UsageError for an unknown change, RuleViolation for invalid resources."""
    verb, colon, rest = word.partition(":")
    reader = _READERS.get(verb)
    if reader is None or not colon or not rest:
        if _AMOUNT.match(word):
            raise UsageError(
                f"'{word}' is not a change",
                field="CHANGES",
                hint=f"all amounts of a change or an option are one word, in quotes: {example()}",
            )
        likely = closest(verb, _READERS)
        raise UsageError(
            f"'{word}' is not a change",
            field="CHANGES",
            hint=(f"did you mean {likely}:? " if likely and reader is None else "")
            + f"for example, {example(likely or verb)}; changes begin with {':, '.join(_READERS)}:",
        )
    try:
        return reader(rest)
    except MesosctlError as error:
        error.reword(f"'{word}': {error.message}")
        if isinstance(error, UsageError) and error.hint is None:
            error.hint = f"for example, {example(verb)}"
        raise


_AMOUNT = re.compile(r"[a-z_]+(\([^()]*\))?:[\d\[.]", re.ASCII)
"""The beginning of an amount: `mem:16GiB`, `mem(ads):4GiB`, `ports:[31000-32000]`."""


def _named(rest: str, what: str) -> tuple[str, str]:
    name, equals, value = rest.partition("=")
    if not name or not equals or not value:
        raise UsageError(f"{what} and a value are needed", field="CHANGES")
    return name, value


def _guarantee(rest: str) -> Guarantee:
    role, text = _named(rest, "a role")
    limit = _LIMIT.search(text)
    if limit is not None:
        hint = f"give the limit as a separate change: {shlex.quote(f'limit:{role}={limit[1].strip()}')}"
        raise UsageError("a guarantee cannot contain a limit", field="CHANGES", hint=hint)
    return Guarantee(roles_model.check_role(role), tuple(parse_entries(text)))


def _bounds(rest: str) -> Bounds:
    role, text = _named(rest, "a role")
    entries = [] if text == "none" else parse_entries(text)
    wrong = [entry for entry in entries if not entry.is_scalar or entry.is_reserved]
    if wrong:
        raise UsageError(f"a limit is a plain amount, but {wrong[0]} is not", field="CHANGES")
    return Bounds(roles_model.check_role(role), Limits({e.name: e.value for e in entries if isinstance(e.value, int)}))


def _weight(rest: str) -> ChangedWeight:
    role, text = _named(rest, "a role")
    refuse_sign("weight", text)
    try:
        weight = parse_double(text)
    except (ValueError, RuleViolation):
        raise UsageError(f"'{text}' is not a weight", field="CHANGES") from None
    return ChangedWeight(roles_model.check_role(role), weight)


_LIMIT = re.compile(r"(?:^|;)\s*limits?\s*(?:=|:(?=\s*none))([^;]+)")


def _failover(rest: str) -> Failover:
    part = parse_fraction(rest)
    if not 0 <= part <= 1:
        raise UsageError(f"'{rest}' is not a fraction of the agents: write 0 to 1, or 0% to 100%", field="CHANGES")
    return Failover(part)


def _priority(rest: str) -> Priority:
    role, text = _named(rest, "a role")
    return Priority(roles_model.check_role(role), text)


def _switch(flag: Literal["oversubscribe_reservations", "preemption"], rest: str) -> Switch:
    if rest not in ("on", "off"):
        raise UsageError(f"'{rest}' is neither on nor off", field="CHANGES")
    return Switch(flag, rest == "on")


_OWNER = re.compile(r"\s*(?P<name>[^():;]+)\((?P<owners>[^()]*)\)\s*:(?P<value>.*)", re.DOTALL)


def _owned(text: str) -> tuple[Owned, ...]:
    found = []
    for token in filter(str.strip, text.split(";")):
        match = _OWNER.fullmatch(token)
        if match is None:
            raise UsageError(f"{token.strip()} does not name an owner", field="CHANGES")
        stack = tuple(roles_model.check_role(owner.strip()) for owner in match["owners"].split(">"))
        (entry,) = parse_of_agents(f"{match['name'].strip()}:{match['value']}")
        found.append(Owned(entry, stack))
    if not found:
        raise UsageError("no resources are given", field="CHANGES")
    return tuple(found)


def _owned_on_agent(rest: str) -> tuple[str, tuple[Owned, ...]]:
    agent, text = _named(rest, "an agent")
    return agent, _owned(text)


_VOLUME = re.compile(r"(?P<id>.+?):(?P<disk>[^():;]+\(.*)", re.DOTALL)
"""An id, which may have colons too, and a disk with its owners."""


def _create(rest: str) -> CreateVolume:
    agent, text = _named(rest, "an agent")
    found = _VOLUME.fullmatch(text)
    parts = _owned(text.partition(":")[2] if found is None else found["disk"])
    if found is None or len(parts) != 1:
        raise UsageError("an id and one disk are needed", field="CHANGES")
    return CreateVolume(agent, new_name(found["id"], "id", "CHANGES"), parts[0])


_READERS: Mapping[str, Callable[[str], Change]] = {
    "quota": _guarantee,
    "limit": _bounds,
    "remove-quota": lambda rest: NoQuota(roles_model.check_role(rest)),
    "weight": _weight,
    "reserve": lambda rest: ReserveOnAgent(*_owned_on_agent(rest)),
    "unreserve": lambda rest: UnreserveOnAgent(*_owned_on_agent(rest)),
    "create": _create,
    "destroy": lambda rest: DestroyVolume(*_named(rest, "an agent")),
    "failover": _failover,
    "priority": _priority,
    "preemption": lambda rest: _switch("preemption", rest),
    "lending": lambda rest: _switch("oversubscribe_reservations", rest),
    "ratelimits": LimitsFile,
}
VERBS = tuple(_READERS)
"""The words that begin a change, before the colon."""
RESTARTS = ("failover", "priority", "preemption", "lending", "ratelimits")
"""Those of changes that restart the master."""
