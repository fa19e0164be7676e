"""Authorization: the ACLs of `--acls` and the decisions that follow from them (Mesos documentation, "Authorization").

An action has a list of ACLs; the first whose principals and object both match decides.  If none matches, `permissive`
decides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.protobuf_json.message_tables import Field, Message, mesos_message
from mesosctl.api.protobuf_json.messages import read
from mesosctl.model.errors import BadInput, Forbidden
from mesosctl.model.resource import Resource
from mesosctl.model.roles import is_strict_subrole

# Action → the name of its object's field.
_OBJECT_FIELDS = {
    "get_quotas": "roles",
    "update_quotas": "roles",
    "update_weights": "roles",
    "view_roles": "roles",
    "view_flags": "flags",
    "set_log_level": "level",
    "view_frameworks": "users",
    "teardown_frameworks": "framework_principals",
    "register_frameworks": "roles",
    "reserve_resources": "roles",
    "unreserve_resources": "reserver_principals",
    "create_volumes": "roles",
    "destroy_volumes": "creator_principals",
    "resize_volumes": "roles",
    "update_maintenance_schedules": "machines",
    "get_maintenance_schedules": "machines",
    "start_maintenances": "machines",
    "stop_maintenances": "machines",
    "get_maintenance_statuses": "machines",
    "mark_agents_gone": "agents",
    "drain_agents": "agents",
    "deactivate_agents": "agents",
    "reactivate_agents": "agents",
}
# Actions on objects that this master does not have: read, so that a file that a master refuses is refused here too.
_UNUSED = {
    **dict.fromkeys(
        (
            "access_sandboxes",
            "attach_containers_input",
            "attach_containers_output",
            "kill_nested_containers",
            "kill_standalone_containers",
            "launch_standalone_containers",
            "remove_nested_containers",
            "remove_standalone_containers",
            "run_tasks",
            "view_containers",
            "view_executors",
            "view_standalone_containers",
            "view_tasks",
            "wait_nested_containers",
            "wait_standalone_containers",
        ),
        "users",
    ),
    **dict.fromkeys(
        ("mark_resource_providers_gone", "modify_resource_provider_configs", "view_resource_providers"),
        "resource_providers",
    ),
    **dict.fromkeys(
        ("create_block_disks", "create_mount_disks", "destroy_block_disks", "destroy_mount_disks"), "roles"
    ),
    "access_mesos_logs": "logs",
    "get_endpoints": "paths",
    "prune_images": "images",
    "register_agents": "agents",
}
# These have only one object, so an ACL applies to all of it or to nothing.
_WITHOUT_NAMES = frozenset(
    {
        *(name for name, of in (_OBJECT_FIELDS | _UNUSED).items() if of in ("machines", "flags", "resource_providers")),
        *(name for name in _UNUSED if name.endswith("_standalone_containers")),
        *("drain_agents", "deactivate_agents", "reactivate_agents", "register_agents"),
        *("access_mesos_logs", "prune_images", "set_log_level"),
    }
)
# The names of the documents' time, and the action each became.
_OLD_NAMES = {"set_quotas": "update_quotas", "remove_quotas": "update_quotas"}

_ACLS = Message(
    "ACLs",
    # A master of 1.11 has these no more.
    {
        **mesos_message("mesos.ACLs").fields,
        **{name: Field(mesos_message("mesos.ACL.UpdateQuota"), "repeated") for name in _OLD_NAMES},
    },
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

    @classmethod
    def from_json(cls, value: Any) -> "Authorizer":
        """Read the decoded value of `--acls`.  Raises BadInput."""
        try:
            message = read(_ACLS, value)
        except ConversionError as error:
            raise BadInput(f"--acls: {error}", field=error.path) from error
        rules: dict[str, list[tuple[Entity, Entity]]] = {}
        for name, entries in message.items():
            if name == "permissive":
                continue
            action = _OLD_NAMES.get(name, name)
            for entry in entries:
                pair = (
                    _entity(entry["principals"]),
                    _entity(next(entry[side] for side in entry if side != "principals")),
                )
                if action in _WITHOUT_NAMES and pair[1].type == "SOME":
                    raise BadInput(f"--acls: the object of {name} must be ANY or NONE", field=name)
                rules.setdefault(action, []).append(pair)
        return cls(message.get("permissive", True), {action: tuple(pairs) for action, pairs in rules.items()})

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
            kind = (_OBJECT_FIELDS | _UNUSED)[action].removesuffix("s").replace("_", " ")
            of = "" if target is None else f" ({kind} '{target}')"
            raise Forbidden(f"the ACLs do not allow {client} to {action.replace('_', ' ')}{of}", rule=f"acl.{action}")


def _entity(message: Mapping[str, Any]) -> Entity:
    return Entity(message.get("type", "SOME"), tuple(message.get("values", ())))


class Access:
    """The authorizer, asked about resources; every entry must be allowed.  Raises Forbidden."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

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
