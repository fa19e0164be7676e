"""The use of a cluster: exact integrals over the time of a recording, by role, framework, principal or agent.

Amounts are thousandths and times microseconds, so an integral is a whole number, and the sum over roles equals the sum
over agents and that of the cluster to the last unit. Times in which nothing was seen (gaps) are left out.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Literal, NamedTuple

from mesosctl.history.interface import Recording
from mesosctl.history.records import (
    MICROS,
    Gap,
    Micros,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    Suppression,
    Window,
)
from mesosctl.history.setting_values import Amounts, quota_amounts
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.percentiles import nearest_rank
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.roles import DEFAULT_ROLE, ancestors
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES, profile_stored
from mesosctl.usage.event_queue import EventQueue

By = Literal["role", "framework", "principal", "agent"]
MICRO_MILLI_HOURS = 3600 * MICROS * 1000
"""Thousandths times microseconds in one hour of one whole unit."""
UNKNOWN = "unknown"
"""The key of what the recording does not say: the agent of an imported task, the principal of a framework."""
_OVER = TERMINAL_STATES - {"TASK_LOST"}
"""The states of tasks that have no further run."""


@dataclass(frozen=True, slots=True)
class UsageOptions:
    """The window, the key, and the boundaries between steps, which are inside of the window and in order."""

    since: Micros
    until: Micros
    by: By = "role"
    boundaries: tuple[Micros, ...] = ()
    half_life: Micros | None = None
    outside: tuple[Gap, ...] = ()
    """The time of the window before the recording began and after it ended."""
    in_steps: bool = False
    """Whether steps were asked for: if the window is shorter than one, it is the only one."""

    @property
    def has_steps(self) -> bool:
        """Whether the answer has steps."""
        return self.in_steps or bool(self.boundaries)


@dataclass(slots=True)
class KeyUsage:
    """The use of one key in one step, or in the whole window. Integrals are thousandths times microseconds."""

    used: Amounts = field(default_factory=lambda: defaultdict(int))
    reserved_idle: Amounts = field(default_factory=lambda: defaultdict(int))
    guaranteed: Amounts = field(default_factory=lambda: defaultdict(int))
    limited: Amounts = field(default_factory=lambda: defaultdict(int))
    peak: Amounts = field(default_factory=dict)
    """The most that was held at a moment, in thousandths."""
    shares: dict[float, Micros] = field(default_factory=lambda: defaultdict(int))
    """The time in which the dominant share was above zero, by share."""
    decayed: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    below_guarantee: Micros = 0
    """The time in which it had less than its guarantee and wanted more."""
    below_guarantee_unknown: Micros = 0
    """The same time where it is unknown whether it wanted more."""
    tasks: int = 0
    lifetimes: "array[Micros]" = field(default_factory=lambda: array("q"))
    """Of the tasks that ended."""
    waits: "array[Micros]" = field(default_factory=lambda: array("q"))
    """Of the tasks that started, and of those that never did, until the end of the window."""
    unasked: int = 0
    """Tasks that started, and of which nobody recorded when they were asked for."""

    def add(self, other: "KeyUsage") -> None:
        """Add that of another time."""
        for name in ("used", "reserved_idle", "guaranteed", "limited", "shares", "decayed"):
            mine = getattr(self, name)
            for key, value in getattr(other, name).items():
                mine[key] += value
        for key, value in other.peak.items():
            self.peak[key] = max(value, self.peak.get(key, 0))
        self.below_guarantee += other.below_guarantee
        self.below_guarantee_unknown += other.below_guarantee_unknown
        self.tasks += other.tasks
        self.lifetimes += other.lifetimes
        self.waits += other.waits
        self.unasked += other.unasked

    def mean_share(self, seen: Micros) -> float:
        """The mean of the dominant share over the time that was seen."""
        return sum(share * time for share, time in self.shares.items()) / seen if seen else 0.0

    def share_at(self, percent: int, seen: Micros) -> float:
        """A percentile of the dominant share, weighted by time (nearest rank)."""
        reached = seen - sum(self.shares.values())
        if reached * 100 >= percent * seen:
            return 0.0
        for share in sorted(self.shares):
            reached += self.shares[share]
            if reached * 100 >= percent * seen:
                return share
        return 0.0

    def lifetime_at(self, percent: int) -> Micros | None:
        """A percentile of the lifetimes of tasks that ended (nearest rank); None if none did."""
        return nearest_rank(sorted(self.lifetimes), percent)

    def wait_at(self, percent: int) -> Micros | None:
        """A percentile of the waits (nearest rank); None if there are none."""
        return nearest_rank(sorted(self.waits), percent)


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the window, and how much of it was seen."""

    start: Micros
    end: Micros
    seen: Micros
    total: Amounts
    """The resources of all agents, in thousandths times microseconds."""


