"""The part of what is offerable that quota leaves to a client, in each of the two stages of a run.

Source: docs/explanation/allocator.md, "The allocation run" and "The documents' master (1.4): coarse shares".
"""

from fake_master.allocator.hierarchical.offerable.allocations import Amounts, Pairs, scalar_pairs
from fake_master.allocator.hierarchical.offerable.free_resources import OfferableResources, OfferedPart
from fake_master.allocator.hierarchical.role_tree import QuotaAllowance
from fake_master.allocator.hierarchical.stages.run import (
    Run,
    shrink_to_limits,
    shrink_to_quantities,
)
from mesosctl.model.resources import Resources


def guaranteed_part(
    run: Run, offerable: OfferableResources, allowance: QuotaAllowance
) -> tuple[OfferedPart | None, Pairs]:
    """Return what a role is offered for its guarantee, and how much of it is for the guarantee itself.

    In addition to what the guarantee lacks, it gets the rest of the agent, as far as its limits and the headroom of all
    other guarantees allow. None if nothing serves the guarantee.
    """
    visible_resources = offerable.visible_resources
    if not visible_resources.shrinks_by_name:
        return _guaranteed_part_by_entries(run, offerable, allowance)
    amounts, guaranteed = [], []
    for name, available in zip(visible_resources.names, visible_resources.amounts, strict=True):
        needed = min(available, allowance.unmet_guarantee.get(name, 0))
        extra = available - needed
        if name in allowance.limits_left:
            extra = min(extra, max(0, allowance.limits_left[name] - needed))
        if extra and run.unmet_guarantees:
            extra = min(extra, run.spare(name))
        amounts.append(needed + extra)
        if needed:
            guaranteed.append((name, needed))
    if not guaranteed:
        return None, ()
    return offerable.part_of_amounts(tuple(amounts)), tuple(guaranteed)


def _guaranteed_part_by_entries(
    run: Run, offerable: OfferableResources, allowance: QuotaAllowance
) -> tuple[OfferedPart | None, Pairs]:
    """The same if a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    unreserved_nonrevocable = offerable.visible_resources.unreserved_nonrevocable
    needed = shrink_to_quantities(unreserved_nonrevocable, allowance.unmet_guarantee, shuffle)
    if not needed:
        return None, ()
    guaranteed = scalar_pairs(needed)
    extra: Resources = unreserved_nonrevocable - needed
    if allowance.limits_left:
        taken = dict(guaranteed)
        left: Amounts = {name: max(0, bound - taken.get(name, 0)) for name, bound in allowance.limits_left.items()}
        extra = shrink_to_limits(extra, left, shuffle)
    if extra and run.unmet_guarantees:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return offerable.part(offerable.visible_resources.uncounted + needed + extra), guaranteed


def whole_part(run: Run, offerable: OfferableResources, allowance: QuotaAllowance) -> tuple[OfferedPart | None, Pairs]:
    """Return everything that is not revocable, as far as limits allow, and how much of it is for the guarantee.

    Quota in these versions has no limits, unless UPDATE_QUOTA has set some.
    """
    part = offerable.full
    if allowance.limits_left:
        part = _within_limits(run, offerable, allowance)
    whole = part.allocation.without_role
    if any(entry.revocable for entry in whole):
        part = offerable.part(whole.non_revocable())
    unmet = allowance.unmet_guarantee
    return part, tuple((name, min(amount, unmet[name])) for name, amount in part.quota_charge if name in unmet)


def fair_part(run: Run, offerable: OfferableResources, allowance: QuotaAllowance | None) -> OfferedPart | None:
    """Return as much as the role's own limits and the guarantees of all allow.

    Guarantees bound each name by their headroom, or the whole by a remainder; None if that does not hold it.
    """
    remainder = run.remainder
    spare = bool(run.unmet_guarantees) and remainder is None
    part = _within_limits(run, offerable, allowance, spare=spare)
    return part if remainder is None or remainder.holds(part) else None


def _within_limits(
    run: Run, offerable: OfferableResources, allowance: QuotaAllowance | None, *, spare: bool = False
) -> OfferedPart:
    """Return as much as the limits allow, and with `spare` the headroom of all guarantees."""
    visible_resources = offerable.visible_resources
    if not visible_resources.shrinks_by_name:
        return _within_limits_by_entries(run, offerable, allowance, spare=spare)
    amounts = []
    for name, available in zip(visible_resources.names, visible_resources.amounts, strict=True):
        left = available
        if allowance is not None and name in allowance.limits_left:
            left = min(left, allowance.limits_left[name])
        if left and spare:
            left = min(left, run.spare(name))
        amounts.append(left)
    return offerable.part_of_amounts(tuple(amounts))


def _within_limits_by_entries(
    run: Run, offerable: OfferableResources, allowance: QuotaAllowance | None, *, spare: bool
) -> OfferedPart:
    """The same if a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    extra = whole = offerable.visible_resources.unreserved_nonrevocable
    if allowance is not None:
        extra = shrink_to_limits(extra, allowance.limits_left, shuffle)
    if extra and spare:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    return offerable.full if extra is whole else offerable.part(offerable.visible_resources.uncounted + extra)
