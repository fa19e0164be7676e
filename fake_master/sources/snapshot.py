"""A master that starts from a snapshot of a cluster: the same agents, frameworks, tasks, offers, quotas and weights.

    master = RestoredCluster(snapshot).start(registry)

Facts that the snapshot lacks are assumed, and its `unknown` names them: there are no filters, no role is suppressed.
The resources of a framework are held by as many tasks as the snapshot counts, of equal size and without their names;
of a master that lends, each task is there as itself.  The frameworks are silent: they keep what they hold and are
offered, launch nothing, and refuse nothing more than the snapshot says.

Quotas, weights and dynamic reservations are the registry's: the snapshot's the first time, and as they were changed
afterwards.  Frameworks and offers are the snapshot's every time; an offer of resources that are gone is gone too.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BufferedIOBase
from typing import Any

from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.services.reservations import DoesNotFit, configured_form
from fake_master.sources.initial_tasks import SnapshotTasks
from fake_master.sources.lasting_state import seed
from fake_master.state.agents import Agent, Domain
from fake_master.state.clock import SteadyClock
from fake_master.state.flags import MasterFlags, known_flags
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import Clock
from fake_master.state.offers import Offer
from fake_master.state.streams import EventStream
from fake_master.state.tasks import TaskOutcome
from mesosctl.api.snapshots import snapshot as snapshot_api
from mesosctl.model.errors import BadInput, RuleViolation
from mesosctl.model.quota.rules import check_not_nested
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import PROFILES, Profile, profile_of
from mesosctl.planning.snapshot import ClusterSnapshot, Lending, SnapshotAgent, SnapshotFramework, Usage


class _SilentStream(EventStream):
    """The stream of a framework that listens and does nothing."""

    is_read = False

    def send(self, event: Mapping[str, Any]) -> None:
        """Keep nothing, because nothing reads it."""


@dataclass(frozen=True, slots=True)
class RestoredCluster:
    """A snapshot, and the differences of its master from the original one."""

    snapshot: ClusterSnapshot
    mesos_version: str | None = None
    """"1.4" or "1.11"; None for the one that is closest to the snapshot's version."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Flags of the master that take the place of the snapshot's."""
    fingerprint: str = ""
    """A digest of the file that it was read from."""

    @property
    def profile(self) -> Profile:
        """The rules of the master.  Raises BadInput."""
        if self.mesos_version is None:
            return profile_of(self.snapshot.version)
        if self.mesos_version not in PROFILES:
            raise BadInput(
                f"the fake master imitates Mesos {' or '.join(PROFILES)}, not '{self.mesos_version}'", field="version"
            )
        return PROFILES[self.mesos_version]

    def start(
        self,
        registry: Registry | None = None,
        *,
        clock: Clock | None = None,
        address: tuple[str, int] = ("127.0.0.1", 5050),
        awaited: int = 0,
    ) -> Master:
        """A leading master in the state of the snapshot; its first allocation is due at once.

        `awaited` are agents of a former leader that are not in the snapshot: if any role has quota, offers wait for
        most of all. Raises BadInput for an impossible cluster, RegistryFailure for the registry.
        """
        _check_quotas(self.snapshot)
        kept = registry if registry is not None else MemoryRegistry()
        seed(kept, self.snapshot.quotas, self.snapshot.weights, _checkpoints(self.snapshot), self.snapshot.taken_at)
        master = Master(
            profile=self.profile,
            flags=MasterFlags.parse(known_flags(self.snapshot.flags) | dict(self.flags)),
            registry=kept,
            clock=clock or SteadyClock(),
            address=address,
            task_outcome=TaskOutcome(stop_seconds=self.snapshot.lending.stop_seconds if self.snapshot.lending else 0.0),
        )
        if awaited:
            master.allocator.recover(len(self.snapshot.agents) + awaited, master.state.quota_meanings())
        with master.transaction():
            _populate(master, self.snapshot)
        return master


def _checkpoints(snapshot: ClusterSnapshot) -> dict[str, list[Resource]]:
    """Return the resources that the agents would have checkpointed, by id."""
    kept = {
        agent.id: [entry for entry in agent.total if entry.is_dynamically_reserved or entry.is_persistent_volume]
        for agent in snapshot.agents
    }
    return {agent_id: entries for agent_id, entries in kept.items() if entries}


def _check_quotas(snapshot: ClusterSnapshot) -> None:
    """Raises BadInput for quota if no master of these versions has any; an experimental one may show it."""
    for role in snapshot.quotas:
        try:
            check_not_nested(role)
        except RuleViolation as error:
            raise BadInput(
                f"the snapshot shows quota on the nested role '{role}', which a fake master cannot have",
                field=f"quotas.{role}",
                hint="write a snapshot, remove that quota from it, and use whatif --from FILE",
            ) from error


def read_snapshot(file: BufferedIOBase, where: str, mesos_version: str | None = None) -> RestoredCluster:
    """A snapshot file that can be read twice, open at its beginning.  Raises BadInput, and OSError."""
    fingerprint = hashlib.file_digest(file, lambda: hashlib.blake2s(digest_size=8)).hexdigest()
    file.seek(0)
    return RestoredCluster(snapshot_api.read(file, where), mesos_version, fingerprint=fingerprint)


# --- What is there ----------------------------------------------------------------------------------


def _populate(master: Master, snapshot: ClusterSnapshot) -> None:
    shapes: dict[int, tuple[Resources, Resources]] = {}
    for index, agent in enumerate(snapshot.agents):
        # Agents with equal resources share one object in a snapshot, and so they do here.
        shape = shapes.get(id(agent.total))
        if shape is None:
            shape = shapes[id(agent.total)] = _configured_and_slack(agent.total, master)
        _register(master, agent, index + 1, snapshot.taken_at, *shape)
    usages: dict[str, list[Usage]] = {}
    for usage in snapshot.usages:
        usages.setdefault(usage.framework_id, []).append(usage)
    allocated = _Allocated()
    tasks = SnapshotTasks(master, snapshot.lending or Lending(), snapshot.taken_at)
    for restored in snapshot.frameworks:
        _join(master, restored, usages.get(restored.id, []), snapshot.taken_at, tasks, allocated)
    _offer_again(master, snapshot, allocated)
    if snapshot.lending is not None:
        master.runtime.restore_lending(snapshot.lending)
    tasks.settle()


def _configured_and_slack(total: Resources, master: Master) -> tuple[Resources, Resources]:
    """Return an agent's configured resources, and its usage slack, from its total."""
    throttleable = master.state.revocability.throttles
    return (
        Resources(configured_form(entry) for entry in total.non_revocable()),
        Resources(replace(entry, throttleable=throttleable) for entry in total.revocable()),
    )


