"""Authorization: the ACLs of `--acls` and the decisions that follow from them (Mesos documentation, "Authorization").

An action has a list of ACLs; the first whose principals and object both match decides.  If none matches, `permissive`
decides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.protobuf_json.message_tables import Message, mesos_message
from mesosctl.api.protobuf_json.messages import read
from mesosctl.model.errors import BadInput, Forbidden
from mesosctl.model.resource import Resource
from mesosctl.model.roles import is_strict_subrole

_ACLS = mesos_message("mesos.ACLs")
_PERMISSIVE = "permissive"
# Action → the name of its object's field.
_OBJECT_FIELDS = {
    action: next(name for name in field.type.fields if name != "principals")
    for action, field in _ACLS.fields.items()
    if isinstance(field.type, Message)
}
ENFORCED = frozenset(
    {
        "create_volumes",
        "deactivate_agents",
        "destroy_volumes",
        "drain_agents",
        "get_maintenance_schedules",
        "get_maintenance_statuses",
        "get_quotas",
        "mark_agents_gone",
        "reactivate_agents",
        "register_agents",
        "register_frameworks",
        "reserve_resources",
        "resize_volumes",
        "run_tasks",
        "set_log_level",
        "start_maintenances",
        "stop_maintenances",
        "teardown_frameworks",
        "unreserve_resources",
        "update_maintenance_schedules",
        "update_quotas",
        "update_weights",
        "view_executors",
        "view_flags",
        "view_frameworks",
        "view_roles",
        "view_tasks",
    }
)
"""The actions that this master asks about; the objects of the others do not exist here."""
# The object of these is all that there is of its kind, so an ACL applies to all of it or to nothing.
_WITHOUT_NAMES = frozenset(
    {
        *(name for name, of in _OBJECT_FIELDS.items() if of in ("machines", "flags", "resource_providers")),
        *(name for name in _OBJECT_FIELDS if name.endswith("_standalone_containers")),
        *("drain_agents", "deactivate_agents", "reactivate_agents", "register_agents"),
        *("access_mesos_logs", "prune_images", "set_log_level"),
    }
)
# The paths that get_endpoints may name.
_AUTHORIZABLE_PATHS = (
    "/containers",
    "/files/debug",
    "/logging/toggle",
    "/metrics/snapshot",
    "/monitor/statistics",
)


@dataclass(frozen=True, slots=True)
class Entity:
    """One side of an ACL: some named values, anything, or nothing."""

    type: str
    values: tuple[str, ...] = ()

    def matches(self, value: str | None) -> bool:
        """Return whether the rule matches `value`; None means no principal, or no particular object."""
        return self.type != "SOME" or (value is not None and self._names(value))

    def allows(self, value: str | None) -> bool:
        """Return whether a rule that matches lets `value` pass."""
        return self.type == "ANY" or (self.type == "SOME" and value is not None and self._names(value))

    def _names(self, value: str) -> bool:
        return any(
            value == named or (named.endswith("/%") and is_strict_subrole(value, named[:-2])) for named in self.values
        )


@dataclass(frozen=True, slots=True)
class Authorizer:
    """The ACLs of a master; without any, everything is allowed."""

    permissive: bool = True
    rules: Mapping[str, tuple[tuple[Entity, Entity], ...]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    """The actions in the file that this master never asks about."""

    @classmethod
    def from_json(cls, value: Any) -> "Authorizer":
        """Read the decoded value of `--acls`.  Raises BadInput."""
        try:
            message = read(_ACLS, value)
        except ConversionError as error:
            raise BadInput(f"--acls: {error}", field=error.path) from error
        rules = {
            action: tuple(_rule(action, entry) for entry in entries)
            for action, entries in message.items()
            if action != _PERMISSIVE
        }
        ignored = [name for name in value if name not in ENFORCED and name != _PERMISSIVE]
        return cls(message.get(_PERMISSIVE, True), rules, tuple(ignored))

    def allows_all(self, action: str) -> bool:
        """Return whether everybody may do `action` to everything, so that nobody needs to ask for each thing."""
        return self.permissive and not self.rules.get(action)

    def allows(self, action: str, principal: str | None, target: str | None) -> bool:
        """Return whether `principal` (None: unauthenticated) may do `action` to `target`."""
        for principals, targets in self.rules.get(action, ()):
            if principals.matches(principal) and targets.matches(target):
                return principals.allows(principal) and targets.allows(target)
        return self.permissive

    def require(self, action: str, principal: str | None, target: str | None) -> None:
        """Check that `allows` is true.  Raises Forbidden."""
        if not self.allows(action, principal, target):
            client = "an unauthenticated client" if principal is None else f"principal '{principal}'"
            kind = _OBJECT_FIELDS[action].removesuffix("s").replace("_", " ")
            of = "" if target is None else f" ({kind} '{target}')"
            raise Forbidden(f"the ACLs do not allow {client} to {action.replace('_', ' ')}{of}", rule=f"acl.{action}")


def _rule(action: str, entry: Mapping[str, Any]) -> tuple[Entity, Entity]:
    """One ACL: its principals and its object.  Raises BadInput."""
    target = _entity(entry[_OBJECT_FIELDS[action]])
    if action in _WITHOUT_NAMES and target.type == "SOME":
        raise BadInput(f"--acls: the object of {action} must be ANY or NONE", field=action)
    if action == "get_endpoints" and target.type == "SOME":
        for path in target.values:
            if path not in _AUTHORIZABLE_PATHS:
                raise BadInput(
                    f"--acls: Path: '{path}' is not an authorizable path",
                    field=action,
                    hint=f"the paths are {', '.join(one for one in _AUTHORIZABLE_PATHS if not one.endswith('.json'))}",
                )
    return _entity(entry["principals"]), target


def _entity(message: Mapping[str, Any]) -> Entity:
    return Entity(message.get("type", "SOME"), tuple(message.get("values", ())))


class Access:
    """The authorizer, asked about resources and tasks; every entry must be allowed.  Raises Forbidden."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def may_run(self, principal: str | None, user: str) -> None:
        """Check whether a framework's principal may run tasks as this user."""
        self._authorizer.require("run_tasks", principal, user)

    def may_register(self, principal: str | None, resources: Iterable[Resource]) -> None:
        """Check whether an agent with these resources may register; it counts as the reserver of its reservations.

        If anything is reserved, a master also checks the unreserved rest, whose role is "*".
        """
        self._authorizer.require("register_agents", principal, None)
        entries = list(resources)
        if any(entry.is_reserved for entry in entries):
            self.may_reserve(principal, entries)

    def may_reserve(self, principal: str | None, resources: Iterable[Resource]) -> None:
        """Check whether each entry may be reserved for its role."""
        for resource in resources:
            self._authorizer.require("reserve_resources", principal, resource.role)

    def may_unreserve(self, principal: str | None, resources: Iterable[Resource]) -> None:
        """Check whether the reservations of each reserver may be undone."""
        for resource in resources:
            reserver = resource.reservations[-1].principal if resource.reservations else None
            self._authorizer.require("unreserve_resources", principal, reserver)

    def may_create(self, principal: str | None, volumes: Iterable[Resource]) -> None:
        """Check whether volumes may be created for each role."""
        for volume in volumes:
            self._authorizer.require("create_volumes", principal, volume.role)

    def may_destroy(self, principal: str | None, volumes: Iterable[Resource]) -> None:
        """Check whether the volumes of each creator may be destroyed."""
        for volume in volumes:
            creator = volume.disk.principal if volume.disk is not None else None
            self._authorizer.require("destroy_volumes", principal, creator)

    def may_resize(self, principal: str | None, volume: Resource) -> None:
        """Check whether a volume of its role may grow or shrink."""
        self._authorizer.require("resize_volumes", principal, volume.role)
