"""Weights: reading, and changing several at once (Mesos documentation, "HTTP Endpoints").

A master never removes a weight; it can only become 1 again. If one of the roles has frameworks, every outstanding offer
of the cluster is rescinded.
"""

from collections.abc import Mapping

from mesosctl.api import responses
from mesosctl.client.leading_master import Master
from mesosctl.model import roles
from mesosctl.model.errors import NotFound, RuleViolation
from mesosctl.model.quantities import Quantities
from mesosctl.model.quota.role_status import WeightChange
from mesosctl.model.suggestion import command
from mesosctl.operations.confirm import confirm
from mesosctl.operations.list_selection import Selection, SortKey, is_in_branch, role_key, sort_entries
from mesosctl.operations.quota.reading import note_unknown_role

WEIGHT_KEYS = ("role", "weight")
"""The keys that a list of weights can be sorted by."""


def read_weights(master: Master) -> dict[str, float]:
    """Return the configured weights by role; every other role has 1."""
    return responses.weights(master.get("/weights"))


def list_weights(master: Master, wanted: Selection) -> list[tuple[str, float]]:
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
        (role, weight)
        for role, weight in weights.items()
        if is_in_branch(role, wanted.role) and (not wanted.names or role in wanted.names)
    ]
    keys: dict[str, SortKey[tuple[str, float]]] = {"role": lambda one: role_key(one[0]), "weight": lambda one: -one[1]}
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
    master: Master, target: Mapping[str, float], *, v1: bool = False, wait: bool = True
) -> list[WeightChange]:
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
    return [WeightChange(role, before.get(role, 1.0), weight, confirmed) for role, weight in wanted.items()]


def update_weights(master: Master, target: Mapping[str, float], *, v1: bool = False, wait: bool = True) -> bool:
    """Set weights, all or none, and read them back; return whether they were confirmed.

    `v1` sends UPDATE_WEIGHTS instead of PUT /weights.  Raises RuleViolation, NotConfirmed and what
    `client.Master` raises.
    """
    from mesosctl.api.weights import UpdateWeightsCall, WeightInfos

    check_weights(target)

    def send() -> None:
        if v1:
            master.call(UpdateWeightsCall.of(target).body())
        else:
            master.put("/weights", WeightInfos.of(target).body())

    def is_shown() -> bool | None:
        shown = read_weights(master)
        if all(shown.get(role) == weight for role, weight in target.items()):
            return True
        # Roles that this principal may not view are left out.
        return False if all(role in shown for role in target) else None

    named = ", ".join(f"'{role}'" for role in target)
    return confirm(master, send, is_shown, what=f"the new weight of {named}", wait=wait, shown_by=command("weights"))
