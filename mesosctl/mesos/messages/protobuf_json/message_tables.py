"""Mesos's messages, described once: the tables that the JSON reader, protobuf and the generators of tests go by.

Each file in `tables/` has one package of Mesos 1.11: `"NAME": {"FIELD": "NUMBER LABEL TYPE"}` for a message, and
`"NAME": {"VALUE": NUMBER}` for an enumeration.  A label is `optional`, `required`, `repeated`, `map` (from strings to
the type) or `oneof:NAME`.  A type is a scalar, a name of the same package, or a name of another package with a dot
before it.  A field that has a default ends with `= DEFAULT`.  What an older release has instead is in `releases`.

The tables hold the v1 messages.  Those of a driver (v0) are the same on the wire except for `scheduler.Call.Subscribe`,
so the driver's own tables refer to the v1 messages.  `mesos.json` has the ACLs, which exist only as v0.

`mesosctl.snapshot.json` describes the parts of a snapshot in the same way. They are only JSON, so they have no numbers,
and two more types: `object` is a JSON object that is kept unread, and `any` is any JSON.
"""

import json
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_args

from mesosctl.mesos.messages.protobuf_json.releases import MESSAGE, NEWEST, Members, members_at

Scalar = Literal["string", "bytes", "bool", "double", "float", "int32", "int64", "uint32", "uint64", "object", "any"]
_SCALARS = frozenset(get_args(Scalar))
MESOS_PACKAGES = (
    "google.protobuf",
    "mesos",
    "mesos.internal",
    "mesos.scheduler",
    "mesos.v1",
    "mesos.v1.allocator",
    "mesos.v1.maintenance",
    "mesos.v1.master",
    "mesos.v1.quota",
    "mesos.v1.scheduler",
)
_PACKAGES = (*MESOS_PACKAGES, "mesosctl.snapshot")
_OF_V0 = ("mesos.internal", "mesos.scheduler")
"""The packages of a driver, whose messages are v0 ones, with the names that v1 has for their fields and types."""
_PACKAGE_OF = re.compile(r"[a-z0-9_.]+(?=\.[A-Z])")


class Enumeration(NamedTuple):
    """A closed list of names, each with its number."""

    name: str
    values: dict[str, int]


class Field(NamedTuple):
    """One field of a message."""

    type: "Scalar | Enumeration | Message"
    label: str = "optional"
    """As in the tables: `optional`, `required`, `repeated`, `map` or `oneof:NAME`."""
    number: int = 0
    """On the wire; 0 for a field that only JSON has."""
    default: str | None = None
    """The value that an absent field stands for, as the table writes it."""


_ZERO: Mapping[str, Any] = {"string": "", "bytes": "", "bool": False, "double": 0.0, "float": 0.0}


def default_of(field: Field) -> Any:
    """The value that an absent field of a scalar or an enumeration stands for, as JSON shows it."""
    if isinstance(field.type, Enumeration):
        return field.default or next(iter(field.type.values))
    zero = _ZERO.get(str(field.type), 0)
    if field.default is None or isinstance(zero, str):
        return field.default or zero
    return field.default == "true" if isinstance(zero, bool) else type(zero)(field.default)


class Message:
    """A named set of fields; those of a message in a table are read when they are first needed."""

    def __init__(self, name: str, fields: Mapping[str, Field] | None = None, *, release: str | None = None) -> None:
        """`name`: the full name in the tables, unless `fields` are given; `release`: the Mesos that has them so."""
        self.name = name
        self.release = release
        if fields is not None:
            self.fields = fields

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the order of the table, and those that only JSON has."""
        package = _package_of(self.name)
        rows = _fields_at(self.name, package, self.release)
        fields = {name: _field(package, row, self.release) for name, row in rows.items()}
        return {**fields, **ONLY_IN_JSON.get(self.name, {})}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The names of the fields without which the message is incomplete."""
        return tuple(name for name, field in self.fields.items() if field.label == "required")

    @property
    def title(self) -> str:
        """The name without the package, as sentences use it."""
        package = _PACKAGE_OF.match(self.name)
        return self.name if package is None else self.name[package.end() + 1 :]

    @property
    def types(self) -> set[str]:
        """The names that its field `type` may have, other than UNKNOWN; it has a field for most of them."""
        kind = self.fields["type"].type
        assert isinstance(kind, Enumeration), f"the type of {self.name} is not an enumeration"
        return kind.values.keys() - {"UNKNOWN"}

    def field(self, name: str) -> "Message":
        """The message that a field holds."""
        kind = self.fields[name].type
        assert isinstance(kind, Message), f"{self.name}.{name} is not a message"
        return kind

    def __repr__(self) -> str:
        return f"Message({self.name!r})"


ONLY_IN_JSON: Mapping[str, Mapping[str, Field]] = {
    # Designed, but never released: resources that may be throttled, and not only taken back ("Oversubscription for
    # reservations"). It has no number, so protobuf does not carry it.
    "mesos.v1.Resource.RevocableInfo": {"throttle_info": Field("object")},
    # The agents of a master that lends idle reservations, which only the fake master does.
    "mesos.v1.master.Response.GetAgents.Agent": {"lending": Field("object")},
}
"""The fields that JSON takes beyond the tables, by the full name of their message."""


