"""A whole cluster at one moment: what a snapshot keeps, and what a fake master can be made from.

Values only.  `mesosctl.ops` reads one from a live master, `mesosctl.wire` writes and reads it as JSON,
`fake_master` makes a master of it; whatever asks "what would happen?" starts from one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mesosctl.core.offers import Offer
from mesosctl.core.pictured_lending import Lending
from mesosctl.core.profile import MESOS_1_11
from mesosctl.core.quantities import Quota
from mesosctl.core.resources import Resources


@dataclass(frozen=True, slots=True)
class PicturedAgent:
    """One registered agent."""

    id: str
    hostname: str
    pid: str
    total: Resources
    """Without allocation roles."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    capabilities: frozenset[str] = frozenset(MESOS_1_11.agent_capabilities)
    active: bool = True
    """Connected and not deactivated."""
    region: str | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class PicturedFramework:
    """One registered framework."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None = None
    capabilities: frozenset[str] = frozenset()
    active: bool = True
    connected: bool = True
    suppressed: frozenset[str] | None = None
    """Roles in which it wants no offers; None where the master does not tell."""
    offer_constraints: Mapping[str, object] = field(default_factory=dict)
    offer_filters: Mapping[str, object] = field(default_factory=dict)
    """By role: the smallest offers it wants, as FrameworkInfo writes them."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the tasks and executors of one framework hold of one agent for one of its roles."""

    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    """Without allocation roles."""
    tasks: int = 0
    """How many tasks hold it."""


@dataclass(frozen=True, slots=True)
class ClusterPicture:
    """One cluster, as its leading master tells of it."""

    version: str
    """Of the master: "1.11.0"."""
    taken_at: float
    """Seconds since the epoch."""
    agents: tuple[PicturedAgent, ...] = ()
    frameworks: tuple[PicturedFramework, ...] = ()
    usages: tuple[Usage, ...] = ()
    offers: tuple[Offer, ...] = ()
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    """Those that are configured; every other role has 1."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """The master's flags that decide about allocation, as /flags writes them."""
    lending: Lending | None = None
    """None where nothing is lent."""
    untold: tuple[str, ...] = ()
    """What the master did not tell or this user may not see, each with what is assumed in its place."""
