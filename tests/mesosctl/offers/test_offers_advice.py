"""`offers explain` advises only what helps here: each remedy is tried on a copy of the cluster first."""

from pathlib import Path
from typing import Any

import pytest

from tests.mesosctl.program.mistakes.mistake import typed

NEEDY = '[[frameworks]]\nname = "needy"\nrole = "web"\ntask = "cpus:1;mem:64"\n'
UNRESERVE = "use mesosctl unreserve AGENT RESOURCES --role db to release"
SUBSCRIBE = "have the framework subscribe with"


def explained(folder: Path, cluster: str) -> dict[str, Any]:
    (folder / "cluster.toml").write_text(f'mesos_version = "1.11"\n{cluster}', encoding="utf-8")
    ran = typed("offers explain needy -o json", folder, "fake:cluster.toml")
    assert ran.status == 0, ran.err
    (found,) = ran.json["explanations"]
    return dict(found)


def test_a_role_at_its_limit_is_told_so_while_others_hold_the_rest(folder):
    big = '[[frameworks]]\nname = "big"\nrole = "big"\ntask = "cpus:4;mem:64"\ntasks = 5\n'
    agents = '[[agents]]\nresources = "cpus:12;mem:24GiB"\ncount = 2\n'
    said = explained(folder, f'quotas.web.limit = "cpus:4"\n{agents}{big}{NEEDY}')
    assert said["reason"] == "limit"
    assert "web has reached its limit of 4 cpus" in said["answer"]
    assert "of 24, 20 are used by big (role big)" in said["answer"]
    (helping,) = said["helps"]
    assert helping.startswith("wait for tasks of role web to end; ")
    assert "with mesosctl quota update web --limit cpus:5, " in helping
    assert helping.endswith(" other tasks to end or add agents")


def test_a_role_whose_limit_is_zero_is_told_to_raise_it_alone(folder):
    big = '[[frameworks]]\nname = "big"\nrole = "big"\ntask = "cpus:8;mem:64"\n'
    said = explained(folder, f'quotas.web.limit = "cpus:0"\n[[agents]]\nresources = "cpus:8;mem:1024"\n{big}{NEEDY}')
    assert said["reason"] == "limit"
    (helping,) = said["helps"]
    assert helping.startswith("raise the limit of web with ")
    assert "mesosctl quota update web --limit cpus:1, " in helping
    assert helping.endswith(" other tasks to end or add agents")


@pytest.mark.parametrize(
    ("reserved", "unreserve", "subscribe"),
    [("cpus:4", True, True), ("cpus:0.005", False, False)],
    ids=["enough", "too little"],
)
def test_a_reservation_is_undone_only_if_that_leaves_something_to_offer(folder, reserved, unreserve, subscribe):
    big = '[[frameworks]]\nname = "big"\nrole = "big"\ntask = "cpus:3.995;mem:1024"\ntasks = 2\n'
    rest = f'[[reservations]]\nagent = "a1"\nrole = "db"\nresources = "{reserved}"\n'
    said = explained(folder, f'[[agents]]\nhostname = "a1"\nresources = "cpus:7.995;mem:2048"\n{rest}{big}{NEEDY}')
    helps = " ".join(said["helps"])
    assert (UNRESERVE in helps, SUBSCRIBE in helps) == (unreserve, subscribe), said


def test_what_others_leave_behind_is_no_advice_if_a_guarantee_takes_it(folder):
    big = '[[frameworks]]\nname = "big"\nrole = "big"\ntask = "cpus:8;mem:1024"\n'
    agents = '[[agents]]\nresources = "cpus:8;mem:1024"\n'
    said = explained(folder, f'quotas.gone.guarantee = "cpus:8;mem:1024"\n{agents}{big}{NEEDY}')
    assert not any("wait for tasks to end" in sentence for sentence in said["helps"]), said


