"""`mesosctl unreserve`: what is meant is found on the agent, and everything is asked for first."""

import json
from urllib.parse import urlencode

import pytest

from fake_master.http.request_response import Request
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine


@pytest.fixture
def reserved(lab):
    """Two owners of one role on one agent, told apart by principal and label; a third on another agent."""
    for agent, words in (
        ("one", ["cpus:4", "mem:512", "--reserver", "me"]),
        ("one", ["ports:[31000-31009]", "--label", "k=v"]),
        ("two", ["cpus:1"]),
    ):
        assert lab.run("reserve", agent, *words, "--role", "web").status == 0
    lab.asked.clear()
    return lab


def test_a_part_goes_back_and_the_principal_is_found(reserved):
    assert reserved.run("unreserve", "one", "cpus:3", "--role", "web").status == 0
    assert "cpus(reservations: [(DYNAMIC,web,me)]):1" in reserved.reserved("one")


def test_ranges_can_go_back_in_pieces(reserved):
    assert reserved.run("unreserve", "one", "ports:[31002-31003]", "--role", "web").status == 0
    assert "[31000-31001, 31004-31009]" in reserved.reserved("one")


def test_a_refined_reservation_falls_back_to_its_owner_below(reserved):
    reserved.run("reserve", "one", "cpus:1", "--role", "web/x", "--under", "web")
    assert reserved.run("unreserve", "one", "cpus:1", "--role", "web/x").status == 0
    assert "cpus(reservations: [(DYNAMIC,web,me)]):4" in reserved.reserved("one")


@pytest.mark.parametrize("words", [["one", "cpus:1"], ["one", "--all", "--yes"]], ids=["some", "all"])
def test_what_falls_back_is_said_to_be_reserved_again(reserved, words):
    reserved.run("reserve", "one", "cpus:1", "--role", "web/x", "--under", "web")
    planned = reserved.run("unreserve", *words, "--role", "web/x", "--dry-run")
    ran = reserved.run("unreserve", *words, "--role", "web/x")
    assert ran.status == 0, ran.err
    assert "reserved for 'web' again: 1 cpu" in ran.err
    assert "again" not in planned.err
    assert "again" not in reserved.run("unreserve", "one", "cpus:1", "--role", "web").err


def test_does_not_guess_whose_it_is(reserved):
    reserved.run("reserve", "one", "cpus:4", "--role", "web", "--reserver", "you")
    assert reserved.run("unreserve", "one", "cpus:1", "--role", "web").status == 2
    assert reserved.run("unreserve", "one", "cpus:1", "--role", "web", "--reserver", "you").status == 0


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (2, ["unreserve"]),
        (2, ["unreserve", "one", "--role", "web"]),
        (2, ["unreserve", "one", "cpus:1", "--role", "web", "--all"]),
        (2, ["unreserve", "--role", "web", "--all"]),
        (3, ["unreserve", "one", "cpus:0", "--role", "web"]),
        (5, ["unreserve", "one", "cpus:1", "--role", "nobody"]),
        (5, ["unreserve", "two", "cpus:1", "--role", "ads"]),
        (5, ["unreserve", "three", "--role", "web", "--all", "--yes"]),
        (6, ["unreserve", "one", "cpus:5", "--role", "web"]),
    ],
)
def test_what_is_wrong_is_never_sent(reserved, status, words):
    ran = reserved.run(*words)
    assert ran.status == status, ran.err
    assert reserved.changes == []


def test_all_of_a_role_everywhere(reserved):
    ran = reserved.run("unreserve", "--role", "web", "--all", "--yes")
    assert ran.status == 0
    assert (reserved.reserved("one"), reserved.reserved("two")) == ("{}", "{}")


def test_what_is_not_done_yet_is_not_called_done(reserved):
    for terminal in (False, True):
        ran = reserved.run("unreserve", "one", "--role", "web", "--all", terminal=terminal, stdin="n\n")
        assert ran.status == 2
        rows = [line.split() for line in ran.err.splitlines() if line.startswith("one")]
        assert rows
        assert {row[1] for row in rows} == {"-"}


def test_a_message_that_is_lost_on_the_way_to_the_agent_is_told(reserved):
    reserved.agent("two").faults.loses = 1
    ran = reserved.run("unreserve", "two", "cpus:1", "--role", "web")
    assert ran.status == 9
    assert "the agent" in ran.err
    assert reserved.reserved("two") == "{}"


def test_all_on_one_agent_is_shown_and_asked_for(reserved):
    ran = reserved.run("unreserve", "one", "--role", "web", "--all", terminal=True, stdin="n\n")
    assert ran.status == 2
    assert "31000-31009" in ran.err
    assert "[y/N]" in ran.err
    assert reserved.changes == []
    assert reserved.run("unreserve", "one", "--role", "web", "--all", terminal=True, stdin="y\n").status == 0
    assert reserved.reserved("two") != "{}"


def test_a_volume_is_in_the_way_until_it_is_destroyed(reserved):
    reserved.run("reserve", "one", "disk:100", "--role", "web")
    assert reserved.run("volumes", "create", "one", "v1", "disk:10", "--role", "web").status == 0
    assert reserved.run("unreserve", "one", "--role", "web", "--all", "--yes").status == 6
    assert reserved.run("unreserve", "one", "disk:100", "--role", "web").status == 6
    assert reserved.run("volumes", "destroy", "one", "v1", "--yes").status == 0
    assert reserved.run("unreserve", "one", "--role", "web", "--all", "--yes").status == 0


