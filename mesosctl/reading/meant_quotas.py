"""Notes on what quotas that are given mean on a master: a guarantee that caps, and quota that serves nobody."""

from collections.abc import Mapping

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.errors import MesosctlError
from mesosctl.mesos.messages import responses
from mesosctl.mesos.roles import is_strict_subrole


def note_meaning(master: LeadingMaster, given: Mapping[str, Quota | None]) -> None:
    """Tell the operator once if the guarantees are limits too, and of each role that has frameworks only below it."""
    guaranteed = sorted(role for role, quota in given.items() if quota and quota.guarantees and "/" not in role)
    if guaranteed and master.profile.guarantee_is_limit:
        master.notice(
            "this master limits each role to its guarantee: beyond that, it offers "
            f"{listed(guaranteed)} only what is reserved for that role"
        )
    for role, quota in given.items():
        if quota is not None and not quota.is_default and (below := _served_instead(master, role)):
            master.notice(
                f"no framework is subscribed to '{role}' itself: its quota neither serves nor caps those of the roles "
                f"below it ({listed(below)})"
            )


def _served_instead(master: LeadingMaster, role: str) -> list[str]:
    """The roles below with frameworks, of a role without any; none if the roles cannot be read."""
    try:
        known = responses.roles(master.get_once("/roles"))
    except MesosctlError:
        return []
    if role in known and known[role].frameworks:
        return []
    return sorted(name for name, usage in known.items() if usage.frameworks and is_strict_subrole(name, role))
