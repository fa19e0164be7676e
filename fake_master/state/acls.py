"""Authorization: the ACLs of `--acls`, and what this master asks them (Mesos documentation, "Authorization").

`mesosctl.mesos.rules.acls` decides.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import Forbidden
from mesosctl.mesos.messages import acls
from mesosctl.mesos.rules.acls import Acls

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


@dataclass(frozen=True, slots=True)
class Authorizer(Acls):
    """The ACLs of a master; without any, everything is allowed."""

    ignored: tuple[str, ...] = ()
    """The actions in the file that this master never asks about."""

    @classmethod
    def from_json(cls, value: Any, release: str | None = None) -> "Authorizer":
        """Read the decoded value of `--acls`, as a release of Mesos does.  Raises ConversionError and BadInput."""
        found = acls.from_json(value, release)
        asked = {name for name in ENFORCED if acls.is_action(name, release)}
        ignored = [name for name in value if name not in asked and name != acls.PERMISSIVE]
        return cls(found.permissive, found.rules, tuple(ignored))

    def require(self, action: str, principal: str | None, target: str | None) -> None:
        """Check that `allows` is true.  Raises Forbidden."""
        if not self.allows(action, principal, target):
            client = "an unauthenticated client" if principal is None else f"principal '{principal}'"
            kind = acls.OBJECT_FIELDS[action].removesuffix("s").replace("_", " ")
            of = "" if target is None else f" ({kind} '{target}')"
            raise Forbidden(f"the ACLs do not allow {client} to {action.replace('_', ' ')}{of}", rule=f"acl.{action}")


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
