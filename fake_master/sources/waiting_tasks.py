"""The tasks that a framework has asked for and not started yet: the first that fits goes first."""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from fake_master.sources.demand import WantedTask
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources


class WaitingTask(NamedTuple):
    """A task that waits, and its place in the order of arrival."""

    number: int
    wanted: WantedTask


class Fitting(NamedTuple):
    """A task that an offer has room for, and the part of the offer that it gets, without a role."""

    waiting: WaitingTask
    part: Resources


class WaitingTasks:
    """Tasks in the order of their arrival, apart by size, so that thousands of one size cost an offer nothing.

    A task that prefers a host is only for that until it is released.
    """

    def __init__(self) -> None:
        self._anywhere: dict[tuple[Quantities, str | None], list[WaitingTask]] = {}
        """By the size and the role: heaps by number."""
        self._preferring: dict[str, deque[WaitingTask]] = {}
        """By the host that they prefer."""
        self._arrived = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[WantedTask]:
        queues = (*self._anywhere.values(), *self._preferring.values())
        return (waiting.wanted for queue in queues for waiting in queue)

    def add(self, wanted: WantedTask) -> WaitingTask:
        """Add a task after all others; return its place."""
        waiting = WaitingTask(self._arrived, wanted)
        self._arrived += 1
        self._count += 1
        if wanted.agent is None:
            self._add_anywhere(waiting)
        else:
            self._preferring.setdefault(wanted.agent, deque()).append(waiting)
        return waiting

    def to_document(self) -> dict[str, Any]:
        """Return how many have arrived, and the numbers of those that wait for any host, or for a certain one."""
        anywhere = sorted(waiting.number for queue in self._anywhere.values() for waiting in queue)
        preferring = sorted(waiting.number for queue in self._preferring.values() for waiting in queue)
        return {"arrived": self._arrived, "anywhere": anywhere, "preferring": preferring}

    def resume(self, document: Mapping[str, Any], arrived: Iterable[WantedTask]) -> list[WaitingTask]:
        """Let those wait that a document names, of all that have arrived; return those that prefer a host."""
        anywhere, preferring = set(document["anywhere"]), set(document["preferring"])
        found = []
        for number, wanted in enumerate(arrived):
            waiting = WaitingTask(number, wanted)
            self._arrived += 1
            if number in anywhere:
                self.put_back([waiting])
            elif number in preferring and wanted.agent is not None:
                self._count += 1
                self._preferring.setdefault(wanted.agent, deque()).append(waiting)
                found.append(waiting)
        return found

    def release(self, waiting: WaitingTask) -> bool:
        """Let a task take any host from now on; return whether it still waits."""
        host = waiting.wanted.agent
        assert host is not None, "only a task that prefers a host is released"
        queue = self._preferring.get(host, deque())
        if waiting not in queue:
            return False
        self._drop(host, queue, waiting)
        self._add_anywhere(waiting)
        return True

    def put_back(self, waiting: Iterable[WaitingTask]) -> None:
        """Let tasks that could not be launched wait again, for any host, in their places."""
        for task in waiting:
            self._count += 1
            self._add_anywhere(task)

    def take(self, offered: Resources, host: str, role: str) -> list[Fitting]:
        """Return the tasks for which there is room in an offer, first come, first served; they wait no longer."""
        left = _without_role.of(offered)
        found: list[Fitting] = []
        preferring = self._preferring.get(host)
        if preferring is not None:
            own = [waiting for waiting in preferring if waiting.wanted.role in (None, role)]
            left = self._take_in_order(own, host, role, left, found)
        else:
            left = self._take_in_order((), host, role, left, found)
        self._count -= len(found)
        return found

    def _take_in_order(
        self, own: Iterable[WaitingTask], host: str, role: str, left: Resources, found: list[Fitting]
    ) -> Resources:
        """Merge the tasks that prefer the host with those of each size that may run anywhere."""
        queues = [queue for (_, of), queue in self._anywhere.items() if of is None or of == role]
        heads = [(queue[0].number, at) for at, queue in enumerate(queues)]
        heapq.heapify(heads)
        waiting_here = deque(own)
        while heads or waiting_here:
            if waiting_here and (not heads or waiting_here[0].number < heads[0][0]):
                waiting = waiting_here.popleft()
                part = _parts.of(left, waiting.wanted.resources)
                if part is not None:
                    self._drop(host, self._preferring[host], waiting)
                    found.append(Fitting(waiting, part[0]))
                    left = part[1]
                continue
            _, at = heapq.heappop(heads)
            queue = queues[at]
            part = _parts.of(left, queue[0].wanted.resources)
            if part is None:
                continue  # the others of this size do not fit either
            waiting = heapq.heappop(queue)
            found.append(Fitting(waiting, part[0]))
            left = part[1]
            if queue:
                heapq.heappush(heads, (queue[0].number, at))
            else:
                del self._anywhere[_key(waiting.wanted)]
        return left

    def _add_anywhere(self, waiting: WaitingTask) -> None:
        heapq.heappush(self._anywhere.setdefault(_key(waiting.wanted), []), waiting)

    def _drop(self, host: str, queue: "deque[WaitingTask]", waiting: WaitingTask) -> None:
        queue.remove(waiting)
        if not queue:
            del self._preferring[host]


def _key(wanted: WantedTask) -> tuple[Quantities, str | None]:
    return _size.of(wanted.resources), wanted.role


def part_of(offered: Resources, task: Resources) -> Resources | None:
    """The entries of an offer that make up one task, reserved ones first; None if it is too little."""
    found: list[Resource] = []
    ordered = sorted((entry for entry in offered if entry.disk is None), key=lambda entry: not entry.is_reserved)
    amounts: Mapping[str, int] = dict(task.scalar_quantities().items())
    for name, needed in amounts.items():
        missing = needed
        for entry in ordered:
            if entry.name == name and isinstance(entry.value, int) and missing > 0:
                taken = min(missing, entry.value)
                found.append(replace(entry, value=taken))
                missing -= taken
        if missing > 0:
            return None
    return Resources(found) if found else None


def _split(left: Resources, task: Resources) -> tuple[Resources, Resources] | None:
    """Return the part of a task, and the rest."""
    part = part_of(left, task)
    return None if part is None else (part, left - part)


def _clear_role(offered: Resources) -> Resources:
    return offered.allocated_to(None)


# Thousands of offers share a few objects, and so do the rests of what was taken from them.
_size = IdentityCache(Resources.scalar_quantities)
_parts = IdentityCache(_split)
_without_role = IdentityCache(_clear_role)
