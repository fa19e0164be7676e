"""Lines that are cut and places that keys lead to, for views that fill the terminal; without rich."""

from mesosctl.mesos.errors import printable


def cut(line: str, width: int) -> str:
    """Return the part of a line that fits."""
    line = printable(line)
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"


def moved(place: int, key: str, *, page: int, last: int) -> int:
    """Return the place to which a key leads from `place`: from 0 to `last`, `page` places at a time."""
    steps = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -page, "page down": page, "home": -place, "end": last}
    return max(0, min(place + steps.get(key, 0), last))
