"""Suggest the name that was probably meant, for a word that is none of the known names."""

from bisect import bisect_left
from collections.abc import Iterable

_CUTOFF = 0.6
"""The similarity from which two words count as alike; the default of difflib."""
_MOST = 1000
"""Names that are compared in full: of more, only those that begin or end most like the word."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `word`, or None where none is like it; case does not matter."""
    import difflib

    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    folded = word.casefold()
    candidates: Iterable[str] = by_folded
    if len(by_folded) > _MOST:
        candidates = _neighbours(folded, by_folded)
    found = difflib.get_close_matches(folded, candidates, 1, _CUTOFF)
    return by_folded[found[0]] if found else None


def _neighbours(word: str, names: Iterable[str]) -> list[str]:
    """The names next to `word` in the order of their beginnings, and in that of their ends."""
    found: list[str] = []
    for step in (1, -1):
        ordered = sorted(name[::step] for name in names)
        place = bisect_left(ordered, word[::step])
        found += [name[::step] for name in ordered[max(0, place - _MOST // 4) : place + _MOST // 4]]
    return found


def did_you_mean(words: str | Iterable[str], known: Iterable[str], otherwise: str) -> str:
    """Return a hint: for every word the known name that is most like it, and `otherwise`, what to do in any case."""
    candidates = list(known)
    found = [closest(word, candidates) for word in ([words] if isinstance(words, str) else words)]
    likely = list(dict.fromkeys(name for name in found if name is not None))
    return f"did you mean {', '.join(likely)}? {otherwise}" if likely else otherwise
