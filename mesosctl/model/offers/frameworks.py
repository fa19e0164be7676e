"""Frameworks as lists show them."""

from dataclasses import dataclass, field
from typing import Literal

from mesosctl.model.quantities import Quantities
from mesosctl.model.roles import is_strict_subrole

FrameworkState = Literal["active", "inactive", "disconnected", "recovered"]
"""An inactive one is connected and gets no offers; a recovered one has not come back since the master failed over."""


@dataclass(frozen=True, slots=True)
class ListedFramework:
    """A framework that is not gone, and the amounts that it holds; no ports, as those of several agents are alike."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None = None
    status: FrameworkState = "active"
    used: Quantities = field(default_factory=Quantities)
    """By its tasks and executors."""
    offered: Quantities = field(default_factory=Quantities)
    offered_reserved: Quantities = field(default_factory=Quantities)
    """The part of `offered` that is reserved."""
    offers: int = 0
    """How many offers it has not answered."""

    def serves(self, role: str) -> bool:
        """Whether it subscribes with `role` or a role below it."""
        return any(one == role or is_strict_subrole(one, role) for one in self.roles)

    @property
    def title(self) -> str:
        """Its name; the id where it is called nothing."""
        return self.name or self.id
