"""The documented JSON of reservations (seeds/reservation.txt, spec/reservation.md §5).

An operator sends RESERVE_RESOURCES and UNRESERVE_RESOURCES, or the forms of /reserve and /unreserve; a framework puts
the operations RESERVE and UNRESERVE into its ACCEPT (`wire.scheduler_calls`).  A file may hold any of them.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from mesosctl.core.resource import Resource as CoreResource
from mesosctl.wire.agent_operations import AgentId, AgentOperation
from mesosctl.wire.documented import Documented
from mesosctl.wire.files import read_json, refused
from mesosctl.wire.resource import Resource


class Reserve(Documented):
    """`reserve` of the offer operation: these resources, of `source` where they belong to somebody already."""

    source: list[Resource] | None = None
    resources: list[Resource]


class Unreserve(Documented):
    """`unreserve` of the offer operation."""

    resources: list[Resource]


class ReserveResources(AgentOperation):
    """`reserve_resources` of the v1 call."""

    path: ClassVar[str] = "/reserve"
    source: list[Resource] | None = None
    resources: list[Resource]

    @classmethod
    def of(cls, agent_id: str, resources: Sequence[CoreResource], source: Sequence[CoreResource] | None) -> Self:
        """The operation that reserves these, of `source` if it is given."""
        taken = None if source is None else [Resource.of(entry) for entry in source]
        made = [Resource.of(entry) for entry in resources]
        return cls(agent_id=AgentId(value=agent_id), source=taken, resources=made)

    def call(self) -> "ReserveResourcesCall":
        """The v1 call that asks for it."""
        return ReserveResourcesCall(reserve_resources=self)


class ReserveResourcesCall(Documented):
    """The v1 call RESERVE_RESOURCES."""

    type: Literal["RESERVE_RESOURCES"] = "RESERVE_RESOURCES"
    reserve_resources: ReserveResources


class UnreserveResources(AgentOperation):
    """`unreserve_resources` of the v1 call."""

    path: ClassVar[str] = "/unreserve"
    resources: list[Resource]

    @classmethod
    def of(cls, agent_id: str, resources: Sequence[CoreResource]) -> Self:
        """The operation that unreserves these."""
        return cls(agent_id=AgentId(value=agent_id), resources=[Resource.of(entry) for entry in resources])

    def call(self) -> "UnreserveResourcesCall":
        """The v1 call that asks for it."""
        return UnreserveResourcesCall(unreserve_resources=self)


class UnreserveResourcesCall(Documented):
    """The v1 call UNRESERVE_RESOURCES."""

    type: Literal["UNRESERVE_RESOURCES"] = "UNRESERVE_RESOURCES"
    unreserve_resources: UnreserveResources


class OperationId(Documented):
    """The name that a framework gives an operation, to be told how it ends."""

    value: str


class ReserveOperation(Documented):
    """The offer operation RESERVE."""

    type: Literal["RESERVE"] = "RESERVE"
    id: OperationId | None = None
    reserve: Reserve


class UnreserveOperation(Documented):
    """The offer operation UNRESERVE."""

    type: Literal["UNRESERVE"] = "UNRESERVE"
    id: OperationId | None = None
    unreserve: Unreserve


# --- Files ------------------------------------------------------------------------------------------


def read_reserve(text: str, where: str) -> ReserveResources:
    """What a file asks `reserve` for: an array of resources, an object with `resources`, a call or an offer operation.

    Raises BadInput with the place.
    """
    value = _payload(text, where)
    _check_verb(value, where, ("unreserve_resources", "unreserve"), "unreserve")
    if "reserve_resources" in value:
        return ReserveResourcesCall.read(value, where).reserve_resources
    if "reserve" in value:
        operation = ReserveOperation.read(value, where).reserve
        return ReserveResources(source=operation.source, resources=operation.resources)
    return ReserveResources.read(value, where)


def read_unreserve(text: str, where: str) -> UnreserveResources:
    """The same for `unreserve`.  Raises BadInput with the place."""
    value = _payload(text, where)
    _check_verb(value, where, ("reserve_resources", "reserve"), "reserve")
    if "unreserve_resources" in value:
        return UnreserveResourcesCall.read(value, where).unreserve_resources
    if "unreserve" in value:
        return UnreserveResources(resources=UnreserveOperation.read(value, where).unreserve.resources)
    return UnreserveResources.read(value, where)


def _payload(text: str, where: str) -> dict[str, Any]:
    value = read_json(text, where)
    if isinstance(value, list):
        return {"resources": value}
    if not isinstance(value, dict):
        raise refused(where, (), "it should be an array of resources, or an object")
    return value


def _check_verb(value: dict[str, Any], where: str, others: tuple[str, ...], verb: str) -> None:
    """Raises BadInput for a message that asks for the opposite."""
    for key in others:
        if key in value:
            raise refused(where, (key,), f"this message asks to {verb}", hint=f"mesosctl {verb} -f reads it")
