"""Revocation: an allocator takes offers and tasks back (docs/explanation/documents.md, "Playing Traffic Cop").

Any allocator may use it. `Callbacks.holdings` returns what frameworks hold, and `Callbacks.revoke` takes it back.  The
master rescinds offers at once.  It asks the executor of a task to kill it; if that has not happened when the grace
period is over and the revocation still stands, the executor is killed with all of its tasks.  What comes back arrives
as any other resources do, by `Allocator.recover_resources`.

Guarantees protect: the master refuses to take a task whose role would then hold less than its quota guarantees.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mesosctl.mesos.amounts.resources import Resources

HoldingKey = tuple[str, bool, str]


@dataclass(frozen=True, slots=True)
class Holding:
    """An unanswered offer or a task, which a master could take back."""

    id: str
    framework: str
    role: str
    frees: Resources
    """Resources that are free again when it ends, allocation roles included."""
    container: Resources
    """Resources of its executor with all its tasks, which end together if the executor is killed."""
    is_task: bool
    ending: bool = False
    """Whether it is ending, for any reason."""

    @property
    def key(self) -> HoldingKey:
        """Identifies it among all holdings."""
        return self.framework, self.is_task, self.id


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Revocation:
    """A demand to end a holding."""

    holding: Holding
    agent: str
    framework: str | None = None
    """The framework that will get the resources; None if they are for no particular one."""
    role: str | None = None
    """The role of that framework."""
    stands: Callable[[], bool] = _always
    """Whether that is still so: asked before an executor is killed that did not answer in its grace period."""
    reason: str = ""
    """A sentence for the framework that loses the task, which its status update carries."""


HoldingsQuestion = Callable[[], Mapping[str, Sequence[Holding]]]
"""Returns the holdings by agent id, oldest first."""

RevocationCallback = Callable[[Sequence[Revocation]], Sequence[Revocation]]
"""Revoke these, and return those that a guarantee protects; these stay as they are."""
