"""`mesosctl quota set`."""

import json
from typing import Any

import httpx
import pytest

from tests.helpers.lab import CommandLine, Lab, Scheduler

SET: dict[str, Any] = {"role": "dev", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 12}}]}


def test_sets_what_the_words_say_and_shows_it_read_back(run, cluster):
    ran = run("quota", "set", "dev", "cpus:12", "mem:6GiB")

    assert ran.status == 0
    assert ran.out == ("ROLE  DONE  GUARANTEE             LIMIT\ndev   set   12 cpus and 6GiB mem  -\n")
    assert ran.err == ""
    config = {"role": "dev", "guarantees": {"cpus": {"value": 12.0}, "mem": {"value": 6144.0}}, "limits": {}}
    assert json.loads(cluster.requests[-3].content) == {
        "type": "UPDATE_QUOTA",
        "update_quota": {"force": False, "quota_configs": [config]},
    }
    read = ["GET /version", "GET /quota", "GET /flags", "GET /slaves"]
    assert cluster.asked == [*read, "POST /api/v1", "GET /quota", "GET /roles"]


def test_an_older_master_receives_the_documented_request(run, cluster):
    cluster.version = "1.4.0"
    assert run("quota", "set", "dev", "cpus:12", "mem:6GiB").status == 0
    assert json.loads(cluster.requests[-3].content) == {
        "role": "dev",
        "guarantee": [
            {"name": "cpus", "type": "SCALAR", "scalar": {"value": 12.0}},
            {"name": "mem", "type": "SCALAR", "scalar": {"value": 6144.0}},
        ],
        "force": False,
    }
    assert cluster.asked == ["GET /version", "GET /quota", "GET /slaves", "POST /quota", "GET /quota", "GET /roles"]


def test_one_word_may_name_several(run, cluster):
    assert run("quota", "set", "dev", "cpus:1.5;mem:64").status == 0
    assert [r["scalar"]["value"] for r in cluster.quotas["dev"]] == [1.5, 64.0]


@pytest.mark.parametrize(("version", "call"), [("1.4.0", "SET_QUOTA"), ("1.11.0", "UPDATE_QUOTA")])
def test_v1_sends_the_call_that_the_master_has(run, cluster, version, call):
    cluster.version = version
    assert run("quota", "set", "dev", "cpus:1", "--api", "v1").status == 0
    assert cluster.changed == ["POST /api/v1"]
    request = cluster.requests[-3]
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.content)["type"] == call


def test_v0_says_which_limit_the_master_makes_of_it(run, cluster):
    ran = run("quota", "set", "dev", "cpus:1", "--api", "v0")
    assert (ran.status, cluster.changed) == (0, ["POST /quota"])
    assert "the limit of 'dev' equal to its guarantee: 1 cpu; " in ran.err
    assert "without --api v0, " in ran.err
    assert "limit of dev: 1 cpu (POST /quota " in ran.out.splitlines()[-1]


def test_v0_is_refused_where_the_limit_would_be_below_what_the_role_uses(run, cluster):
    cluster.roles = [{"name": "dev", "quota": {"consumed": {"cpus": 2}}}]
    ran = run("quota", "set", "dev", "cpus:1", "--api", "v0")
    assert (ran.status, "quota.consumption" in ran.err, cluster.changed) == (3, True, [])
    assert run("quota", "check", "dev", "cpus:1", "--api", "v0").status == 1
    assert run("quota", "set", "dev", "cpus:1").status == 0


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["a b", "cpus:1"], "role.syntax"),
        (["dev", "ports:[1-2]"], "quota.scalar-only"),
        (["dev", "cpus:1", "cpus:2"], "quota.duplicate-name"),
        (["dev", "cpus(ads):1"], "quota.unreserved-only"),
        (["dev", "cpus:0"], "quota.above-zero"),
        (["dev", "cpus:0.0005"], "resource.precision"),
        (["dev", "cpus:1000000000001", "--force"], "quota.too-large"),
        (["dev", "mem:1099511627777", "--force"], "quota.too-large"),
        (["a/b", "cpus:1"], "quota.nested"),
        (["dev", "cpus"], "resource.text"),
    ],
)
def test_a_broken_rule_is_named_before_anything_is_asked(run, cluster, words, rule):
    ran = run("quota", "set", *words, "-o", "json")

    assert ran.status == 3
    error = json.loads(ran.err)["error"]
    assert (error["rule"], error["exit_status"]) == (rule, 3)
    assert error["field"]
    assert ran.out == ""
    assert cluster.asked == []


