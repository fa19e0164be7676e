"""`plan --save`, `apply --plan` and `cleanup` on every carrier."""

import json
from pathlib import Path

from tests.conformance.callers.joining import quick
from tests.conformance.commands.conftest import Run
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:8;mem:4096;disk:1000", "cpus:8;mem:4096;disk:1000")


def wanted(master: Cluster) -> str:
    one, two = (agent["id"] for agent in master.agents())
    return f"""
    [quotas.web]
    guarantee = "cpus:2"
    [[reservations]]
    agent = "{one}"
    role = "dept"
    resources = "cpus:2;disk:200"
    [[reservations]]
    agent = "{one}"
    role = "dept/team"
    under = ["dept"]
    resources = "cpus:1"
    [[reservations]]
    agent = "{two}"
    role = "dept"
    resources = "mem:256"
    """


def test_a_saved_plan_is_made_as_it_was_or_not_at_all(master: Cluster, run: Run, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(run("plan", "-f", "-", "-o", "json", stdin=wanted(master)).out, encoding="utf-8")
    checksum = json.loads(plan.read_text(encoding="utf-8"))["checksum"]
    run("quota", "set", "moved", "cpus:1")
    assert "quota of moved is cpus:1" in run("apply", "--plan", str(plan), "--yes", gives=6).err
    run("quota", "remove", "moved")
    made = run("apply", "--plan", str(plan), "--checksum", checksum, "--yes", "-o", "json").json
    assert (made["checksum"], made["applied"], len(made["steps"])) == (checksum, True, 4)
    run("diff", "-f", "-", stdin=wanted(master))
    assert "already done" in run("apply", "--plan", str(plan), "--yes").err


def test_a_cleanup_leaves_nothing_behind(master: Cluster, run: Run) -> None:
    run("apply", "-f", "-", "--yes", stdin=wanted(master))
    one = master.agents()[0]["id"]
    run("volumes", "create", one, "v1", "disk:100", "--role", "dept")
    made = run("cleanup", "--role", "dept", "--yes", "-o", "json").json
    by_agent: dict[str, list[str]] = {}  # a real master has its agents in any order
    for step in made["steps"]:
        by_agent.setdefault(step["of"].split()[-1], []).append(step["step"].split()[0])
    assert sorted(by_agent.values()) == [["destroy", "unreserve", "unreserve"], ["unreserve"]]
    assert run("reservations", "--role", "dept", "-o", "json").json["reservations"] == []
    assert run("cleanup", "--role", "dept", "--yes", "-o", "json").json["steps"] == []
