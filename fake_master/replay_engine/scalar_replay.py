"""Recorded demand on the decisions of the allocator alone, where everything is plain: the fast way of a replay.

This is a recording of agents that stay, with unreserved scalars alone, shared out among roles that are not nested: such
as most logs. There, a decision is a comparison of a few integers, and a master, its offers, its events and its tasks
only carry them about: this takes a twentieth of the time.

`ScalarReplay.of` says whether a cluster is of this kind; `ReplayRun` takes the general way otherwise. Both make the
same decisions at the same moments, to the last bit; `README.md` beside this file says what holds it to that. The rules
are those of `allocator/hierarchical`, as its modules explain them: the two stages of a run (`stages/two_stages.py`),
quota (`stages/parts_within_quota.py`), the order (`sorters/drf_sorter.py`), filters (`offer_filters.py`), and the
frameworks' answers (`sources/simulated_frameworks.py`).

Amounts are thousandths, one for each name of a resource, packed into one integer (`packed_amounts.py`).
"""

import heapq
import math
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.offer_filters import filter_seconds
from fake_master.allocator.hierarchical.recurrence import periods_with_the_same_order
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import FrameworkInfo
from fake_master.replay_engine.asked_tasks import AskedTask, AskedTasks
from fake_master.replay_engine.packed_amounts import Amounts, Lanes
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources

_MOST_KEPT = 10_000
"""Shares and verdicts that are kept; beyond that all of them are dropped, and made again as needed."""

Minimum = tuple[Amounts, ...]
"""The least amounts of an offer: any of these will do."""


class AskingFramework(NamedTuple):
    """A framework that asks for tasks."""

    info: FrameworkInfo
    roles: tuple[str, ...]
    after: float
    """Seconds until it joins."""
    tasks: AskedTasks


Member = TypeVar("Member", bound="_Node")


class _Order(Generic[Member]):
    """Roles, or the frameworks of a role, in the order of their dominant shares."""

    __slots__ = ("_ranking", "has_rivals", "is_stale", "nodes", "ties")

    def __init__(self) -> None:
        self.nodes: list[Member] = []
        self.ties = 0
        """The number of times that counts have decided between equal shares."""
        self._ranking: list[Member] = []
        self.is_stale = True
        """Whether it has to be ordered again before the next walk."""
        self.has_rivals = False
        """Whether there is an order, since more than one took part in the last walk."""

    def walk(self) -> list[Member]:
        """Return those that take part, in order; what is allocated meanwhile counts from the next walk on."""
        if self.is_stale:
            self.is_stale = False
            ranking = [node for node in self.nodes if node.is_active]
            self.has_rivals = len(ranking) > 1
            if self.has_rivals:
                ranking.sort(key=_Node.key)
            self._ranking = ranking
        return self._ranking

    def among(self, members: Mapping[Member, Any]) -> list[Member]:
        """Return these in order, before one of them is chosen: where their shares are equal, counts decide now."""
        if len(members) < 2:
            return list(members)
        # While nobody has a place, only these are given one.
        ordered = sorted(members, key=_Node.key) if self.is_stale else self._ranking
        found = [node for node in ordered if node in members]
        before = -1.0
        for node in found:
            if node.share == before:
                self.ties += 1
            before = node.share
        return found


