"""Selecting and sorting the entries of a list: what names, --role, --attribute and --sort mean everywhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar

from mesosctl.mesos.amounts.notation import natural
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.selectors import Selectors
from mesosctl.mesos.errors import NotFound, UsageError
from mesosctl.mesos.roles import STANDARD_NAMES, did_you_mean, is_strict_subrole


class Selection(NamedTuple):
    """The selected entries of a list, and their order."""

    names: Sequence[str] = ()
    """The default is all."""
    role: str | None = None
    """The role, or one above it."""
    attributes: Selectors = ()
    """Of agents, or of the agent that an entry is on."""
    sort: str | None = None
    """A key or the name of a resource, largest amounts first; a minus sign reverses the order."""


class _Entry(Protocol):
    """An entry of a list that belongs to roles."""

    def serves(self, role: str) -> bool:
        """Whether it belongs to a role."""


Entry = TypeVar("Entry")
Serving = TypeVar("Serving", bound=_Entry)
SortKey = Callable[[Entry], Any]


def entries_named(
    entries: Sequence[Entry],
    words: Sequence[str],
    names: Callable[[Entry], Sequence[str]],
    *,
    noun: str,
    field: str,
    otherwise: str,
) -> list[Entry]:
    """Return the entries of a list that have one of these names, or all of them if there are no words.

    Raises NotFound for a word that no entry has as a name; `otherwise` is the hint if no name is like it.
    """
    if not words:
        return list(entries)
    known = list(dict.fromkeys(name for entry in entries for name in names(entry) if name))
    for word in words:
        if word not in known:
            raise NotFound(
                f"no {noun} is named '{word}'",
                field=field,
                rule=f"{noun}.exists",
                hint=did_you_mean(word, known, otherwise),
            )
    return [entry for entry in entries if not set(words).isdisjoint(names(entry))]


def is_in_branch(role: str, branch: str | None) -> bool:
    """Whether --role BRANCH chooses a role: it is the role itself or one below it, or no role is given."""
    return branch is None or role == branch or is_strict_subrole(role, branch)


def serving(entries: Iterable[Serving], role: str | None) -> list[Serving]:
    """Return the entries that belong to a role or a role below it; all of them for None."""
    return [entry for entry in entries if role is None or entry.serves(role)]


def sort_entries(
    entries: list[Entry],
    sort: str | None,
    keys: Mapping[str, SortKey[Entry]],
    amounts: Callable[[Entry], Quantities] | None = None,
    known: Iterable[Quantities] = (),
    own: str = "",
) -> list[Entry]:
    """Sort by a key, or by the amount of a resource, the largest first.  Raises UsageError for neither.

    `amounts` is None if the entries have none; `known` are amounts whose resources can be sorted by.  The key `own` is
    the column of the entries themselves, which `name` and `id` mean too.
    """
    if sort is None:
        return entries
    word, is_reversed = sort.removeprefix("-"), sort.startswith("-")
    # Whatever is listed, the standard names are columns.
    names = [] if amounts is None else sorted({*STANDARD_NAMES, *chain.from_iterable(known)})
    if word not in names:
        word = word.lower()  # as the column is titled
    if word not in keys and own and word in ("name", "id"):
        word = own
    if word in keys:
        return sorted(entries, key=keys[word], reverse=is_reversed)
    if amounts is None or word not in names:
        choices = ", ".join([*keys, *names])
        raise UsageError(
            f"'{sort.removeprefix('-')}' is not a column to sort by",
            field="--sort",
            hint=did_you_mean(word, [*keys, *names], f"sort by one of {choices}; a minus sign reverses the order"),
        )
    return sorted(entries, key=lambda entry: -amounts(entry).get(word, 0), reverse=is_reversed)


def role_key(role: str) -> list[object]:
    """The key by which roles are sorted naturally, those below a role after it."""
    return [natural(part) for part in role.split("/")]
