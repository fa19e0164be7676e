"""A desired state in TOML: what is exported from a cluster, compared with one, and applied to it.

    schema_version = 1

    [quotas.web]
    guarantee = "cpus:12;mem:6GiB"     # or "none"
    limit = "cpus:24"                  # or "none"; a resource that is not named is not limited

    [weights]
    web = 2.0
    "dept/team" = 0.5

    [[reservations]]
    agent = "node1.example"            # a host name, an id, or the beginning or end of one
    role = "dept/team"
    resources = "cpus:2;mem:1GiB;ports:[31000-31009]"   # or JSON, which can also describe disks
    under = ["dept"]                   # what it refines, from the bottom up; left out for what was unreserved
    principal = "ops"                  # left out: any, and the principal that makes it
    labels = { why = "batch" }         # left out: any, and none for a new one

A guarantee, a limit and a reservation are wanted whole: a role is to have exactly this guarantee, and on an agent
a stack exactly these resources; `resources = "cpus:0"` wants none.  A section that is not there says nothing, and so
does a `guarantee` or `limit` that is left out: it means what `quota set` and `quota update` mean without it
(`DesiredQuotaChange`).  Roles and stacks that a section does not name are left alone unless `--prune` is given.

Quotas may also be an array, `[[quotas]]`, in which `role` is a key of each entry.
Cluster files have the same sections.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from mesosctl.files.typed_file import TypedFile, read_typed
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.amount_text import in_mesos_notation
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.amounts.resource import Labels
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import NONE
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.desired.reservation_plan import DesiredOnAgent
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.protobuf_json.messages import INFINITE, NOT_FINITE
from mesosctl.mesos.messages.resource_text import read_resources, write_resources
from mesosctl.mesos.messages.strict.shapes import Name, Table
from mesosctl.mesos.rules.quota import rules as quota_rules
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.reservations.rules import check_stack

SCHEMA_VERSION = 1
NO_RESOURCES = "cpus:0"
CLUSTER_FILE_KEYS = ("mesos_version", "seed", "flags", "agents", "frameworks", "tasks", "rate_limits", "volumes")
"""The keys that only a cluster file has."""

# --- The shape of the file ----------------------------------------------------------------------------

LabelsTable = Annotated[dict[str, str] | list[str] | None, Meta(examples=[{"why": "batch"}])]
"""Labels as a table, or as a list of KEY=VALUE if a key appears twice or has no value."""
_Amounts = Annotated[str | None, Meta(examples=["cpus:12;mem:6GiB"])]


class QuotaTable(Table):
    """The quota of a role."""

    guarantee: _Amounts = None
    limit: _Amounts = None


class QuotaEntry(QuotaTable, kw_only=True):
    """The quota of a role that it names."""

    role: Annotated[Name, Meta(examples=["web"])]


class ReservationTable(Table):
    """The resources that a stack of roles has on an agent."""

    agent: Annotated[
        Name,
        Meta(description="A host name, an id, or the beginning or end of one.", examples=["node1.example"]),
    ]
    role: Annotated[Name, Meta(examples=["web"])]
    resources: Annotated[Name, Meta(examples=["cpus:2;mem:1GiB"])]
    under: Annotated[
        list[str], Meta(description="The roles that it refines, from the bottom up.", examples=[["dept"]])
    ] = field(default_factory=list)
    principal: Annotated[
        str | None,
        Meta(description="The reserver. Without one any matches, and a new reservation gets yours.", examples=["ops"]),
    ] = None
    labels: Annotated[LabelsTable, Meta(description="Without them any match, and a new reservation gets none.")] = None


class Sections(Table):
    """The sections that a desired state and a cluster file have; None for one that is not there."""

    quotas: Annotated[
        dict[str, QuotaTable] | list[QuotaEntry] | None,
        Meta(description="By role, or a list of entries that name their role."),
    ] = None
    weights: Annotated[
        dict[str, Annotated[float, Meta(gt=0)] | Literal["Infinity"]] | None, Meta(description="By role.")
    ] = None
    reservations: list[ReservationTable] | None = None


class DesiredDocument(Sections):
    """A file of a desired state."""

    schema_version: int = SCHEMA_VERSION


# --- Writing ------------------------------------------------------------------------------------------


def dump(wanted: DesiredState) -> str:
    """The text of a file."""
    import tomli_w

    return tomli_w.dumps(content(wanted))


def content(wanted: DesiredState) -> dict[str, Any]:
    """Return the content of a file as text."""
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    if wanted.quotas is not None:
        document["quotas"] = {role: _quota_to_toml(quota) for role, quota in sorted(wanted.quotas.items())}
    if wanted.weights is not None:
        weights = sorted(wanted.weights.items())
        document["weights"] = {role: NOT_FINITE.get(str(weight), weight) for role, weight in weights}
    if wanted.reservations is not None:
        document["reservations"] = [_reservation_to_toml(entry) for entry in wanted.reservations]
    return document


def _quota_to_toml(quota: DesiredQuotaChange) -> dict[str, str]:
    parts = {"guarantee": quota.guarantees, "limit": quota.limits}
    return {key: in_mesos_notation(amounts) or NONE for key, amounts in parts.items() if amounts is not None}


def _reservation_to_toml(reservation: DesiredOnAgent) -> dict[str, Any]:
    written: dict[str, Any] = {
        "agent": reservation.agent,
        "role": reservation.role,
        "resources": write_resources(reservation.resources) or NO_RESOURCES,
    }
    if reservation.under:
        written["under"] = list(reservation.under)
    if reservation.principal is not None:
        written["principal"] = reservation.principal
    if reservation.labels is not None:
        written["labels"] = labels_to_toml(reservation.labels)
    return written


def labels_to_toml(labels: Labels) -> dict[str, str] | list[str]:
    """Labels as a file has them: a table, or a list if a key appears twice or has no value."""
    pairs = list(labels)
    if len({key for key, _ in pairs}) == len(pairs) and all(value is not None for _, value in pairs):
        return {key: value or "" for key, value in pairs}
    return [key if value is None else f"{key}={value}" for key, value in pairs]


# --- Reading ------------------------------------------------------------------------------------------


def load(text: str, where: str) -> DesiredState:
    """Read a desired state from the text of a file.

    Raises BadInput naming `where`, and every fault at once with its line and its place.
    """
    read = read_typed(text, where, DesiredDocument, _check_no_cluster)
    read.refuse()
    read.check_version(read.value.schema_version, SCHEMA_VERSION)
    wanted = desired_state(read)
    read.refuse()
    return wanted


def _check_no_cluster(document: Mapping[str, Any], where: str) -> None:
    for key in CLUSTER_FILE_KEYS:
        if key in document:
            raise BadInput(
                "this is a cluster file, and a desired-state file is needed",
                field=f"{key}[0]" if isinstance(document[key], list) and document[key] else key,
                rule="wanted.no-cluster",
                hint="leave out everything except quotas, weights and reservations",
                values={"file": where},
            )


def desired_state(read: TypedFile[Any]) -> DesiredState:
    """The desired state that the `Sections` of a file mean; broken rules are noted in it."""
    sections: Sections = read.value
    weights, reservations = sections.weights, sections.reservations
    return DesiredState(
        quotas=None if sections.quotas is None else _quotas(sections.quotas, read),
        weights=None if weights is None else {role: _weight(role, value, read) for role, value in weights.items()},
        reservations=None
        if reservations is None
        else [_reservation(table, f"reservations[{index}]", read) for index, table in enumerate(reservations)],
    )


def _quotas(section: dict[str, QuotaTable] | list[QuotaEntry], read: TypedFile[Any]) -> dict[str, DesiredQuotaChange]:
    if isinstance(section, dict):
        return {role: _quota(role, table, f"quotas.{role}", read) for role, table in section.items()}
    found: dict[str, DesiredQuotaChange] = {}
    for index, entry in enumerate(section):
        role, where = entry.role, f"quotas[{index}]"
        if role in found:
            problem = f"role '{role}' already has a quota in this file"
            read.wrong(f"{where}.role", problem, "write one entry for each role")
        found[role] = _quota(role, entry, where, read)
    return found


def _quota(role: str, table: QuotaTable, where: str, read: TypedFile[Any]) -> DesiredQuotaChange:
    quota = DesiredQuotaChange()
    with read.noted(where):
        roles.check_role(role)
        with read.noted(f"{where}.guarantee"):
            if table.guarantee is not None:
                quota = quota._replace(guarantees=Quantities(_amounts(table.guarantee, zero=False)))
        with read.noted(f"{where}.limit"):
            if table.limit is not None:
                quota = quota._replace(limits=Limits(_amounts(table.limit, zero=True)))
        if not read.is_wrong_at(where):
            _check_something(role, quota)
            quota_rules.refuse_without_cluster(role, quota.applied_to(None))
    return quota


def _check_something(role: str, quota: DesiredQuotaChange) -> None:
    if not quota.guarantees and not quota.limits:
        raise RuleViolation(
            "it has neither guarantee nor limit",
            rule="wanted.no-amounts",
            hint="leave the role out",
            values={"role": role},
        )


def _amounts(text: str, *, zero: bool) -> dict[str, int]:
    """The amounts by name, none for "none".  Raises RuleViolation."""
    entries = [] if text == NONE else parse_entries(text)
    if entries:
        quota_rules.check_guarantee(entries)
        if not zero:
            quota_rules.check_amounts_above_zero(entries)
    return {entry.name: entry.value for entry in entries if isinstance(entry.value, int)}


def _weight(role: str, value: float | str, read: TypedFile[Any]) -> float:
    with read.noted(f"weights.{role}"):
        roles.check_role(role)
        if value == math.inf:
            raise BadInput("a weight must be a number above zero and at most 1.7e308")
    # A master shows it as text, so that what is exported can be compared.
    return INFINITE[value] if isinstance(value, str) else value


def _reservation(table: ReservationTable, where: str, read: TypedFile[Any]) -> DesiredOnAgent:
    resources = Resources()
    with read.noted(where):
        check_stack((where, role) for role in (*table.under, table.role))
    with read.noted(f"{where}.resources"):
        resources = _resources(table.resources)
    return DesiredOnAgent(
        agent=table.agent,
        role=table.role,
        resources=resources,
        under=tuple(table.under),
        principal=table.principal,
        labels=labels_of(table.labels),
    )


def labels_of(written: dict[str, str] | list[str] | None) -> Labels | None:
    """Labels as a file has them; None if there are none."""
    if written is None:
        return None
    if isinstance(written, dict):
        return Labels(written.items())
    parted = [text.partition("=") for text in written]
    return Labels((key, text if equals else None) for key, equals, text in parted)


def _resources(text: str) -> Resources:
    """Raises RuleViolation for resources that cannot be reserved."""
    parsed = read_resources(text, of_agents=True)
    for entry in parsed:
        wrong, hint = None, None
        if entry.is_reserved:
            wrong = f"{entry.name} names an owner, but 'role' names the owner here"
            hint = f"write {entry.name}:…"
        elif entry.is_persistent_volume:
            wrong = f"{entry.in_words} is a persistent volume, not the disk that is reserved for it"
        elif entry.revocable:
            wrong = f"{entry.in_words} is revocable, and cannot be reserved"
        if wrong is not None:
            raise RuleViolation(wrong, hint=hint)
    return parsed
