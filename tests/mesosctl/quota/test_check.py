"""`mesosctl quota check`."""

import json

import httpx
import pytest

from tests.helpers.lab import CommandLine, Lab
from tests.mesosctl.program.mistakes.mistake import typed


def findings(ran):
    return {finding["rule"]: finding["passed"] for finding in ran.json["findings"]}


def test_everything_passes_and_the_room_is_told(run, cluster, entries):
    cluster.quotas["ops"] = entries(cpus=4)
    ran = run("quota", "check", "dev", "cpus:12", "-o", "json")
    assert ran.status == 0
    assert ran.json["passed"] is True
    assert set(findings(ran).values()) == {True}
    assert ran.json["capacity"] == {"cpus": 24.0, "disk": 1000.0, "mem": 12288.0}
    assert ran.json["promised"] == {"cpus": 4.0}
    assert ran.json["largest"] == {"cpus": 20.0, "disk": 1000.0, "mem": 12288.0}
    assert {line.partition(" ")[0] for line in cluster.asked} == {"GET"}


@pytest.mark.parametrize(("amount", "below"), [("cpus:3", ""), ("cpus:6", "3 cpus")])
def test_what_a_forecast_says_of_a_guarantee_is_said_by_a_check_too(tmp_path, monkeypatch, amount, below):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "busy.toml").write_text(
        'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:8;mem:4096"\n'
        '[[frameworks]]\nname = "big"\nroles = ["big"]\ntask = "cpus:1;mem:64"\ntasks = 5\n'
    )
    checked = typed(f"quota check web {amount}", tmp_path, "fake:busy.toml")
    assert checked.out.startswith("YES")
    tried = typed(f"quota set web {amount} --dry-run", tmp_path, "fake:busy.toml")
    said = f"role web would be {below} below its new guarantee until other roles release enough"
    assert [said in text for text in (checked.err, tried.out)] == [bool(below)] * 2
    assert (f"mesosctl quota set web {amount} --dry-run" in checked.err) is bool(below)


@pytest.mark.parametrize(("busy", "until"), [(False, ""), (True, " until other roles release enough")])
def test_what_all_guarantees_together_lack_is_said(tmp_path, monkeypatch, busy, until):
    monkeypatch.chdir(tmp_path)
    tasks = '[[frameworks]]\nname = "big"\nroles = ["big"]\ntask = "cpus:1;mem:64"\ntasks = 8\n' if busy else ""
    (tmp_path / "two.toml").write_text(
        'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:8;mem:4096"\ncount = 2\n'
        f'[[quotas]]\nrole = "db"\nguarantee = "cpus:6"\nlimit = "none"\n{tasks}'
    )
    if not busy:  # its agents have room for both guarantees, but one of them is out of service
        assert typed("agents deactivate agent-2", tmp_path, "fake:two.toml").status == 0
    checked = typed("quota check ads cpus:5", tmp_path, "fake:two.toml")
    assert "is 3 cpus too little" in checked.err
    assert f" of ads, db{until};" in checked.err
    tried = typed("quota set ads cpus:5 --dry-run", tmp_path, "fake:two.toml")
    assert "would be 3 cpus below its" in tried.out
    only = typed("quota set ads cpus:10 --dry-run", tmp_path, "fake:two.toml")
    assert ("until other roles release enough" in only.out) is busy


def test_the_largest_passes_and_a_thousandth_more_does_not(run, cluster, entries):
    cluster.quotas["ops"] = entries(cpus=4)
    assert run("quota", "check", "dev", "cpus:20").status == 0
    assert run("quota", "check", "dev", "cpus:20.001").status == 1


def test_static_reservations_on_an_older_master(run, cluster):
    cluster.version = "1.4.0"
    assert run("quota", "check", "dev", "cpus:1", "-o", "json").json["largest"]["cpus"] == 16.0


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["dev", "cpus:25"], "quota.capacity"),
        (["ops", "cpus:1"], "quota.already-set"),
        (["a b", "cpus:1"], "role.syntax"),
        (["a/b", "cpus:1"], "quota.nested"),
        (["dev", "ports:[1-2]"], "quota.scalar-only"),
        (["dev", "cpus:1", "cpus:1"], "quota.duplicate-name"),
        (["dev", "cpus:0"], "quota.above-zero"),
        (["dev", "cpus:1000000000001"], "quota.too-large"),
        (["nobody", "cpus:1"], "role.whitelist"),
    ],
)
def test_a_broken_rule_fails_its_line_and_the_check(run, cluster, entries, words, rule):
    cluster.quotas["ops"] = entries(cpus=1)
    cluster.flags = {"roles": "dev, ops,a/b"}
    ran = run("quota", "check", *words, "-o", "json")
    assert ran.status == 1
    assert findings(ran)[rule] is False
    assert cluster.changed == []


def test_the_default_role_on_an_older_master(run, cluster):
    cluster.version = "1.4.0"
    assert findings(run("quota", "check", "*", "cpus:1", "-o", "json"))["quota.default-role"] is False


def test_what_may_not_be_read_is_unknown(run, cluster):
    cluster.instead["GET /slaves"] = [lambda _: httpx.Response(403)]
    cluster.instead["GET /flags"] = [lambda _: httpx.Response(403)]
    ran = run("quota", "check", "dev", "cpus:1", "-o", "json")
    assert ran.status == 1
    assert findings(ran)["quota.capacity"] is None
    assert findings(ran)["role.whitelist"] is None
    assert ran.json["capacity"] is None


