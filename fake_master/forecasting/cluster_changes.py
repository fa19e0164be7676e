"""Changes of a cluster that no request makes: another master leads, and agents register."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fake_master.master import Master
from fake_master.registry.interface import Registry
from fake_master.registry.records import QuotaRecord
from fake_master.services.quota import QUOTA_KIND
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.sources.initial_state import InitialState
from fake_master.sources.snapshot import RestoredCluster
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import VirtualClock
from fake_master.state.shown_since import flags_at
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import SnapshotFramework
from mesosctl.mesos.rules.upgrade import quotas_read
from mesosctl.mesos.rules.version_profile import Profile


def restarted(
    source: ClusterSpec | RestoredCluster,
    registry: Registry,
    clock: VirtualClock,
    flags: Mapping[str, str],
    missing: Sequence[KnownAgent],
    profile: Profile,
) -> Master:
    """A master of a profile on the registry of another, without the missing agents, which it knows about.

    Raises BadInput for invalid flags.
    """
    kept_flags = {**flags_at(profile.release, source.flags), **flags}
    away, hosts = {agent.id for agent in missing}, {agent.hostname for agent in missing}
    if isinstance(source, RestoredCluster):
        snapshot = source.snapshot
        lending = snapshot.lending
        there = replace(
            snapshot,
            agents=tuple(agent for agent in snapshot.agents if agent.id not in away),
            usages=tuple(usage for usage in snapshot.usages if usage.agent_id not in away),
            frameworks=tuple(_subscribed(framework, profile) for framework in snapshot.frameworks),
            offers=(),
            lending=lending
            and replace(
                lending,
                tasks=tuple(task for task in lending.tasks if task.agent_id not in away),
                debts=tuple(debt for debt in lending.debts if debt.agent_id not in away),
                refusals=(),
            ),
        )
        return replace(source, snapshot=there, mesos_version=profile.name, flags=kept_flags).start(
            registry, clock=clock, awaited=len(away)
        )
    specs = [AgentSpec(spec) if isinstance(spec, str) else spec for spec in source.agents]
    named = [replace(spec, hostname=spec.hostname_at(index)) for index, spec in enumerate(specs)]
    frameworks = tuple(
        replace(framework, after=0.0, running=tuple(held for held in framework.running if held.agent not in hosts))
        for framework in source.frameworks
    )
    spec = replace(
        source,
        mesos_version=profile.name,
        agents=tuple(spec for spec in named if spec.hostname not in hosts),
        frameworks=frameworks,
        flags=kept_flags,
        initial=InitialState(),  # the registry has it
    )
    return spec.start(registry, clock=clock, awaited=len(away))


def _subscribed(framework: SnapshotFramework, profile: Profile) -> SnapshotFramework:
    """A framework that subscribes again with the roles that it suppresses."""
    return framework if profile.honours_suppressed_roles else replace(framework, suppressed=frozenset())


def take_over_quotas(registry: Registry, before: Profile, after: Profile) -> None:
    """Keep in a registry what a master of the profile `after` reads of the quotas of another."""
    how = quotas_read(before, after)
    if how == "as it is":
        return
    with registry.transaction():
        for role, record in registry.records(QUOTA_KIND).items():
            registry.write(QUOTA_KIND, role, _with_limits(record) if how == "with limits" else None)


def _with_limits(record: QuotaRecord) -> QuotaRecord:
    """The record of a guarantee, with limits; of a name that is there twice, the last amount is the limit."""
    entries = record.get("entries")
    last = {str(entry["name"]): float(entry["scalar"]["value"]) for entry in entries or ()}
    return {"guarantees": record["guarantees"], "limits": {**record["guarantees"], **last}}


def add_agents(master: Master, total: Resources, count: int, attributes: Mapping[str, str]) -> None:
    """Register agents with the capabilities of this version, under new host names."""
    taken = {agent.hostname for agent in master.state.agents.values()}
    names = (name for number in itertools.count(1) if (name := f"new-agent-{number}") not in taken)
    first = 1 + max((agent.number for agent in master.state.agents.values()), default=0)
    with master.transaction():
        for number in range(first, first + count):
            hostname = next(names)
            agent_id, registered_time = master.agent_registry.identity(hostname)
            master.agent_registry.enlist(
                KnownAgent(
                    id=agent_id,
                    hostname=hostname,
                    number=number,
                    port=master.state.port,
                    ip=master.state.ip,
                    configured=total,
                    total=total,
                    applied=total,
                    capabilities=master.state.profile.agent_capabilities,
                    version=master.state.profile.version,
                    registered_time=registered_time,
                    attributes=attributes,
                )
            )
