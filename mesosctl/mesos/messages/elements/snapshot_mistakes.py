"""Mistakes in the entries of a snapshot."""

from collections.abc import Iterable, Mapping
from itertools import repeat
from sys import intern
from typing import Any

from mesosctl.mesos import roles
from mesosctl.mesos.errors import RuleViolation


def wrong(where: str, sentence: str) -> RuleViolation:
    """The error for a value at a place."""
    return RuleViolation(sentence, field=where, rule="snapshot.valid")


class CheckedRoles:
    """Roles of entries, of which each is checked once."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, entry: Mapping[str, Any], where: str) -> str:
        """The role of an entry at a place; equal ones are one object.  Raises RuleViolation for what is no role."""
        role: str = entry["role"]
        if role not in self._known:
            self._known.add(roles.check_role(role, f"{where}.role"))
        return intern(role)


def check_unique(names: Iterable[str], where: str, owners: Iterable[str] = repeat("")) -> None:
    """No name appears twice in the list at `where`, or twice with one owner.  Raises RuleViolation."""
    seen: set[tuple[str, str]] = set()
    for index, (owner, name) in enumerate(zip(owners, names, strict=False)):
        if (owner, name) in seen:
            raise wrong(f"{where}[{index}]", f"'{name}' appears twice")
        seen.add((owner, name))
