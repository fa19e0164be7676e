"""The resources of a cluster as one role of a framework finds them: held, open for it, or kept from it and why.

Every amount of every agent is in exactly one line, so the lines of an account add up to the cluster.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.roles import top_level
from mesosctl.mesos.rules.offers.frameworks import MissingCapability

Cause = Literal[
    "open",
    "guarantee",
    "limit",
    "minimum",
    "reserved",
    "capability",
    "constraints",
    "filter",
    "priority",
    "out-of-service",
    "offered",
    "used",
]
"""Why some resources are not offered to the role of the framework; "open" if nothing is known to be in the way."""
CAUSES: tuple[Cause, ...] = get_args(Cause)
Remedy = Literal[
    "guarantee",
    "limit",
    "own guarantee",
    "any guarantee",
    "cap",
    "answer",
    "unreserve",
    "subscribe",
    "capability",
    "others end",
    "own end",
    "limit and others end",
    "agents",
]
"""The remedies that are tried before they are advised: to remove the guarantees or limits in the way, to give the role
a guarantee (of any size, if a master would accept none), to cap the roles that hold offers, or let them answer these,
to undo idle reservations, or let the framework subscribe with their role, to give it a capability, and to let the tasks
of other roles end, those of its own, or those of others after its limit is raised; and to add an agent.
"""
Tried = tuple[Remedy, str]
"""A remedy, and the role or capability that it is for; empty if it is for everything at once."""
Hindrance = Literal["disconnected", "inactive", "suppressed", "recovery"]
"""Why nothing at all is offered to it, whatever the agents have."""

Reason = Literal[Hindrance, Cause, "own-offer", "no-agents", "due", "unknown"]
"""The one word of an explanation: what keeps it from being offered more.

"filter" and "unknown" if it may have refused what is open; "due" if the next allocation offers that.
"""


@dataclass(frozen=True, slots=True)
class WithheldResources:
    """Some resources, and the reason why they are not offered to the role of the framework."""

    cause: Cause
    amounts: Quantities
    """Scalars in thousandths, and ports by count."""
    roles: tuple[str, ...] = ()
    """Those that hold it, that it is reserved for, or whose guarantees it is kept for."""
    framework_id: str | None = None
    framework: str | None = None
    """The framework that holds it; None if none does."""
    capability: MissingCapability | None = None
    """The one that is missing."""
    status: str | None = None
    """That of agents which are out of service."""
    own: bool = False
    """Whether the framework itself holds it, in this role."""
    agents: int = 1
    of_guarantee: bool = False
    """Of a limit: whether that is the guarantee of the role."""
    static: Quantities = field(default_factory=Quantities)
    """Of reserved amounts those that the configuration of agents reserves: no operator can unreserve them."""

    @property
    def detail(self) -> str | None:
        """The capability that is missing, or the status of the agents that are out of service."""
        return self.status if self.capability is None else str(self.capability)


@dataclass(frozen=True, slots=True)
class ExplainedAgent:
    """The account of one agent."""

    agent_id: str
    hostname: str
    lines: tuple[WithheldResources, ...]


@dataclass(frozen=True, slots=True)
class EvictableTask:
    """A task on lent resources that would end if the role used all that it can have on an agent."""

    framework: str
    task_id: str
    agent: str
    """The name of the agent in sentences."""


@dataclass(frozen=True, slots=True)
class OfferAccount:
    """The cluster as one role of a framework finds it."""

    framework_id: str
    framework: str
    role: str
    agents: tuple[ExplainedAgent, ...]
    lacking: Mapping[str, Quantities]
    """By role, what its guarantee still lacks."""
    minimum: tuple[Quantities, ...]
    """The alternatives that an offer must reach; none if anything is enough."""
    guarantee: Quantities = field(default_factory=Quantities)
    """That of its top-level role."""
    reached: Limits = field(default_factory=Limits)
    """The limits of its role that leave it nothing more, whatever is free."""
    guarantee_is_limit: bool = False
    """Whether these limits are the guarantee of its role, as before Mesos 1.9."""
    ahead: tuple[str, ...] = ()
    """Roles that are served before it when something comes free, in order: those below their guarantee come first."""
    evictable: tuple[EvictableTask, ...] = ()
    """In the order in which they would end; only on a master that lends idle reservations."""

    @property
    def shortfall(self) -> Quantities:
        """The part of the guarantee of its top-level role that is not met."""
        return self.lacking.get(top_level(self.role), Quantities())

    @property
    def has_own_tasks(self) -> bool:
        """Whether tasks of its top-level role use something."""
        own = top_level(self.role)
        return any(line.cause == "used" and own in map(top_level, line.roles) for line in self.lines)

    lines: tuple[WithheldResources, ...] = field(init=False)
    """All agents summed up, by cause in the order of `CAUSES`, the largest first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", summed_up(self.agents))