def test_takes_the_documented_json(reserved):
    entry = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "role": "web", "reservation": {}}
    assert reserved.run("unreserve", "two", "-f", "-", stdin=json.dumps([entry])).status == 0
    assert reserved.reserved("two") == "{}"


@pytest.mark.parametrize("command", ["reserve", "unreserve"])
@pytest.mark.parametrize(
    "words",
    [
        ["cpus:1"],
        ["--role", "web"],
        ["--under", "web"],
        ["--label", "k=v"],
        ["--reserver", "me"],
    ],
)
def test_beside_a_file_nothing_is_read_and_then_ignored(reserved, tmp_path, command, words):
    file = tmp_path / "some.json"
    file.write_text("[]", encoding="utf-8")
    ran = reserved.run(command, "one", "-f", str(file), *words)
    assert ran.status == 2
    assert "with --file, give only AGENT" in ran.err
    assert reserved.changes == []


def test_a_source_in_the_file_is_refused_not_dropped(reserved, tmp_path):
    cpus = {
        "name": "cpus",
        "type": "SCALAR",
        "scalar": {"value": 1},
        "reservations": [{"type": "DYNAMIC", "role": "web", "principal": "me"}],
    }
    file = tmp_path / "some.json"
    file.write_text(json.dumps({"resources": [cpus], "source": [cpus]}), encoding="utf-8")
    ran = reserved.run("unreserve", "one", "-f", str(file))
    assert ran.status == 3
    assert "'source'" in ran.err
    assert reserved.changes == []


def test_destroying_looks_first_and_asks_with_what_it_found(reserved):
    reserved.run("reserve", "one", "disk:100", "--role", "web")
    reserved.run("volumes", "create", "one", "v1", "disk:10", "--role", "web")
    missing = reserved.run("volumes", "destroy", "one", "v9")
    assert (missing.status, "has no volume 'v9'" in missing.err) == (5, True)
    ran = reserved.run("volumes", "destroy", "one", "v1", terminal=True, stdin="n\n")
    assert ran.status == 2
    assert "Destroy volume 'v1' of 'web' on one, 10MiB disk, " in ran.err
    assert "[y/N]" in ran.err
    assert "POST /destroy-volumes" not in reserved.changes


def test_disk_under_a_volume_is_refused_with_the_volumes_name():
    lab = Lab("cpus:4;mem:2048;disk:1000")
    line = CommandLine(lab)
    assert line.run("reserve", "agent-1", "disk:500", "--role", "db").status == 0
    assert line.run("volumes", "create", "agent-1", "v1", "disk:500", "--role", "db").status == 0
    ran = line.run("unreserve", "agent-1", "disk:100", "--role", "db", "--yes")
    assert ran.status == 6
    assert "outside its volumes, v1 (500MiB disk)" in ran.err
    assert "volumes destroy agent-1 v1 --role db" in ran.err


def test_the_master_names_the_volume_too():
    lab = Lab("cpus:4;mem:2048;disk:1000")
    line = CommandLine(lab)
    line.run("reserve", "agent-1", "disk:500", "--role", "db")
    line.run("volumes", "create", "agent-1", "v1", "disk:200", "--role", "db")
    (agent,) = lab.agents
    (reserved,) = [one for one in agent["reserved_resources_full"]["db"] if one["scalar"]["value"] == 300.0]
    reserved["scalar"]["value"] = 400.0
    form = {"slaveId": agent["id"], "resources": json.dumps([reserved])}
    answer = lab.application.handle(
        Request("POST", "/unreserve", {"content-type": "application/x-www-form-urlencoded"}, urlencode(form).encode())
    )
    assert answer.status == 409
    assert b"it is part of volumes: v1" in answer.body


def test_the_master_names_volumes_of_the_same_stack_alone():
    lab = Lab("cpus:4;mem:2048;disk:1000")
    (agent,) = lab.agents
    below = [{"type": "DYNAMIC", "role": "db"}]
    refined = [*below, {"type": "DYNAMIC", "role": "db/x"}]

    def call(kind, field, amount, stack, **more):
        entry = {"name": "disk", "type": "SCALAR", "scalar": {"value": amount}, "reservations": stack, **more}
        body = {"agent_id": {"value": agent["id"]}, field: [entry]}
        return lab.request("POST", "/api/v1", {"type": kind, kind.lower(): body})

    for amount, stack in ((500, below), (300, refined)):
        assert call("RESERVE_RESOURCES", "resources", amount, stack).status == 202
    for name, amount, stack in (("v0", 100, below), ("v1", 200, refined)):
        disk = {"persistence": {"id": name}, "volume": {"mode": "RW", "container_path": "p"}}
        assert call("CREATE_VOLUMES", "volumes", amount, stack, disk=disk).status == 202
    answer = call("UNRESERVE_RESOURCES", "resources", 150, refined)
    assert answer.status == 409
    assert answer.body.endswith(b"it is part of volumes: v1")


def test_a_reservation_with_other_labels_is_not_said_to_be_missing(lab):
    lab.run("reserve", "one", "cpus:1", "--role", "eng", "--label", "k=v", "--reserver", "me")
    ran = lab.run("unreserve", "one", "cpus:1", "--role", "eng", "--label", "k=w", "--reserver", "me")
    assert ran.status == 5
    assert "does not have 1 cpu dynamically reserved for 'eng' " in ran.err
    assert "hint: agent one has 1 cpu dynamically reserved for 'eng'" in ran.err
