"""Who is offered what: the allocator of Mesos 1.11.0, the strict priority module, and the interface of both."""

from fake_master.allocator.hierarchical import HierarchicalAllocator
from fake_master.allocator.interface import (
    ALL_AGENT_CAPABILITIES,
    DEFAULT_REFUSE_SECONDS,
    AgentInfo,
    Allocator,
    FrameworkInfo,
    Holding,
    InverseOfferCallback,
    OfferCallback,
    ResourceRequest,
    Revocation,
    Unavailability,
)
from fake_master.allocator.options import Options
from fake_master.allocator.strict_priority import StrictPriorityAllocator
from mesosctl.core.minimum import parse_minimum
from mesosctl.core.operations import Conversion

__all__ = [
    "ALL_AGENT_CAPABILITIES",
    "DEFAULT_REFUSE_SECONDS",
    "AgentInfo",
    "Allocator",
    "Conversion",
    "FrameworkInfo",
    "HierarchicalAllocator",
    "Holding",
    "InverseOfferCallback",
    "OfferCallback",
    "Options",
    "ResourceRequest",
    "Revocation",
    "StrictPriorityAllocator",
    "Unavailability",
    "parse_minimum",
]
