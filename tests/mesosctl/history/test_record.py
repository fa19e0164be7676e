"""`mesosctl history record`: what a recording holds is what was done to the master, to the microsecond."""

import json
from collections import Counter
from dataclasses import replace

import httpx
import pytest

from fake_master.state.clock import VirtualClock
from mesosctl.__main__ import main
from mesosctl.history.records import MICROS
from mesosctl.history.sqlite import open_recording, open_writer
from tests.helpers.surroundings import InMemory, Ran

CLUSTER = """
mesos_version = "1.11"
[quotas.batch]
guarantee = "cpus:10"
[weights]
web = 2
[[agents]]
resources = "cpus:8;mem:16GiB"
count = 2
[[agents]]
resources = "cpus:4;mem:4GiB"
attributes = { rack = "r1" }
leaves_after = 120
returns_after = 300
[tasks]
outcome = "finished"
seconds = 45
[[frameworks]]
name = "web"
role = "web"
principal = "ops"
task = "cpus:2;mem:2GiB"
tasks = 4
[[frameworks]]
name = "batch"
role = "batch"
task = "cpus:1;mem:1GiB"
after = 60
[[frameworks]]
name = "quiet"
role = "quiet"
suppressed = ["quiet"]
answer = "decline"
"""


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "cluster.toml").write_text(CLUSTER, encoding="utf-8")

    def run(*words, master="fake:cluster.toml?fresh"):
        environment = InMemory(variables={"HOME": str(tmp_path), "MESOSCTL_MASTER": master})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


@pytest.fixture
def recorded(typed, tmp_path):
    ran = typed("history", "record", "--history", "h.sqlite", "--duration", "10m", "--cluster-id", "lab")
    assert ran.status == 0, ran.err
    with open_recording(tmp_path / "h.sqlite") as recording:
        yield recording


def test_agents_come_and_go_when_they_did(recorded):
    (cluster,) = recorded.clusters()
    began = cluster.first_seen
    assert cluster.last_seen == began + 600 * MICROS
    assert (cluster.clean_end, cluster.version) == (True, "1.11.0")
    third = [one for one in recorded.agents("lab") if one.attributes]
    first, again = third
    # It disconnects after 120 s, and is unreachable 75 s later; no event tells that, so the next reading does.
    assert (first.start, first.cause) == (began, "unreachable")
    assert 195 * MICROS <= first.end - began <= (195 + 60) * MICROS
    assert (again.start - began, again.end) == (300 * MICROS, None)
    assert recorded.counts("lab").agents == 3


@pytest.mark.parametrize("version", ["1.4", "1.5"])
def test_a_master_that_is_silent_has_not_gone(typed, tmp_path, version):
    """Operators get no heartbeats from 1.4: minutes in which nothing happens are no gap."""
    idle = f'mesos_version = "{version}"\n[[agents]]\nresources = "cpus:1;mem:64"\n'
    (tmp_path / "idle.toml").write_text(idle, encoding="utf-8")
    words = ("history", "record", "--history", "i.sqlite", "--duration", "10m", "--cluster-id", "idle")
    ran = typed(*words, master="fake:idle.toml?fresh")
    assert ran.status == 0, ran.err
    with open_recording(tmp_path / "i.sqlite") as recording:
        (cluster,) = recording.clusters()
        assert (cluster.clean_end, recording.counts("idle").gaps) == (True, 0)
        assert (cluster.last_seen or 0) - (cluster.first_seen or 0) == 600 * MICROS


def test_what_a_recorder_reads_makes_no_allocation_run(typed, tmp_path):
    """A task ends between two runs, and its place is free for the next one only at the second of them."""
    cluster = 'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:1;mem:64"\n'
    jobs = '[[frameworks]]\nname = "jobs"\ntask = "cpus:1"\nevery = "500ms"\ntasks = 3\nlasts = "2300ms"\n'
    (tmp_path / "jobs.toml").write_text(cluster + jobs, encoding="utf-8")
    often = ("--every", "1s", "--every-agents", "1s")
    ran = typed(
        "history", "record", "--history", "j.sqlite", "--duration", "30s", *often, master="fake:jobs.toml?fresh"
    )
    assert ran.status == 0, ran.err
    with open_recording(tmp_path / "j.sqlite") as recording:
        (cluster_of_jobs,) = recording.clusters()
        began = cluster_of_jobs.first_seen or 0
        assert [(one.start or 0) - began for one in recording.tasks(cluster_of_jobs.cluster_id)] == [
            0, 3 * MICROS, 6 * MICROS,
        ]  # fmt: skip


