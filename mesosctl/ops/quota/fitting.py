"""Whether quotas fit a cluster, asked before anything is sent."""

from mesosctl.client.master import Master
from mesosctl.core.capacity import check_capacity
from mesosctl.core.errors import Conflict
from mesosctl.core.quantities import Quota
from mesosctl.core.quota import check_tree
from mesosctl.ops.quota.state import capacity_if_allowed

OF_POST_QUOTA = 409
OF_UPDATE_QUOTA = 400
"""With what each answers a lack of capacity: two numbers of Mesos's for one condition, which has one exit status, 6."""


def check_fits(master: Master, quotas: dict[str, Quota], *, force: bool, answered: int = OF_POST_QUOTA) -> None:
    """The tree, and unless forced the capacity heuristic, over all quotas as they would be.

    `answered` is the status with which a master refuses what does not fit.
    """
    check_tree(quotas)
    available = None if force else capacity_if_allowed(master)
    if available is None:
        return
    try:
        check_capacity(quotas, available)
    except Conflict as error:
        # People know the refusal by the master's number for it, and should know that it was not asked.
        call = f" to UPDATE_QUOTA, as with {OF_POST_QUOTA} to POST /quota" if answered == OF_UPDATE_QUOTA else ""
        refusal = Conflict(
            f"not sent, as a master answers it with {answered}{call}: {error.message}",
            field=error.field,
            rule=error.rule,
            hint=error.hint,
            override=error.override,
        )
        refusal.would_answer = answered
        raise refusal from error
