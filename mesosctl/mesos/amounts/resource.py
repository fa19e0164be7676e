"""A resource as Mesos means it: its value, its reservations, its disk, and the labels of a reservation."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.quantities import REVOCABLE
from mesosctl.mesos.amounts.values import Value, format_value, immutable, value_contains, value_type

Pair = tuple[str, str | None]
"""A key and its value; None if the label has a key only."""


class Labels:
    """An unordered collection in which a pair may appear more than once (Mesos documentation, "Reservation").

    None, for no labels at all, differs from an empty `Labels`.
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._given = tuple(pairs)

    @cached_property
    def _sorted(self) -> tuple[tuple[str, bool, str], ...]:
        return tuple(sorted((key, value is not None, value or "") for key, value in self._given))

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __eq__(self, other: object) -> bool:
        return self._sorted == other._sorted if isinstance(other, Labels) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._sorted)

    def __str__(self) -> str:
        return "{" + ", ".join(key if value is None else f"{key}: {value}" for key, value in self._given) + "}"

    def __repr__(self) -> str:
        return f"<Labels {self}>"


ReservationType = Literal["STATIC", "DYNAMIC"]
Revocability = Literal["regular", "throttleable", "non-throttleable"]
"""Not revocable; usage slack, which may be throttled; or allocation slack, lent by its owner."""
REVOCABILITIES: tuple[Revocability, ...] = ("regular", "throttleable", "non-throttleable")


class Reservation(NamedTuple):
    """One level of a reservation stack.

    `labels` None means that the message had no labels at all, which differs from an empty list.
    """

    type: ReservationType
    role: str
    principal: str | None = None
    labels: Labels | None = None

    def matches(self, principal: str | None, labels: Labels | None) -> bool:
        """Whether it has this principal and these labels; None matches any."""
        return principal in (None, self.principal) and labels in (None, self.labels)

    def __str__(self) -> str:
        parts = [self.type, self.role]
        if self.principal is not None:
            parts.append(self.principal)
        if self.labels is not None:
            parts.append(str(self.labels))
        return "(" + ",".join(parts) + ")"


class DiskSource(NamedTuple):
    """Where a disk comes from; RAW and BLOCK disks of a provider, PATH and MOUNT of the agent."""

    type: Literal["PATH", "MOUNT", "BLOCK", "RAW"]
    root: str | None = None
    vendor: str | None = None
    id: str | None = None
    profile: str | None = None
    metadata: Labels | None = None


class Disk(NamedTuple):
    """Disk information.  Only the source and the persistence id take part in Mesos's comparison."""

    persistence_id: str | None = None
    source: DiskSource | None = None
    principal: str | None = None
    container_path: str | None = None
    mode: Literal["RW", "RO"] | None = None
    host_path: str | None = None
    more: str | None = None
    """The image and the source of its volume, as JSON: they are shown, and nothing more."""

    @property
    def indivisible(self) -> bool:
        """Whether it is indivisible: MOUNT, BLOCK, RAW with an id, a volume.

        A part of it is not a smaller copy, and two equal ones stay two entries.
        """
        if self.persistence_id is not None:
            return True
        if self.source is None:
            return False
        return self.source.type in ("MOUNT", "BLOCK") or (self.source.type == "RAW" and self.source.id is not None)

    def __str__(self) -> str:
        parts = []
        if self.source is not None:
            parts.append(self.source.type + (f":{self.source.root}" if self.source.root else ""))
        if self.persistence_id is not None:
            parts.append(f"{self.persistence_id}:{self.container_path or ''}")
        return ",".join(parts)


Kind = tuple[
    str,
    str,
    str | None,
    tuple[Reservation, ...],
    tuple[DiskSource | None, str | None] | None,
    bool,
    str | None,
    bool,
    bool,
]