def test_tasks_hold_what_they_held_for_as_long_as_they_did(recorded):
    tasks = list(recorded.tasks("lab"))
    began = recorded.clusters()[0].first_seen
    ended = [one for one in tasks if one.state == "TASK_FINISHED"]
    assert {one.end - one.start for one in ended} == {45 * MICROS}
    assert all(one.start_known == (one.start > began) for one in tasks)
    lost = [one for one in tasks if one.state == "TASK_LOST"]
    assert {one.end - began for one in lost} == {120 * MICROS}
    assert lost
    for moment in range(1, 600, 7):
        held: Counter[str] = Counter()
        for one in tasks:
            if one.start <= began + moment * MICROS and (one.end is None or one.end > began + moment * MICROS):
                held[one.role] += one.resources.scalar_quantities().get_amount("cpus")
        assert held["web"] <= 8_000
        assert sum(held.values()) <= 20_000
        assert held["batch"] == 0 or moment >= 60


def test_frameworks_settings_and_wishes(recorded):
    began = recorded.clusters()[0].first_seen
    frameworks = {one.name: one for one in recorded.frameworks("lab")}
    assert frameworks["web"].principal == "ops"
    assert frameworks["batch"].start == began + 60 * MICROS
    settings = {(one.kind, one.name): json.loads(one.value) for one in recorded.settings("lab")}
    assert settings["quota", "batch"]["guarantees"] == {"cpus": {"value": 10.0}}
    assert settings["weight", "web"] == {"role": "web", "weight": 2.0}
    wishes = {one.role: one.suppressed for one in recorded.suppressions("lab")}
    assert wishes["quiet"] is True
    assert wishes["web"] is False


def test_a_second_recording_continues_the_first_with_a_gap(typed, tmp_path):
    words = ("history", "record", "--history", "h.sqlite", "--cluster-id", "lab", "--duration")
    assert typed(*words, "1m").status == 0
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        (cluster,) = recording.clusters()
        assert cluster.first_seen is not None
        first = cluster.first_seen - 30 * MICROS  # as if the first had ended before: its time was virtual
        recording.put_cluster(type(cluster)("lab", cluster.address, "1.11.0", first - MICROS, first))
    again = typed(*words, "2m")
    assert again.status == 0
    assert "the recording continues after a gap of" in again.err
    with open_recording(tmp_path / "h.sqlite") as read:
        assert read.counts("lab").gaps == 1
        (gap,) = read.gaps("lab")
        assert gap.start == first
        frameworks = [one.id for one in read.frameworks("lab") if one.end is None]
        assert len(frameworks) == 3  # those of the first master have ended


def test_allocation_runs_are_recorded_to_the_end(recorded):
    (cluster,) = recorded.clusters()
    runs = list(recorded.runs("lab"))
    assert runs == sorted(set(runs))
    assert runs[0] >= cluster.first_seen
    # One a second, the interval of allocations, and more where an agent or a framework comes.
    assert {round((at - cluster.first_seen) / MICROS) for at in runs} >= set(range(1, 600))
    assert runs[-1] <= cluster.last_seen


@pytest.mark.parametrize("second", ["fake:cluster.toml", "fake:cluster.toml?advance=10m"])
def test_a_second_recording_goes_on_when_the_first_one_ended(typed, tmp_path, second):
    words = ("history", "record", "--history", "h.sqlite", "--duration", "10m", "--cluster-id", "lab")
    assert typed(*words, master="fake:cluster.toml").status == 0
    again = typed(*words, master=second)
    assert again.status == 0, again.err
    with open_recording(tmp_path / "h.sqlite") as recording:
        (cluster,) = recording.clusters()
    assert cluster.first_seen is not None
    assert cluster.last_seen == cluster.first_seen + (1800 if "advance" in second else 1200) * MICROS


