"""A recording in memory, for tests of what is calculated of its rows."""

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from mesosctl.history.interface import WHOLE, Recording
from mesosctl.history.records import RecordedCluster, RowCounts

CLUSTER = RecordedCluster("c", "http://master:5050", first_seen=0, last_seen=1)


def _holds(row, window):
    return (window.until is None or row.start < window.until) and (
        window.since is None or row.end is None or row.end > window.since
    )


@dataclass
class MemoryRecording(Recording):
    """Rows in lists, all of them of CLUSTER."""

    of_agents: list[Any] = field(default_factory=list)
    of_frameworks: list[Any] = field(default_factory=list)
    of_tasks: list[Any] = field(default_factory=list)
    of_suppressions: list[Any] = field(default_factory=list)
    of_settings: list[Any] = field(default_factory=list)
    of_gaps: list[Any] = field(default_factory=list)

    def _rows(self, cluster_id, rows, window):
        assert cluster_id == CLUSTER.cluster_id
        return iter(sorted((row for row in rows if _holds(row, window)), key=lambda row: row.start))

    def clusters(self):
        return [CLUSTER]

    def counts(self, cluster_id):
        return RowCounts(*(0,) * 7)

    def agents(self, cluster_id, window=WHOLE):
        return self._rows(cluster_id, self.of_agents, window)

    def frameworks(self, cluster_id, window=WHOLE):
        return self._rows(cluster_id, self.of_frameworks, window)

    def suppressions(self, cluster_id, window=WHOLE):
        return self._rows(cluster_id, self.of_suppressions, window)

    def tasks(self, cluster_id, window=WHOLE):
        assert cluster_id == CLUSTER.cluster_id
        began = sorted((row for row in self.of_tasks if row.start is not None), key=lambda row: row.start)
        at_once = [row for row in began if row.start == row.end == window.since]
        return (row for row in began if _holds(row, window) or row in at_once)

    def demand(self, cluster_id, window=WHOLE):
        assert cluster_id == CLUSTER.cluster_id
        return chain(self.of_tasks)

    def waiting(self, cluster_id, at):
        asked = (row for row in self.of_tasks if row.asked is not None and row.asked < at)
        return (row for row in asked if row.start is None or row.start >= at)

    def settings(self, cluster_id, window=WHOLE):
        return self._rows(cluster_id, self.of_settings, window)

    def runs(self, cluster_id, window=WHOLE):
        return iter(())

    def gaps(self, cluster_id, window=WHOLE):
        return self._rows(cluster_id, self.of_gaps, window)

    def imports(self):
        return []

    def close(self):
        pass
