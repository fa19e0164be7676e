"""What operations on one agent have in common: its id, and the two ways to send them (spec/reservation.md §5)."""

import json
from typing import ClassVar

from mesosctl.wire.documented import Documented


class AgentId(Documented):
    """An agent."""

    value: str


class AgentOperation(Documented):
    """An operation on the resources of one agent.  A file may leave the agent out, as the command names it."""

    path: ClassVar[str]
    """The endpoint that takes the operation as a form."""
    agent_id: AgentId | None = None

    def form(self) -> dict[str, str]:
        """The fields of the form: the agent, and everything else as JSON."""
        fields = self.content()
        return {"slaveId": fields.pop("agent_id")["value"], **{name: json.dumps(part) for name, part in fields.items()}}

    def call(self) -> Documented:
        """The v1 call that asks for the same."""
        raise NotImplementedError
