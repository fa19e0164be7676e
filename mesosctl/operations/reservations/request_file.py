"""Payloads of RESERVE and UNRESERVE that a person wrote."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mesosctl.api import reservations
from mesosctl.model.errors import UsageError
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.resource import Resource

if TYPE_CHECKING:
    from mesosctl.api.reservations import AgentId
    from mesosctl.api.resource_model import Resource as Message


@dataclass(frozen=True, slots=True)
class Payload:
    """Resources with their stacks, what they are taken from and the agent, where the file says so."""

    resources: Sequence[Resource]
    source: Sequence[Resource] | None = None
    agent_id: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """The names of resources, and where they stand."""
        return {entry.name: f"resources[{index}].name" for index, entry in enumerate(self.resources)}

    def check_agent(self, agent: RegisteredAgent) -> None:
        """Raises UsageError where the file names another agent."""
        if self.agent_id not in (None, agent.id):
            raise UsageError(
                f"AGENT is {agent.id} ({agent.hostname}), but the file names {self.agent_id}",
                field="agent_id",
                hint="leave agent_id out of the file, or name that agent",
            )


def read_reserve(text: str, where: str, principal: str | None = None) -> Payload:
    """Read a payload for `reserve` from the text of the file `where`.

    A dynamic reservation at the top without principal gets `principal`, that of the master's credentials.
    Raises BadInput for what cannot be read, RuleViolation for what is no valid resource.
    """
    asked = reservations.read_reserve(text, where)
    resources = _entries(asked.resources, "resources")
    return Payload(
        [_filled_in(entry, principal) for entry in resources] if principal else resources,
        _entries(asked.source, "source") if asked.source else None,
        _value(asked.agent_id),
    )


def read_unreserve(text: str, where: str) -> Payload:
    """Read a payload for `unreserve` from the text of the file `where`.  Raises as `read_reserve`."""
    asked = reservations.read_unreserve(text, where)
    return Payload(_entries(asked.resources, "resources"), agent_id=_value(asked.agent_id))


def _value(agent_id: "AgentId | None") -> str | None:
    return None if agent_id is None else agent_id.value


def _entries(messages: "Iterable[Message]", field: str) -> list[Resource]:
    return [message.to_core(f"{field}[{index}]") for index, message in enumerate(messages)]


def _filled_in(entry: Resource, principal: str) -> Resource:
    if not entry.is_dynamically_reserved or entry.reservations[-1].principal is not None:
        return entry
    return replace(entry, reservations=(*entry.reservations[:-1], replace(entry.reservations[-1], principal=principal)))
