"""`acls check` in its formats, and with --as."""

import json

from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine

ANY = {"type": "ANY"}
GOOD = {
    "update_quotas": [
        {"principals": {"values": ["dev"]}, "roles": {"values": ["dev", "dev/%"]}},
        {"principals": {"type": "NONE"}, "roles": ANY},
    ],
    "drain_agents": [
        {"principals": {"values": ["ops"]}, "agents": ANY},
        {"principals": ANY, "agents": {"type": "NONE"}},
    ],
}
UNWISE = {"update_quotas": [{"principals": {"values": ["dev"]}, "roles": {"values": ["dev/*"]}}]}


def run(document: object, *words: str):
    return CommandLine(Lab()).run("acls", "check", "-", *words, stdin=json.dumps(document))


def test_a_good_file():
    ran = run(GOOD)
    assert ran.status == 0
    assert ran.out.startswith("standard input: a master would start with it, ")
    said = json.loads(run(GOOD, "-o", "json").out)
    assert (said["valid"], said["findings"], said["principal"], said["access"]) == (True, [], None, None)


def test_warnings_are_an_answer_with_strict():
    assert [run(UNWISE).status, run(UNWISE, "--strict").status, run(GOOD, "--strict").status] == [0, 1, 0]
    assert run(UNWISE, "-o", "name").out.splitlines() == ["update_quotas[0].roles", "update_quotas"]
    assert "2 warnings; a master would start with it" in run(UNWISE).out


def test_errors_stop_it_even_as_somebody():
    ran = run({"update_quota": [], "permissive": 1}, "--as", "dev", "-o", "json")
    said = json.loads(ran.out)
    assert (ran.status, said["valid"], said["access"]) == (3, False, None)
    assert [one["hint"] for one in said["findings"]] == ["did you mean update_quotas?", None]


def test_what_somebody_may_do():
    rows = [line.split(",") for line in run(GOOD, "--as", "dev", "-o", "csv").out.splitlines()]
    assert rows[0] == ["action", "may", "objects"]
    found = {row[0]: ",".join(row[1:-1]) for row in rows[1:]}
    assert found["update_quotas"] == '"dev, dev/%"'
    assert found["drain_agents"] == "none"
    assert found["update_weights"] == "all"
    names = run(GOOD, "--as", "dev", "-o", "name").out.splitlines()
    assert "update_quotas" in names
    assert "drain_agents" not in names
