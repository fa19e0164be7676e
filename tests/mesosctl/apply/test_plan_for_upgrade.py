"""`plan --upgrade`: what a master of an older release does not read is set again when it leads, and not before."""

import json

import pytest

from mesosctl.changes import identity

OLD, NEW = "fake:?version=1.8", "fake:?version=1.11"


@pytest.fixture(autouse=True)
def one_cluster(monkeypatch):
    """Both masters lead the same cluster, one after the other."""
    monkeypatch.setattr(identity, "identity", lambda _master, _address: "masters of one cluster")


@pytest.fixture
def saved(run, tmp_path):
    """A plan of a cluster with two guarantees, one with another limit, and a limit alone."""
    for words in ("web cpus:6", "db cpus:2;mem:1GiB --limit cpus:4", "cap none --limit cpus:4"):
        assert run("quota", "set", *words.split())[0] == 0
    plan = tmp_path / "plan.json"
    status, _, err = run("plan", "--upgrade", "1.8", "--save", plan)
    assert status == 0, err
    assert [f"the limit of {role} cannot be kept" in err for role in ("cap", "db", "web")] == [True, True, False]
    return plan


def guarantees(run, master):
    found = json.loads(run("quota", "list", "-o", "json", master=master)[1])["quotas"]
    return {quota["role"]: quota["guarantee"] for quota in found}


def test_guarantees_are_set_again_on_the_other_release(run, saved):
    assert guarantees(run, OLD) == {}
    status, _, err = run("apply", "--plan", saved, master=OLD)
    assert status == 0, err
    assert guarantees(run, OLD) == {"db": {"cpus": 2.0, "mem": 1024.0}, "web": {"cpus": 6.0}}


def test_before_the_upgrade_it_is_refused(run, saved):
    before = guarantees(run, NEW)
    status, out, err = run("apply", "--plan", saved, "-o", "json", master=NEW)
    assert (status, out, json.loads(err)["error"]["rule"]) == (6, "", "plan.release")
    assert guarantees(run, NEW) == before


def test_the_forecast_is_of_the_cluster_after_both(saved):
    plan = json.loads(saved.read_text())
    assert (plan["mesos_version"], plan["upgrade_to"]) == ("1.11.0", "1.8")
    assert [(step["step"], step["of"]) for step in plan["steps"]] == [("set quota", "db"), ("set quota", "web")]
    assert plan["forecast"]["changes"] == ["quotas removed", "upgrade to Mesos 1.8.1", "plan"]
    assert plan["forecast"]["upgrade"]["starts"] is True


@pytest.mark.parametrize("release", ["1.9", "1.11"])
def test_a_release_that_reads_every_quota_needs_no_step(run, release):
    assert run("quota", "set", "web", "cpus:6", master=OLD)[0] == 0
    status, out, _ = run("plan", "--upgrade", release, "-o", "json", master=OLD)
    assert (status, json.loads(out)["steps"]) == (0, [])


@pytest.mark.parametrize("words", [["wanted.toml"], ["--prune"], ["-f", "wanted.toml"], ["--allow-empty"]])
def test_a_file_means_nothing_beside_it(run, words):
    status, _, err = run("plan", "--upgrade", "1.8", *words)
    assert status == 2
    assert "cannot be used with --upgrade" in err
