"""A replay: recorded demand played through the allocator in virtual time, as it was and with changes.

Times are seconds since 1970.  `RecordedDemand` is played, `Played` is the course of that, and `Replay` the answer.
"""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, repeat
from typing import Literal, NamedTuple

from mesosctl.mesos.amounts.amount_text import percent_text
from mesosctl.mesos.amounts.identity import IdentityCache, numbering
from mesosctl.mesos.amounts.notation import counted, format_span
from mesosctl.mesos.amounts.percentiles import nearest_rank
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.added_framework import AddedOutcome
from mesosctl.mesos.door.forecast import AnsweredChange
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from mesosctl.mesos.exit_status import Answer
from mesosctl.mesos.roles import is_strict_subrole
from mesosctl.mesos.rules.version_profile import Profile, described, profile_stored

DEFAULT_WAIT_LIMIT = 3600.0
"""Seconds."""
DEFAULT_REFUSE = 5.0
"""Seconds: the filter of a scheduler that names none."""
PLACING = 60.0
"""Seconds for which what ran at the beginning waits for its own agent, which is offered to others too."""
MOST_GROWTH = 0.01
"""The part of a role's tasks by which those that wait above the limit, or at the end, may grow."""
MOST_FAR = 0.01
"""The part of the tasks that may start far off a recording that does not say everything, if waits are judged."""
FAR = 2.0
"""The allocation intervals beyond which a start is far off."""
MOST_UNASKED = 0.01
"""The part of the tasks that came of which nobody may have recorded when they were asked for, if waits are judged."""
WARN_ABOVE, REFUSE_ABOVE = 0.05, 0.2
"""How far a replay without changes may be from its recording."""


class ReplayedAgent(NamedTuple):
    """An agent, and when it was there; `end` is None if it stayed."""

    agent: ClusterAgent
    start: float
    end: float | None


class ReplayedAbsence(NamedTuple):
    """A time in which nobody is offered anything of an agent that is registered; `end` is None if it does not end."""

    agent_id: str
    start: float
    end: float | None