def test_a_recording_of_several_clusters_says_how_to_choose_one(typed):
    for name in ("a b", "other"):
        words = ("history", "record", "--history", "h.sqlite", "--duration", "1m", "--cluster-id", name)
        assert typed(*words, master="fake:cluster.toml").status == 0
    ran = typed("usage", "--history", "h.sqlite")
    assert (ran.status, "--cluster-id 'a b' or --cluster-id other" in ran.err) == (2, True)


def test_a_replay_counts_the_gaps_of_a_recording(typed):
    words = ("history", "record", "--history", "h.sqlite", "--duration", "5m", "--cluster-id", "lab")
    assert typed(*words, master="fake:cluster.toml").status == 0
    assert typed(*words, master="fake:cluster.toml?advance=10m").status == 0
    assert "1 gap in the recording" in typed("replay", "h.sqlite").out


def test_a_virtual_time_that_overlaps_the_recording_is_refused(typed, tmp_path):
    words = ("history", "record", "--history", "h.sqlite", "--cluster-id", "lab", "--duration", "10m")
    assert typed(*words).status == 0
    before = typed("history", "export", "--history", "h.sqlite").out
    again = typed(*words)
    assert again.status == 6
    assert "begins before that" in again.err
    assert typed("history", "export", "--history", "h.sqlite").out == before
    other = ("history", "record", "--history", "h.sqlite", "--cluster-id", "other", "--duration", "1m")
    assert typed(*other).status == 0


def test_a_fake_master_needs_an_end(typed):
    ran = typed("history", "record", "--history", "h.sqlite")
    assert (ran.status, "--duration" in ran.err) == (2, True)


def test_a_recording_that_another_process_writes_is_refused(typed, tmp_path):
    with open_writer(tmp_path / "h.sqlite"):
        ran = typed("history", "record", "--history", "h.sqlite", "--duration", "1m")
    assert ran.status == 6
    assert "another process is writing" in ran.err


def test_old_rows_are_removed(typed, tmp_path):
    words = ("history", "record", "--history", "h.sqlite", "--cluster-id", "lab", "--duration")
    assert typed(*words, "10m").status == 0
    with open_writer(tmp_path / "h.sqlite") as writer, writer.transaction():
        (cluster,) = writer.clusters()
        writer.put_cluster(replace(cluster, last_seen=cluster.first_seen))  # its time was virtual
    assert typed(*words, "15m", "--keep", "1m").status == 0
    with open_recording(tmp_path / "h.sqlite") as recording:
        (cluster,) = recording.clusters()
        begins = cluster.first_seen or 0
        assert all(one.end is None or one.end >= begins for one in recording.tasks("lab"))


def test_usage_of_a_recording(typed):
    typed("history", "record", "--history", "h.sqlite", "--cluster-id", "lab", "--duration", "10m")
    ran = typed("usage", "--history", "h.sqlite", "-o", "json")
    rows = {one["role"]: one for one in json.loads(ran.out)["rows"]}
    assert rows["batch"]["hours"]["guaranteed"]["cpus"] == pytest.approx(10 / 6, abs=0.001)
    assert rows["batch"]["below_guarantee_seconds"] > 0


def test_a_master_that_never_answers_is_waited_for_until_the_time_is_over(tmp_path):
    def refuse(request):
        raise httpx.ConnectError("refused", request=request)

    clock = VirtualClock(1_000_000.0)
    environment = InMemory(
        variables={"HOME": str(tmp_path), "MESOSCTL_MASTER": "http://127.0.0.1:5050"},
        clock=clock,
        sleep=clock.sleep,
        transport=httpx.MockTransport(refuse),
    )
    words = ("history", "record", "--history", str(tmp_path / "h.sqlite"), "--duration", "5m", "--timeout", "1")
    assert main(words, environment) == 7
    assert environment.err.count("waiting until the master is back") == 1
    assert 300 <= clock() - 1_000_000 < 330
