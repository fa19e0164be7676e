"""Suggest the name that was probably meant, for a word that is none of the known names."""

from collections.abc import Iterable

_CUTOFF = 0.6
"""The similarity from which two words count as alike; the default of difflib."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `word`, or None where none is like it; case does not matter."""
    import difflib

    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    found = difflib.get_close_matches(word.casefold(), by_folded, 1, _CUTOFF)
    return by_folded[found[0]] if found else None


def did_you_mean(words: str | Iterable[str], known: Iterable[str], otherwise: str) -> str:
    """Return a hint: for every word the known name that is most like it, and `otherwise`, what to do in any case."""
    candidates = list(known)
    found = [closest(word, candidates) for word in ([words] if isinstance(words, str) else words)]
    likely = list(dict.fromkeys(name for name in found if name is not None))
    return f"did you mean {', '.join(likely)}? {otherwise}" if likely else otherwise
