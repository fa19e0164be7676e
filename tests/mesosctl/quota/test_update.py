"""`mesosctl quota update`."""

import json
import shlex

import httpx
import pytest

from tests.conftest import guarantee


@pytest.fixture
def dev(cluster, entries):
    """A role whose quota a v0 request made: limits equal to the guarantee."""
    cluster.quotas["dev"] = entries(cpus=2)
    cluster.limits["dev"] = {"cpus": {"value": 2}}
    return cluster


def change(ran):
    assert ran.status == 0, ran.err
    return ran.json["changes"][0]


@pytest.mark.parametrize(
    ("words", "guarantee", "limit"),
    [
        (["cpus:1"], {"cpus": 1.0}, {"cpus": 2.0}),
        (["cpus:2", "mem:1GiB"], {"cpus": 2.0, "mem": 1024.0}, {"cpus": 2.0}),
        (["none", "--limit", "cpus:1"], {}, {"cpus": 1.0}),
        (["cpus:3", "--limit", "cpus:4"], {"cpus": 3.0}, {"cpus": 4.0}),
        (["--limit", "cpus:4;mem:0"], {"cpus": 2.0}, {"cpus": 4.0, "mem": 0.0}),
        (["cpus:3", "--limit", "none"], {"cpus": 3.0}, {}),
    ],
)
def test_limits_stay_unless_said(run, dev, words, guarantee, limit):
    made = change(run("quota", "update", "dev", *words, "-o", "json"))
    assert made["after"] == {"guarantee": guarantee, "limit": limit}
    assert made["before"] == {"guarantee": {"cpus": 2.0}, "limit": {"cpus": 2.0}}
    assert (made["done"], made["confirmed"]) == ("updated", True)
    assert dev.changed == ["POST /api/v1"]


def test_limits_of_their_own_stay(run, dev):
    dev.limits["dev"] = {"cpus": {"value": 8}}
    assert change(run("quota", "update", "dev", "cpus:3", "-o", "json"))["after"]["limit"] == {"cpus": 8.0}


@pytest.mark.parametrize(
    ("words", "rule", "status"),
    [
        (["dev", "cpus:3", "--limit", "cpus:1"], "quota.guarantee-within-limit", 3),
        (["dev", "--limit", "ports:[1-2]"], "quota.scalar-only", 3),
        (["dev", "--limit", "cpus:1000000000001"], "quota.too-large", 3),
        (["dev", "cpus:0"], "quota.above-zero", 3),
        (["a/b", "cpus:1"], "quota.nested", 3),
        (["dev", "cpus:3"], "quota.guarantee-within-limit", 3),
        (["dev", "cpus:25", "--limit", "none"], "quota.capacity", 6),
        (["ops", "cpus:1"], "quota.exists", 5),
    ],
)
def test_a_broken_rule_is_named_and_nothing_changes(run, dev, words, rule, status):
    ran = run("quota", "update", *words, "-o", "json")
    assert ran.status == status
    assert json.loads(ran.err)["error"]["rule"] == rule
    assert dev.changed == []


def test_limits_below_what_is_consumed_need_force(run, dev):
    dev.roles = [{"name": "dev", "quota": {"consumed": {"cpus": 1.5}}}]
    ran = run("quota", "update", "dev", "cpus:1", "--limit", "cpus:1")
    assert ran.status == 3
    assert "quota.consumption" in ran.err
    assert run("quota", "update", "dev", "cpus:1", "--limit", "cpus:1", "--force").status == 0


def test_nothing_left_is_a_removal(run, cluster, entries):
    cluster.quotas["dev"] = []
    cluster.limits["dev"] = {"cpus": {"value": 1}}
    ran = run("quota", "update", "dev", "--limit", "none")
    assert ran.status == 3
    assert "use mesosctl quota remove dev" in ran.err


@pytest.mark.parametrize("version", ["1.11.0", "1.4.0"])
def test_create_makes_what_set_would(run, cluster, version):
    cluster.version = version
    made = change(run("quota", "update", "ops", "cpus:1", "--create", "-o", "json"))
    assert (made["done"], made["before"], made["after"]["limit"]) == ("set", None, {})


@pytest.mark.parametrize(
    "words",
    [
        ["cpus:1"],
        ["--limit", "cpus:3"],
        ["none", "--limit", "cpus:3"],
        ["cpus:1", "--limit", "none"],
        ["cpus:1", "--limit", "cpus:3;mem:64"],
        ["widgets:1", "--allow-new-resource", "--force"],
        ["cpus:100", "--force"],
    ],
)
def test_the_hint_for_a_role_without_quota_works_if_pasted(run, cluster, words):
    ran = run("quota", "update", "fresh", *words)
    assert ran.status == 5
    (hint,) = [line for line in ran.err.splitlines() if line.startswith("  hint: ")]
    assert hint.endswith(" sets a new one")
    typed = shlex.split(hint.removeprefix("  hint: mesosctl ").removesuffix(" sets a new one"))
    assert typed[:3] == ["quota", "set", "fresh"]
    assert run(*typed).status == 0


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.11.0", ["fresh", "none"]),
        ("1.11.0", ["fresh", "none", "--limit", "none"]),
        ("1.11.0", ["fresh", "--limit", "none"]),
        ("1.4.0", ["*", "cpus:1"]),
    ],
)
def test_no_command_is_suggested_that_would_be_refused(run, cluster, version, words):
    cluster.version = version
    ran = run("quota", "update", *words)
    assert ran.status == 5
    assert "quota set" not in ran.err
    assert "hint: mesosctl quota list shows which roles have one" in ran.err


