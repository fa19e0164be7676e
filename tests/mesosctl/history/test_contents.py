"""The contents of a recording, and the cluster that a question is about."""

import pytest

from mesosctl.history.contents import chosen_cluster, contents
from mesosctl.history.records import Gap, RecordedCluster
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.errors import NotFound, UsageError


@pytest.fixture
def recording(tmp_path):
    with open_writer(tmp_path / "h.sqlite") as made:
        yield made


def add(recording, *names):
    with recording.transaction():
        for name in names:
            recording.put_cluster(RecordedCluster(name, f"http://{name}"))


def test_the_cluster_that_is_named_or_the_only_one_is_chosen(recording):
    with pytest.raises(NotFound) as empty:
        chosen_cluster(recording, None)
    assert "history record" in str(empty.value.hint)
    with pytest.raises(UsageError, match="'a'") as unknown:
        chosen_cluster(recording, "a")
    assert (unknown.value.field, unknown.value.hint) == ("--cluster-id", "it is empty")
    add(recording, "a")
    assert chosen_cluster(recording, None).cluster_id == "a"
    add(recording, "b")
    assert chosen_cluster(recording, "b").cluster_id == "b"
    choose = "--cluster-id a or --cluster-id b"
    for name, words, hint in (("c", "'c'", "a, b"), (None, "2 clusters", choose)):
        with pytest.raises(UsageError, match=words) as refused:
            chosen_cluster(recording, name)
        assert refused.value.field == "--cluster-id"
        assert hint in str(refused.value.hint)


def test_each_cluster_has_its_counts_and_the_length_of_its_gaps(recording):
    add(recording, "a", "b")
    with recording.transaction():
        for gap in (Gap(1, 3), Gap(5, 6)):
            recording.add_gap("b", gap)
    found = contents(recording)
    assert [(one.cluster.cluster_id, one.counts.gaps, one.unseen) for one in found.clusters] == [
        ("a", 0, 0),
        ("b", 2, 3),
    ]
    assert [one.counts for one in found.clusters] == [recording.counts(name) for name in ("a", "b")]
    assert found.imports == ()
