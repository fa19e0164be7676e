"""Who is offered what: the allocator of Mesos 1.11.0, and the interface behind which it can be exchanged."""

from fake_master.allocator.hierarchical import HierarchicalAllocator
from fake_master.allocator.interface import (
    ALL_AGENT_CAPABILITIES,
    DEFAULT_REFUSE_SECONDS,
    AgentInfo,
    Allocator,
    FrameworkInfo,
    InverseOfferCallback,
    OfferCallback,
    Unavailability,
)
from fake_master.allocator.options import Options, parse_minimum

__all__ = [
    "ALL_AGENT_CAPABILITIES",
    "DEFAULT_REFUSE_SECONDS",
    "AgentInfo",
    "Allocator",
    "FrameworkInfo",
    "HierarchicalAllocator",
    "InverseOfferCallback",
    "OfferCallback",
    "Options",
    "Unavailability",
    "parse_minimum",
]
