"""Requests of frameworks to be offered resources (`Call.Request`), until an offer meets them."""

from collections.abc import Iterator, Mapping, Sequence

from fake_master.allocator.interface import ResourceRequest
from mesosctl.model.resources import Resources


class Request:
    """One request, until an offer has met it."""

    __slots__ = ("asked", "exhausted", "hold_agent", "left_unmet")

    def __init__(self, wanted: ResourceRequest) -> None:
        self.asked = wanted
        self.left_unmet = False
        """Whether a batch has left it unmet."""
        self.hold_agent: str | None = None
        """The agent on which something was asked back for it and has not all come back."""
        self.exhausted = False
        """Whether that came back, and did not do; it is not done again, unless the framework asks again."""


class Requests:
    """Every request that stands, by framework.

    A request asks for an offer: it is met, and gone, once an offer of one agent contains it.
    """

    def __init__(self) -> None:
        self._by_framework: dict[str, list[Request]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_framework.values()))

    def replace(self, framework: str, wanted: Sequence[ResourceRequest]) -> None:
        """The framework asks for this now, and for nothing else; what it asks for still is the same request."""
        before = [request for request in self._by_framework.get(framework, ()) if not request.exhausted]
        before.sort(key=lambda request: request.hold_agent is None)
        found = []
        for asked in wanted:
            known = next((request for request in before if request.asked == asked), None)
            if known is not None:
                before.remove(known)
            if asked.amounts:
                found.append(known or Request(asked))
        if found:
            self._by_framework[framework] = found
        else:
            self._by_framework.pop(framework, None)

    def stands(self, framework: str, request: Request) -> bool:
        """Whether it was neither met nor withdrawn."""
        return request in self._by_framework.get(framework, ())

    def offered(self, framework: str, by_role: Mapping[str, Mapping[str, Resources]]) -> None:
        """The framework is offered this: so many of its requests are met."""
        standing = self._by_framework.get(framework)
        if standing is None:
            return
        for role, by_agent in by_role.items():
            for agent, resources in by_agent.items():
                left = resources.scalar_quantities()
                for request in sorted(standing, key=lambda request: _nearness(request, agent)):
                    if _fits(request.asked, role, agent) and left.contains(request.asked.amounts):
                        left -= request.asked.amounts
                        standing.remove(request)
        if not standing:
            del self._by_framework[framework]

    def overdue(self) -> Iterator[tuple[str, Request]]:
        """(framework, request) of those that were left unmet by a batch, and an interval later by another.

        To be called after each batch: of other runs not every one is over all agents.
        """
        for framework, standing in self._by_framework.items():
            for request in standing:
                if not request.left_unmet:
                    request.left_unmet = True
                elif not request.hold_agent and not request.exhausted:
                    yield framework, request


def _fits(wanted: ResourceRequest, role: str, agent: str) -> bool:
    return wanted.role in (None, role) and wanted.agent in (None, agent)


def _nearness(request: Request, agent: str) -> int:
    """Which of several requests an offer meets first: one for which something was revoked there; last, elsewhere."""
    return {agent: 0, None: 1}.get(request.hold_agent, 2)