def test_the_default_role_depends_on_the_version(run, cluster):
    assert run("quota", "set", "*", "cpus:1").status == 0
    cluster.version, cluster.quotas = "1.4.0", {}
    ran = run("quota", "set", "*", "cpus:1")
    assert ran.status == 3
    assert "quota.default-role" in ran.err


def test_a_role_that_has_quota_is_refused_even_by_force(run, cluster, entries):
    cluster.quotas["dev"] = entries(cpus=1)
    ran = run("quota", "set", "dev", "cpus:2", "--force")
    assert ran.status == 3
    assert "quota.already-set" in ran.err
    assert cluster.changed == []


@pytest.mark.parametrize(("version", "fits"), [("1.4.0", 16), ("1.11.0", 24)])
def test_capacity_counts_static_reservations_on_newer_masters_only(run, cluster, version, fits):
    cluster.version = version
    ran = run("quota", "set", "dev", f"cpus:{fits}.001")
    assert ran.status == 6
    assert "quota.capacity" in ran.err
    assert cluster.changed == []
    assert run("quota", "set", "dev", f"cpus:{fits}").status == 0


def test_force_passes_the_capacity_check_here_and_there(run, cluster):
    assert run("quota", "set", "dev", "cpus:100", "--force").status == 0
    assert json.loads(cluster.requests[-3].content)["update_quota"]["force"] is True
    assert "GET /slaves" not in cluster.asked


def test_a_payload_from_standard_input(run, cluster):
    assert run("quota", "set", "-f", "-", stdin=json.dumps(SET)).status == 0
    assert list(cluster.quotas) == ["dev"]


def test_a_payload_from_a_file_with_its_own_force(run, cluster, tmp_path):
    path = tmp_path / "quota.json"
    path.write_text(json.dumps(SET | {"force": True}))
    assert run("quota", "set", "dev", "-f", str(path)).status == 0
    assert json.loads(cluster.requests[-3].content)["update_quota"]["force"] is True


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        (SET | {"forced": True}, "forced"),
        (SET | {"guarantee": [{"name": "cpus", "scalar": {"value": 1}}]}, "guarantee[0].type"),
        (
            SET | {"guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": True}}]},
            "guarantee[0].scalar.value",
        ),
        (SET | {"guarantee": [{"name": "a", "type": "TEXT"}]}, "guarantee[0].type"),
        (SET | {"guarantee": [{"name": "cpus", "type": "SCALAR"}]}, "guarantee[0].scalar"),
        (SET | {"guarantee": [SET["guarantee"][0] | {"revocable": {}}]}, "guarantee[0].revocable"),
        (SET | {"guarantee": [SET["guarantee"][0] | {"role": "ads"}]}, "guarantee[0].role"),
        (
            SET | {"guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0005}}]},
            "guarantee[0].scalar.value",
        ),
        (SET | {"guarantee": []}, "guarantee"),
        (SET | {"role": ""}, "role"),
    ],
)
def test_a_payload_that_breaks_a_rule_names_its_field(run, cluster, payload, field):
    ran = run("quota", "set", "-f", "-", "-o", "json", stdin=json.dumps(payload))
    assert ran.status == 3
    assert json.loads(ran.err)["error"]["field"] == field
    assert cluster.asked == []


@pytest.mark.parametrize("payload", ["", "{", "[]", '{"role": "dev"} x', '{"guarantee": NaN}'])
def test_a_payload_that_is_no_payload(run, cluster, payload):
    assert run("quota", "set", "-f", "-", stdin=payload).status == 3
    assert cluster.asked == []


def test_a_file_that_is_not_there(run):
    ran = run("quota", "set", "-f", "/nonexistent/quota.json")
    assert ran.status == 3
    assert "cannot be read" in ran.err


@pytest.mark.parametrize(
    "words", [["dev"], [], ["dev", "cpus:1", "-f", "-"], ["ops", "-f", "-"], ["dev", "cpus:1", "--bogus"]]
)
def test_words_that_make_no_request(run, cluster, words):
    ran = run("quota", "set", *words, stdin=json.dumps(SET))
    assert ran.status == 2
    assert cluster.asked == []


@pytest.mark.parametrize(
    ("status", "exit_status"), [(400, 3), (401, 4), (403, 4), (409, 6), (500, 8), (503, 7), (404, 8), (418, 8)]
)
def test_every_status_of_the_master_has_its_exit_status(run, cluster, status, exit_status):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(status, text="because \x1b[31mred")]
    ran = run("quota", "set", "dev", "cpus:1", "-o", "json")
    assert ran.status == exit_status
    error = json.loads(ran.err)["error"]
    assert (error["exit_status"], error["status"]) == (exit_status, status)
    assert "because \\x1b[31mred" in error["message"]


