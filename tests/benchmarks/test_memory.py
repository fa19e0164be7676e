"""The clusters of the memory benchmark are clusters, and its figures are a page's."""

from fake_master.sources.snapshot import RestoredCluster
from mesosctl.api.snapshots import snapshot
from tests.benchmarks.memory import _columns, _row, snapshot_of
from tests.benchmarks.whatif import Figure


def test_a_cluster_is_one_that_a_master_can_be():
    small = snapshot_of(12)
    assert snapshot.load(snapshot.dump(small)) == small
    master = RestoredCluster(small).start(clock=lambda: small.taken_at)
    assert (len(master.state.agents), len(list(master.state.offers))) == (12, 6)
    assert {len(agent.total.reserved()) for agent in master.state.agents.values()} == {0, 2}


def test_growth_stands_beside_the_figures():
    figures = [Figure("a command", 5, 1.0, 0.5, 40.0), Figure("a command", 50, 9.0, None, 60.0)]
    row = list(_row(figures))
    assert row == ["a command", 1.0, 9.0, 9.0, 0.5, None, None, 40.0, 60.0, 1.5]
    assert len(list(_columns((5, 50)))) == len(row)
