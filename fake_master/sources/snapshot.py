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

from fake_master.master import Master
from fake_master.registry.interface import MemoryRegistry, Registry
from fake_master.sources.initial_state import seed
from fake_master.sources.kept_cluster import KeptCluster
from fake_master.sources.snapshot_state import enter, register_agents
from fake_master.state.clock import SteadyClock
from fake_master.state.flags import MasterFlags, known_flags
from fake_master.state.master_state import Clock
from fake_master.state.shown_since import flags_at
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, evaluable
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.mesos.rules.quota.rules import check_not_nested
from mesosctl.mesos.rules.version_profile import (
    DOCUMENTS,
    Profile,
    answered_by_another,
    check_profile_named,
    unmarked,
)


@dataclass(frozen=True, slots=True)
class RestoredCluster:
    """A snapshot, and the differences of its master from the original one."""

    snapshot: ClusterSnapshot
    mesos_version: str | None = None
    """As `profile_named` takes it; None for the snapshot's own."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Flags of the master that take the place of the snapshot's."""
    fingerprint: str = ""
    """A digest of the file that it was read from, for a master that outlives this process."""

    @property
    def profile(self) -> Profile:
        """The rules of the master.  Raises BadInput."""
        if self.mesos_version is None:
            return self.snapshot.profile
        return check_profile_named(self.mesos_version, "version")

    @property
    def played_snapshot(self) -> ClusterSnapshot:
        """The snapshot, of a master with these rules."""
        if self.mesos_version is None:
            return self.snapshot
        return replace(self.snapshot, version=self.profile.version, mesos_profile=self.profile.name)

    def notes(self) -> list[str]:
        """Notes about its version."""
        if self.mesos_version is not None:
            return []
        version, name = self.snapshot.version, self.snapshot.mesos_profile
        note = unmarked(version, name) or (None if name == DOCUMENTS.name else answered_by_another(version))
        return [note] if note else []

    def start(
        self,
        registry: Registry | None = None,
        *,
        clock: Clock | None = None,
        address: tuple[str, int] = ("127.0.0.1", 5050),
        awaited: int = 0,
        kept: KeptCluster | None = None,
    ) -> Master:
        """A leading master in the state of the snapshot; its first allocation is due at once.

        `awaited` are agents of a former leader that are not in the snapshot: if any role has quota, offers wait for
        most of all. With `kept`, frameworks, tasks and offers are those that the last command left, but where
        resources are lent. Raises BadInput for an impossible cluster, RegistryFailure for the registry.
        """
        _check_quotas(self.snapshot)
        lasting = registry if registry is not None else MemoryRegistry()
        checkpoints = _checkpoints(self.snapshot)
        is_new = seed(lasting, self.snapshot.quotas, self.snapshot.weights, checkpoints, self.snapshot.taken_at)
        master = Master(
            profile=self.profile,
            flags=MasterFlags.parse(
                flags_at(self.profile.release, known_flags(self.snapshot.flags)) | dict(self.flags),
                self.profile.release,
            ),
            registry=lasting,
            clock=clock or SteadyClock(),
            address=address,
            task_outcome=TaskOutcome(stop_seconds=self.snapshot.lending.stop_seconds if self.snapshot.lending else 0.0),
        )
        if is_new and not lasting.outlives_process:
            master.checkpointed_resources.just_written(checkpoints)
        if awaited:
            master.allocator.recover(len(self.snapshot.agents) + awaited, master.state.quota_meanings())
        with master.transaction():
            register_agents(master, self.snapshot)
            if kept is None or not kept.enter(master):
                enter(master, self.snapshot)
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
    return RestoredCluster(evaluable(snapshot_api.read(file, where)), mesos_version)


def fingerprint_of(file: BufferedIOBase) -> str:
    """The digest of a snapshot file."""
    file.seek(0)
    return hashlib.file_digest(file, lambda: hashlib.blake2s(digest_size=8)).hexdigest()
