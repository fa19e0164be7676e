"""The agents, frameworks, tasks and offers of a snapshot, entered into a master that begins with them.

A snapshot has one object for resources that are equal on many agents, and so does the master: what follows from them is
worked out once.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import chain
from operator import is_
from typing import Any

from fake_master.master import Master
from fake_master.services.agents.checkpointed_resources import DoesNotFit, configured_form
from fake_master.sources.initial_tasks import SnapshotTasks
from fake_master.state.agents import Domain, KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import SilentStream
from fake_master.state.tasks import KnownTask, TaskStatus
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, Lending, SnapshotFramework
from mesosctl.mesos.cluster.tasks import UNREACHABLE
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.rules.maintenance import address_of


def register_agents(master: Master, snapshot: ClusterSnapshot) -> None:
    """Register the agents.  Inside a transaction.  Raises BadInput."""
    for number, agent in enumerate(snapshot.agents, 1):
        _register(master, agent, number, snapshot.taken_at, *_configured_and_slack(agent.total, master))
    for lost in snapshot.unreachable:
        master.agent_removal.restore_unreachable(lost.id, lost.since)


def enter(master: Master, snapshot: ClusterSnapshot) -> None:
    """Enter everything else that the snapshot has.  Inside a transaction.  Raises BadInput."""
    usages: dict[str, list[FrameworkUsage]] = {}
    for usage in snapshot.usages:
        usages.setdefault(usage.framework_id, []).append(usage)
    allocated = IdentityCache(_allocated).of
    tasks = SnapshotTasks(master, snapshot.lending or Lending(), snapshot.taken_at)
    used: dict[str, list[Resources]] = {}
    for restored in snapshot.frameworks:
        framework = _framework(restored, snapshot.taken_at)
        for number, usage in enumerate(usages.get(restored.id, ())):
            held = allocated(usage.role, usage.resources)
            framework.add_held(usage.agent_id, held)
            used.setdefault(usage.agent_id, []).append(held)
            tasks.hold(framework, usage, held, number)
        try:
            master.subscriptions.restore(framework)
        except RuleViolation as error:
            raise BadInput(f"framework {restored.id}: {error.message}", field="frameworks") from None
    sums = IdentityCache(_sum).of
    for agent_id, parts in used.items():
        master.state.agents[agent_id].used = sums(*parts)
    _restore_lost(master, snapshot)
    _offer_again(master, snapshot, allocated)
    if snapshot.lending is not None:
        master.runtime.restore_lending(snapshot.lending)
    tasks.settle()


def _restore_lost(master: Master, snapshot: ClusterSnapshot) -> None:
    """Enter the frameworks that have completed, and the tasks on unreachable agents."""
    for removed in snapshot.completed:
        framework = _framework(removed, snapshot.taken_at)
        framework.active = False
        framework.connected = removed.connected and not master.state.profile.removal_disconnects
        framework.stream = None
        framework.unregistered_time = removed.ended or snapshot.taken_at
        master.subscriptions.restore_completed(framework)
    since = {agent.id: agent.since for agent in snapshot.unreachable}
    for lost in snapshot.unreachable_tasks:
        framework = master.state.frameworks[lost.framework_id]
        task = KnownTask(
            id=lost.id,
            framework_id=framework.id,
            agent_id=lost.agent_id,
            info={"name": lost.id},
            resources=lost.resources.allocated_to(lost.role),
            role=lost.role,
            state=UNREACHABLE,
            statuses=(TaskStatus(UNREACHABLE, since[lost.agent_id]),),
        )
        framework.unreachable_tasks[task.id] = task
        framework.count_task(task)


def _allocated(role: str, resources: Resources) -> Resources:
    return resources.allocated_to(role)


def _sum(*parts: Resources) -> Resources:
    return Resources(chain(*parts))


def _has_room(whole: Resources, used: Resources, offered: Resources) -> bool:
    return (whole - used.allocated_to(None)).contains(offered)


def _configured_and_slack(total: Resources, master: Master) -> tuple[Resources, Resources]:
    """Return an agent's configured resources, and its usage slack, from its total."""
    configured = [configured_form(entry) for entry in total if not entry.revocable]
    if len(configured) == len(total) and all(map(is_, configured, total)):
        return total, Resources()
    throttleable = master.state.revocability.throttles
    return (
        Resources(configured),
        Resources(replace(entry, throttleable=throttleable) for entry in total.revocable()),
    )