@immutable
class Resource:
    """One entry: a name, a value, and everything that distinguishes it from other entries.

    `copies` is more than one only for a shared volume, which may be held several times at once.
    """

    name: str
    value: Value
    reservations: tuple[Reservation, ...] = ()
    allocation_role: str | None = None
    disk: Disk | None = None
    revocable: bool = False
    shared: bool = False
    provider_id: str | None = None
    copies: int = 1
    throttleable: bool = False
    """Of revocable resources only: `throttle_info` ("Oversubscription for reservations"), unknown to Mesos 1.11."""

    @property
    def kind(self) -> Kind:
        """Equal for two entries exactly if Mesos sees the same metadata in both."""
        return (
            self.name,
            value_type(self.value),
            self.allocation_role,
            self.reservations,
            self.disk_identity,
            self.revocable,
            self.provider_id,
            self.shared,
            self.throttleable,
        )

    @property
    def disk_identity(self) -> tuple[DiskSource | None, str | None] | None:
        """The key by which two disks are the same disk; None of what is on no disk in particular."""
        return None if self.disk is None else (self.disk.source, self.disk.persistence_id)

    def _is_of_kind(self, other: "Resource") -> bool:
        """Whether `kind` is equal: compared field by field, the ones that differ most first, because sums need it."""
        return (
            self.name == other.name
            and self.allocation_role == other.allocation_role
            and self.reservations == other.reservations
            and self.revocable == other.revocable
            and self.shared == other.shared
            and self.disk_identity == other.disk_identity
            and self.provider_id == other.provider_id
            and self.throttleable == other.throttleable
            and value_type(self.value) == value_type(other.value)
        )

    @property
    def revocability(self) -> Revocability:
        """Whether it is revocable, and of which kind."""
        if not self.revocable:
            return "regular"
        return "throttleable" if self.throttleable else "non-throttleable"

    @property
    def role(self) -> str:
        """The role of the current owner: the top of the stack, or "*"."""
        return self.reservations[-1].role if self.reservations else roles.DEFAULT_ROLE

    @property
    def is_reserved(self) -> bool:
        """Whether it is reserved."""
        return bool(self.reservations)

    @property
    def is_dynamically_reserved(self) -> bool:
        """Whether the reservation of the current owner is dynamic."""
        return bool(self.reservations) and self.reservations[-1].type == "DYNAMIC"

    @property
    def is_statically_reserved(self) -> bool:
        """Whether the agent itself was started with this reservation (whatever refines it)."""
        return bool(self.reservations) and self.reservations[0].type == "STATIC"

    @property
    def is_refined(self) -> bool:
        """Whether it is refined."""
        return len(self.reservations) > 1

    @property
    def is_persistent_volume(self) -> bool:
        """Whether it is a disk with a persistence id."""
        return self.disk is not None and self.disk.persistence_id is not None

    @property
    def is_scalar(self) -> bool:
        """Whether its value is an amount."""
        return isinstance(self.value, int)

    def allocatable_to(self, role: str) -> bool:
        """Whether the allocator may offer it to `role`: unreserved, or reserved to it or an ancestor."""
        owner = self.role
        return not self.reservations or owner == role or roles.is_strict_subrole(role, owner)

    def with_value(self, value: Value) -> "Resource":
        """The same entry with another value; much faster than `replace`, because sums need it often."""
        return self._with(value, self.allocation_role)

    def with_allocation_role(self, role: str | None) -> "Resource":
        """The same entry, allocated to a role, or to none; as fast as `with_value`."""
        return self if self.allocation_role == role else self._with(self.value, role)

    def _with(self, value: Value, allocation_role: str | None) -> "Resource":
        return Resource(
            self.name,
            value,
            self.reservations,
            allocation_role,
            self.disk,
            self.revocable,
            self.shared,
            self.provider_id,
            self.copies,
            self.throttleable,
        )

    def merges_with(self, other: "Resource") -> bool:
        """Whether adding `other` enlarges this entry instead of making a second one."""
        if not self._is_of_kind(other):
            return False
        if self.shared:
            return self.value == other.value
        return not self.never_merges

    @property
    def never_merges(self) -> bool:
        """Whether an equal one stays a separate entry; shared volumes are counted instead."""
        return not self.shared and self.disk is not None and self.disk.indivisible

    def yields(self, other: "Resource") -> bool:
        """Whether `other` may be subtracted from this entry at all."""
        if not self._is_of_kind(other):
            return False
        if self.shared or (self.disk is not None and self.disk.indivisible):
            return self.value == other.value
        return True

    def contains(self, other: "Resource") -> bool:
        """Whether this single entry covers `other`."""
        if not self.yields(other):
            return False
        if self.shared:
            return self.copies >= other.copies
        return value_contains(self.value, other.value)

    @property
    def in_words(self) -> str:
        """The entry in a sentence: `2 cpus reserved for ads > ads/video by ops (label team=a)`."""
        if isinstance(self.value, int):
            text = in_words({self.name + REVOCABLE * self.revocable: self.value})
        else:
            text = "revocable " * self.revocable + f"{self.name} {format_value(self.value)}"
        if self.disk is not None and self.disk.source is not None:
            text += f" on disk {self.disk.source.root or self.disk.source.type}"
        if self.disk is not None and self.disk.persistence_id is not None:
            text += f" of volume {self.disk.persistence_id}"
        if not self.reservations:
            return text
        how = "" if self.is_dynamically_reserved else "statically "
        text += f" {how}reserved for {' > '.join(level.role for level in self.reservations)}"
        last = self.reservations[-1]
        text += f" by {last.principal}" if last.principal is not None else ""
        if last.labels is not None and not len(last.labels):
            return f"{text} (an empty list of labels)"
        pairs = [key if value is None else f"{key}={value}" for key, value in last.labels or ()]
        return text + (f" (label{'s' * (len(pairs) > 1)} {', '.join(pairs)})" if pairs else "")

    def text(self, *, with_role: bool = True) -> str:
        """The entry as text, with the role to which it is allocated, or without."""
        text = self.name
        if with_role and self.allocation_role is not None:
            text += f"(allocated: {self.allocation_role})"
        if self.reservations:
            text += "(reservations: [" + ",".join(map(str, self.reservations)) + "])"
        if self.disk is not None:
            text += f"[{self.disk}]"
        if self.revocable:
            text += "{REV,THROTTLE}" if self.throttleable else "{REV}"
        if self.shared:
            text += "<SHARED>"
        text += ":" + format_value(self.value)
        return text + f"<{self.copies}>" if self.shared else text

    __str__ = text
