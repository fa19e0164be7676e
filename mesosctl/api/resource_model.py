"""The Resource message of the documented JSON as a model, in both of its formats.

Source: Mesos documentation, "Attributes and Resources".

`api.resources` holds its meaning, and the lenient reader of what masters and frameworks send.
"""

from typing import Any, Literal, Self

from pydantic import Field

from mesosctl.api.base_model import MesosModel, Scalar, Uint64
from mesosctl.api.resources import to_json, to_model
from mesosctl.model.resource import Resource as ModelResource


class Range(MesosModel):
    """Integers from `begin` to `end`, both included."""

    begin: Uint64
    end: Uint64


class Ranges(MesosModel):
    """The value of a resource such as ports."""

    range: list[Range] | None = None


class Items(MesosModel):
    """The value of a resource of type SET."""

    item: list[str] | None = None


class Label(MesosModel):
    """A key, and a value unless it has none."""

    key: str
    value: str | None = None


class Labels(MesosModel):
    """Labels in their order; a key may appear twice."""

    labels: list[Label] | None = None


class ReservationInfo(MesosModel):
    """One level of a reservation stack, or `reservation` of the format before refinement."""

    type: Literal["STATIC", "DYNAMIC"] | None = None
    role: str | None = None
    principal: str | None = None
    labels: Labels | None = None


class AllocationInfo(MesosModel):
    """The role that resources are offered or allocated to."""

    role: str | None = None


class Persistence(MesosModel):
    """The persistence id, which makes disk a persistent volume."""

    id: str
    principal: str | None = None


class Volume(MesosModel):
    """Where a container finds a volume."""

    mode: Literal["RW", "RO"]
    container_path: str
    host_path: str | None = None


class Root(MesosModel):
    """The folder of a disk."""

    root: str | None = None


class DiskSource(MesosModel):
    """The disk that an amount is of."""

    type: Literal["PATH", "MOUNT", "BLOCK", "RAW"]
    path: Root | None = None
    mount: Root | None = None
    vendor: str | None = None
    id: str | None = None
    metadata: Labels | None = None
    profile: str | None = None


class DiskInfo(MesosModel):
    """The properties that distinguish one piece of disk from another."""

    persistence: Persistence | None = None
    volume: Volume | None = None
    source: DiskSource | None = None


class RevocableInfo(MesosModel):
    """Marks resources that may be taken back."""

    throttle_info: dict[str, Any] | None = None


class SharedInfo(MesosModel):
    """Marks resources that several tasks may use at once."""


class ResourceProviderId(MesosModel):
    """The resource provider that an amount comes from."""

    value: str


class Resource(MesosModel):
    """One resource."""

    name: str
    type: Literal["SCALAR", "RANGES", "SET"]
    scalar: Scalar | None = None
    ranges: Ranges | None = None
    set_: Items | None = Field(default=None, alias="set")
    role: str | None = None
    reservation: ReservationInfo | None = None
    reservations: list[ReservationInfo] | None = None
    allocation_info: AllocationInfo | None = None
    disk: DiskInfo | None = None
    revocable: RevocableInfo | None = None
    shared: SharedInfo | None = None
    provider_id: ResourceProviderId | None = None

    @classmethod
    def of(cls, resource: ModelResource) -> Self:
        """The message of a resource, with its reservation stack.

        Raises BadInput for text that a master shows but JSON cannot hold.
        """
        return cls.read(to_json(resource, "POST"), resource.name)

    def to_model(self, field: str) -> ModelResource:
        """The value of the message. Raises RuleViolation naming `field` and the part that is wrong."""
        return to_model(self.content(), field)
