"""`mesosctl quota remove`."""

import json

import httpx
import pytest


def test_removes_and_reads_back(run, cluster, entries):
    cluster.quotas = {"dev": entries(cpus=1), "ops": entries(cpus=2)}
    ran = run("quota", "remove", "dev", "-o", "json")
    assert ran.status == 0
    assert ran.json["changes"] == [
        {
            "role": "dev",
            "done": "removed",
            "before": {"guarantee": {"cpus": 1.0}, "limit": {}},
            "after": None,
            "confirmed": True,
        }
    ]
    assert list(cluster.quotas) == ["ops"]


def test_none_is_removed_unless_all_have_quota(run, cluster, entries):
    cluster.quotas = {"dev": entries(cpus=1)}
    ran = run("quota", "remove", "dev", "a", "b")
    assert ran.status == 5
    assert "'a', 'b'" in ran.err
    assert cluster.changed == []


def test_several_in_the_order_given_and_each_once(run, cluster, entries):
    cluster.quotas = {role: entries(cpus=1) for role in ("a", "b")}
    assert run("quota", "remove", "b", "a", "b").status == 0
    assert cluster.changed == ["DELETE /quota/b", "DELETE /quota/a"]


@pytest.mark.parametrize(("answer", "status", "left"), [("y\n", 0, 0), ("n\n", 2, 2), ("", 2, 2)])
def test_a_person_is_asked_before_several_go(run, cluster, entries, answer, status, left):
    cluster.quotas = {role: entries(cpus=1) for role in ("a", "b")}
    ran = run("quota", "remove", "a", "b", stdin=answer, terminal=True)
    assert ran.status == status
    assert len(cluster.quotas) == left
    assert "Remove the quota of a, b? [y/N]" in ran.err


@pytest.mark.parametrize("words", [["a", "b", "--yes"], ["a"]])
def test_nobody_is_asked_for_one_or_with_yes(run, cluster, entries, words):
    cluster.quotas = {role: entries(cpus=1) for role in ("a", "b")}
    ran = run("quota", "remove", *words, terminal=True)
    assert ran.status == 0
    assert "[y/N]" not in ran.err


def test_what_was_removed_before_a_failure_is_told(run, cluster, entries):
    cluster.quotas = {role: entries(cpus=1) for role in ("a", "b")}
    cluster.instead["DELETE /quota/b"] = [lambda _: httpx.Response(403)]
    ran = run("quota", "remove", "a", "b")
    assert ran.status == 4
    assert "note: removed before that: a" in ran.err


def test_the_role_goes_out_byte_for_byte(run, cluster, entries):
    # A master does not percent-decode the role in the path.
    cluster.quotas = {"50%": entries(cpus=1)}
    cluster.instead["DELETE /quota/50%"] = [lambda _: cluster.quotas.clear() or httpx.Response(200)]
    assert run("quota", "remove", "50%").status == 0
    [delete] = [request for request in cluster.requests if request.method == "DELETE"]
    assert delete.extensions["target"] == b"/quota/50%"


@pytest.mark.parametrize("role", ["a?b", "a#b", "café", "a b", ""])
def test_a_role_that_no_path_can_name_is_refused_before_anything_is_asked(run, cluster, role):
    assert run("quota", "remove", role).status == 3
    assert cluster.asked == []


def test_removing_is_by_delete_even_with_v1(run, cluster, entries):
    # REMOVE_QUOTA of a role that lost its quota a moment before aborts a 1.11 master.
    cluster.quotas = {"dev": entries(cpus=1)}
    assert run("quota", "remove", "dev", "--api", "v1").status == 0
    assert cluster.changed == ["DELETE /quota/dev"]


def test_quotas_that_may_not_be_read_are_left_to_the_master(run, cluster, entries):
    cluster.instead["GET /quota"] = [lambda _: httpx.Response(403)]
    ran = run("quota", "remove", "dev", "-o", "json")
    assert ran.status == 3
    assert json.loads(ran.err.splitlines()[-1])["error"]["kind"] == "Rejected"


def test_what_was_removed_before_an_interruption_is_told(run, cluster, entries):
    def interrupt(_):
        raise KeyboardInterrupt

    cluster.quotas = {role: entries(cpus=1) for role in ("a", "b")}
    cluster.instead["DELETE /quota/b"] = [interrupt]
    ran = run("quota", "remove", "a", "b")
    assert ran.status == 130
    assert "removed 1 of 2: a" in ran.err
