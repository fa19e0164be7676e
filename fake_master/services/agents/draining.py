"""Agents that operators drain, deactivate or reactivate: DRAIN_AGENT, DEACTIVATE_AGENT and REACTIVATE_AGENT.

A draining agent gets no new tasks and those that run there are killed; once the last is gone it is DRAINED, or marked
gone if that was asked for.  As a Mesos 1.11.0 master does it.
"""

from collections.abc import Mapping
from typing import Any

from fake_master.services.agents.registry_records import AgentRecords
from fake_master.services.agents.removal import AgentRemoval
from fake_master.services.task_runner import TaskRunner
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import NANOSECONDS
from fake_master.state.master_state import MasterState
from mesosctl.mesos.errors import RuleViolation

_DRAINING, _DRAINED = "DRAINING", "DRAINED"


class Draining:
    """Drains, deactivates and reactivates agents.  Call a method that changes something inside a transaction."""

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

    def reactivate(self, agent_id: str) -> bool:
        """REACTIVATE_AGENT; return whether the agent is registered.

        For an agent that is awaited, unreachable or gone, the master forgets what operators said.  Raises
        RuleViolation unless the agent is deactivated, and drained if it was draining; and if a real master would end.
        """
        known = self._state.known_agents
        hostname = known.hostname_of(agent_id) or known.host_of_gone(agent_id, since=self._state.start_time)
        deactivated, drain_info = (False, None) if hostname is None else known.service(hostname)
        if hostname is None or not deactivated:
            raise RuleViolation("Agent is not deactivated", rule="agent.deactivated")
        if self._state.profile.reactivating_the_absent_ends_master and agent_id not in self._state.agents:
            raise RuleViolation("Agent is not registered: the call would end a real master", rule="agent.registered")
        if drain_info is not None and drain_info["state"] == _DRAINING:
            raise RuleViolation(
                "Agent is still in the DRAINING state", rule="agent.draining", hint="wait until it is DRAINED"
            )
        self._records.note(hostname, deactivated=False, drain_info=None, drain_start=None)
        return agent_id in self._state.agents

    def go_on(self, agent: KnownAgent) -> None:
        """Kill the tasks of a draining agent that can be reached."""
        info = agent.drain_info
        if info is None or info["state"] != _DRAINING or not agent.connected:
            return
        grace = info["config"].get("max_grace_period")
        at_most = None if grace is None else grace["nanoseconds"] / NANOSECONDS
        for framework in self._state.frameworks.values():
            for task in framework.tasks_on({agent.id}):
                self._task_runner.drain(framework, task, at_most=at_most, will_be_gone=info["config"]["mark_gone"])
        self.may_be_over(agent.id)

    def may_be_over(self, agent_id: str) -> None:
        """Soon check whether the agent's last task has ended."""
        agent = self._state.agents.get(agent_id)
        if agent is not None and agent.drain_info is not None and agent.drain_info["state"] == _DRAINING:
            self._state.timers.at(self._state.now, lambda: self._finish(agent_id))

    def _finish(self, agent_id: str) -> None:
        with self._records.transaction():
            agent = self._state.agents.get(agent_id)
            info = None if agent is None else agent.drain_info
            if agent is None or info is None or info["state"] != _DRAINING or not agent.connected:
                return
            if any(framework.tasks_on({agent_id}) for framework in self._state.frameworks.values()):
                return
            if info["config"]["mark_gone"]:  # what is kept of it says that it is draining, for good
                self._removal.mark_gone(agent_id)
            else:
                self._records.note(agent.hostname, drain_info={**info, "state": _DRAINED})

    def _known(self, agent_id: str) -> str:
        hostname = self._state.known_agents.hostname_of(agent_id)
        if hostname is None:
            raise RuleViolation("Unknown agent", field="agent_id", rule="agent.known")
        return hostname
