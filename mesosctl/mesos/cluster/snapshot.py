"""A snapshot of a cluster, and of the lending of idle reservations if the master lends.

Every task by its name, since it may be evicted; who owes what; and what frameworks refuse, since an owner's
refusal is what lets a reservation lie idle.  Resources are without allocation roles.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import immutable
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.unreachable import UnreachableAgent
from mesosctl.mesos.rules.offers.constraints import INSTALL, can_match, has_patterns, without_patterns
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from mesosctl.mesos.rules.version_profile import Profile, profile_stored

TaskPhase = Literal["running", "waiting", "ending", "arriving"]
"""Started; accepted by its agent, which has no room yet; being killed; launched, and not yet known to its agent."""
TASK_PHASES: tuple[TaskPhase, ...] = ("running", "waiting", "ending", "arriving")


@dataclass(frozen=True, slots=True)
class SnapshotTask:
    """One task that has not ended.  What it holds is part of its framework's usage, too."""

    id: str
    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    executor_id: str | None = None
    """None for a command."""
    executor_resources: Resources = field(default_factory=Resources)
    """Of its executor; of several tasks in one executor the first has them."""
    phase: TaskPhase = "running"


@dataclass(frozen=True, slots=True)
class Debt:
    """Resources of an agent that a framework still holds though they are no longer lent."""

    framework_id: str
    agent_id: str
    role: str
    resources: Resources


@dataclass(frozen=True, slots=True)
class Refusal:
    """Resources that a framework declined, and the seconds left of its filter."""

    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    seconds: float


@dataclass(frozen=True, slots=True)
class Lending:
    """All of it."""

    tasks: tuple[SnapshotTask, ...] = ()
    """Of one agent in the order in which they started; those that wait in the order in which they came."""
    debts: tuple[Debt, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    stop_seconds: float = 0.0
    """Seconds that a task takes to end after it is killed."""


@dataclass(frozen=True, slots=True)
class SnapshotFramework:
    """One framework."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None = None
    capabilities: frozenset[str] = frozenset()
    active: bool = True
    connected: bool = True
    suppressed: frozenset[str] | None = None
    """Roles in which it wants no offers; None if the master does not show them."""
    offer_constraints: Mapping[str, object] = field(default_factory=dict)
    offer_filters: Mapping[str, object] = field(default_factory=dict)
    """By role: the smallest offers it wants, as FrameworkInfo writes them."""
    failover_timeout: float = 0.0
    """Seconds for which a master waits for it, while it is disconnected, before it is removed with its tasks."""
    ended: float | None = None
    """When it was removed, in seconds since the epoch; None of one that is registered, or if that is unknown."""

    @property
    def status(self) -> Literal["active", "inactive", "disconnected"]:
        """Its status in a list."""
        if self.active:
            return "active"
        return "inactive" if self.connected else "disconnected"


@immutable
class FrameworkUsage:
    """The resources of one agent that tasks and executors of one framework use for one of its roles."""

    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    """Without allocation roles."""
    tasks: int = 0
    """How many tasks hold it."""


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """One cluster, as its leading master shows it."""

    version: str
    """Of the master: "1.11.0"."""
    taken_at: float
    """Seconds since the epoch."""
    agents: tuple[ClusterAgent, ...] = ()
    frameworks: tuple[SnapshotFramework, ...] = ()
    usages: tuple[FrameworkUsage, ...] = ()
    offers: tuple[OutstandingOffer, ...] = ()
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    """Those that are configured; every other role has 1."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """The master's flags that decide about allocation, as /flags writes them."""
    lending: Lending | None = None
    """None if nothing is lent."""
    completed: tuple[SnapshotFramework, ...] = ()
    """Frameworks that were removed, as far as the master keeps them."""
    unreachable: tuple[UnreachableAgent, ...] = ()
    """Agents that may register again."""
    unreachable_tasks: tuple[SnapshotTask, ...] = ()
    """The tasks on them, which are in no usage."""
    unknown: tuple[str, ...] = ()
    """The facts that the master did not show, or that this principal may not see, each with the assumption for it."""
    mesos_profile: str | None = None
    """The name of its master's profile; None if the snapshot was written before there were any."""

    @property
    def profile(self) -> Profile:
        """The rules of its master."""
        return profile_stored(self.mesos_profile, self.version)


def evaluable(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """The snapshot as far as it can be evaluated here: without RE2, constraints about text are regarded as holding."""
    if can_match() or not any(has_patterns(framework.offer_constraints) for framework in snapshot.frameworks):
        return snapshot
    frameworks = tuple(
        replace(framework, offer_constraints=without_patterns(framework.offer_constraints))
        for framework in snapshot.frameworks
    )
    sentence = f"offer constraints with regular expressions: not evaluated, because RE2 is not installed; {INSTALL}"
    return replace(snapshot, frameworks=frameworks, unknown=(*snapshot.unknown, sentence))
