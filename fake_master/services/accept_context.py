"""One ACCEPT while its operations are carried out, and the resources that they name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.messages.resources import to_model


@dataclass(slots=True)
class AcceptContext:
    """The sum of the offers of one ACCEPT, which each of its operations changes for the next."""

    framework: KnownFramework
    agent: KnownAgent
    role: str
    left: Resources
    """Allocated to `role`: what later operations may still use."""
    resized: Resources = field(default_factory=Resources)
    """The results of GROW_VOLUME and SHRINK_VOLUME: later operations of the same ACCEPT may not use them."""
    shared: Resources = field(init=False)
    """The shared volumes: any number of tasks may use each of them, however many copies are left."""
    knows_throttling: bool = False
    """Whether `throttle_info` means anything to this master; Mesos 1.11 passes over it."""
    release: str | None = None
    """The release whose rules for tasks hold; None for those of the newest."""
    launches_ids_once: bool = False
    """`Profile.launches_ids_once`."""
    _ids: set[str] = field(default_factory=set)
    """Of the tasks that were looked at."""

    def __post_init__(self) -> None:
        self.note_shared()

    def note_shared(self) -> None:
        """Take note of the shared volumes after an operation."""
        self.shared = self.left.filter(lambda entry: entry.shared)

    def waits(self, task_id: str) -> bool:
        """Whether a task of this id waits to be launched, which is now looked at."""
        had = task_id in self._ids
        self._ids.add(task_id)
        return not (had and self.launches_ids_once)

    @property
    def available(self) -> Resources:
        """The resources that a task may use."""
        return self.left.filter(lambda entry: not entry.shared) + self.shared


OTHER_BODIES_ARE_UPGRADED = "1.5.3"
"""The first release that ends when an operation has another's body with a reservation for nobody: it looks at all
resources of an operation once, but upgrades them wherever they are.  Seen on a master of each release."""


def problem_of_other_bodies(operation: Mapping[str, Any], release: str | None) -> str | None:
    """Return why what an operation holds besides its own body would end a real master, or None."""
    if not has(release, OTHER_BODIES_ARE_UPGRADED):
        return None
    own = operation["type"].lower()
    if any(_is_reserved_for_nobody(part) for name, part in operation.items() if name != own):
        return "the operation would end a real master: the body of another kind has a 'reservation' for the role '*'"
    return None


def _is_reserved_for_nobody(part: Any) -> bool:
    """Whether a part holds a resource, at any depth, that is reserved but for no role."""
    if isinstance(part, list):
        return any(map(_is_reserved_for_nobody, part))
    if not isinstance(part, Mapping):
        return False
    if "reservation" in part and not part.get("reservations") and part.get("role", "*") == "*":
        return True
    return any(map(_is_reserved_for_nobody, part.values()))


def entries(messages: Sequence[Mapping[str, Any]], context: AcceptContext) -> list[Resource]:
    """Resources of a framework's operation; the offer's role is understood if none is named."""
    found = [to_model(message, f"resources[{index}]") for index, message in enumerate(messages)]
    return [
        replace(
            entry,
            allocation_role=context.role if entry.allocation_role is None else entry.allocation_role,
            throttleable=entry.throttleable and context.knows_throttling,
        )
        for entry in found
    ]
