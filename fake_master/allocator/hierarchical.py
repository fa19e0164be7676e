"""The hierarchical allocator of Mesos 1.11.0."""

from fake_master.allocator.agent_events import AgentEvents
from fake_master.allocator.framework_events import FrameworkEvents
from fake_master.allocator.resource_events import ResourceEvents


class HierarchicalAllocator(AgentEvents, FrameworkEvents, ResourceEvents):
    """Shares by dominant resource fairness, guarantees first; see the package's README.

    Callbacks are called from within `advance_to`, when a run is over; what they tell the
    allocator takes part in the next run.
    """
