"""A master that lends does as its forecast says: rescinds, offers and evictions."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mesosctl.__main__ import main
from tests.fake_master.extensions.lending.playing import LENT, Play, cluster_file
from tests.fake_master.extensions.lending.stage import Player, Stage, in_process, kind_of, on_socket, sums
from tests.helpers.surroundings import InMemory

STOP_SECONDS = 2.0
"""What the cluster files of these tests say."""
INTERVAL = 0.2
RUNNING = f"""
{LENT}
T launches t0 regular 1/100
T offered regular:3/300
T launches t1 lent 2/200
T offered lent:4/400
T launches t2 lent 3/300
T offered lent:1/100
"""
DYNAMIC = "cpus:10;mem:1000"
RESERVED = """
reserve lender 6/600
join L lender
L offered regular:10/1000
L declines for 3600
join T tenant REVOCABLE_RESOURCES
T offered regular:4/400 lent:6/600
T launches t0 regular 4/400
T launches t1 lent 2/200
T offered lent:4/400
T launches t2 lent 4/400
"""


@dataclass(frozen=True)
class Case:
    """What has happened, the change in words, and the steps that make it; then steps that use what is offered."""

    before: str
    words: str
    change: str
    agent: str = ""
    use: str = ""
    evicted: tuple[str, ...] = ()
    """Who goes for it, in this order."""


CASES = {
    "nothing is taken for a guarantee that is free": Case(LENT, "quota:web=cpus:1", "guarantee web 1/0"),
    "a reservation is offered to its owner, and what was lent comes back": Case(
        LENT, "reserve:A=cpus(lender):2;mem(lender):200", "reserve lender 2/200"
    ),
    "tasks run on, until the owner uses what it is offered": Case(
        RUNNING,
        "reserve:A=cpus(lender):1;mem(lender):100",
        "reserve lender 1/100",
        use="L launches big regular 9/900",
        evicted=("t2", "t1"),
    ),
    "the lender has gone": Case(RUNNING, "--lose-framework L", "L leaves"),
    "a tenant has gone": Case(RUNNING, "--lose-framework T", "T leaves"),
    "what was lent is reserved no more": Case(
        RESERVED,
        "unreserve:A=cpus(lender):6;mem(lender):600",
        "unreserve lender 6/600",
        DYNAMIC,
        use="L launches big regular 6/600",
        evicted=("t2", "t1"),
    ),
}


def staged(stage: Stage, steps: str) -> Play:
    playing = Play(stage)
    for line in filter(None, steps.splitlines()):
        playing.step(line)
    return playing


@pytest.fixture(params=["in process", pytest.param("on a socket", marks=[pytest.mark.process, pytest.mark.socket])])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage_of(carrier: str, tmp_path: Path) -> Iterator[Any]:
    started: list[Stage] = []

    def start(**scenario: Any) -> Stage:
        if carrier == "in process":
            stage = in_process(cluster_file(scenario, tmp_path))
        else:
            stage = on_socket(cluster_file(scenario, tmp_path, INTERVAL), INTERVAL)
        started.append(stage)
        return stage

    yield start
    for stage in started:
        stage.cluster.stop()


def typed(stage: Stage, *words: str) -> str:
    environment = InMemory(
        variables={"MESOSCTL_MASTER": stage.cluster.address},
        transport=stage.cluster.transport,
    )
    status = main(list(words), environment)
    assert status in (0, 1), environment.err
    return environment.out


def forecast(stage: Stage, *words: str) -> Any:
    return json.loads(typed(stage, "whatif", *words, "-o", "json"))


def rescinded(player: Player) -> Counter[str]:
    """Every offer that was ever taken back."""
    events = player.framework.stream.events
    taken = [player.ever[event["rescind"]["offer_id"]["value"]] for event in events if event["type"] == "RESCIND"]
    return Counter(f"{kind_of(offer)} {sorted(sums(offer['resources']).items())}" for offer in taken)


def plain(amounts: dict[str, float]) -> dict[str, float]:
    """Amounts under their plain names, also if they are revocable."""
    return {name.removesuffix("_revocable"): amount for name, amount in amounts.items()}


def foretold(said: Any, name: str) -> Counter[str]:
    kinds = {"regular": "regular", "throttleable": "throttleable", "non-throttleable": "lent"}
    return Counter(
        f"{kinds[offer['revocability']]} {sorted(plain(offer['resources']['amounts']).items())}"
        for offer in said["rescinded"]
        if offer["framework"] == name and offer["out_now"]
    )


def held(stage: Stage) -> dict[str, Any]:
    """What everybody uses and is offered, as the master shows it."""
    shown = stage.cluster.read("/frameworks")["frameworks"]
    return {
        framework["name"]: tuple(
            {name: amount for name, amount in framework[part].items() if amount}
            for part in ("used_resources", "offered_resources")
        )
        for framework in shown
    }


def held_then(said: Any) -> dict[str, Any]:
    return {
        party["name"]: tuple(party["after"][part] for part in ("used", "offered"))
        for party in said["frameworks"]
        if party["after"]["used"] or party["after"]["offered"]
    }


@pytest.mark.parametrize("name", CASES)
def test_what_is_forecast_is_what_happens(name: str, stage_of: Any) -> None:
    case = CASES[name]
    stage: Stage = stage_of(**({"agent": case.agent} if case.agent else {}))
    playing = staged(stage, case.before)
    before = held(stage)
    said = forecast(stage, *case.words.split(" "))
    assert held(stage) == before, "a forecast changes nothing"
    assert said["accepted"]
    assert not any(what["what"] == "offer filters" for what in said["unknowns"])
    had = {player: rescinded(playing.players[player]) for player in playing.players}
    playing.step(case.change)

    def present() -> dict[str, Any]:
        return {name: both for name, both in held(stage).items() if any(both)}

    # What an operator took back is refused for five seconds, which are real on a socket.
    if stage.master is not None:
        playing.step("wait 8")
    assert playing.sooner_or_later(lambda: present() == held_then(said)), (present(), held_then(said))
    stayed = [player for player in playing.players if f"{player} leaves" not in case.change]

    def taken_back() -> bool:
        taken = {player: rescinded(playing.players[player]) - had[player] for player in stayed}
        return taken == {player: foretold(said, player) for player in stayed}

    assert playing.sooner_or_later(taken_back)
    assert not any(task["happens"] for task in said["evicted"])
    assert sorted(task["task_id"] for task in said["evicted"] if task["caused"]) == sorted(case.evicted)
    for line in case.use.splitlines():
        user = playing.players[line.split()[0]]
        assert playing.sooner_or_later(lambda user=user: user.offers)
        playing.step(line)
    for task in case.evicted:
        playing.step(f"T hears {task} TASK_LOST REASON_CONTAINER_PREEMPTED")


def test_it_names_task_framework_agent_and_time(stage_of: Any) -> None:
    case = CASES["what was lent is reserved no more"]
    stage: Stage = stage_of(agent=DYNAMIC)
    staged(stage, case.before)
    task, other = forecast(stage, case.words)["evicted"]
    assert other["task_id"] == "t1"
    assert {key: task[key] for key in ("task_id", "framework", "role", "hostname")} == {
        "task_id": "t2",
        "framework": "T",
        "role": "tenant",
        "hostname": "A",
    }
    assert task["resources"]["amounts"] == {"cpus_revocable": 4.0, "mem_revocable": 400.0}
    assert (task["grace_seconds"], task["caused"], task["runs_now"]) == (STOP_SECONDS, True, True)
    text = typed(stage, "whatif", case.words)
    amounts = "4 revocable cpus and 400MiB revocable mem"
    sentence = f"T/t2 tenant A: {amounts}, {STOP_SECONDS:g} s to end, once what is offered there"
    assert "tasks evicted: 2:" in text
    assert sentence in text
    assert sentence in typed(stage, "whatif", case.words, "--report", "-")


def test_those_who_use_what_they_are_offered_drive_tenants_out(stage_of: Any, tmp_path: Path) -> None:
    case = CASES["what was lent is reserved no more"]
    stage: Stage = stage_of(agent=DYNAMIC)
    staged(stage, case.before)
    said = forecast(stage, case.words, "--assume", "accept")
    assert said["accepted"]
    gone = [task["task_id"] for task in said["evicted"] if task["happens"] and task["runs_now"]]
    assert gone == list(case.evicted)
    used = {party["name"]: party["after"]["used"] for party in said["frameworks"]}
    assert "cpus_revocable" not in used["T"]
    file = tmp_path / "cluster.json"
    typed(stage, "snapshot", "-f", str(file))
    again = forecast(stage, case.words, "--assume", "accept", "--from", str(file))
    assert (again["evicted"], again["rescinded"]) == (said["evicted"], said["rescinded"])


def test_a_dry_run_tells_it_too(stage_of: Any) -> None:
    case = CASES["what was lent is reserved no more"]
    stage: Stage = stage_of(agent=DYNAMIC)
    staged(stage, case.before)
    words = ["unreserve", "A", "cpus:6;mem:600", "--role", "lender", "--dry-run", "-o", "json"]
    said = json.loads(typed(stage, *words))
    assert [task["task_id"] for task in said["evicted"]] == ["t2", "t1"]


def test_who_might_have_to_go_before_is_not_the_changes_doing(stage_of: Any) -> None:
    stage: Stage = stage_of()
    staged(stage, f"{RUNNING}\nL revives\nL offered regular:6/600\nT rescinded lent")
    said = forecast(stage, "weight:web=2")
    assert [(task["task_id"], task["caused"]) for task in said["evicted"]] == [("t2", False), ("t1", False)]
    assert said["harmless"]


def test_the_copy_of_a_snapshot_is_no_different(stage_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    stage: Stage = stage_of()
    staged(stage, f"{RUNNING}\nT declines lent for 3600")
    file = tmp_path / "cluster.json"
    typed(stage, "snapshot", "-f", str(file))
    said = json.loads(typed(stage, "--master", f"fake:{file}", "snapshot", "--compare", str(file), "-o", "json"))
    assert said["changes"] == []


def test_without_names_as_many_would_have_to_go(stage_of: Any, tmp_path: Path) -> None:
    case = CASES["what was lent is reserved no more"]
    stage: Stage = stage_of(agent=DYNAMIC)
    staged(stage, case.before)
    file = tmp_path / "shape.json"
    typed(stage, "snapshot", "--anonymise", "-f", str(file))
    free_resources = json.loads(file.read_text())
    hidden = {task["id"] for task in free_resources["tasks"]}
    (owner,) = {refusal["role"] for refusal in free_resources["refusals"]}
    said = forecast(stage, f"unreserve:host-1=cpus({owner}):6;mem({owner}):600", "--from", str(file))
    assert len(hidden & {task["task_id"] for task in said["evicted"]}) == len(case.evicted)
    shown = {word for task in said["evicted"] for word in task.values() if isinstance(word, str)}
    assert not shown & {"t1", "t2", "T", "L", "tenant"}
