"""The frameworks, tasks, executors and flags that a principal may see (Mesos documentation, "Authorization").

`roles.sees` says the same of roles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fake_master.state.acls import Authorizer
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import Executor, KnownTask, user_of

FRAMEWORKS, TASKS, EXECUTORS = "view_frameworks", "view_tasks", "view_executors"


@dataclass(frozen=True, slots=True)
class Sight:
    """The sight of one principal; None is an unauthenticated one."""

    authorizer: Authorizer
    principal: str | None

    def framework(self, of: KnownFramework) -> bool:
        """Whether it may see a framework: by the user of that."""
        return self._allows(FRAMEWORKS, of.info["user"])

    @property
    def all_tasks(self) -> bool:
        """Whether every task of a framework that it sees is visible."""
        return self.authorizer.allows_all(TASKS)

    def task(self, of: KnownFramework, task: KnownTask) -> bool:
        """Whether it may see a task of a framework that it sees: by the user whom the task runs as."""
        return self.all_tasks or self._allows(TASKS, user_of(task.info, of.info["user"]))

    def executor(self, of: KnownFramework, executor: Executor) -> bool:
        """Whether it may see an executor of a framework that it sees."""
        command: Mapping[str, Any] = executor.info.get("command", {})
        return self._allows(EXECUTORS, command.get("user", of.info["user"]))

    @property
    def flags(self) -> bool:
        """Whether it may see the flags of the master."""
        return self.authorizer.allows("view_flags", self.principal, None)

    def _allows(self, action: str, user: str) -> bool:
        return self.authorizer.allows_all(action) or self.authorizer.allows(action, self.principal, user)
