"""The shapes of a snapshot as JSON."""

from mesosctl.api.protobuf_json.message_tables import Field, Message
from mesosctl.api.snapshots import lending

_TEXT = Field("string", "required")


_LIST = Field("any", "repeated")


_AMOUNTS = Field("double", "map")


AGENT = Message(
    "agent",
    {
        "id": _TEXT,
        "hostname": _TEXT,
        "pid": Field("string"),
        "active": Field("bool"),
        "resources": _LIST,
        "attributes": Field("any", "map"),
        "capabilities": Field("string", "repeated"),
        "region": Field("string"),
        "zone": Field("string"),
    },
)


FRAMEWORK = Message(
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
        "offer_constraints": Field("object", "map"),
        "offer_filters": Field("object", "map"),
    },
)


USAGE = Message(
    "usage",
    {
        "framework_id": _TEXT,
        "agent_id": _TEXT,
        "role": _TEXT,
        "tasks": Field("int64"),
        "resources": _LIST,
    },
)


OFFER = Message(
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
)


REST = Message(
    "snapshot",
    {
        "taken_at": Field("double"),
        "master": Field(
            Message("master", {"version": _TEXT, "flags": Field("string", "map")}),
            "required",
        ),
        "quotas": Field(Message("quota", {"guarantees": _AMOUNTS, "limits": _AMOUNTS}), "map"),
        "weights": Field("double", "map"),
        **lending.FIELDS,
        "untold": Field("string", "repeated"),
    },
)
"""The short parts of a snapshot."""
