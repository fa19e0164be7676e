"""The work of `weights`: it reads them, and changes several at once (Mesos documentation, "HTTP Endpoints").

A master never removes a weight; it can only become 1 again. If one of the roles has frameworks, every outstanding offer
of the cluster is rescinded.
"""

from collections.abc import Mapping

from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.role_status import AppliedWeight, RoleWeight
from mesosctl.mesos.errors import NotFound, RuleViolation
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.weights import weights_body, weights_call
from mesosctl.reading.quotas import note_unknown_role
from mesosctl.reading.selection import Selection, SortKey, is_in_branch, role_key, sort_entries
from mesosctl.suggestion import command

WEIGHT_KEYS = ("role", "weight")
"""The keys that a list of weights can be sorted by."""


def read_weights(master: LeadingMaster) -> dict[str, float]:
    """Return the configured weights by role; every other role has 1."""
    return responses.weights(master.get("/weights"))


def list_weights(master: LeadingMaster, wanted: Selection) -> list[RoleWeight]:
    """The selected roles with their configured weights, by default by role.

    Raises NotFound for a role without a weight of its own, and UsageError for an unknown key.
    """
    weights = read_weights(master)
    missing = [role for role in wanted.names if role not in weights]
    if missing:
        raise NotFound(
            f"no weight is set for '{missing[0]}', or this principal may not see it",
            field="role",
            rule="weight.exists",
            hint=roles.did_you_mean(
                missing[0], list(weights), f"{command('weights')} shows those that were set; other roles have weight 1"
            ),
        )
    chosen = [
        RoleWeight(role, weight)
        for role, weight in weights.items()
        if is_in_branch(role, wanted.role) and (not wanted.names or role in wanted.names)
    ]
    keys: dict[str, SortKey[RoleWeight]] = {
        "role": lambda role_weight: role_key(role_weight.role),
        "weight": lambda role_weight: -role_weight.weight,
    }
    return sort_entries(chosen, wanted.sort, keys, own="role")


def check_weights(target: Mapping[str, float]) -> None:
    """Check that a master would accept these weights. Raises RuleViolation."""
    for role, weight in target.items():
        roles.check_role(role)
        if not weight > 0:
            raise RuleViolation(
                f"weight {weight:g} of '{role}' is not above zero", field="weight", rule="weight.positive"
            )


def set_weights(
    master: LeadingMaster, target: Mapping[str, float], *, v1: bool = False, wait: bool = True
) -> list[AppliedWeight]:
    """Set the weights that differ, all or none, and read them back; return the changes.

    A notice names a role that may be mistyped, because a weight stays forever.  Raises what `update_weights` raises.
    """
    check_weights(target)
    before = read_weights(master)
    wanted = {role: weight for role, weight in target.items() if before.get(role, 1.0) != weight}
    if not wanted:
        return []
    for role in wanted:
        if role not in before:
            note_unknown_role(master, role, Quantities())
    confirmed = update_weights(master, wanted, v1=v1, wait=wait)
    return [AppliedWeight(role, before.get(role, 1.0), weight, confirmed) for role, weight in wanted.items()]


def update_weights(master: LeadingMaster, target: Mapping[str, float], *, v1: bool = False, wait: bool = True) -> bool:
    """Set weights, all or none, and read them back; return whether they were confirmed.

    `v1` sends UPDATE_WEIGHTS instead of PUT /weights.  Raises RuleViolation, NotConfirmed and what
    `client.Master` raises.
    """
    check_weights(target)

    def send() -> None:
        if v1:
            master.call(weights_call(target).body())
        else:
            master.put("/weights", weights_body(target))

    def is_shown() -> bool | None:
        shown = read_weights(master)
        if all(shown.get(role) == weight for role, weight in target.items()):
            return True
        # Roles that this principal may not view are left out.
        return False if all(role in shown for role in target) else None

    named = ", ".join(f"'{role}'" for role in target)
    return confirm(master, send, is_shown, what=f"the new weight of {named}", wait=wait, shown_by=command("weights"))