def mesos_message(name: str, release: str | None = None) -> Message:
    """The message with this full name (`mesos.v1.FrameworkInfo`), as one of `releases.RELEASES` has it.

    Without a release it is as the tables have it.  Raises KeyError if there is none.
    """
    release = None if release == NEWEST else release
    package = _package_of(name)
    if not _is_message(name, package, release):
        raise KeyError(name)
    return _known_message(name, release)


def mesos_messages(package: str, release: str | None = None) -> Iterator[Message]:
    """The messages of a package, those inside others after them."""
    release = None if release == NEWEST else release
    ended = () if release is None else _ended_messages(package, release)
    for name in (*_package(package).messages, *ended):
        if _is_message(f"{package}.{name}", package, release):
            yield _known_message(f"{package}.{name}", release)


def mesos_enumerations(package: str, release: str | None = None) -> Iterator[Enumeration]:
    """The enumerations of a package; of those that a release does not have yet, there are no values."""
    return (_enumeration(f"{package}.{name}", release) for name in _package(package).enumerations)


def package_of(kind: Message | Enumeration) -> str:
    """The package of a message or an enumeration."""
    return _package_of(kind.name)


@cache
def _known_message(name: str, release: str | None) -> Message:
    return Message(name, release=release)


class _Package(NamedTuple):
    messages: dict[str, dict[str, str]]
    enumerations: dict[str, dict[str, int]]


@cache
def _package(name: str) -> _Package:
    text = pkgutil.get_data(__package__, f"tables/{name}.json")
    assert text is not None, "the tables are beside this module"
    table = json.loads(text)
    return _Package(table["messages"], table.get("enums", {}))


def _package_of(name: str) -> str:
    found = _PACKAGE_OF.match(name)
    if found is None or found[0] not in _PACKAGES:  # a driver may send any name
        raise KeyError(name)
    return found[0]


def _field(package: str, row: str, release: str | None) -> Field:
    definition, _, default = row.partition(" = ")
    *number, label, kind = definition.split()
    return Field(_type(package, kind, release), label, int(number[0]) if number else 0, default or None)


def _type(package: str, kind: str, release: str | None) -> "Scalar | Enumeration | Message":
    if kind in _SCALARS:
        return kind  # type: ignore[return-value]
    name = kind[1:] if kind.startswith(".") else f"{package}.{kind}"
    try:
        return mesos_message(name, release)
    except KeyError:
        return _enumeration(name, release)


def _enumeration(name: str, release: str | None) -> Enumeration:
    package = _package_of(name)
    values = _package(package).enumerations[name.removeprefix(f"{package}.")]
    for value, number in _members(name, release).items():
        values = {key: known for key, known in values.items() if key != value}
        if number is not None:
            values[value] = int(number)
    return Enumeration(name, values)


# --- Of a release ---------------------------------------------------------------------------------------


def _members(name: str, release: str | None) -> Members:
    return {} if release is None or release == NEWEST else members_at(release).get(name, {})


def _is_message(name: str, package: str, release: str | None) -> bool:
    short = name.removeprefix(f"{package}.")
    if short not in _package(package).messages:
        return release is not None and short in _ended_messages(package, release)
    outer, _, member = name.rpartition(".")
    return _members(outer, release).get(member, MESSAGE) == MESSAGE


@cache
def _ended_messages(package: str, release: str) -> Sequence[str]:
    """The messages inside those of a table that a release has, and the newest has not any more."""
    newest = members_at(NEWEST)
    return [
        f"{outer}.{member}"
        for outer in _package(package).messages
        for member, text in _members(f"{package}.{outer}", release).items()
        if text == MESSAGE and newest[f"{package}.{outer}"][member] is None
    ]


def _fields_at(name: str, package: str, release: str | None) -> dict[str, str]:
    rows = _package(package).messages.get(name.removeprefix(f"{package}."), {})
    for member, text in _members(name, release).items():
        field = member.replace("slave", "agent") if package in _OF_V0 else member
        rows = {key: row for key, row in rows.items() if key != field or text is not None}
        if text is not None and text != MESSAGE:
            rows[field] = _row(package, text)
    return rows


def _row(package: str, text: str) -> str:
    """A row of the table for a field that `releases` describes."""
    definition, is_default, default = text.partition(" = ")
    number, label, kind = definition.split()
    if kind not in _SCALARS:
        kind = f".{_name_in_v1(kind) if package in _OF_V0 else kind}"
    return f"{number} {label} {kind}{is_default}{default}"


def _name_in_v1(name: str) -> str:
    """The v1 name of a v0 type, which the tables have for most of them."""
    package = _package_of(name)
    known = name.removeprefix(f"{package}.")
    if package in _OF_V0 and (known in _package(package).messages or known in _package(package).enumerations):
        return name
    return name.replace("mesos.", "mesos.v1.", 1).replace("Slave", "Agent")
