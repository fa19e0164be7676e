"""The formats and codings that a client accepts, as libprocess reads `Accept` and `Accept-Encoding`.

Source: RFC 2616, "Accept" and "Accept-Encoding", and a Mesos 1.11.0 master for what it makes of them: the first entry
with a name decides, blanks are left out even within words, and a `q` that is not one number above zero refuses.
"""

import math
import re
from collections.abc import Iterable

_BLANKS = str.maketrans("", "", " \t\n")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?", re.ASCII | re.IGNORECASE)
_INFINITE = re.compile(r"\+?inf(?:inity)?", re.ASCII | re.IGNORECASE)


def accepts_media(accept: str | None, media: str) -> bool:
    """Return whether an `Accept` header takes a media type; without one, everything is taken."""
    return accept is None or _takes(accept, (media, f"{media.partition('/')[0]}/*", "*/*"))


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Return whether an `Accept-Encoding` header takes gzip; without one, nothing but the plain text is taken."""
    return accept_encoding is not None and _takes(accept_encoding, ("gzip", "*"))


def _takes(header: str, names: Iterable[str]) -> bool:
    """Whether the first of the names that a header lists is accepted there; without any of them it is not."""
    entries: dict[str, list[str]] = {}
    for entry in header.translate(_BLANKS).split(","):
        name, *parameters = [part for part in entry.split(";") if part] or [""]
        entries.setdefault(name.lower(), [name, *parameters])
    return next((_is_above_zero(entries[name]) for name in names if name in entries), False)


def _is_above_zero(parts: Iterable[str]) -> bool:
    """Whether the `q` among these is above zero; without exactly one, it is not looked at."""
    pairs = ([word for word in part.split("=") if word] for part in parts)
    given = [pair[1] for pair in pairs if len(pair) == len(("q", "value")) and pair[0] == "q"]
    if len(given) != 1:
        return True
    (text,) = given
    if _INFINITE.fullmatch(text):
        return True
    return _NUMBER.fullmatch(text) is not None and 0 < float(text) < math.inf
