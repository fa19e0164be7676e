"""Sentences about the span of a question about a recording: what of it was not seen."""

from collections.abc import Iterable, Iterator

from mesosctl.history.records import Gap, Micros, RecordedCluster, to_seconds
from mesosctl.mesos.amounts.notation import format_span, utc_minute


def minute(at: Micros) -> str:
    """A moment in UTC, to the minute."""
    return utc_minute(to_seconds(at))


def span(time: Micros) -> str:
    """A span of time for people."""
    return format_span(to_seconds(time))


def left_out(
    cluster: RecordedCluster, since: Micros, until: Micros, unseen: Micros, outside: Iterable[Gap]
) -> Iterator[str]:
    """Yield what of a span was not seen: outside of the recording, and in its gaps."""
    beyond = sum(gap.end - gap.start for gap in outside)
    if beyond and cluster.first_seen is not None and cluster.last_seen is not None:
        yield (
            f"{span(beyond)} of the {span(until - since)} that were asked for are not in the recording, which is from "
            f"{minute(cluster.first_seen)} to {minute(cluster.last_seen)} UTC, and are left out"
        )
    if unseen > beyond:
        yield f"{span(unseen - beyond)} are in gaps, in which nothing was seen, and are left out"
