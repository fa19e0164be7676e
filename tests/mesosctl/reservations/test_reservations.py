"""`mesosctl reservations` and `mesosctl volumes list`: what is shown."""

import re

import pytest

from tests.helpers.screen import visible


@pytest.fixture
def busy(lab):
    for words in (
        ["reserve", "one", "cpus:4", "mem:512", "--role", "eng", "--label", "k=v", "--reserver", "me"],
        ["reserve", "one", "cpus:1", "--role", "eng/db", "--under", "eng"],
        ["reserve", "three", "disk:50", "--role", "eng/db"],
        ["volumes", "create", "three", "v1", "disk:20", "--role", "eng/db"],
    ):
        assert lab.run(*words).status == 0
    return lab


def test_lists_static_and_dynamic_apart(busy):
    entries = busy.run("reservations", "-o", "json").json["reservations"]
    told = [(e["agent"]["hostname"], e["role"], e["dynamic"], e["resources"]["text"], len(e["stack"])) for e in entries]
    assert told == [
        ("one", "eng", True, "cpus:3;mem:512", 1),
        ("one", "eng/db", True, "cpus:1", 2),
        ("three", "eng/db", True, "disk:30", 1),
        ("three", "eng/db", True, "disk:20", 1),
        ("two", "ads", False, "cpus:8;mem:4096", 1),
    ]
    assert entries[0]["stack"][0]["labels"] == [{"key": "k", "value": "v"}]
    assert entries[3]["volume"] == {"id": "v1", "container_path": "data", "principal": None}


def test_a_role_shows_its_branch_and_an_agent_its_own(busy):
    assert busy.run("reservations", "--role", "eng", "-o", "name").out.split() == [
        busy.agent("one").id,
        busy.agent("three").id,
    ]
    assert len(busy.run("reservations", "--agent", "two", "-o", "jsonl").out.splitlines()) == 1
    assert busy.run("reservations", "--agent", "nobody").status == 5


def test_the_table_is_for_people(busy):
    lines = busy.run("reservations", "--agent", "one").out.splitlines()
    assert lines[0].split() == ["AGENT", "ROLE", "TYPE", "RESOURCES", "ALLOCATED", "STACK", "PRINCIPAL", "LABELS"]
    assert [cell.strip() for cell in re.split("  +", lines[1])] == [
        "one", "eng", "dynamic", "3 cpus and 512MiB mem", "-", "eng", "me", "k=v"
    ]  # fmt: skip
    assert "eng > eng/db" in lines[2]


def test_a_pipe_shows_volumes_too(busy):
    lines = busy.run("reservations", "--agent", "three").out.splitlines()
    assert lines[0].split()[-1] == "VOLUME"
    assert [line.split()[-1] for line in lines[1:]] == ["-", "v1"]
    assert "VOLUME" not in busy.run("reservations", "--agent", "two").out
    assert busy.run("reservations", "--agent", "one", "-o", "csv").out.splitlines()[0].split(",")[8] == "volume"


def test_the_mark_of_a_static_reservation_is_explained_where_it_is_shown(lab):
    shown = lab.run("reservations", terminal=True, COLUMNS="200", NO_COLOR="1").out
    assert "!" not in shown, "a stack is shown if one has several levels"
    assert lab.run("reserve", "two", "cpus:1", "--role", "ads/x", "--under", "ads").status == 0
    shown = lab.run("reservations", terminal=True, COLUMNS="200", NO_COLOR="1").out
    assert "ads! > ads/x" in shown
    assert shown.splitlines()[-1].startswith("! in STACK: static")


def test_the_direction_of_a_stack_is_said_where_one_is_shown(busy):
    shown = busy.run("reservations", terminal=True, COLUMNS="200", NO_COLOR="1").out
    assert "eng > eng/db" in shown
    assert "\nSTACK: the role on the left reserved first" in shown
    assert "STACK:" not in busy.run("reservations").out, "a script gets the table alone"


def test_the_tree_sums_what_lies_below(busy):
    roles = {entry["role"]: entry for entry in busy.run("reservations", "--tree", "-o", "json").json["roles"]}
    assert list(roles) == ["ads", "eng", "eng/db"]
    assert roles["eng"]["dynamic"] == {"cpus": 3.0, "mem": 512.0}
    assert roles["eng"]["total"] == {"cpus": 4.0, "disk": 50.0, "mem": 512.0}
    assert (roles["eng"]["agents"], roles["ads"]["static"]["cpus"]) == (2, 8.0)


def test_volumes(busy):
    assert busy.run("volumes", "list", "-o", "name").out == "v1\n"
    assert busy.run("volumes", "list", "--role", "ads", "-o", "json").json["volumes"] == []
    assert busy.run("volumes", "create", "three", "v1", "disk:20", "--role", "eng/db").status == 3
    assert busy.run("volumes", "create", "three", "v2", "cpus:1", "--role", "eng/db").status == 2
    assert busy.run("volumes", "create", "three", "v2", "disk:40", "--role", "eng/db").status == 6
    assert busy.run("volumes", "destroy", "three", "v2", "--yes").status == 5
    assert busy.run("volumes", "destroy", "three", "v1").status == 2
    assert busy.run("volumes", "list", "-o", "name").out == "v1\n"


def test_waits_for_what_was_not_waited_for(lab):
    lab.agent("one").faults.delay = 3.0
    assert lab.run("reserve", "one", "cpus:4", "--role", "ads", "--no-wait").status == 0
    assert lab.run("wait", "reserved/one/ads=cpus:4", "--trust-master").status == 0
    late = lab.run("wait", "reserved/one/ads=cpus:4", "--timeout", "2")
    assert late.status == 9
    assert "not yet reserved/one/ads=cpus:4: the agent shows nothing" in late.err
    ran = lab.run("wait", "reserved/one/ads=cpus:4", "-o", "json")
    assert (ran.status, ran.json["conditions"][0]["shows"]) == (0, "4 cpus")
    assert lab.run("wait", "reserved/one/ads=cpus:3", "--timeout", "1").status == 9  # exactly
    assert lab.run("unreserve", "one", "--role", "ads", "--all", "--yes", "--no-wait").status == 0
    assert lab.run("wait", "--for", "reserved/one/ads=none").status == 0


def test_progress_of_the_reading_is_for_terminals(busy):
    assert busy.run("reservations", "-o", "csv").err == ""
    err = busy.run("reservations", "-o", "csv", terminal=True).err
    assert "reading the agents: 0.0 MiB" in err
    assert visible(err) == []
