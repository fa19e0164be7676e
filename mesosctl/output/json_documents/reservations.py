"""The JSON of -o json for reservations and volumes, as models; see `json_documents`."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from mesosctl.model.reservations import holdings
from mesosctl.model.resource import Reservation
from mesosctl.model.resources import Resources
from mesosctl.output.json_documents.document import Amounts, Document, Mirrored, Strict, amounts


class Label(Strict):
    """A label; null if it has only a key."""

    key: str
    value: str | None


class Level(Strict):
    """One level of a stack.  `labels` are in the order in which they were given."""

    type: Literal["STATIC", "DYNAMIC"]
    role: str
    principal: str | None
    labels: list[Label]

    @classmethod
    def of(cls, level: Reservation) -> Self:
        """Make it from the value."""
        labels = [Label(key=key, value=value) for key, value in level.labels or ()]
        return cls(type=level.type, role=level.role, principal=level.principal, labels=labels)


class AgentName(Mirrored):
    """An agent."""

    id: str
    hostname: str


class Held(Strict):
    """Amounts by name, ports and sets by count; `text` spells ranges and sets out."""

    amounts: Amounts
    text: str

    @classmethod
    def of(cls, resources: Resources) -> Self:
        """Make it from the value."""
        return cls(amounts=amounts(resources.quantities()), text=holdings.plain_text(resources))


class Volume(Strict):
    """The volume, if an entry of `reservations` is one."""

    id: str
    container_path: str | None
    principal: str | None


class ReservationEntry(Strict):
    """Resources of one agent under one stack. `stack` starts at the bottom; its last level is the owner."""

    agent: AgentName
    role: str
    dynamic: bool
    stack: list[Level]
    resources: Held
    allocated: Held
    volume: Volume | None

    @classmethod
    def of(cls, held: holdings.AgentReservation) -> Self:
        """Make it from the value."""
        disk = held.disk
        volume = (
            None
            if disk is None or disk.persistence_id is None
            else Volume(id=disk.persistence_id, container_path=disk.container_path, principal=disk.principal)
        )
        return cls(
            agent=AgentName.of(held.agent),
            role=held.owner.role,
            dynamic=held.owner.type == "DYNAMIC",
            stack=[Level.of(level) for level in held.stack],
            resources=Held.of(held.resources),
            allocated=Held.of(held.allocated),
            volume=volume,
        )


class ReservationList(Document):
    """`reservations`; jsonl writes one of `reservations` per line."""

    kind: Literal["reservations.list"] = "reservations.list"
    reservations: list[ReservationEntry]


class VolumeList(Document):
    """`volumes list`; jsonl writes one of `volumes` per line."""

    kind: Literal["volumes.list"] = "volumes.list"
    volumes: list[ReservationEntry]


class RoleBranch(Strict):
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


class AgentChange(Strict):
    """One operation that the master accepted, and whether master and agent show it."""

    agent: AgentName
    done: Literal["reserved", "unreserved", "created", "destroyed"]
    resources: list[ReservationPart] = Field(description="Resources, each with the stack that it has, or had.")
    by_master: bool
    by_agent: bool

    @classmethod
    def of(cls, change: holdings.AgentChange) -> Self:
        """Make it from the value."""
        return cls(
            agent=AgentName.of(change.agent),
            done=change.done,
            resources=[
                ReservationPart(
                    name=entry.name,
                    resources=Held.of(Resources([entry])),
                    stack=[Level.of(level) for level in entry.reservations],
                )
                for entry in change.resources
            ],
            by_master=change.by_master,
            by_agent=change.by_agent,
        )


class AgentChanges(Document):
    """`reserve`, `unreserve`, `volumes create` and `volumes destroy`; jsonl writes one of `changes` per line."""

    kind: Literal["reservations.changes"] = "reservations.changes"
    changes: list[AgentChange]

    @classmethod
    def listing(cls, changes: Sequence[holdings.AgentChange]) -> Self:
        """Make it from the values."""
        return cls(changes=[AgentChange.of(change) for change in changes])