@pytest.mark.parametrize(("path", "words"), [("/quota", ["--api", "v0"]), ("/slaves", [])])
@pytest.mark.parametrize("status", [401, 403])
def test_a_read_that_is_not_allowed_leaves_the_rule_to_the_master(run, cluster, path, words, status):
    cluster.instead[f"GET {path}"] = [lambda _: httpx.Response(status)]
    ran = run("quota", "set", "dev", "cpus:1", *words)
    assert ran.status == 0
    assert f"note: {path} cannot be read ({status})" in ran.err


def test_an_update_that_might_replace_an_unseen_quota_is_not_sent(run, cluster):
    cluster.instead["GET /quota"] = [lambda _: httpx.Response(403)]
    ran = run("quota", "set", "dev", "cpus:1")
    assert (ran.status, cluster.changed) == (4, [])
    assert "hint: " in ran.err


def test_quiet_leaves_the_note_out(run, cluster):
    cluster.instead["GET /slaves"] = [lambda _: httpx.Response(403)]
    assert run("-q", "quota", "set", "dev", "cpus:1").err == ""


def test_no_wait_does_not_read_back(run, cluster):
    ran = run("quota", "set", "dev", "cpus:1", "--no-wait", "-o", "json")
    assert ran.json["changes"][0]["confirmed"] is False
    assert cluster.asked[-1] == "POST /api/v1"


def test_a_quota_that_does_not_show_is_not_confirmed(run, cluster):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(200)]
    ran = run("quota", "set", "dev", "cpus:1")
    assert ran.status == 9
    assert "does not show it" in ran.err


@pytest.mark.parametrize("role", ["a?b", "a#b", "café"])
@pytest.mark.parametrize("words", [["set"], ["update", "--create"]])
def test_a_role_whose_quota_could_not_be_removed_is_refused(run, cluster, role, words):
    ran = run("quota", words[0], role, "cpus:1", *words[1:])
    assert ran.status == 3
    assert "quota.path" in ran.err
    assert "hint: name roles in ASCII" in ran.err
    assert cluster.changed == []
    assert run("quota", "check", role, "cpus:1", "-o", "name").out == "quota.path\n"


class TestLimits:
    @pytest.mark.parametrize(
        ("words", "limit", "asked"),
        [
            ([], {}, "POST /api/v1"),
            (["--limit", "cpus:4"], {"cpus": 4.0}, "POST /api/v1"),
            (["--limit", "cpus:4", "--api", "v0"], {"cpus": 4.0}, "POST /quota"),
            (["--api", "v0"], {"cpus": 4.0}, "POST /quota"),
            (["--limit", "cpus:8;mem:0"], {"cpus": 8.0, "mem": 0.0}, "POST /api/v1"),
            (["--limit", "none"], {}, "POST /api/v1"),
        ],
    )
    def test_they_are_what_was_said_and_with_v0_what_the_master_makes(self, run, cluster, words, limit, asked):
        ran = run("quota", "set", "dev", "cpus:4", *words, "-o", "json")
        assert ran.status == 0, ran.err
        assert ran.json["changes"][0]["after"] == {"guarantee": {"cpus": 4.0}, "limit": limit}
        assert cluster.changed == [asked]

    def test_they_need_no_guarantee(self, run, cluster):
        for words in (["quota", "check", "dev"], ["quota", "set", "dev"], ["quota", "update", "dev", "none"]):
            assert run(*words, "--limit", "cpus:4").status == 0
        assert cluster.quotas == {"dev": []}
        assert cluster.limits == {"dev": {"cpus": {"value": 4.0}}}

    @pytest.mark.parametrize("verb", ["set", "update"])
    def test_resources_after_them_that_they_do_not_name_are_asked_about(self, run, cluster, entries, verb):
        if verb == "update":
            cluster.quotas["dev"] = entries(cpus=1)
        words = ["quota", verb, "dev", "--limit", "cpus:4", "mem:1GiB"]
        ran = run(*words)
        assert (ran.status, cluster.changed) == (2, [])
        assert "mem:1GiB after --limit is a guarantee" in ran.err
        assert "hint: write --limit 'cpus:4;mem:1GiB' to limit it too" in ran.err
        assert run(*words, terminal=True, stdin="n\n").status == 2
        assert run(*words, "--yes").status == 0

    @pytest.mark.parametrize(
        "words", [["--limit=cpus:4", "cpus:2"], ["--limit", "none", "mem:64"], ["mem:64", "--limit=cpus:4"]]
    )
    def test_others_are_not(self, run, words):
        assert run("quota", "set", "dev", *words).status == 0

    def test_a_file_takes_them_beside_it(self, run, cluster):
        ran = run("quota", "set", "-f", "-", "--limit", "cpus:14", "-o", "json", stdin=json.dumps(SET))
        assert ran.json["changes"][0]["after"]["limit"] == {"cpus": 14.0}

    def test_roles_are_read_once(self, run, cluster):
        assert run("quota", "set", "dev", "cpus:4", "--limit", "cpus:8").status == 0
        assert cluster.asked.count("GET /roles") == 1

    def test_an_older_master_has_none(self, run, cluster):
        cluster.version = "1.4.0"
        ran = run("quota", "set", "dev", "cpus:4", "--limit", "cpus:8")
        assert (ran.status, "needs Mesos 1.9" in ran.err, cluster.changed) == (3, True, [])
        assert run("quota", "set", "dev", "cpus:4", "--limit", "none").status == 0

    def test_a_quota_that_is_there_is_not_replaced(self, run, cluster, entries):
        cluster.quotas["dev"] = entries(cpus=1)
        ran = run("quota", "set", "dev", "cpus:4", "--limit", "cpus:8", "-o", "json")
        assert (ran.status, json.loads(ran.err)["error"]["rule"]) == (3, "quota.already-set")
        assert cluster.changed == []


