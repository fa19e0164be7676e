"""Where in a collection some resources could come from (spec/reservation.md §4, "find(target)")."""

from collections.abc import Callable
from dataclasses import replace

from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources


def find(targets: Resources, within: Resources) -> Resources | None:
    """Entries of `within` that make up `targets`, with the stacks found there; None where one cannot be had.

    For each target the entries of its own role come first, then those nobody owns, then all others.  As in
    Mesos, each target is looked for by itself in the whole collection, and at most one entry of each of the
    three groups is used up before the next group is tried.
    """
    found = Resources()
    for target in targets:
        pieces = _find_one(target, within)
        if pieces is None:
            return None
        found += pieces
    return found


def _find_one(target: Resource, within: Resources) -> Resources | None:
    found, left = Resources(), within
    missing = Resources([target]).to_unreserved()
    for group in _groups(target):
        for entry in left.filter(group):
            plain = Resources([entry]).to_unreserved()
            if plain.contains(missing):
                return found + Resources(replace(part, reservations=entry.reservations) for part in missing)
            if missing.contains(plain):
                found += Resources([entry])
                left -= Resources([entry])
                missing -= plain
                break
    return None


def _groups(target: Resource) -> list[Callable[[Resource], bool]]:
    anybodys: list[Callable[[Resource], bool]] = [lambda entry: not entry.is_reserved, lambda _: True]
    if not target.is_reserved:
        return anybodys
    return [lambda entry: entry.is_reserved and entry.role == target.role, *anybodys]
