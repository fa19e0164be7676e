"""Preemption: requests are met from roles of lower priority (docs/explanation/documents.md, "Playing Traffic Cop")."""

from collections.abc import Iterable
from functools import partial
from itertools import groupby

from fake_master.allocator.hierarchical.allocation_runs import RunSteps
from fake_master.allocator.hierarchical.records import AllocatorClient
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.revocation import Holding, HoldingKey, HoldingsQuestion, Revocation, RevocationCallback
from fake_master.extensions.strict_priority.preemption_plan import Plan
from fake_master.extensions.strict_priority.quota_safeguards import Guarantees
from fake_master.extensions.strict_priority.resource_holds import Hold, Holds, OpenRequest, Requests, takes_part
from mesosctl.mesos.roles import Priorities


class Preemption(RunSteps):
    """After each batch, revokes what requests have waited for during a whole allocation interval.

    `holdings` returns what could be taken; `on_revoke` takes it.
    """

    def __init__(
        self,
        state: State,
        priorities: Priorities,
        requests: Requests,
        holds: Holds,
        holdings: HoldingsQuestion,
        on_revoke: RevocationCallback,
    ) -> None:
        self._state = state
        self._priorities = priorities
        self._requests = requests
        self._holds = holds
        self._holdings = holdings
        self._on_revoke = on_revoke
        self.revocations = 0
        """The number of revoked offers and tasks so far."""

    def before_run(self) -> None:
        """Forget holds that are not needed any more."""
        if len(self._holds):
            self._holds.review(self._state, self._requests, self._holdings())

    def after_batch(self) -> None:
        """Drop holds that have served, and plan for the requests that are overdue."""
        self._holds.drop_delivered()
        overdue = list(self._requests.overdue())
        if not overdue:
            return
        plan = Plan(self._state, self._priorities, self._holds, self._holdings())
        for client, requests in self._in_order(overdue):
            plan.place(client, requests)
        plan.release_superfluous()
        for hold in plan.holds_by_agent.values():
            self._holds.add(hold)
        self._revoke(plan)

    def _revoke(self, plan: Plan) -> None:
        holds: dict[HoldingKey, Hold] = {holding.key: hold for hold, holding in plan.revoked}
        revocations = [
            Revocation(
                holding,
                hold.agent.id,
                hold.client.framework.id,
                hold.client.role.name,
                partial(self._stands, hold, holding),
                f"role {hold.client.role.name}, which has a higher priority, requested the resources",
            )
            for hold, holding in plan.revoked
        ]
        self.revocations += len(revocations)
        for refused in self._on_revoke(revocations) if revocations else ():
            self._holds.drop(holds[refused.holding.key])

    def _stands(self, hold: Hold, holding: Holding) -> bool:
        """Whether a revocation is still needed and allowed; if not, nothing waits for it."""
        present = self._holdings().get(hold.agent.id, ())
        # Its executor may have more or fewer tasks by now.
        now = next((known for known in present if known.key == holding.key), None)
        if now is None or not Guarantees(self._state).allows(now):
            self._holds.drop(hold)
        return self._holds.holds(hold) and any(
            self._requests.stands(hold.client.framework.id, request) for request in hold.requests
        )

    def _in_order(
        self, overdue: Iterable[tuple[str, OpenRequest]]
    ) -> Iterable[tuple[AllocatorClient, list[OpenRequest]]]:
        """Those of the highest priority first, then in the order of offers; equal ones of a client together."""
        found = []
        for name, request in overdue:
            client = self._client_of(name, request)
            if client is not None:
                found.append((client, request))
        found.sort(key=lambda pair: self._rank(pair[0]))
        for (client, _, _), alike in groupby(
            found, key=lambda pair: (pair[0], pair[1].asked.amounts, pair[1].asked.agent)
        ):
            yield client, [request for _, request in alike]

    def _rank(self, client: AllocatorClient) -> tuple[int, float, str, str]:
        role = client.role.name
        return -self._priorities.of(role), self._state.role_sorter.share(role), role, client.framework.id

    def _client_of(self, name: str, request: OpenRequest) -> AllocatorClient | None:
        """Return the client that a request is for: of several roles the one of the highest priority."""
        clients = [
            client
            for client in self._state.frameworks[name].clients.values()
            if takes_part(client) and request.asked.role in (None, client.role.name)
        ]
        return max(clients, key=lambda client: self._priorities.of(client.role.name), default=None)
