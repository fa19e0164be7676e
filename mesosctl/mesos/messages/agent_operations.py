"""Operations on one agent: the two ways to send them, and payloads in files.

Source: Mesos documentation, "Operator HTTP API".
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.resource_model import resource_message, resources_of
from mesosctl.mesos.messages.strict.reading import read_json, refused
from mesosctl.mesos.messages.table_models import MASTER_CALL, OPERATION, call_model, master_call, model_of


class AgentOperation:
    """An operation on the resources of one agent."""

    kind: ClassVar[str]
    """The type of the v1 call."""
    path: ClassVar[str]
    """The endpoint that takes the operation as a form."""

    def __init__(self, agent_id: str, **lists: Sequence[Resource] | None) -> None:
        """`lists`: the resources of each field; None for no such field."""
        given = {name: entries for name, entries in lists.items() if entries is not None}
        self._agent_id = agent_id
        self._lists = {
            name: [resource_message(entry).content() for entry in entries] for name, entries in given.items()
        }

    def form(self) -> dict[str, str]:
        """The fields of the form: the agent, and everything else as JSON."""
        return {"slaveId": self._agent_id, **{name: json.dumps(part) for name, part in self._lists.items()}}

    def call(self) -> MesosModel:
        """The v1 call that asks for the same."""
        return master_call(self.kind, {"agent_id": {"value": self._agent_id}, **self._lists})


class ReserveResources(AgentOperation):
    """Reserve `resources`, taken from `source` if that is given."""

    kind, path = "RESERVE_RESOURCES", "/reserve"


class UnreserveResources(AgentOperation):
    """Unreserve `resources`."""

    kind, path = "UNRESERVE_RESOURCES", "/unreserve"


class CreateVolumes(AgentOperation):
    """Create `volumes`."""

    kind, path = "CREATE_VOLUMES", "/create-volumes"


class DestroyVolumes(AgentOperation):
    """Destroy `volumes`."""

    kind, path = "DESTROY_VOLUMES", "/destroy-volumes"


# --- Files ------------------------------------------------------------------------------------------


class _FileKind(NamedTuple):
    """The forms that a payload may have in a file.

    They are an array of its resources, the content of the v1 call, this call, and the offer operation of the same.
    """

    call: str
    operation: str
    field: str
    other: tuple[str, str]
    """The fields of a call and an operation that do the opposite."""
    does: Literal["reserve", "unreserve", "destroy"]
    """The operation that those ask for."""

    def read(self, text: str, where: str) -> Any:
        """The message in a file, with the fields of the content of the call.  Raises BadInput with the place."""
        value = read_json(text, where)
        if isinstance(value, list):
            value = {self.field: value}
        if not isinstance(value, dict):
            raise refused(where, (), f"it should be an array of {self.field}, or an object")
        for key in self.other:
            if key in value:
                what = "destroy volumes" if self.does == "destroy" else self.does
                raise refused(where, (key,), f"this is a request to {what}", values={"operation": self.does})
        for model, part in (
            (call_model(MASTER_CALL, self.call), self.call.lower()),
            (call_model(OPERATION, self.operation, "id"), self.operation.lower()),
        ):
            if part in value:
                return getattr(model.read(value, where), part)
        return model_of(f"{MASTER_CALL}.{self.call.title().replace('_', '')}").read(value, where)


_RESERVE = _FileKind("RESERVE_RESOURCES", "RESERVE", "resources", ("unreserve_resources", "unreserve"), "unreserve")
_UNRESERVE = _FileKind("UNRESERVE_RESOURCES", "UNRESERVE", "resources", ("reserve_resources", "reserve"), "reserve")
_CREATE = _FileKind("CREATE_VOLUMES", "CREATE", "volumes", ("destroy_volumes", "destroy"), "destroy")


@dataclass(frozen=True, slots=True)
class Payload:
    """Resources with their stacks, what they are taken from and the agent, if the file says so."""

    resources: Sequence[Resource]
    source: Sequence[Resource] | None = None
    agent_id: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """The names of resources, and where they stand."""
        return {entry.name: f"resources[{index}].name" for index, entry in enumerate(self.resources)}

    def check_agent(self, agent: RegisteredAgent) -> None:
        """Raises UsageError if the file names another agent."""
        if self.agent_id not in (None, agent.id):
            raise UsageError(
                f"AGENT is {agent.id} ({agent.hostname}), but the file names {self.agent_id}",
                field="agent_id",
                hint="leave agent_id out of the file, or name that agent",
            )


def read_reserve(text: str, where: str, principal: str | None = None) -> Payload:
    """Read a payload for `reserve` from the text of the file `where`.

    A dynamic reservation at the top without principal gets `principal`, that of the master's credentials. Raises
    BadInput for an unreadable file, RuleViolation for an invalid resource.
    """
    asked = _RESERVE.read(text, where)
    resources = resources_of(asked.resources, "resources")
    return Payload(
        [_filled_in(entry, principal) for entry in resources] if principal else resources,
        resources_of(asked.source, "source") if asked.source else None,
        _agent_of(asked),
    )


def read_unreserve(text: str, where: str) -> Payload:
    """Read a payload for `unreserve` from the text of the file `where`.  Raises as `read_reserve`."""
    asked = _UNRESERVE.read(text, where)
    return Payload(resources_of(asked.resources, "resources"), agent_id=_agent_of(asked))


def read_create(text: str, where: str, principal: str | None = None) -> Payload:
    """Read a payload for `volumes create` from the text of the file `where`.

    A volume without principal gets `principal`, that of the master's credentials.  Raises as `read_reserve`.
    """
    asked = _CREATE.read(text, where)
    volumes = resources_of(asked.volumes, "volumes")
    return Payload([_created_by(entry, principal) for entry in volumes], agent_id=_agent_of(asked))


def _agent_of(asked: Any) -> str | None:
    """The id of the agent in a message, which an offer operation does not have."""
    agent_id = getattr(asked, "agent_id", None)
    return None if agent_id is None else str(agent_id.value)


def _filled_in(entry: Resource, principal: str) -> Resource:
    if not entry.is_dynamically_reserved or entry.reservations[-1].principal is not None:
        return entry
    return replace(entry, reservations=(*entry.reservations[:-1], entry.reservations[-1]._replace(principal=principal)))


def _created_by(entry: Resource, principal: str | None) -> Resource:
    if entry.disk is None or not entry.is_persistent_volume or entry.disk.principal is not None:
        return entry
    return replace(entry, disk=entry.disk._replace(principal=principal))
