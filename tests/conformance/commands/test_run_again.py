"""Commands that can be run again, the room for tasks, and the audit, on every carrier."""

from typing import Any

from tests.conformance.callers.joining import quick
from tests.conformance.commands.conftest import Run
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:8;mem:4096;disk:1000", "cpus:8;mem:4096;disk:1000")


def audited(run: Run, *words: str) -> list[tuple[str, int | None]]:
    """The commands that have sent something, and how they ended."""
    found = run("audit", "list", *words, "-o", "json").json["commands"]
    return [(one["command"], one["status"]) for one in found]


def reserved(run: Run, role: str) -> list[dict[str, Any]]:
    parts = run("reservations", "--role", role, "-o", "json").json["reservations"]
    return [part["resources"]["amounts"] for part in parts]


def test_a_quota_that_is_set_again_is_sent_only_if_it_differs(master: Cluster, run: Run) -> None:
    first, second = "quota set web cpus:2 --if-different --yes", "quota set web cpus:3 --if-different --yes"
    for words in (first, first, second, second):
        run(*words.split())
        (shown,) = run("quota", "list", "-o", "json").json["quotas"]
        assert shown["guarantee"] == {"cpus": float(words.split()[3].removeprefix("cpus:"))}
    assert audited(run) == [(first, 0), (second, 0)]


def test_a_reservation_of_at_least_so_much_is_completed(master: Cluster, run: Run) -> None:
    one = master.agents()[0]["id"]
    for amount, there, sent in ((2, 2, 1), (2, 2, 1), (3, 3, 2), (1, 3, 2)):
        run("reserve", one, f"cpus:{amount}", "--role", "dept", "--at-least", "--yes")
        assert reserved(run, "dept") == [{"cpus": float(there)}]
        assert len(audited(run, "reserve")) == sent


def test_the_room_for_tasks_is_what_the_agents_hold(master: Cluster, run: Run) -> None:
    def room() -> tuple[int, int, int]:
        found = run("quota", "room", "web", "--task", "cpus:5,mem:512", "-o", "json").json["tasks"]
        return found["by_amounts"], found["now"], found["agents"]

    run("quota", "set", "web", "cpus:15;mem:4096")
    assert room() == (3, 2, 2)
    run("reserve", master.agents()[1]["id"], "cpus:6", "--role", "dept", "--yes")
    assert room() == (3, 1, 1)


def test_the_audit_has_what_was_sent_and_how_it_ended(master: Cluster, run: Run) -> None:
    run("quota", "set", "web", "cpus:2")
    run("quota", "set", "web", "cpus:2", gives=3)
    run("quota", "set", "much", "cpus:1000", gives=6)
    run("quota", "remove", "web", "--dry-run")
    run("quota", "remove", "web")
    assert audited(run) == [("quota set web cpus:2", 0), ("quota remove web", 0)]
    assert audited(run, "--failed") == []
    assert audited(run, "--on", master.address, "remove") == [("quota remove web", 0)]
    first = run("audit", "list", "set", "-o", "json").json["commands"][0]
    assert first["requests"]
    assert first["answer"]["changes"][0]["before"] is None
