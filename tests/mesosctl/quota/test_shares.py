"""Amounts of quota that are typed as a share of what the agents have."""

import pytest

from tests.helpers.lab import CommandLine, Lab

AGENTS = ("cpus:12;mem:6144;disk:1000;gpus:3", "cpus:8;mem:4096;disk:500", "cpus:4;cpus(ads):2;mem:2048;disk:500")


@pytest.fixture
def live():
    return CommandLine(Lab(*AGENTS, version="1.11"))


def quota_of(live, role="dev"):
    (shown,) = live.run("quota", "list", role, "-o", "json").json["quotas"]
    return shown["guarantee"], shown["limit"]


@pytest.mark.parametrize(
    ("words", "guarantees", "limits"),
    [
        (("cpus:25%", "mem:50%"), {"cpus": 6.5, "mem": 6144}, {}),
        (("cpus:25%;mem:1GiB", "--limit", "cpus:50%"), {"cpus": 6.5, "mem": 1024}, {"cpus": 13}),
        (("--limit", "cpus:12.5%;disk:33.3%"), {}, {"cpus": 3.25, "disk": 666}),
        (("gpus:50%", "cpus:1"), {"gpus": 1, "cpus": 1}, {}),
    ],
)
def test_a_share_is_resolved_and_told_before_it_is_sent(live, words, guarantees, limits):
    ran = live.run("quota", "set", "dev", *words)
    assert ran.status == 0, ran.err
    assert quota_of(live) == (guarantees, limits)
    for share in [token for word in words for token in word.split(";") if "%" in token]:
        assert f"{share} of the " in ran.err


def test_each_share_is_told_with_the_whole_and_the_amount(live):
    told = live.run("quota", "check", "dev", "cpus:25%", "mem:50%").err
    assert "cpus:25% of the 26 cpus that the agents have is cpus:6.5" in told
    assert "mem:50% of the 12GiB mem that the agents have is mem:6GiB" in told
    assert "%" not in live.run("quota", "check", "dev", "cpus:2", "mem:1GiB").err


@pytest.mark.parametrize("form", ["table", "json"])
def test_an_update_takes_shares_too(live, form):
    assert live.run("quota", "set", "dev", "cpus:1").status == 0
    ran = live.run("quota", "update", "dev", "cpus:50%", "--limit", "cpus:100%", "-o", form)
    assert ran.status == 0, ran.err
    assert quota_of(live) == ({"cpus": 13}, {"cpus": 26})


def test_an_older_master_takes_them_by_its_own_capacity():
    live = CommandLine(Lab(*AGENTS, version="documents"))
    assert live.run("quota", "set", "dev", "cpus:25%").status == 0
    assert "is cpus:6" in live.run("quota", "check", "ops", "cpus:25%").err
    assert quota_of(live)[0]["cpus"] in (6, 6.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fpgas:25%",), "no agent has fpgas"),
        (("cpus:0%",), "cpus"),
        (("cpus:101%",), "capacity"),
        (("cpus:+25%",), "+25% has a sign"),
        (("ports:25%",), "ports: '25%' is not a number"),
        (("25%",), "'25%' is not NAME:VALUE"),
    ],
)
def test_what_is_no_share_is_refused(live, words, message):
    ran = live.run("quota", "set", "dev", *words)
    assert ran.status in (3, 6), ran.err
    assert message in ran.err
    assert live.changes == []


def test_a_sign_beside_a_share_names_the_sum_of_both(live):
    assert live.run("quota", "set", "dev", "cpus:2", "mem:1GiB").status == 0
    ran = live.run("quota", "update", "dev", "cpus:+2", "mem:25%")
    assert ran.status == 3
    assert "mesosctl quota update dev cpus:4 mem:3GiB" in ran.err


def test_a_share_after_limit_is_asked_about_by_its_name(live):
    ran = live.run("quota", "set", "dev", "--limit", "cpus:50%", "mem:25%")
    assert ran.status == 2
    assert "mem:25% after --limit is a guarantee" in ran.err
    assert live.run("quota", "set", "dev", "--limit", "cpus:50%", "cpus:25%").status == 0
