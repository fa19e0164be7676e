"""Draining, deactivating and reactivating agents by their operators.

A drained agent is out of service and its tasks are killed; simulated tasks end at once, whatever
grace they are given.  It is DRAINED when the framework has acknowledged the last of them, and then
marked gone if that was asked for.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fake_master.master.agents import Agent
from mesosctl.core.errors import Conflict, RuleViolation

if TYPE_CHECKING:
    from fake_master.master.master import Master

_DRAINING, _DRAINED = "DRAINING", "DRAINED"


class Draining:
    """What operators say of single agents.  Every method that changes anything is called inside a transaction."""

    def __init__(self, master: "Master") -> None:
        self._master = master

    def drain(self, agent_id: str, max_grace_period: Mapping[str, Any] | None, *, mark_gone: bool) -> None:
        """DRAIN_AGENT; again replaces what was asked before.  Raises RuleViolation for an unknown agent."""
        master = self._master
        hostname = self._known(agent_id)
        config: dict[str, Any] = {} if max_grace_period is None else {"max_grace_period": dict(max_grace_period)}
        info = {"state": _DRAINING, "config": {**config, "mark_gone": mark_gone}}
        master.membership.note(hostname, deactivated=True, drain_info=info, drain_start=master.now)
        agent = master.agents.get(agent_id)
        if agent is not None:
            self.go_on(agent)

    def deactivate(self, agent_id: str) -> None:
        """DEACTIVATE_AGENT.  Raises RuleViolation for an unknown agent."""
        self._master.membership.note(self._known(agent_id), deactivated=True)

    def reactivate(self, agent_id: str) -> None:
        """REACTIVATE_AGENT.  Raises RuleViolation unless the agent is deactivated, and drained if it was draining.

        Raises Conflict for an agent that is still awaited after a failover.
        """
        master = self._master
        hostname = master.membership.hostname_of(agent_id)
        deactivated, drain_info = (False, None) if hostname is None else master.membership.service(hostname)
        if hostname is None or not deactivated:
            raise RuleViolation("Agent is not deactivated", rule="agent.deactivated")
        if drain_info is not None and drain_info["state"] == _DRAINING:
            raise RuleViolation(
                "Agent is still in the DRAINING state", rule="agent.draining", hint="wait until it is DRAINED"
            )
        if master.failover.awaits(agent_id):
            raise Conflict("Agent removed while processing the call", field="agent_id", hint="wait until it is back")
        master.membership.note(hostname, deactivated=False, drain_info=None, drain_start=None)

    def go_on(self, agent: Agent) -> None:
        """Kill what runs on a draining agent that can be reached."""
        info = agent.drain_info
        if info is None or info["state"] != _DRAINING or not agent.connected:
            return
        for framework in self._master.frameworks.values():
            for task in [task for task in framework.tasks.values() if task.agent_id == agent.id]:
                self._master.task_runner.drain(framework, task, will_be_gone=info["config"]["mark_gone"])
        self.may_be_over(agent.id)

    def may_be_over(self, agent_id: str) -> None:
        """A task of the agent is done with; look, as soon as may be, whether it was the last."""
        agent = self._master.agents.get(agent_id)
        if agent is not None and agent.drain_info is not None and agent.drain_info["state"] == _DRAINING:
            self._master.timers.at(self._master.now, lambda: self._finish(agent_id))

    def _finish(self, agent_id: str) -> None:
        master = self._master
        with master.transaction():
            agent = master.agents.get(agent_id)
            info = None if agent is None else agent.drain_info
            if agent is None or info is None or info["state"] != _DRAINING or not agent.connected:
                return
            if any(task.agent_id == agent_id for of in master.frameworks.values() for task in of.tasks.values()):
                return
            master.membership.note(agent.hostname, drain_info={**info, "state": _DRAINED})
            if info["config"]["mark_gone"]:
                master.leaving.mark_gone(agent_id)

    def _known(self, agent_id: str) -> str:
        hostname = self._master.membership.hostname_of(agent_id)
        if hostname is None:
            raise RuleViolation("Unknown agent", field="agent_id", rule="agent.known")
        return hostname
