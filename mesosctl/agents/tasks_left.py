"""The tasks that a draining agent waits for: those that run, and ended ones whose last status nobody acknowledges.

A master keeps an ended task until its framework acknowledges the status, and an agent is drained only when the last
task is gone.  A framework that is not connected acknowledges nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.messages.frameworks import listed_frameworks
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES
from mesosctl.reading.lists import as_typed
from mesosctl.reading.targets import read_listed_agent
from mesosctl.suggestion import command
from mesosctl.tasks.work import tasks_kept


@dataclass(frozen=True, slots=True)
class Left:
    """The tasks that are left on draining agents."""

    running: int = 0
    """Tasks that have not ended."""
    ended: tuple[tuple[ListedFramework, int], ...] = ()
    """Frameworks that have yet to acknowledge the last status of a task, and of how many."""
    agents: tuple[RegisteredAgent, ...] = ()
    """Those with tasks of either kind."""

    def __str__(self) -> str:
        """Both kinds in a phrase; ended tasks with whose they are."""
        return "; ".join(self._phrases())

    def _phrases(self) -> Iterator[str]:
        if self.running or not self.ended:
            yield f"{counted(self.running, 'task')} left"
        for framework, count in self.ended:
            state = "disconnected" if framework.status in ("disconnected", "recovered") else "connected"
            yield (
                f"waiting for framework {framework.title}, which is {state}, to acknowledge that "
                f"{counted(count, 'task')} {'has' if count == 1 else 'have'} ended"
            )

    def way_out(self, again: str) -> str | None:
        """A hint: what ends the drain if only ended tasks are left; None otherwise.

        `again` drains the agents again: nothing else makes a master look whether a removed framework was the last one.
        """
        if self.running or not self.ended:
            return None
        teardowns = [command("frameworks teardown", framework.typed_id) for framework, _ in self.ended]
        gone = command("agents gone", *(agent.typed_name for agent in self.agents))
        it = "the framework" if len(self.ended) == 1 else "each framework"
        return (
            f"start the scheduler of {it} again; if it cannot come back, remove {it} and {again}: "
            f"{'; '.join(teardowns)}; or give up what is on the agent, for good: {gone}"
        )


class TasksLeft:
    """Knows what is left on agents; while tasks run, it reads them again only if what is in use there has changed."""

    def __init__(self, master: LeadingMaster) -> None:
        self._master = master
        self._in_use: object = None
        self.known = Left()
        """As it was read last."""

    def on(self, agents: Sequence[RegisteredAgent]) -> Left:
        """The tasks that are left on these agents."""
        now = [
            (agent.id, None if (listed_agent := read_listed_agent(self._master, agent)) is None else listed_agent.used)
            for agent in agents
        ]
        if now != self._in_use or not self.known.running:  # ended tasks use nothing
            self.known = self._read(agents)
            self._in_use = now
        return self.known

    def none_on(self, agents: Sequence[RegisteredAgent]) -> set[str]:
        """The ids of those of these agents that have no task of either kind."""
        return {agent.id for agent in agents} - {agent.id for agent in self.on(agents).agents} if agents else set()

    def _read(self, agents: Sequence[RegisteredAgent]) -> Left:
        ids = {agent.id for agent in agents}
        kept = [task for task in tasks_kept(self._master) if task.agent_id in ids]
        counts = Counter(task.framework_id for task in kept if task.state in TERMINAL_STATES)
        answer = listed_frameworks(self._master.ask("GET_FRAMEWORKS")) if counts else []
        known = {framework.id: framework for framework in as_typed(answer, answer)}
        where = {task.agent_id for task in kept}
        return Left(
            len(kept) - counts.total(),
            tuple(
                (known.get(framework_id, ListedFramework(framework_id, "", (), status="disconnected")), count)
                for framework_id, count in counts.items()
            ),
            tuple(agent for agent in agents if agent.id in where),
        )