@pytest.mark.parametrize("words", [["cpus:1", "--limit", "cpus:3"], ["--limit", "cpus:3"]])
def test_limits_are_refused_before_mesos_1_9_whether_there_is_quota_or_not(run, cluster, words):
    cluster.version = "1.4.0"
    ran = run("quota", "update", "fresh", *words)
    assert ran.status == 3
    assert "quota.limits-need-update" in ran.err
    assert cluster.quotas == {}


CONFIG = {"role": "dev", "guarantees": {"cpus": {"value": 1}}, "limits": {"cpus": {"value": 4}}}


@pytest.mark.parametrize(
    "payload",
    [
        CONFIG,
        {"quota_configs": [CONFIG]},
        {"type": "UPDATE_QUOTA", "update_quota": {"force": False, "quota_configs": [CONFIG]}},
    ],
)
def test_the_documented_json_in_each_of_its_wrappings(run, dev, payload):
    ran = run("quota", "update", "-f", "-", "-o", "json", stdin=json.dumps(payload))
    assert change(ran)["after"] == {"guarantee": {"cpus": 1.0}, "limit": {"cpus": 4.0}}


def test_several_configurations_go_in_one_call(run, dev, entries):
    dev.quotas["ops"] = entries(cpus=1)
    both = {"quota_configs": [CONFIG, CONFIG | {"role": "ops"}]}
    assert run("quota", "update", "-f", "-", stdin=json.dumps(both)).status == 0
    assert dev.changed == ["POST /api/v1"]
    assert run("quota", "update", "-f", "-", "--api", "v0", stdin=json.dumps(both)).status == 2


def test_a_role_configured_twice_is_refused(run, dev):
    ran = run("quota", "update", "-f", "-", stdin=json.dumps({"quota_configs": [CONFIG, CONFIG]}))
    assert ran.status == 3
    assert "quota.duplicate-role" in ran.err


@pytest.mark.parametrize("words", [[], ["dev"], ["ops", "-f", "-"], ["dev", "cpus:1", "-f", "-"]])
def test_words_that_make_no_request(run, dev, words):
    assert run("quota", "update", *words, stdin=json.dumps(CONFIG)).status == 2
    assert dev.asked == []


class TestByRemovingAndSetting:
    @pytest.mark.parametrize(("version", "words"), [("1.4.0", []), ("1.11.0", ["--api", "v0"])])
    def test_the_way_of_an_older_master(self, run, dev, version, words):
        dev.version = version
        assert run("quota", "update", "dev", "cpus:3", *words).status == 0
        assert dev.changed == ["DELETE /quota/dev", "POST /quota"]
        assert dev.quotas["dev"][0]["scalar"] == {"value": 3.0}

    def test_limits_of_their_own_cannot_be_set_so(self, run, dev):
        ran = run("quota", "update", "dev", "cpus:3", "--limit", "cpus:4", "--api", "v0")
        assert ran.status == 3
        assert "quota.limits-need-update" in ran.err
        assert dev.changed == []

    @pytest.mark.parametrize(("answer", "status"), [(403, 4), (409, 6), (400, 3), (500, 8), (503, 7)])
    def test_the_old_quota_is_put_back_when_setting_fails(self, run, dev, answer, status):
        dev.instead["POST /quota"] = [lambda _: httpx.Response(answer)]
        ran = run("quota", "update", "dev", "cpus:3", "--api", "v0")
        assert ran.status == status
        assert "the old quota of 'dev' (cpus:2) is restored" in ran.err
        assert dev.quotas["dev"][0]["scalar"] == {"value": 2.0}

    def test_ctrl_c_between_the_steps_puts_it_back_too(self, run, dev):
        def interrupt(_):
            raise KeyboardInterrupt

        dev.instead["POST /quota"] = [interrupt]
        assert run("quota", "update", "dev", "cpus:3", "--api", "v0").status == 130
        assert dev.quotas["dev"][0]["scalar"] == {"value": 2.0}

    def test_limits_of_their_own_are_put_back_as_they_were(self, run, dev):
        dev.limits["dev"] = {"cpus": {"value": 8}}
        dev.instead["POST /quota"] = [lambda _: httpx.Response(403)]
        # What v0 can make: limits equal to the guarantee, said explicitly.
        assert run("quota", "update", "dev", "cpus:3", "--limit", "cpus:3", "--api", "v0").status == 4
        assert dev.limits["dev"] == {"cpus": {"value": 8.0}}

    def test_a_failure_to_put_it_back_is_loud_and_keeps_the_first_status(self, run, dev):
        dev.instead["POST /quota"] = [lambda _: httpx.Response(403), lambda _: httpx.Response(500)]
        ran = run("-q", "quota", "update", "dev", "cpus:3", "--api", "v0")
        assert ran.status == 4
        assert "WARNING: ROLE 'dev' HAS NO QUOTA NOW" in ran.err

    def test_nothing_is_put_back_over_a_quota_that_is_there(self, run, dev):
        def set_and_deny(request):
            dev.usual(request)
            return httpx.Response(403)

        dev.instead["POST /quota"] = [set_and_deny]
        ran = run("quota", "update", "dev", "cpus:3", "--api", "v0")
        assert ran.status == 4
        assert "nothing was restored" in ran.err
        assert dev.quotas["dev"][0]["scalar"] == {"value": 3.0}