class ReplayedFramework(NamedTuple):
    """A framework, in all roles that it ever had."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None
    capabilities: tuple[str, ...]
    joined: float | None = None
    """When it subscribed, if a master told it; else it does so when it asks for its first task."""


class ReplayedSetting(NamedTuple):
    """A setting that changed during the recording; `value` is the documented JSON, None if it ended."""

    at: float
    kind: Literal["quota", "weight", "reservation"]
    name: str
    """A role; of a reservation the id of an agent."""
    value: str | None


@dataclass(frozen=True, slots=True)
class RecordedDemand:
    """The part of a recording that is replayed."""

    cluster_id: str
    version: str
    since: float
    until: float
    agents: Sequence[ReplayedAgent]
    frameworks: Mapping[str, ReplayedFramework]
    tasks: Sequence[ReplayedTask]
    """Those that ran at the beginning, then the others in the order in which they were asked for."""
    settings: Sequence[ReplayedSetting] = ()
    """In the order of time; those that held at the beginning are at `since`."""
    first_run: float | None = None
    """When the first allocation ran, if the master told it."""
    is_imported: bool = False
    """Whether another scheduler made it."""
    absences: Sequence[ReplayedAbsence] = ()
    assumptions: tuple[str, ...] = ()
    """Sentences about what the recording does not say, or is left out."""
    holes: tuple[str, ...] = ()
    """Clauses about what the recording does not say, and what may decide who is served."""
    ids: Sequence[str] = ()
    """Of the tasks, in the same order; empty unless each of them is shown."""
    snapshot: ClusterSnapshot | None = None
    """The cluster at the beginning, with what runs on it until the end; None if a recording says what ran."""
    mesos_profile: str | None = None
    """The name of the profile whose rules it follows; None for that of the version."""

    @property
    def profile(self) -> Profile:
        """The rules that a replay follows."""
        return profile_stored(self.mesos_profile, self.version)

    @property
    def master(self) -> str:
        """The words for it."""
        return described(self.version, self.profile)

    @property
    def is_of_snapshot(self) -> bool:
        """Whether it begins with a cluster as it is, and not with a recording."""
        return self.snapshot is not None


@dataclass(slots=True)
class Played:
    """The course of one replay."""

    starts: Sequence[float | None]
    """Of each task of the demand."""
    ends: Sequence[float | None]
    """None of one that did not start, or still ran at the end."""
    never_fit: Collection[int]
    """The places of tasks that fit on no agent, even on an empty one."""
    guarantees: Sequence[tuple[float, Mapping[str, Quantities]]]
    """From each moment on, by role."""
    answers: tuple[AnsweredChange, ...] = ()
    held: Mapping[int, tuple[str, Resources]] = field(default_factory=dict)
    """The agent of each task that started, by its place, and the resources that it took there; from a snapshot only."""
    added_agents: tuple[ClusterAgent, ...] = ()
    """The agents that changes have added, as they registered; from a snapshot only."""
    left_agents: frozenset[str] = frozenset()
    """The ids of all agents that are there in the end; from a snapshot only."""
    weights: Sequence[tuple[float, Mapping[str, float]]] = ()
    """From each moment on, by role; 1 for those that are missing."""


def fits_on(agent: Resources, role: str, task: Quantities) -> bool:
    """Whether an empty agent has room for a task of a role."""
    return agent.allocatable_to(role).filter(lambda entry: entry.disk is None).scalar_quantities().contains(task)


def as_first_registered(total: Resources) -> Resources:
    """Return the resources of an agent before any reservation was made, and without volumes."""
    return Resources(
        replace(entry, reservations=tuple(level for level in entry.reservations if level.type == "STATIC"), disk=None)
        if entry.is_dynamically_reserved or entry.is_persistent_volume
        else entry
        for entry in total.non_revocable()
    )


def never_fitting(tasks: Sequence[ReplayedTask], totals: Iterable[Resources]) -> frozenset[int]:
    """Return the places of the tasks that fit on no agent."""
    different: list[Resources] = []
    seen: set[str] = set()
    for total in totals:
        text = str(total)
        if text not in seen:
            seen.add(text)
            different.append(total)
    number = numbering()
    known: dict[tuple[int, str], bool] = {}
    found = []
    for place, task in enumerate(tasks):
        key = number(task.resources), task.role
        fits = known.get(key)
        if fits is None:
            needed = task.resources.scalar_quantities()
            fits = known[key] = any(fits_on(total, task.role, needed) for total in different)
        if not fits:
            found.append(place)
    return frozenset(found)


# --- One replay ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoleOutcome:
    """How a role fared; tasks that never fit are in `tasks` and `never_fit` alone."""

    tasks: int = 0
    never_fit: int = 0
    started: int = 0
    median_wait: float | None = None
    """Seconds, nearest rank; a task that never started has waited until the end, at least.

    Of a task of which nobody recorded when it was asked for, it is by how much it starts later than on record.
    """
    p95_wait: float | None = None
    longest_wait: float | None = None
    above_limit: int = 0
    """Those that waited longer, also those that had not started at the end and had waited longer by then."""
    demanded: Mapping[str, int] = field(default_factory=dict)
    """Thousandths times seconds by resource, as far as they could have been served in the window."""
    served: Mapping[str, int] = field(default_factory=dict)
    """The same for what ran in the window."""
    below_guarantee: float = 0.0
    """Seconds in which its subtree had less than the guarantee, and a task of it waited."""
    undecided: int = 0
    """Those that had not started at the end, and had not yet waited longer than the limit."""
    p95_at_most: float | None = None
    """`p95_wait` if those that had not started at the end had waited for ever."""
    unasked: int = 0
    """Those that came during the replay, and of which nobody recorded when they were asked for."""
    came: int = 0
    """Those that came during the replay, and fit on an agent: the others say nothing about waits."""

    @property
    def waiting_at_the_end(self) -> int:
        """Tasks that had not started when the replay ended: it does not show how long they wait in all."""
        return self.tasks - self.never_fit - self.started

    @property
    def part_served(self) -> float | None:
        """Of the resource of which the least was served; None if nothing was demanded."""
        parts = [self.served.get(name, 0) / amount for name, amount in self.demanded.items() if amount]
        return min(parts, default=None)


def is_unasked(unasked: int, tasks: int) -> bool:
    """Whether too little is known of when tasks were asked for to judge their waits."""
    return unasked > MOST_UNASKED * tasks


def unasked_sentence(counts: Mapping[str, tuple[int, int]]) -> str | None:
    """Return why waits cannot be judged, of the unasked tasks of each role and those that came; None if they can.

    Who waits in one role depends on what others ask for, so one role is enough.
    """
    roles = [role for role, count in counts.items() if is_unasked(*count)]
    if not roles:
        return None
    unasked, tasks = (sum(counts[role][place] for role in roles) for place in (0, 1))
    others = f" and {counted(len(roles) - 1, 'other role')}" if len(roles) > 1 else ""
    return f"nobody recorded when {unasked:,} of {tasks:,} tasks of {roles[0]}{others} were asked for"


def waits_answer(before: RoleOutcome, after: RoleOutcome) -> Answer:
    """Say whether a role is spared by a change: no more than one in a hundred of its tasks wait more than before.

    That is so for those that wait longer than the limit, and for those that have not started at the end.  Of the
    latter, those that came so late that they cannot have waited longer yet are counted both ways.
    """
    most = MOST_GROWTH * after.tasks
    if after.waiting_at_the_end - before.waiting_at_the_end > most:
        return "no"
    growth = after.above_limit - before.above_limit
    ways = {growth > most, growth + after.undecided - before.undecided > most}
    return "unknown" if len(ways) > 1 else "no" if True in ways else "yes"


def outcomes(demand: RecordedDemand, played: Played, wait_limit: float) -> dict[str, RoleOutcome]:
    """Return how each role fared, in the order of their names."""
    waits: dict[str, tuple[array[float], array[float]]] = {}
    """Of the tasks that started, and of those that had not at the end."""
    unasked: Counter[str] = Counter()
    counts: dict[str, list[int]] = {}
    demanded: dict[str, dict[str, int]] = {}
    served: dict[str, dict[str, int]] = {}
    amounts = IdentityCache(Resources.scalar_quantities)
    for place, task in enumerate(demand.tasks):
        if task.is_executor:
            continue
        count = counts.setdefault(task.role, [0, 0, 0])
        count[0] += 1
        if place in played.never_fit:
            count[1] += 1
            continue
        start, end = played.starts[place], played.ends[place]
        if start is not None:
            count[2] += 1
        if task.comes:
            waited_for = max(0.0, round((demand.until if start is None else start) - task.asked, 6))
            waits.setdefault(task.role, (array("d"), array("d")))[start is None].append(waited_for)
            unasked[task.role] += not task.asked_is_known
        held = amounts.of(task.resources)
        asked = max(task.asked, demand.since)
        wanted = demand.until - asked if task.lasts is None else min(task.lasts, demand.until - asked)
        ran = 0.0
        if start is not None:
            ran = min(demand.until if end is None else end, demand.until) - max(start, demand.since)
        for sums, seconds in ((demanded, wanted), (served, ran)):
            _add(sums.setdefault(task.role, {}), held, max(0.0, seconds))
    below = below_guarantee(demand, played)
    found = {}
    for role in sorted({*counts, *below}):
        begun, left = waits.get(role, ((), ()))
        waited = sorted(chain(begun, left))
        tasks, never, started = counts.get(role, (0, 0, 0))
        found[role] = RoleOutcome(
            tasks,
            never,
            started,
            nearest_rank(waited, 50),
            nearest_rank(waited, 95),
            waited[-1] if waited else None,
            sum(wait > wait_limit for wait in waited),
            demanded.get(role, {}),
            served.get(role, {}),
            below.get(role, 0.0),
            sum(wait <= wait_limit for wait in left),
            nearest_rank([*sorted(begun), *repeat(math.inf, len(left))], 95),
            unasked[role],
            len(waited),
        )
    return found


def recorded_outcomes(demand: RecordedDemand, wait_limit: float) -> dict[str, RoleOutcome]:
    """Return how each role fared on record, under another scheduler; nothing of a recording of a master."""
    if not demand.is_imported:
        return {}
    starts = [task.started for task in demand.tasks]
    ends = [None if task.started is None or task.lasts is None else task.started + task.lasts for task in demand.tasks]
    return outcomes(demand, Played(starts, ends, frozenset(), ()), wait_limit)


def _add(sums: dict[str, int], held: Quantities, seconds: float) -> None:
    for name, milli in held.items():
        sums[name] = sums.get(name, 0) + round(milli * seconds)


_Event = tuple[float, int, int, Quantities]
"""A moment, how many more tasks wait, and amounts that are held (1) or given back (-1)."""


def below_guarantee(demand: RecordedDemand, played: Played) -> dict[str, float]:
    """Return for each role with a guarantee the seconds in which it had less, and a task of its subtree waited."""
    guaranteed = {role for _, of_roles in played.guarantees for role, amounts in of_roles.items() if amounts}
    if not guaranteed:
        return {}
    events: dict[str, list[_Event]] = {role: [] for role in guaranteed}
    nothing = Quantities()
    for place, task in enumerate(demand.tasks):
        role = next((owner for owner in guaranteed if task.role == owner or is_strict_subrole(task.role, owner)), None)
        if role is None or place in played.never_fit:
            continue
        start, end = played.starts[place], played.ends[place]
        of_role = events[role]
        of_role.append((max(task.asked, demand.since), 1, 0, nothing))
        if start is None:
            continue
        held = task.resources.scalar_quantities()
        of_role.append((start, -1, 1, held))
        if end is not None:
            of_role.append((end, 0, -1, held))
    return {role: _short(role, events[role], played.guarantees, demand.until) for role in sorted(guaranteed)}


def _short(
    role: str,
    events: list[_Event],
    guarantees: Sequence[tuple[float, Mapping[str, Quantities]]],
    until: float,
) -> float:
    moments = sorted(
        chain(
            ((*event, False) for event in events),
            ((at, 0, 0, of_roles.get(role, Quantities()), True) for at, of_roles in guarantees),
        ),
        key=lambda wait: wait[0],
    )
    waiting, short, since = 0, 0.0, 0.0
    held: dict[str, int] = {}
    guarantee: Mapping[str, int] = {}
    for at, change, sign, amounts, is_setting in moments:
        if at > since and waiting and any(held.get(name, 0) < milli for name, milli in guarantee.items()):
            short += min(at, until) - min(since, until)
        since = at
        if is_setting:
            guarantee = dict(amounts.items())
        else:
            waiting += change
            for name, milli in amounts.items():
                held[name] = held.get(name, 0) + sign * milli
    if waiting and any(held.get(name, 0) < milli for name, milli in guarantee.items()):
        short += max(0.0, until - since)
    return short


# --- Calibration --------------------------------------------------------------------------------------


class ReplayDeviation(NamedTuple):
    """How far a replay without changes is from its recording."""

    compared: int
    """Tasks whose start is known on record."""
    off: int
    """Those that started more than one allocation interval earlier or later, or not at all."""
    worst_hours: float
    """The largest difference of the hours of a role and a resource, as a part of those on record."""
    worst_role: str | None
    far: int = 0
    """Those that are off by more than two intervals, or did not start."""

    @property
    def part_off(self) -> float:
        """The part of the compared tasks that is off."""
        return self.off / self.compared if self.compared else 0.0

    @property
    def distance(self) -> float:
        """The larger of both."""
        return max(self.part_off, self.worst_hours)

    @property
    def sentence(self) -> str:
        """Return it in a sentence."""
        if not self.compared:
            return (
                "how true the replay is cannot be judged: the recording has no task of which it says both when it was "
                "asked for and when it started"
            )
        starts = f"{self.off:,} of {self.compared:,} tasks start more than one allocation interval off the recording"
        if self.worst_role is None:
            return f"without changes, {starts}"
        worst = f"the hours of role {self.worst_role} differ by {percent_text(self.worst_hours)}"
        return f"without changes, {starts}; {worst}" + (", the most of all" if self.worst_hours else "")


def calibrate(demand: RecordedDemand, played: Played, interval: float) -> ReplayDeviation:
    """Compare a replay without changes with the recording.

    Tasks of which nobody recorded when they were asked for are left out: they are taken as asked for when they started,
    so that they agree whatever is true.
    """
    compared = off = far = 0
    recorded: dict[str, dict[str, int]] = {}
    replayed: dict[str, dict[str, int]] = {}
    for place, task in enumerate(demand.tasks):
        if not task.asked_is_known:
            continue
        start, end = played.starts[place], played.ends[place]
        held = task.resources.scalar_quantities()
        if task.started is not None:
            if task.start_is_known and not task.ran_from_the_beginning:
                compared += 1
                apart = math.inf if start is None else abs(start - task.started)
                off += apart > interval + 1e-6
                far += apart > FAR * interval + 1e-6
            stop = demand.until if task.lasts is None else min(demand.until, task.started + task.lasts)
            _add(recorded.setdefault(task.role, {}), held, max(0.0, stop - max(task.started, demand.since)))
        if start is not None:
            ran = min(demand.until if end is None else end, demand.until) - max(start, demand.since)
            _add(replayed.setdefault(task.role, {}), held, max(0.0, ran))
    worst, role = 0.0, None
    for name, sums in recorded.items():
        for resource, amount in sums.items():
            if amount:
                difference = abs(replayed.get(name, {}).get(resource, 0) - amount) / amount
                if role is None or difference > worst:
                    worst, role = difference, name
    return ReplayDeviation(compared, off, worst, role, far)


def hole_sentence(demand: RecordedDemand, calibration: ReplayDeviation) -> str | None:
    """Return what the recording does not say, if a replay without changes shows that it matters; else None."""
    if not demand.holes or calibration.far <= MOST_FAR * calibration.compared:
        return None
    return (
        f"{demand.holes[0]}, and without changes {calibration.far:,} of {calibration.compared:,} tasks start more than "
        "two allocation intervals off the recording"
    )


# --- Over time ------------------------------------------------------------------------------------------


def limit_text(seconds: float) -> str:
    """A limit of waiting, as short as it can be said: 1h, 90m, 45s."""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return format_span(seconds)


def waiting_over_time(demand: RecordedDemand, played: Played, points: int) -> dict[str, list[int]]:
    """Return for each role how many tasks waited at moments that divide the time evenly."""
    length = (demand.until - demand.since) / points
    found: dict[str, list[int]] = {}
    for place, task in enumerate(demand.tasks):
        if task.is_executor or place in played.never_fit:
            continue
        start = played.starts[place]
        first = math.ceil((max(task.asked, demand.since) - demand.since) / length)
        end = demand.until if start is None else start
        last = math.ceil((end - demand.since) / length)
        if first < last:
            changes = found.setdefault(task.role, [0] * (points + 1))
            changes[min(first, points)] += 1
            changes[min(last, points)] -= 1
    return {role: list(accumulate(changes[:points])) for role, changes in found.items()}


class TasksOfTime(NamedTuple):
    """The tasks of a role that were asked for at an hour of the day, or on a day of the week."""

    tasks: int
    above_limit: int
    """Those that waited longer than the limit."""


def waits_by_clock(
    demand: RecordedDemand, played: Played, wait_limit: float, part_of: Callable[[float], int]
) -> dict[str, dict[int, TasksOfTime]]:
    """Return for each role how many tasks waited too long, by the part of time in which they were asked for."""
    found: dict[str, dict[int, TasksOfTime]] = {}
    for place, task in enumerate(demand.tasks):
        if task.is_executor or place in played.never_fit or task.ran_from_the_beginning:
            continue
        start = played.starts[place]
        waited = (demand.until if start is None else start) - task.asked
        of_role = found.setdefault(task.role, {})
        tasks, above = of_role.get(part := part_of(task.asked), (0, 0))
        of_role[part] = TasksOfTime(tasks + 1, above + (waited > wait_limit))
    return found


def _itself(role: str) -> str:
    return role


def shares_over_time(
    demand: RecordedDemand, played: Played, points: int, of: Callable[[str], str] = _itself
) -> dict[str, list[float]]:
    """Return the dominant share of each role at the same moments: of what the agents had then, and without subroles.

    `of` names the role for which what another one holds is counted.
    """
    length = (demand.until - demand.since) / points
    held: dict[str, dict[str, list[int]]] = {}
    totals: dict[str, list[int]] = {}

    def add(sums: dict[str, list[int]], amounts: Quantities, start: float, end: float | None) -> None:
        first = max(0, math.ceil((start - demand.since) / length))
        last = points if end is None else min(points, math.ceil((end - demand.since) / length))
        if first < last:
            for name, milli in amounts.items():
                changes = sums.setdefault(name, [0] * (points + 1))
                changes[first] += milli
                changes[last] -= milli

    for agent, start, end in demand.agents:
        add(totals, agent.total.scalar_quantities(), start, end)
    for task, begun, ended in zip(demand.tasks, played.starts, played.ends, strict=True):
        if begun is not None:
            add(held.setdefault(of(task.role), {}), task.resources.scalar_quantities(), begun, ended)
    had = {name: list(accumulate(changes)) for name, changes in totals.items()}

    def shares(sums: dict[str, list[int]]) -> list[float]:
        used = [(accumulate(changes[:points]), had.get(name, [0] * points)) for name, changes in sums.items()]
        by_resource = [
            [amount / total if total else 0.0 for amount, total in zip(amounts, totals, strict=False)]
            for amounts, totals in used
        ]
        return [max(at_once) for at_once in zip(*by_resource, strict=True)]

    return {role: shares(sums) for role, sums in held.items() if sums}


def _top(role: str) -> str:
    """The role at the top of its tree, with whose share its parent compares those of others."""
    return role.partition("/")[0]


def beyond_fair_shares(demand: RecordedDemand, played: Played, points: int) -> dict[str, list[float]]:
    """Return by how much the dominant share of each role at the top was above its fair share; negative if below.

    All that roles hold at a moment is divided among them by their weights, and none is counted for more than it has
    unless one of its tasks waits.
    """
    shares = shares_over_time(demand, played, points, _top)
    waiting: dict[str, list[int]] = {}
    for role, counts in waiting_over_time(demand, played, points).items():
        known = waiting.setdefault(_top(role), [0] * points)
        waiting[_top(role)] = [sum(both) for both in zip(known, counts, strict=True)]
    roles = sorted({*shares, *waiting})
    nothing, nobody = [0.0] * points, [0] * points
    length = (demand.until - demand.since) / points
    found: dict[str, list[float]] = {role: [] for role in roles}
    for point in range(points):
        at = demand.since + point * length
        weights = next((known for since, known in reversed(played.weights) if since <= at), {})
        held = {role: shares.get(role, nothing)[point] for role in roles}
        wanting = {role for role in roles if waiting.get(role, nobody)[point]}
        fair = _fair_shares(held, wanting, {role: weights.get(role, 1.0) for role in roles})
        for role in roles:
            found[role].append(held[role] - fair[role])
    return found


def _fair_shares(held: Mapping[str, float], wanting: Collection[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Divide what is held by weights; who wants no more gets no more than it holds."""
    fair: dict[str, float] = {}
    left = {role: share for role, share in held.items() if share or role in wanting}
    while left:
        level = (sum(held.values()) - sum(fair.values())) / sum(weights[role] for role in left)
        content = [role for role, share in left.items() if role not in wanting and share <= weights[role] * level]
        if not content:
            return {**dict.fromkeys(held, 0.0), **fair, **{role: weights[role] * level for role in left}}
        for role in content:
            fair[role] = left.pop(role)
    return {**dict.fromkeys(held, 0.0), **fair}


