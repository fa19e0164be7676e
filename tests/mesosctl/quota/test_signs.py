"""Amounts with a sign, which are meant as changes: they are refused, and the sum is a command to paste."""

import json
import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

BEFORE = "quota set web cpus:16 mem:32GiB --limit cpus:100 --force"


def line() -> CommandLine:
    made = CommandLine(Lab("cpus:4;mem:4096", version="1.11"))
    assert made.run(*BEFORE.split()).status == 0
    return made


def suggested(err: str) -> list[str]:
    found = re.search(r"use mesosctl (.*)", err)
    assert found, err
    return shlex.split(found[1])


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("quota update web cpus:+2", "quota update web cpus:18 mem:32GiB"),
        ("quota update web cpus:-2.5 mem:+1GiB", "quota update web cpus:13.5 mem:33GiB"),
        ("quota update web cpus:-16", "quota update web mem:32GiB"),
        ("quota update web mem:64GiB cpus:+1", "quota update web cpus:17 mem:64GiB"),
        ("quota update web --limit cpus:+4 --force", "quota update web --limit cpus:104 --force"),
        ("quota update web cpus:+1 --limit none", "quota update web cpus:17 mem:32GiB --limit none"),
        ("quota set web cpus:+2", "quota update web cpus:18 mem:32GiB"),
        ("quota set web --if-different cpus:+2", "quota update web cpus:18 mem:32GiB"),
        ("quota check web cpus:+2", "quota update web cpus:18 mem:32GiB --dry-run"),
        ("quota set ads cpus:+2", "quota set ads cpus:2"),
        ("quota update ads cpus:+2 mem:64", "quota set ads cpus:2 mem:64MiB"),
        ("weights set web=+2 ads=3", "weights set web=3 ads=3"),
        ("weights set web=-0.5", "weights set web=0.5"),
    ],
)
def test_the_sum_is_a_command_to_paste(words, command):
    lab = line()
    sent = list(lab.changes)
    ran = lab.run(*words.split())
    assert ran.status == 3
    assert "has a sign" in ran.err
    assert shlex.join(suggested(ran.err)) == command
    assert lab.changes == sent


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("quota update web cpus:-17", "role 'web' has 16 cpus and 32GiB mem"),
        ("quota update ads cpus:-1", "role 'ads' has no quota"),
        ("quota update web --limit mem:+1GiB", "role 'web' has no limit of mem that could change"),
        ("quota update web cpus:+1 mem:x", "write the whole, without a sign"),
        ("quota update web cpus(ads):+1", "write the whole, without a sign"),
        ("weights set web=-1", "write the whole, without a sign"),
        ("quota room --task cpus:+1", "write the whole, without a sign"),
    ],
)
def test_without_a_sum_the_hint_says_why(words, hint):
    ran = line().run(*words.split())
    assert ran.status == 3
    assert f"hint: {hint}" in ran.err


def test_a_quota_that_cannot_be_read_leaves_the_refusal():
    ran = line().run("quota", "update", "web", "cpus:+2", MESOSCTL_MASTER="")
    assert (ran.status, "write the whole, without a sign" in ran.err) == (3, True)


@settings(max_examples=examples(40))
@given(
    st.sampled_from(["cpus", "mem"]),
    st.sampled_from("+-"),
    st.integers(1, 15_000).map(lambda milli: f"{milli / 1000:g}"),
)
def test_the_suggested_command_changes_the_guarantee_by_that_much(name: str, sign: str, amount: str):
    lab = line()
    words = suggested(lab.run("quota", "update", "web", f"{name}:{sign}{amount}").err)
    ran = lab.run(*words, "--force", "-o", "json")
    assert ran.status == 0, ran.err
    (change,) = json.loads(ran.out)["changes"]
    before, after = change["before"]["guarantee"], change["after"]["guarantee"]
    assert after[name] == pytest.approx(before[name] + float(f"{sign}{amount}"))
    assert {**after, name: 0} == {**before, name: 0}
    assert change["before"]["limit"] == change["after"]["limit"]
