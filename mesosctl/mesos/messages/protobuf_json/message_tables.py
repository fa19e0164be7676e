"""Mesos's messages, described once: the tables that the JSON reader, protobuf and the generators of tests go by.

Each file in `tables/` has one package of Mesos 1.11: `"NAME": {"FIELD": "NUMBER LABEL TYPE"}` for a message, and
`"NAME": {"VALUE": NUMBER}` for an enumeration.  A label is `optional`, `required`, `repeated`, `map` (from strings to
the type) or `oneof:NAME`.  A type is a scalar, a name of the same package, or a name of another package with a dot
before it.  A field that has a default ends with `= DEFAULT`.

The tables hold the v1 messages.  Those of a driver (v0) are the same on the wire except for `scheduler.Call.Subscribe`,
so the driver's own tables refer to the v1 messages.  `mesos.json` has the ACLs, which exist only as v0.

`mesosctl.snapshot.json` describes the parts of a snapshot in the same way. They are only JSON, so they have no numbers,
and two more types: `object` is a JSON object that is kept unread, and `any` is any JSON.
"""

import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_args

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

    def __init__(self, name: str, fields: Mapping[str, Field] | None = None) -> None:
        """`name`: the full name in the tables, unless `fields` are given."""
        self.name = name
        if fields is not None:
            self.fields = fields

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the order of the table, and those that only JSON has."""
        package = _package_of(self.name)
        rows = _package(package).messages[self.name.removeprefix(f"{package}.")]
        return {**{name: _field(package, row) for name, row in rows.items()}, **ONLY_IN_JSON.get(self.name, {})}

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


def mesos_message(name: str) -> Message:
    """The message with this full name (`mesos.v1.FrameworkInfo`).  Raises KeyError if there is none."""
    package = _package_of(name)
    if name.removeprefix(f"{package}.") not in _package(package).messages:
        raise KeyError(name)
    return _known_message(name)


def mesos_messages(package: str) -> Iterator[Message]:
    """The messages of a package, those inside others after them."""
    return (_known_message(f"{package}.{name}") for name in _package(package).messages)


def mesos_enumerations(package: str) -> Iterator[Enumeration]:
    """The enumerations of a package."""
    return (Enumeration(f"{package}.{name}", values) for name, values in _package(package).enumerations.items())


def package_of(kind: Message | Enumeration) -> str:
    """The package of a message or an enumeration."""
    return _package_of(kind.name)


_known_message = cache(Message)


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


def _field(package: str, row: str) -> Field:
    definition, _, default = row.partition(" = ")
    *number, label, kind = definition.split()
    return Field(_type(package, kind), label, int(number[0]) if number else 0, default or None)


def _type(package: str, kind: str) -> "Scalar | Enumeration | Message":
    if kind in _SCALARS:
        return kind  # type: ignore[return-value]
    name = kind[1:] if kind.startswith(".") else f"{package}.{kind}"
    try:
        return mesos_message(name)
    except KeyError:
        return _enumeration(name)


def _enumeration(name: str) -> Enumeration:
    package = _package_of(name)
    return Enumeration(name, _package(package).enumerations[name.removeprefix(f"{package}.")])
