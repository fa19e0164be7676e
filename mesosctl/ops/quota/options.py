"""How a quota is changed, as options of a command say it."""

from collections.abc import Callable
from typing import NamedTuple


def _agreed(_losses: str) -> None:
    """Nobody has to be asked."""


class QuotaOptions(NamedTuple):
    """How to go about a change of quota.

    `force` passes the capacity heuristic, and where limits are set by UPDATE_QUOTA the check of what a
    role consumes.  `api` is auto, v0 or v1, `wait` reads back, `allow_new_resource` takes names of
    resources that no agent has.  An update makes no quota for a role without one unless `create`, and
    changes none that is there where `only_new`.  `agree` is asked before something is lost that nobody
    named: it hears what that is, and raises where it is not wanted.
    """

    force: bool = False
    api: str = "auto"
    wait: bool = True
    allow_new_resource: bool = False
    create: bool = False
    only_new: bool = False
    agree: Callable[[str], None] = _agreed