@dataclass(frozen=True, slots=True)
class Subtree:
    """The integrals of a role together with the roles below it."""

    used: Amounts
    reserved_idle: Amounts


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The use of one key: a role, the id of a framework, a principal, or the id of an agent."""

    key: str
    name: str
    """The name of the framework, the host of the agent; otherwise the key."""
    whole: KeyUsage
    steps: tuple[KeyUsage, ...]
    subtree: Subtree | None
    """Of a role; None for other keys."""


@dataclass(frozen=True, slots=True)
class WindowUsage:
    """The use of a cluster in a window."""

    cluster: RecordedCluster
    options: UsageOptions
    whole: Step
    steps: tuple[Step, ...]
    rows: tuple[UsageRow, ...]
    together: KeyUsage
    """The use of the cluster as a whole."""
    has_imports: bool
    """Whether tasks come from the log of another scheduler."""

    @property
    def unseen(self) -> Micros:
        """The time of the window that was not seen: in gaps, or outside of the recording."""
        return self.whole.end - self.whole.start - self.whole.seen


def usage(recording: Recording, cluster: RecordedCluster, options: UsageOptions) -> WindowUsage:
    """The use of a cluster."""
    return _Sweep(recording, cluster, options).run()


class _Clock:
    """The time of the sweep: how much of it was seen, and the same decayed towards the end of the window."""

    def __init__(self, options: UsageOptions) -> None:
        self.now = options.since
        self.seen: Micros = 0
        self.decayed = 0.0
        self.gaps = 0
        self.step = 0
        self._until = options.until
        self._half_life = options.half_life

    def advance(self, to: Micros) -> None:
        """Go on to a time."""
        if to > self.now and not self.gaps:
            self.seen += to - self.now
            if self._half_life is not None:
                # The integral of 2 ** (-(until - t) / half_life), in half-lives.
                half = self._half_life
                self.decayed += 2.0 ** (-(self._until - to) / half) - 2.0 ** (-(self._until - self.now) / half)
        self.now = max(self.now, to)


class _Account:
    """The resources that one key holds now, and the parts of the steps that are over."""

    __slots__ = ("at", "decayed_at", "idle", "limits", "parts", "promised", "share", "used")

    def __init__(self, steps: int, clock: _Clock) -> None:
        self.used: Amounts = {}
        self.idle: Amounts = {}
        self.promised: Amounts = {}
        self.limits: Amounts = {}
        self.share = 0.0
        self.at = clock.seen
        self.decayed_at = clock.decayed
        self.parts = [KeyUsage() for _ in range(steps)]

    def settle(self, clock: _Clock) -> None:
        """Add what it held until now."""
        time = clock.seen - self.at
        if time:
            part = self.parts[clock.step]
            for name, amount in self.used.items():
                part.used[name] += amount * time
                if amount > part.peak.get(name, 0):
                    part.peak[name] = amount
            if self.share:
                part.shares[self.share] += time
            for held, into in (
                (self.idle, part.reserved_idle),
                (self.promised, part.guaranteed),
                (self.limits, part.limited),
            ):
                for name, amount in held.items():
                    into[name] += max(0, amount) * time
            decayed = clock.decayed - self.decayed_at
            if decayed:
                for name, amount in self.used.items():
                    part.decayed[name] += amount * decayed
        self.at, self.decayed_at = clock.seen, clock.decayed

    def weigh(self, total: Amounts) -> None:
        """Calculate the dominant share again."""
        shares = (amount / total[name] for name, amount in self.used.items() if total.get(name, 0) > 0)
        self.share = max(shares, default=0.0)


def _add(held: Amounts, amounts: Mapping[str, int], sign: int) -> None:
    for name, amount in amounts.items():
        left = held.get(name, 0) + sign * amount
        if left:
            held[name] = left
        else:
            held.pop(name, None)


@dataclass(frozen=True, slots=True)
class _Split:
    """Resources as amounts: those of the holder alone, reserved ones by owner, and shared volumes by identity."""

    own: Amounts
    reserved: tuple[tuple[str, Amounts], ...]
    shared: tuple[tuple[Any, str, str | None, int], ...]
    """(identity, resource name, owner, amount)."""


class _Volume(NamedTuple):
    """A shared volume that somebody holds; the first of its holders is the one who has it."""

    key: str
    role: str
    name: str
    owner: str | None
    amount: int


def _split(resources: Resources) -> _Split:
    own: Amounts = {}
    reserved: dict[str, Amounts] = {}
    shared = []
    for entry in resources:
        if not isinstance(entry.value, int):
            continue
        owner = entry.role if entry.is_reserved else None
        if entry.shared:
            shared.append((entry.disk_identity, entry.name, owner, int(entry.value)))
            continue
        own[entry.name] = own.get(entry.name, 0) + int(entry.value)
        if owner is not None:
            of = reserved.setdefault(owner, {})
            of[entry.name] = of.get(entry.name, 0) + int(entry.value)
    return _Split(own, tuple(reserved.items()), tuple(shared))


class _Sweep:
    """One pass over a recording in the order of time."""

    def __init__(self, recording: Recording, cluster: RecordedCluster, options: UsageOptions) -> None:
        self._recording, self._cluster, self._options = recording, cluster, options
        self._clock = _Clock(options)
        self._steps = len(options.boundaries) + 1
        self._accounts: dict[str, _Account] = {}
        self._together = _Account(self._steps, self._clock)
        self._agents = _Account(self._steps, self._clock)
        """The resources of all agents, as if one key held them."""
        self._events = EventQueue(options.since, options.until, self._clock.advance)
        self._split = IdentityCache(_split).of
        self._volumes: dict[tuple[str | None, Any], dict[int, _Volume]] = {}
        self._principals: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._seen_at: list[Micros] = []
        self._may_return: set[tuple[str, str]] = set()
        """The tasks that were counted, and of which there may be a further run."""
        profile = profile_stored(cluster.mesos_profile, cluster.version or "")
        self._wishes = (
            _Wishes(self._clock, counts_subroles=profile.subroles_consume_quota) if options.by == "role" else None
        )

    def run(self) -> WindowUsage:
        """The whole window."""
        options = self._options
        window, of = Window(options.since, options.until), self._cluster.cluster_id
        reading = self._recording
        for gap in (*reading.gaps(of, window), *options.outside):
            self._events.between(gap.start, gap.end, self._begin_gap, self._end_gap)
        for framework in reading.frameworks(of):
            self._framework(framework, window)
        for agent in reading.agents(of, window):
            self._agent(agent)
        if self._wishes is not None:
            self._hear_wishes(self._wishes, window)
        for boundary in options.boundaries:
            # After what ends there, so that each end is in one step, like those at the end of the window.
            self._events.after_all_at(boundary, self._next_step)
        # Of what holds nothing after the last moment of a recording, no later window shows the tasks.
        ends = options.until + 1 if options.until == self._cluster.last_seen else options.until
        for task in reading.waiting(of, options.until):
            if task.asked is not None and task.asked >= options.since:
                self._events.at(task.asked, partial(self._never_start, task))
        for task in reading.tasks(of, Window(options.since, ends)):
            self._events.go(max(task.start or 0, options.since))
            self._begin(task)
        self._events.go(options.until)
        self._clock.advance(options.until)
        self._settle_all()
        self._seen_at.append(self._clock.seen)
        return self._result()

    # --- Time ---------------------------------------------------------------------------------------

    def _begin_gap(self) -> None:
        self._clock.gaps += 1

    def _end_gap(self) -> None:
        self._clock.gaps -= 1

    def _settle_all(self) -> None:
        for account in (*self._accounts.values(), self._together, self._agents):
            account.settle(self._clock)
        if self._wishes is not None:
            self._wishes.settle_all(self._accounts)

    def _next_step(self) -> None:
        self._settle_all()
        self._seen_at.append(self._clock.seen)
        self._clock.step += 1

    # --- What happens -------------------------------------------------------------------------------

    def _account(self, key: str) -> _Account:
        found = self._accounts.get(key)
        if found is None:
            found = self._accounts[key] = _Account(self._steps, self._clock)
        return found

    def _framework(self, framework: RecordedFramework, window: Window) -> None:
        self._principals[framework.id] = framework.principal or UNKNOWN
        if self._options.by == "framework":
            self._names[framework.id] = framework.name
        assert window.until is not None
        if self._wishes is not None and framework.start < window.until:
            for role in framework.roles:
                subscribe = partial(self._wishes.subscribe, self._accounts, role, framework.id)
                self._events.between(framework.start, framework.end, partial(subscribe, 1), partial(subscribe, -1))

    def _agent(self, agent: RecordedAgent) -> None:
        if self._options.by == "agent":
            self._names[agent.id] = agent.host
        change = partial(self._change_total, agent.total)
        self._events.between(agent.start, agent.end, partial(change, 1), partial(change, -1))

    def _change_total(self, total: Resources, sign: int) -> None:
        parts = self._split(total)
        self._agents.settle(self._clock)
        _add(self._agents.used, parts.own, sign)
        for _, name, _owner, amount in parts.shared:
            _add(self._agents.used, {name: amount}, sign)
        for account in (*self._accounts.values(), self._together):
            account.settle(self._clock)
            account.weigh(self._agents.used)
        for owner, amounts in parts.reserved:
            self._change_idle(owner, amounts, sign)
        for _, name, of_volume, amount in parts.shared:
            if of_volume is not None:
                self._change_idle(of_volume, {name: amount}, sign)

    def _change_idle(self, owner: str, amounts: Amounts, sign: int) -> None:
        """More, or less, is reserved and idle."""
        if self._wishes is None:
            return
        account = self._account(owner)
        account.settle(self._clock)
        self._wishes.settle(owner, self._accounts)
        _add(account.idle, amounts, sign)
        self._wishes.consume(owner, amounts, sign)

    def _key(self, task: RecordedTask) -> str:
        by = self._options.by
        if by == "role":
            return task.role
        if by == "framework":
            return task.framework_id
        if by == "agent":
            return task.agent_id or UNKNOWN
        return self._principals.get(task.framework_id, UNKNOWN)

    def _begin(self, task: RecordedTask) -> None:
        key, number = self._key(task), self._events.next_number()
        parts = self._split(task.resources)
        self._hold(key, task.role, parts.own, parts.reserved, 1)
        for identity, name, owner, amount in parts.shared:
            holders = self._volumes.setdefault((task.agent_id, identity), {})
            holders[number] = _Volume(key, task.role, name, owner, amount)
            if len(holders) == 1:
                self._hold_volume(holders[number], 1)
        part = self._account(key).parts[self._clock.step]
        if not task.is_executor:
            part.tasks += not (task.run and (task.framework_id, task.id) in self._may_return)
            if task.end is not None and task.state is not None and task.state not in _OVER:
                self._may_return.add((task.framework_id, task.id))
            self._note_wait(task, part)
        if task.end is not None:
            self._events.at(task.end, partial(self._end, task, key, number), at_end=True)

    def _note_wait(self, task: RecordedTask, part: KeyUsage) -> None:
        """Note how long a task waited, if it started in the window; one that is back with its agent did not."""
        assert task.start is not None, "it holds something"
        if task.run or task.start < self._options.since or not task.start_known:
            return
        together = self._together.parts[self._clock.step]
        for of in (part, together):
            if task.asked is None:
                of.unasked += 1
            else:
                of.waits.append(max(0, task.start - task.asked))

    def _never_start(self, task: RecordedTask) -> None:
        """A task is asked for that does not start in the window."""
        assert task.asked is not None, "it was asked for"
        for account in (self._account(self._key(task)), self._together):
            account.parts[self._clock.step].waits.append(self._options.until - task.asked)

    def _end(self, task: RecordedTask, key: str, number: int) -> None:
        parts = self._split(task.resources)
        self._hold(key, task.role, parts.own, parts.reserved, -1)
        for identity, *_ in parts.shared:
            holders = self._volumes[task.agent_id, identity]
            was_first = next(iter(holders)) == number
            held = holders.pop(number)
            if was_first:
                self._hold_volume(held, -1)
                for other in holders.values():  # the next one in time has it from here on
                    self._hold_volume(other, 1)
                    break
        if not task.is_executor and task.start is not None and task.end is not None:
            for part in (self._account(key).parts[self._clock.step], self._together.parts[self._clock.step]):
                part.lifetimes.append(task.end - task.start)

    def _hold_volume(self, held: "_Volume", sign: int) -> None:
        amounts = {held.name: held.amount}
        reserved = () if held.owner is None else ((held.owner, amounts),)
        self._hold(held.key, held.role, amounts, reserved, sign)

    def _hold(self, key: str, role: str, amounts: Amounts, reserved: Iterable[tuple[str, Amounts]], sign: int) -> None:
        if self._wishes is not None:
            self._wishes.settle(role, self._accounts)
        for account in (self._account(key), self._together):
            account.settle(self._clock)
            _add(account.used, amounts, sign)
            account.weigh(self._agents.used)
        if self._wishes is not None:
            self._wishes.consume(role, amounts, sign)
            for owner, part in reserved:
                self._change_idle(owner, part, -sign)

    # --- What a role wants ----------------------------------------------------------------------------

    def _hear_wishes(self, wishes: "_Wishes", window: Window) -> None:
        of = self._cluster.cluster_id
        quotas = [entry for entry in self._recording.settings(of, window) if entry.kind == "quota"]
        for setting in quotas:
            self._quota(wishes, setting)
        for suppression in self._recording.suppressions(of, window):
            self._suppression(wishes, suppression)
        if not quotas:
            return  # nobody can be below a guarantee, and the demand of a long log is long
        for task in self._recording.demand(of, window):
            if task.asked is not None:
                wishes.know(task.role)
                ask = partial(wishes.ask, self._accounts, task.role)
                end = task.start if task.start is not None or task.lasts is None else task.asked + task.lasts
                self._events.between(task.asked, end, partial(ask, 1), partial(ask, -1))

    def _quota(self, wishes: "_Wishes", setting: RecordedSetting) -> None:
        guarantees, limits = quota_amounts(setting.value)
        promise = partial(self._promise, wishes, setting.name, guarantees, limits)
        self._events.between(setting.start, setting.end, partial(promise, 1), partial(promise, -1))

    def _promise(self, wishes: "_Wishes", role: str, guarantees: Amounts, limits: Amounts, sign: int) -> None:
        account = self._account(role)
        account.settle(self._clock)
        wishes.settle(role, self._accounts)
        _add(account.promised, guarantees, sign)
        _add(account.limits, limits, sign)

    def _suppression(self, wishes: "_Wishes", suppression: Suppression) -> None:
        tell = partial(wishes.tell, self._accounts, suppression.role, suppression.framework_id)
        self._events.between(
            suppression.start, suppression.end, partial(tell, suppression.suppressed), partial(tell, None)
        )

    # --- The result -----------------------------------------------------------------------------------

    def _result(self) -> WindowUsage:
        options = self._options
        if options.by == "role":
            for role in [*self._accounts]:
                for above in ancestors(role):
                    self._account(above)
        edges = [options.since, *options.boundaries, options.until]
        seen = [b - a for a, b in zip([0, *self._seen_at], self._seen_at, strict=False)]
        steps = tuple(
            Step(start, end, of_step, dict(part.used))
            for start, end, of_step, part in zip(edges, edges[1:], seen, self._agents.parts, strict=False)
        )
        whole = Step(options.since, options.until, self._clock.seen, dict(_merged(self._agents.parts).used))
        subtrees = self._subtrees() if options.by == "role" else {}
        rows = tuple(self._row(key, subtrees.get(key)) for key in sorted(self._accounts))
        together = _merged(self._together.parts)
        together.tasks = sum(row.whole.tasks for row in rows)
        is_of_log = self._recording.is_of_log(self._cluster.cluster_id)
        return WindowUsage(self._cluster, options, whole, steps, rows, together, is_of_log)

    def _row(self, key: str, subtree: Subtree | None) -> UsageRow:
        account = self._accounts[key]
        steps = tuple(account.parts) if self._options.has_steps else ()
        return UsageRow(key, self._names.get(key, key), _merged(account.parts), steps, subtree)

    def _subtrees(self) -> dict[str, Subtree]:
        """The integrals of each role together with the roles below it."""
        subtrees = {role: Subtree(defaultdict(int), defaultdict(int)) for role in self._accounts}
        for role, account in self._accounts.items():
            above = [subtrees[level] for level in (role, *ancestors(role))]
            for part, subtree in product(account.parts, above):
                for into, amounts in ((subtree.used, part.used), (subtree.reserved_idle, part.reserved_idle)):
                    for name, amount in amounts.items():
                        into[name] += amount
        return subtrees


def _merged(parts: Sequence[KeyUsage]) -> KeyUsage:
    whole = KeyUsage()
    for part in parts:
        whole.add(part)
    return whole


class _Wishes:
    """Which roles have less than their guarantee, and whether they want more.

    A role wants more if a framework in it, or below it, is not suppressed; where demand is known, if a task waits.
    What it has is what it and the roles below it hold, and what is reserved for them and idle, as quota counts it; in
    releases where the roles below do not count, it alone.
    """

    def __init__(self, clock: _Clock, *, counts_subroles: bool) -> None:
        self._clock = clock
        self._counts_subroles = counts_subroles
        self._consumed: dict[str, Amounts] = defaultdict(dict)
        self._subscribed: dict[str, dict[str, int]] = defaultdict(dict)
        self._suppressed: dict[tuple[str, str], bool] = {}
        self._waiting: dict[str, int] = {}
        self._at: dict[str, Micros] = {}

    def settle(self, role: str, accounts: Mapping[str, _Account]) -> None:
        """Add the time until now to that below the guarantee, of a role and those above it."""
        for level in (role, *ancestors(role)):
            time = self._clock.seen - self._at.get(level, 0)
            self._at[level] = self._clock.seen
            account = accounts.get(level)
            if not time or account is None or not account.promised or not self._is_below(level, account.promised):
                continue
            part = account.parts[self._clock.step]
            wants = self._wants(level)
            if wants is None:
                part.below_guarantee_unknown += time
            elif wants:
                part.below_guarantee += time

    def settle_all(self, accounts: Mapping[str, _Account]) -> None:
        """The same for every role with a guarantee."""
        for role, account in accounts.items():
            if account.promised:
                self.settle(role, accounts)

    def _is_below(self, role: str, promised: Amounts) -> bool:
        has = self._consumed[role]
        return any(has.get(name, 0) < amount for name, amount in promised.items())

    def _wants(self, role: str) -> bool | None:
        """Whether it wants more; None if that is unknown."""
        if role in self._waiting:
            return self._waiting[role] > 0
        wishes = [
            self._suppressed.get((subscribed_role, framework)) for subscribed_role, framework in self._frameworks(role)
        ]
        if any(suppressed is False for suppressed in wishes):
            return True
        return None if None in wishes else False

    def _frameworks(self, role: str) -> Iterator[tuple[str, str]]:
        for subscribed_role, subscribed in self._subscribed.items():
            if subscribed_role == role or role in ancestors(subscribed_role):
                for framework in subscribed:
                    yield subscribed_role, framework

    def consume(self, role: str, amounts: Amounts, sign: int) -> None:
        """More, or less, is held by or reserved for a role; the time before is settled already."""
        for level in (role, *ancestors(role)) if self._counts_subroles else (role,):
            if level != DEFAULT_ROLE:
                _add(self._consumed[level], amounts, sign)

    def subscribe(self, accounts: Mapping[str, _Account], role: str, framework: str, sign: int) -> None:
        """A framework comes into a role, or leaves it."""
        self.settle(role, accounts)
        left = self._subscribed[role].get(framework, 0) + sign
        if left > 0:
            self._subscribed[role][framework] = left
        else:
            self._subscribed[role].pop(framework, None)

    def tell(self, accounts: Mapping[str, _Account], role: str, framework: str, suppressed: bool | None) -> None:
        """It is known, or not known any more, whether a framework wants offers in a role."""
        self.settle(role, accounts)
        if suppressed is None:
            self._suppressed.pop((role, framework), None)
        else:
            self._suppressed[role, framework] = suppressed

    def know(self, role: str) -> None:
        """The demand of a role is known."""
        for level in (role, *ancestors(role)):
            self._waiting.setdefault(level, 0)

    def ask(self, accounts: Mapping[str, _Account], role: str, sign: int) -> None:
        """A task waits in a role whose demand is known, or waits no more."""
        self.settle(role, accounts)
        for level in (role, *ancestors(role)):
            self._waiting[level] += sign
