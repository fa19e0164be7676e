"""Models that are written by hand agree with the tables of Mesos's messages: names, labels, types, what is required.

Those of `table_models` are made of the tables.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from itertools import product
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import AliasChoices

import mesosctl.mesos.messages
from mesosctl.files import rate_limits
from mesosctl.mesos.messages import table_models
from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message

assert rate_limits, "it has models too"
for module in pkgutil.walk_packages(mesosctl.mesos.messages.__path__, "mesosctl.mesos.messages."):
    importlib.import_module(module.name)

ROOTS = {
    "SetQuotaCall": "mesos.v1.master.Call",
    "UpdateQuotaCall": "mesos.v1.master.Call",
    "RateLimitsMessage": "mesos.v1.RateLimits",
}
"""The models that are in no other, and the messages that they describe."""
NUMBERS = {float: {"double"}, bool: {"bool"}, int: {"int32", "int64", "uint32", "uint64"}}


def everyone(kind: type[MesosModel]) -> Iterator[type[MesosModel]]:
    for one in kind.__subclasses__():
        if one.__module__.startswith("mesosctl.") and one.__module__ != table_models.__name__:
            yield one
            yield from everyone(one)


def bare(kind: Any) -> Any:
    """The type without annotations, and without None."""
    if get_origin(kind) is Annotated:
        return bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        others = [one for one in get_args(kind) if one is not NoneType]
        return bare(others[0]) if len(others) == 1 else kind
    return kind


def pairs(model: type[MesosModel], message: Message) -> Iterator[tuple[type[MesosModel], Message]]:
    """A model and those in it, each with the message that it describes."""
    yield model, message
    for name, field in model.model_fields.items():
        row = message.fields.get(field.alias or name)
        for kind in inner(field.annotation):
            if row is not None and isinstance(row.type, Message):
                yield from pairs(kind, row.type)


def inner(kind: Any) -> Iterator[type[MesosModel]]:
    """The models in a type."""
    if isinstance(kind, type) and issubclass(kind, MesosModel):
        yield kind
    for part in get_args(kind):
        yield from inner(part)


FOUND = {
    (model, message.name): message
    for root in everyone(MesosModel)
    if root.__name__ in ROOTS
    for model, message in pairs(root, mesos_message(ROOTS[root.__name__]))
}


def differs(kind: Any, row: Field) -> str | None:
    """How a type differs from a row of a table; None if it does not."""
    kind = bare(kind)
    label = {list: "repeated", dict: "map"}.get(get_origin(kind), "one")
    is_unread = kind == dict[str, Any]
    if label != "one" and not is_unread:
        if label != row.label:
            return f"{label}, but the table says {row.label}"
        kind = bare(get_args(kind)[-1])
    elif row.label in ("repeated", "map"):
        return f"the table says {row.label}"
    if kind == dict[str, Any]:
        return None if isinstance(row.type, Message) or row.type == "object" else "an object, but it is none"
    if get_origin(kind) is Literal:
        known = row.type.values if isinstance(row.type, Enumeration) else {"*"} if row.type == "string" else {}
        return None if set(get_args(kind)) <= set(known) else f"{kind} is not among {list(known)}"
    if next(inner(kind), None):
        return None if isinstance(row.type, Message) else "a message, but it is none"
    if kind is str:
        return None if row.type == "string" or isinstance(row.type, Enumeration) else f"a string, but it is {row.type}"
    return None if row.type in NUMBERS[kind] else f"{kind}, but it is {row.type}"


@pytest.mark.parametrize(("model", "message"), FOUND, ids=lambda part: getattr(part, "__name__", None) or str(part))
def test_fields_are_those_of_the_table(model: type[MesosModel], message: str) -> None:
    rows = FOUND[model, message].fields
    for name, field in model.model_fields.items():
        row = rows.get(field.alias or name)
        assert row is not None, f"{message} has no field {name}"
        assert differs(field.annotation, row) is None, name


@pytest.mark.parametrize(("model", "message"), FOUND, ids=lambda part: getattr(part, "__name__", None) or str(part))
def test_what_the_table_requires_is_always_sent(model: type[MesosModel], message: str) -> None:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    for name in FOUND[model, message].required:
        assert name in fields, f"{message}.{name} cannot be sent"
        assert fields[name].is_required() or fields[name].default is not None, name


@pytest.mark.parametrize(
    "differences",
    [
        table_models._NEEDED,
        table_models._MAY_BE_ABSENT,
        table_models._UNREAD,
        table_models._OTHER_TYPES,
        table_models._ID_OR_TEXT,
        table_models._NAMES_OF_V0,
    ],
)
def test_a_difference_from_a_table_names_a_field_of_it(differences):
    for message, names in differences.items():
        assert set(names) <= mesos_message(message).fields.keys()


def test_every_model_was_compared() -> None:
    compared = {model.__name__ for model, _ in FOUND}
    assert {one.__name__ for one in everyone(MesosModel)} == compared


READ = ("mesos.v1.scheduler.Event.Offers", "mesos.v1.master.Call.UpdateWeights", "mesos.v1.maintenance.Schedule")
"""Messages that people write into files."""


def misspelt(model: type[MesosModel], depth: int) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Values with a key that no message has at one place, by the path of that place; each name of a field once."""
    yield ("mispelt",), {"mispelt": 1}
    for key, field in model.model_fields.items() if depth else ():
        other = field.validation_alias
        names = {field.alias or key, *(map(str, other.choices) if isinstance(other, AliasChoices) else ())}
        container = get_origin(bare(field.annotation))
        below = [found for kind in inner(field.annotation) for found in misspelt(kind, depth - 1)]
        for name, (path, value) in product(sorted(names), below):
            if container is list:
                yield (name, 0, *path), {name: [value]}
            elif container is dict:
                yield (name, "k", *path), {name: {"k": value}}
            else:
                yield (name, *path), {name: value}


@pytest.mark.parametrize("name", READ)
def test_a_misspelt_key_is_told_at_its_place_under_any_name_of_the_fields_above(name):
    model, found = table_models.model_of(name), 0
    for path, value in misspelt(model, 4):
        assert path in [mistake.path for mistake in model.faults(value)], path
        found += 1
    assert found > 1
