"""The part of what is offerable that quota leaves to a client, in each of the two stages of a run.

Source: docs/explanation/allocator.md, "The allocation run" and "The documents' master: coarse shares".
"""

from fake_master.allocator.hierarchical.offerable.allocations import Amounts, Pairs, scalar_pairs
from fake_master.allocator.hierarchical.offerable.free_resources import OfferableResources, OfferedPart
from fake_master.allocator.hierarchical.role_tree import QuotaAllowance
from fake_master.allocator.hierarchical.stages.run import (
    Run,
    shrink_to_limits,
    shrink_to_quantities,
)

_NOTHING: Amounts = {}


def guaranteed_part(
    run: Run, offerable: OfferableResources, allowance: QuotaAllowance
) -> tuple[OfferedPart | None, Pairs]:
    """Return what a role is offered for its guarantee, and how much of it is for the guarantee itself.

    In addition to what the guarantee lacks, it gets the rest of the agent, as far as its limits and the headroom of all
    other guarantees allow. None if nothing serves the guarantee.
    """
    unmet = allowance.unmet_guarantee
    part, guaranteed = _bounded(run, offerable, allowance.limits_left, unmet, spare=bool(run.unmet_guarantees))
    return (part, guaranteed) if guaranteed else (None, ())


def part_up_to_guarantee(
    run: Run, offerable: OfferableResources, allowance: QuotaAllowance
) -> tuple[OfferedPart | None, Pairs]:
    """Return what a role is offered whose guarantee is its limit, and how much of it is for the guarantee.

    With what the guarantee lacks, or with reservations of the role, comes what the guarantee does not name, as far as
    the headroom allows.  None if there is neither.
    """
    spare = bool(run.unmet_guarantees)
    part, guaranteed = _bounded(run, offerable, allowance.limits_left, allowance.unmet_guarantee, spare=spare)
    offered = part.allocation.without_role
    if not guaranteed and not any(entry.reservations and not entry.revocable for entry in offered):
        return None, ()
    return offerable.part(offered.non_revocable()) if part.allocation.revocable else part, guaranteed


def whole_part(run: Run, offerable: OfferableResources, allowance: QuotaAllowance) -> tuple[OfferedPart | None, Pairs]:
    """Return everything that is not revocable, as far as limits allow, and how much of it is for the guarantee.

    Quota in these versions has no limits, unless UPDATE_QUOTA has set some.
    """
    part = offerable.full
    if allowance.limits_left:
        part, _ = _bounded(run, offerable, allowance.limits_left)
    whole = part.allocation.without_role
    if any(entry.revocable for entry in whole):
        part = offerable.part(whole.non_revocable())
    unmet = allowance.unmet_guarantee
    return part, tuple((name, min(amount, unmet[name])) for name, amount in part.quota_charge if name in unmet)


def fair_part(run: Run, offerable: OfferableResources, allowance: QuotaAllowance | None) -> OfferedPart | None:
    """Return as much as the role's own limits and the guarantees of all allow; None if its guarantee is its limit.

    Guarantees bound each name by their headroom, the whole agent by it, or the whole by a remainder; None if that does
    not hold it.
    """
    options = run.state.options
    if options.guarantee_is_limit and allowance is not None:
        return None
    if options.agents_keep_headroom_whole:
        enough = not run.unmet_guarantees or run.leaves_enough(offerable.full.quota_charge)
        return offerable.full if enough else offerable.part(offerable.visible_resources.uncounted)
    remainder = run.remainder
    limits_left = allowance.limits_left if allowance is not None else _NOTHING
    part, _ = _bounded(run, offerable, limits_left, spare=bool(run.unmet_guarantees) and remainder is None)
    return part if remainder is None or remainder.holds(part) else None


def _bounded(
    run: Run, offerable: OfferableResources, limits_left: Amounts, unmet: Amounts = _NOTHING, *, spare: bool = False
) -> tuple[OfferedPart, Pairs]:
    """Return what is unmet and, of the rest, what limits allow and, with `spare`, the headroom of all guarantees.

    The second value is how much of it is for what is unmet.
    """
    visible_resources = offerable.visible_resources
    if not visible_resources.shrinks_by_name:
        return _bounded_by_entries(run, offerable, limits_left, unmet, spare=spare)
    amounts, guaranteed = [], []
    for name, available in zip(visible_resources.names, visible_resources.amounts, strict=True):
        needed = min(available, unmet.get(name, 0))
        extra = available - needed
        if name in limits_left:
            extra = min(extra, max(0, limits_left[name] - needed))
        if extra and spare:
            extra = min(extra, run.spare(name))
        amounts.append(needed + extra)
        if needed:
            guaranteed.append((name, needed))
    return offerable.part_of_amounts(tuple(amounts)), tuple(guaranteed)


def _bounded_by_entries(
    run: Run, offerable: OfferableResources, limits_left: Amounts, unmet: Amounts, *, spare: bool
) -> tuple[OfferedPart, Pairs]:
    """The same if a name has several entries, or some that cannot be divided."""
    shuffle = run.state.options.shuffle
    whole = offerable.visible_resources.unreserved_nonrevocable
    needed = shrink_to_quantities(whole, unmet, shuffle)
    if unmet and not needed and not run.state.options.guarantee_is_limit:
        return offerable.full, ()  # for `guaranteed_part` nothing; a further shuffle would use up random numbers
    taken = dict(scalar_pairs(needed))
    left = {name: max(0, bound - taken.get(name, 0)) for name, bound in limits_left.items()}
    extra = shrink_to_limits(whole - needed if needed else whole, left, shuffle)
    if extra and spare:
        extra = shrink_to_quantities(extra, run.spare_amounts(), shuffle)
    part = offerable.full if extra is whole else offerable.part(offerable.visible_resources.uncounted + needed + extra)
    return part, tuple(taken.items())
