"""The answer of a what-if: whether each change would be accepted, and who gains, loses or starves.

Amounts are in thousandths.  Sums of a role include the roles below it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mesosctl.mesos.amounts.amount_text import enumerated, in_words, shown_amount
from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.notation import FEW, counted, listed
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import immutable
from mesosctl.mesos.cluster.guarantees import GuaranteeState, guarantee_state
from mesosctl.mesos.cluster.message_rates import Simulation
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.door.upgrade import Upgrade
from mesosctl.mesos.rules.offers.offers import OnAgent
from mesosctl.mesos.rules.version_profile import PROFILES, described

Assumption = Literal["hold", "accept"]
"""The behaviour of frameworks: keep offers unanswered, or run tasks on all they are offered."""
Progress = Callable[[float], None]
"""The fraction that is done, from 0 to 1."""
DEFAULT_CYCLES = 10


def _no_progress(_: float) -> None:
    return None


@dataclass(frozen=True, slots=True)
class DryRunOptions:
    """How a dry run is played: `cycles` allocations before and at least as many after the change."""

    cycles: int = DEFAULT_CYCLES
    assume: Assumption = "hold"
    progress: Progress = _no_progress
    mesos_version: str | None = None
    """The master whose rules a file is played by, as a person names it; None for its own."""


ASSUMPTIONS: dict[Assumption, str] = {
    "hold": "frameworks hold every offer without answering it",
    "accept": "frameworks run tasks on everything they are offered, and the tasks do not end",
}
Kind = Literal["role", "framework"]


@dataclass(frozen=True, slots=True)
class AnsweredChange:
    """The answer to one change; `status` is None if no master would be asked."""

    change: str
    status: int | None
    accepted: bool
    message: str = ""
    rule: str | None = None
    by: Literal["master", "mesosctl"] = "master"
    """The side that refuses: the master by its rules, or mesosctl before it sends anything."""
    hint: str | None = None
    """A suggestion for people."""


@immutable
class Rescission(OnAgent):
    """An offer that would be taken back."""

    offer_id: str
    framework_id: str
    framework: str
    role: str
    hostname: str
    resources: Resources
    """With allocation roles: without them, each of many thousands of offers would be there twice."""
    agent_id: str
    agent: str
    """The name of the agent in sentences: its host name, with a short id if another agent shares it."""
    out_now: bool = True
    """Whether it is outstanding now; otherwise it was made while the snapshot settled."""


@dataclass(frozen=True, slots=True)
class Eviction(OnAgent):
    """A task that would be evicted."""

    task_id: str
    framework_id: str
    framework: str
    role: str
    hostname: str
    resources: Resources
    """Its own; its executor ends with it."""
    grace_seconds: float
    """Seconds between the kill and the end of its grace period."""
    happens: bool
    """Whether it happens at once; otherwise as soon as the regular offers on the agent are used."""
    agent_id: str
    agent: str
    caused: bool = True
    """Whether the change causes it; otherwise it was so before."""
    runs_now: bool = True
    """Whether it really runs now, rather than assumed to while the snapshot settled."""


@dataclass(frozen=True, slots=True)
class HolderChange:
    """A role or a framework, before and after."""

    kind: Kind
    name: str
    id: str
    before: UsedAndOffered
    after: UsedAndOffered
    share_before: float
    share_after: float
    dominant: str | None
    """The resource of the larger share."""
    guarantee: Quantities | None = None
    """Of a role, afterwards; None without quota."""
    guarantee_before: Quantities | None = None
    limit: Limits | None = None
    limit_before: Limits | None = None
    """None without limits."""
    kept: Quantities = field(default_factory=Quantities)
    """The part of the guarantee that it neither has nor is offered afterwards, and that lies free for it."""
    unmet: Quantities = field(default_factory=Quantities)
    """The part of the guarantee that is not kept either."""

    @property
    def guarantee_state(self) -> GuaranteeState | None:
        """Whether its guarantee is met, kept or unmet afterwards; None without one."""
        return None if self.guarantee is None else guarantee_state(self.kept + self.unmet, self.kept)

    @property
    def gains(self) -> Quantities:
        """The amounts that it gains."""
        return self.after.total - self.before.total

    @property
    def loses(self) -> Quantities:
        """The amounts that it loses."""
        return self.before.total - self.after.total

    @property
    def changes(self) -> bool:
        """Whether it holds more or less than before."""
        return self.before != self.after

    @property
    def changes_quota(self) -> bool:
        """Whether the guarantee or the limit is another one than before."""
        return (self.guarantee, self.limit) != (self.guarantee_before, self.limit_before)


@dataclass(frozen=True, slots=True)
class Starvation:
    """A role or a framework with less than its guarantee, or with nothing."""

    kind: Kind
    name: str
    reason: Literal["guarantee", "nothing"]
    short: Quantities
    """The part of the guarantee that is not met, or the amounts that were lost."""
    caused: bool
    """Whether the change does it; otherwise it was so before, and no worse."""
    before: Quantities = field(default_factory=Quantities)
    """The part of the guarantee that was not met before."""
    was_met_by_offers: bool = False
    """Whether offers met a part of the guarantee before, and nothing was missing."""
    guarantee: Quantities = field(default_factory=Quantities)
    has: Quantities = field(default_factory=Quantities)
    """The amounts that count towards the guarantee."""
    uncounted: Quantities = field(default_factory=Quantities)
    """The amounts of roles below it, where these do not count."""
    is_asked_for: bool = True
    """Whether a framework takes offers in the role."""
    is_raised: bool = False
    """Whether the change guarantees more of something, or guarantees it for the first time."""
    can_be_met: bool = True
    """Whether the agents in service are large enough for the guarantees of all roles."""

    @property
    def message(self) -> str:
        """The sentence for programs."""
        return self.sentence(str)

    @property
    def harm(self) -> str:
        """`role r3 would be 2 cpus below its guarantee (1 before)`."""
        if self.reason == "nothing":
            return f"{self.kind} {self.name} would have nothing left"
        if self.is_raised:
            until = " until other roles release enough" if self.can_be_met else ""
            return f"role {self.name} would be {in_words(self.short)} below its new guarantee{until}"
        # Of what was missing before, show the resources that are missing now, if any of them were.
        before = Quantities({name: milli for name, milli in self.before.items() if name in self.short}) or self.before
        if not before:
            was = "met by offers before" if self.was_met_by_offers else "met before"
        elif list(before) == list(self.short) and len(before) == 1:
            was = f"{shown_amount(*next(iter(before.items())))} before"
        else:
            was = f"{in_words(before)} before"
        return f"role {self.name} would be {in_words(self.short)} below its guarantee ({was})"

    def sentence(self, text: Callable[[Quantities], str]) -> str:
        """Return it in a sentence; `text` writes its amounts."""
        if self.reason == "nothing":
            whose = "its tasks and those of roles below it" if self.kind == "role" else "its tasks"
            return f"{self.kind} {self.name} would have nothing left: {whose} used {text(self.short)}"
        wants = "" if self.is_asked_for else " (no framework asks for offers in this role, and too little is free)"
        below = f"role {self.name} would be {text(self.short)} below its guarantee of {text(self.guarantee)}"
        beside = f", beside {text(self.uncounted)} of the roles below it, which do not count" if self.uncounted else ""
        return f"{below}: it would have {text(self.has)}{beside}{wants}"


@dataclass(frozen=True, slots=True)
class GuaranteeFit:
    """Whether a whole guarantee fits on one agent."""

    role: str
    guarantee: Quantities
    agents_whole: int
    """Agents that could hold all of it while nothing ran there."""
    agents_now: int
    """Agents that could hold all of it alongside what runs there now."""
    largest: Quantities
    """Of each resource the most that one agent has for it; not necessarily the same agent."""


class ChangedAmounts(NamedTuple):
    """Amounts before and after the change."""

    before: Quantities
    after: Quantities


class TriedChange(NamedTuple):
    """A change that was tried, as text."""

    words: str
    lost: Quantities | None = None
    """The resources of the agents that it takes away."""
    reserved: tuple[tuple[str, Quantities], ...] = ()
    """The reservations that are lost with them, by role; the agents would have to register again with them."""
    tasks_ended: int = 0
    """Tasks that end with these agents."""
    added: Quantities | None = None
    """The resources of the agents that register."""

    def __str__(self) -> str:
        """The text for programs."""
        return self.words if self.lost is None else f"{self.words}; with {self.lost}{self._reserved(str)}"

    def sentence(self, text: Callable[[Quantities], str]) -> str:
        """Return it in a sentence for people; `text` writes its amounts."""
        if self.added is not None:
            return f"{self.words} (added in total: {text(self.added)})"
        if self.lost is None:
            return self.words
        tasks = f"; {_ends(self.tasks_ended)}" if self.tasks_ended else ""
        return f"{self.words} (lost in total: {text(self.lost)}{self._reserved(text)}{tasks})"

    def _reserved(self, text: Callable[[Quantities], str]) -> str:
        parts = [f"{text(amounts)} for {role}" for role, amounts in self.reserved]
        return f"; reserved of that: {listed(parts)}" if parts else ""


def _ends(tasks: int) -> str:
    return f"{counted(tasks, 'task')} running there {'ends' if tasks == 1 else 'end'}"


class TasksWithoutPlace(NamedTuple):
    """Tasks of one framework in one role that ended with agents, and for which no other agent has room."""

    framework_id: str
    framework: str
    role: str
    tasks: int
    size: Quantities
    """Of the largest of them."""

    @property
    def harm(self) -> str:
        """`3 tasks of shop (role web) would find no place`."""
        return f"{counted(self.tasks, 'task')} of {self.framework} (role {self.role}) would find no place"


class AgentLoss(NamedTuple):
    """An agent that was taken away."""

    hostname: str
    id: str


@dataclass(frozen=True, slots=True)
class HeadroomChange:
    """The resources left, before and after."""

    unpromised: ChangedAmounts
    """The largest guarantee that would be accepted."""
    free: ChangedAmounts
    owed: ChangedAmounts
    """The amounts that guarantees lack, whether they are free or not."""
    kept: ChangedAmounts
    """The part of what is free that is kept back for guarantees."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that no master shows, and what is assumed instead."""

    what: str
    assumed: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """The whole answer to "what would happen?"."""

    version: str
    """Of the master."""
    mesos_profile: str
    """The name of its profile."""
    taken_at: float
    """When the snapshot was taken, in seconds since the epoch."""
    agents: int
    """In service, before."""
    agents_after: int
    seconds: float
    """Virtual time that passed after the change."""
    cycles: int
    """Allocations in that time."""
    assume: Assumption
    changes: tuple[TriedChange, ...]
    """The changes that were tried, in order."""
    lost: tuple[AgentLoss, ...]
    """Agents that were taken away for it."""
    answers: tuple[AnsweredChange, ...]
    rescinded: tuple[Rescission, ...]
    evicted: tuple[Eviction, ...]
    roles: tuple[HolderChange, ...]
    frameworks: tuple[HolderChange, ...]
    starving: tuple[Starvation, ...]
    unoffered: tuple[HolderChange, ...]
    """Those that ran nothing, held offers, and are no longer offered anything; that is not counted as harm."""
    at_limit: tuple[RoleStatus, ...]
    """Roles that the change leaves at or above a limit, without their offers."""
    fits: tuple[GuaranteeFit, ...]
    headroom: HeadroomChange
    totals_before: Quantities
    totals: Quantities
    """Of the agents in service, before and afterwards."""
    unknowns: tuple[Unknown, ...]
    offers_suspended: float = 0.0
    """Seconds without any offer after a failover, in virtual time."""
    restarted: bool = False
    """Whether the master was restarted for it."""
    traffic: Simulation | None = None
    """Recorded messages under the rate limits of today and under other ones; None if they stay as they are."""
    upgrade: Upgrade | None = None
    """The release of the master that leads afterwards; None if it is the same."""

    @property
    def master(self) -> str:
        """The words for it."""
        return described(self.version, PROFILES[self.mesos_profile])

    @property
    def tasks_lost(self) -> int:
        """The tasks that end with the agents that were taken away."""
        return sum(change.tasks_ended for change in self.changes)

    @property
    def accepted(self) -> bool:
        """Whether nothing would be refused."""
        return all(answer.accepted for answer in self.answers)

    @property
    def starved(self) -> list[Starvation]:
        """Roles and frameworks that the change starves."""
        return [starvation for starvation in self.starving if starvation.caused]

    @property
    def is_harmless(self) -> bool:
        """Whether everything would be accepted, nobody starves for it, and nothing more is refused than today."""
        overflows = self.traffic and self.traffic.overflowing
        return self.accepted and not self.starved and not overflows and not (self.upgrade and self.upgrade.harms)

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        if not self.accepted:
            return "NO: it would be refused"
        # Only a request can be accepted: the loss of agents and a restart are none.
        asked = bool(self.answers)
        harms = [
            *(self.upgrade.harms if self.upgrade else ()),
            *(starvation.harm for starvation in self.starved),
            *(self.traffic.overflows if self.traffic else ()),
        ]
        if harms:
            told = listed(harms, FEW) if len(harms) > FEW else enumerated(harms)
            return f"NO: {'it would be accepted, but ' if asked else ''}{told}"
        going = sum(task.caused for task in self.evicted)
        evicted = f"; {counted(going, 'task')} would be evicted" if going else ""
        lost = f"; {counted(self.tasks_lost, 'task')} would end with the agents" if self.tasks_lost else ""
        return f"YES: {'it would be accepted, and ' if asked else ''}nobody would starve{lost}{evicted}"
