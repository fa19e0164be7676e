"""JSON into a picture of a cluster, with the place of whatever is wrong in it (`wire.snapshot` shows its shape)."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mesosctl.core import quota as quota_rules
from mesosctl.core import roles
from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.offers import Offer
from mesosctl.core.picture import ClusterPicture, PicturedAgent, PicturedFramework, Usage
from mesosctl.core.profile import MESOS_1_11
from mesosctl.core.quota import Quota
from mesosctl.core.resources import Resources
from mesosctl.wire import snapshot_lending
from mesosctl.wire.messages import ConversionError, Field, Message, read
from mesosctl.wire.resource_lists import ResourceLists

SCHEMA_VERSION = 1
KIND = "snapshot"

_TEXT = Field("string", "required")
_LIST = Field("any", "repeated")
_AMOUNTS = Field("double", entry=True)
_SNAPSHOT = Message(
    "snapshot",
    {
        "taken_at": Field("double"),
        "master": Field(
            Message("master", {"version": _TEXT, "flags": Field("string", entry=True)}),
            "required",
        ),
        "agents": Field(
            Message(
                "agent",
                {
                    "id": _TEXT,
                    "hostname": _TEXT,
                    "pid": Field("string"),
                    "active": Field("bool"),
                    "resources": _LIST,
                    "attributes": Field("any", entry=True),
                    "capabilities": Field("string", "repeated"),
                    "region": Field("string"),
                    "zone": Field("string"),
                },
            ),
            "repeated",
        ),
        "frameworks": Field(
            Message(
                "framework",
                {
                    "id": _TEXT,
                    "name": _TEXT,
                    "roles": Field("string", "repeated"),
                    "principal": Field("string"),
                    "capabilities": Field("string", "repeated"),
                    "active": Field("bool"),
                    "connected": Field("bool"),
                    "suppressed": Field("string", "repeated"),
                    "offer_constraints": Field("json", entry=True),
                    "offer_filters": Field("json", entry=True),
                },
            ),
            "repeated",
        ),
        "usages": Field(
            Message(
                "usage",
                {
                    "framework_id": _TEXT,
                    "agent_id": _TEXT,
                    "role": _TEXT,
                    "tasks": Field("int64"),
                    "resources": _LIST,
                },
            ),
            "repeated",
        ),
        "offers": Field(
            Message(
                "offer",
                {
                    "id": _TEXT,
                    "role": _TEXT,
                    "framework_id": _TEXT,
                    "framework": Field("string"),
                    "agent_id": _TEXT,
                    "hostname": Field("string"),
                    "refined": Field("bool"),
                    "resources": _LIST,
                },
            ),
            "repeated",
        ),
        "quotas": Field(Message("quota", {"guarantees": _AMOUNTS, "limits": _AMOUNTS}), entry=True),
        "weights": Field("double", entry=True),
        **snapshot_lending.FIELDS,
        "untold": Field("string", "repeated"),
    },
)


def from_json(value: Any, where: str = "the snapshot") -> ClusterPicture:
    """The picture that a JSON object holds.  Raises BadInput naming `where` and the place in it."""
    _check_envelope(value, where)
    try:
        return _picture(read(_SNAPSHOT, value))
    except ConversionError as error:
        raise BadInput(f"{where}: {error.path or 'the top'}: {error}", field=error.path or None) from None
    except RuleViolation as error:
        raise BadInput(f"{where}: {error.field}: {error.message}", field=error.field, hint=error.hint) from None


def _check_envelope(value: Any, where: str) -> None:
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise BadInput(
            f"{where} is not a snapshot: it has no 'kind': '{KIND}'",
            field="kind",
            hint="mesosctl snapshot -f FILE writes one",
        )
    version = value.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise BadInput(
            f"{where}: schema_version is {json.dumps(version)}, and this program reads {SCHEMA_VERSION}",
            field="schema_version",
            hint="take the snapshot anew, or use the program that wrote it",
        )


def _picture(message: Mapping[str, Any]) -> ClusterPicture:
    lists = ResourceLists()
    agents = tuple(_agent(entry, f"agents[{index}]", lists) for index, entry in enumerate(message.get("agents", ())))
    frameworks = tuple(
        _framework(entry, f"frameworks[{index}]") for index, entry in enumerate(message.get("frameworks", ()))
    )
    _check_unique((agent.id for agent in agents), "agents")
    _check_unique((framework.id for framework in frameworks), "frameworks")
    known = _Known({agent.id for agent in agents}, {framework.id for framework in frameworks})
    offers = tuple(
        _offer(entry, f"offers[{index}]", lists, known) for index, entry in enumerate(message.get("offers", ()))
    )
    _check_unique((offer.id for offer in offers), "offers")
    return ClusterPicture(
        version=message["master"]["version"],
        taken_at=message.get("taken_at", 0.0),
        agents=agents,
        frameworks=frameworks,
        usages=tuple(
            _usage(entry, f"usages[{index}]", lists, known) for index, entry in enumerate(message.get("usages", ()))
        ),
        offers=offers,
        quotas={role: _quota(entry, role) for role, entry in sorted(message.get("quotas", {}).items())},
        weights={role: _weight(weight, role) for role, weight in sorted(message.get("weights", {}).items())},
        flags=message["master"].get("flags", {}),
        lending=snapshot_lending.from_json(message, lists, known.check),
        untold=tuple(message.get("untold", ())),
    )


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
                raise _wrong(f"{where}.{key}", f"the snapshot has no {kind} '{entry[key]}'")


def _agent(entry: Mapping[str, Any], where: str, lists: ResourceLists) -> PicturedAgent:
    attributes = entry.get("attributes", {})
    for name, value in attributes.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise _wrong(f"{where}.attributes.{name}", "an attribute is a text or a number")
    return PicturedAgent(
        id=entry["id"],
        hostname=entry["hostname"],
        pid=entry.get("pid", ""),
        total=_plain(entry, where, lists),
        attributes={name: value if isinstance(value, str) else float(value) for name, value in attributes.items()},
        capabilities=frozenset(entry["capabilities"])
        if "capabilities" in entry
        else frozenset(MESOS_1_11.agent_capabilities),
        active=entry.get("active", True),
        region=entry.get("region"),
        zone=entry.get("zone"),
    )


def _framework(entry: Mapping[str, Any], where: str) -> PicturedFramework:
    subscribed = tuple(entry.get("roles", ()))
    suppressed = frozenset(entry["suppressed"]) if "suppressed" in entry else None
    for index, role in enumerate(subscribed):
        roles.check_role(role, f"{where}.roles[{index}]")
    _check_unique(subscribed, f"{where}.roles")
    if suppressed is not None and not suppressed <= set(subscribed):
        raise _wrong(f"{where}.suppressed", "a role is suppressed that the framework is not subscribed to")
    return PicturedFramework(
        id=entry["id"],
        name=entry["name"],
        roles=subscribed,
        principal=entry.get("principal"),
        capabilities=frozenset(entry.get("capabilities", ())),
        active=entry.get("active", True),
        connected=entry.get("connected", True),
        suppressed=suppressed,
        offer_constraints=entry.get("offer_constraints", {}),
        offer_filters=entry.get("offer_filters", {}),
    )


def _usage(entry: Mapping[str, Any], where: str, lists: ResourceLists, known: _Known) -> Usage:
    known.check(entry, where)
    tasks = entry.get("tasks", 0)
    if tasks < 0:
        raise _wrong(f"{where}.tasks", "there cannot be fewer than none")
    return Usage(
        framework_id=entry["framework_id"],
        agent_id=entry["agent_id"],
        role=roles.check_role(entry["role"], f"{where}.role"),
        resources=_plain(entry, where, lists),
        tasks=tasks,
    )


def _offer(entry: Mapping[str, Any], where: str, lists: ResourceLists, known: _Known) -> Offer:
    known.check(entry, where)
    return Offer(
        id=entry["id"],
        role=roles.check_role(entry["role"], f"{where}.role"),
        framework_id=entry["framework_id"],
        framework=entry.get("framework", ""),
        agent_id=entry["agent_id"],
        hostname=entry.get("hostname", ""),
        resources=_plain(entry, where, lists),
        stacked_format=entry.get("refined", True),
    )


def _plain(entry: Mapping[str, Any], where: str, lists: ResourceLists) -> Resources:
    return lists.plain(entry.get("resources", ()), f"{where}.resources")


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
        raise _wrong(where, "weights must be positive")
    return weight


def _at(where: str, rule: Callable[[], None]) -> None:
    """Run a rule; what it refuses is refused at `where`."""
    try:
        rule()
    except RuleViolation as error:
        raise _wrong(f"{where}.{error.field}", error.message) from None


def _check_unique(names: Iterable[str], where: str) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise _wrong(f"{where}[{index}]", f"'{name}' is there twice")
        seen.add(name)


def _wrong(where: str, sentence: str) -> RuleViolation:
    return RuleViolation(sentence, field=where, rule="snapshot.valid")
