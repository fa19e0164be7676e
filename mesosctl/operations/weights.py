"""Weights: reading, and changing several at once (spec/endpoints.md §3).

A master forgets no weight: what was set once can only become 1 again.  Where a role with frameworks is among them,
every outstanding offer of the cluster is rescinded.
"""

from collections.abc import Mapping

from mesosctl.api import responses
from mesosctl.client.master import Master
from mesosctl.model import roles
from mesosctl.model.errors import RuleViolation
from mesosctl.operations.confirm import make


def read_weights(master: Master) -> dict[str, float]:
    """What is configured, by role; every other role weighs 1."""
    return responses.weights(master.get("/weights"))


def update_weights(master: Master, wanted: Mapping[str, float], *, v1: bool = False, wait: bool = True) -> bool:
    """Set weights, all or none, and read them back; returns whether they were seen.

    `v1` sends UPDATE_WEIGHTS instead of PUT /weights.  Raises RuleViolation, NotConfirmed and what
    `client.Master` raises.
    """
    from mesosctl.api.quota import UpdateWeightsCall, WeightInfos

    for role, weight in wanted.items():
        roles.check_role(role)
        if not 0 < weight < float("inf"):
            raise RuleViolation(
                f"weight {weight:g} of '{role}' is not above zero", field="weight", rule="weight.positive"
            )

    def send() -> None:
        if v1:
            master.call(UpdateWeightsCall.of(wanted).body())
        else:
            master.put("/weights", WeightInfos.of(wanted).body())

    def look() -> bool | None:
        shown = read_weights(master)
        if all(shown.get(role) == weight for role, weight in wanted.items()):
            return True
        # Roles that this principal may not view are left out.
        return False if all(role in shown for role in wanted) else None

    named = ", ".join(f"'{role}'" for role in wanted)
    return make(master, send, look, what=f"setting the weights of {named}", wait=wait, shown_by="mesosctl export")
