"""What the simulated agents keep of what they run, where no other master will ever ask for it: nothing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fake_master.master.agents import Agent
    from fake_master.master.frameworks import Framework
    from fake_master.master.master import Master
    from fake_master.master.tasks import Task
    from mesosctl.core.resources import Resources


class NoMemory:
    """Hears of every change, and keeps none; `agent_memory` does."""

    def __init__(self, master: "Master") -> None:
        self._master = master

    def register(self, agent: "Agent", used: "Mapping[str, Resources] | None" = None) -> None:
        """The agent registers with all that it runs; `used` is what this master knows of already, by framework id.

        Raises DoesNotFit.
        """
        self._master.register(agent, used)

    def remember_task(self, framework: "Framework", task: "Task", *, may_wait: bool = False) -> None:
        """Something of a task has changed on its agent, or it is there no more; `may_wait` if that may get lost."""

    def remember_framework(self, framework: "Framework") -> None:
        """A framework describes itself anew."""

    def forget(self, framework: "Framework") -> None:
        """The framework is gone for good, and no agent brings it back."""

    def begin(self) -> None:
        """A transaction begins: from now on what agents change is part of it."""

    def write(self) -> None:
        """What the agents have changed in the transaction that ends."""

    def written(self) -> None:
        """The transaction is kept."""

    def close(self) -> None:
        """The process ends, and nothing waits any longer."""
