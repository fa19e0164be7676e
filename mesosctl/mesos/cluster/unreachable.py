"""Agents that are unreachable: a master lists them nowhere, and only its registry has their ids."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from mesosctl.mesos.amounts.notation import FEW, counted, listed


class UnreachableAgent(NamedTuple):
    """An agent that stopped answering, and may register again."""

    id: str
    since: float
    """In seconds since the epoch."""


class UnreachableAgents(NamedTuple):
    """How many agents are unreachable, and which."""

    number: int = 0
    agents: tuple[UnreachableAgent, ...] | None = ()
    """None if this principal may not read the registry."""


def tasks_in_words(frameworks: Iterable[str]) -> str:
    """`3 tasks (1 of ads, 2 of db)`, of the frameworks whose tasks are on unreachable agents, one for each task."""
    counts = Counter(frameworks)
    whose = listed([f"{count} of {framework}" for framework, count in sorted(counts.items())], FEW)
    return f"{counted(counts.total(), 'task')} ({whose})" if counts else "no task"
