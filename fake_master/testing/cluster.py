"""The cluster of a `FakeMaster`, from the arguments that it is given."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry
from fake_master.services.quota import QUOTA_KIND
from fake_master.sources.agent_tables import AgentSpec, AgentTable, agent_specs
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.cluster_tables import (
    FlagValues,
    FrameworkTable,
    TasksTable,
    flag_texts,
    simulated_frameworks,
    task_outcome,
)
from fake_master.sources.snapshot import RestoredCluster
from fake_master.sources.source_file import Source, read_source
from fake_master.state.quota import SentQuota
from fake_master.testing import DEFAULT_AGENT
from fake_master.testing.values import AgentConfig, FrameworkConfig, QuotaConfig, TaskConfig
from mesosctl.files.typed_file import typed
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities, to_double
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.quota import rules
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.version_profile import MESOS_1_11

Flags = Mapping[str, str | float | bool]


class Records(MemoryRegistry):
    """The registry of one master after another in this process; values are kept as they were written."""

    outlives_process = True

    def write(self, kind: str, key: str, value: Any) -> None:
        """See `Registry.write`."""
        super().write(kind, key, None if value is None else json.loads(json.dumps(value)))


def _cluster(path: str | PathLike[str] | None, version: str | None) -> Source:
    if path is None:
        return ClusterSpec(mesos_version=version or MESOS_1_11.name)
    return read_source(Path(path), version)


def specify(
    path: str | PathLike[str] | None,
    agents: int | Iterable[str | AgentConfig],
    version: str | None,
    flags: Flags,
    frameworks: Sequence[FrameworkConfig],
    tasks: TaskConfig | None,
) -> Source:
    """Return the cluster of a file, if one is named, with everything else that was given.

    Raises BadInput, and TypeError for an argument of another type.
    """
    for name, given, kind in (
        ("flags", flags, Mapping),
        ("frameworks", frameworks, Sequence),
        ("tasks", tasks, Mapping),
    ):
        if given is not None and (not isinstance(given, kind) or isinstance(given, str)):
            raise TypeError(f"{name} is {given!r}, but should be a {'list' if kind is Sequence else 'dict'}")
    source = _cluster(path, version)
    more = agent_specs(typed(_tables(agents), list[AgentTable], "agents"), "agents")
    texts = flag_texts(typed(dict(flags), FlagValues, "flags"))
    if isinstance(source, RestoredCluster):
        if more or frameworks or tasks is not None:
            raise BadInput(
                "a snapshot has its own agents, frameworks and tasks",
                field="agents",
                hint="leave out agents, frameworks and tasks",
            )
        return replace(source, flags={**source.flags, **texts})
    described = typed(list(map(_plain, frameworks)), list[FrameworkTable], "frameworks")
    everybody = (*map(as_spec, source.agents), *more)
    return replace(
        source,
        agents=named(everybody, 0),
        flags={**source.flags, **texts},
        task_outcome=source.task_outcome if tasks is None else task_outcome(typed(dict(tasks), TasksTable, "tasks")),
        frameworks=(*source.frameworks, *simulated_frameworks(described, "frameworks")),
    )


def _check_type(name: str, given: object, kind: type[Mapping[Any, Any]] | type[Sequence[Any]]) -> None:
    if not isinstance(given, kind) or isinstance(given, str):
        raise TypeError(f"{name} is {given!r}, but should be a {'list' if kind is Sequence else 'dict'}")


def _tables(agents: int | Iterable[str | AgentConfig]) -> list[dict[str, Any]]:
    """The tables of agents; a number means that many with the default resources."""
    if isinstance(agents, str):
        raise BadInput("agents is a string, but should be a list", field="agents", hint=f"agents=[{agents!r}]")
    if isinstance(agents, int) and not isinstance(agents, bool):
        if agents < 0:
            raise BadInput(f"agents is {agents}, but cannot be below zero", field="agents")
        return [table_of(DEFAULT_AGENT) for _ in range(agents)]
    if isinstance(agents, Mapping | bool) or not isinstance(agents, Iterable):
        raise TypeError(f"agents is {agents!r}: give how many there are, or a list such as ['cpus:4;mem:8GiB']")
    listed = list(agents)
    for number, agent in enumerate(listed):
        if not isinstance(agent, str | Mapping):
            raise TypeError(f"agents[{number}] is {agent!r}: write its resources, such as 'cpus:4;mem:8GiB', or a dict")
    return list(map(table_of, listed))


def table_of(agent: str | AgentConfig) -> dict[str, Any]:
    """Return the table of an agent that may be given as resource text."""
    return {"resources": agent} if isinstance(agent, str) else dict(agent)


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with lists for any other sequences, as a file has them."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in table.items()}


def as_spec(agent: AgentSpec | str) -> AgentSpec:
    """Return the specification of an agent that may be given as resource text."""
    return AgentSpec(agent) if isinstance(agent, str) else agent


def named(specs: Iterable[AgentSpec], first: int) -> tuple[AgentSpec, ...]:
    """Agents with the host names that a cluster file gives to those that have none."""
    return tuple(
        replace(spec, hostname=spec.hostname or f"agent-{number + 1}") for number, spec in enumerate(specs, first)
    )


def set_quotas(master: Master, registry: MemoryRegistry, quotas: Mapping[str, str | QuotaConfig]) -> None:
    """Give roles their quotas, whatever the access rules are.  Raises RuleViolation, Conflict or BadInput."""
    _check_type("quotas", quotas, Mapping)
    if not quotas:
        return
    if not isinstance(quotas, Mapping):
        raise TypeError(
            f"quotas is {quotas!r}, but should be a dict from roles to resources, such as {{'web': 'cpus:2'}}"
        )
    state = master.state
    target = {}
    for role, given in quotas.items():
        rules.refuse(rules.ROLE_WITH_QUOTA, rules.Wish(role), rules.GivenFacts(state.profile))
        table: QuotaConfig = {"guarantee": given} if isinstance(given, str) else given
        unknown = table.keys() - QuotaConfig.__annotations__.keys()
        if unknown:
            raise BadInput(f"quotas.{role}: '{min(unknown)}' is not a key here", field=min(unknown))
        amounts = {part.removesuffix("s"): _scalars(str(text), f"quotas.{role}") for part, text in table.items()}
        if len(amounts) < len(table):
            raise BadInput(f"quotas.{role}: a part is given twice, as {' and '.join(table)}", field=min(table))
        limits = Limits(amounts["limit"]) if "limit" in amounts else None
        target[role] = DesiredQuotaChange(Quantities(amounts.get("guarantee", {})), limits).applied_to(None)
    sent = {
        role: SentQuota(
            {name: to_double(milli) for name, milli in quota.guarantees.items()},
            {name: to_double(milli) for name, milli in quota.limits.items()},
        )
        for role, quota in target.items()
    }
    for quota in sent.values():
        rules.check_config_amounts(quota.guarantees, quota.limits)
    facts = rules.GivenFacts(state.profile, quotas=state.quota_meanings(), capacity=state.capacity())
    rules.refuse(rules.UPDATE_QUOTA_WHOLE, rules.Wish("", together=target), facts)
    with master.transaction():
        for role, quota in sent.items():
            registry.write(QUOTA_KIND, role, quota.kept().to_record())
        master.quotas.load()


def _scalars(text: str, where: str) -> dict[str, int]:
    entries = parse_entries(text)
    rules.check_guarantee(entries, field=where)
    return {entry.name: entry.value for entry in entries if isinstance(entry.value, int)}
