"""A framework that does not exist yet, and what becomes of its tasks in a replay."""

from dataclasses import dataclass
from typing import NamedTuple

from mesosctl.mesos.amounts.notation import counted, format_span
from mesosctl.mesos.amounts.resources import Resources


@dataclass(frozen=True, slots=True)
class FrameworkToAdd:
    """A framework, and the tasks of one size that it asks for from the beginning on."""

    word: str
    """As it was typed."""
    role: str
    task: Resources
    tasks: int = 1
    every: float = 0.0
    """Seconds from one task to the next; 0 if it asks for all of them at once."""
    lasts: float | None = None
    """Seconds that each runs; None if it runs until the end."""


class AddedOutcome(NamedTuple):
    """When the tasks of an added framework start and end.  Times are seconds after the beginning."""

    framework: FrameworkToAdd
    tasks: int
    """Those that it asks for before the end."""
    started_at_once: int
    """Within one allocation interval."""
    started: int
    never_fit: int
    last_start: float | None
    """None unless all that fit start."""
    all_done: float | None
    """None unless all that fit end."""
    asked_later: int = 0
    """Tasks that it would ask for only after the end."""

    @property
    def sentence(self) -> str:
        """Return it in a sentence."""
        said = self._course()
        return f"{said}; it asks for {self.asked_later:,} more after the end" if self.asked_later else said

    def _course(self) -> str:
        role, fit = self.framework.role, self.tasks - self.never_fit
        if not fit:
            return f"{role}: no agent has room for such a task, even if it is empty"
        said = f"{role}: {self.started_at_once:,} of {counted(self.tasks, 'task')} start at once"
        if self.last_start is None:
            return f"{said}, and {fit - self.started:,} do not start before the end"
        if self.started_at_once < fit:
            said += f", the last starts after {format_span(self.last_start)}"
        if self.framework.lasts is None:
            return said
        if self.all_done is None:
            return f"{said}; not all of them are done before the end"
        return f"{said}; all are done after {format_span(self.all_done)}"
