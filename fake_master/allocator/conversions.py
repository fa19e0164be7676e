"""What operations upon allocated resources do to an agent's total."""

from collections.abc import Iterable

from mesosctl.core.operations import Conversion, apply_all
from mesosctl.core.resources import Resources


def apply_to_total(total: Resources, conversions: Iterable[Conversion]) -> Resources:
    """What an agent's total becomes by operations upon allocated resources.  Raises Conflict.

    Further copies of a shared volume consume nothing and leave the total as it is.
    """
    steps = (step for step in conversions if step.consumed)
    return apply_all(
        total, (Conversion(step.consumed.allocated_to(None), step.converted.allocated_to(None)) for step in steps)
    )
