"""The files of rate limits and recorded traffic that commands name."""

from collections.abc import Iterable
from pathlib import Path

from mesosctl.cli.environment import STANDARD_INPUT, named, read_text
from mesosctl.cli.session import Session
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.rules.rate_limit_simulation import Arrival, recorded_traffic
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.ratelimit.file import parse, parse_valid, read_recording


def read_recorded(session: Session, recorded: Path) -> list[Arrival]:
    """The messages that `ratelimit watch -o jsonl` counted.  Raises BadInput, and UsageError for too many."""
    text = read_text(str(recorded), "--recorded", session.environment.stdin)
    return recorded_traffic(read_recording(text.splitlines(), named(recorded)), "--recorded")


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
