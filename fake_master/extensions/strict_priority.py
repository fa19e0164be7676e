"""The strict priority module (seeds/drf.txt): a second allocator behind the same interface.

"The strict priority module implements an algorithm that gives a framework priority to always
receive and accept resource offers sufficient to meet its task requirements.  It guarantees
resources for critical workloads at the expense of restricting dynamic resource sharing in Mesos
and potentially starving other frameworks."
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from fake_master.allocator.hierarchical.allocations import Allocation, Amounts
from fake_master.allocator.hierarchical.allocator import ResourceEvents
from fake_master.allocator.hierarchical.events import AgentEvents, FrameworkEvents, Request, Requests
from fake_master.allocator.hierarchical.records import Client
from fake_master.allocator.hierarchical.sorter import Node, Sorter
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import (
    Holding,
    HoldingsQuestion,
    InverseOfferCallback,
    OfferCallback,
    ResourceRequest,
    Revocation,
    RevocationCallback,
)
from fake_master.allocator.options import Options
from fake_master.extensions.holds import Hold, Holds, takes_part
from fake_master.extensions.preemption import Guarantees, Plan
from mesosctl.model.resources import Resources
from mesosctl.model.roles import Priorities

# ruff: noqa: D102  # the interface documents its methods


class StrictPriorityAllocator(AgentEvents, FrameworkEvents, ResourceEvents):
    """Offers by the priority of roles; quota is kept, and roles of equal priority share fairly.

    What a framework asks for (`request_resources`) is offered to it in spite of what it refused
    before.  With `on_revoke` there is preemption: what one whole allocation interval could not meet
    is taken from roles of lower priority, by the policy of `revocation`.
    """

    def __init__(
        self,
        options: Options,
        on_offers: OfferCallback,
        on_inverse_offers: InverseOfferCallback | None = None,
        now: float = 0.0,
        *,
        priorities: Priorities,
        holdings: HoldingsQuestion | None = None,
        on_revoke: RevocationCallback | None = None,
    ) -> None:
        """`holdings` says what could be taken; it is asked only with `on_revoke`."""
        self.priorities = priorities
        self._requests = Requests()
        self._claims = Holds(priorities)
        self._take_offers = on_offers
        self._ask_holdings = holdings
        self._on_revoke = on_revoke
        self._revoked = 0
        preemption = on_revoke is not None
        state = State(
            options,
            lambda make: PrioritySorter(priorities, make),
            self._claims.withheld if preemption else None,
        )
        super().__init__(options, self._on_offers_made, on_inverse_offers, now, state)

    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        record = self._state.frameworks[framework]
        self._requests.replace(framework, requests)
        for client in record.clients.values():
            if any(request.role in (None, client.role.name) for request in requests):
                self._forget_filters(client)
        if requests:
            self._run_for_all()

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
            "allocator/strict_priority/claims": float(len(self._claims)),
            "allocator/strict_priority/revocations": float(self._revoked),
        }

    # --- Preemption ---------------------------------------------------------------------------------

    def _on_offers_made(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        self._requests.offered(framework, by_role)
        self._take_offers(framework, by_role)

    def _run(self, candidates: dict[str, None]) -> None:
        if self._on_revoke is None or self._ask_holdings is None:
            super()._run(candidates)
            return
        if len(self._claims):
            self._claims.review(self._state, self._requests, self._ask_holdings())
        super()._run(candidates)

    def _batch(self) -> None:
        super()._batch()
        if self._on_revoke is not None and self._gate.is_open:
            self._claims.drop_delivered()
            self._preempt()

    def _preempt(self) -> None:
        overdue = list(self._requests.overdue())
        if not overdue:
            return
        assert self._ask_holdings is not None
        plan = Plan(self._state, self.priorities, self._claims, self._ask_holdings())
        for client, requests in self._in_order(overdue):
            plan.place(client, requests)
        plan.let_superfluous_go()
        for hold in plan.holds_by_agent.values():
            self._claims.add(hold)
        self._revoke(plan)

    def _revoke(self, plan: Plan) -> None:
        revocations = [
            Revocation(
                holding,
                hold.agent.id,
                hold.client.framework.id,
                hold.client.role.name,
                partial(self._stands, hold, holding),
            )
            for hold, holding in plan.revoked
        ]
        self._revoked += len(revocations)
        if revocations:
            assert self._on_revoke is not None
            self._on_revoke(revocations)

    def _stands(self, hold: Hold, holding: Holding) -> bool:
        """Whether something asked back is still wanted, and may still be had; if not, nobody waits for it."""
        assert self._ask_holdings is not None
        present = self._ask_holdings().get(hold.agent.id, ())
        # Its executor may have more or fewer tasks by now.
        now = next((known for known in present if known.key == holding.key), None)
        if now is None or not Guarantees(self._state).allows(now):
            self._claims.drop(hold)
        return self._claims.holds(hold) and any(
            self._requests.stands(hold.client.framework.id, request) for request in hold.requests
        )

    def _in_order(self, overdue: Iterable[tuple[str, Request]]) -> Iterable[tuple[Client, list[Request]]]:
        """Those of the highest priority first, then as offers are made; alike ones of a client together."""
        found = []
        for name, request in overdue:
            client = self._client_of(name, request)
            if client is not None:
                found.append((client, request))
        found.sort(key=lambda pair: self._rank(pair[0]))
        for (client, _, _), alike in groupby(
            found, key=lambda pair: (pair[0], pair[1].wanted.amounts, pair[1].wanted.agent)
        ):
            yield client, [request for _, request in alike]

    def _rank(self, client: Client) -> tuple[int, float, str, str]:
        role = client.role.name
        return -self.priorities.of(role), self._state.role_sorter.share(role), role, client.framework.id

    def _client_of(self, name: str, request: Request) -> Client | None:
        """Whom a request is placed for: of several roles the one of the highest priority."""
        clients = [
            client
            for client in self._state.frameworks[name].clients.values()
            if takes_part(client) and request.wanted.role in (None, client.role.name)
        ]
        return max(clients, key=lambda client: self.priorities.of(client.role.name), default=None)


class PrioritySorter:
    """Clients by priority; an `Ordering`."""

    def __init__(self, priorities: Priorities, make: Callable[[], Sorter]) -> None:
        self._priorities = priorities
        self._make = make
        """Makes the sorter of one priority."""
        self._levels: dict[int, Sorter] = {}
        """By priority, the highest first."""
        self._weights: dict[str, float] = {}

    @property
    def order_lasts(self) -> bool:
        """Whether `order` gives the same again as long as nothing is allocated to those clients."""
        return all(level.order_lasts for level in self._levels.values())

    def walk(self) -> Iterator[Node]:
        """Active clients, priority by priority; each of them is put in order when its turn comes."""
        for level in list(self._levels.values()):
            yield from level.walk()

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

    def allocated(self, leaf: Node, agent: str, allocation: Allocation, *, counted: bool = True) -> None:
        """The client got something."""
        self._level(leaf.client_path).allocated(leaf, agent, allocation, counted=counted)

    def unallocated(self, leaf: Node, agent: str, allocation: Allocation) -> None:
        """The client gave something back."""
        self._level(leaf.client_path).unallocated(leaf, agent, allocation)

    def allocation(self, path: str) -> Amounts:
        """What a client holds, zeros left out."""
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
