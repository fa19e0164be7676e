"""`whatif --add-framework`: a framework that is not there yet, on a cluster as it is or on a snapshot of it."""

import json

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.replay.test_replay import recording


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*words, master=""):
        environment = InMemory(variables={"HOME": str(tmp_path), "MESOSCTL_MASTER": master})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


CLUSTER = """
mesos_version = "1.11"
[[agents]]
resources = "cpus:8;mem:32GiB"
count = 3
[[frameworks]]
name = "site"
role = "web"
task = "cpus:2;mem:1GiB"
tasks = 4
[[frameworks]]
name = "greedy"
role = "ads"
answer = "hold"
"""


def test_a_framework_is_added_to_a_cluster_as_it_is(typed, tmp_path):
    """Of 24 cpus, 8 are used by one that wants no more: four tasks of 4 start, and two more when these are done."""
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    words = ("whatif", "--add-framework", "role=db;task=cpus:4,mem:4GiB;tasks=6;lasts=10m")
    ran = typed(*words, "-o", "json", master="fake:c.toml")
    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    (added,) = answer["added_frameworks"]
    assert answer["from_snapshot"]
    assert (added["tasks"], added["started_at_once"], added["started"]) == (6, 4, 6)
    assert 600 <= added["last_start_seconds"] <= 610
    assert 1200 <= added["all_done_seconds"] <= 1220
    assert {one["name"] for one in answer["displaced"]} == {"greedy"}
    assert sum(one["amounts"]["cpus"] for one in answer["displaced"]) == 16
    typed("snapshot", "-f", "s.json", master="fake:c.toml")
    shown = typed(*words, "--from", "s.json")
    assert shown.out.startswith("YES: db: 4 of 6 tasks start at once, ")
    assert "the last starts after 10m" in shown.out.splitlines()[0]
    assert "greedy would be offered 16 cpus" in shown.out


def test_its_tasks_run_on_agents_that_are_added(typed, tmp_path):
    """A task of 30 cpus fits on the added agents alone; what it leaves of them is offered to others."""
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    more = ("--add-agent", "cpus:64;mem:64GiB", "--lose-agent", "agent-3")
    ran = typed("whatif", "--add-framework", "role=db;task=cpus:30;tasks=2", *more, "-o", "json", master="fake:c.toml")
    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["added_frameworks"][0]["started_at_once"] == 2
    assert sum(one["amounts"]["cpus"] for one in answer["displaced"]) == 60


def test_a_change_beside_an_added_framework_holds_for_it_too(typed, tmp_path):
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    words = ("whatif", "--add-framework", "role=db;task=cpus:4;tasks=6;lasts=10m", "limit:db=cpus:8", "-o", "json")
    (added,) = json.loads(typed(*words, master="fake:c.toml").out)["added_frameworks"]
    assert (added["started_at_once"], added["started"]) == (2, 6)


def test_a_snapshot_is_played_by_the_rule_of_a_recording(typed, tmp_path):
    """On agents on which nothing runs, both say the same."""
    recording(tmp_path, [("web", 3500, 1.0)])
    (tmp_path / "c.toml").write_text('mesos_version = "1.11"\n[[agents]]\nresources = "cpus:8;mem:8192"\n')
    words = ("whatif", "--add-framework", "role=db;task=cpus:3,mem:256;tasks=9;every=20s;lasts=2m", "-o", "json")
    played = json.loads(typed("replay", "h.sqlite", *words[1:]).out)["added_frameworks"]
    forecast = json.loads(typed(*words, master="fake:c.toml").out)["added_frameworks"]
    for name in ("tasks", "started_at_once", "started", "last_start_seconds", "all_done_seconds"):
        assert forecast[0][name] == pytest.approx(played[0][name], abs=1e-6), name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "c.toml"), "a cluster file says how frameworks will behave"),
        (("--each", "weight:db={1,2}"), "--each cannot be used with --add-framework"),
        (("--each", "weight:db={1,2}"), "mesosctl replay RECORDING takes both"),
        (("--find-largest", "quota:db=cpus:?"), "--find-largest cannot be used with --add-framework"),
        (("--recorded", "w.jsonl"), "--recorded cannot be used with --add-framework"),
        (("--before", "l.json"), "--before cannot be used with --add-framework"),
        (("--assume", "hold"), "--assume cannot be used with --add-framework"),
        (("failover:50%",), "mesosctl whatif failover:50% forecasts it alone"),
    ],
)
def test_words_that_do_not_go_with_an_added_framework(typed, tmp_path, words, said):
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    ran = typed(
        "whatif", "--add-framework", "role=db;task=cpus:1", *words, master="" if words[0] == "--from" else "fake:c.toml"
    )
    assert ran.status in (2, 3), ran.err
    assert said in ran.err


@pytest.mark.parametrize("words", [("--wait-limit", "5m"), ("--refuse", "1m")])
def test_options_of_tasks_that_are_played_need_some(typed, words):
    ran = typed("whatif", "quota:web=cpus:1", *words, master="fake:")
    assert ran.status == 2
    assert f"{words[0]} is for --add-framework" in ran.err
    assert f"mesosctl replay RECORDING {' '.join(words)}" in ran.err