class _Shares(dict[Amounts, float]):
    """The dominant share of amounts, without a weight, kept because the same come again and again."""

    def __init__(self, lanes: Lanes, divisors: Sequence[float]) -> None:
        super().__init__()
        self._lanes = lanes
        self._divisors = divisors
        """The totals of the cluster."""

    def __missing__(self, amounts: Amounts) -> float:
        if len(self) >= _MOST_KEPT:
            self.clear()
        best = 0.0
        for amount, divisor in zip(self._lanes.amounts(amounts), self._divisors, strict=True):
            # As `drf_sorter._share` does it, whose last bit decides ties.
            best = max(best, (amount // 1000 + amount % 1000 / 1000.0) / divisor)
        self[amounts] = best
        return best


class _LargeEnough(dict[Amounts, bool]):
    """Whether an offer of these amounts is large enough, kept for the same reason."""

    def __init__(self, lanes: Lanes, minimum: Minimum | None) -> None:
        super().__init__()
        self._lanes = lanes
        self._minimum = minimum
        """None if any amount will do."""

    def __missing__(self, part: Amounts) -> bool:
        if len(self) >= _MOST_KEPT:
            self.clear()
        large = self[part] = (
            part > 0
            if self._minimum is None
            else any(self._lanes.contain(part, alternative) for alternative in self._minimum)
        )
        return large


class _Node:
    """A role, or a framework in a role, and what it holds or is offered."""

    __slots__ = ("amounts", "count", "is_active", "name", "order", "share", "shares", "weight")

    def __init__(self, name: str, order: "_Order[Any]", weight: float, shares: _Shares, *, is_active: bool) -> None:
        self.name = name
        self.order = order
        self.weight = weight
        self.shares = shares
        self.is_active = is_active
        self.count = 0
        """The number of offers to it so far."""
        self.amounts: Amounts = 0
        self.share = 0.0
        """The dominant share of the amounts, as of the last time that it was compared."""
        order.nodes.append(self)
        order.is_stale = True

    def hold(self, amounts: Amounts) -> None:
        """Its amounts have changed, or its count."""
        self.amounts = amounts
        order = self.order
        if order.has_rivals:
            order.is_stale = True

    def key(self) -> tuple[float, int, str]:
        """Its place in the order."""
        self.share = self.shares[self.amounts] / self.weight
        return self.share, self.count, self.name

    def offered_again(self, times: int) -> None:
        """It was offered something, and gave it back, as often as this."""
        self.count += times
        self.hold(self.amounts)


class _Role(_Node):
    """A role that has frameworks."""

    __slots__ = ("active", "at_rest", "frameworks", "limits_left", "most", "part", "part_at", "unmet")

    def __init__(self, name: str, order: _Order[Any], weight: float, shares: _Shares) -> None:
        super().__init__(name, order, weight, shares, is_active=False)
        self.frameworks: _Order[_Client] = _Order()
        self.active: dict[_Client, None] = {}
        """Its frameworks that may be offered something."""
        self.unmet: Amounts = 0
        """The amounts that its guarantee lacks in this run."""
        self.limits_left: Amounts | None = None
        """The amounts that its limits leave in this run; None without quota."""
        self.at_rest: tuple[Amounts, Amounts | None] = 0, None
        """Those two while nobody has an offer."""
        self.most: Amounts | None = None
        """The most that it may be offered of an agent while nobody has an offer; None for all that is free.

        As offers are made and tasks start, it may be offered less, never more.
        """
        self.part: Amounts = 0
        """The most that the second stage may offer to it at one point of a run."""
        self.part_at = -1
        """The number of that point."""


_Filters = list[tuple[float, Amounts]]
"""When each ends, in this order, and what it refuses, with the guards of its lanes.

There are few, and a list of a few takes a tenth of the room of a deque.
"""


class _Client(_Node):
    """A framework in one role."""

    __slots__ = ("_guards", "agents", "filters", "framework", "large_enough", "role", "unfit", "until")

    def __init__(
        self,
        framework: "_Framework",
        role: _Role,
        agents: Collection[int],
        large_enough: _LargeEnough,
        guards: int,
    ) -> None:
        super().__init__(framework.name, role.frameworks, 1.0, role.shares, is_active=False)
        self.framework = framework
        self.role = role
        self.agents = agents
        """The agents that may be offered to it."""
        self.large_enough = large_enough
        self._guards = guards
        self.filters: dict[int, _Filters] = {}
        """By agent, without those that a later one covers."""
        self.until: dict[int, float] = {}
        """By agent: it can be offered nothing of it that it does not refuse until then, unless something changes.

        An agent that is not in it has to be looked at.
        """
        self.unfit: set[Amounts] = set()
        """Offers that have no room for any size that waits."""

    def refuse(self, agent: int, part: Amounts, end: float, now: float) -> None:
        """Refuse a part until then, which is no earlier than any other end so far."""
        guards = self._guards
        refused = part | guards
        filters = self.filters.get(agent)
        if filters is None:
            filters = self.filters[agent] = []
        while filters and filters[0][0] < now:
            del filters[0]
        while filters and refused - (filters[-1][1] ^ guards) & guards == guards:
            filters.pop()
        filters.append((end, refused))

    def refused_until(self, agent: int, part: Amounts, over: float) -> float:
        """Return when the last filter ends that covers a part and has not ended before a moment; 0 if there is none."""
        filters = self.filters.get(agent)
        if filters:
            guards = self._guards
            for end, refused in reversed(filters):
                if end < over:
                    break
                if refused - part & guards == guards:
                    return end
        return 0.0


_Kind = tuple[Amounts, str | None]
"""The size of tasks, and their role."""


class _Framework:
    """A framework: the tasks that it asks for, and those that wait."""

    def __init__(self, name: str, asking: AskingFramework, lanes: Lanes) -> None:
        self.name = name
        self.asking = asking
        self._contain = lanes.contain
        self.clients: list[_Client] = []
        self.joined = 0.0
        self.asks = iter(asking.tasks)
        """The tasks that it has yet to ask for, without the next one."""
        self.next = next(self.asks, None)
        self.waiting = 0
        self.queues: dict[_Kind, deque[int]] = {}
        """The places of the tasks that wait for any agent, by size and role."""
        self.preferring: dict[str, dict[int, _Kind]] = {}
        """By host, the tasks that wait for it alone, by their places."""

    def wait(self, kind: _Kind, place: int) -> None:
        """Let a task wait for any agent."""
        queue = self.queues.get(kind)
        if queue is None:
            queue = self.queues[kind] = deque()
            for client in self.clients:
                client.unfit.clear()
        if queue and place < queue[-1]:  # it has waited for its host
            insort(queue, place)
        else:
            queue.append(place)

    def wait_for(self, host: str, kind: _Kind, place: int) -> None:
        """Let a task wait for a host."""
        self.preferring.setdefault(host, {})[place] = kind

    def release(self, host: str, place: int) -> bool:
        """Let a task that waits for a host wait for any agent from now on; return whether it still waits for it."""
        own = self.preferring.get(host, {})
        if place not in own:
            return False
        kind = own[place]
        self._drop(host, place)
        self.wait(kind, place)
        return True

    def take(self, client: _Client, host: str, left: Amounts) -> list[tuple[Amounts, int]]:
        """Return the waiting tasks for which an offer has room, first come, first served; they wait no longer."""
        found: list[tuple[Amounts, int]] = []
        role, offered = client.role.name, left
        fitting = [(queue[0], size, queue) for (size, of), queue in self.queues.items() if of == role]
        own = deque((place, size) for place, (size, of) in self.preferring.get(host, {}).items() if of == role)
        while (fitting := [first for first in fitting if self._contain(left, first[1])]) or own:
            if own and (not fitting or own[0][0] < min(fitting)[0]):
                place, size = own.popleft()
                if not self._contain(left, size):
                    continue
                self._drop(host, place)
            else:
                _, size, queue = first = min(fitting)
                place = queue.popleft()
                fitting.remove(first)
                if queue:
                    fitting.append((queue[0], size, queue))
                else:
                    del self.queues[size, role]
            found.append((size, place))
            left -= size
        if not found:
            client.unfit.add(offered)
        self.waiting -= len(found)
        return found

    def _drop(self, host: str, place: int) -> None:
        del self.preferring[host][place]
        if not self.preferring[host]:
            del self.preferring[host]


class _Declined(NamedTuple):
    """Offers that a framework has declined at once, and refuses until `end`."""

    end: float
    framework: _Framework
    parts: frozenset[tuple[_Client, int, Amounts]]
    """Empty once the framework has revived, which ends its filters."""


class _Moment(NamedTuple):
    """A batch before which nothing but declined offers has happened since an earlier one."""

    at: float
    ties: list[int]
    counts: list[list[int]]


class _Bounds:
    """The bounds that quota sets to what each role may be offered, at each point of a run.

    The rules are those of `stages/parts_within_quota.py`.  Without quotas there are no bounds.
    """

    def __init__(self, lanes: Lanes, state: State, roles: Mapping[str, _Role], headroom: Amounts) -> None:
        self._lanes = lanes
        self._roles = roles
        self.headroom = headroom
        """The sum of what is free, without what is offered."""
        self.quotas = {
            role.name: (
                lanes.packed(role.quota.guarantees),
                lanes.packed(dict(role.quota.limits.items()), otherwise=math.inf),
            )
            for role in state.roles.with_quota()
        }
        """The guarantees and limits of each role that has any."""
        self.unmet: Amounts = 0
        """The sum of what all guarantees lack, in this run."""
        self._absent: Amounts = 0
        """The guarantees of roles without frameworks."""
        self.are_known = False
        """Whether what each role may be offered while nobody has an offer is that of the present moment."""
        self._spare: Amounts | None = None
        """How much may be offered without using what guarantees still lack; None if that is to be worked out."""

    def begin(self, *, others_are_out: bool) -> None:
        """Begin a run; `others_are_out` if the offers of another one at this moment are not answered."""
        if not self.quotas:
            return
        self._spare = None
        if not self.are_known:
            self._work_out()
        roles = self._roles.values()
        if not others_are_out:
            for role in roles:
                role.unmet, role.limits_left = role.at_rest
        self.unmet = self._absent + sum(role.unmet for role in roles)

    def _work_out(self) -> None:
        rest, least = self._lanes.rest, self._lanes.least
        unmet = self._absent = sum(quota[0] for name, quota in self.quotas.items() if name not in self._roles)
        for name, role in self._roles.items():
            if name in self.quotas:
                guarantee, limit = self.quotas[name]
                role.at_rest = rest(guarantee, role.amounts), rest(limit, role.amounts)
                unmet += role.at_rest[0]
        spare = rest(self.headroom, unmet)
        for role in self._roles.values():
            lacking, limits_left = role.at_rest
            if limits_left is None:
                role.most = spare if unmet else None
            else:
                beyond = rest(limits_left, lacking)
                role.most = lacking + (least(beyond, spare) if unmet else beyond)
        self.are_known = True

    def spare(self) -> Amounts:
        """Return how much may be offered without using what guarantees still lack."""
        return self._lanes.rest(self.headroom, self.unmet)

    def guaranteed(self, role: _Role) -> Amounts:
        """Return the most that a role may be offered for its guarantee, and beside it."""
        assert role.limits_left is not None, "it has a guarantee"
        beyond = self._lanes.rest(role.limits_left, role.unmet)
        return role.unmet + (self._lanes.least(beyond, self.spare()) if self.unmet else beyond)

    def fair(self, role: _Role, free: Amounts) -> Amounts:
        """Return as much of what is free as the role's own limits and the guarantees of all allow."""
        if role.limits_left is not None:
            free = self._lanes.least(free, role.limits_left)
        if self.unmet:
            if self._spare is None:
                self._spare = self.spare()
            free = self._lanes.least(free, self._spare)
        return free

    def offered(self, role: _Role, part: Amounts) -> None:
        """A role is offered this."""
        self.headroom -= part
        self._spare = None
        if role.limits_left is not None:
            role.unmet = self._lanes.rest(role.unmet, part)
            role.limits_left = self._lanes.rest(role.limits_left, part)


_Offers = dict[_Client, dict[int, Amounts]]
"""The offers of a run: by client and agent."""


class _OpenAgents:
    """The agents on which not everything is held, in order."""

    def __init__(self, free: Sequence[Amounts]) -> None:
        self.free = list(free)
        """By agent, with what is offered."""
        self.in_order = [agent for agent, amounts in enumerate(free) if amounts]

    def change(self, agent: int, more: Amounts) -> None:
        """Put an agent in, or leave it out, because this much more is free there, or less."""
        before = self.free[agent]
        after = self.free[agent] = before + more
        if not after:
            del self.in_order[bisect_left(self.in_order, agent)]
        elif not before:
            insort(self.in_order, agent)


class ScalarReplay:
    """One replay.  Agents are known by their places in the order of registration."""

    def __init__(
        self,
        allocator: HierarchicalAllocator,
        now: float,
        refuse: float,
        frameworks: Sequence[AskingFramework],
        on_start: Callable[[int, float], float | None],
    ) -> None:
        """Take the cluster over as it is, with its quotas and weights; see `of`."""
        state = allocator.state
        self._frameworks = frameworks
        self._state = state
        self._agents = list(state.agents.values())
        self._places = {agent_id: place for place, agent_id in enumerate(state.agents)}
        self._hosts = [agent.info.hostname for agent in self._agents]
        self._lanes, self._sizes = _packed_sizes(state, frameworks)
        self._free = [self._lanes.packed(dict(agent.capacity.scalars)) for agent in self._agents]
        """By agent, without what is offered."""
        self._open = _OpenAgents(self._free)
        self._shares = _Shares(self._lanes, [state.totals.divisors.get(name, math.inf) for name in self._lanes.names])
        self._interval = allocator.allocation_runs.batches.interval
        self._batch = allocator.allocation_runs.batches.due[0]
        """The moment of the next batch."""
        self._seconds = filter_seconds(refuse, self._interval)
        """The length of a filter; None if nothing is filtered."""
        self._on_start = on_start
        self._roles: dict[str, _Role] = {}
        self._order: _Order[_Role] = _Order()
        self._orders: list[_Order[Any]] = [self._order]
        """That of the roles, and those of their frameworks."""
        self._clients: list[_Client] = []
        self._offers: _Offers = {}
        self._unanswered: list[_Offers] = []
        """The offers of each run at this moment."""
        self._idle_until = [0.0] * len(self._free)
        """By agent: everybody refuses whatever they may be offered of it until then."""
        self._bounds = _Bounds(self._lanes, state, self._roles, sum(self._free))
        self._now = self._until = now
        self._over = now
        """The moment before which filters have ended for this run."""
        self._point = 0
        """The number of this point of a run: an agent is looked at, or other amounts are left after an offer."""
        self._verdicts: dict[Minimum | None, _LargeEnough] = {}
        """The verdicts on offers, by their minimum."""
        self._wanting: dict[_Client, None] = {}
        """The clients that may be offered something."""
        self._run_is_due = False
        """Whether a run for all agents is due at this moment: a framework has joined, or revived."""
        self._has_changed = True
        """Whether anything has changed since a run that made no offer, so that the next one might."""
        self._declined: deque[_Declined] = deque()
        """The declined offers that may still be refused, in order."""
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._seen: dict[object, _Moment] = {}
        """The batches since anything but a declined offer has happened, by what makes them alike."""

    @staticmethod
    def of(
        allocator: object,
        now: float,
        refuse: float,
        frameworks: Sequence[AskingFramework],
        on_start: Callable[[int, float], float | None],
    ) -> "ScalarReplay | None":
        """Return the replay of these frameworks on an allocator without others; None if something is not plain.

        `on_start` is called with the place of each task that starts, and the moment; it returns when the task ends, and
        None if it does not.
        """
        if type(allocator) is not HierarchicalAllocator:
            return None
        state, runs = allocator.state, allocator.allocation_runs
        roles = {role.name for role in state.roles}.union(*(asking.roles for asking in frameworks))
        is_plain = (
            runs.depends_on_state_alone
            and not state.frameworks
            and not state.options.quota_takes_whole_agents
            and not state.options.guarantee_is_limit
            and state.whitelist is None
            and runs.batches.interval > 0
            and not any("/" in role for role in roles)
            and not any(asking.info.excludes for asking in frameworks)
            and all(agent.activated and _is_plain(agent.capacity.total) for agent in state.agents.values())
        )
        return ScalarReplay(allocator, now, refuse, frameworks, on_start) if is_plain else None

    # --- Time -----------------------------------------------------------------------------------------

    def play(self, until: float, step: float, progress: Callable[[float], None]) -> None:
        """Let the frameworks join, and time pass; `progress` is told the time after every `step` seconds or more."""
        self._until = until
        told = self._now
        for number, asking in enumerate(self._frameworks):
            framework = _Framework(f"{number:04d}", asking, self._lanes)
            if asking.after:
                self._at(self._now + asking.after, partial(self._join, framework))
                continue
            self._join(framework)
            self._place(framework)
        while (moment := self._next()) is not None:
            self._now = moment
            self._do_moment()
            if moment >= told + step:
                told = moment
                progress(moment)

    def _at(self, deadline: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (deadline, next(self._numbers), action))

    @property
    def _due(self) -> float:
        """The moment at which a framework does something next, or the end of the replay."""
        return min(self._timers[0][0], self._until) if self._timers else self._until

    def _next(self) -> float | None:
        """Return when anything may happen next; None if nothing does until the end."""
        if self._run_is_due:
            return self._now
        due = self._due
        if not self._wanting:
            self._skip_to(due)
        elif not self._has_changed:
            self._skip_to(min(due, self._declined[0].end) if self._declined else due)
        if self._batch <= due:
            return self._batch
        return due if self._timers and self._timers[0][0] <= self._until else None

    def _skip_to(self, moment: float) -> None:
        """Leave out the batches before a moment, which would offer nothing."""
        interval = self._interval
        while self._batch < moment:
            left = math.floor((moment - self._batch) / interval) - 1  # the quotient may be rounded up
            self._batch += max(1, min(left, _exact_steps(self._batch, interval))) * interval

    def _do_moment(self) -> None:
        """Do what frameworks do at this moment, the run that they cause, and the batch."""
        now, timers = self._now, self._timers
        while timers and timers[0][0] <= now:
            heapq.heappop(timers)[2]()
        if self._run_is_due:
            self._run_is_due = False
            self._over = now
            if self._wanting:
                self._has_changed = False
                self._run()
        if self._batch <= now:
            self._do_batch()
        if self._unanswered:
            self._answer_all()

    def _do_batch(self) -> None:
        self._begin_batch()
        while self._declined and self._declined[0].end < self._over:
            self._declined.popleft()
            self._has_changed = True
        if self._has_changed and self._wanting:
            due = self._due
            if self._seconds is not None and due - self._now > 2 * self._seconds and not self._unanswered:
                self._leave_out_repetitions(due)
                self._begin_batch()
            self._has_changed = False
            self._run()
        self._batch = self._now + self._interval

    def _begin_batch(self) -> None:
        """Let filters end that end by now, but for one that came with the last batch: that ends after this one."""
        self._over = self._now if self._seconds == self._interval else math.nextafter(self._now, math.inf)

    def _leave_out_repetitions(self, before: float) -> None:
        """Leave out time in which everybody declines the same again and again, as `Recurrence.repeat` does."""
        now = self._now
        likeness = frozenset((end - now, declined) for end, _, declined in self._declined)
        orders = self._orders
        present = _Moment(
            now, [order.ties for order in orders], [[node.count for node in order.nodes] for order in orders]
        )
        earlier = self._seen.get(likeness)
        self._seen[likeness] = present
        if earlier is None:
            return
        period = now - earlier.at
        most: float = math.ceil((before - now) / period) - 1
        for place, order in enumerate(orders):
            if earlier.ties[place] != present.ties[place]:
                taking_part = [at for at, node in enumerate(order.nodes) if node.is_active]
                counts = [(earlier.counts[place][at], present.counts[place][at]) for at in taking_part]
                most = min(most, periods_with_the_same_order(counts))
        exact = _exact_steps(now, period, 2 * (self._seconds or 0.0))
        times = int(min(most, exact))
        if times <= 0 or math.frexp(earlier.at)[1] != math.frexp(now)[1]:
            return
        left_out = times * period
        self._now += left_out
        for client in self._clients:
            for agent, filters in client.filters.items():
                client.filters[agent] = [(end + left_out, refused) for end, refused in filters]
            client.until.clear()
        self._declined = deque(declined._replace(end=declined.end + left_out) for declined in self._declined)
        self._idle_until = [0.0] * len(self._free)
        for place, order in enumerate(orders):
            for node, then, count_now in zip(order.nodes, earlier.counts[place], present.counts[place], strict=True):
                if count_now != then:
                    node.offered_again(times * (count_now - then))
        self._seen.clear()

    # --- Allocation runs ------------------------------------------------------------------------------

    def _run(self) -> None:
        """Offer what all agents have free."""
        agents = self._open.in_order
        self._offers = {}
        self._bounds.begin(others_are_out=bool(self._unanswered))
        if self._bounds.unmet:
            self._meet_guarantees(agents)
        self._share_fairly(agents)
        if self._offers:
            self._unanswered.append(self._offers)

    def _meet_guarantees(self, agents: Sequence[int]) -> None:
        """The first stage: each agent to those that lack some of their guarantee."""
        now, idle_until = self._now, self._idle_until
        lacking: list[_Role] | None = None
        for agent in agents:
            if lacking is None:
                lacking = self._order.among(
                    {role: None for role in self._roles.values() if role.unmet and role.is_active}
                )
            if not lacking:
                return
            if idle_until[agent] <= now and self._offer_for_guarantees(agent, lacking):
                lacking = None

    def _offer_for_guarantees(self, agent: int, lacking: list[_Role]) -> bool:
        """Offer an agent to these roles in this order; return whether anything was."""
        least, free, over = self._lanes.least, self._free[agent], self._over
        gave = False
        for role in lacking:
            for client in role.frameworks.among(role.active):
                until = client.until.get(agent)
                if (self._refuses_until(client, agent) if until is None else until) >= over:
                    continue
                guaranteed = least(free, role.unmet)
                if not guaranteed:
                    break
                part = least(free, self._bounds.guaranteed(role))
                if client.large_enough[part] and not client.refused_until(agent, part, over):
                    self._commit(client, agent, part)
                    self._bounds.unmet -= guaranteed
                    free = self._free[agent]
                    gave = True
        return gave

    def _share_fairly(self, agents: Sequence[int]) -> None:
        """The second stage: the rest of each agent to all roles and their frameworks in fair order."""
        now, over, free, idle_until = self._now, self._over, self._free, self._idle_until
        for agent in agents:
            if idle_until[agent] > now or not free[agent]:
                continue
            taking = []
            ends = math.inf
            for client in self._wanting:
                until = client.until.get(agent)
                if until is None:
                    until = self._refuses_until(client, agent)
                if until < over:
                    taking.append(client)
                elif until < ends:
                    ends = until
            if taking:
                self._offer_fairly(agent, taking)
            else:
                idle_until[agent] = ends

    def _offer_fairly(self, agent: int, taking: Sequence[_Client]) -> None:
        """Offer an agent to these, in fair order.

        Those that can be offered nothing at first can be offered nothing after others: less is left then.
        """
        self._point += 1
        if len(taking) == 1:  # as with most agents
            (client,) = taking
            if part := self._fair_part(client, agent):
                self._commit(client, agent, part)
            return
        parts = {client: part for client in taking if (part := self._fair_part(client, agent))}
        order = self._ranked(parts) if len(parts) > 1 else list(parts)
        for client in order[:1]:
            self._commit(client, agent, parts[client])
        for client in order[1:]:
            role = client.role
            if role.part_at == self._point and not role.part:  # as `_fair_part` would say; there may be many clients
                continue
            if part := self._fair_part(client, agent):
                self._commit(client, agent, part)

    def _fair_part(self, client: _Client, agent: int) -> Amounts:
        """Return what a client may be offered of an agent at this point of a run; 0 if it is too little or refused."""
        role, point = client.role, self._point
        if role.part_at != point:
            role.part, role.part_at = self._bounds.fair(role, self._free[agent]), point
        part = role.part
        if not part or not client.large_enough[part] or client.refused_until(agent, part, self._over):
            return 0
        return part

    def _ranked(self, clients: Collection[_Client]) -> list[_Client]:
        """Return these in fair order."""
        by_role: dict[_Role, dict[_Client, None]] = {}
        for client in clients:
            by_role.setdefault(client.role, {})[client] = None
        return [client for role in self._order.among(by_role) for client in role.frameworks.among(by_role[role])]

    def _refuses_until(self, client: _Client, agent: int) -> float:
        """Work out until when a client can be offered nothing of an agent; before all times if it may be now."""
        most = self._most(client, agent)
        if agent not in client.agents or not client.large_enough[most]:
            until = math.inf
        else:
            until = client.refused_until(agent, most, self._over) or -math.inf  # a log may begin at second 0
        client.until[agent] = until
        return until

    def _most(self, client: _Client, agent: int) -> Amounts:
        """Return the most that a client may be offered of an agent while nobody has an offer."""
        free, most = self._open.free[agent], client.role.most
        return free if most is None else self._lanes.least(free, most)

    def _commit(self, client: _Client, agent: int, part: Amounts) -> None:
        """Offer a part."""
        role = client.role
        self._point += 1
        self._free[agent] -= part
        self._bounds.offered(role, part)
        role.count += 1
        role.hold(role.amounts + part)
        client.count += 1
        client.hold(client.amounts + part)
        by_agent = self._offers.setdefault(client, {})
        by_agent[agent] = by_agent.get(agent, 0) + part

    # --- Frameworks -----------------------------------------------------------------------------------

    def _join(self, framework: _Framework) -> None:
        """A framework subscribes, and begins to ask."""
        info = framework.asking.info
        for name in sorted(framework.asking.roles):
            role = self._roles.get(name)
            if role is None:
                known = self._state.roles.get(name)
                weight = 1.0 if known is None else known.weight
                role = self._roles[name] = _Role(name, self._order, weight, self._shares)
                self._orders.append(role.frameworks)
            eligibility = self._state.eligibilities.of(info, name)
            agents = {at for at, agent in enumerate(self._agents) if eligibility.admits(agent.capacity.features)}
            large_enough = self._large_enough(eligibility.minimum)
            client = _Client(framework, role, agents, large_enough, self._lanes.guards)
            framework.clients.append(client)
            self._clients.append(client)
        framework.joined = self._now
        self._run_is_due = True
        self._bounds.are_known = False
        self._ask_later(framework)

    def _place(self, framework: _Framework) -> None:
        """The tasks that run on their agents from the beginning on: what they hold of one counts as one offer."""
        counted = set()
        for placed in framework.asking.tasks.placed:
            task = placed.task
            assert isinstance(task, AskedTask), "only tasks of the demand are asked for"
            agent, size = self._places[placed.agent_id], self._sizes[id(task.resources)]
            client = next(client for client in framework.clients if client.role.name == task.role)
            if (client, agent) not in counted:
                counted.add((client, agent))
                client.count += 1
                client.role.count += 1
            self._free[agent] -= size
            self._bounds.headroom -= size
            client.role.hold(client.role.amounts + size)
            client.hold(client.amounts + size)
            self._open.change(agent, -size)
            self._note_event(agent)
            self._start(client, agent, size, task.place)

    def _large_enough(self, minimum: Sequence[Quantities]) -> _LargeEnough:
        """Whether offers meet a minimum; an alternative of other names is never met."""
        names = set(self._lanes.names)
        known = tuple(self._lanes.packed(amounts) for amounts in minimum if names.issuperset(amounts))
        amounts = known if minimum else None
        return self._verdicts.setdefault(amounts, _LargeEnough(self._lanes, amounts))

    def _ask_later(self, framework: _Framework) -> None:
        if framework.next is not None:
            due = framework.joined + framework.next.asked
            self._at(max(due, self._now), partial(self._ask, framework))

    def _ask(self, framework: _Framework) -> None:
        """A framework asks for everything that is due, and revives."""
        while (task := framework.next) is not None and framework.joined + task.asked <= self._now:
            kind = self._sizes[id(task.resources)], task.role
            if task.agent is None:
                framework.wait(kind, task.place)
            else:
                framework.wait_for(task.agent, kind, task.place)
                moment = task.released_at(self._now, self._interval)
                self._at(moment, partial(self._release, framework, task.agent, task.place))
            framework.next = next(framework.asks, None)
            framework.waiting += 1
        self._ask_later(framework)
        self._revive(framework)

    def _release(self, framework: _Framework, host: str, place: int) -> None:
        """A task has waited for its host long enough."""
        if framework.release(host, place):
            self._revive(framework)

    def _revive(self, framework: _Framework) -> None:
        """A framework revives: its filters end, and a run offers what is free to everybody."""
        self._seen.clear()
        self._has_changed = True
        self._idle_until = [0.0] * len(self._free)
        self._declined = deque(
            declined._replace(parts=frozenset()) if declined.framework is framework else declined
            for declined in self._declined
        )
        for client in framework.clients:
            client.filters.clear()
            client.until.clear()
            if not client.is_active:
                self._set_active(client, is_active=True)
        self._run_is_due = True

    def _set_active(self, client: _Client, *, is_active: bool) -> None:
        role = client.role
        client.is_active = is_active
        for clients in (self._wanting, role.active):
            if is_active:
                clients[client] = None
            else:
                del clients[client]
        client.order.is_stale = True
        role.is_active = bool(role.active)
        role.order.is_stale = True

    def _answer_all(self) -> None:
        """Frameworks answer the offers of this moment's runs."""
        runs, self._unanswered = self._unanswered, []
        self._has_changed = True
        for offers in runs:
            by_framework: dict[_Framework, list[_Client]] = {}
            for client in offers:
                by_framework.setdefault(client.framework, []).append(client)
            for framework, clients in by_framework.items():
                declined = [answer for client in clients for answer in self._answer(client, offers[client])]
                if declined and self._seconds is not None:
                    self._refuse(framework, declined, self._now + self._seconds)
                if not framework.waiting:
                    self._suppress(framework)

    def _answer(self, client: _Client, offers: dict[int, Amounts]) -> list[tuple[_Client, int, Amounts]]:
        """Launch what fits into offers, first come, first served; return the offers without any that does."""
        framework, unfit, hosts = client.framework, client.unfit, self._hosts
        declined: list[tuple[_Client, int, Amounts]] = []
        back = 0
        for agent, part in offers.items():
            left = part
            is_fit = framework.waiting and (part not in unfit or hosts[agent] in framework.preferring)
            if is_fit and (taken := framework.take(client, hosts[agent], part)):
                for size, place in taken:
                    self._start(client, agent, size, place)
                    left -= size
                self._open.change(agent, left - part)
                self._note_event(agent)
            else:
                declined.append((client, agent, part))
            self._free[agent] += left
            self._idle_until[agent] = 0.0
            back += left
        self._bounds.headroom += back
        client.role.hold(client.role.amounts - back)
        client.hold(client.amounts - back)
        return declined

    def _refuse(self, framework: _Framework, declined: Collection[tuple[_Client, int, Amounts]], end: float) -> None:
        """Refuse these offers until then."""
        for client, agent, part in declined:
            client.refuse(agent, part, end, self._now)
            if part == self._most(client, agent):
                client.until[agent] = end
        self._declined.append(_Declined(end, framework, frozenset(declined)))

    def _suppress(self, framework: _Framework) -> None:
        """A framework wants nothing."""
        self._seen.clear()
        for client in framework.clients:
            if client.is_active:
                self._set_active(client, is_active=False)

    def _start(self, client: _Client, agent: int, size: Amounts, place: int) -> None:
        end = self._on_start(place, self._now)
        if end is not None:
            self._at(max(self._now, end), partial(self._end, client, agent, size))

    def _end(self, client: _Client, agent: int, size: Amounts) -> None:
        self._free[agent] += size
        self._bounds.headroom += size
        client.role.hold(client.role.amounts - size)
        client.hold(client.amounts - size)
        self._has_changed = True
        self._open.change(agent, size)
        self._note_event(agent)

    def _note_event(self, agent: int) -> None:
        """Take note that more or less of an agent is held than before."""
        self._seen.clear()
        self._bounds.are_known = False
        if self._bounds.quotas:  # of each agent, something else may be offered
            self._idle_until = [0.0] * len(self._free)
            for client in self._clients:
                client.until.clear()
        else:
            self._idle_until[agent] = 0.0
            for client in self._clients:
                client.until.pop(agent, None)


def _packed_sizes(state: State, frameworks: Sequence[AskingFramework]) -> tuple[Lanes, dict[int, Amounts]]:
    """Return lanes for the resources of agents, tasks and quotas, wide enough for all sums of them.

    The second value has the sizes of tasks in these lanes, by the ids of their resources.
    """
    sizes = {known: size.scalar_quantities() for asking in frameworks for known, size in asking.tasks.sizes.items()}
    totals = [agent.capacity.scalars for agent in state.agents.values()]
    guarantees = [role.quota.guarantees.items() for role in state.roles.with_quota()]
    limits = [role.quota.limits.items() for role in state.roles.with_quota()]
    most: Counter[str] = Counter()
    for amounts in (*totals, *totals, *guarantees):
        most.update(dict(amounts))
    names = {name for size in sizes.values() for name, _ in size.items()}
    names |= {*most, *(name for amounts in limits for name, _ in amounts)}
    lanes = Lanes(sorted(names), max(most.values(), default=0))
    return lanes, {known: lanes.packed(size) for known, size in sizes.items()}


def _is_plain(total: Resources) -> bool:
    """Whether there are only unreserved amounts, one for each name."""
    return len({entry.name for entry in total}) == len(total) and all(
        entry.is_scalar and not entry.reservations and entry.disk is None and not entry.revocable and not entry.shared
        for entry in total
    )


def _exact_steps(start: float, step: float, beyond: float = 0.0) -> int:
    """Return how often a step can be added without a sum being rounded, nor that of it and what is `beyond` it."""
    if step % math.ulp(start):
        return 0
    return int((math.ldexp(1.0, math.frexp(start)[1]) - start - beyond) / step) - 1
