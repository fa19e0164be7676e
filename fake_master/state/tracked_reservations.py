"""The reservations that the allocator of Mesos 1.4 knows; a master may end that no longer knows one.

Source: a Mesos 1.4.3 master, which ends with `Check failed: reservationScalarQuantities.contains(role)`.
"""

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources


class TrackedReservations:
    """The sums of the scalars that all agents have reserved for each role.

    A role is forgotten when the last scalar of it goes away, even if another agent still has ports or a set of it.
    Whatever changes the reservations of that agent then ends the master, unless the role is reserved before.
    """

    def __init__(self) -> None:
        self._sums: dict[str, Quantities] = {}

    def would_end(self, before: Resources, after: Resources) -> bool:
        """Whether a change to what one agent has ends the master."""
        return before.reserved() != after.reserved() and not before.by_owner().keys() <= self._sums.keys()

    def change(self, before: Resources, after: Resources) -> None:
        """Take note of what an agent has now; it had `before`: nothing if it is new."""
        if before.reserved() == after.reserved():
            return
        for role, scalars in _by_role(before).items():
            if rest := self._sums.get(role, Quantities()) - scalars:
                self._sums[role] = rest
            else:
                self._sums.pop(role, None)
        for role, scalars in _by_role(after).items():
            self._sums[role] = self._sums.get(role, Quantities()) + scalars


def _by_role(total: Resources) -> dict[str, Quantities]:
    return {role: owned.scalar_quantities() for role, owned in total.by_owner().items()}
