"""The messages that make up a Resource (spec/reservation.md §2)."""

from mesosctl.wire.messages import Field, Message, one_of

_LABEL = Message("Label", {"key": Field("string", "required"), "value": Field("string")})
LABELS = Message("Labels", {"labels": Field(_LABEL, "repeated")})
RESERVATION = Message(
    "Resource.ReservationInfo",
    {
        "type": Field(one_of("Resource.ReservationInfo.Type", "UNKNOWN", "STATIC", "DYNAMIC")),
        "role": Field("string"),
        "principal": Field("string"),
        "labels": Field(LABELS),
    },
)
_DISK = Message(
    "Resource.DiskInfo",
    {
        "persistence": Field(
            Message("Resource.DiskInfo.Persistence", {"id": Field("string", "required"), "principal": Field("string")})
        ),
        "volume": Field(
            Message(
                "Volume",
                {
                    "mode": Field(one_of("Volume.Mode", "RW", "RO"), "required"),
                    "container_path": Field("string", "required"),
                    "host_path": Field("string"),
                },
            )
        ),
        "source": Field(
            Message(
                "Resource.DiskInfo.Source",
                {
                    "type": Field(
                        one_of("Resource.DiskInfo.Source.Type", "UNKNOWN", "PATH", "MOUNT", "BLOCK", "RAW"),
                        "required",
                    ),
                    "path": Field(Message("Resource.DiskInfo.Source.Path", {"root": Field("string")})),
                    "mount": Field(Message("Resource.DiskInfo.Source.Mount", {"root": Field("string")})),
                    "vendor": Field("string"),
                    "id": Field("string"),
                    "metadata": Field(LABELS),
                    "profile": Field("string"),
                },
            )
        ),
    },
)
_RANGE = Message("Value.Range", {"begin": Field("uint64", "required"), "end": Field("uint64", "required")})
SCALAR = Message("Value.Scalar", {"value": Field("double", "required")})
RESOURCE = Message(
    "Resource",
    {
        "name": Field("string", "required"),
        "type": Field(one_of("Value.Type", "SCALAR", "RANGES", "SET", "TEXT"), "required"),
        "scalar": Field(SCALAR),
        "ranges": Field(Message("Value.Ranges", {"range": Field(_RANGE, "repeated")})),
        "set": Field(Message("Value.Set", {"item": Field("string", "repeated")})),
        "role": Field("string"),
        "reservation": Field(RESERVATION),
        "reservations": Field(RESERVATION, "repeated"),
        "allocation_info": Field(Message("Resource.AllocationInfo", {"role": Field("string")})),
        "disk": Field(_DISK),
        "revocable": Field(Message("Resource.RevocableInfo", {"throttle_info": Field("json")})),
        "shared": Field(Message("Resource.SharedInfo")),
        "provider_id": Field(Message("ResourceProviderID", {"value": Field("string", "required")})),
    },
)
