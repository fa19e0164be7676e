"""The strict priority module: a second allocator behind the same interface.

Source: docs/explanation/documents.md, "Playing Traffic Cop".

"The strict priority module implements an algorithm that gives a framework priority to always
receive and accept resource offers sufficient to meet its task requirements.  It guarantees
resources for critical workloads at the expense of restricting dynamic resource sharing in Mesos
and potentially starving other frameworks."
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.offerable.allocations import Allocation, Amounts
from fake_master.allocator.hierarchical.sorters.sorter import Node, Sorter
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import Callbacks, OffersByRole, ResourceRequest
from fake_master.allocator.options import Options
from fake_master.extensions.strict_priority.preemption import Preemption
from fake_master.extensions.strict_priority.resource_holds import Holds, Requests
from mesosctl.mesos.roles import Priorities

# ruff: noqa: D102  # the interface documents its methods


class StrictPriorityAllocator(HierarchicalAllocator):
    """Offers by the priority of roles; quota is kept, and roles of equal priority share fairly.

    It is the hierarchical allocator with another order of roles.  What a framework requests (`request_resources`) is
    offered to it in spite of its earlier refusals. With `preempts` there is preemption: requests that stay unsatisfied
    for a whole allocation interval are met from roles of lower priority, by the policy of `preemption_plan`.
    """

    def __init__(
        self,
        options: Options,
        master: Callbacks,
        now: float,
        *,
        priorities: Priorities,
        preempts: bool = False,
    ) -> None:
        """Preemption needs the holdings and the revocation of `master`."""
        self._requests = Requests()
        self._holds = Holds(priorities)
        self._on_offers = master.offers
        self._preemption: Preemption | None = None
        state = State(
            options,
            lambda make: PrioritySorter(priorities, make),
            self._holds.withheld if preempts else None,
        )
        if preempts:
            self._preemption = Preemption(
                state, priorities, self._requests, self._holds, master.holdings, master.revoke
            )
        super().__init__(options, replace(master, offers=self._offered), now, state=state, steps=self._preemption)

    def _offered(self, framework: str, by_role: OffersByRole) -> None:
        self._requests.offered(framework, by_role)
        self._on_offers(framework, by_role)

    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        clients = self.state.frameworks[framework].clients
        self._requests.replace(framework, requests)
        for client in clients.values():
            if any(request.role in (None, client.role.name) for request in requests):
                self.filters.forget(client)
        if requests:
            self.allocation_runs.request_run_for_all()

    def remove_framework(self, framework: str) -> None:
        self._requests.replace(framework, ())
        super().remove_framework(framework)

    def deactivate_framework(self, framework: str) -> None:
        self._requests.replace(framework, ())
        super().deactivate_framework(framework)

    def metrics(self) -> dict[str, float]:
        return {
            **super().metrics(),
            "allocator/strict_priority/requests": float(len(self._requests)),
            "allocator/strict_priority/claims": float(len(self._holds)),
            "allocator/strict_priority/revocations": float(self._preemption.revocations if self._preemption else 0),
        }


class PrioritySorter:
    """Clients by priority; an `Ordering`."""

    def __init__(self, priorities: Priorities, make: Callable[[], Sorter]) -> None:
        self._priorities = priorities
        self._make = make
        """Makes the sorter of one priority."""
        self._levels: dict[int, Sorter] = {}
        """The sorters by priority, the highest first."""
        self._weights: dict[str, float] = {}

    @property
    def order_lasts(self) -> bool:
        """Whether `order` gives the same again as long as nothing is allocated to those clients."""
        return all(level.order_lasts for level in self._levels.values())

    def walk(self) -> Iterator[Node]:
        """Active clients, priority by priority; each of them is put in order when its turn comes."""
        for level in list(self._levels.values()):
            yield from level.walk()

    def refresh(self) -> None:
        """Put the clients of each priority in order."""
        for level in self._levels.values():
            level.refresh()

    def order(self, leaves: Iterable[Node]) -> list[Node]:
        """These active clients of different top-level roles, as `walk` would meet them."""
        by_level: dict[int, list[Node]] = {}
        for leaf in leaves:
            by_level.setdefault(self._priorities.of(leaf.client_path), []).append(leaf)
        return [leaf for level in sorted(by_level, reverse=True) for leaf in self._levels[level].order(by_level[level])]

    def share(self, path: str) -> float:
        """The weighted dominant share of a client."""
        return self._level(path).share(path)

    def add(self, path: str, client: object = None) -> Node:
        """Add an inactive client."""
        return self._level(path).add(path, client)

    def remove(self, path: str) -> None:
        """Remove a client."""
        self._level(path).remove(path)

    def activate(self, path: str) -> None:
        """Let the client take part in the order."""
        self._level(path).activate(path)

    def deactivate(self, path: str) -> None:
        """Leave the client out of the order."""
        self._level(path).deactivate(path)

    def update_weight(self, path: str, weight: float) -> None:
        """Set the weight of a path; it counts among clients of the same priority."""
        self._weights[path] = weight
        for level in self._levels.values():
            level.update_weight(path, weight)

    def allocated(
        self, leaf: Node, agent: str, allocation: Allocation, times: int = 1, *, counted: bool = True
    ) -> None:
        """The client got something, or gave it back."""
        self._level(leaf.client_path).allocated(leaf, agent, allocation, times, counted=counted)

    def allocation(self, path: str) -> Amounts:
        """Return what a client holds, without zeros."""
        return self._level(path).allocation(path)

    def _level(self, path: str) -> Sorter:
        priority = self._priorities.of(path)
        level = self._levels.get(priority)
        if level is None:
            level = self._levels[priority] = self._make()
            for known, weight in self._weights.items():
                level.update_weight(known, weight)
            self._levels = {number: self._levels[number] for number in sorted(self._levels, reverse=True)}
        return level
