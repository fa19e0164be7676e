"""Elements of `GET /slaves` in long answers: which of their members are decoded many at once, and which stay text.

The reader of the elements takes both: see `listed_agents`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, TypedDict

from msgspec import Raw

from mesosctl.mesos.messages.protobuf_json.buffered_text import Shortcut
from mesosctl.mesos.messages.protobuf_json.wanted_members import WantedMembers

Make = Callable[[Mapping[str, Any], str], Any]
"""Makes a value of an element at a place."""


class _Element(TypedDict):
    id: str
    active: NotRequired[bool]
    deactivated: NotRequired[bool]
    drain_info: NotRequired[Raw]


class _ElementWithTotal(_Element):
    hostname: str
    reserved_resources_full: dict[str, Raw]
    unreserved_resources_full: NotRequired[Raw]


class _WholeElement(_ElementWithTotal):
    pid: str
    used_resources_full: NotRequired[Raw]
    offered_resources_full: NotRequired[Raw]
    attributes: NotRequired[Raw]
    capabilities: NotRequired[Raw]
    domain: NotRequired[Raw]


def agents_in_service(make: Make) -> Mapping[str, Shortcut]:
    """Elements as far as they say whether an agent is in service."""
    return _shortcuts(_Element, make)


def capacities(make: Make) -> Mapping[str, Shortcut]:
    """Elements with everything that an agent has."""
    return _shortcuts(_ElementWithTotal, make)


def registered_agents(make: Make) -> Mapping[str, Shortcut]:
    """Elements with what is in use, too."""
    return _shortcuts(_WholeElement, make)


def _shortcuts(kind: Any, make: Make) -> Mapping[str, Shortcut]:
    return {"slaves": WantedMembers(kind, lambda entry: make(entry, "")).read}
