"""Agents that leave: shut down, given up, lost; and what becomes of what frameworks had there.

| how | tasks end as | then |
| --- | --- | --- |
| disconnected | TASK_LOST, unless their framework checkpoints | the agent is out of service |
| unreachable after that | TASK_UNREACHABLE, or TASK_LOST if not PARTITION_AWARE | FAILURE |
| marked gone | TASK_GONE_BY_OPERATOR, or TASK_LOST if not PARTITION_AWARE | FAILURE |
| machine down | TASK_LOST | FAILURE, and AGENT_REMOVED to operators |

As a Mesos 1.11.0 master does it; operators hear AGENT_REMOVED in the last case alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fake_master.allocator.interface import Allocator
from fake_master.services.agents.records import AgentRecords
from fake_master.services.agents.store import NoAgentStore
from fake_master.services.events import EventPublisher
from fake_master.services.offers import Offers
from fake_master.services.task_runner import TaskRunner
from fake_master.state.agents import Agent
from fake_master.state.clock import NANOSECONDS
from fake_master.state.frameworks import Framework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import Task
from mesosctl.model.errors import Conflict, RuleViolation
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_duration

_REMOVED_AS_UNREACHABLE = (
    "slave_removals",
    "slave_removals/reason_unhealthy",
    "slave_unreachable_scheduled",
    "slave_unreachable_completed",
)
End = tuple[str, str]
"""A task state and the reason for it."""


class AgentRemoval:
    """Takes agents out of the master."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        events: EventPublisher,
        store: NoAgentStore,
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

    # --- How an agent leaves --------------------------------------------------------------------------

    def disconnect(self, agent: Agent) -> None:
        """Nobody answers at the agent's address; after some pings it counts as unreachable."""
        if self._state.agents.get(agent.id) is not agent or not agent.connected:
            return
        agent.connected = False
        self._records.take_out_of_service(agent)
        for framework in self._state.frameworks.values():
            if framework.info.get("checkpoint"):
                continue
            for task in _tasks_on(framework, agent):
                end = "TASK_LOST", "REASON_AGENT_DISCONNECTED"
                self._lose(framework, task, end, f"Agent {agent.hostname} disconnected")
        shown = self._state.flags.shown
        patience = parse_duration(shown["agent_ping_timeout"]) * int(shown["max_agent_ping_timeouts"])
        agent_id = agent.id
        self._state.timers.at(self._state.now + patience, lambda: self._give_up_waiting(agent_id))

    def _give_up_waiting(self, agent_id: str) -> None:
        with self._records.transaction():
            agent = self._state.agents.get(agent_id)
            if agent is None or agent.connected:
                return
            self._records.note(agent.hostname, unreachable_time=self._state.now)
            self._state.counts.update(_REMOVED_AS_UNREACHABLE)
            self._remove(
                agent,
                lambda framework: (
                    "TASK_UNREACHABLE" if framework.is_partition_aware else "TASK_LOST", "REASON_AGENT_REMOVED"
                ),
                "The agent does not answer pings",
                may_return=lambda _framework: True,
                unreachable_time={"nanoseconds": int(self._state.now * NANOSECONDS)},
            )  # fmt: skip

    def never_came_back(self, hostname: str, agent_id: str) -> None:
        """A former leader knew the agent, and it did not register again in time.  Inside a transaction."""
        if self._state.known_agents.hostname_of(agent_id) != hostname:  # an operator has given it up
            return
        self._records.note(hostname, unreachable_time=self._state.now)
        self._state.counts.update((*_REMOVED_AS_UNREACHABLE, "recovery_slave_removals"))
        self._events.failure(agent_id)

    def mark_gone(self, agent_id: str) -> bool:
        """An operator gives the agent up for good; False for one that is not known.  Inside a transaction."""
        if self._state.known_agents.is_gone(agent_id):
            return True
        hostname = self._state.known_agents.hostname_of(agent_id)
        if hostname is None:
            return False
        self._records.note(hostname, gone=True)
        agent = self._state.agents.get(agent_id)
        if agent is not None:
            self._remove_gone(agent)
            return True
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

    def shut_down(self, agent: Agent) -> None:
        """Its machine is down.  Inside a transaction."""
        self._records.note(agent.hostname, shut_down=True, deactivated=None, drain_info=None)
        self._remove_shut_down(agent)

    def follow(self, agent: Agent, *, gone: bool) -> None:
        """Another process has removed the agent; it has kept that already."""
        (self._remove_gone if gone else self._remove_shut_down)(agent)

    # --- An agent that comes back ---------------------------------------------------------------------

    def still_held_on(self, agent_id: str) -> dict[str, Resources]:
        """What tasks hold on an agent that was unreachable, by framework id."""
        found: dict[str, Resources] = {}
        for framework in self._state.frameworks.values():
            for task in framework.unreachable_tasks.values():
                if task.agent_id == agent_id:
                    found[framework.id] = found.get(framework.id, Resources()) + task.resources
        return found

    def regain(self, agent: Agent) -> None:
        """Its tasks were running all the time."""
        for framework in self._state.frameworks.values():
            for task in [task for task in framework.unreachable_tasks.values() if task.agent_id == agent.id]:
                del framework.unreachable_tasks[task.id]
                framework.tasks[task.id] = task
                framework.hold(agent, task.resources)
                self._task_runner.regain(framework, task)

    # --- Within ---------------------------------------------------------------------------------------

    def _remove_gone(self, agent: Agent) -> None:
        # Mesos keeps the tasks of those who cannot tell gone from unreachable among the unreachable ones.
        self._remove(
            agent, _gone, "Agent has been marked gone", may_return=lambda framework: not framework.is_partition_aware
        )

    def _remove_shut_down(self, agent: Agent) -> None:
        self._state.counts["slave_removals"] += 1
        self._remove(
            agent,
            lambda _framework: ("TASK_LOST", "REASON_AGENT_REMOVED"),
            f"Agent {agent.hostname} removed: its machine is down",
            may_return=lambda _framework: False,
        )
        self._events.operators("AGENT_REMOVED", {"agent_id": {"value": agent.id}})

    def _remove(
        self,
        agent: Agent,
        end: Callable[[Framework], End],
        message: str,
        *,
        may_return: Callable[[Framework], bool],
        **status: Any,
    ) -> None:
        # First, so that nothing of what becomes free there is handed out again.
        self._allocator.remove_agent(agent.id)
        for framework in self._state.frameworks.values():
            for task in _tasks_on(framework, agent):
                self._lose(framework, task, end(framework), message, may_return=may_return(framework), **status)
        self._offers.rescind_all_on(agent.id)
        del self._state.agents[agent.id]
        agent.answers.clear()
        self._events.failure(agent.id)

    def _lose(
        self, framework: Framework, task: Task, end: End, message: str, *, may_return: bool = False, **status: Any
    ) -> None:
        if task.is_terminal:  # only its acknowledgement was missing
            del framework.tasks[task.id]
            task.unacknowledged.clear()
            framework.completed_tasks.append(task)
            self._store.remember_task(framework, task)
            return
        state, reason = end
        self._task_runner.updates.tell_state(framework, task, state, message=message, reason=reason, **status)
        self._task_runner.forget(framework, task)
        if may_return:
            framework.unreachable_tasks[task.id] = task
        else:
            framework.completed_tasks.append(task)
            self._store.remember_task(framework, task)