class TestWhatNobodyNamed:
    @pytest.fixture
    def both(self, cluster, entries):
        cluster.quotas["dev"] = entries(cpus=2, mem=1024)
        cluster.limits["dev"] = {"cpus": {"value": 4}, "mem": {"value": 2048}}
        return cluster

    @pytest.mark.parametrize(
        ("words", "lost"),
        [
            (["mem:1GiB"], "guarantee of 2 cpus"),
            (["--limit", "mem:2GiB"], "limit of 4 cpus"),
            (["-f", "-"], "guarantee of 1GiB mem"),
        ],
    )
    @pytest.mark.parametrize("api", ["auto", "v1"])
    def test_is_lost_only_where_somebody_agrees(self, run, both, words, lost, api):
        said = json.dumps({"role": "dev", "guarantees": {"cpus": {"value": 2}}})
        words = ["quota", "update", *([] if "-f" in words else ["dev"]), *words, "--api", api]
        refused = run(*words, stdin=said)
        assert (refused.status, f"role 'dev' loses its {lost}" in refused.err) == (2, True)
        assert both.changed == []
        assert run(*words, "--yes", stdin=said).status == 0

    @pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 2), ("", 2)])
    def test_a_person_is_asked(self, run, both, answer, status):
        ran = run("quota", "update", "dev", "mem:1GiB", stdin=answer, terminal=True)
        assert (ran.status, len(both.changed)) == (status, status == 0)
        assert "loses its guarantee of 2 cpus. Update it anyway? [y/N]" in ran.err

    def test_what_was_changed_while_a_person_thought_is_not_overwritten(self, run, both):
        def changed_meanwhile(request):
            both.quotas["dev"] = guarantee(cpus=3, mem=1024)
            return both.usual(request)

        both.instead["GET /quota"] = [both.usual, changed_meanwhile]
        ran = run("quota", "update", "dev", "mem:1GiB", stdin="y\n", terminal=True)
        assert (ran.status, both.changed) == (6, [])
        assert "has changed since you were asked" in ran.err

    @pytest.mark.parametrize(
        "words",
        [["cpus:1", "mem:1MiB"], ["--limit", "none"], ["--limit", "cpus:2;mem:1GiB"], ["--dry-run", "mem:1GiB"]],
    )
    def test_less_that_was_named_is_not_asked_about(self, run, both, words):
        if "--dry-run" not in words:
            assert run("quota", "update", "dev", *words).status == 0

    @pytest.mark.parametrize(
        ("limit", "lost"),
        [
            ({"cpus": {"value": 16}}, "limit of 16 cpus (which becomes 3 cpus)"),
            ({}, "freedom from a limit on cpus (which becomes 3 cpus)"),
        ],
    )
    def test_a_limit_that_post_quota_lowers_is_asked_about(self, run, dev, limit, lost):
        dev.limits["dev"] = limit
        words = ["quota", "update", "dev", "cpus:3", "--api", "v0"]
        refused = run(*words)
        assert (refused.status, dev.changed) == (2, [])
        assert f"role 'dev' loses its {lost}" in refused.err
        assert run(*words, "--yes").status == 0

    def test_a_limit_that_post_quota_raises_is_not(self, run, dev):
        assert run("quota", "update", "dev", "cpus:3", "--api", "v0").status == 0

    @pytest.mark.parametrize("missing", ["guarantees", "limits"])
    def test_a_part_that_a_file_leaves_out_stays(self, run, both, missing):
        config = {"role": "dev", "guarantees": {"cpus": {"value": 1}, "mem": {"value": 5}}, "limits": {}}
        del config[missing]
        ran = run("quota", "update", "-f", "-", "--yes", "-o", "json", stdin=json.dumps(config))
        made = change(ran)
        assert made["after"][missing.removesuffix("s")] == made["before"][missing.removesuffix("s")]


def test_a_master_that_refuses_for_want_of_capacity_is_a_conflict(run, dev):
    said = "Invalid QuotaConfig: total quota guarantees 'cpus:25' exceed cluster capacity 'cpus:24'"
    dev.instead["POST /api/v1"] = [lambda _: httpx.Response(400, text=said)]
    dev.instead["GET /slaves"] = [lambda _: httpx.Response(403)]
    ran = run("quota", "update", "dev", "cpus:25", "--limit", "none", "-o", "json")
    error = json.loads(ran.err)["error"]
    assert (ran.status, error["status"], error["rule"]) == (6, 400, "quota.capacity")
