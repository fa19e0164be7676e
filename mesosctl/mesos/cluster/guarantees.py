"""The rule that decides whether a guarantee is met, kept or unmet.

*Met*: what the role has or is offered reaches its guarantee. *Kept*: what it lacks lies free for it, until it asks for
offers. *Unmet*: neither. A role that asks for offers and still lacks something is unmet even if something is free: its
frameworks cannot use that, or have refused it.
"""

from collections.abc import Collection, Mapping
from typing import Literal

from mesosctl.mesos.amounts.quantities import Quantities

GuaranteeState = Literal["met", "kept", "unmet"]


def guarantee_state(lacking: Quantities, kept: Quantities) -> GuaranteeState:
    """Return the word for a guarantee of which this is lacking, and this part of that is kept."""
    if not lacking:
        return "met"
    return "kept" if kept.contains(lacking) else "unmet"


def kept_of(lacking: Mapping[str, Quantities], asking: Collection[str], free: Quantities) -> dict[str, Quantities]:
    """Return how much of what each role lacks lies free for it.

    `lacking` has all roles with a guarantee; those `asking` for offers are served first, and the others by name.
    """
    found = {}
    for role in sorted(lacking, key=lambda name: (name not in asking, name)):
        found[role] = Quantities() if role in asking else common_part(lacking[role], free)
        free -= lacking[role]
    return found


def common_part(amounts: Quantities, others: Quantities) -> Quantities:
    """Return the smaller amount of each resource."""
    return amounts - (amounts - others)
