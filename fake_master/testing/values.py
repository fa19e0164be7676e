"""The plain values that a `FakeMaster` takes and shows, without a connection to the master.

Amounts are numbers by resource name, in Mesos's units: cpus as a decimal number, mem and disk in MiB.  Ranges and
sets, such as ports, are counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.roles import RoleView, views
from fake_master.state.tasks import KnownTask
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, to_double
from mesosctl.mesos.amounts.resources import Resources

Amounts = Mapping[str, float]


class AgentConfig(TypedDict, total=False):
    """One or several agents; the keys are those of `[[agents]]` in a cluster file."""

    resources: str
    hostname: str
    attributes: Mapping[str, str | float]
    principal: str
    region: str
    zone: str
    count: int
    active: bool
    loses: int
    delay: float
    launch_delay: float
    leaves_after: float
    returns_after: float
    oversubscribed: str


_TasksOfFile = TypedDict("_TasksOfFile", {"from": str}, total=False)  # the name is a keyword


class FrameworkConfig(_TasksOfFile, total=False):
    """One or several simulated frameworks; the keys mean the same as those of `[[frameworks]]` in a cluster file."""

    name: str
    role: str
    roles: Sequence[str]
    principal: str
    task: str
    tasks: int
    per_offer: int
    answer: Literal["accept", "decline", "hold"]
    refuse_seconds: float
    capabilities: Sequence[str]
    after: float
    every: str
    lasts: str
    count: int


class TaskConfig(TypedDict, total=False):
    """How launched tasks end; the keys are those of `[tasks]` in a cluster file."""

    outcome: Literal["finished", "failed", "killed", "lost"]
    seconds: float
    stop_seconds: float


class QuotaConfig(TypedDict, total=False):
    """A guarantee and a limit as resource text, with the keys of a cluster file; without a limit, there is none.

    `guarantees` and `limits` are other names for them.
    """

    guarantee: str
    limit: str
    guarantees: str
    limits: str


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered agent, not one that is lost or shut down."""

    id: str
    hostname: str
    resources: Amounts
    used: Amounts
    offered: Amounts
    reserved: Mapping[str, Amounts]
    """Reserved amounts by role, dynamic and static reservations together."""
    attributes: Mapping[str, str | float]
    active: bool
    """Whether the master offers its resources: connected, and not deactivated."""


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework that has not been torn down."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None
    connected: bool
    active: bool
    suppressed: tuple[str, ...]
    """Roles in which it wants no offers."""
    used: Amounts
    offered: Amounts


@dataclass(frozen=True, slots=True)
class Role:
    """A role that anything in the cluster names; every amount includes the roles below it."""

    name: str
    weight: float
    guarantees: Amounts
    limits: Amounts
    """A resource without an entry is not limited."""
    allocated: Amounts
    offered: Amounts
    reserved: Amounts
    frameworks: tuple[str, ...]
    """Names of the frameworks that are subscribed with it, or hold something in it."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An outstanding offer."""

    id: str
    role: str
    framework: str
    """The framework's name."""
    framework_id: str
    agent: str
    """The agent's host name."""
    agent_id: str
    resources: Amounts


@dataclass(frozen=True, slots=True)
class Task:
    """A task, running or ended."""

    id: str
    name: str
    state: str
    """As Mesos names it: TASK_RUNNING, TASK_LOST and so on."""
    role: str
    framework: str
    """The framework's name."""
    framework_id: str
    agent: str
    """The agent's host name; its id if the agent is gone for good."""
    agent_id: str
    resources: Amounts


def agents_of(state: MasterState) -> tuple[Agent, ...]:
    """Return the registered agents, in the order in which they registered."""
    return tuple(_agent(state, agent) for agent in state.agents.values())


def frameworks_of(state: MasterState) -> tuple[Framework, ...]:
    """Return the frameworks, in the order in which they subscribed."""
    return tuple(_framework(framework) for framework in state.frameworks.values())


