"""`offers explain` advises only what helps on this cluster, and tells frameworks of one name apart."""

from collections.abc import Mapping

import pytest

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from tests.helpers.lab import CommandLine, Lab
from tests.mesosctl.program.mistakes.mistake import typed


def explained(target: str, *frameworks: tuple[str, str], **quotas: Mapping[str, object]) -> str:
    """The explanation for a cluster of one agent with 4 cpus, in which frameworks hold their offers."""
    specs = tuple(SimulatedFrameworkSpec(name, (role,), answer="hold") for name, role in frameworks)
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=specs)
    for role, amounts in quotas.items():
        call = {"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": [{"role": role, **amounts}]}}
        assert lab.post("/api/v1", call) == 200
    lab.wait(3.0)
    ran = CommandLine(lab).run("offers", "explain", target)
    assert ran.status == 0, ran.err
    return ran.out


LIMIT = {"limits": {"cpus": {"value": 2}, "mem": {"value": 1024}}}
GUARANTEE = {
    "guarantees": {"cpus": {"value": 2}, "mem": {"value": 3072}},
    "limits": {"cpus": {"value": 4}, "mem": {"value": 4096}},
}


@pytest.mark.parametrize(("others", "helps"), [({}, True), ({"web": GUARANTEE}, False)])
def test_a_higher_limit_is_advised_only_if_something_is_left_for_it(others, helps):
    said = explained("spark", ("spark", "ads"), ads=LIMIT, **others)
    assert "beyond the limit of ads" in said
    needed = "raise the limit of ads with mesosctl quota update ads --limit 'cpus:4;mem:4GiB'"
    assert (needed in said) is helps


PARTLY = """mesos_version = "1.11"
quotas.ads.limit = "cpus:5"
quotas.web.guarantee = "cpus:{promised}"
[[agents]]
resources = "cpus:8;mem:4096"
[[frameworks]]
name = "spark"
role = "ads"
task = "cpus:3;mem:256"
tasks = 9
"""


@pytest.mark.parametrize(("promised", "limit"), [(1, 8), (3, None)])
def test_a_limit_that_leaves_less_than_a_task_needs_is_named(folder, promised, limit):
    """Two cpus are left under the limit, and refused: the tasks need three.  What web is promised stays its own."""
    (folder / "cluster.toml").write_text(PARTLY.format(promised=promised), encoding="utf-8")
    said = typed("offers explain ads", folder, "fake:cluster.toml").out
    assert "could be offered 2 cpus " in said
    way_out = f"  for more, raise the limit of ads with mesosctl quota update ads --limit cpus:{limit}\n"
    assert (" within the limit of ads, " in said, way_out in said) == (limit is not None, limit is not None)


def test_two_frameworks_of_one_name_have_their_short_ids():
    said = explained("spark", ("spark", "ads"), ("spark", "web"))
    first, second = said.splitlines()[:2]
    assert first.startswith("spark (0000) in role ads ")
    assert second.startswith("spark (0001) in role web ")


def test_an_own_guarantee_is_not_advised_where_everything_is_promised():
    guaranteed = {"guarantees": {"cpus": {"value": 4}, "mem": {"value": 4096}}}
    said = explained("spark", ("spark", "ads"), db=guaranteed)
    assert "of db with mesosctl quota remove db\n" in said
    assert "one of its own" not in said


@pytest.mark.parametrize(("promised", "helps"), [(2, True), (4, False)])
def test_capping_a_holder_is_advised_only_if_the_role_could_have_its_offers(promised, helps):
    guaranteed = {"guarantees": {"cpus": {"value": promised}, "mem": {"value": promised * 1024}}}
    said = explained("spark", ("spark", "ads"), ("shop", "web"), web=guaranteed)
    assert "offered to shop" in said
    assert ("cap role web with a quota limit" in said) is helps
