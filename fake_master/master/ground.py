"""What the operations of one ACCEPT work upon (spec/reservation.md §6.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fake_master.master.agents import Agent
from fake_master.master.frameworks import Framework
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.wire.resources import to_core


@dataclass(slots=True)
class Ground:
    """What the operations of one ACCEPT stand on: the offers' sum, changing from one to the next."""

    framework: Framework
    agent: Agent
    role: str
    left: Resources
    """Allocated to `role`: what later operations may still use."""
    resized: Resources = field(default_factory=Resources)
    """Grown and shrunken volumes: later operations of the same ACCEPT may not use them."""
    knows_throttling: bool = False
    """Whether `throttle_info` means anything to this master; Mesos 1.11 passes over it."""


def entries(messages: Sequence[Mapping[str, Any]], ground: Ground) -> list[Resource]:
    """Resources of a framework's operation; the offer's role is understood where none is named."""
    found = [to_core(message, f"resources[{index}]") for index, message in enumerate(messages)]
    return [
        replace(
            entry,
            allocation_role=entry.allocation_role or ground.role,
            throttleable=entry.throttleable and ground.knows_throttling,
        )
        for entry in found
    ]
