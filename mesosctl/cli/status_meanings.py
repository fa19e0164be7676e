"""What each exit status means, in words: help, man pages and the reference page say the same."""

from mesosctl.core.errors import ExitStatus

MEANINGS: dict[ExitStatus, str] = {
    ExitStatus.DONE: "done, or nothing to do",
    ExitStatus.ANSWER_IS_NO: "the answer is no: a check failed",
    ExitStatus.USAGE: "the words make no request, or a question was answered with no",
    ExitStatus.INVALID: "invalid payload, file or configuration (refused here, or 400 from the master)",
    ExitStatus.DENIED: "not authenticated or not authorised (401, 403)",
    ExitStatus.NOT_FOUND: "not found, such as an agent, a role without quota, or a context",
    ExitStatus.CONFLICT: "the cluster cannot hold it (capacity check: 409, or 400 of UPDATE_QUOTA)",
    ExitStatus.NO_MASTER: "no master: network, TLS, or no leader (503)",
    ExitStatus.MASTER_FAILED: "the master failed (5xx), or answered what it never should",
    ExitStatus.NOT_CONFIRMED: "the deadline passed, or an accepted change could not be confirmed",
    ExitStatus.HUNG_UP: "the terminal hung up (SIGHUP)",
    ExitStatus.INTERRUPTED: "interrupted (SIGINT, Ctrl-C)",
    ExitStatus.TERMINATED: "terminated (SIGTERM)",
}
