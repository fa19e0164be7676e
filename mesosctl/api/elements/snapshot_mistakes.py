"""Mistakes in the entries of a snapshot."""

from collections.abc import Iterable
from itertools import repeat

from mesosctl.model.errors import RuleViolation


def wrong(where: str, sentence: str) -> RuleViolation:
    """The error for a value at a place."""
    return RuleViolation(sentence, field=where, rule="snapshot.valid")


def check_unique(names: Iterable[str], where: str, owners: Iterable[str] = repeat("")) -> None:
    """No name appears twice in the list at `where`, or twice with one owner.  Raises RuleViolation."""
    seen: set[tuple[str, str]] = set()
    for index, (owner, name) in enumerate(zip(owners, names, strict=False)):
        if (owner, name) in seen:
            raise wrong(f"{where}[{index}]", f"'{name}' appears twice")
        seen.add((owner, name))
