"""One ACCEPT while its operations are carried out, and the resources that they name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.resources import to_model


@dataclass(slots=True)
class AcceptContext:
    """The sum of the offers of one ACCEPT, which each of its operations changes for the next."""

    framework: KnownFramework
    agent: KnownAgent
    role: str
    left: Resources
    """Allocated to `role`: what later operations may still use."""
    resized: Resources = field(default_factory=Resources)
    """The results of GROW_VOLUME and SHRINK_VOLUME: later operations of the same ACCEPT may not use them."""
    shared: Resources = field(init=False)
    """The shared volumes: any number of tasks may use each of them, however many copies are left."""
    knows_throttling: bool = False
    """Whether `throttle_info` means anything to this master; Mesos 1.11 passes over it."""
    release: str | None = None
    """The release whose rules for tasks hold; None for those of the newest."""

    def __post_init__(self) -> None:
        self.note_shared()

    def note_shared(self) -> None:
        """Take note of the shared volumes after an operation."""
        self.shared = self.left.filter(lambda entry: entry.shared)

    @property
    def available(self) -> Resources:
        """The resources that a task may use."""
        return self.left.filter(lambda entry: not entry.shared) + self.shared


def entries(messages: Sequence[Mapping[str, Any]], context: AcceptContext) -> list[Resource]:
    """Resources of a framework's operation; the offer's role is understood if none is named."""
    found = [to_model(message, f"resources[{index}]") for index, message in enumerate(messages)]
    return [
        replace(
            entry,
            allocation_role=context.role if entry.allocation_role is None else entry.allocation_role,
            throttleable=entry.throttleable and context.knows_throttling,
        )
        for entry in found
    ]
