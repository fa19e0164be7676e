"""A rehearsal of a live master or of a file: the same deeds, done to a fake master made of its picture."""

from collections.abc import Callable
from io import BufferedIOBase
from typing import TYPE_CHECKING

from mesosctl.client.address import parse_address
from mesosctl.client.master import Master
from mesosctl.client.settings import ClientSettings
from mesosctl.core.errors import (
    BadInput,
    Bug,
    Conflict,
    DeadlinePassed,
    Denied,
    Invalid,
    MesosctlError,
    NotFound,
    UnexpectedAnswer,
    UsageError,
)
from mesosctl.core.forecast import Answer, Terms

if TYPE_CHECKING:
    from fake_master import Rehearsal

_NOT_ABOUT_THE_CHANGE = (UsageError, BadInput, Bug, UnexpectedAnswer)
# Words that name nothing make no request that could be refused.
_NAMES_NOTHING = frozenset({"agent.exists", "framework.exists"})
_WORDS = ("resource.", "wanted.")
"""Rules about words, or about a file of wishes, that make no request either."""
# Rules of the tool's own: a master would accept, and the operator regret it.
_OWN_RULES = frozenset(
    {"quota.above-zero", "quota.path", "quota.empty", "quota.readable", "quota.limits-need-update", "apply.unchanged"}
)
# What a master notices only when it looks for the resources.
_FOUND_LACKING = frozenset({"reservation.exists"})


def rehearse_live(master: Master, terms: Terms, progress: Callable[[str], None]) -> "Rehearsal":
    """A rehearsal of the cluster as it is now; `progress` hears of the reading.  Raises what reading raises."""
    import fake_master
    from mesosctl.ops.snapshot import read_picture

    return fake_master.rehearse(read_picture(master, progress=progress), terms)


def rehearse_file(file: BufferedIOBase, where: str, terms: Terms) -> "Rehearsal":
    """A rehearsal of a snapshot or of a cluster file, which `where` names.  Raises BadInput, and OSError."""
    import fake_master

    return fake_master.rehearse_file(file, where, terms)


def open_rehearsal(rehearsal: "Rehearsal", settings: ClientSettings) -> Master:
    """The fake master of a rehearsal, to be asked like any other; `settings` need the rehearsal's clock."""
    return Master(parse_address("fake:"), settings, rehearsal.transport)


def attempt(rehearsal: "Rehearsal", deed: Callable[[], object], *, label: str | None = None, name: str = "") -> None:
    """Do a deed to the rehearsal's master; a refusal becomes an answer.

    `label` is what its requests are called, by themselves unless given; `name` what is called so where
    none is sent.  Raises what is not about the change: words that make none, UsageError, BadInput, Bug.
    """
    rehearsal.begin(label or name)
    before = len(rehearsal.answers)
    rehearsal.carrier.label = label
    try:
        deed()
    except _NOT_ABOUT_THE_CHANGE:
        raise
    except MesosctlError as error:
        if error.rule is not None and (error.rule in _NAMES_NOTHING or error.rule.startswith(_WORDS)):
            raise
        if all(answer.accepted for answer in rehearsal.answers[before:]):
            rehearsal.refuse(_refusal(label or name, error))
    finally:
        rehearsal.carrier.label = None


def _refusal(change: str, error: MesosctlError) -> Answer:
    """What mesosctl itself finds out, and sends nothing for."""
    own = error.rule in _OWN_RULES or isinstance(error, DeadlinePassed)
    status = None if own else _status(error)
    # Where the sentence says what a master would answer, the one before it does not: it is said with the status.
    said = error.__cause__ if error.would_answer is not None else None
    message = said.message if isinstance(said, MesosctlError) else error.message
    return Answer(change, status, accepted=False, message=message, rule=error.rule, by="mesosctl")


def _status(error: MesosctlError) -> int | None:
    """What a master would answer where mesosctl finds it out first: the rules are the same."""
    if error.would_answer is not None or error.status is not None:
        return error.would_answer or error.status
    if isinstance(error, Conflict) or error.rule in _FOUND_LACKING:
        return 409
    if isinstance(error, Denied):
        return 403
    return 400 if isinstance(error, Invalid | NotFound) else None
