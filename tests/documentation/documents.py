"""The page about the five design documents, made of the register of their sentences.

`python -m tests.documentation --write` makes it.
"""

import textwrap
import tomllib
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from tests import ROOT

PAGE = "explanation/documents.md"
REGISTER = ROOT / "tests" / "seeds" / "sentences.toml"
_WIDTH = 120


class _Document(NamedTuple):
    title: str
    about: str


DOCUMENTS = {
    "quota.md": _Document("Quota", "The documentation of quota, of the time when a quota was a guarantee alone."),
    "reservation.txt": _Document("Reservation", "The documentation of reservations, with refinement."),
    "rate-limiting.txt": _Document("Framework Rate Limiting", "The documentation of rate limits."),
    "drf.txt": _Document(
        "Playing Traffic Cop: Resource Allocation in Apache Mesos",
        "An article on dominant resource fairness, the strict priority module and revocation.",
    ),
    "oversubscription-for-reservation.txt": _Document(
        "Oversubscription for Reservation", "A design for lending idle reservations, which was never released."
    ),
}
"""The documents, by the names that the register gives them, in the order of the page."""

_INTRODUCTION = """\
# What the documents state

Five documents describe the master that mesosctl was made for. This page lists what each of them states about the
behaviour of a master, section by section, in our own words. In the code, a citation such as `Quota, "Failover"` names
one of these sections. Each statement has at least one test of its own: `tests/seeds/sentences.toml` names it.

The documents describe a master of about version 1.4. If they differ from Mesos 1.11, the fake master follows the
documents by default, and Mesos 1.11 with `--mesos-version 1.11`. [The allocator](allocator.md) states how resources are
shared out in both.
"""


def documents() -> dict[str, str]:
    """Return the page by its path below docs/."""
    return {PAGE: "\n".join((_INTRODUCTION, *(line for name in DOCUMENTS for line in _document(name))))}


def _document(name: str) -> list[str]:
    sentences = [
        one for one in tomllib.loads(REGISTER.read_text(encoding="utf-8"))["sentences"] if one["document"] == name
    ]
    lines = [f"## {DOCUMENTS[name].title}", "", DOCUMENTS[name].about, ""]
    for section, stated in groupby(sentences, key=itemgetter("section")):
        lines += [f"### {section}", "", *(line for one in stated for line in _statement(one["says"])), ""]
    return lines


def _statement(says: str) -> list[str]:
    sentence = f"- {says[0].upper()}{says[1:]}."
    return textwrap.wrap(sentence, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
