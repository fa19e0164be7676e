"""Records of a registry and how long they last: the weights of the flag, and agents that are away."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

import fake_master
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from fake_master.state.flags import DEFAULTS, SHOWN_ONLY
from mesosctl import mesos
from tests.helpers.lab import AGENT, PINGS, CommandLine, Lab, Scheduler, lasting

DAY = 86400.0


def weights(lab: Lab) -> dict[str, float]:
    return {entry["role"]: entry["weight"] for entry in lab.read("/weights")}


def test_weights_of_the_flag_are_kept_by_an_empty_registry(tmp_path: Path) -> None:
    registry = partial(SqliteRegistry, tmp_path / "r.sqlite")
    first = Lab(registry=registry, takes_over=True, flags={"weights": "a=2,b=3"})
    assert weights(first) == {"a": 2.0, "b": 3.0}
    first.master.close()
    # The next leader has other flags, and a registry with weights.
    assert weights(Lab(registry=registry, takes_over=True, flags={"weights": "a=9"})) == {"a": 2.0, "b": 3.0}


def reconciled(framework: Scheduler, agent_id: str) -> str:
    framework.ask("RECONCILE", tasks=[{"task_id": {"value": "t"}, "agent_id": {"value": agent_id}}])
    return str(framework.heard("UPDATE")[-1]["status"]["state"])


def aware(lab: Lab) -> Scheduler:
    return Scheduler(lab, "PARTITION_AWARE")


@pytest.mark.parametrize(
    ("flags", "after"),
    [
        ({}, 15 * DAY),
        ({"registry_max_agent_age": "1hrs"}, 2 * 3600.0),
        ({"registry_max_agent_count": "0", "registry_gc_interval": "5mins"}, 400.0),
    ],
)
def test_an_agent_that_has_been_away_for_long_is_forgotten(tmp_path: Path, flags: dict[str, str], after: float) -> None:
    with lasting(tmp_path, AgentSpec(AGENT, absence=Absence(30)), AGENT, flags=flags) as lab:
        lost, gone = [agent["id"] for agent in lab.agents]
        framework = aware(lab)
        lab.wait(30)
        lab.wait(PINGS)
        lab.about("MARK_AGENT_GONE", gone)
        assert [reconciled(framework, agent) for agent in (lost, gone)] == ["TASK_UNREACHABLE", "TASK_GONE_BY_OPERATOR"]
        lab.wait(after)
        assert {reconciled(framework, agent) for agent in (lost, gone)} == {"TASK_UNKNOWN"}
        assert lab.read("/state")["unreachable_slaves"] == 0.0
        lab.restart()
        assert reconciled(aware(lab), lost) == "TASK_UNKNOWN"


def test_an_agent_that_was_forgotten_may_come_back(tmp_path: Path) -> None:
    flags = {"registry_max_agent_age": "1hrs"}
    with lasting(tmp_path, AgentSpec(AGENT, absence=Absence(30, 3 * 3600.0)), flags=flags) as lab:
        (agent,) = lab.agents
        lab.wait(30)
        lab.wait(PINGS)
        framework = aware(lab)
        lab.wait(2 * 3600.0)
        assert reconciled(framework, agent["id"]) == "TASK_UNKNOWN"
        lab.wait(2 * 3600.0)
        assert [back["hostname"] for back in lab.agents] == [agent["hostname"]]


def test_every_flag_is_read_somewhere_or_listed_as_shown_only() -> None:
    folders = [Path(str(module.__file__)).parent for module in (fake_master, mesos)]
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")]
    tables = re.compile(r"^(?:DEFAULTS|SHOWN_ONLY)\b.*?^[})]", re.DOTALL | re.MULTILINE)
    read = "".join(tables.sub("", text) for text in texts)
    assert {name for name in DEFAULTS if f'"{name}"' not in read} <= SHOWN_ONLY
    assert DEFAULTS.keys() >= SHOWN_ONLY


def test_an_infinite_weight_is_read_back_everywhere(tmp_path: Path) -> None:
    with lasting(tmp_path, flags={"weights": "a=2"}) as lab:
        assert lab.request("PUT", "/weights", [{"role": "c", "weight": "Infinity"}]).status == 200
        for other in ("inf", "infinity", "NaN", "Infinity ", "-Infinity"):
            assert lab.request("PUT", "/weights", [{"role": "x", "weight": other}]).status == 400
        lab.restart()
        assert lab.read("/weights") == [{"role": "a", "weight": 2.0}, {"role": "c", "weight": "Infinity"}]
        typed = CommandLine(lab)
        for words in (
            ["weights", "list"],
            ["roles"],
            ["snapshot"],
            ["export"],
            ["export", "--cluster"],
            ["top", "--once"],
        ):
            assert typed.run(*words).status == 0, words
        assert json.loads(typed.run("weights", "list", "-o", "json").out)["weights"][1]["weight"] == "Infinity"
        assert "Infinity" in typed.run("weights", "list").out
        exported = typed.run("export").out
        assert 'c = "Infinity"' in exported
        (tmp_path / "wanted.toml").write_text(exported, encoding="utf-8")
        assert typed.run("diff", "-f", str(tmp_path / "wanted.toml")).status == 0
        (tmp_path / "snapshot.json").write_text(typed.run("snapshot").out, encoding="utf-8")
        assert typed.run("snapshot", "--compare", str(tmp_path / "snapshot.json")).status == 0
