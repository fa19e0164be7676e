"""The differences between two snapshots of one cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from mesosctl.mesos.amounts.amount_text import NotationText, in_mesos_notation, in_words, text_in_words
from mesosctl.mesos.amounts.identity import occurrences
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.amounts.quantities import REVOCABLE, Quantities, Quota, format_double
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_quantity
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import (
    ClusterSnapshot,
    Debt,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

Held = TypeVar("Held", bound=FrameworkUsage | OutstandingOffer | Debt | Refusal)

Kind = Literal["master", "flag", "agent", "framework", "quota", "weight", "used", "offered", "task", "owed", "refused"]


_ABSENT = "-"


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """One difference.  `before` and `after` are None if the thing is not there at all."""

    kind: Kind
    name: str
    what: str
    """Which side of it: "resources"; empty if it came or went as a whole."""
    before: str | None
    after: str | None


def changes(before: ClusterSnapshot, after: ClusterSnapshot) -> list[SnapshotDifference]:
    """Every difference except the time, the addresses of agents, and the ids of offers.

    What frameworks use, are offered, refuse and owe is compared by framework and role, over all agents; how long
    a refusal still lasts is not.
    """
    return [*_changes(before, after)]


def _changes(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotDifference]:
    if before.version != after.version:
        yield SnapshotDifference("master", "version", "", before.version, after.version)
    if before.profile != after.profile:
        yield SnapshotDifference("master", "profile", "", before.profile.name, after.profile.name)
    yield from _by_name("flag", before.flags, after.flags, lambda text: {"": text})
    yield from _by_name(
        "agent", {agent.id: agent for agent in before.agents}, {agent.id: agent for agent in after.agents}, _agent
    )
    yield from _by_name(
        "framework",
        {framework.id: framework for framework in before.frameworks},
        {framework.id: framework for framework in after.frameworks},
        _framework,
    )
    yield from _quotas(before.quotas, after.quotas)
    yield from _by_name("weight", before.weights, after.weights, lambda weight: {"": format_double(weight)})
    yield from _by_name("used", _used(before), _used(after), lambda text: {"": text})
    yield from _by_name("offered", _offered(before), _offered(after), lambda text: {"": text})
    yield from _lending(before, after)


def _lending(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotDifference]:
    old, new = (snapshot.lending or Lending() for snapshot in (before, after))
    if old.stop_seconds != new.stop_seconds:
        yield SnapshotDifference(
            "master", "stop_seconds", "", format_double(old.stop_seconds), format_double(new.stop_seconds)
        )
    names = {framework.id: framework.name for framework in (*before.frameworks, *after.frameworks)}
    tasks = [{f"{names[t.framework_id]} ({t.framework_id})/{t.id}": t for t in of.tasks} for of in (old, new)]
    yield from _by_name("task", tasks[0], tasks[1], _task)
    owed = [_placed(of.debts, names) for of in (old, new)]
    yield from _by_name("owed", owed[0], owed[1], lambda text: {"": text})
    refused = [_placed(of.refusals, names) for of in (old, new)]
    yield from _by_name("refused", refused[0], refused[1], lambda text: {"": text})


def _placed(held: Iterable[Debt | Refusal], names: Mapping[str, str]) -> dict[str, str]:
    entries = _grouped(held, lambda entry: f"{names[entry.framework_id]} ({entry.framework_id}) as {entry.role}")
    return {
        key: _in_parts(_amounts(some), f"{len(some)} {'entry' if len(some) == 1 else 'entries'}")
        for key, some in entries.items()
    }


def _task(task: SnapshotTask) -> dict[str, str]:
    return {
        "resources": _resources(task.resources),
        "agent": task.agent_id,
        "role": task.role,
        "executor": task.executor_id or _ABSENT,
        "executor resources": _resources(task.executor_resources),
        "standing": task.phase,
    }


def _by_name(
    kind: Kind, before: Mapping[str, Any], after: Mapping[str, Any], sides: Any
) -> Iterator[SnapshotDifference]:
    """Things that came, went, or are another on one of their sides, by name."""
    for name in sorted({*before, *after}):
        if name not in after:
            yield SnapshotDifference(kind, name, "", _summary(sides(before[name])), None)
        elif name not in before:
            yield SnapshotDifference(kind, name, "", None, _summary(sides(after[name])))
        elif before[name] != after[name]:
            old, new = sides(before[name]), sides(after[name])
            for what in old:
                if old[what] != new[what]:
                    yield SnapshotDifference(kind, name, what, old[what], new[what])


def _summary(sides: Mapping[str, str]) -> str:
    """The first side is the one that people know a thing by."""
    return next(iter(sides.values()))


def _agent(agent: ClusterAgent) -> dict[str, str]:
    return {
        "hostname": agent.hostname,
        "resources": _resources(agent.total),
        "active": _yes(agent.active),
        "attributes": ", ".join(f"{name}:{value}" for name, value in sorted(agent.attributes.items())) or _ABSENT,
        "capabilities": ", ".join(sorted(agent.capabilities)) or _ABSENT,
        "domain": "/".join(filter(None, (agent.region, agent.zone))) or _ABSENT,
    }


def _framework(framework: SnapshotFramework) -> dict[str, str]:
    suppressed = framework.suppressed
    return {
        "name": framework.name,
        "roles": ", ".join(sorted(framework.roles)) or _ABSENT,
        "principal": framework.principal or _ABSENT,
        "capabilities": ", ".join(sorted(framework.capabilities)) or _ABSENT,
        "active": _yes(framework.active),
        "connected": _yes(framework.connected),
        "suppressed": "unknown" if suppressed is None else ", ".join(sorted(suppressed)) or _ABSENT,
        "offer constraints": str(dict(framework.offer_constraints)) if framework.offer_constraints else _ABSENT,
        "offer filters": str(dict(framework.offer_filters)) if framework.offer_filters else _ABSENT,
    }


def _quotas(before: Mapping[str, Quota], after: Mapping[str, Quota]) -> Iterator[SnapshotDifference]:
    """One that came or went is known by its guarantee; its limit, if it has one, follows."""
    for difference in _by_name("quota", before, after, _quota):
        yield difference
        if not difference.what:
            limit = _quota(before[difference.name] if difference.after is None else after[difference.name])["limit"]
            if limit != _ABSENT:
                sides = (limit, None) if difference.after is None else (None, limit)
                yield SnapshotDifference("quota", difference.name, "limit", *sides)


def _quota(quota: Quota) -> dict[str, str]:
    limit = NotationText.with_words(str(quota.limits), lambda: in_words(quota.limits)) if quota.limits else _ABSENT
    return {
        "guarantee": NotationText.with_words(str(quota.guarantees), lambda: in_words(quota.guarantees)),
        "limit": limit,
    }


def _used(snapshot: ClusterSnapshot) -> dict[str, str]:
    names = {framework.id: framework.name for framework in snapshot.frameworks}
    usages = _grouped(
        snapshot.usages, lambda usage: f"{names[usage.framework_id]} ({usage.framework_id}) as {usage.role}"
    )
    tasks = {key: sum(usage.tasks for usage in some) for key, some in usages.items()}
    return {key: _in_parts(_amounts(some), counted(tasks[key], "task")) for key, some in usages.items()}


def _offered(snapshot: ClusterSnapshot) -> dict[str, str]:
    offers = _grouped(snapshot.offers, lambda offer: f"{offer.framework} ({offer.framework_id}) as {offer.role}")
    return {key: _in_parts(_amounts(some), counted(len(some), "offer")) for key, some in offers.items()}


def _grouped(held: Iterable[Held], key: Callable[[Held], str]) -> dict[str, list[Held]]:
    found: dict[str, list[Held]] = {}
    for entry in held:
        found.setdefault(key(entry), []).append(entry)
    return found


def _in_parts(amounts: str, parts: str) -> str:
    """`cpus:4;mem:512 in 2 tasks`."""
    return NotationText.with_words(f"{amounts} in {parts}", lambda: f"{text_in_words(amounts)} in {parts}")


def _amounts(held: Sequence[FrameworkUsage | OutstandingOffer | Debt | Refusal]) -> str:
    """The sums by name; resources that many hold are one object, which is counted."""
    amounts: dict[str, int] = {}
    for resources, count in occurrences(entry.resources for entry in held):
        for entry in resources:
            name = entry.name + REVOCABLE * entry.revocable
            amounts[name] = amounts.get(name, 0) + count * value_quantity(entry.value)
    return NotationText.with_words(in_mesos_notation(Quantities(amounts)) or "nothing", lambda: in_words(amounts))


def _resources(resources: Resources) -> str:
    if not len(resources):
        return _ABSENT
    return NotationText.with_words("; ".join(sorted(map(str, resources))), lambda: resources.in_words)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
