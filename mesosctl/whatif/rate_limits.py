"""The rate limits and the traffic that a forecast needs."""

from collections.abc import Sequence
from pathlib import Path

from mesosctl.cli.session import Session
from mesosctl.mesos.cluster.message_rates import RecordedTraffic
from mesosctl.mesos.errors import UsageError
from mesosctl.ratelimit.given_files import check_standard_input, read_limits, read_present_limits, read_recorded
from mesosctl.suggestion import command
from mesosctl.whatif.changes import Change, LimitsFile, example


def read_for_changes(
    session: Session,
    wanted: Sequence[Change],
    recorded: Path | None,
    before: str | None,
    source: Path | None,
) -> RecordedTraffic | None:
    """The traffic and the limits that changes of rate limits need; None if no limits change.

    `source` is the file of the cluster.  Raises UsageError, BadInput, and RuleViolation for limits with which no
    master would start.
    """
    paths = tuple(dict.fromkeys(change.path for change in wanted if isinstance(change, LimitsFile)))
    if not paths:
        unused = "--recorded" if recorded is not None else "--before"
        if recorded is not None or before is not None:
            raise UsageError(
                f"{unused} applies to rate limits, but no change concerns them",
                field=unused,
                hint=f"give a change such as {example('ratelimits')} too",
            )
        return None
    if recorded is None:
        raise UsageError(
            "a change of rate limits needs recorded traffic",
            field="--recorded",
            hint=f"record some with {command('ratelimit watch', count=60, o='jsonl')}, and give it with "
            "--recorded FILE",
        )
    check_standard_input((*paths, recorded, before, source), "--recorded")
    limits = {path: read_limits(session, path, "CHANGES") for path in paths}
    today = None if before is None else read_present_limits(session, before)
    return RecordedTraffic(read_recorded(session, recorded), limits, today)
