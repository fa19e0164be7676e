"""`offers explain` names the known cause of a situation, on a real master and on the fake one."""

from pathlib import Path
from typing import Any

import pytest

from mesosctl.mesos.errors import MasterFailed
from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.holding import amounts
from tests.conformance.forecasts.explanation_cases import BY_RELEASE, SITUATIONS
from tests.conformance.forecasts.forecasting import Case, World, everything, world_of
from tests.conformance.forecasts.situation import Situation
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier, Pool, in_process_of, real_of


def explained(world: World, subject: str) -> dict[str, Any]:
    """What is said of one framework."""
    target = world.frameworks[-1].id if subject == "@last" else subject
    status, said = run_for_json(world.master, f"offers explain {target}")
    assert status == 0, said
    (explanation,) = said["explanations"]
    found: dict[str, Any] = explanation
    return found


def total(parts: list[dict[str, Any]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for part in parts:
        for name, amount in part["amounts"].items():
            sums[name] = round(sums.get(name, 0.0) + amount, 3)
    return sums


@pytest.mark.parametrize("carrier", [IN_PROCESS, REAL], ids=str, indirect=True, scope="session")
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_cause_is_named(name: str, carrier: Carrier, pool: Pool, tmp_path: Path) -> None:
    check(SITUATIONS[name], carrier, pool, tmp_path)


OF_RELEASES = [
    pytest.param(situation, master, id=f"{name}-{master}")
    for name, by_releases in BY_RELEASE.items()
    for releases, situation in by_releases.items()
    for release in releases
    for master in (in_process_of(release), real_of(release))
]


@pytest.mark.parametrize(("situation", "of_release"), OF_RELEASES)
def test_each_release_is_explained_as_itself(
    situation: Situation, of_release: Carrier, pool: Pool, tmp_path: Path
) -> None:
    check(situation, of_release, pool, tmp_path, revives=True)


def check(situation: Situation, carrier: Carrier, pool: Pool, tmp_path: Path, *, revives: bool = False) -> None:
    """Explain a situation; with `revives`, the last framework is then offered what is said to be open for it."""
    case = Case(situation.setup, situation.prepared, "", None, 0, tasks=situation.tasks)
    with world_of(case, carrier, pool, tmp_path) as world:
        before = everything(world)
        said = explained(world, situation.subject)
        assert everything(world) == before, "explaining changes nothing"
        agents = world.master.read("/slaves")["slaves"]
        if revives:
            last = world.frameworks[-1]
            had = dict(amounts(last, "cpus", "mem"))
            last.ask("REVIVE")
            world.settle()
            got = amounts(last, "cpus", "mem")
            assert {name: got.get(name, 0) - had.get(name, 0) for name in ("cpus", "mem")} == {
                name: said["open"].get(name, 0) for name in ("cpus", "mem")
            }
    assert said["reason"] == situation.reason, said
    assert (
        situation.line.items()
        <= next((line for line in said["lines"] if situation.line.items() <= line.items()), {}).items()
    ), said["lines"]
    assert situation.says in said["answer"]
    assert any(situation.helps in sentence for sentence in said["helps"] or [""]), said["helps"]
    if situation.open is not None:
        assert {name for name, amount in said["open"].items() if amount} == situation.open
    for name in ("cpus", "mem", "disk"):
        assert total(said["lines"]).get(name, 0.0) == sum(agent["resources"][name] for agent in agents), (
            "the lines add up to the cluster"
        )
    assert total(said["lines"]) == total([line for agent in said["agents"] for line in agent["lines"]])


def test_without_metrics_refusals_are_unknown(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    situation = SITUATIONS["it has declined everything for long"]
    monkeypatch.setattr("mesosctl.offers.explanation._numbers", _no_metrics)
    case = Case(situation.setup, situation.prepared, "", None, 0)
    with world_of(case, IN_PROCESS, pool, tmp_path) as world:
        said = explained(world, "ads")
    assert (said["reason"], said["refusals"]) == ("unknown", None)
    assert any("does not say whether any are in force" in sentence for sentence in said["unknown"])


def _no_metrics(_: object) -> dict[str, float]:
    raise MasterFailed("metrics are not given in time")
