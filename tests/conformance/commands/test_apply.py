"""`mesosctl export`, `diff` and `apply` on every carrier: what is wanted is what the master then has."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.command_line import run_command
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier
from tests.conformance.masters.cluster import Cluster

SETUP = quick(
    "cpus:8;mem:4096;disk:1000;ports:[31000-31009]", "cpus:8;mem:4096;disk:1000;cpus(dept):2;ports:[31000-31009]"
)
OWN_MASTER = True  # weights cannot be taken away again
Apply = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(master: Cluster, tmp_path: Path) -> Apply:
    """Run a verb on a file of wishes; its status and JSON."""

    def words(verb: str, text: str | None = None, *more: str, gives: int = 0) -> tuple[int, Any]:
        targets = () if text is None else ("-f", "-", "-o", "json")
        yes = ("--yes",) if verb == "apply" else ()
        ran = run_command(master, verb, *targets, *yes, *more, stdin=text or "", XDG_STATE_HOME=str(tmp_path))
        assert ran.status in (0, 1, gives), ran.err
        return ran.status, ran.json if text is not None and ran.out else ran.out

    return words


def targets(master: Cluster, *, has_limits: bool) -> str:
    one, two = (agent["id"] for agent in master.agents())
    limit = "" if not has_limits else 'limit = "cpus:10"'
    return f"""
    [quotas.web]
    guarantee = "cpus:9;mem:2GiB"
    {limit}
    [quotas.db]
    guarantee = "cpus:3"
    [weights]
    web = 2.5
    "ads/x" = 0.5
    [[reservations]]
    agent = "{one}"
    role = "ads"
    resources = "cpus:2;mem:256;ports:[31000-31004]"
    labels = {{ why = "test" }}
    [[reservations]]
    agent = "{one}"
    role = "ads/x"
    under = ["ads"]
    resources = "cpus:1;ports:[31007-31008]"
    [[reservations]]
    agent = "{two}"
    role = "dept/team"
    under = ["dept"]
    resources = "cpus:1"
    """


def test_what_is_wanted_is_what_there_is(master: Cluster, run: Apply, carrier: Carrier) -> None:
    text = targets(master, has_limits=carrier.profile.knows_update_quota)
    assert run("diff", text)[0] == 1
    assert run("apply", text)[0] == 0
    assert run("diff", text) == (0, {"schema_version": 1, "kind": "wanted.differences", "differences": []})
    assert master.read("/weights") in (
        [{"role": "ads/x", "weight": 0.5}, {"role": "web", "weight": 2.5}],
        [{"role": "web", "weight": 2.5}, {"role": "ads/x", "weight": 0.5}],
    )
    one, two = master.agents()
    assert one["reserved_resources"]["ads"]["cpus"] == 2.0
    assert one["reserved_resources"]["ads"]["ports"] == "[31000-31004]"
    assert one["reserved_resources"]["ads/x"]["ports"] == "[31007-31008]"
    assert two["reserved_resources"]["dept/team"]["cpus"] == 1.0
    _, exported = run("export")
    assert run("diff", exported, "--prune")[0] == 0
    changed = exported.replace("cpus:2;", "cpus:1;").replace("[31007-31008]", "[31007-31007]")
    assert run("apply", changed)[0] == 0
    assert run("diff", changed, "--prune")[0] == 0
    assert run("apply", "quotas = {}\nweights = {}\nreservations = []", "--prune")[0] == 0
    assert [list(agent["reserved_resources"]) for agent in master.agents()] == [[], ["dept"]]
    assert not master.read("/quota").get("infos")
    assert run("apply", exported)[0] == 0
    assert run("diff", exported, "--prune")[0] == 0


def test_quotas_change_places_in_a_full_cluster(master: Cluster, run: Apply, carrier: Carrier) -> None:
    if not carrier.profile.knows_update_quota:
        pytest.skip("a quota can only be replaced there, and no order does it")
    first = '[quotas.a]\nguarantee = "cpus:12;mem:1024"\n[quotas.b]\nguarantee = "cpus:4;mem:7168"\n'
    second = '[quotas.a]\nguarantee = "cpus:4;mem:7168"\n[quotas.b]\nguarantee = "cpus:12;mem:1024"\n'
    assert run("apply", first)[0] == 0
    status, plan = run("apply", second)
    assert status == 0
    assert [step["of"] for step in plan["steps"]] == ["a", "b", "a"]
    assert run("diff", second)[0] == 0


def test_reservations_go_before_limits_that_they_count_against(master: Cluster, run: Apply, carrier: Carrier) -> None:
    if not carrier.profile.knows_update_quota:
        pytest.skip("there are no limits there")
    agent = master.agents()[0]["id"]
    held = '[[reservations]]\nagent = "{}"\nrole = "a"\nresources = "cpus:{}"\n[quotas.a]\nlimit = "cpus:{}"\n'
    assert run("apply", held.format(agent, 6, 6))[0] == 0
    assert run("apply", held.format(agent, 2, 2))[0] == 0
    assert run("diff", held.format(agent, 2, 2))[0] == 0
    assert run("apply", held.format(agent, 6, 6))[0] == 0
    assert run("apply", '[quotas.a]\nlimit = "cpus:1"', gives=3)[0] == 3  # the reservations stay, so it cannot be
    assert run("diff", held.format(agent, 6, 6))[0] == 0
