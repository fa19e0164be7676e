"""JSON into a snapshot of a cluster, with the place of each fault in it (`snapshot`, beside it, shows its shape)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework, SnapshotTask
from mesosctl.mesos.cluster.unreachable import UnreachableAgent
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.elements.agents import AgentReader
from mesosctl.mesos.messages.elements.frameworks import FrameworkReader
from mesosctl.mesos.messages.elements.offers import OfferReader
from mesosctl.mesos.messages.elements.snapshot_mistakes import check_unique, wrong
from mesosctl.mesos.messages.elements.tasks import TaskReader
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.protobuf_json.json_parts import JsonPart
from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.snapshots import lending
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from mesosctl.mesos.rules.quota import rules as quota_rules

SCHEMA_VERSION = 1
KIND = "snapshot"
_ENVELOPE = ("schema_version", "kind")
Value = TypeVar("Value")
_AGENT = Message("mesosctl.snapshot.Agent")
_FRAMEWORK = Message("mesosctl.snapshot.Framework")
_USAGE = Message("mesosctl.snapshot.Usage")
_OFFER = Message("mesosctl.snapshot.Offer")
_SHORT_PARTS = Message("mesosctl.snapshot.Snapshot")


def snapshot_of(
    found: Iterable[JsonPart], where: str = "the snapshot", lists: ResourceLists | None = None
) -> ClusterSnapshot:
    """The snapshot in the parts of a JSON value, each converted as it arrives unless it was converted already.

    `lists` is the reader of resource lists, whose cache is shared.

    Raises BadInput naming `where` and the place in it, and what the parts raise.
    """
    reader = _Reader(lists or ResourceLists())
    for part in found:
        reader.take(part)
    _check_envelope(reader.rest, where)
    try:
        return reader.snapshot()
    except ConversionError as error:
        raise BadInput(f"{where}: {error.path or 'the top level'}: {error}", field=error.path or None) from None
    except RuleViolation as error:
        raise error.retold(BadInput, f"{where}: {error.field}: {error.message}", error.field) from None


def _check_envelope(rest: Mapping[str, Any], where: str) -> None:
    if rest.get("kind") != KIND:
        raise BadInput(
            f"{where} is not a snapshot: it has no 'kind': '{KIND}'",
            field="kind",
            rule="file.snapshot",
            values={},
        )
    version = rest.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise BadInput(
            f"{where}: schema_version is {json.dumps(version)}, but this version of mesosctl reads {SCHEMA_VERSION}",
            field="schema_version",
            hint="take a new snapshot, or use the version that wrote this one",
        )


class SnapshotElements(NamedTuple):
    """The readers of a snapshot's elements, from JSON or from lines of which parts are undecoded."""

    agents: AgentReader
    frameworks: FrameworkReader
    tasks: TaskReader
    offers: OfferReader

    @classmethod
    def of(cls, lists: ResourceLists) -> Self:
        """Readers that share the cache of resource lists."""
        return cls(AgentReader(lists), FrameworkReader(), TaskReader(lists), OfferReader(lists))


