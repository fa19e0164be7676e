"""With --roles there are those roles and no others, whatever stands above or below them in the tree."""

import json

import pytest

from tests.conformance.callers.joining import joining, quick
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.scenario import config

LISTED = ("a", "b/x")
NOT_LISTED = ("a/x", "a/x/y", "b", "b/x/y", "b/y", "ab", "x", "new")
SETUP = quick("cpus:4;mem:1024", flags={"roles": ",".join(LISTED)})


@pytest.fixture
def master(carrier: Carrier, pool: Pool) -> Cluster:
    return pool.lend(carrier, SETUP)


def put(master: Cluster, *roles: str) -> int:
    content = json.dumps([{"role": role, "weight": 2} for role in roles])
    return master.request("PUT", "/weights", content=content).status


def update(master: Cluster, *roles: str) -> int:
    infos = [{"role": role, "weight": 2} for role in roles]
    return master.call("UPDATE_WEIGHTS", update_weights={"weight_infos": infos}).status


def test_weights_are_those_of_its_roles(master: Cluster) -> None:
    for ask in (put, update):
        assert ask(master, *LISTED, "*") == 200
        for role in NOT_LISTED:
            assert ask(master, role) == 400, role
            assert ask(master, "a", role) == 400, role
            assert ask(master, role, "a") == 400, role
    assert sorted(one["role"] for one in master.read("/weights")) == ["*", *LISTED]


def test_quotas_are_those_of_its_roles(master: Cluster) -> None:
    configs = {role: config(role, {"cpus": 1}) for role in ("a", "b", "new")}
    for roles, status in ((["a"], 200), (["b"], 400), (["a", "new"], 400), (["new", "a"], 400)):
        body = {"quota_configs": [configs[role] for role in roles]}
        assert master.call("UPDATE_QUOTA", update_quota=body).status == status, roles


def test_frameworks_are_in_its_roles(master: Cluster, carrier: Carrier) -> None:
    with joining(master) as join:
        for roles in (LISTED, ("a",), ("b/x",), ("*",)):
            join(*roles).subscribe()
        for role in NOT_LISTED:
            for roles in ((role,), ("a", role)):
                outsider = join(*roles)
                outsider.open()
                assert outsider.closed(), roles
                assert [event["type"] for event in outsider.stream.events] == ["ERROR"], roles
    shown = {one["name"] for one in master.read("/roles")["roles"]}
    assert shown == {"*", *LISTED, *(["b"] if carrier.profile.whitelist_shows_roles_above else [])}
