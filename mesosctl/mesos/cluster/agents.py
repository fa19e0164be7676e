"""An agent of a cluster, whatever shows it: a master's state, its lists and events, or a snapshot."""

from collections.abc import Mapping
from dataclasses import field

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import immutable
from mesosctl.mesos.rules.version_profile import MESOS_1_11

AGENT_CAPABILITIES = frozenset(MESOS_1_11.agent_capabilities)
"""Those of an agent of the last release."""


@immutable
class ClusterAgent:
    """One registered agent."""

    id: str
    hostname: str
    pid: str
    total: Resources
    """Without allocation roles."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    capabilities: frozenset[str] = AGENT_CAPABILITIES
    active: bool = True
    """Whether it is in service: connected and not deactivated."""
    region: str | None = None
    zone: str | None = None
