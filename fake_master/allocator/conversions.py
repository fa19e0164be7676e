"""Operations upon resources: something is taken away and something put in its place."""

from collections.abc import Iterable

from fake_master.allocator.interface import Conversion
from mesosctl.core.resources import Resources


def apply(resources: Resources, conversions: Iterable[Conversion]) -> Resources:
    """The resources after these operations, in order.  Raises ValueError where one finds too little."""
    for conversion in conversions:
        if not resources.contains(conversion.consumed):
            raise ValueError(f"{resources} does not contain {conversion.consumed}")
        resources = resources - conversion.consumed + conversion.converted
    return resources


def apply_to_total(total: Resources, conversions: Iterable[Conversion]) -> Resources:
    """What an agent's total becomes by operations upon allocated resources.

    Further copies of a shared volume consume nothing and leave the total as it is.
    """
    steps = (step for step in conversions if step.consumed)
    return apply(
        total, (Conversion(step.consumed.allocated_to(None), step.converted.allocated_to(None)) for step in steps)
    )
