"""What sentences of a forecast call agents, those that are gone by then included."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from fake_master.extensions.revocation import Revoked
from fake_master.master import Master
from fake_master.state.agents import Agent
from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Task
from mesosctl.model import roles
from mesosctl.model.quantities import Quantities
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.roles import display_names
from mesosctl.planning.cluster_summary import ClusterSummary, HeldResources, LikeAgents
from mesosctl.planning.forecast import EvictedTask


class AgentNames:
    """The names of all agents that a master has had since this was made; worked out once, and again after `grown`."""

    def __init__(self, master: Master) -> None:
        self._master = master
        self._names: dict[str, str] = {}
        self._hostnames: dict[str, str] = {}
        self.grown()

    def grown(self) -> None:
        """Look at the agents again: some have registered."""
        self._hostnames |= {agent.id: agent.hostname for agent in self._master.state.agents.values()}
        self._names = display_names(self._hostnames)

    def of(self, agent_id: str) -> str:
        """Return what a sentence calls the agent."""
        return self._names[agent_id]


_NOTHING = Quantities()


class _Sums:
    """Scalars by whose they are."""

    def __init__(self) -> None:
        self._amounts: dict[str, dict[str, int]] = {}

    def add(self, whose: str, entries: Iterable[Resource]) -> None:
        for entry in entries:
            if isinstance(entry.value, int):
                own = self._amounts.setdefault(whose, {})
                # What may be taken back is beyond the totals; a master shows it so, too.
                name = f"{entry.name}_revocable" if entry.revocable else entry.name
                own[name] = own.get(name, 0) + entry.value

    def quantities(self) -> dict[str, Quantities]:
        return {whose: Quantities(amounts) for whose, amounts in self._amounts.items()}

    def rolled_up(self) -> dict[str, Quantities]:
        """Of roles: each counted for the roles above too."""
        found: dict[str, Quantities] = {}
        for role, held in self.quantities().items():
            for name in (role, *roles.ancestors(role)):
                found[name] = found.get(name, _NOTHING) + held
        return found


def look(master: Master) -> ClusterSummary:
    """The sums of this moment."""
    used, offered, used_by, offered_to, counted = (_Sums() for _ in range(5))
    for framework in master.state.frameworks.values():
        for entry in framework.used():
            role = entry.allocation_role or roles.DEFAULT_ROLE
            used.add(role, [entry])
            used_by.add(framework.id, [entry])
            counted.add(role, _plain([entry]))
    for offer in master.state.offers:
        offered.add(offer.role, offer.resources)
        offered_to.add(offer.framework_id, offer.resources)
        counted.add(offer.role, _plain(offer.resources))
    if master.state.profile.reservations_consume_quota:
        for agent in master.state.agents.values():
            for owner, owned in agent.total.by_owner().items():
                counted.add(owner, owned)
    quotas = {role: quota for role, quota in master.state.quota_meanings().items() if not quota.is_default}
    in_service = [agent for agent in master.state.agents.values() if agent.active]
    rolled_up = counted.rolled_up()
    return ClusterSummary(
        totals=Quantities.total(agent.total.scalar_quantities() for agent in in_service),
        capacity=master.state.capacity(),
        free=Quantities.total(_free(master, agent) for agent in in_service),
        roles=_held(used.rolled_up(), offered.rolled_up()),
        frameworks={one: HeldResources() for one in master.state.frameworks}
        | _held(used_by.quantities(), offered_to.quantities()),
        names={framework.id: framework.name for framework in master.state.frameworks.values()},
        quotas=quotas,
        counted={role: rolled_up.get(role, _NOTHING) for role in quotas},
        asking=_asking(master),
        like_agents=Counter(map(_room, in_service)),
    )


def _held(used: Mapping[str, Quantities], offered: Mapping[str, Quantities]) -> dict[str, HeldResources]:
    whose = sorted(used.keys() | offered.keys())
    return {one: HeldResources(used.get(one, _NOTHING), offered.get(one, _NOTHING)) for one in whose}


def _asking(master: Master) -> frozenset[str]:
    asked = {
        role
        for framework in master.state.frameworks.values()
        if framework.active
        for role in framework.roles - framework.suppressed
    }
    return frozenset(asked.union(*map(roles.ancestors, asked)))


def _free(master: Master, agent: Agent) -> Quantities:
    free = _quantities(agent.total) - _quantities(agent.used)
    for offer in master.state.offers.on_agent(agent.id):
        free -= _quantities(offer.resources)
    return free


def _room(agent: Agent) -> LikeAgents:
    unreserved = _quantities(agent.total)
    reserved = agent.total.by_owner()
    return LikeAgents(
        unreserved=unreserved,
        idle=unreserved - _quantities(agent.used),
        reserved=tuple((owner, owned.scalar_quantities()) for owner, owned in sorted(reserved.items())),
    )


def _quantities(entries: Iterable[Resource]) -> Quantities:
    """Return the amounts of `_plain` entries; of every agent, so without a list in between."""
    amounts: dict[str, int] = {}
    for entry in entries:
        value = entry.value
        if isinstance(value, int) and not entry.reservations and not entry.revocable:
            amounts[entry.name] = amounts.get(entry.name, 0) + value
    return Quantities(amounts)


def _plain(entries: Iterable[Resource]) -> list[Resource]:
    """What nobody owns and nobody may take back: the part that serves guarantees (spec/allocator.md §2)."""
    return [entry for entry in entries if not entry.reservations and not entry.revocable]


_Name = tuple[str, str]


class Evictions:
    """Of one master: what it does to tasks from `begin` on, and what it might have to do."""

    def __init__(self, master: Master, names: AgentNames) -> None:
        self._master = master
        self._names = names
        self._present = {(framework.id, task.id) for framework, task in self._tasks()} if self.are_possible else set()
        self._before: set[_Name] = set()
        self._happened: dict[_Name, EvictedTask] = {}

    @property
    def are_possible(self) -> bool:
        """Whether this master ever ends a task for another."""
        return self._master.runtime.evicts or self._master.state.flags.revocation_grace_seconds is not None

    @property
    def longest_grace(self) -> float:
        """Seconds that an eviction takes at most."""
        return self._grace() if self.are_possible else 0.0

    def begin(self) -> None:
        """What happens from now on is the change's doing; who might have to go before it is not."""
        self._before = {(framework.id, task.id) for framework, task in at_risk(self._master)}
        self._master.runtime.on_eviction = self._evicted
        self._master.revoking.on_revoked = self._revoked

    def found(self) -> tuple[EvictedTask, ...]:
        """Those who went, in the order of events; then those who might have to."""
        might = [
            self._value(framework, task, happens=False)
            for framework, task in at_risk(self._master)
            if (framework.id, task.id) not in self._happened
        ]
        return (*self._happened.values(), *might)

    def _evicted(self, framework: Framework, task: Task) -> None:
        self._note(framework, task)

    def _revoked(self, what: Revoked) -> None:
        task = what.framework.tasks.get(what.id)
        if what.deed != "rescinded" and task is not None:
            self._note(what.framework, task)

    def _note(self, framework: Framework, task: Task) -> None:
        self._happened.setdefault((framework.id, task.id), self._value(framework, task, happens=True))

    def _value(self, framework: Framework, task: Task, *, happens: bool) -> EvictedTask:
        name = (framework.id, task.id)
        return EvictedTask(
            task_id=task.id,
            framework_id=framework.id,
            framework=framework.name,
            role=task.role,
            hostname=self._master.state.agents[task.agent_id].hostname,
            resources=task.resources.allocated_to(None),
            agent_id=task.agent_id,
            agent=self._names.of(task.agent_id),
            grace_seconds=0.0 if task.is_staging else self._grace(),
            happens=happens,
            caused=happens or name not in self._before,
            runs_now=name in self._present,
        )

    def _grace(self) -> float:
        revocation = self._master.state.flags.revocation_grace_seconds
        return self._master.state.task_outcome.stop_seconds if revocation is None else revocation

    def _tasks(self) -> Iterator[tuple[Framework, Task]]:
        for framework in self._master.state.frameworks.values():
            for task in framework.tasks.values():
                if not task.is_terminal:
                    yield framework, task


def at_risk(master: Master) -> Iterator[tuple[Framework, Task]]:
    """Who would have to go, agent by agent, if all that is offered and not to be taken back were used."""
    for agent in master.state.agents.values():
        offered = _sum(offer.resources for offer in master.state.offers.on_agent(agent.id) if offer.kind == "regular")
        yield from master.runtime.would_go(agent, offered)


def _sum(parts: Iterable[Resources]) -> Resources:
    whole = Resources()
    for part in parts:
        whole += part
    return whole
