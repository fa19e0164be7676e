"""Operations on one agent: the two ways to send them, and payloads in files.

Source: Mesos documentation, "Operator HTTP API".
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from mesosctl.api.base_model import MesosModel
from mesosctl.api.files.reading import read_json, refused
from mesosctl.api.resource_model import Resource
from mesosctl.model.errors import UsageError
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.resource import Resource as ModelResource
from mesosctl.model.suggestion import command


class AgentId(MesosModel):
    """An agent."""

    value: str


class AgentOperation(MesosModel):
    """An operation on the resources of one agent.  A file may leave the agent out, as the command names it."""

    path: ClassVar[str]
    """The endpoint that takes the operation as a form."""
    agent_id: AgentId | None = None

    def form(self) -> dict[str, str]:
        """The fields of the form: the agent, and everything else as JSON."""
        fields = self.content()
        return {"slaveId": fields.pop("agent_id")["value"], **{name: json.dumps(part) for name, part in fields.items()}}

    def call(self) -> MesosModel:
        """The v1 call that asks for the same."""
        raise NotImplementedError


class Reserve(MesosModel):
    """`reserve` of the offer operation: these resources, taken from `source` if they are already reserved."""

    source: list[Resource] | None = None
    resources: list[Resource]


class Unreserve(MesosModel):
    """`unreserve` of the offer operation."""

    resources: list[Resource]


class ReserveResources(AgentOperation):
    """`reserve_resources` of the v1 call."""

    path: ClassVar[str] = "/reserve"
    source: list[Resource] | None = None
    resources: list[Resource]

    @classmethod
    def of(cls, agent_id: str, resources: Sequence[ModelResource], source: Sequence[ModelResource] | None) -> Self:
        """The operation that reserves these, taken from `source` if it is given."""
        taken = None if source is None else [Resource.of(entry) for entry in source]
        made = [Resource.of(entry) for entry in resources]
        return cls(agent_id=AgentId(value=agent_id), source=taken, resources=made)

    def call(self) -> "ReserveResourcesCall":
        """The v1 call that asks for it."""
        return ReserveResourcesCall(reserve_resources=self)


class ReserveResourcesCall(MesosModel):
    """The v1 call RESERVE_RESOURCES."""

    type: Literal["RESERVE_RESOURCES"] = "RESERVE_RESOURCES"
    reserve_resources: ReserveResources


class UnreserveResources(AgentOperation):
    """`unreserve_resources` of the v1 call."""

    path: ClassVar[str] = "/unreserve"
    resources: list[Resource]

    @classmethod
    def of(cls, agent_id: str, resources: Sequence[ModelResource]) -> Self:
        """The operation that unreserves these."""
        return cls(agent_id=AgentId(value=agent_id), resources=[Resource.of(entry) for entry in resources])

    def call(self) -> "UnreserveResourcesCall":
        """The v1 call that asks for it."""
        return UnreserveResourcesCall(unreserve_resources=self)


class UnreserveResourcesCall(MesosModel):
    """The v1 call UNRESERVE_RESOURCES."""

    type: Literal["UNRESERVE_RESOURCES"] = "UNRESERVE_RESOURCES"
    unreserve_resources: UnreserveResources


class OperationId(MesosModel):
    """The operation id, with which a framework asks for status updates."""

    value: str


class ReserveOperation(MesosModel):
    """The offer operation RESERVE."""

    type: Literal["RESERVE"] = "RESERVE"
    id: OperationId | None = None
    reserve: Reserve


class Create(MesosModel):
    """`create` of the offer operation."""

    volumes: list[Resource]


class CreateOperation(MesosModel):
    """The offer operation CREATE."""

    type: Literal["CREATE"] = "CREATE"
    id: OperationId | None = None
    create: Create


class UnreserveOperation(MesosModel):
    """The offer operation UNRESERVE."""

    type: Literal["UNRESERVE"] = "UNRESERVE"
    id: OperationId | None = None
    unreserve: Unreserve


# --- Files ------------------------------------------------------------------------------------------


def reserve_message(text: str, where: str) -> ReserveResources:
    """Read a file for `reserve`: an array of resources, an object with `resources`, a call or an offer operation.

    Raises BadInput with the place.
    """
    value = _payload(text, where, "resources")
    _check_verb(
        value,
        where,
        ("unreserve_resources", "unreserve"),
        "unreserve",
        f"{command('unreserve', 'AGENT', f='FILE')} reads it",
    )
    if "reserve_resources" in value:
        return ReserveResourcesCall.read(value, where).reserve_resources
    if "reserve" in value:
        operation = ReserveOperation.read(value, where).reserve
        return ReserveResources(source=operation.source, resources=operation.resources)
    return ReserveResources.read(value, where)


def unreserve_message(text: str, where: str) -> UnreserveResources:
    """The same for `unreserve`.  Raises BadInput with the place."""
    value = _payload(text, where, "resources")
    reads = command("reserve", "AGENT", f="FILE")
    _check_verb(value, where, ("reserve_resources", "reserve"), "reserve", f"{reads} reads it")
    if "unreserve_resources" in value:
        return UnreserveResourcesCall.read(value, where).unreserve_resources
    if "unreserve" in value:
        return UnreserveResources(resources=UnreserveOperation.read(value, where).unreserve.resources)
    return UnreserveResources.read(value, where)


def _payload(text: str, where: str, field: str) -> dict[str, Any]:
    value = read_json(text, where)
    if isinstance(value, list):
        return {field: value}
    if not isinstance(value, dict):
        raise refused(where, (), f"it should be an array of {field}, or an object")
    return value


def _check_verb(value: dict[str, Any], where: str, others: tuple[str, ...], verb: str, hint: str) -> None:
    """Raises BadInput for a message that asks for the opposite."""
    for key in others:
        if key in value:
            raise refused(where, (key,), f"this is a request to {verb}", hint=hint)


class _Volumes(AgentOperation):
    """Volumes of an agent."""

    volumes: list[Resource]

    @classmethod
    def of(cls, agent_id: str, volumes: Sequence[ModelResource]) -> Self:
        """The operation on these volumes."""
        return cls(agent_id=AgentId(value=agent_id), volumes=[Resource.of(volume) for volume in volumes])


class CreateVolumes(_Volumes):
    """`create_volumes` of the v1 call."""

    path: ClassVar[str] = "/create-volumes"

    def call(self) -> "CreateVolumesCall":
        """The v1 call that asks for it."""
        return CreateVolumesCall(create_volumes=self)


class CreateVolumesCall(MesosModel):
    """The v1 call CREATE_VOLUMES."""

    type: Literal["CREATE_VOLUMES"] = "CREATE_VOLUMES"
    create_volumes: CreateVolumes


def create_message(text: str, where: str) -> CreateVolumes:
    """Read a file for `volumes create`: an array of volumes, an object with `volumes`, a call or an offer operation.

    Raises BadInput with the place.
    """
    value = _payload(text, where, "volumes")
    by_name = f"{command('volumes destroy', 'AGENT', 'ID')} destroys one"
    _check_verb(value, where, ("destroy_volumes", "destroy"), "destroy volumes", by_name)
    if "create_volumes" in value:
        return CreateVolumesCall.read(value, where).create_volumes
    if "create" in value:
        return CreateVolumes(volumes=CreateOperation.read(value, where).create.volumes)
    return CreateVolumes.read(value, where)


class DestroyVolumes(_Volumes):
    """`destroy_volumes` of the v1 call."""

    path: ClassVar[str] = "/destroy-volumes"

    def call(self) -> "DestroyVolumesCall":
        """The v1 call that asks for it."""
        return DestroyVolumesCall(destroy_volumes=self)


class DestroyVolumesCall(MesosModel):
    """The v1 call DESTROY_VOLUMES."""

    type: Literal["DESTROY_VOLUMES"] = "DESTROY_VOLUMES"
    destroy_volumes: DestroyVolumes


@dataclass(frozen=True, slots=True)
class Payload:
    """Resources with their stacks, what they are taken from and the agent, if the file says so."""

    resources: Sequence[ModelResource]
    source: Sequence[ModelResource] | None = None
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
    asked = reserve_message(text, where)
    resources = _entries(asked.resources, "resources")
    return Payload(
        [_filled_in(entry, principal) for entry in resources] if principal else resources,
        _entries(asked.source, "source") if asked.source else None,
        _value(asked.agent_id),
    )


def read_unreserve(text: str, where: str) -> Payload:
    """Read a payload for `unreserve` from the text of the file `where`.  Raises as `read_reserve`."""
    asked = unreserve_message(text, where)
    return Payload(_entries(asked.resources, "resources"), agent_id=_value(asked.agent_id))


def read_create(text: str, where: str, principal: str | None = None) -> Payload:
    """Read a payload for `volumes create` from the text of the file `where`.

    A volume without principal gets `principal`, that of the master's credentials.  Raises as `read_reserve`.
    """
    asked = create_message(text, where)
    volumes = _entries(asked.volumes, "volumes")
    return Payload([_created_by(entry, principal) for entry in volumes], agent_id=_value(asked.agent_id))


def _value(agent_id: AgentId | None) -> str | None:
    return None if agent_id is None else agent_id.value


def _entries(messages: Iterable[Resource], field: str) -> list[ModelResource]:
    return [message.to_model(f"{field}[{index}]") for index, message in enumerate(messages)]


def _filled_in(entry: ModelResource, principal: str) -> ModelResource:
    if not entry.is_dynamically_reserved or entry.reservations[-1].principal is not None:
        return entry
    return replace(entry, reservations=(*entry.reservations[:-1], entry.reservations[-1]._replace(principal=principal)))


def _created_by(entry: ModelResource, principal: str | None) -> ModelResource:
    if entry.disk is None or not entry.is_persistent_volume or entry.disk.principal is not None:
        return entry
    return replace(entry, disk=entry.disk._replace(principal=principal))
