"""The agents of a cluster of which several logs were imported: each log has rows of its own, from its first moment on.

A log ends when its last task does, so two months of one cluster overlap. An agent has one total at each moment.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mesosctl.history.records import Micros, RecordedAgent, Window


def agents_of_logs(rows: Iterable[RecordedAgent], window: Window) -> Iterator[RecordedAgent]:
    """The agents in a window, by `start`, without overlaps; `rows` are those of all logs, by `start` and import.

    From the first moment of a log on, an agent has the resources that this log gives it, until another begins. An agent
    that two logs describe alike is there between them too.
    """
    by_id: dict[str, list[RecordedAgent]] = {}
    for row in rows:
        held = by_id.setdefault(row.id, [])
        if held:
            last = held.pop()
            end = max(_end(last), _end(row))
            if (last.host, last.total, last.attributes) == (row.host, row.total, row.attributes):
                row = replace(last, end=end)  # noqa: PLW2901
            else:
                if last.start < row.start:
                    is_cut = _end(last) > row.start
                    held.append(replace(last, end=row.start, cause="changed") if is_cut else last)
                row = replace(row, end=end)  # noqa: PLW2901
        held.append(row)
    of_window = (row for held in by_id.values() for row in held if _is_in(row, window))
    return iter(sorted(of_window, key=lambda row: row.start))


def _is_in(row: RecordedAgent, window: Window) -> bool:
    until, since = window.until, window.since
    return (until is None or row.start < until) and (since is None or _end(row) > since)


def _end(row: RecordedAgent) -> Micros:
    assert row.end is not None, "a log has an end"
    return row.end