class TestNamesOfResources:
    def test_agents_are_asked_only_about_names_that_are_not_standard(self, run, cluster):
        assert run("quota", "set", "dev", "cpus:1", "--force").status == 0
        assert "GET /slaves" not in cluster.asked

    def test_what_an_agent_has_is_no_slip_of_the_pen(self, run, cluster):
        cluster.agents.append({"resources": {"bananas": 3.0}})
        assert run("quota", "set", "dev", "bananas:1").status == 0
        ran = run("quota", "set", "ops", "banana:1", "-o", "json")
        assert (ran.status, json.loads(ran.err)["error"]["rule"]) == (3, "resource.known")
        assert "did you mean bananas?" in ran.err

    def test_agents_that_are_to_come_may_have_it(self, run, cluster):
        assert run("quota", "set", "dev", "cpu:1", "--force", "--allow-new-resource").status == 0
        # What the quota names already is no news.
        assert run("quota", "update", "dev", "cpu:2", "--force").status == 0

    def test_where_agents_may_not_be_seen_a_note_says_so(self, run, cluster):
        cluster.instead["GET /slaves"] = [lambda _: httpx.Response(403)] * 2
        ran = run("quota", "set", "dev", "cpu:1")
        assert (ran.status, "whether an agent has 'cpu' is unknown" in ran.err) == (0, True)


