"""`mesosctl offers` where roles are served by priority: a dry run, and reasons."""

import json
from typing import Any

import pytest

from mesosctl.__main__ import main
from tests import EXAMPLES
from tests.helpers.surroundings import InMemory, Ran

EXAMPLE = EXAMPLES / "priority.toml"
SERVED = """
mesos_version = "1.11"
[flags]
allocator = "strict-priority"
priorities = "prod=100,batch=1"
[[agents]]
resources = "cpus:4;mem:4GiB"
[[frameworks]]
name = "shop"
role = "prod"
task = "cpus:1;mem:1GiB"
[[frameworks]]
name = "reports"
role = "batch"
task = "cpus:1;mem:1GiB"
"""


@pytest.fixture
def run():
    """The command line, with the fake master behind `fake:` addresses."""

    def run_words(*words: str, **variables: str) -> Ran:
        environment = InMemory(variables=variables)
        status = main(words, environment)
        return Ran(status, environment.out, environment.err)

    return run_words


@pytest.fixture
def fake(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def write(text: str) -> dict[str, str]:
        file = tmp_path / "cluster.toml"
        file.write_text(text)
        return {"MESOSCTL_MASTER": f"fake:{file}"}

    return write


def explained(ran) -> dict[str, Any]:
    (explanation,) = ran.json["explanations"]
    return explanation


def test_a_dry_run_shows_who_was_revoked(run, tmp_path):
    picture = tmp_path / "shares.svg"
    ran = run("offers", "simulate", str(EXAMPLE), "--svg", str(picture))
    assert ran.status == 0
    assert "batch: 6 asked, 6 killed" in ran.out
    assert "revoked: batch: 6 asked, 6 killed" in picture.read_text()
    steps = [json.loads(line) for line in run("offers", "simulate", str(EXAMPLE), "-o", "jsonl").out.splitlines()]
    lost = [entry for step in steps for entry in step["revoked"]]
    assert {entry["wanted_by"] for entry in lost} == {"prod"}
    assert [entry["deed"] for entry in lost] == ["asked"] * 6 + ["killed"] * 6
    assert len({entry["id"] for entry in lost}) == 6
    assert run("offers", "simulate", str(EXAMPLE), "-o", "json").json["tasks"] == {"batch": 2, "prod": 3}


def test_without_preemption_the_late_one_waits(run, tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(EXAMPLE.read_text(encoding="utf-8").replace("preemption = true", "preemption = false"))
    ran = run("offers", "simulate", str(file), "-o", "json")
    assert ran.json["tasks"] == {"batch": 8, "prod": 0}
    assert ran.json["revoked_at_end"] == []


def test_an_equal_takes_nothing_from_an_equal(run, tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(EXAMPLE.read_text(encoding="utf-8").replace("prod=100,batch=1", "prod=1,batch=1"))
    assert run("offers", "simulate", str(file), "-o", "json").json["tasks"] == {"batch": 8, "prod": 0}


def test_explain_says_who_is_before_it_by_priority(run, fake):
    variables = fake(SERVED)
    assert explained(run("offers", "explain", "batch", "-o", "json", **variables))["ahead"] == ["prod"]
    assert explained(run("offers", "explain", "prod", "-o", "json", **variables))["ahead"] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("prod=100,batch=1", "prod=high", "a priority is a whole number"),
        ("strict-priority", "lottery", "use hierarchical, strict-priority or package.module:Class"),
        ("strict-priority", "hierarchical", "--priorities needs --allocator=strict-priority"),
    ],
)
def test_mistakes_in_a_cluster_file_are_told(run, fake, old, new, said):
    ran = run("offers", "list", **fake(SERVED.replace(old, new)))
    assert ran.status == 3
    assert said in ran.err