def _tasks_on(framework: Framework, agent: Agent) -> list[Task]:
    return [task for task in framework.tasks.values() if task.agent_id == agent.id]


def _gone(framework: Framework) -> End:
    if framework.is_partition_aware:
        return "TASK_GONE_BY_OPERATOR", "REASON_AGENT_REMOVED_BY_OPERATOR"
    return "TASK_LOST", "REASON_AGENT_REMOVED"


_DRAINING, _DRAINED = "DRAINING", "DRAINED"


class Draining:
    """What operators say of single agents.  Every method that changes anything is called inside a transaction."""

    def __init__(
        self,
        state: MasterState,
        records: AgentRecords,
        removal: AgentRemoval,
        task_runner: TaskRunner,
    ) -> None:
        self._state = state
        self._records = records
        self._removal = removal
        self._task_runner = task_runner

    def drain(self, agent_id: str, max_grace_period: Mapping[str, Any] | None, *, mark_gone: bool) -> None:
        """DRAIN_AGENT; again replaces what was asked before.  Raises RuleViolation for an unknown agent."""
        hostname = self._known(agent_id)
        config: dict[str, Any] = {} if max_grace_period is None else {"max_grace_period": dict(max_grace_period)}
        info = {"state": _DRAINING, "config": {**config, "mark_gone": mark_gone}}
        self._records.note(hostname, deactivated=True, drain_info=info, drain_start=self._state.now)
        agent = self._state.agents.get(agent_id)
        if agent is not None:
            self.go_on(agent)

    def deactivate(self, agent_id: str) -> None:
        """DEACTIVATE_AGENT.  Raises RuleViolation for an unknown agent."""
        self._records.note(self._known(agent_id), deactivated=True)

    def reactivate(self, agent_id: str) -> None:
        """REACTIVATE_AGENT.  Raises RuleViolation unless the agent is deactivated, and drained if it was draining.

        Raises Conflict for an agent that is still awaited after a failover.
        """
        hostname = self._state.known_agents.hostname_of(agent_id)
        deactivated, drain_info = (False, None) if hostname is None else self._state.known_agents.service(hostname)
        if hostname is None or not deactivated:
            raise RuleViolation("Agent is not deactivated", rule="agent.deactivated")
        if drain_info is not None and drain_info["state"] == _DRAINING:
            raise RuleViolation(
                "Agent is still in the DRAINING state", rule="agent.draining", hint="wait until it is DRAINED"
            )
        if self._state.known_agents.awaits(agent_id):
            raise Conflict("Agent removed while processing the call", field="agent_id", hint="wait until it is back")
        self._records.note(hostname, deactivated=False, drain_info=None, drain_start=None)

    def go_on(self, agent: Agent) -> None:
        """Kill what runs on a draining agent that can be reached."""
        info = agent.drain_info
        if info is None or info["state"] != _DRAINING or not agent.connected:
            return
        for framework in self._state.frameworks.values():
            for task in [task for task in framework.tasks.values() if task.agent_id == agent.id]:
                self._task_runner.drain(framework, task, will_be_gone=info["config"]["mark_gone"])
        self.may_be_over(agent.id)

    def may_be_over(self, agent_id: str) -> None:
        """A task of the agent is done with; look, as soon as may be, whether it was the last."""
        agent = self._state.agents.get(agent_id)
        if agent is not None and agent.drain_info is not None and agent.drain_info["state"] == _DRAINING:
            self._state.timers.at(self._state.now, lambda: self._finish(agent_id))

    def _finish(self, agent_id: str) -> None:
        with self._records.transaction():
            agent = self._state.agents.get(agent_id)
            info = None if agent is None else agent.drain_info
            if agent is None or info is None or info["state"] != _DRAINING or not agent.connected:
                return
            if any(task.agent_id == agent_id for of in self._state.frameworks.values() for task in of.tasks.values()):
                return
            self._records.note(agent.hostname, drain_info={**info, "state": _DRAINED})
            if info["config"]["mark_gone"]:
                self._removal.mark_gone(agent_id)

    def _known(self, agent_id: str) -> str:
        hostname = self._state.known_agents.hostname_of(agent_id)
        if hostname is None:
            raise RuleViolation("Unknown agent", field="agent_id", rule="agent.known")
        return hostname
