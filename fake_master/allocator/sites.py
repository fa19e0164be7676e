"""One agent, as one client sees it while its requests are placed there."""

from collections.abc import Callable, Iterable, Sequence

from fake_master.allocator.claims import Claim
from fake_master.allocator.interface import Holding, HoldingKey
from fake_master.allocator.records import Agent, Client
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources

Dearness = tuple[bool, int, float]
"""What is taken first compares lowest: (is a task, priority, share of the role with its sign turned)."""


class Site:
    """What a client has there, and once it is open, what it could be offered and what could be taken for it."""

    def __init__(self, agent: Agent, client: Client, holdings: Sequence[Holding]) -> None:
        self.agent = agent
        self.client = client
        self._holdings = holdings
        self.free = Quantities()
        """What the client could be offered at once."""
        self.coming = Quantities()
        """What it could be offered once everything has ended that was told to."""
        self.ending: list[Holding] = []
        self.candidates: list[Holding] = []
        """What may be taken, the cheapest first."""
        self.unanswered = {holding.key: self.useful(holding.frees) for holding in holdings if self.is_own(holding)}
        """What is left of the client's own offers, with which it could meet requests itself."""
        self.claim: Claim | None = None

    def open(
        self,
        promised: Quantities,
        is_lower: Callable[[Holding, Client], bool],
        dearness: Callable[[Holding], Dearness],
    ) -> None:
        """Something might be offered to the client there; `promised` of what is free is left to others."""
        self.free = self.useful(self.agent.shape.resources) - promised
        self.ending = [holding for holding in self._holdings if holding.ending]
        for holding in self.ending:
            self.coming += self.useful(holding.frees)
        takable = [
            holding
            for holding in self._holdings
            if not holding.ending and (self.is_own(holding) or is_lower(holding, self.client))
        ]
        takable.reverse()  # the newest first, wherever nothing else decides
        self.candidates = sorted(takable, key=lambda holding: self.dearness(holding, dearness))

    def dearness(self, holding: Holding, others: Callable[[Holding], Dearness]) -> tuple[bool, Dearness]:
        """Own offers before everything of others."""
        return not self.is_own(holding), others(holding)

    def is_own(self, holding: Holding) -> bool:
        """Whether it is an offer that the client itself has not answered."""
        whose = holding.framework, holding.role, holding.is_task
        return whose == (self.client.framework.id, self.client.role.name, False)

    def answerable(self, amounts: Quantities) -> HoldingKey | None:
        """An offer that the client has and that contains so much: it need only answer."""
        return next((key for key, left in self.unanswered.items() if left.contains(amounts)), None)

    def useful(self, resources: Resources) -> Quantities:
        """The part of some resources that the client could be offered."""
        return self.client.eligibility.usable(resources)


def loose(holdings: Iterable[Holding]) -> Quantities:
    """What they free of unreserved non-revocable scalars, which is what quota is about."""
    return Quantities.total(holding.frees.unreserved().non_revocable().scalar_quantities() for holding in holdings)
