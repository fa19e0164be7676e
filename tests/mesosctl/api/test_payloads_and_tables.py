"""The models of payloads agree with the tables of Mesos's messages: names, labels, types, and what is required."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest

import mesosctl.api
from mesosctl.api.base_model import MesosModel
from mesosctl.api.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message

for module in pkgutil.walk_packages(mesosctl.api.__path__, "mesosctl.api."):
    importlib.import_module(module.name)

ROOTS = {
    "CreateVolumesCall": "mesos.v1.master.Call",
    "DestroyVolumesCall": "mesos.v1.master.Call",
    "ReserveResourcesCall": "mesos.v1.master.Call",
    "UnreserveResourcesCall": "mesos.v1.master.Call",
    "SetQuotaCall": "mesos.v1.master.Call",
    "UpdateQuotaCall": "mesos.v1.master.Call",
    "UpdateWeightsCall": "mesos.v1.master.Call",
    "DrainAgentCall": "mesos.v1.master.Call",
    "DeactivateAgentCall": "mesos.v1.master.Call",
    "ReactivateAgentCall": "mesos.v1.master.Call",
    "MarkAgentGoneCall": "mesos.v1.master.Call",
    "UpdateMaintenanceScheduleCall": "mesos.v1.master.Call",
    "StartMaintenanceCall": "mesos.v1.master.Call",
    "StopMaintenanceCall": "mesos.v1.master.Call",
    "TeardownFrameworkCall": "mesos.v1.master.Call",
    "AcceptCall": "mesos.v1.scheduler.Call",
    "DeclineCall": "mesos.v1.scheduler.Call",
    "SubscribeCall": "mesos.v1.scheduler.Call",
    "TeardownCall": "mesos.v1.scheduler.Call",
    "OffersEvent": "mesos.v1.scheduler.Event",
    "ReserveOperation": "mesos.v1.Offer.Operation",
    "CreateOperation": "mesos.v1.Offer.Operation",
    "UnreserveOperation": "mesos.v1.Offer.Operation",
    "RateLimits": "mesos.v1.RateLimits",
}
"""The models that are in no other, and the messages that they describe."""
BASES = {"AgentOperation", "_Volumes"}
"""Models that others are made of."""
MAY_BE_ABSENT = {
    **dict.fromkeys(
        (
            ("mesos.v1.master.Call.ReserveResources", "agent_id"),
            ("mesos.v1.master.Call.UnreserveResources", "agent_id"),
            ("mesos.v1.master.Call.CreateVolumes", "agent_id"),
            ("mesos.v1.master.Call.DestroyVolumes", "agent_id"),
        ),
        "a file leaves the agent to the argument AGENT, and it is filled in before the call is sent",
    ),
    ("mesos.v1.Offer", "hostname"): "an offer in a file is only evaluated, and an example of one names no host",
}
"""Fields that a table requires and a model does not, each with the reason."""
NUMBERS = {float: {"double"}, bool: {"bool"}, int: {"int32", "int64", "uint32", "uint64"}}


def everyone(kind: type[MesosModel]) -> Iterator[type[MesosModel]]:
    for one in kind.__subclasses__():
        if one.__module__.startswith("mesosctl."):
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
        if (message, name) in MAY_BE_ABSENT:
            continue
        assert name in fields, f"{message}.{name} cannot be sent"
        assert fields[name].is_required() or fields[name].default is not None, name


def test_every_model_was_compared() -> None:
    compared = {model.__name__ for model, _ in FOUND}
    assert {one.__name__ for one in everyone(MesosModel)} == compared | BASES
