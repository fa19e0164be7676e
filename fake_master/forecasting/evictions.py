"""Who would have to go: tasks that are evicted while a rehearsal is played, and those that would be.

Frameworks that hold their offers launch nothing, and so drive nobody out.  Therefore it is also worked out who
would have to go if what is offered were used: of each agent all that is offered and not to be taken back.
"""

from collections.abc import Iterable, Iterator

from fake_master.forecasting.agent_names import AgentNames
from fake_master.master.frameworks import Framework
from fake_master.master.master import Master
from fake_master.master.revoking import Revoked
from fake_master.master.tasks import Task
from mesosctl.core.forecast import Evicted
from mesosctl.core.resources import Resources

_Name = tuple[str, str]


class Evictions:
    """Of one master: what it does to tasks from `begin` on, and what it might have to do."""

    def __init__(self, master: Master, names: AgentNames) -> None:
        self._master = master
        self._names = names
        self._present = {(framework.id, task.id) for framework, task in self._tasks()} if self.are_possible else set()
        self._before: set[_Name] = set()
        self._happened: dict[_Name, Evicted] = {}

    @property
    def are_possible(self) -> bool:
        """Whether this master ever ends a task for another."""
        return self._master.tenancy is not None or self._master.flags.revocation_grace_seconds is not None

    @property
    def longest_grace(self) -> float:
        """Seconds that an eviction takes at most."""
        return self._grace() if self.are_possible else 0.0

    def begin(self) -> None:
        """What happens from now on is the change's doing; who might have to go before it is not."""
        self._before = {(framework.id, task.id) for framework, task in at_risk(self._master)}
        if self._master.tenancy is not None:
            self._master.tenancy.on_eviction = self._evicted
        self._master.revoking.on_revoked = self._revoked

    def found(self) -> tuple[Evicted, ...]:
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

    def _value(self, framework: Framework, task: Task, *, happens: bool) -> Evicted:
        name = (framework.id, task.id)
        return Evicted(
            task_id=task.id,
            framework_id=framework.id,
            framework=framework.name,
            role=task.role,
            hostname=self._master.agents[task.agent_id].hostname,
            resources=task.resources.allocated_to(None),
            agent_id=task.agent_id,
            agent=self._names.of(task.agent_id),
            grace_seconds=0.0 if task.is_staging else self._grace(),
            happens=happens,
            caused=happens or name not in self._before,
            runs_now=name in self._present,
        )

    def _grace(self) -> float:
        revocation = self._master.flags.revocation_grace_seconds
        return self._master.task_fate.stop_seconds if revocation is None else revocation

    def _tasks(self) -> Iterator[tuple[Framework, Task]]:
        for framework in self._master.frameworks.values():
            for task in framework.tasks.values():
                if not task.is_terminal:
                    yield framework, task


def at_risk(master: Master) -> Iterator[tuple[Framework, Task]]:
    """Who would have to go, agent by agent, if all that is offered and not to be taken back were used."""
    if master.tenancy is None:
        return
    for agent in master.agents.values():
        offered = _sum(offer.resources for offer in master.offers.on_agent(agent.id) if offer.kind == "regular")
        yield from master.tenancy.would_go(agent, offered)


def _sum(parts: Iterable[Resources]) -> Resources:
    whole = Resources()
    for part in parts:
        whole += part
    return whole
