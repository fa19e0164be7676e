"""Traffic as a person types it: who sends how many messages, when.

foo=200/s*10        200 a second for ten seconds, evenly
foo=200/s*10@5      the same from the fifth second on
foo=500@2           500 at once, in the second second
-=10/s*60           from a framework without a principal
"""

import math
import re
from collections.abc import Iterable, Iterator

from mesosctl.core.errors import UsageError
from mesosctl.core.ratelimit_simulation import Arrival

NO_PRINCIPAL = "-"
MOST_MESSAGES = 5_000_000
_NUMBER = r"\d+(?:\.\d+)?"
_STREAM = re.compile(rf"(?P<rate>{_NUMBER})/s\*(?P<seconds>{_NUMBER})(?:@(?P<start>{_NUMBER}))?", re.ASCII)
_BURST = re.compile(rf"(?P<count>\d{{1,9}})(?:@(?P<start>{_NUMBER}))?", re.ASCII)


def parse_traffic(words: Iterable[str]) -> list[Arrival]:
    """The arrivals of several streams and bursts, in order of time.  Raises UsageError."""
    arrivals: list[Arrival] = []
    for word in words:
        count, step, start, principal = _parse(word)
        if len(arrivals) + count > MOST_MESSAGES:
            raise UsageError(f"more than {MOST_MESSAGES} messages", field="--traffic", hint="simulate a shorter while")
        arrivals.extend(_arrivals(count, step, start, principal))
    return sorted(arrivals, key=lambda arrival: arrival[0])


def _parse(word: str) -> tuple[int, float, float, str | None]:
    """Messages, seconds between two of them, seconds before the first, and who sends."""
    # A principal may hold anything, an equals sign included.
    name, equals, pattern = word.rpartition("=")
    principal = None if name == NO_PRINCIPAL else name
    if equals and (stream := _STREAM.fullmatch(pattern)):
        rate, start = float(stream["rate"]), float(stream["start"] or 0)
        if rate > 0 and math.isfinite(1 / rate) and math.isfinite(start):
            # Of a number that no double holds there are too many in any case.
            count = min(rate * float(stream["seconds"]), MOST_MESSAGES + 1.0)
            return math.ceil(count), 1 / rate, start, principal
    if equals and (burst := _BURST.fullmatch(pattern)) and math.isfinite(start := float(burst["start"] or 0)):
        return int(burst["count"]), 0.0, start, principal
    raise UsageError(
        f"'{word}' is not traffic",
        field="--traffic",
        hint="write PRINCIPAL=RATE/s*SECONDS@START or PRINCIPAL=COUNT@START, such as foo=200/s*10 or foo=500@2",
    )


def _arrivals(count: int, step: float, start: float, principal: str | None) -> Iterator[Arrival]:
    return ((start + index * step, principal) for index in range(count))
