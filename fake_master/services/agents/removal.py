"""Agents that leave: shut down, marked gone, or lost; and the effects on what frameworks had there.

| how | tasks end as | then |
| --- | --- | --- |
| disconnected | TASK_LOST, unless their framework checkpoints | the agent is out of service |
| unreachable after that | TASK_UNREACHABLE, or TASK_LOST if not PARTITION_AWARE | FAILURE |
| marked gone | TASK_GONE_BY_OPERATOR, or TASK_LOST if not PARTITION_AWARE | FAILURE |
| machine down | TASK_LOST | FAILURE, and AGENT_REMOVED to operators |

As a Mesos 1.11.0 master does it; operators hear AGENT_REMOVED in the last case alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fake_master.allocator.interface import Allocator
from fake_master.services.agents.checkpointed_tasks import TaskStore
from fake_master.services.agents.registry_records import AgentRecords
from fake_master.services.events import EventPublisher
from fake_master.services.offers import Offers
from fake_master.services.task_runner import TaskRunner
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import NANOSECONDS
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import KnownTask, TaskEnd
from mesosctl.mesos.amounts.notation import parse_duration
from mesosctl.mesos.amounts.resources import Resources

_REMOVED_AS_UNREACHABLE = (
    "slave_removals",
    "slave_removals/reason_unhealthy",
    "slave_unreachable_scheduled",
    "slave_unreachable_completed",
)


class AgentRemoval:
    """Takes agents out of the master."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        events: EventPublisher,
        store: TaskStore,
        offers: Offers,
        records: AgentRecords,
        task_runner: TaskRunner,
    ) -> None:
        self._state = state
        self._allocator = allocator
        self._events = events
        self._store = store
        self._offers = offers
        self._records = records
        self._task_runner = task_runner
        self.on_operations_lost: Callable[[str, str | None, str], None] = lambda _agent_id, _state, _message: None
        """Called with the id of a removed agent, the state in which its operations end, if any, and a message."""

    # --- How an agent leaves --------------------------------------------------------------------------

    def disconnect(self, agent: KnownAgent) -> None:
        """The agent answers no more; after some pings it counts as unreachable."""
        if self._state.agents.get(agent.id) is not agent or not agent.connected:
            return
        agent.connected = False
        self._records.take_out_of_service(agent)
        for framework in self._state.frameworks.values():
            if framework.info.get("checkpoint"):
                continue
            for task in framework.tasks_on({agent.id}):
                end: TaskEnd = "TASK_LOST", "REASON_AGENT_DISCONNECTED"
                self._lose(framework, task, end, f"Agent {agent.hostname} disconnected", agent_remains=True)
        shown = self._state.flags.shown
        timeout = parse_duration(shown["agent_ping_timeout"]) * int(shown["max_agent_ping_timeouts"])
        agent_id = agent.id
        self._state.timers.at(self._state.now + timeout, lambda: self.give_up_waiting(agent_id))

    def take_out_of_service(self, agent: KnownAgent) -> None:
        """Stop offering an agent that stays registered, until the allocator activates it."""
        self._records.take_out_of_service(agent)

    def give_up_waiting(self, agent_id: str) -> None:
        """A disconnected agent counts as unreachable; nothing happens to any other one."""
        with self._records.transaction():
            agent = self._state.agents.get(agent_id)
            if agent is None or agent.connected:
                return
            self._records.note(agent.hostname, unreachable_time=self._state.now)
            self._state.counts.update(_REMOVED_AS_UNREACHABLE)
            self._remove(
                [agent],
                lambda framework: (
                    "TASK_UNREACHABLE" if framework.is_partition_aware else "TASK_LOST", "REASON_AGENT_REMOVED"
                ),
                "The agent does not answer pings",
                may_return=lambda _framework: True,
                operations_end="OPERATION_UNREACHABLE",
                unreachable_time={"nanoseconds": int(self._state.now * NANOSECONDS)},
            )  # fmt: skip

    def never_came_back(self, hostname: str, agent_id: str) -> None:
        """A former leader knew the agent, and it did not register again in time.  Inside a transaction."""
        if self._state.known_agents.hostname_of(agent_id) != hostname:  # an operator has given it up
            return
        self._records.note(hostname, unreachable_time=self._state.now)
        self._state.counts.update((*_REMOVED_AS_UNREACHABLE, "recovery_slave_removals"))
        self._events.failure(agent_id)

    def restore_unreachable(self, agent_id: str, since: float) -> None:
        """An agent that was unreachable before this master was made, on a host that nobody knows.

        Inside a transaction.  Nothing happens to one that the registry has already.
        """
        if all(record["id"] != agent_id for record in self._state.known_agents.records.values()):
            self._records.write(agent_id, {"id": agent_id, "registered_time": since, "unreachable_time": since})

    def mark_gone(self, agent_id: str) -> bool:
        """An operator gives the agent up for good; False for one that is not known.  Inside a transaction."""
        if self._state.known_agents.is_gone(agent_id):
            return True
        hostname = self._state.known_agents.hostname_of(agent_id)
        if hostname is None:
            return False
        agent = self._state.agents.get(agent_id)
        if agent is not None:
            self.give_up([agent])
            return True
        self._records.note(hostname, gone=True, gone_time=self._state.now)
        for framework in self._state.frameworks.values():
            for task in [task for task in framework.unreachable_tasks.values() if task.agent_id == agent_id]:
                del framework.unreachable_tasks[task.id]
                state, reason = _gone(framework)
                self._task_runner.updates.tell_state(
                    framework, task, state, reason=reason, message="Agent has been marked gone"
                )
                framework.completed_tasks.append(task)
                self._store.remember_task(framework, task)
        return True

    def give_up(self, agents: Sequence[KnownAgent]) -> None:
        """Remove registered agents that are gone for good.  Inside a transaction."""
        for agent in agents:
            if self._state.known_agents.record(agent)["id"] == agent.id:  # a snapshot may have two on one host
                self._records.note(agent.hostname, gone=True, gone_time=self._state.now)
        self._remove_gone(agents)

    def shut_down(self, agent: KnownAgent) -> None:
        """Remove an agent whose machine is down.  Inside a transaction."""
        self._records.note(agent.hostname, shut_down=True, deactivated=None, drain_info=None)
        self._remove_shut_down([agent])

    def follow(self, agent: KnownAgent, *, gone: bool) -> None:
        """Remove an agent that another process has removed; the registry has it already."""
        (self._remove_gone if gone else self._remove_shut_down)([agent])

    # --- An agent that comes back ---------------------------------------------------------------------

    def still_held_on(self, agent_id: str) -> dict[str, Resources]:
        """Return the resources that tasks hold on an agent that was unreachable, by framework id."""
        found: dict[str, Resources] = {}
        for framework in self._state.frameworks.values():
            for task in framework.unreachable_tasks.values():
                if task.agent_id == agent_id:
                    found[framework.id] = found.get(framework.id, Resources()) + task.resources
        return found

    def regain(self, agent: KnownAgent) -> None:
        """Take back the tasks of an agent that is reachable again; they ran all the time."""
        for framework in self._state.frameworks.values():
            for task in [task for task in framework.unreachable_tasks.values() if task.agent_id == agent.id]:
                del framework.unreachable_tasks[task.id]
                framework.add_task(task)
                framework.hold(agent, task.resources)
                self._task_runner.regain(framework, task)

    # --- Within ---------------------------------------------------------------------------------------

    def _remove_gone(self, agents: Sequence[KnownAgent]) -> None:
        # For frameworks that do not distinguish gone from unreachable, Mesos keeps the tasks among the unreachable
        # ones.
        self._remove(
            agents,
            _gone,
            "Agent has been marked gone",
            may_return=lambda framework: not framework.is_partition_aware,
            operations_end="OPERATION_GONE_BY_OPERATOR",
        )

    def _remove_shut_down(self, agents: Sequence[KnownAgent]) -> None:
        for agent in agents:
            self._state.counts["slave_removals"] += 1
            self._remove(
                [agent],
                lambda _framework: ("TASK_LOST", "REASON_AGENT_REMOVED"),
                f"Agent {agent.hostname} removed: its machine is down",
                may_return=lambda _framework: False,
            )
            self._events.agent_removed(agent)

    def _remove(
        self,
        agents: Sequence[KnownAgent],
        end: Callable[[KnownFramework], TaskEnd],
        message: str,
        *,
        may_return: Callable[[KnownFramework], bool],
        operations_end: str | None = None,
        **status: Any,
    ) -> None:
        gone = {agent.id: agent for agent in agents}
        # First, so that nothing that becomes free there is offered again.
        for agent_id in gone:
            self._allocator.remove_agent(agent_id)
        for framework in self._state.frameworks.values():
            if may_return(framework) and not self._events.anybody_hears(framework):
                state, reason = end(framework)
                for group in framework.pop_groups(gone.keys()):
                    told = {"message": message, "reason": reason, **status}
                    self._task_runner.updates.lose_group(framework, group, state, **told)
            for task in framework.tasks_on(gone.keys()):
                self._lose(framework, task, end(framework), message, may_return=may_return(framework), **status)
            framework.lose_agents(gone)  # what the tasks held, and all that is held without one
        for agent in agents:
            self._offers.rescind_all_on(agent.id)
            self.on_operations_lost(agent.id, operations_end, message)
            del self._state.agents[agent.id]
            self._state.track_reservations(agent.total, Resources())
            agent.answers.clear()
        self._events.failure(*gone)

    def _lose(
        self,
        framework: KnownFramework,
        task: KnownTask,
        end: TaskEnd,
        message: str,
        *,
        agent_remains: bool = False,
        may_return: bool = False,
        **status: Any,
    ) -> None:
        if task.is_terminal:  # only its acknowledgement was missing
            framework.drop_task(task)
            task.unacknowledged = ()
            framework.completed_tasks.append(task)
            self._store.remember_task(framework, task)
            return
        state, reason = end
        self._task_runner.updates.tell_state(framework, task, state, message=message, reason=reason, **status)
        self._task_runner.forget(framework, task, agent_remains=agent_remains)
        if may_return:
            framework.unreachable_tasks[task.id] = task
        else:
            framework.completed_tasks.append(task)
            self._store.remember_task(framework, task)


def _gone(framework: KnownFramework) -> TaskEnd:
    if framework.is_partition_aware:
        return "TASK_GONE_BY_OPERATOR", "REASON_AGENT_REMOVED_BY_OPERATOR"
    return "TASK_LOST", "REASON_AGENT_REMOVED"