def summed_up(agents: Iterable[ExplainedAgent]) -> tuple[WithheldResources, ...]:
    """Add up the lines that differ in nothing but amounts."""
    parts: dict[tuple[object, ...], list[WithheldResources]] = {}
    for agent in agents:
        for line in agent.lines:
            parts.setdefault((line.cause, line.roles, line.framework_id, line.detail, line.own), []).append(line)
    found = [
        replace(
            lines[0],
            amounts=Quantities.total(line.amounts for line in lines),
            static=Quantities.total(line.static for line in lines),
            agents=len(lines),
        )
        for lines in parts.values()
    ]
    ordered = sorted(found, key=lambda line: (CAUSES.index(line.cause), not line.own, _size(line.amounts), line.roles))
    return tuple(ordered)


def _size(amounts: Quantities) -> tuple[int, int]:
    return -amounts.get_amount("cpus"), -amounts.get_amount("mem")


ESSENTIAL = ("cpus", "mem")
"""An offer without one of these starts no task."""


@dataclass(frozen=True, slots=True)
class OfferExplanation:
    """Why a role of a framework is or is not offered anything."""

    account: OfferAccount
    offers: int
    """How many it holds now."""
    hindrance: Hindrance | None = None
    failover_timeout: float | None = None
    """Seconds for which the master waits for it; None if it is connected, or the master does not tell."""
    refusals: int | None = None
    """How many refusals are in force in the role, of any framework; None if the master does not show it."""
    has_whitelist: bool = False
    """Whether the master offers only agents that its whitelist names, which it does not show."""
    could_borrow: bool = False
    """Whether idle reservations are lent here, and the framework lacks the capability to be lent any."""
    has_limits: bool = True
    """Whether the master knows limits, so that one can be advised."""
    sharers: int = 1
    """Frameworks that are subscribed to the role, this one included."""
    useless: frozenset[Tried] = frozenset()
    """Those that were tried on the snapshot, and would leave nothing more open for the role."""
    recovery: str = ""
    """The progress of the recovery after a failover; empty if it is over."""
    larger_limits: Limits = field(default_factory=Limits)
    """All limits of its top-level role, those in the way as large as the role needs; none if none is in the way.

    The guarantee, where that is the limit.
    """
    smaller_guarantees: Mapping[str, Quota] = field(default_factory=dict)
    """By role for whose guarantee something is kept, its quota with a guarantee of no more of that than it has."""
    unknown: Sequence[str] = field(default=())
    """The facts that the master does not show, each with the assumption for it."""

    @property
    def totals(self) -> Quantities:
        """All resources of all agents."""
        return Quantities.total(line.amounts for line in self.account.lines)

    def amount(self, name: str, *causes: Cause) -> int:
        """Return how much of `name` is in the lines of these causes."""
        return sum(line.amounts.get_amount(name) for line in self.account.lines if line.cause in causes)

    @property
    def too_large(self) -> "tuple[str, ExplainedAgent] | None":
        """A resource of the smallest offer that no agent has in total, and the agent with the most of it.

        None if some agent could ever make such an offer, or if it is small because of several resources at once.
        """
        totals = [(Quantities.total(line.amounts for line in agent.lines), agent) for agent in self.account.agents]
        found = None
        for smallest in self.account.minimum:
            for name, amount in smallest.items():
                most = max(totals, key=lambda total: total[0].get_amount(name), default=None)
                if most is not None and most[0].get_amount(name) < amount:
                    found = found or (name, most[1])
                    break
            else:
                return None
        return found

    @property
    def missing(self) -> str | None:
        """The first essential resource of which nothing is open for it; None if it could be offered each."""
        totals = self.totals
        there = [name for name in ESSENTIAL if totals.get_amount(name)] or list(totals)[:1]
        return next((name for name in there if not self.amount(name, "open")), None)

    @property
    def is_at_limit(self) -> bool:
        """Whether its limit would keep it from what is missing even if somebody freed that."""
        missing = self.missing
        return (
            missing is not None
            and missing in self.account.reached
            and not any(
                line.own and line.cause == "offered" and line.amounts.get_amount(missing) for line in self.account.lines
            )
        )

    @property
    def beyond_limit(self) -> Quantities:
        """The resources that its limit keeps from it alone; of the essential ones."""
        kept = Quantities.total(line.amounts for line in self.account.lines if line.cause == "limit")
        return Quantities({name: kept.get_amount(name) for name in ESSENTIAL})

    @property
    def open(self) -> Quantities:
        """The resources that are free, with nothing known in the way."""
        return Quantities.total(line.amounts for line in self.account.lines if line.cause == "open")

    @property
    def reason(self) -> Reason:
        """The one word for what keeps it from being offered more."""
        if self.hindrance is not None:
            return self.hindrance
        if not self.totals:
            return "no-agents"
        missing = self.missing
        if missing is None:
            if self.refusals:
                return "filter"
            return "unknown" if self.refusals is None or self.has_whitelist else "due"
        if self.is_at_limit:
            return "limit"
        others = [line for line in self.account.lines if line.amounts.get_amount(missing) and line.cause != "used"]
        if not others:
            return "used"
        sums: dict[Reason, int] = {}
        for line in others:
            word: Reason = "own-offer" if line.own else line.cause
            sums[word] = sums.get(word, 0) + line.amounts.get_amount(missing)
        return max(sums, key=lambda word: sums[word])
