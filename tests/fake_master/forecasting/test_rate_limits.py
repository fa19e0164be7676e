"""Forecasts of rate limits, against recorded traffic."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fake_master.sources.cluster_file import read_cluster
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine
from tests.helpers.surroundings import Ran

CLUSTER = """
mesos_version = "1.11"
[rate_limits]
limits = [{principal = "batch", qps = 10, capacity = 50}]
[[agents]]
hostname = "n0"
resources = "cpus:4;mem:2048"
"""
TODAY = {"limits": [{"principal": "batch", "qps": 10, "capacity": 50}]}
# The first message is processed at once, two wait, and the other two find no room.
TIGHT = {"limits": [{"principal": "batch", "qps": 1, "capacity": 2}]}
GENEROUS = {"limits": [{"principal": "batch", "qps": 100, "capacity": 1000}]}
BROKEN = {"limits": [{"principal": "batch", "qps": -1}]}
FIVE_IN_A_SECOND = [{"at": 0, "principal": "batch", "received": 0}, {"at": 1, "principal": "batch", "received": 5}]

Whatif = Callable[..., Ran]


@pytest.fixture
def whatif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Whatif:
    """`whatif` with these arguments, of a live master that runs with TODAY."""
    monkeypatch.chdir(tmp_path)
    for name, limits in {"tight": TIGHT, "generous": GENEROUS, "today": TODAY, "broken": BROKEN}.items():
        Path(f"{name}.json").write_text(json.dumps(limits))
    Path("five.jsonl").write_text("".join(json.dumps(reading) + "\n" for reading in FIVE_IN_A_SECOND))
    Path("cluster.toml").write_text(CLUSTER)
    lab = Lab()
    lab.start(read_cluster(CLUSTER, "cluster.toml"), takes_over=False)
    lab.wait(2)
    line = CommandLine(lab)
    return lambda *words: line.run("whatif", *words)


def forecast(ran: Ran, status: int) -> dict[str, Any]:
    assert ran.status == status, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


WITH_TRAFFIC = ("--recorded", "five.jsonl", "-o", "json")


def test_tighter_limits_than_the_masters_are_harm(whatif: Whatif):
    said = forecast(whatif("ratelimits:tight.json", *WITH_TRAFFIC), 1)
    (batch,), (today,) = said["traffic"]["principals"], said["traffic"]["before"]
    assert (batch["principal"], batch["sent"], batch["processed"], batch["refused"]) == ("batch", 5, 3, 2)
    assert batch["first_refused"] == pytest.approx(0.6)
    assert (today["sent"], today["refused"]) == (5, 0)
    assert (said["accepted"], said["harmless"]) == (True, False)


def test_wider_limits_are_none(whatif: Whatif):
    said = forecast(whatif("ratelimits:generous.json", *WITH_TRAFFIC), 0)
    assert [one["refused"] for one in said["traffic"]["principals"]] == [0]
    assert said["changes"] == ["ratelimits:generous.json"]


def test_what_is_refused_today_already_is_no_harm_of_the_change(whatif: Whatif):
    said = forecast(whatif("ratelimits:tight.json", "--before", "tight.json", *WITH_TRAFFIC), 0)
    assert said["traffic"]["before"] == said["traffic"]["principals"]


def test_a_cluster_file_has_the_limits_of_today(whatif: Whatif):
    said = forecast(whatif("--from", "cluster.toml", "ratelimits:tight.json", *WITH_TRAFFIC), 1)
    assert [one["refused"] for one in said["traffic"]["before"]] == [0]


def test_a_snapshot_has_none_and_says_so(whatif: Whatif, tmp_path: Path):
    lab = Lab()
    lab.start(read_cluster(CLUSTER, "cluster.toml"), takes_over=False)
    CommandLine(lab).run("snapshot", "-f", "snapshot.json")
    ran = whatif("--from", "snapshot.json", "ratelimits:tight.json", "--recorded", "five.jsonl", "-o", "json")
    assert forecast(ran, 1)["traffic"]["before"] == []
    assert "--before FILE" in ran.err
    said = forecast(
        whatif("--from", "snapshot.json", "ratelimits:tight.json", "--before", "today.json", *WITH_TRAFFIC), 1
    )
    assert [one["refused"] for one in said["traffic"]["before"]] == [0]


def test_it_agrees_with_the_simulation(whatif: Whatif):
    said = forecast(whatif("ratelimits:tight.json", *WITH_TRAFFIC), 1)["traffic"]
    words = ("simulate", "tight.json", "--before", "today.json", "--recorded", "five.jsonl", "-o", "json")
    simulated = json.loads(CommandLine(Lab()).run("ratelimit", *words).out)
    assert said == {"principals": simulated["principals"], "before": simulated["before"]}


def test_a_person_reads_the_table_of_the_simulation_and_the_verdict(whatif: Whatif, tmp_path: Path):
    out = whatif("ratelimits:tight.json", "--recorded", "five.jsonl", "--report", "page.html").out
    assert "REFUSED BEFORE" in out
    (verdict,) = (line for line in out.splitlines() if line.startswith("NO: "))
    assert all(fact in verdict for fact in ("2 messages", "principal batch", "(none before)")), verdict
    page = (tmp_path / "page.html").read_text()
    assert "2 messages of principal batch would be refused" in page
    assert "<h2>Recorded messages</h2>" in page


def test_other_changes_of_the_master_are_made_too(whatif: Whatif):
    words = ("quota:web=cpus:1", "ratelimits:generous.json", "lending:on", "weight:web=2")
    said = forecast(whatif(*words, *WITH_TRAFFIC), 0)
    assert [answer["change"] for answer in said["answers"]] == ["quota:web=cpus:1", "weight:web=2"]
    assert said["traffic"]["principals"][0]["refused"] == 0


def test_the_last_limits_count_and_are_compared_with_those_of_today(whatif: Whatif):
    said = forecast(whatif("ratelimits:generous.json", "ratelimits:tight.json", *WITH_TRAFFIC), 1)["traffic"]
    assert [said[when][0]["refused"] for when in ("before", "principals")] == [0, 2]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("ratelimits:tight.json",), 2, "a change of rate limits needs recorded traffic"),
        (("quota:web=cpus:1", "--recorded", "five.jsonl"), 2, "--recorded applies to rate limits"),
        (("quota:web=cpus:1", "--before", "today.json"), 2, "--before applies to rate limits"),
        (("ratelimits:none.json", "--recorded", "five.jsonl"), 3, "none.json cannot be read"),
        (("ratelimits:broken.json", "--recorded", "five.jsonl"), 3, "qps"),
        (("ratelimits:tight.json", "--recorded", "today.json"), 3, "line 1, is not a reading"),
        (("ratelimits:-", "--recorded", "-"), 2, "standard input can be only one of the files"),
        (("ratelimits:-", "--recorded", "five.jsonl", "--from", "-"), 2, "standard input can be only one of the files"),
        (
            ("--lose-agent", "n0", "ratelimits:tight.json", "--recorded", "five.jsonl"),
            2,
            "cannot follow one that adds or loses",
        ),
        (("ratelimits:", "--recorded", "five.jsonl"), 2, "not a change"),
    ],
)
def test_what_cannot_be_is_said(whatif: Whatif, words: tuple[str, ...], status: int, message: str):
    ran = whatif(*words)
    assert ran.status == status
    assert message in ran.err
    assert ran.out == ""
