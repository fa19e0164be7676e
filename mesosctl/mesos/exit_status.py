"""The exit statuses of the command line, and the meaning of each: a contract with scripts.

Every class of `mesos.errors` has one of them; a deadline that passes, for example, is NOT_CONFIRMED.
"""

from enum import IntEnum
from typing import Literal

Answer = Literal["yes", "no", "unknown"]
"""The answer to a question, in documents; only "yes" ends with DONE."""


class ExitStatus(IntEnum):
    """The exit statuses of the command line."""

    DONE = 0
    ANSWER_IS_NO = 1
    USAGE = 2
    INVALID = 3
    DENIED = 4
    NOT_FOUND = 5
    CONFLICT = 6
    NO_MASTER = 7
    MASTER_FAILED = 8
    NOT_CONFIRMED = 9
    HUNG_UP = 128 + 1
    INTERRUPTED = 130
    BROKEN_PIPE = 128 + 13
    """The status that a shell shows for a program whose reader went away; no page names it."""
    TERMINATED = 143


def status_of(answer: Answer) -> ExitStatus:
    """The status with which a question ends: a script may go on only after a yes."""
    return ExitStatus.DONE if answer == "yes" else ExitStatus.ANSWER_IS_NO


MEANINGS: dict[ExitStatus, str] = {
    ExitStatus.DONE: "done, or nothing to do",
    ExitStatus.ANSWER_IS_NO: "the answer is no: a check failed; or it is unknown, so that a script does not go on",
    ExitStatus.USAGE: "the command line is wrong, or the answer to a question was no; nothing was done",
    ExitStatus.INVALID: "invalid payload, file or configuration (refused here, or 400 from the master)",
    ExitStatus.DENIED: "not authenticated or not authorized (401, 403)",
    ExitStatus.NOT_FOUND: "not found, such as an agent, a role without quota, or a context",
    ExitStatus.CONFLICT: "the cluster is in the way of the change: too little capacity (409, or 400 for UPDATE_QUOTA), "
    "volumes on the resources, or other changes since the plan",
    ExitStatus.NO_MASTER: "no master: network, TLS, or no leader (503)",
    ExitStatus.MASTER_FAILED: "the master failed (5xx), or its answer is not one that Mesos sends",
    ExitStatus.NOT_CONFIRMED: "the deadline passed, or an accepted change could not be confirmed",
    ExitStatus.HUNG_UP: "the terminal hung up (SIGHUP)",
    ExitStatus.INTERRUPTED: "interrupted (SIGINT, Ctrl-C)",
    ExitStatus.TERMINATED: "terminated (SIGTERM)",
}
