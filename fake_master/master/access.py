"""Who may touch which reservation and which volume (spec/reservation.md §7)."""

from collections.abc import Iterable

from fake_master.master.acls import Authorizer
from mesosctl.core.resource import Resource


class Access:
    """The authorizer, asked about resources; every entry must be allowed.  Raises Forbidden."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def may_register(self, principal: str | None, resources: Iterable[Resource]) -> None:
        """To register an agent with these resources; what is reserved among them counts as reserved by the agent."""
        self._authorizer.require("register_agents", principal, None)
        self.may_reserve(principal, (resource for resource in resources if resource.is_reserved))

    def may_reserve(self, principal: str | None, resources: Iterable[Resource]) -> None:
        """To reserve for the role of each current owner."""
        for resource in resources:
            self._authorizer.require("reserve_resources", principal, resource.role)

    def may_unreserve(self, principal: str | None, resources: Iterable[Resource]) -> None:
        """To undo what each reserver's principal did."""
        for resource in resources:
            reserver = resource.reservations[-1].principal if resource.reservations else None
            self._authorizer.require("unreserve_resources", principal, reserver)

    def may_create(self, principal: str | None, volumes: Iterable[Resource]) -> None:
        """To create volumes of each role."""
        for volume in volumes:
            self._authorizer.require("create_volumes", principal, volume.role)

    def may_destroy(self, principal: str | None, volumes: Iterable[Resource]) -> None:
        """To destroy what each creator's principal made."""
        for volume in volumes:
            creator = volume.disk.principal if volume.disk is not None else None
            self._authorizer.require("destroy_volumes", principal, creator)

    def may_resize(self, principal: str | None, volume: Resource) -> None:
        """To grow or shrink a volume of its role."""
        self._authorizer.require("resize_volumes", principal, volume.role)
