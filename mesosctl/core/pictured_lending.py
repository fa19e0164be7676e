"""What a picture keeps of a master that lends idle reservations, beyond what it keeps of any.

Every task by its name, since it may be evicted; who owes what; and what frameworks refuse, since an owner's
refusal is what lets a reservation lie idle.  Resources are without allocation roles.
"""

from dataclasses import dataclass, field
from typing import Literal

from mesosctl.core.resources import Resources

TaskStanding = Literal["running", "waiting", "ending", "arriving"]
"""Started; accepted by its agent, which has no room yet; told to end; launched, and not yet heard of by its agent."""
STANDINGS: tuple[TaskStanding, ...] = ("running", "waiting", "ending", "arriving")


@dataclass(frozen=True, slots=True)
class PicturedTask:
    """One task that has not ended.  What it holds is part of its framework's usage, too."""

    id: str
    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    executor_id: str | None = None
    """None for a command."""
    executor_resources: Resources = field(default_factory=Resources)
    """Of its executor; of several tasks in one executor the first has them."""
    standing: TaskStanding = "running"


@dataclass(frozen=True, slots=True)
class Debt:
    """What a framework still has of an agent though it is lent no longer."""

    framework_id: str
    agent_id: str
    role: str
    resources: Resources


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a framework refuses to be offered, and for how many seconds yet."""

    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    seconds: float


@dataclass(frozen=True, slots=True)
class Lending:
    """All of it."""

    tasks: tuple[PicturedTask, ...] = ()
    """Of one agent in the order in which they started; those that wait in the order in which they came."""
    debts: tuple[Debt, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    stop_seconds: float = 0.0
    """How long a task takes to end once it is told to."""
