"""The agents in `GET /slaves`: one reader, and what each question takes of them.

The capacity heuristic needs what agents have, a change of reservations everything, and the explanation of offers which
agents are out of service.  In a long answer only the members that a question needs are decoded (`listed_agent_texts`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mesosctl.mesos.amounts.quantities import to_milli
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import RuleViolation, UnexpectedAnswer
from mesosctl.mesos.messages.elements.agents import is_in_service
from mesosctl.mesos.messages.elements.members import Members, attributes_of_object, region_and_zone
from mesosctl.mesos.messages.protobuf_json.buffered_text import FindShortcuts, Run, Shortcut
from mesosctl.mesos.messages.protobuf_json.decoding import DECODER, ConversionError, text_if_undecoded
from mesosctl.mesos.messages.protobuf_json.json_parts import parts
from mesosctl.mesos.messages.protobuf_json.resource_lists import Entries, Known, ResourceLists
from mesosctl.mesos.messages.responses import NATURAL, Once, text, texts, undocumented, wrong
from mesosctl.mesos.rules.quota.capacity import AgentCapacity
from mesosctl.mesos.rules.reservations.rules import ALL_CAPABILITIES

if TYPE_CHECKING:
    from mesosctl.mesos.cluster.holdings import AgentStatus, Drain, RegisteredAgent

Read = TypeVar("Read")
Value = TypeVar("Value")
Holding = tuple[Resources, frozenset[str]]
"""Resources without allocation roles, and the roles that they are allocated to."""


def _elements(
    chunks: Iterable[bytes],
    shortcuts: FindShortcuts,
    read: Callable[[Any, str], Read],
    await_: Callable[[Any, str], None] = lambda *_: None,
) -> Iterator[Read]:
    """The agents of an answer that arrives in chunks; `read` makes those that `shortcuts` leave from JSON and a place.

    `await_` is given those that were recovered and are not back.

    Raises UnexpectedAnswer if there is no list of them; ConversionError if it is not JSON.
    """
    listed: Any = None
    for part in parts(chunks, shortcuts=shortcuts):
        if part.path == ("recovered_slaves",) and part.place is not None:
            await_(part.value, part.where)
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


class _AgentResources:
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
            return Resources(resource for key, part in lists.items() for resource in self._read(part, f"{where}.{key}"))

        return self._totals.get(texts, make)

    def held(self, part: Any, where: str) -> Holding:
        """The resources that tasks and executors, or offers, hold, and the roles that they are allocated to."""
        return self._holdings.get(_text_of(part), lambda: _holding(self._read(part, where)))

    def _read(self, part: Any, where: str) -> Iterator[Resource]:
        text = text_if_undecoded(part)
        if text is not None:
            yield from (entry.with_allocation_role(role) for role, entry in self._lists.entries_of_text(text))
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


def _decoded(part: Any) -> Any:
    """A part that may be undecoded text, decoded."""
    text = text_if_undecoded(part)
    return part if text is None else DECODER.decode(text)


def _holding(entries: Iterable[Resource]) -> Holding:
    """The entries without their allocation roles, and these roles."""
    found = Resources(entries)
    roles = frozenset(entry.allocation_role for entry in found if entry.allocation_role)
    return Resources(found.allocated_to(None)), roles


def _capabilities_of(part: Any) -> frozenset[str]:
    """The names of capabilities; all of them if a master does not show them."""
    return frozenset(texts(part)) if isinstance(part, list) else ALL_CAPABILITIES


def _status_of(drain: Any, where: str, *, active: bool, deactivated: bool) -> "AgentStatus":
    """Return the status of an agent. If it is out of service for several reasons, the operator's own comes first."""
    if drain is not None:
        if not isinstance(drain, dict):
            raise wrong(drain, "an object", f"{where}.drain_info")
        return "drained" if drain.get("state") == "DRAINED" else "draining"
    if deactivated:
        return "deactivated"
    return "active" if active else "disconnected"


# --- What agents have, for the capacity heuristic ---------------------------------------------------


def agents(answer: Any) -> list[AgentCapacity]:
    """Every registered agent; those only recovered from the registry are not among them.  Raises UnexpectedAnswer."""
    listed = answer.get("slaves") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "slaves")
    ids = Once()
    for index, entry in enumerate(listed):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            ids.take(entry["id"], f"slaves[{index}].id")
    read = _AgentResources()
    return [_capacity(entry, f"slaves[{index}]", read) for index, entry in enumerate(listed)]


class AgentCapacities(NamedTuple):
    """The fields of agents that the capacity heuristic and the completion of names read."""

    capacities: list[AgentCapacity]
    names: list[dict[str, str]]
    """`id` and `hostname` of each that has both."""