def roles_of(state: MasterState) -> dict[str, Role]:
    """Return the roles by name."""
    quotas = state.quota_meanings()
    names = {framework.id: framework.name for framework in state.frameworks.values()}
    return {view.name: _role(view, quotas.get(view.name, Quota()), names) for view in views(state)}


def offers_of(state: MasterState) -> tuple[Offer, ...]:
    """Return the outstanding offers, oldest first."""
    return tuple(_offer(state, offer) for offer in state.offers)


def tasks_of(state: MasterState) -> tuple[Task, ...]:
    """Return the tasks of every framework: those on agents, those out of reach, and those that have ended."""
    hostnames = {agent.id: hostname for hostname, agent in state.known_agents.hosts.items()}
    frameworks = (*state.frameworks.values(), *state.completed_frameworks.values())
    return tuple(_task(hostnames, framework, task) for framework in frameworks for task in _tasks(framework))


def _agent(state: MasterState, agent: KnownAgent) -> Agent:
    owned = agent.total.by_owner().items()
    return Agent(
        id=agent.id,
        hostname=agent.hostname,
        resources=_amounts(agent.total),
        used=_amounts(agent.used),
        offered=_amounts(state.offered_on(agent.id)),
        reserved={role: _amounts(part) for role, part in owned if len(part.reserved())},
        attributes=dict(agent.attributes),
        active=agent.active,
    )


def _framework(framework: KnownFramework) -> Framework:
    return Framework(
        id=framework.id,
        name=framework.name,
        roles=tuple(sorted(framework.roles)),
        principal=framework.principal,
        connected=framework.connected,
        active=framework.active,
        suppressed=tuple(sorted(framework.suppressed)),
        used=_amounts(framework.used()),
        offered=_amounts(framework.offered()),
    )


def _role(view: RoleView, quota: Quota, names: Mapping[str, str]) -> Role:
    return Role(
        name=view.name,
        weight=view.weight,
        guarantees=_numbers(quota.guarantees),
        limits=_numbers(quota.limits),
        allocated=_numbers(view.allocated),
        offered=_numbers(view.offered),
        reserved=_numbers(view.reserved),
        frameworks=tuple(names[framework_id] for framework_id in view.frameworks),
    )


def _offer(state: MasterState, offer: OutstandingOffer) -> Offer:
    return Offer(
        id=offer.id,
        role=offer.role,
        framework=state.frameworks[offer.framework_id].name,
        framework_id=offer.framework_id,
        agent=state.agents[offer.agent_id].hostname,
        agent_id=offer.agent_id,
        resources=_amounts(offer.resources),
    )


def _tasks(framework: KnownFramework) -> Iterable[KnownTask]:
    return (*framework.all_tasks().values(), *framework.unreachable_tasks.values(), *framework.completed_tasks)


def _task(hostnames: Mapping[str, str], framework: KnownFramework, task: KnownTask) -> Task:
    return Task(
        id=task.id,
        name=task.name,
        state=task.state,
        role=task.role,
        framework=framework.name,
        framework_id=framework.id,
        agent=hostnames.get(task.agent_id, task.agent_id),
        agent_id=task.agent_id,
        resources=_amounts(task.resources),
    )


def _amounts(resources: Resources) -> Amounts:
    return _numbers(resources.quantities())


def _numbers(quantities: Quantities | Limits) -> Amounts:
    return {name: to_double(milli) for name, milli in quantities.items()}


def summary(frameworks: Iterable[Framework], tasks: Iterable[Task]) -> str:
    """Return one line with the frameworks, whether they are connected, and the number of tasks in each state."""
    there = [f"{framework.name} ({'connected' if framework.connected else 'disconnected'})" for framework in frameworks]
    states = [f"{count} {state}" for state, count in sorted(Counter(task.state for task in tasks).items())]
    return f"frameworks: {', '.join(there) or 'none'}; tasks: {', '.join(states) or 'none'}"
