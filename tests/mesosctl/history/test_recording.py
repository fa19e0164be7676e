"""The ledger of one cluster in a recording."""

from mesosctl.history.recording import Ledger
from mesosctl.history.records import MICROS, RecordedCluster
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.messages.elements.tasks import HeldResources, TaskChange


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


def test_a_clock_that_goes_backwards_is_counted_and_takes_no_time_back(tmp_path):
    at = 1_700_000_000 * MICROS
    cluster = RecordedCluster("lab", "http://lab", first_seen=at, last_seen=at + 60 * MICROS)
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(cluster)
        ledger = Ledger(recording, cluster)
        ledger.connected(at + 30 * MICROS, "1.11.0", "http://lab", None)
        assert ledger.pass_to(at + 31 * MICROS) == at + 60 * MICROS
        ledger.seen(at + 40 * MICROS)
    with open_recording(tmp_path / "h.sqlite") as written:
        (found,) = written.clusters()
        assert (found.clock_steps, found.last_seen) == (1, at + 60 * MICROS)
        assert list(written.gaps("lab")) == []


def test_a_task_of_an_agent_that_comes_back_has_a_second_run(tmp_path):
    at = 1_700_000_000 * MICROS
    cluster = RecordedCluster("lab", "http://lab", first_seen=at, last_seen=at)
    task = HeldResources("f", "t", "a", {"web": parse_resources("cpus:1")}, "TASK_RUNNING")
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(cluster)
        ledger = Ledger(recording, cluster)
        ledger.pass_to(at + 1 * MICROS)
        ledger.add_task(task)
        for second, state in ((5, "TASK_UNREACHABLE"), (9, "TASK_RUNNING"), (12, "TASK_FINISHED")):
            ledger.pass_to(at + second * MICROS)
            ledger.change_task(TaskChange("f", "t", state, None, None))
    with open_recording(tmp_path / "h.sqlite") as written:
        runs = [(one.run, (one.start or 0) - at, (one.end or 0) - at, one.state) for one in written.tasks("lab")]
        assert runs == [
            (0, 1 * MICROS, 5 * MICROS, "TASK_UNREACHABLE"),
            (1, 9 * MICROS, 12 * MICROS, "TASK_FINISHED"),
        ]
        assert written.counts("lab").tasks == 1