def _register(
    master: Master, restored: SnapshotAgent, number: int, since: float, configured: Resources, slack: Resources
) -> None:
    agent = Agent(
        id=restored.id,
        hostname=restored.hostname,
        number=number,
        port=master.state.port,
        ip=master.state.hostname,
        configured=configured,
        total=configured,
        applied=configured,
        capabilities=tuple(sorted(restored.capabilities)),
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


class _Allocated:
    """Resources with an allocation role; of equal ones, which a snapshot shares, there is one object."""

    def __init__(self) -> None:
        # The resources are kept with the result, so that their id is not reused.
        self._known: dict[tuple[int, str], tuple[Resources, Resources]] = {}

    def to(self, role: str, resources: Resources) -> Resources:
        """Return the resources, allocated to `role`."""
        key = (id(resources), role)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (resources, resources.allocated_to(role))
        return found[1]


def _join(
    master: Master,
    restored: SnapshotFramework,
    usages: list[Usage],
    since: float,
    tasks: SnapshotTasks,
    allocated: _Allocated,
) -> None:
    framework = Framework(
        id=restored.id,
        info=_info(restored),
        registered_time=since,
        suppressed=restored.suppressed or frozenset(),
        offer_constraints=restored.offer_constraints,
        active=restored.active,
        connected=restored.connected,
        stream=_SilentStream() if restored.connected else None,
    )
    used: dict[str, Resources] = {}
    for number, usage in enumerate(usages):
        held = allocated.to(usage.role, usage.resources)
        agent = master.state.agents[usage.agent_id]
        before = used.get(agent.id)
        used[agent.id] = held if before is None else before + held
        framework.hold(agent, held)
        tasks.hold(framework, usage, held, number)
    try:
        master.subscriptions.restore(framework, used)
    except RuleViolation as error:
        raise BadInput(f"framework {restored.id}: {error.message}", field="frameworks") from None


def _info(restored: SnapshotFramework) -> dict[str, Any]:
    """FrameworkInfo, as far as the snapshot has it."""
    info: dict[str, Any] = {
        "id": {"value": restored.id},
        "user": "pictured",
        "name": restored.name,
        "capabilities": [{"type": name} for name in sorted(restored.capabilities)],
    }
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


def _offer_again(master: Master, snapshot: ClusterSnapshot, allocated: _Allocated) -> None:
    """The outstanding offers, as far as their resources still exist and are free."""
    left: dict[str, Resources] = {}
    for offered in sorted(snapshot.offers, key=lambda offer: _age(offer.id)):
        agent, framework = master.state.agents[offered.agent_id], master.state.frameworks[offered.framework_id]
        if not (agent.active and framework.active):
            continue
        free = left.setdefault(agent.id, agent.whole - agent.used.allocated_to(None))
        kind = master.state.revocability.kind_of(offered.resources)
        # Loans are not part of an agent's total; the allocator takes back what is not idle.
        is_lent = kind == "non-throttleable"
        if kind is not None and (is_lent or free.contains(offered.resources)):
            if not is_lent:
                left[agent.id] = free - offered.resources
            resources = allocated.to(offered.role, offered.resources)
            master.offers.restore(Offer(offered.id, framework.id, agent.id, offered.role, resources, kind))
