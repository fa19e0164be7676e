"""The documented JSON of persistent volumes (spec/reservation.md §5)."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from mesosctl.core.resource import Resource as CoreResource
from mesosctl.wire.agent_operations import AgentId, AgentOperation
from mesosctl.wire.documented import Documented
from mesosctl.wire.resource import Resource


class _Volumes(AgentOperation):
    """Volumes of an agent."""

    volumes: list[Resource]

    @classmethod
    def of(cls, agent_id: str, volumes: Sequence[CoreResource]) -> Self:
        """The operation on these volumes."""
        return cls(agent_id=AgentId(value=agent_id), volumes=[Resource.of(volume) for volume in volumes])


class CreateVolumes(_Volumes):
    """`create_volumes` of the v1 call."""

    path: ClassVar[str] = "/create-volumes"

    def call(self) -> "CreateVolumesCall":
        """The v1 call that asks for it."""
        return CreateVolumesCall(create_volumes=self)


class CreateVolumesCall(Documented):
    """The v1 call CREATE_VOLUMES."""

    type: Literal["CREATE_VOLUMES"] = "CREATE_VOLUMES"
    create_volumes: CreateVolumes


class DestroyVolumes(_Volumes):
    """`destroy_volumes` of the v1 call."""

    path: ClassVar[str] = "/destroy-volumes"

    def call(self) -> "DestroyVolumesCall":
        """The v1 call that asks for it."""
        return DestroyVolumesCall(destroy_volumes=self)


class DestroyVolumesCall(Documented):
    """The v1 call DESTROY_VOLUMES."""

    type: Literal["DESTROY_VOLUMES"] = "DESTROY_VOLUMES"
    destroy_volumes: DestroyVolumes
