"""Models of Mesos's messages, with the fields that the tables say.

A request is checked by its model before it is sent, and so is a message that a person wrote in a file.  The differences
from the tables are here: what a master does without and a file may not, and what this program does not read.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, create_model
from pydantic import Field as FieldInfo

from mesosctl.mesos.messages.base_model import Bool, Double, DoubleOrInfinity, Int64, MesosModel, Uint64
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message

MASTER_CALL, SCHEDULER_CALL = "mesos.v1.master.Call", "mesos.v1.scheduler.Call"
SCHEDULER_EVENT = "mesos.v1.scheduler.Event"
OPERATION = "mesos.v1.Offer.Operation"
_SCALARS: Mapping[str, Any] = {
    "string": str,
    "double": Double,
    "int32": Int64,
    "int64": Int64,
    "uint64": Uint64,
    "bool": Bool,
    "object": dict[str, Any],
}
_LEFT_OUT = {"mesos.v1.Value.Type": {"TEXT"}, "mesos.v1.Volume": {"image", "source"}}
"""Values and fields that a resource of this program does not keep; writing one is a mistake."""
_NEEDED: Mapping[str, set[str]] = {
    **{f"{MASTER_CALL}.{name}": {"resources"} for name in ("ReserveResources", "UnreserveResources")},
    **{f"{MASTER_CALL}.{name}": {"volumes"} for name in ("CreateVolumes", "DestroyVolumes")},
    **{f"{OPERATION}.{name}": {"resources"} for name in ("Reserve", "Unreserve")},
    f"{OPERATION}.Create": {"volumes"},
    f"{MASTER_CALL}.UpdateWeights": {"weight_infos"},
    "mesos.v1.WeightInfo": {"role"},
    "mesos.v1.maintenance.Schedule": {"windows"},
    "mesos.v1.maintenance.Window": {"machine_ids"},
    "mesos.v1.Offer": {"resources"},
    f"{SCHEDULER_EVENT}.Offers": {"offers"},
}
"""Fields that a master does without, and that nobody leaves out of a file on purpose."""
_MAY_BE_ABSENT: Mapping[str, set[str]] = {
    # A file leaves the agent to the argument AGENT.
    **{
        f"{MASTER_CALL}.{name}": {"agent_id"}
        for name in ("ReserveResources", "UnreserveResources", "CreateVolumes", "DestroyVolumes")
    },
    # An offer in a file is only evaluated, and the example in the Mesos documentation has no host.
    "mesos.v1.Offer": {"hostname"},
}
"""Fields that a master needs, and that a file may leave out."""
_UNREAD: Mapping[str, set[str]] = {
    "mesos.v1.Offer": {"url", "domain", "attributes", "executor_ids", "unavailability"},
    f"{SCHEDULER_CALL}.Accept": {"operations"},  # each is made by the model of its kind
}
"""Messages that are kept as they are."""
_OTHER_TYPES: Mapping[str, Mapping[str, Any]] = {"mesos.v1.WeightInfo": {"weight": DoubleOrInfinity}}
_ID_OR_TEXT: Mapping[str, set[str]] = {"mesos.v1.Offer": {"id", "framework_id", "agent_id"}}
"""Ids that may be plain text, as the Mesos documentation prints them."""
_NAMES_OF_V0: Mapping[str, Mapping[str, str]] = {"mesos.v1.Offer": {"agent_id": "slave_id"}}
"""Names that a file may have instead."""


@cache
def model_of(name: str) -> type[MesosModel]:
    """The model of a message, by the full name of the message."""
    message = mesos_message(name)
    fields = {key: field for key, field in message.fields.items() if key not in _LEFT_OUT.get(name, ())}
    return _made(message.title.rpartition(".")[2], {key: _member(message, key) for key in fields})


@cache
def call_model(calls: str, kind: str, *others: str) -> type[MesosModel]:
    """The model of one kind of a message whose `type` says which of its fields it has; `others` it has beside that."""
    message = mesos_message(calls)
    part = kind.lower()
    members: dict[str, Any] = {}
    for name in message.fields:
        if name == "type":
            members[name] = (Literal[kind], kind)
        elif name == part:
            members[name] = (_type_of(message, name), ...)
        elif name in others:
            members[name] = _member(message, name)
    return _made(f"{kind.title().replace('_', '')}Call", members)


def master_call(kind: str, part: Any) -> MesosModel:
    """The v1 call of an operator, of this kind and with this content.  Raises BadInput."""
    return call_model(MASTER_CALL, kind).read({"type": kind, kind.lower(): part}, kind)


def scheduler_call(kind: str, part: Any, framework_id: str | None = None) -> MesosModel:
    """The call of a framework, of this kind and with this content; a kind without one has None.  Raises BadInput."""
    of = None if framework_id is None else {"value": framework_id}
    call = {"framework_id": of, "type": kind, kind.lower(): part}
    given = {name: value for name, value in call.items() if value is not None}
    return call_model(SCHEDULER_CALL, kind, "framework_id").read(given, kind)


def body_of(content: Any) -> bytes:
    """The JSON of the content of messages, as it is sent."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def _made(name: str, members: Mapping[str, Any]) -> type[MesosModel]:
    return create_model(name, __base__=MesosModel, __module__=__name__, **members)


def _member(message: Message, name: str) -> tuple[Any, Any]:
    """The type and the default of a field; None if it is absent."""
    required = message.fields[name].label == "required" and name not in _MAY_BE_ABSENT.get(message.name, ())
    kind = _type_of(message, name)
    if not required and name not in _NEEDED.get(message.name, ()):
        return kind | None, None
    also = _NAMES_OF_V0.get(message.name, {}).get(name)
    return kind, ... if also is None else FieldInfo(validation_alias=AliasChoices(name, also))


def _type_of(message: Message, name: str) -> Any:
    field = message.fields[name]
    kind: Any = _OTHER_TYPES.get(message.name, {}).get(name)
    if name in _UNREAD.get(message.name, ()):
        kind = dict[str, Any]
    if kind is None:
        kind = _of(field)
    if name in _ID_OR_TEXT.get(message.name, ()):
        kind = Annotated[kind, BeforeValidator(lambda value: {"value": value} if isinstance(value, str) else value)]
    return list[kind] if field.label == "repeated" else dict[str, kind] if field.label == "map" else kind


def _of(field: Field) -> Any:
    if isinstance(field.type, Message):
        return model_of(field.type.name)
    if isinstance(field.type, Enumeration):
        unknown = {"UNKNOWN", *_LEFT_OUT.get(field.type.name, ())}
        return Literal[tuple(value for value in field.type.values if value not in unknown)]
    return _SCALARS[field.type]