def test_the_table_names_each_rule_and_the_room(run):
    out = run("quota", "check", "dev", "cpus:25").out
    assert "FAIL    quota.capacity" in out
    assert out.splitlines()[-3] == "largest that would be accepted: 24 cpus, 12GiB mem and 1000MiB disk"


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        (["cpus:25"], "'quota:dev=cpus:?'"),
        (["cpus:1", "mem:13GiB"], "'quota:dev=mem:?;cpus:1'"),
        (["--limit", "cpus:1"], None),
    ],
)
def test_the_room_names_what_finds_the_largest_that_harms_nobody(run, typed, asked):
    """It leaves open the resource of which too much is wanted; a limit alone promises nothing."""
    last = run("quota", "check", "dev", *typed).out.splitlines()[-1]
    assert last.partition("--find-largest ")[2] == (asked or "")


def test_names_are_the_broken_rules(run):
    assert run("quota", "check", "a/b", "cpus:25", "-o", "name").out == ("quota.hierarchy\nquota.nested\n")


@pytest.mark.parametrize(("limit", "kept"), [("cpus:1", False), ("cpus:2", True), ("none", True)])
def test_limits_that_are_given_are_compared_with_what_the_role_consumes(run, cluster, limit, kept):
    """`quota set --limit` is UPDATE_QUOTA, which refuses a limit below it; `quota set` alone is not."""
    cluster.roles = [{"name": "dev", "quota": {"consumed": {"cpus": 1.5}}}]
    ran = run("quota", "check", "dev", "cpus:1", "--limit", limit, "-o", "json")
    assert (ran.status, findings(ran).get("quota.consumption", True)) == (int(not kept), kept)
    assert "quota.consumption" not in findings(run("quota", "check", "dev", "cpus:1", "-o", "json"))


HIDDEN = {
    "quotas": ["GET /quota"],
    "agents": ["GET /slaves"],
    "flags": ["GET /flags"],
    "everything": ["GET /quota", "GET /slaves", "GET /flags"],
}


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_is_unknown_is_no_yes(run, cluster, entries, hidden, status):
    cluster.quotas["ops"] = entries(cpus=20)
    for path in HIDDEN[hidden]:
        cluster.instead[path] = [lambda _: httpx.Response(status)] * 2
    ran = run("quota", "check", "dev", "cpus:1", "-o", "json")
    assert (ran.status, ran.json["answer"], ran.json["passed"]) == (1, "unknown", True)
    assert ran.json["verdict"].startswith("PERHAPS: 1 cpu")
    assert "--principal and --secret-file" in ran.err


@pytest.mark.parametrize(
    ("hidden", "words", "answer"),
    [
        ("quotas", "cpus:24.001", "no"),
        ("quotas", "cpus:24", "unknown"),
        ("agents", "cpus:100000", "unknown"),
        ("everything", "ports:[1-2]", "no"),
        ("flags", "cpus:100000", "no"),
    ],
)
def test_what_is_refused_whatever_is_hidden_is_no(run, cluster, hidden, words, answer):
    for path in HIDDEN[hidden]:
        cluster.instead[path] = [lambda _: httpx.Response(401)] * 2
    ran = run("quota", "check", "dev", words, "-o", "json")
    assert (ran.status, ran.json["answer"]) == (1, answer)


ANY = {"type": "ANY"}


@pytest.mark.parametrize(
    ("acls", "answer"),
    [
        ({"get_quotas": [{"principals": ANY, "roles": ANY}]}, "yes"),
        ({"get_quotas": [{"principals": {"values": ["ops"]}, "roles": ANY}]}, "yes"),
        ({"get_quotas": [{"principals": ANY, "roles": {"values": ["dev"]}}], "permissive": False}, "unknown"),
        ({"get_quotas": [{"principals": ANY, "roles": {"type": "NONE"}}]}, "unknown"),
        ({"view_flags": [{"principals": ANY, "flags": {"type": "NONE"}}]}, "unknown"),
    ],
)
def test_quotas_that_acls_hide_may_be_in_the_way(acls, answer):
    view = {"view_flags": [{"principals": ANY, "flags": ANY}], "register_agents": [{"principals": ANY, "agents": ANY}]}
    lab = Lab("cpus:4;mem:4096", version="1.11", flags={"acls": json.dumps({**view, **acls})})
    ran = CommandLine(lab).run("quota", "check", "dev", "cpus:1", "-o", "json")
    assert (ran.json["answer"], ran.status) == (answer, int(answer != "yes"))


def test_every_answer_has_its_status_and_its_sentence(run, cluster, entries):
    cluster.quotas["ops"] = entries(cpus=20)
    for words, answer, says in (("cpus:4", "yes", "YES: "), ("cpus:5", "no", "NO: ")):
        ran = run("quota", "check", "dev", words, "-o", "json")
        assert (ran.json["answer"], ran.json["verdict"][: len(says)], ran.status) == (answer, says, int(answer == "no"))
        assert run("quota", "check", "dev", words).out.splitlines()[0] == ran.json["verdict"] or answer == "yes"