class _Reader:
    """Reads the members of a snapshot in any order.

    The first mistake in an entry is kept until the end: a file that is not a snapshot at all is reported as such.
    """

    def __init__(self, lists: ResourceLists) -> None:
        self.rest: dict[str, Any] = {}
        """The short parts, unread."""
        self._lists = lists
        self._elements = SnapshotElements.of(lists)
        self._agents: list[ClusterAgent] = []
        self._frameworks: list[SnapshotFramework] = []
        self._completed: list[SnapshotFramework] = []
        self._usages: list[FrameworkUsage] = []
        self._offers: list[OutstandingOffer] = []
        self._mistake: ConversionError | RuleViolation | None = None

    def take(self, part: JsonPart) -> None:
        """One part."""
        if len(part.path) != 1:
            return
        name = part.path[0]
        match name:
            case "agents":
                self._add(part, self._agents, _AGENT, self._elements.agents.of_snapshot)
            case "frameworks":
                self._add(part, self._frameworks, _FRAMEWORK, self._elements.frameworks.of_snapshot)
            case "completed_frameworks":
                self._add(part, self._completed, _FRAMEWORK, self._elements.frameworks.of_snapshot)
            case "usages":
                self._add(part, self._usages, _USAGE, self._elements.tasks.usage_of_snapshot)
            case "offers":
                self._add(part, self._offers, _OFFER, self._elements.offers.of_snapshot)
            case _ if name in _SHORT_PARTS.fields or name in _ENVELOPE:
                if part.place is None:
                    self.rest[name] = part.value
                else:
                    self.rest[name].append(part.value)

    def _add(
        self, part: JsonPart, values: list[Value], message: Message, make: Callable[[Mapping[str, Any], str], Value]
    ) -> None:
        if isinstance(part.value, Run):
            values += part.value.values
            return
        for element in _elements(part.value):
            if self._mistake is None:
                where = f"{part.path[0]}[{len(values)}]"
                try:
                    values.append(make(read(message, element, where), where))
                except (ConversionError, RuleViolation) as error:
                    self._mistake = error

    def snapshot(self) -> ClusterSnapshot:
        """All of it.  Raises ConversionError and RuleViolation."""
        if self._mistake is not None:
            raise self._mistake
        message = read(_SHORT_PARTS, self.rest)
        check_unique((agent.id for agent in self._agents), "agents")
        check_unique((framework.id for framework in self._frameworks), "frameworks")
        check_unique((framework.id for framework in (*self._frameworks, *self._completed)), "completed_frameworks")
        known = _Known({agent.id for agent in self._agents}, {framework.id for framework in self._frameworks})
        known.check_all(self._offers, "offers")
        check_unique((offer.id for offer in self._offers), "offers")
        known.check_all(self._usages, "usages")
        return ClusterSnapshot(
            version=message["master"]["version"],
            taken_at=message.get("taken_at", 0.0),
            agents=tuple(self._agents),
            frameworks=tuple(self._frameworks),
            usages=tuple(self._usages),
            offers=tuple(self._offers),
            quotas={role: _quota(entry, role) for role, entry in sorted(message.get("quotas", {}).items())},
            weights={role: _weight(weight, role) for role, weight in sorted(message.get("weights", {}).items())},
            flags=message["master"].get("flags", {}),
            mesos_profile=message["master"].get("profile"),
            lending=lending.from_json(message, self._lists, self._elements.tasks, known.check),
            completed=tuple(self._completed),
            unreachable=tuple(
                UnreachableAgent(entry["id"], entry["since"]) for entry in message.get("unreachable_agents", ())
            ),
            unreachable_tasks=tuple(self._unreachable_tasks(message)),
            unknown=tuple(message.get("untold", ())),
        )

    def _unreachable_tasks(self, message: Mapping[str, Any]) -> Iterator[SnapshotTask]:
        known = _Known(
            {entry["id"] for entry in message.get("unreachable_agents", ())},
            {framework.id for framework in self._frameworks},
        )
        for index, entry in enumerate(message.get("unreachable_tasks", ())):
            where = f"unreachable_tasks[{index}]"
            known.check(entry, where)
            yield self._elements.tasks.of_snapshot(entry, where)


def _elements(value: Any) -> Iterator[Any]:
    """The elements of a repeated field, as `messages.read` accepts them: a single one, nested lists, none for null."""
    if isinstance(value, list):
        for element in value:
            yield from _elements(element)
    elif value is not None:
        yield value


class _Known:
    """The agents and frameworks that others may name."""

    def __init__(self, agents: set[str], frameworks: set[str]) -> None:
        self._agents = agents
        self._frameworks = frameworks

    def check(self, entry: Mapping[str, Any], where: str) -> None:
        """Raises RuleViolation for an agent or framework that the snapshot does not have."""
        for key, known in (("agent_id", self._agents), ("framework_id", self._frameworks)):
            if entry[key] not in known:
                kind = key.removesuffix("_id")
                raise wrong(f"{where}.{key}", f"the snapshot has no {kind} '{entry[key]}'")

    def check_all(self, held: Iterable[FrameworkUsage | OutstandingOffer], where: str) -> None:
        """The same for each of several."""
        for index, part in enumerate(held):
            if part.agent_id not in self._agents or part.framework_id not in self._frameworks:
                self.check({"agent_id": part.agent_id, "framework_id": part.framework_id}, f"{where}[{index}]")


def _quota(entry: Mapping[str, Any], role: str) -> Quota:
    where = f"quotas.{role}"
    roles.check_role(role, where)
    guarantees, limits = entry.get("guarantees", {}), entry.get("limits", {})
    _at(where, lambda: quota_rules.check_config_amounts(guarantees, limits))
    return quota_rules.quota_of_config(guarantees, limits)


def _weight(weight: float, role: str) -> float:
    where = f"weights.{role}"
    roles.check_role(role, where)
    if not weight > 0:
        raise wrong(where, "weights must be positive")
    return weight


def _at(where: str, rule: Callable[[], None]) -> None:
    """Run a rule; its refusal names `where`."""
    try:
        rule()
    except RuleViolation as error:
        raise wrong(f"{where}.{error.field}", error.message) from None
