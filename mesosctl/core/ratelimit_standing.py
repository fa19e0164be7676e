"""What the commands on rate limits report: values that ops works out and render draws."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from mesosctl.core.message_rates import Counts, Observed
from mesosctl.core.ratelimit import RateLimit, RateLimits, Remark
from mesosctl.core.ratelimit_simulation import Outcome


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A configuration file and what is to be said about it."""

    file: str
    limits: RateLimits
    remarks: Sequence[Remark]

    @property
    def valid(self) -> bool:
        """Whether a master would start with it."""
        return all(remark.level != "error" for remark in self.remarks)


@dataclass(frozen=True, slots=True)
class PrincipalStanding:
    """A principal beside the queue its messages stand in; None is everybody who is not listed."""

    principal: str | None
    limit: RateLimit
    listed: bool
    counts: Counts | None
    """None where it has no counters now."""
    frameworks: int | None
    """How many use it; None where that may not be seen."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A configuration file before and after; `before` is empty for a new file."""

    file: str
    before: str
    after: str
    limits: RateLimits
    written: bool

    @property
    def changed(self) -> bool:
        """Whether there is any difference."""
        return self.before != self.after

    @property
    def diff(self) -> list[str]:
        """A unified diff, line by line, without line ends."""
        return [
            line.rstrip("\n")
            for line in difflib.unified_diff(
                self.before.splitlines(), self.after.splitlines(), self.file, self.file, lineterm=""
            )
        ]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Limits, and the traffic they were made from; `seconds` is how long it was watched."""

    limits: RateLimits
    observed: Sequence[Observed]
    seconds: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """Limits and what became of each principal's messages."""

    limits: RateLimits
    outcomes: Sequence[Outcome]