class TestWhereAnAclMayHideQuotas:
    @pytest.fixture
    def hiding(self, cluster):
        """A master with ACLs."""
        cluster.flags["acls"] = "{}"
        return cluster

    @pytest.fixture
    def hidden(self, hiding, entries):
        """It has a quota that this principal may not see."""
        hiding.quotas["dev"] = entries(cpus=10, mem=4096)
        hiding.instead["GET /quota"] = [lambda _: httpx.Response(200, json={})] * 5
        return hiding

    @pytest.mark.parametrize("words", [["cpus:1"], ["cpus:1", "--limit", "cpus:2"], ["cpus:1", "--yes"]])
    @pytest.mark.parametrize("api", ["auto", "v0"])
    def test_a_hidden_quota_is_never_replaced_by_a_guarantee(self, run, hidden, words, api):
        before = str(hidden.quotas)
        ran = run("quota", "set", "dev", *words, "--api", api)
        assert ran.status == 3
        assert "POST /api/v1" not in hidden.asked
        assert str(hidden.quotas) == before

    def test_the_refusal_says_that_there_may_be_a_hidden_one(self, run, hidden):
        ran = run("quota", "set", "dev", "cpus:1")
        assert "hint: role 'dev' may have a quota" in ran.err

    def test_limits_alone_need_a_yes(self, run, hidden):
        before = str(hidden.quotas)
        ran = run("quota", "set", "dev", "--limit", "cpus:1")
        assert (ran.status, hidden.changed, str(hidden.quotas)) == (2, [], before)
        assert "'dev' loses its quota, if it has one" in ran.err

    @pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 2)])
    def test_a_person_is_asked_about_limits_alone(self, run, hiding, answer, status):
        ran = run("quota", "set", "dev", "--limit", "cpus:1", stdin=answer, terminal=True)
        assert (ran.status, len(hiding.changed)) == (status, status == 0)
        assert "this principal may not see. " in ran.err
        assert "[y/N]" in ran.err

    @pytest.mark.parametrize("verb", [["set"], ["update", "--create"]])
    @pytest.mark.parametrize(
        ("words", "changed"),
        [
            (["cpus:1"], ["POST /quota", "POST /api/v1"]),
            (["cpus:1", "--limit", "cpus:2"], ["POST /quota", "POST /api/v1"]),
            (["cpus:1", "--limit", "cpus:1"], ["POST /quota"]),
            (["--limit", "cpus:1", "--yes"], ["POST /api/v1"]),
        ],
    )
    def test_a_new_quota_is_what_was_named(self, run, hiding, verb, words, changed):
        ran = run("quota", *verb, "dev", *words, "-o", "json")
        assert (ran.status, hiding.changed) == (0, changed)
        limit = {"cpus": float(words[-1][-1])} if changed[-1:] == ["POST /quota"] or "cpus:2" in words else None
        made = ran.json["changes"][0]
        assert made["confirmed"]
        if limit is not None:
            assert made["after"] == {"guarantee": {"cpus": 1.0}, "limit": limit}

    def test_limits_that_fail_after_the_guarantee_leave_a_known_quota(self, run, hiding):
        hiding.instead["POST /api/v1"] = [lambda _: httpx.Response(403)]
        ran = run("quota", "set", "dev", "cpus:1", "--limit", "cpus:2")
        assert ran.status == 4
        assert "now has a guarantee of 1 cpu" in ran.err
        assert "a limit of 1 cpu" in ran.err
        assert "finish with mesosctl quota update dev --limit cpus:2" in ran.err
        assert run("quota", "update", "dev", "--limit", "cpus:2").status == 0

    def test_so_does_ctrl_c_between_the_two(self, run, hiding):
        def interrupt(_):
            raise KeyboardInterrupt

        hiding.instead["POST /api/v1"] = [interrupt]
        ran = run("quota", "set", "dev", "cpus:1")
        assert ran.status == 130
        assert "a limit of 1 cpu; " in ran.err
        assert "mesosctl quota update dev --limit none" in ran.err


def test_if_different_does_nothing_twice_and_changes_what_differs(run, cluster):
    words = ("quota", "set", "dev", "cpus:1", "--if-different", "-o", "json")
    done = [run(*words).json["changes"][0]["done"] for _ in range(2)]
    assert (done, len(cluster.changed)) == (["set", "unchanged"], 1)
    ran = run("quota", "set", "dev", "cpus:2", "--limit", "cpus:4", "--if-different", "-o", "json")
    [change] = ran.json["changes"]
    assert (change["done"], change["after"]) == ("updated", {"guarantee": {"cpus": 2.0}, "limit": {"cpus": 4.0}})
    kept = run("quota", "set", "dev", "cpus:2", "--if-different", "-o", "json").json["changes"][0]
    assert (kept["done"], kept["after"]["limit"]) == ("unchanged", {"cpus": 4.0})
    assert len(cluster.changed) == 2


def test_if_different_asks_about_what_an_existing_quota_loses(run, cluster, entries):
    cluster.quotas["dev"] = entries(cpus=1, mem=64)
    ran = run("quota", "set", "dev", "cpus:1", "--if-different")
    assert (ran.status, cluster.changed) == (2, [])
    assert "role 'dev' loses its guarantee of 64MiB mem" in ran.err
    assert run("quota", "set", "dev", "cpus:1", "--if-different", "--yes").status == 0


def test_if_different_is_safe_to_run_again_after_status_9(run, cluster):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(200)]
    words = ("quota", "set", "dev", "cpus:1", "--if-different")
    assert [run(*words).status for _ in range(3)] == [9, 0, 0]
    assert cluster.quotas["dev"]


def test_a_role_is_likely_if_a_role_below_it_has_a_framework():
    lab = Lab("cpus:4;mem:2048", version="1.11")
    Scheduler(lab, name="f", roles=["engineering/web"])
    ran = CommandLine(lab).run("quota", "set", "enginering", "cpus:1")
    assert ran.status == 0
    assert "did you mean engineering?" in ran.err