def agent_capacities(chunks: Iterable[bytes]) -> AgentCapacities:
    """Like `agents`, but read from an answer while its chunks arrive.  Raises ConversionError if it is not JSON."""
    found, resources, ids = AgentCapacities([], []), _AgentResources(), Once()

    def read(entry: Any, where: str) -> tuple[AgentCapacity, Any, Any]:
        return _capacity(entry, where, resources), entry.get("id"), entry.get("hostname")

    def shortcuts() -> Mapping[str, Shortcut]:
        from mesosctl.mesos.messages.elements import listed_agent_texts  # imported late: it loads msgspec

        return listed_agent_texts.capacities(read)

    for index, (capacity, agent_id, hostname) in enumerate(_elements(chunks, shortcuts, read)):
        if isinstance(agent_id, str):
            ids.take(agent_id, f"slaves[{index}].id")
        found.capacities.append(capacity)
        if isinstance(agent_id, str) and isinstance(hostname, str):
            found.names.append({"hostname": hostname, "id": agent_id})
    return found


def _capacity(entry: Any, where: str, resources: _AgentResources) -> AgentCapacity:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    full = "unreserved_resources_full" in entry and "reserved_resources_full" in entry
    total = resources.total(entry, where) if full else Resources(_summarised(entry, where))
    return AgentCapacity(total, active=is_in_service(entry))


def _summarised(entry: Mapping[str, Any], where: str) -> Iterator[Resource]:
    """Only amounts, from a master without these lists; reservations count as static ones."""
    reserved = entry.get("reserved_resources", {})
    if not isinstance(reserved, dict):
        raise wrong(reserved, "an object", f"{where}.reserved_resources")
    for role, part in reserved.items():
        for resource in _amounts(part, f"{where}.reserved_resources.{role}"):
            yield Resource(resource.name, resource.value, (Reservation("STATIC", role),))
    yield from _amounts(entry.get("unreserved_resources"), f"{where}.unreserved_resources")


def _amounts(part: Any, where: str) -> Iterator[Resource]:
    if not isinstance(part, dict):
        raise wrong(part, "an object", where)
    for name, amount in part.items():
        if isinstance(amount, str) or name.endswith("_revocable"):
            continue
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise wrong(amount, "a number", f"{where}.{name}")
        yield Resource(name, to_milli(amount))


# --- Whole agents, for reservations -----------------------------------------------------------------


_FULL = ("reserved_resources_full", "unreserved_resources_full")


def registered_agents(chunks: Iterable[bytes]) -> "list[RegisteredAgent]":
    """Every registered agent, with its full resources, read from an answer while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    return _whole_agents(chunks, _Reader(), Once())


def registered_and_recovering_agents(chunks: Iterable[bytes]) -> "list[RegisteredAgent]":
    """The same, and those that a former leader knew and that are not back; of these no resources are known."""
    reader, ids = _Reader(), Once()
    recovering: list[RegisteredAgent] = []
    registered = _whole_agents(
        chunks, reader, ids, lambda entry, where: recovering.append(reader.recovering(entry, where))
    )
    for agent in recovering:
        ids.take(agent.id, "recovered_slaves")
    return [*registered, *recovering]


def _whole_agents(
    chunks: Iterable[bytes], reader: "_Reader", ids: Once, await_: Callable[[Any, str], None] = lambda *_: None
) -> "list[RegisteredAgent]":
    """The registered agents, whose ids are taken; `await_` as in `_elements`."""

    def shortcuts() -> Mapping[str, Shortcut]:
        from mesosctl.mesos.messages.elements import listed_agent_texts  # imported late: it loads msgspec

        return listed_agent_texts.registered_agents(reader.agent)

    found = list(_elements(chunks, shortcuts, reader.agent, await_))
    for index, agent in enumerate(found):
        ids.take(agent.id, f"slaves[{index}].id")
    return found


def agent_state(answer: Any) -> Resources:
    """Return the resources in an agent's own `/state`.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _Reader().total(answer, "state")


def _check_names(entry: Any, where: str, keys: Sequence[str]) -> None:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    for key in keys:
        if not isinstance(entry.get(key), str):
            raise wrong(entry.get(key), "a string", f"{where}.{key}")


