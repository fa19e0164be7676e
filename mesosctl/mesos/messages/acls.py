"""Access control lists as a master reads --acls, and as /flags shows them (Mesos documentation, "Authorization").

`acls.file` finds everything that is wrong in the files that people write.
"""

from collections.abc import Mapping
from typing import Any

from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages import protobuf_text, responses
from mesosctl.mesos.messages.protobuf_json.message_tables import Message, mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.rules.acls import AclEntry, Acls, Entity

ACLS = mesos_message("mesos.ACLs")
PERMISSIVE, PRINCIPALS = "permissive", "principals"
OBJECT_FIELDS: Mapping[str, str] = {
    action: next(name for name in field.type.fields if name != PRINCIPALS)
    for action, field in ACLS.fields.items()
    if isinstance(field.type, Message)
}
"""The name of the field of the objects, by action."""
WITHOUT_NAMES = frozenset(
    {
        *(name for name, of in OBJECT_FIELDS.items() if of in ("machines", "flags", "resource_providers")),
        *(name for name in OBJECT_FIELDS if name.endswith("_standalone_containers")),
        *("drain_agents", "deactivate_agents", "reactivate_agents", "register_agents"),
        *("access_mesos_logs", "prune_images", "set_log_level"),
    }
)
"""The actions whose object is all that there is of its kind, so a rule applies to all of it or to nothing."""
AUTHORIZABLE_PATHS = (
    "/containers",
    "/files/debug",
    "/logging/toggle",
    "/metrics/snapshot",
    "/monitor/statistics",
)
"""The paths that get_endpoints may name."""


def object_error(action: str, kind: str, values: tuple[str, ...]) -> BadInput | None:
    """Why a rule of an action may not have objects of this type and these values; None if it may."""
    if kind != "SOME":
        return None
    if action in WITHOUT_NAMES:
        return BadInput(f"the object of {action} must be ANY or NONE", field=action)
    unknown = [path for path in values if path not in AUTHORIZABLE_PATHS] if action == "get_endpoints" else []
    if not unknown:
        return None
    return BadInput(
        f"Path: '{unknown[0]}' is not an authorizable path",
        field=action,
        hint=f"the paths are {', '.join(AUTHORIZABLE_PATHS)}",
    )


def from_json(value: Any, release: str | None = None) -> Acls:
    """Decoded JSON as a master reads it, which ignores what its release does not know; None knows everything.

    Raises ConversionError and BadInput.
    """
    message = read(_acls_of(release), value)
    rules = {
        action: tuple(_rule(action, entry) for entry in entries)
        for action, entries in message.items()
        if action != PERMISSIVE
    }
    return Acls(message.get(PERMISSIVE, True), rules)


def to_text(value: Any, release: str | None = None) -> str:
    """Decoded JSON as /flags of a release shows it.  Raises ConversionError."""
    message = _acls_of(release)
    return protobuf_text.to_text(message, read(message, value))


def is_action(name: str, release: str | None) -> bool:
    """Whether a release knows an action."""
    return name in _acls_of(release).fields and name != PERMISSIVE


def _acls_of(release: str | None) -> Message:
    return mesos_message(ACLS.name, release)


def acls_of_master(answer: Any) -> Acls | None:
    """`GET /flags`: the ACLs of the master; None if something else decides too, or if they cannot be read."""
    flags = responses.flags(answer)
    if flags.get("authorizers") != "local":
        return None
    text = flags.get("acls")
    try:
        return Acls() if text is None else from_json(protobuf_text.from_text(text))
    except (ValueError, BadInput):
        return None


def _rule(action: str, entry: Mapping[str, Any]) -> AclEntry:
    kind = OBJECT_FIELDS[action]
    objects = _entity(kind, entry[kind])
    error = object_error(action, objects.type, objects.values)
    if error is not None:
        raise error
    return AclEntry(_entity(PRINCIPALS, entry[PRINCIPALS]), objects)


def _entity(kind: str, message: Mapping[str, Any]) -> Entity:
    return Entity(kind, message.get("type", "SOME"), tuple(message.get("values", ())))
