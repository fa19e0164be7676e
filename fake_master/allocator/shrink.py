"""Cutting resources down to what a guarantee or a limit still takes (spec/allocator.md §5.5)."""

from collections.abc import Mapping
from dataclasses import replace

from fake_master.allocator.options import Shuffle
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources


def shrink_to_quantities(resources: Resources, target: Mapping[str, int], shuffle: Shuffle) -> Resources:
    """At most `target` of each name, nothing of names it does not have."""
    return _shrink(resources, target, shuffle, keep_unnamed=False) if target else Resources()


def shrink_to_limits(resources: Resources, target: Mapping[str, int], shuffle: Shuffle) -> Resources:
    """At most `target` of each name it has, everything of the others."""
    return _shrink(resources, target, shuffle, keep_unnamed=True) if target else resources


def _shrink(resources: Resources, target: Mapping[str, int], shuffle: Shuffle, *, keep_unnamed: bool) -> Resources:
    entries = list(resources)
    shuffle(entries)
    left = dict(target)
    kept: list[Resource] = []
    for entry in entries:
        if entry.name not in left:
            if keep_unnamed:
                kept.append(entry)
            continue
        assert isinstance(entry.value, int), "only scalars are ever shrunk"
        if entry.disk is not None and entry.disk.indivisible:
            # It does not contain a smaller copy of itself, so it is kept whole or not at all.
            if entry.value <= left[entry.name]:
                kept.append(entry)
                left[entry.name] -= entry.value
            continue
        amount = min(entry.value, left[entry.name])
        if amount > 0:
            kept.append(entry if amount == entry.value else replace(entry, value=amount))
            left[entry.name] -= amount
    return Resources(kept)
