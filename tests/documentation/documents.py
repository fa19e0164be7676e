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

PAGES_OF_MESOS = {
    "Attributes and Resources": "attributes-resources",
    "Authentication": "authentication",
    "Authorization": "authorization",
    "Configuration": "configuration/master",
    "Container Volume": "container-volume",
    "Framework Rate Limiting": "framework-rate-limiting",
    "HTTP Endpoints": "endpoints",
    "High-Availability Mode": "high-availability",
    "Maintenance Primitives": "maintenance",
    "Mesos Containerizer": "mesos-containerizer",
    "Monitoring": "monitoring",
    "Nested Container and Task Group (Pod)": "nested-container-and-task-group",
    "Operator HTTP API": "operator-http-api",
    "Oversubscription": "oversubscription",
    "Persistent Volumes": "persistent-volume",
    "Quota": "quota",
    "Reservation": "reservation",
    "Roles": "roles",
    "Scheduler HTTP API": "scheduler-http-api",
    "Secrets": "secrets",
    "Task Health Checking": "health-checks",
    "Weights": "weights",
}
"""The pages of the documentation of Mesos that the code cites: title, and page below mesos.apache.org."""

_INTRODUCTION = """\
# What the documents state

Five documents describe the master that mesosctl was made for. This page lists what each of them states about the
behaviour of a master, section by section, in our own words. In the code, `docs/explanation/documents.md, "Failover"`
names one of these sections. Each statement has at least one test of its own: `tests/seeds/sentences.toml` names it.

The documents describe a master of the time of Mesos 1.4 that was never released. It is called `documents`, and is the
default of the fake master; its number is 1.4.0, and the `git_tag` in /version is `documents`. With `--mesos-version
1.11` the fake master is Mesos 1.11. [The allocator](allocator.md) states how resources are shared out in both.
"""

_OF_MESOS = """\
## The documentation of Mesos

The code cites a page of the documentation of Mesos by its title, and a section of it after that: `Mesos documentation,
"Quota", "Operator HTTP Endpoint"`. Where a page and a Mesos 1.11.0 master disagree, the master is right.

| title | page |
| --- | --- |"""


def documents() -> dict[str, str]:
    """Return the page by its path below docs/."""
    stated = (line for name in DOCUMENTS for line in _document(name))
    of_mesos = (
        f"| {title} | <https://mesos.apache.org/documentation/latest/{page}/> |"
        for title, page in PAGES_OF_MESOS.items()
    )
    return {PAGE: "\n".join((_INTRODUCTION, *stated, _OF_MESOS, *of_mesos, ""))}


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
