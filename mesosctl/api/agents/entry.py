"""The elements of `GET /slaves`, as JSON, and the values in them that several readers need."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from sys import intern
from typing import TYPE_CHECKING, Any, TypeVar

from mesosctl.api.protobuf_json.buffered_text import FindShortcuts, Run
from mesosctl.api.protobuf_json.decoding import DECODER, ConversionError, text_if_undecoded
from mesosctl.api.protobuf_json.json_parts import parts
from mesosctl.api.protobuf_json.resource_lists import Entries, Known, ResourceLists
from mesosctl.api.responses import NATURAL, texts, undocumented, wrong
from mesosctl.model.errors import RuleViolation, UnexpectedAnswer
from mesosctl.model.reservations.rules import ALL_CAPABILITIES
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

if TYPE_CHECKING:
    from mesosctl.model.reservations.holdings import AgentStatus

Agent = TypeVar("Agent")
Holding = tuple[Resources, frozenset[str]]
"""Resources without allocation roles, and the roles that they are allocated to."""


def elements(chunks: Iterable[bytes], shortcuts: FindShortcuts, read: Callable[[Any, str], Agent]) -> Iterator[Agent]:
    """The agents of an answer that arrives in chunks; `read` makes those that `shortcuts` leave from JSON and a place.

    Raises UnexpectedAnswer if there is no list of them; ConversionError if it is not JSON.
    """
    listed: Any = None
    for part in parts(chunks, shortcuts=shortcuts):
        if part.path != ("slaves",):
            continue
        if part.place is None:
            listed = part.value
        elif isinstance(part.value, Run):
            yield from part.value.values
        else:
            yield read(part.value, part.where)
    if listed != []:
        raise wrong(listed, "a list", "slaves")


def is_in_service(entry: Mapping[str, Any]) -> bool:
    """Whether an element of `slaves` is in service."""
    return entry.get("active") is not False and entry.get("deactivated") is not True


def why_out_of_service(*, draining: bool, deactivated: bool) -> str:
    """Why an element of `slaves` is not in service: its drain comes before what the operator did otherwise."""
    if draining:
        return "draining"
    return "deactivated" if deactivated else "disconnected"


class AgentResources:
    """Reads the resources of elements, from JSON or undecoded text; equal ones in thousands of agents become one value.

    Raises UnexpectedAnswer for what is wrong, and one of `NATURAL` for text that needs a closer look.
    """

    def __init__(self) -> None:
        self._lists = ResourceLists()
        self._entries = Entries()
        self._totals: Known[tuple[str, ...], Resources] = Known()
        self._holdings: Known[str, Holding] = Known()

    def total(self, entry: Mapping[str, Any], where: str) -> Resources:
        """Everything that an agent has, with its reservations, from the lists that only `/slaves` has."""
        reserved = entry["reserved_resources_full"]
        if not isinstance(reserved, dict):
            raise wrong(reserved, "an object", f"{where}.reserved_resources_full")
        lists = {"unreserved_resources_full": entry["unreserved_resources_full"]}
        lists |= {f"reserved_resources_full.{role}": part for role, part in reserved.items()}
        texts = tuple(map(_text_of, lists.values()))

        def make() -> Resources:
            return Resources(one for key, part in lists.items() for one in self._read(part, f"{where}.{key}"))

        return self._totals.get(texts, make)

    def held(self, part: Any, where: str) -> Holding:
        """The resources that tasks and executors, or offers, hold, and the roles that they are allocated to."""
        return self._holdings.get(_text_of(part), lambda: holding(self._read(part, where)))

    def _read(self, part: Any, where: str) -> Iterator[Resource]:
        text = text_if_undecoded(part)
        if text is not None:
            yield from (one.with_allocation_role(role) for role, one in self._lists.entries_of_text(text))
            return
        if not isinstance(part, list):
            raise wrong(part, "a list", where)
        for index, message in enumerate(part):
            path = f"{where}[{index}]"
            try:
                yield self._entries.read(message, path)
            except (ConversionError, RuleViolation) as error:
                raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None


def _text_of(part: Any) -> str:
    text = text_if_undecoded(part)
    return repr(part) if text is None else text


def decoded(part: Any) -> Any:
    """A part that may be undecoded text, decoded."""
    text = text_if_undecoded(part)
    return part if text is None else DECODER.decode(text)


def holding(entries: Iterable[Resource]) -> Holding:
    """The entries without their allocation roles, and these roles."""
    found = Resources(entries)
    roles = frozenset(entry.allocation_role for entry in found if entry.allocation_role)
    return Resources(found.allocated_to(None)), roles


def attributes_of(part: Any, where: str) -> Mapping[str, str | float]:
    """Attributes by name."""
    if not isinstance(part, dict):
        raise wrong(part, "an object", where)
    return {intern(name): intern(value) if isinstance(value, str) else value for name, value in part.items()}


def capabilities_of(part: Any, where: str) -> frozenset[str]:
    """The names of capabilities; all of them if a master does not show them."""
    try:
        return frozenset(texts(part)) if isinstance(part, list) else ALL_CAPABILITIES
    except NATURAL as error:
        raise undocumented(error, where) from None


def domain_of(part: Any, where: str) -> Mapping[str, str | None]:
    """Region and zone, if it has a fault domain."""
    fault = part.get("fault_domain", {}) if isinstance(part, dict) else None
    if not isinstance(fault, dict):
        raise wrong(part, "an object with a fault_domain", where)
    try:
        return {key: fault[key]["name"] if key in fault else None for key in ("region", "zone")}
    except NATURAL as error:
        raise undocumented(error, where) from None


def status_of(drain: Any, where: str, *, active: bool, deactivated: bool) -> "AgentStatus":
    """Return the status of an agent. If it is out of service for several reasons, the operator's own comes first."""
    if drain is not None:
        if not isinstance(drain, dict):
            raise wrong(drain, "an object", f"{where}.drain_info")
        return "drained" if drain.get("state") == "DRAINED" else "draining"
    if deactivated:
        return "deactivated"
    return "active" if active else "disconnected"
