"""Reservations towards a guarantee, in lists and in the room for tasks: as each master counts them, shown or not."""

import pytest

from tests.helpers.lab import CommandLine, Lab

COUNTING = [("documents", set(), (8, 4)), ("1.4", {"web"}, (4, 4)), ("1.8", {"web", "team"}, (4, 0))]
COUNTING += [("1.11", {"web", "team"}, (4, 0))]
"""The roles of which what is reserved, for itself or below, counts; and the tasks of one cpu that each guarantee holds.

What is reserved below a role holds none of its tasks: its frameworks are not offered it.
"""


@pytest.mark.parametrize(("version", "counting", "rooms"), COUNTING)
def test_reservations_meet_a_guarantee_where_they_count(version: str, counting: set[str], rooms: tuple[int, int]):
    shell = CommandLine(Lab("cpus:8;mem:2048;cpus(web):4;cpus(team/x):4", version=version))
    for role in ("web", "team"):
        assert shell.run("quota", "set", role, "cpus:4", "--force").status == 0
    quotas = {quota["role"]: quota for quota in shell.run("quota", "list", "-o", "json").json["quotas"]}
    assert {role for role, quota in quotas.items() if quota["guarantee_state"] == "met"} == counting
    assert [quotas[role]["usage"]["reserved"] for role in ("web", "team")] == [{"cpus": 4}, {"cpus": 4}]
    found = [shell.run("quota", "room", role, "--task", "cpus:1", "-o", "json").json for role in ("web", "team")]
    assert tuple(room["tasks"]["now"] for room in found) == rooms
