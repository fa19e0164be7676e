"""A desired state in TOML: what `mesosctl export` writes, and `diff` and `apply` read.

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
(`DesiredQuota`).  Roles and stacks that a section does not name are left alone unless `--prune` is given.

Quotas may also be an array, `[[quotas]]`, in which `role` is a key of each entry.
Cluster files have the same sections.
"""

from collections.abc import Mapping
from typing import Any

from mesosctl.api.files import reading
from mesosctl.api.files.line_numbers import places_in_toml
from mesosctl.api.files.text_file import TextFile
from mesosctl.api.protobuf_json.messages import INFINITE, NOT_FINITE
from mesosctl.api.resource_text import read_resources, write_resources
from mesosctl.model import roles
from mesosctl.model.amount_text import in_mesos_notation
from mesosctl.model.errors import BadInput, RuleViolation
from mesosctl.model.notation import parse_entries
from mesosctl.model.quantities import Limits, Quantities
from mesosctl.model.quota import rules as quota_rules
from mesosctl.model.quota.desired import DesiredQuota
from mesosctl.model.reservations.rules import check_stack
from mesosctl.model.resource import Labels
from mesosctl.model.resources import Resources
from mesosctl.model.suggestion import command
from mesosctl.planning.desired_state import DesiredState
from mesosctl.planning.reservation_plan import DesiredReservation

SCHEMA_VERSION = 1
NONE = "none"
"""The text for a guarantee, or limits, of nothing."""
NO_RESOURCES = "cpus:0"
CLUSTER_FILE_KEYS = ("mesos_version", "seed", "flags", "agents", "frameworks", "tasks", "rate_limits", "volumes")
"""The keys that only a cluster file has."""
_RESERVATION_KEYS = {"agent", "role", "resources", "under", "principal", "labels"}


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


def _quota_to_toml(quota: DesiredQuota) -> dict[str, str]:
    parts = {"guarantee": quota.guarantees, "limit": quota.limits}
    return {key: in_mesos_notation(amounts) or NONE for key, amounts in parts.items() if amounts is not None}


def _reservation_to_toml(reservation: DesiredReservation) -> dict[str, Any]:
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


def labels_of(value: Any, where: str) -> Labels | None:
    """A table of texts, or a list of `KEY=VALUE`; None if there are no labels.  Raises RuleViolation."""
    if value is None:
        return None
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return Labels(value.items())
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        parted = [text.partition("=") for text in value]
        return Labels((key, text if equals else None) for key, equals, text in parted)
    raise _wrong(
        where, "it is neither a table of strings nor a list of strings", hint='write labels = { why = "batch" }'
    )


def load(text: str, where: str) -> DesiredState:
    """Read a desired state from the text of a file.  Raises BadInput naming `where`, the line and the place in it."""
    document = reading.read_toml(text, where)
    try:
        _check_no_cluster(document, where)
        return _wanted(document)
    except RuleViolation as error:
        place = TextFile(where, text, places_in_toml).place_of(error.field)
        raise BadInput(f"{place}: {error.field}: {error.message}", field=error.field, hint=error.hint) from None


def _check_no_cluster(document: Mapping[str, Any], where: str) -> None:
    for key in CLUSTER_FILE_KEYS:
        if key in document:
            can_be_named = where.endswith(".toml")  # standard input has no address
            exported = command("export", master=f"fake:{where}", f="wanted.toml") if can_be_named else ""
            raise _wrong(
                f"{key}[0]" if isinstance(document[key], list) and document[key] else key,
                "this is a cluster file, and a desired-state file is needed",
                hint=f"{exported} writes the desired state of that cluster"
                if exported
                else "leave out everything except quotas, weights and reservations",
            )


def _wanted(document: Mapping[str, Any]) -> DesiredState:
    _check_keys(document, {"schema_version", "quotas", "weights", "reservations"}, "")
    version = document.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise _wrong("schema_version", f"it is {version}, but this version of mesosctl reads {SCHEMA_VERSION}")
    return read_sections(document)


def read_sections(document: Mapping[str, Any]) -> DesiredState:
    """The sections `quotas`, `weights` and `reservations` of a document that may have others.

    Raises RuleViolation, whose field is the place in the document.
    """
    weights = _table(document, "weights")
    entries = document.get("reservations")
    if entries is not None and not isinstance(entries, list):
        raise _wrong("reservations", "it is not an array of tables", hint="write [[reservations]]")
    return DesiredState(
        quotas=None if "quotas" not in document else _quotas(document["quotas"]),
        weights=None if weights is None else {role: _weight(value, role) for role, value in weights.items()},
        reservations=None
        if entries is None
        else [_reservation(entry, f"reservations[{index}]") for index, entry in enumerate(entries)],
    )


