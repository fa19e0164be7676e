"""Since when Mesos has a message, a field or a value of an enumeration, and what it was in between.

`tables/releases.csv` has what is not the same in all releases: a full name (`mesos.v1.Task.limits`, or with the name of
a value, `mesos.TaskState=TASK_GONE`), and each release that changed it.  `1.5.3: 1 optional bool; 1.8.1: absent` is
there from 1.5.3 on, and no longer in 1.8.1.  A field is described as in the other tables, with the full name of its
type; a message is `message`, and a value its number.

Source: the libraries of the releases. `python -m tests.fake_master.protobuf.releases` reads them and writes the table.
"""

import pkgutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from mesosctl.mesos.rules.version_profile import RELEASES

NEWEST = RELEASES[-1]
"""The release whose messages the other tables have."""
TABLE = "tables/releases.csv"
MESSAGE, ABSENT = "message", "absent"
Members = Mapping[str, str | None]
"""The description of each name in one release; None if the name is not there."""


def members_at(release: str) -> Mapping[str, Members]:
    """The names that differ between releases, as one of them has them.

    By the full name of a message or an enumeration, then by the name of a field, a value or a message inside it.
    Raises KeyError if there is no such release.
    """
    if release not in RELEASES:
        raise KeyError(release)
    return _members_at(release)


def has(release: str | None, first: str) -> bool:
    """Whether a release has what is there from `first` on; without a release, everything is."""
    return release is None or RELEASES.index(release) >= RELEASES.index(first)


def first_with(name: str) -> str | None:
    """The first release with a name of the table, such as `mesos.v1.master.Call.Type=TEARDOWN`; None if all have it."""
    for other, text in _rows():
        if other == name:
            return next(release for release in RELEASES if at(text, release) is not None)
    return None


def described(owner: str, member: str, release: str) -> str | None:
    """The description of a name of the table in one release, or None if it is not there.

    Raises KeyError if the name is not in the table: it is in every release, and the same, or in none.
    """
    return members_at(release)[owner][member]


@cache
def _members_at(release: str) -> Mapping[str, Members]:
    found: defaultdict[str, dict[str, str | None]] = defaultdict(dict)
    for name, text in _rows():
        owner, _, member = name.rpartition("=" if "=" in name else ".")
        found[owner][member] = at(text, release)
    return dict(found)


def at(spans: str, release: str) -> str | None:
    """The description of one release in the spans of a name."""
    last = None
    for span in spans.split("; "):
        first, _, description = span.partition(": ")
        if RELEASES.index(first) > RELEASES.index(release):
            break
        last = None if description == ABSENT else description
    return last


def spans(descriptions: Iterable[str | None]) -> str:
    """The text of the table for what each release has, in their order."""
    found, last = list[str](), None
    for release, description in zip(RELEASES, descriptions, strict=True):
        if description != last:
            found.append(f"{release}: {description or ABSENT}")
            last = description
    return "; ".join(found)


def _rows() -> Iterator[tuple[str, str]]:
    text = pkgutil.get_data(__package__, TABLE)
    assert text is not None, "the tables are beside this module"
    for line in text.decode().splitlines()[1:]:
        name, _, of = line.partition(",")
        yield name, of
