"""The files of rate limits and recorded traffic that commands name."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from mesosctl.cli.environment import STANDARD_INPUT, named, read_text
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.rate_limits import RateLimits
from mesosctl.model.suggestion import command
from mesosctl.operations.rate_limits_file import parse, parse_valid, read_recording
from mesosctl.planning.message_rates import RecordedTraffic
from mesosctl.planning.rate_limit_simulation import Arrival, recorded_traffic
from mesosctl.planning.whatif_changes import Change, LimitsFile, example


def read_recorded(session: Session, recorded: Path) -> list[Arrival]:
    """The messages that `ratelimit watch -o jsonl` counted.  Raises BadInput, and UsageError for too many."""
    text = read_text(str(recorded), "--recorded", session.environment.stdin)
    return recorded_traffic(read_recording(text.splitlines(), named(recorded)))


def read_limits(session: Session, path: str, field: str) -> RateLimits:
    """The rate limits of a file, with which a master would start.  Raises BadInput and RuleViolation."""
    return parse_valid(read_text(path, field, session.environment.stdin), named(path))


def read_present_limits(session: Session, path: str) -> RateLimits:
    """The limits of --before, in whose file a rule may be broken.  Raises BadInput."""
    return parse(read_text(path, "--before", session.environment.stdin), named(path)).limits


def check_standard_input(files: Iterable[object], field: str) -> None:
    """Raise UsageError if more than one of these files is standard input."""
    if [str(file) for file in files].count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be only one of the files", field=field, hint="name a file")


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
