"""The ledger of one cluster in a recording."""

from mesosctl.history.recording import Ledger
from mesosctl.history.records import MICROS, RecordedCluster
from mesosctl.history.sqlite import open_recording, open_writer


def test_a_recording_begins_where_it_was_cut_whatever_is_seen_after(tmp_path):
    at = 1_700_000_000 * MICROS
    first, cut = at, at + 60 * MICROS
    cluster = RecordedCluster("lab", "http://lab", first_seen=first, last_seen=at + 120 * MICROS)
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(cluster)
        ledger = Ledger(recording, cluster)
        ledger.prune(cut)
        ledger.still_there(at + 130 * MICROS)
        ledger.seen(at + 140 * MICROS)
        ledger.prune(first)  # of a clock that went backwards: what is removed does not come back
        ledger.seen(at + 150 * MICROS)
    with open_recording(tmp_path / "h.sqlite") as written:
        (found,) = written.clusters()
    assert (found.first_seen, found.last_seen) == (cut, at + 150 * MICROS)