def _register(
    master: Master, restored: ClusterAgent, number: int, since: float, configured: Resources, slack: Resources
) -> None:
    agent = KnownAgent(
        id=restored.id,
        hostname=restored.hostname,
        number=number,
        port=master.state.port,
        ip=address_of(restored.pid) or master.state.ip,
        configured=configured,
        total=configured,
        applied=configured,
        capabilities=_sorted(restored.capabilities),
        version=master.state.profile.version,
        registered_time=since,
        attributes=restored.attributes,
        deactivated=not restored.active,
        domain=Domain(restored.region, restored.zone or "") if restored.region is not None else None,
        oversubscribed=slack,
        checkpoint_key=restored.id,
    )
    try:
        master.agent_registry.adopt(agent)
    except DoesNotFit as refusal:
        raise BadInput(f"agent {restored.id}: {refusal}", field="agents") from refusal


@cache
def _sorted(names: frozenset[str]) -> tuple[str, ...]:
    """Return one tuple for all agents with the same capabilities."""
    return tuple(sorted(names))


def _framework(restored: SnapshotFramework, since: float) -> KnownFramework:
    return KnownFramework(
        id=restored.id,
        info=_info(restored),
        registered_time=since,
        suppressed=restored.suppressed or frozenset(),
        offer_constraints=restored.offer_constraints,
        active=restored.active,
        connected=restored.connected,
        stream=SilentStream() if restored.connected else None,
    )


def _info(restored: SnapshotFramework) -> dict[str, Any]:
    """FrameworkInfo, as far as the snapshot has it."""
    info: dict[str, Any] = {
        "id": {"value": restored.id},
        "user": "pictured",
        "name": restored.name,
        "capabilities": [{"type": name} for name in sorted(restored.capabilities)],
    }
    if restored.failover_timeout:
        info["failover_timeout"] = restored.failover_timeout
    if "MULTI_ROLE" in restored.capabilities:
        info["roles"] = list(restored.roles)
    elif restored.roles:
        info["role"] = restored.roles[0]
    if restored.principal is not None:
        info["principal"] = restored.principal
    if restored.offer_filters:
        info["offer_filters"] = dict(restored.offer_filters)
    return info


def _age(offer_id: str) -> tuple[int, str]:
    """Offers are numbered as they are made ("…-O12"): the order in which a master would find them."""
    number = offer_id.rpartition("-O")[2]
    return (int(number) if number.isdecimal() and number.isascii() else 0), offer_id


def _offer_again(master: Master, snapshot: ClusterSnapshot, allocated: Callable[[str, Resources], Resources]) -> None:
    """The outstanding offers, as far as their resources still exist and are free."""
    state = master.state
    has_room = IdentityCache(_has_room).of
    for offered in sorted(snapshot.offers, key=lambda offer: _age(offer.id)):
        agent, framework = state.agents[offered.agent_id], state.frameworks[offered.framework_id]
        if not (agent.active and framework.active):
            continue
        kind = state.revocability.kind_of(offered.resources)
        if kind is None:
            continue
        # Loans are not part of an agent's total; the allocator takes back what is not idle.
        if kind != "non-throttleable":
            held = agent.used
            for other in state.offers.on_agent(agent.id):
                held += other.resources if other.kind != "non-throttleable" else Resources()
            if not has_room(agent.whole, held, offered.resources):
                continue
        resources = allocated(offered.role, offered.resources)
        master.offers.restore(OutstandingOffer(offered.id, framework.id, agent.id, offered.role, resources, kind))
