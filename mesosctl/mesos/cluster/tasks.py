"""A task, as lists show it."""

from typing import Final, NamedTuple

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.roles import is_strict_subrole
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES


class ListedTask(NamedTuple):
    """A task that a master shows."""

    id: str
    """Unique only in its framework, and a framework may use it again after the task has ended."""
    name: str
    framework_id: str
    framework: str
    """The name of its framework, or the id if the name is empty or not shown."""
    role: str
    agent_id: str
    hostname: str | None
    """Of its agent; None if the agent is not registered."""
    state: str
    """As Mesos names it, such as "TASK_RUNNING"."""
    resources: Resources
    """Its own, without those of its executor.  Once it has ended, or is unreachable, it does not hold them any more."""
    since: float | None
    """When the last status that the master keeps of it was made, in seconds since 1970; None without a status."""

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state in TERMINAL_STATES

    @property
    def holds_resources(self) -> bool:
        """Whether its resources count as used."""
        return not self.has_ended and self.state != UNREACHABLE

    @property
    def agent(self) -> str:
        """The host name of its agent, or else the id."""
        return self.agent_id if self.hostname is None else self.hostname

    def serves(self, role: str) -> bool:
        """Whether it runs in `role` or a role below it."""
        return self.role == role or is_strict_subrole(self.role, role)


UNREACHABLE: Final = "TASK_UNREACHABLE"
"""The state of a task whose agent is not connected, if its framework can handle that: it may run again."""