# --- The answer ---------------------------------------------------------------------------------------


class Displaced(NamedTuple):
    """A framework that would be offered less."""

    framework_id: str
    name: str
    amounts: Quantities
    """The part of its offers that goes to others."""


class RoleBeforeAndAfter(NamedTuple):
    """How a role fares without the changes, and with them."""

    role: str
    before: RoleOutcome
    after: RoleOutcome
    harmed: bool
    """Whether more than one in a hundred of its tasks more would have waited above the limit."""
    delayed: int
    """As in `Replay`."""
    recorded: RoleOutcome | None = None
    """How it fared on record, under another scheduler; None of a recording of a master."""


class TaskBeforeAndAfter(NamedTuple):
    """How a task fares without the changes, and with them; a time is None if it is unknown, or if it does not start."""

    id: str | None
    """None of a task of an added framework."""
    framework_id: str
    role: str
    resources: Resources
    asked: float | None
    started: float | None
    """On record."""
    start_before: float | None
    start_after: float | None
    never_fits: bool
    """Whether it fits on no agent, even on an empty one."""
    ran_from_the_beginning: bool
    """Whether it ran already when the replay began: nothing is known of its wait."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The whole answer; `after` is that of the changes, and `before` if there are none."""

    demand: RecordedDemand
    wait_limit: float
    calibration: ReplayDeviation
    before: Mapping[str, RoleOutcome]
    after: Mapping[str, RoleOutcome]
    changes: tuple[str, ...] = ()
    answers: tuple[AnsweredChange, ...] = ()
    played_before: Played | None = None
    played_after: Played | None = None
    demand_after: RecordedDemand | None = None
    """With the tasks of the added frameworks, and for the master that leads instead."""
    added: tuple[AddedOutcome, ...] = ()
    delayed: Mapping[str, int] = field(default_factory=dict)
    """Recorded tasks that start later than without the changes by more than an interval, or never; by role."""
    recorded: Mapping[str, RoleOutcome] = field(default_factory=dict)
    """How roles fared on record, under another scheduler; empty of a recording of a master."""
    displaced: tuple[Displaced, ...] = ()
    """Frameworks that are offered less while most tasks of the added frameworks run; from a snapshot only."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Sentences about what the recording does not say, is left out, or is done for the changes."""
        return (self.demand_after or self.demand).assumptions

    @property
    def roles(self) -> list[str]:
        """The roles of the table."""
        return sorted({*self.before, *self.after})

    def outcome(self, role: str) -> tuple[RoleOutcome, RoleOutcome]:
        """Return how a role fared without the changes, and with them."""
        return self.before.get(role, RoleOutcome()), self.after.get(role, RoleOutcome())

    @property
    def by_role(self) -> list[RoleBeforeAndAfter]:
        """Each role of the table, before and after."""
        harmed = set(self.harmed)
        return [
            RoleBeforeAndAfter(
                role, *self.outcome(role), role in harmed, self.delayed.get(role, 0), self.recorded.get(role)
            )
            for role in self.roles
        ]

    @property
    def by_task(self) -> Iterator[TaskBeforeAndAfter]:
        """Each task, before and after, in the order in which they are asked for; executors are left out."""
        before, after, demand = self.played_before, self.played_after, self.demand_after or self.demand
        assert before is not None, "it was played here"
        assert after is not None, "it was played here"
        recorded = zip(self.demand.ids, before.starts, strict=True)
        for place, task in enumerate(demand.tasks):
            task_id, start = next(recorded) if task.framework_id in self.demand.frameworks else (None, None)
            if task.is_executor:
                continue
            known = task.asked_is_known and not task.ran_from_the_beginning
            yield TaskBeforeAndAfter(
                task_id,
                task.framework_id,
                task.role,
                task.resources,
                task.asked if known else None,
                None if task.ran_from_the_beginning else task.started,
                start,
                after.starts[place],
                place in after.never_fit,
                task.ran_from_the_beginning,
            )

    @property
    def accepted(self) -> bool:
        """Whether no change is refused."""
        return all(answer.accepted for answer in self.answers)

    @property
    def harmed(self) -> list[str]:
        """Roles in which more than one in a hundred tasks more wait than without the changes; the worst first."""
        grown = []
        for role in self.roles:
            before, after = self.outcome(role)
            if waits_answer(before, after) == "no":
                more = (
                    getattr(after, count) - getattr(before, count) for count in ("above_limit", "waiting_at_the_end")
                )
                grown.append((-max(more), role))
        return [role for _, role in sorted(grown)]

    @property
    def answer(self) -> Answer:
        """Whether everything is accepted, no role waits much more, and what is added has room."""
        if not self.accepted or any(framework.never_fit for framework in self.added):
            return "no"
        if self.unknown is not None:
            return "unknown"
        return "no" if self.harmed else "yes"

    @property
    def unknown(self) -> str | None:
        """Return why it is unknown how long tasks wait; None if it is known."""
        unasked = unasked_sentence({role: (side.unasked, side.came) for role, side in self.before.items()})
        unasked = unasked or hole_sentence(self.demand, self.calibration)
        if unasked is not None or self.harmed:
            return unasked
        undecided = [role for role in self.roles if waits_answer(*self.outcome(role)) == "unknown"]
        if not undecided:
            return None
        before, after = self.outcome(undecided[0])
        where = "" if after.undecided else "without the changes, "
        return (
            f"{where}{counted(after.undecided or before.undecided, 'task')} of {undecided[0]} had not started at the "
            f"end, and had waited less than {limit_text(self.wait_limit)} by then"
        )

    @property
    def is_harmless(self) -> bool:
        """Whether the answer is yes."""
        return self.answer == "yes"

    @property
    def harm(self) -> str | None:
        """Return the harm of accepted changes in one sentence; None if they do none, or if that is unknown."""
        for framework in self.added:
            if framework.never_fit:
                return framework.sentence
        if self.answer != "no" or not self.harmed:
            return None
        role = self.harmed[0]
        before, after = self.outcome(role)
        others = len(self.harmed) - 1
        is_past = self.demand.snapshot is None
        would = "would have waited" if is_past else "would wait"
        more = f", and {others} more role{'s' * (others > 1)} {would} more" if others else ""
        grown = after.above_limit - before.above_limit
        if grown > MOST_GROWTH * after.tasks:
            without = " in the replay without the change" if self.recorded else ""
            did = f"; {before.above_limit:,} did{without}" if before.tasks else ""  # not of tasks that are added
            return (
                f"{after.above_limit:,} of {after.tasks:,} tasks of {role} {would} more than "
                f"{limit_text(self.wait_limit)}{did}{more}"
            )
        did = f"; {before.waiting_at_the_end:,} had not without the change" if before.tasks else ""
        start = "would not have started" if is_past else "would not start"
        return f"{after.waiting_at_the_end:,} of {after.tasks:,} tasks of {role} {start} before the end{did}{more}"

    @property
    def _on_record(self) -> str:
        """Return the words that tell the waits of a replay from those that another scheduler's log has."""
        if not self.recorded:
            return ""
        above = sum(role.above_limit for role in self.recorded.values())
        return f" in the replay; {above:,} did on record, under another scheduler"

    @property
    def verdict(self) -> str:
        """Return the answer in one sentence."""
        if not self.accepted:
            return "NO: it would be refused"
        if self.harm is not None:
            return f"NO: {self.harm}"
        if self.unknown is not None:
            return f"PERHAPS: {self.unknown}"
        if self.demand.snapshot is not None:
            return f"YES: {'; '.join(framework.sentence for framework in self.added)}"
        limit = limit_text(self.wait_limit)
        totals = [sum(role.above_limit for role in side.values()) for side in (self.before, self.after)]
        tasks = sum(role.tasks for role in self.after.values())
        if not self.changes:
            undecided = sum(role.undecided for role in self.before.values())
            count = f"{totals[0]:,} to {totals[0] + undecided:,}" if undecided else f"{totals[0]:,}"
            return f"{count} of {tasks:,} tasks waited more than {limit}{self._on_record}"
        answer = f"YES: {totals[1]:,} of {tasks:,} tasks would have waited more than {limit}; {totals[0]:,} did"
        answer += " in the replay without it" if self.recorded else ""
        waiting = [sum(role.waiting_at_the_end for role in side.values()) for side in (self.before, self.after)]
        if waiting[1] > waiting[0]:
            answer += f". At the end of the replay, {waiting[1]:,} had not started; {waiting[0]:,} without the change"
        return answer
