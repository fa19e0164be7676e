"""Agents that are unreachable: a master lists them nowhere, and only its registry has their ids."""

from typing import NamedTuple


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
