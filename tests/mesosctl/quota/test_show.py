"""`mesosctl quota list` and `mesosctl quota show`."""

import csv
import io
import json
import re

import httpx
import pytest


@pytest.fixture
def two(cluster, entries):
    cluster.quotas = {"ops": entries(cpus=0.1, mem=64), "dev": entries(cpus=2)}
    cluster.limits = {"dev": {"cpus": {"value": 4}, "gpus": {"value": 0}}}
    cluster.roles = [
        {
            "name": "dev",
            "weight": 2.0,
            "quota": {"consumed": {"cpus": 1.5, "ports": 4.0}},
            "allocated": {"cpus": 1.5},
            "offered": {},
            "reserved": {"cpus": 8.0},
            "frameworks": ["a", "b"],
        }
    ]
    return cluster


DEV = {
    "role": "dev",
    "guarantee": {"cpus": 2.0},
    "limit": {"cpus": 4.0, "gpus": 0.0},
    "guarantee_state": "met",
    "usage": {
        "consumed": {"cpus": 1.5, "ports": 4.0},
        "allocated": {"cpus": 1.5},
        "offered": {},
        "reserved": {"cpus": 8.0},
        "frameworks": 2,
        "weight": 2.0,
    },
}
OPS = {
    "role": "ops",
    "guarantee": {"cpus": 0.1, "mem": 64.0},
    "limit": {},
    "guarantee_state": None,
    "usage": None,
}


def test_the_list_is_ordered_by_role_and_asks_one_question(run, two):
    ran = run("quota", "list")
    assert ran.out == (
        "ROLE  GUARANTEE               LIMIT\n"
        "dev   2 cpus                  4 cpus and 0 gpus\n"
        "ops   0.1 cpus and 64MiB mem  -\n"
    )
    assert two.asked == ["GET /quota"]


def test_wide_shows_what_is_used(run, two):
    lines = run("quota", "list", "-o", "wide").out.splitlines()
    assert lines[0].split() == [
        "ROLE", "GUARANTEE", "LIMIT", "CONSUMED", "ALLOCATED", "OFFERED", "RESERVED", "FRAMEWORKS", "GUARANTEE", "IS"
    ]  # fmt: skip
    assert re.split("  +", lines[1]) == [
        "dev", "2 cpus", "4 cpus and 0 gpus", "1.5 cpus and 4 ports", "1.5 cpus", "-", "8 cpus", "2", "met"
    ]  # fmt: skip
    assert re.split("  +", lines[2]) == ["ops", "0.1 cpus and 64MiB mem", *["-"] * 7]


def test_json_is_one_document(run, two):
    assert run("quota", "list", "-o", "json").json == {
        "schema_version": 1,
        "kind": "quota.list",
        "quotas": [DEV, OPS],
    }


def test_jsonl_is_one_role_a_line(run, two):
    lines = run("quota", "list", "-o", "jsonl").out.splitlines()
    assert [json.loads(line)["role"] for line in lines] == ["dev", "ops"]
    assert json.loads(lines[0]) == DEV


def test_csv_has_every_column(run, two):
    rows = list(csv.DictReader(io.StringIO(run("quota", "list", "-o", "csv").out)))
    assert rows[0]["role"] == "dev"
    assert rows[0]["limit"] == "cpus:4;gpus:0"
    assert rows[0]["reserved"] == "cpus:8"


def test_names(run, two):
    assert run("quota", "list", "-o", "name").out == "dev\nops\n"


def test_no_quota_is_nothing_on_standard_output(run, cluster):
    assert run("quota", "list").out == ""
    assert run("quota", "list", "-o", "json").json["quotas"] == []
    assert run("quota", "list", terminal=True).out == "no quota is set\n"


def test_usage_that_may_not_be_seen_is_left_out_with_a_note(run, two):
    two.instead["GET /roles"] = [lambda _: httpx.Response(403)]
    ran = run("quota", "list", "-o", "json")
    assert [quota["usage"] for quota in ran.json["quotas"]] == [None, None]
    assert json.loads(ran.err) == {
        "schema_version": 1,
        "kind": "note",
        "level": "note",
        "message": "/roles cannot be read (403): usage is left out",
    }


def test_show_one(run, two):
    assert run("quota", "show", "dev", "-o", "json").json == {"schema_version": 1, "kind": "quota.show", "quota": DEV}
    assert run("quota", "show", "ops").out.splitlines()[1].split()[0] == "ops"


def test_show_a_role_without_quota(run, two):
    ran = run("quota", "show", "nobody")
    assert ran.status == 5
    assert ran.out == ""


@pytest.mark.parametrize("words", [("quota", "list"), ("quota", "show", "dev")])
def test_a_list_that_may_not_be_read_is_denied(run, cluster, words):
    cluster.instead["GET /quota"] = [lambda _: httpx.Response(401)]
    assert run(*words).status == 4


def test_a_terminal_gets_a_drawn_table_with_colours(run, two):
    assert "\x1b[1m" in run("quota", "list", terminal=True, TERM="xterm").out
    assert "\x1b[" not in run("quota", "list", terminal=True, TERM="xterm", NO_COLOR="1").out
    assert "\x1b[1m" in run("quota", "list", FORCE_COLOR="1", TERM="xterm").out


def test_a_role_cannot_steer_the_terminal(run, cluster, entries):
    cluster.quotas["\x1b]0;owned\x07"] = entries(cpus=1)
    for words in (("quota", "list"), ("quota", "list", "-o", "name"), ("quota", "show", "\x1b]0;owned\x07")):
        ran = run(*words, terminal=True, NO_COLOR="1", TERM="dumb")
        assert "\\x1b]0;own" in ran.out
        assert "\x1b" not in ran.out
    assert "\x1b" not in run("quota", "show", "\x1b[31m").err
    assert run("quota", "list", "-o", "name").out == "\x1b]0;owned\x07\n"


def test_a_list_of_some_roles_has_only_these(run, two):
    assert run("quota", "list", "dev", "-o", "name").out == "dev\n"
    assert run("quota", "list", "ops", "dev", "-o", "name").out == "dev\nops\n"
    ran = run("quota", "list", "dev", "opps")
    assert (ran.status, ran.out) == (5, "")
    assert "no quota is set for 'opps'" in ran.err
    assert "did you mean ops?" in ran.err