def _quotas(section: Any) -> dict[str, DesiredQuota]:
    """By role: tables [quotas.ROLE], or an array [[quotas]] whose entries name their role."""
    if isinstance(section, dict):
        return {role: _quota(entry, role, f"quotas.{role}") for role, entry in section.items()}
    if not isinstance(section, list):
        raise _wrong("quotas", "it is neither a table nor an array of tables", hint="write [quotas.ROLE]")
    found: dict[str, DesiredQuota] = {}
    for index, entry in enumerate(section):
        where = f"quotas[{index}]"
        role = entry.get("role") if isinstance(entry, dict) else None
        if not isinstance(role, str) or not role:
            raise _wrong(f"{where}.role", "a string is needed here", hint='write role = "web"')
        if role in found:
            raise _wrong(
                f"{where}.role", f"role '{role}' already has a quota in this file", hint="write one entry for each role"
            )
        found[role] = _quota({key: value for key, value in entry.items() if key != "role"}, role, where)
    return found


def _quota(entry: Any, role: str, where: str) -> DesiredQuota:
    if not isinstance(entry, dict):
        raise _wrong(where, "it is not a table", hint=f'write [quotas.{role}] and guarantee = "cpus:12"')
    _check_keys(entry, {"guarantee", "limit"}, where)
    roles.check_role(role, where)
    guarantee = _amounts(entry.get("guarantee"), f"{where}.guarantee", zero=False)
    limit = _amounts(entry.get("limit"), f"{where}.limit", zero=True)
    quota = DesiredQuota(None if guarantee is None else Quantities(guarantee), None if limit is None else Limits(limit))
    if not quota.guarantees and not quota.limits:
        raise _wrong(
            where, "it has neither guarantee nor limit", hint="leave the role out, and use --prune to remove its quota"
        )
    try:
        quota_rules.refuse_without_cluster(role, quota.applied_to(None))
    except RuleViolation as error:
        raise _wrong(where, error.message, hint=error.hint) from None
    return quota


def _amounts(text: Any, where: str, *, zero: bool) -> dict[str, int] | None:
    """The amounts by name, none for "none"; None if the key is absent."""
    if text is None:
        return None
    if text == NONE:
        return {}
    if not isinstance(text, str):
        raise _wrong(where, "it is not a string", hint='write "cpus:12;mem:6GiB"')
    found: dict[str, int] = {}
    try:
        entries = parse_entries(text)
        if entries:
            quota_rules.check_guarantee(entries)
            if not zero:
                quota_rules.check_amounts_above_zero(entries)
    except RuleViolation as error:
        raise _wrong(where, error.message, hint=error.hint) from None
    for entry in entries:
        if isinstance(entry.value, int):
            found[entry.name] = entry.value
    return found


def _weight(value: Any, role: str) -> float:
    where = f"weights.{role}"
    roles.check_role(role, where)
    if value == "Infinity":  # as a master shows it, so that what is exported can be compared
        return INFINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        beyond = " and at most 1.7e308" if value == float("inf") else ""
        raise _wrong(where, f"a weight must be a number above zero{beyond}")
    return float(value)


def _reservation(entry: Any, where: str) -> DesiredReservation:
    if not isinstance(entry, dict):
        raise _wrong(where, "it is not a table", hint="write [[reservations]]")
    _check_keys(entry, _RESERVATION_KEYS, where)
    for key in ("agent", "role", "resources"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise _wrong(f"{where}.{key}", "a string is needed here")
    under, principal, labels = entry.get("under", []), entry.get("principal"), entry.get("labels")
    if not isinstance(under, list) or not all(isinstance(role, str) for role in under):
        raise _wrong(f"{where}.under", "it is not a list of roles")
    if not (principal is None or isinstance(principal, str)):
        raise _wrong(f"{where}.principal", "it is not a string")
    check_stack((where, role) for role in (*under, entry["role"]))
    return DesiredReservation(
        agent=entry["agent"],
        role=entry["role"],
        resources=_resources(entry["resources"], f"{where}.resources"),
        under=tuple(under),
        principal=principal,
        labels=labels_of(labels, f"{where}.labels"),
    )


def _resources(text: str, where: str) -> Resources:
    try:
        parsed = read_resources(text, of_agents=True)
    except RuleViolation as error:
        raise _wrong(where, error.message, hint=error.hint) from None
    for entry in parsed:
        if entry.is_reserved:
            raise _wrong(
                where, f"{entry.name} names an owner, but 'role' names the owner here", hint=f"write {entry.name}:…"
            )
        if entry.is_persistent_volume:
            raise _wrong(where, f"{entry.in_words} is a persistent volume, not the disk that is reserved for it")
        if entry.revocable:
            raise _wrong(where, f"{entry.in_words} is revocable, and cannot be reserved")
    return parsed


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    value = document.get(key)
    if value is not None and not isinstance(value, dict):
        raise _wrong(key, "it is not a table", hint=f"write [{key}]")
    return value


def _check_keys(table: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            hint = roles.did_you_mean(key, sorted(known), f"known: {', '.join(sorted(known))}")
            raise _wrong(f"{where}.{key}".lstrip("."), "there is no such key", hint=hint)


def _wrong(where: str, sentence: str, hint: str | None = None) -> RuleViolation:
    return RuleViolation(sentence, field=where, rule="wanted.valid", hint=hint)