ONE_AGENT = '[[agents]]\nresources = "cpus:8;mem:1024"\n'
BIG = '[[frameworks]]\nname = "big"\nrole = "big"\ntask = "cpus:8;mem:1024"\n'


@pytest.mark.parametrize(
    ("cluster", "ways"),
    [
        (f"{ONE_AGENT}{BIG}{NEEDY}", "wait for tasks to end, or add agents; with a guarantee, "),
        (f"{ONE_AGENT}{NEEDY.replace('cpus:1', 'cpus:8')}", "wait for tasks to end, or add agents"),
        (f'quotas.big.guarantee = "cpus:8;mem:1024"\n{ONE_AGENT}{BIG}{NEEDY}', "add agents"),
    ],
    ids=["others use it", "its own tasks use it", "a guarantee keeps what ends"],
)
def test_waiting_and_agents_are_advised_each_by_itself(folder, cluster, ways):
    said = explained(folder, cluster)
    assert any(sentence.startswith(ways) for sentence in said["helps"]), said


BELOW_GUARANTEE = """
mesos_version = "1.11"
[[agents]]
hostname = "a1"
resources = "cpus:24;mem:4096"
[quotas.web]
guarantee = "cpus:20"
limit = "none"
[[frameworks]]
name = "reports"
role = "batch"
task = "cpus:1;mem:64"
[[frameworks.running]]
agent = "a1"
tasks = 10
resources = "cpus:10;mem:640"
[[frameworks]]
name = "shop"
role = "web"
task = "cpus:1;mem:64"
[[frameworks.running]]
agent = "a1"
tasks = 14
resources = "cpus:14;mem:896"
"""


def of_role(folder: Path, role: str, output: str = "json") -> Any:
    (folder / "cluster.toml").write_text(BELOW_GUARANTEE, encoding="utf-8")
    ran = typed(f"offers explain {role} -o {output}", folder, "fake:cluster.toml")
    assert ran.status == 0, ran.err
    return ran.json["explanations"][0] if output == "json" else " ".join(ran.out.split())


def test_a_role_below_its_guarantee_is_ahead_of_one_with_a_smaller_share(folder):
    web, batch = of_role(folder, "web"), of_role(folder, "batch")
    assert (web["ahead"], web["lacking"]) == ([], {"cpus": 6.0})
    assert (batch["ahead"], batch["lacking"]) == (["web"], {})
    assert "served before batch when resources become free: web" in of_role(folder, "batch", "table")


def test_a_sentence_about_a_role_is_said_once_for_all_its_frameworks(folder, monkeypatch):
    another = BELOW_GUARANTEE + '[[frameworks]]\nname = "another"\nrole = "batch"\ntask = "cpus:1;mem:64"\n'
    monkeypatch.setitem(globals(), "BELOW_GUARANTEE", another)
    said = of_role(folder, "batch", "wide")
    assert "another in role batch" in said
    assert said.count("served before batch") == 1


def test_a_role_below_its_guarantee_is_told_what_it_lacks_and_to_get_no_guarantee(folder):
    said = of_role(folder, "web", "table")
    assert "web lacks 6 cpus of its guarantee, " in said
    assert "so it is served first" in said
    assert "quota room" not in said


def test_only_guarantees_that_keep_the_missing_resource_are_to_be_lowered(folder):
    app = '[quotas.app]\nguarantee = "cpus:6;mem:1GiB"\nlimit = "cpus:6"\n'
    ads = '[quotas.ads]\nguarantee = "cpus:4"\nlimit = "cpus:4"\n'
    agent = '[[agents]]\nresources = "cpus:10;mem:10GiB"\n'
    full = '[[frameworks]]\nname = "full"\nrole = "app"\ntask = "cpus:1;mem:100MiB"\ntasks = 6\n'
    (first, *_) = explained(folder, app + ads + agent + full + NEEDY)["helps"]
    assert "mesosctl quota update ads none" in first, "app keeps only mem"
    assert "quota update app" not in first
