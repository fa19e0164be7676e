"""The records of a registry: their types, by which msgspec checks that a record is one that a master wrote.

A type holds what would fail far from where it is read if it were missing or wrong.  Other fields, and kinds of records
that are not listed here, are as they were written.
"""

import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct, ValidationError, convert

Text = Annotated[str, Meta(min_length=1)]
Moment = Annotated[float, Meta(ge=0, lt=253402300800.0)]
"""Seconds since the epoch, up to the end of the year 9999."""
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Positive = Annotated[float, Meta(gt=0)]


class MasterRecord(TypedDict):
    """The record of kind "master": who it is, and since when."""

    id: Text
    start_time: Moment


class DrainConfig(TypedDict):
    """The DrainConfig message of an agent."""

    mark_gone: bool
    max_grace_period: NotRequired[Mapping[str, Any]]
    """DurationInfo."""


class DrainInfo(TypedDict):
    """The DrainInfo message of an agent."""

    state: Literal["DRAINING", "DRAINED"]
    config: DrainConfig


class AgentRecord(TypedDict):
    """The record of kind "agent", by host name: an agent's id, and the settings of operators."""

    id: Text
    registered_time: Moment
    gone: NotRequired[bool]
    gone_time: NotRequired[Moment]
    forgotten: NotRequired[bool]
    """Whether an agent that is unreachable or gone has been so for too long for the registry to keep it."""
    shut_down: NotRequired[bool]
    deactivated: NotRequired[bool]
    unreachable_time: NotRequired[Moment]
    drain_info: NotRequired[DrainInfo]
    drain_start: NotRequired[Moment]


class FormerAgentRecord(TypedDict):
    """The record of kind "former_agent", by an id that is spent: the host of the agent that had it."""

    hostname: Text


class QuotaRecord(TypedDict):
    """The record of kind "quota", by role: amounts as they were sent.

    It has the entries, and the principal who set it, where masters keep those.
    """

    guarantees: dict[str, Finite]
    limits: dict[str, Finite]
    entries: NotRequired[list[dict[str, Any]]]
    principal: NotRequired[str]


class MachineId(TypedDict, total=False):
    """A MachineID message: either of them, or both."""

    hostname: str
    ip: str


class MachineRecord(TypedDict):
    """The record of kind "machine": a machine of the maintenance schedule; one that is up has none."""

    id: MachineId
    mode: Literal["DRAINING", "DOWN"]


class Nanoseconds(TypedDict):
    """A TimeInfo message, since the epoch, or a DurationInfo message."""

    nanoseconds: int


class UnavailabilityRecord(TypedDict):
    """The Unavailability message of machines; without `duration` it has no end."""

    start: Nanoseconds
    duration: NotRequired[Nanoseconds]


class Window(TypedDict):
    """A maintenance.Window message; a list of them is the record of kind "schedule"."""

    machine_ids: list[MachineId]
    unavailability: UnavailabilityRecord


class _Named(TypedDict):
    name: Text


class _Word(TypedDict):
    value: str


class _Number(TypedDict):
    value: Finite


class _TextAttribute(Struct, tag="TEXT", tag_field="type"):
    name: Text
    text: _Word


class _ScalarAttribute(Struct, tag="SCALAR", tag_field="type"):
    name: Text
    scalar: _Number


class _AgentInfo(TypedDict):
    hostname: Text
    resources: list[_Named]
    attributes: NotRequired[list[_TextAttribute | _ScalarAttribute]]


class _FrameworkId(TypedDict):
    value: Text


class _Capability(TypedDict):
    type: NotRequired[Text | None]


class _Quantities(TypedDict):
    quantities: NotRequired[dict[str, _Number] | None]


class _MinimumOffer(TypedDict):
    quantities: NotRequired[list[_Quantities] | None]


class _OfferFilters(TypedDict):
    min_allocatable_resources: NotRequired[_MinimumOffer | None]


class _FrameworkInfo(TypedDict):
    id: _FrameworkId
    name: str
    user: str
    principal: NotRequired[str]
    role: NotRequired[Text]
    roles: NotRequired[list[Text]]
    capabilities: NotRequired[list[_Capability]]
    failover_timeout: NotRequired[float]
    offer_filters: NotRequired[dict[str, _OfferFilters]]


_KINDS: Mapping[str, Any] = {
    "master": MasterRecord,
    "agent": AgentRecord,
    "agent_info": _AgentInfo,
    "agent_framework": _FrameworkInfo,
    "former_agent": FormerAgentRecord,
    "quota": QuotaRecord,
    "machine": MachineRecord,
    "weight": Positive,
    "checkpoint": list[dict[str, Any]],
    "schedule": list[Window],
}


def mistake(kind: str, value: Any) -> str | None:
    """The sentence of msgspec on what is wrong in a record, and where; None if it is as a master writes it."""
    try:
        convert(value, _KINDS.get(kind, Any))
    except ValidationError as error:
        return str(error)
    return None
