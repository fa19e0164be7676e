"""The JSON of -o json for reservations and volumes, as models; see `show.document`.

`mesosctl.mesos.messages.reservations` has the JSON with which a master shows a reservation.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mesosctl.mesos.amounts.resource import Labels
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.show.document import Amounts, Document, Mirrored, Strict, named
from mesosctl.show.held_resources import Held, HeldResources, _held


class Label(Strict):
    """A label; `value` is null if it has only a key."""

    key: str
    value: str | None


def _labels(labels: object) -> object:
    return [Label(key=key, value=value) for key, value in labels or ()] if isinstance(labels, Labels | None) else labels


class Level(Mirrored):
    """One level of a stack.  `labels` are in the order in which they were given."""

    type: Literal["STATIC", "DYNAMIC"]
    role: str
    principal: str | None
    labels: Annotated[list[Label], BeforeValidator(_labels)]


class AgentName(Mirrored):
    """An agent."""

    id: str
    hostname: str


class Volume(Mirrored):
    """The volume, if an entry of `reservations` is one."""

    id: Annotated[str, named("persistence_id")]
    container_path: str | None
    principal: str | None


class Source(Mirrored):
    """A separate disk of an agent: where it is mounted, or what a resource provider says of it."""

    type: Literal["PATH", "MOUNT", "BLOCK", "RAW"]
    root: str | None


class ReservationEntry(Mirrored):
    """Resources of one agent under one stack. `stack` starts at the bottom; its last level is the owner."""

    agent: AgentName
    role: Annotated[str, named("owner.role")]
    dynamic: Annotated[bool, named("is_dynamic")]
    stack: list[Level]
    resources: HeldResources
    allocated: HeldResources
    volume: Volume | None
    source: Source | None = Field(default=None, description="The separate disk that the resources are on.")


class ReservationList(Document):
    """`reservations`; jsonl writes one of `reservations` per line."""

    kind: Literal["reservations.list"] = "reservations.list"
    reservations: list[ReservationEntry]


class VolumeList(Document):
    """`volumes list`; jsonl writes one of `volumes` per line."""

    kind: Literal["volumes.list"] = "volumes.list"
    volumes: list[ReservationEntry]


class RoleBranch(Mirrored):
    """A role with what it owns itself, and what it and the roles below it own together."""

    role: str
    static: Amounts
    dynamic: Amounts
    allocated: Amounts
    total: Amounts
    agents: int


class ReservationTree(Document):
    """`reservations --tree`; jsonl writes one of `roles` per line."""

    kind: Literal["reservations.tree"] = "reservations.tree"
    roles: list[RoleBranch]


class ReservationPart(Strict):
    """One entry of an operation."""

    name: str
    resources: Held
    stack: list[Level]


def _parts(resources: object) -> object:
    if not isinstance(resources, Resources):
        return resources
    return [
        {
            "name": entry.name,
            "resources": _held(Resources([entry])),
            "stack": [Level.of(level) for level in entry.reservations],
        }
        for entry in resources
    ]


class AgentChange(Mirrored):
    """One operation that the master accepted, and whether the master and the agent show it."""

    agent: AgentName
    done: Literal["reserved", "unreserved", "created", "destroyed"]
    resources: Annotated[list[ReservationPart], BeforeValidator(_parts)] = Field(
        description="Resources, each with the stack that it has, or had."
    )
    by_master: bool
    by_agent: bool


class AgentChanges(Document):
    """`reserve`, `unreserve`, `volumes create` and `volumes destroy`; jsonl writes one of `changes` per line."""

    kind: Literal["reservations.changes"] = "reservations.changes"
    changes: list[AgentChange]