class _Reader:
    """Reads agents, from JSON or with parts that are undecoded text; equal values in thousands of agents are shared."""

    def __init__(self) -> None:
        from mesosctl.mesos.cluster.holdings import RegisteredAgent  # late: capacities do not need it

        self._make = RegisteredAgent
        self._resources = _AgentResources()
        self._members = Members()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()

    def agent(self, entry: Any, where: str) -> "RegisteredAgent":
        """One element of `slaves`."""
        _check_names(entry, where, ("id", "hostname", "pid"))
        used, users = self._held(entry, f"{where}.used_resources_full")
        offered, offerees = self._held(entry, f"{where}.offered_resources_full")
        region, zone = self._part(region_and_zone, entry.get("domain", {}), f"{where}.domain")
        drain = _decoded(entry.get("drain_info"))
        capabilities = self._part(_capabilities_of, entry.get("capabilities"), f"{where}.capabilities")
        return self._make(
            id=entry["id"],
            hostname=entry["hostname"],
            pid=entry["pid"],
            total=self.total(entry, where),
            used=used,
            offered=offered,
            users=self._sets.get(users | offerees, lambda: users | offerees),
            attributes=self._part(attributes_of_object, entry.get("attributes", {}), f"{where}.attributes"),
            capabilities=self._sets.get(capabilities, lambda: capabilities),
            active=is_in_service(entry),
            status=_status_of(
                drain,
                where,
                active=entry.get("active") is not False,
                deactivated=entry.get("deactivated") is True,
            ),
            drain=None if drain is None else self._drain(drain, f"{where}.drain_info"),
            region=region,
            zone=zone,
        )

    def _drain(self, drain: Mapping[str, Any], where: str) -> "Drain":
        """The drain that an operator has asked for."""
        from mesosctl.mesos.cluster.holdings import Drain

        config = drain.get("config", {})
        try:
            grace = config.get("max_grace_period")
            seconds = None if grace is None else grace["nanoseconds"] / 1e9
            return Drain(seconds, config.get("mark_gone") is True)
        except NATURAL as error:
            raise undocumented(error, where) from None

    def recovering(self, entry: Any, where: str) -> "RegisteredAgent":
        """One element of `recovered_slaves`."""
        _check_names(entry, where, ("id", "hostname"))
        region, zone = self._part(region_and_zone, entry.get("domain", {}), f"{where}.domain")
        return self._make(
            id=entry["id"],
            hostname=entry["hostname"],
            pid="",
            total=Resources(),
            attributes=self._part(attributes_of_object, entry.get("attributes", {}), f"{where}.attributes"),
            active=False,
            status="recovering",
            region=region,
            zone=zone,
        )

    def _part(self, make: Callable[[Any], Value], part: Any, where: str) -> Value:
        try:
            return self._members.read(make, part)
        except NATURAL as error:
            raise undocumented(error, where) from None

    def _held(self, entry: Mapping[str, Any], where: str) -> Holding:
        """The resources in the list at `where`, and the roles that they are allocated to."""
        return self._resources.held(entry.get(where.rpartition(".")[2], []), where)

    def total(self, entry: dict[str, Any], where: str) -> Resources:
        """Everything that an agent has."""
        for key in _FULL:
            if key not in entry:
                raise wrong(None, "every resource with its reservations", f"{where}.{key}")
        return self._resources.total(entry, where)


# --- Which agents are out of service ----------------------------------------------------------------


@dataclass(slots=True)
class AgentsInService:
    """How many agents are registered and awaited, and why some are out of service."""

    registered: int = 0
    awaited: int = 0
    """Those that a former leader knew and that are not back."""
    out_of_service: dict[str, str] = field(default_factory=dict)
    """By id: "draining", "deactivated" or "disconnected"."""


_Found = tuple[str, str | None]
"""The id of an agent, and why it is out of service; None if it is not."""


def agents_in_service(chunks: Iterable[bytes]) -> AgentsInService:
    """Read from an answer while its chunks arrive.  Raises UnexpectedAnswer; ConversionError if it is not JSON."""
    found, ids = AgentsInService(), Once()
    listed: dict[str, Any] = {"slaves": None, "recovered_slaves": []}
    for part in parts(chunks, shortcuts=_service_shortcuts):
        name = part.path[0] if len(part.path) == 1 else ""
        if name not in listed:
            continue
        if part.place is None:
            listed[name] = part.value
        elif name == "recovered_slaves":
            found.awaited += 1
        else:
            for agent_id, cause in (
                part.value.values if isinstance(part.value, Run) else [_service(part.value, part.where)]
            ):
                ids.take(agent_id, f"slaves[{found.registered}].id")
                found.registered += 1
                if cause is not None:
                    found.out_of_service[agent_id] = cause
    for name, value in listed.items():
        if value != []:
            raise wrong(value, "a list", name)
    return found


def _service_shortcuts() -> Mapping[str, Shortcut]:
    from mesosctl.mesos.messages.elements import listed_agent_texts  # imported late: it loads msgspec

    return listed_agent_texts.agents_in_service(_service)


def _service(entry: Any, where: str) -> _Found:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    try:
        agent_id = text(entry.get("id", ""))
    except NATURAL as error:
        raise undocumented(error, where) from None
    if is_in_service(entry):
        return agent_id, None
    return agent_id, _why_out_of_service(draining="drain_info" in entry, deactivated=entry.get("deactivated") is True)


def _why_out_of_service(*, draining: bool, deactivated: bool) -> str:
    """Why an element of `slaves` is not in service: its drain comes before what the operator did otherwise."""
    if draining:
        return "draining"
    return "deactivated" if deactivated else "disconnected"
