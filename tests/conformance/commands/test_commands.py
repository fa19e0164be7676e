"""Commands give the same exit status, rule and JSON on every carrier."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.command_line import run_for_json
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import SECRET, Setup
from tests.conformance.scenarios.setups import STANDARD

LOCKED = Setup(
    agents=STANDARD.agents,
    flags={"authenticate_http_readwrite": "true"},
    principals=("op", "dev"),
    acls={
        "permissive": False,
        "register_agents": [{"principals": {"type": "ANY"}, "agents": {"type": "ANY"}}],
        "reserve_resources": [{"principals": {"type": "ANY"}, "roles": {"type": "ANY"}}],
        "get_quotas": [{"principals": {"type": "ANY"}, "roles": {"type": "ANY"}}],
        "view_roles": [{"principals": {"type": "ANY"}, "roles": {"type": "ANY"}}],
        "view_flags": [{"principals": {"type": "ANY"}, "flags": {"type": "ANY"}}],
        "update_quotas": [{"principals": {"values": ["op"]}, "roles": {"type": "ANY"}}],
    },
)


@dataclass(frozen=True)
class Typed:
    """Words, how they end, and what they say in JSON: of an error its rule."""

    words: str
    status: int
    says: Any = None


FULL = {"cpus": 16.0, "mem": 8192.0}
HISTORIES = {
    "set, list, remove": (
        Typed("quota list", 0, []),
        Typed("quota set web cpus:12 mem:6GiB", 0),
        Typed("quota list", 0, [("web", {"cpus": 12.0, "mem": 6144.0})]),
        Typed("quota show web", 0),
        Typed("quota remove web", 0),
        Typed("quota list", 0, []),
    ),
    "both interfaces": (
        Typed("quota set web cpus:1 --api v1", 0),
        Typed("quota set ops cpus:2 --api v0", 0),
        Typed("quota update web cpus:3 --api v0 --yes", 0),
        Typed("quota list", 0, [("ops", {"cpus": 2.0}), ("web", {"cpus": 3.0})]),
        Typed("quota remove web ops", 0),
    ),
    "exact amounts": (
        Typed("quota set web cpus:0.1 mem:0.001", 0),
        Typed("quota list", 0, [("web", {"cpus": 0.1, "mem": 0.001})]),
        Typed("quota set ads cpus:0.0001", 3, "resource.precision"),
    ),
    "equality with capacity passes, more is a conflict": (
        Typed("quota check web cpus:16 mem:8192", 0),
        Typed("quota set web cpus:16 mem:8192", 0),
        Typed("quota check ads cpus:1000", 1),
        Typed("quota set ads cpus:1000", 6, "quota.capacity"),
        Typed("quota set ads cpus:1000 --force", 0),
        Typed("quota list", 0, [("ads", {"cpus": 1000.0}), ("web", FULL)]),
        Typed("quota remove ads web", 0),
    ),
    "refusals": (
        Typed("quota set a/b cpus:1", 3, "quota.nested"),
        Typed("quota set -- -a cpus:1", 3, "role.syntax"),
        Typed("quota set web cpus:0", 3, "quota.above-zero"),
        Typed("quota set web cpus:1 cpus:2", 3, "quota.duplicate-name"),
        Typed("quota set web ports:[1-2]", 3, "quota.scalar-only"),
        Typed("quota set web cpus(ads):1", 3, "quota.unreserved-only"),
        Typed("quota set web cpus:2000000000000 --force", 3, "quota.too-large"),
        Typed("quota set web cpus:1", 0),
        Typed("quota set web cpus:1 --force", 3, "quota.already-set"),
        Typed("quota remove web nobody", 5, "quota.exists"),
        Typed("quota show nobody", 5, "quota.exists"),
        Typed("quota update nobody cpus:1", 5),
        Typed("quota list", 0, [("web", {"cpus": 1.0})]),
        Typed("quota remove web", 0),
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_typed_history_ends_as_it_should(name: str, carrier: Carrier, pool: Pool):
    master = pool.lend(carrier, STANDARD)
    for step in HISTORIES[name]:
        status, said = run_for_json(master, step.words)
        assert status == step.status, (step, said)
        if status == 0 and step.says is not None:
            assert [(entry["role"], entry["guarantee"]) for entry in said["quotas"]] == step.says, step
        elif step.says is not None:
            assert said["rule"] == step.says, (step, said)


def test_limits_of_a_new_master(carrier: Carrier, pool: Pool):
    if not carrier.profile.knows_update_quota:
        pytest.skip("a master before 1.9 has no limits to update")
    master = pool.lend(carrier, STANDARD)
    assert run_for_json(master, "quota set web cpus:2")[0] == 0
    assert run_for_json(master, "quota update web cpus:2 --limit cpus:4;mem:1GiB")[0] == 0
    _, shown = run_for_json(master, "quota list")
    assert shown["quotas"][0]["limit"] == {"cpus": 4.0, "mem": 1024.0}
    status, refused = run_for_json(master, "quota update web cpus:5 --limit cpus:4")
    assert (status, refused["rule"]) == (3, "quota.guarantee-within-limit")


def test_who_asks_decides(carrier: Carrier, pool: Pool, tmp_path: Path):
    master = pool.lend(carrier, LOCKED)
    secret = tmp_path / "secret"

    def as_principal(name: str, words: str, secret_text: str | None = None) -> int:
        secret.write_text(SECRET.format(name) if secret_text is None else secret_text)
        secret.chmod(0o600)
        return run_for_json(master, words, "--principal", name, "--secret-file", str(secret))[0]

    assert run_for_json(master, "quota list")[0] == 4
    assert run_for_json(master, "quota set web cpus:1")[0] == 4
    assert as_principal("op", "quota list", "wrong") == 4
    assert as_principal("dev", "quota set web cpus:1") == 4
    assert as_principal("dev", "quota list") == 0
    assert as_principal("op", "quota set web cpus:1") == 0
    assert as_principal("dev", "quota remove web") == 4
    assert as_principal("op", "quota remove web") == 0
