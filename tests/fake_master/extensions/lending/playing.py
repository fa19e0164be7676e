"""Plays the words of scenarios.toml on a stage.  One step a line; amounts are `cpus/mem`.

join NAME ROLE [CAPABILITY …]               a framework, by which the next lines may begin
NAME offered KIND:AMOUNTS … | nothing       the next OFFERS event, whole; KIND may be AGENT@KIND
NAME declines [KIND …] for SECONDS
NAME launches TASK KIND AMOUNTS [rest SECONDS]
NAME launches TASK on an old KIND offer AMOUNTS
NAME mixes TASK KIND+KIND AMOUNTS           one task of two offers
NAME kills TASK
NAME revives | suppresses | leaves
NAME rescinded KIND … | nothing             since the last time this was asked
NAME hears TASK STATE [REASON]
NAME runs | waits TASK
NAME debt AMOUNTS                           inside only; so are the next two
debts nothing
terms TERM AMOUNTS …
launches take SECONDS                       inside only: tasks reach their agent late
slack | lent AMOUNTS                        as the master shows it
evictions NUMBER
wait SECONDS
estimator AMOUNTS                           the first agent reports slack of use
guarantee | reserve | unreserve ROLE AMOUNTS
"""

import json
from pathlib import Path
from typing import Any

import httpx

from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.extensions.lending.revocable_tasks import RevocableTasks
from fake_master.master import Master
from mesosctl.mesos.amounts.quantities import Quantities
from tests.conformance.callers.frameworks import Framework
from tests.fake_master.extensions.lending.stage import KINDS, Amounts, Player, Stage, kind_of, part_of, sums, task_of
from tests.helpers.waiting import PATIENCE

QUIET_INTERVALS = 2.5
"""Without an offer in so many allocations there is none."""
_JSON = {"Content-Type": "application/json"}

LENT = """
join L lender
L offered regular:10/1000
L declines for 3600
join T tenant REVOCABLE_RESOURCES
T offered regular:4/400 lent:6/600
"""
"""What is idle of the lender's reservation is lent to a tenant."""


def amounts(text: str) -> Amounts:
    found = {name: float(number) for name, number in zip(("cpus", "mem"), text.split("/"), strict=True)}
    return {name: value for name, value in found.items() if value}


def resources(text: str, role: str | None = None) -> list[dict[str, Any]]:
    stack = {} if role is None else {"reservations": [{"type": "DYNAMIC", "role": role}]}
    return [
        {"name": name, "type": "SCALAR", "scalar": {"value": value}, **stack} for name, value in amounts(text).items()
    ]


class Play:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.players: dict[str, Player] = {}

    def step(self, line: str) -> None:
        first, *rest = line.split()
        if first in self.players:
            getattr(self, f"they_{rest[0]}")(self.players[first], *rest[1:])
        else:
            getattr(self, f"do_{first}")(*rest)

    def listen(self) -> None:
        for player in self.players.values():
            player.listen()

    def sooner_or_later(self, condition: Any, seconds: float = PATIENCE) -> bool:
        def until() -> bool:
            self.listen()
            return bool(condition())

        return self.stage.wait_for(until, seconds)

    def _inside(self) -> Master | None:
        """None on a socket, where nobody can look."""
        return self.stage.master

    # --- The cluster --------------------------------------------------------------------------------

    def do_join(self, name: str, role: str, *capabilities: str) -> None:
        able = ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)
        framework = Framework(self.stage.cluster, role, capabilities=able, name=name).subscribe()
        self.players[name] = Player(framework)

    def do_wait(self, seconds: str) -> None:
        self.sooner_or_later(lambda: False, float(seconds))

    def do_slack(self, text: str) -> None:
        def shown() -> Amounts:
            found = self.stage.cluster.agents()[0]["allocation_slack"]
            return {name: value for name, value in found.items() if value}

        assert self.sooner_or_later(lambda: shown() == amounts(text)), shown()

    def do_lent(self, text: str) -> None:
        prefix = "allocator/mesos/revocable/non_throttleable/resources"

        def shown() -> Amounts:
            figures = self.stage.cluster.read("/metrics/snapshot")
            found = {name: figures[f"{prefix}/{name}/allocated"] for name in ("cpus", "mem")}
            return {name: value for name, value in found.items() if value}

        assert self.sooner_or_later(lambda: shown() == amounts(text)), shown()

    def do_evictions(self, number: str) -> None:
        def evicted() -> float:
            figures: dict[str, float] = self.stage.cluster.read("/metrics/snapshot")
            return figures["master/revocable_evictions"]

        assert self.sooner_or_later(lambda: evicted() >= float(number))
        assert evicted() == float(number)

    def do_terms(self, *words: str) -> None:
        master = self._inside()
        if master is None:
            return
        assert isinstance(master.runtime, RevocableTasks)
        room = master.runtime.occupancy(next(iter(master.state.agents.values())))
        assert min(room.free_now().values(), default=0) >= 0
        names = {"rev": "occupied_rev", "waiting": "waiting_rev"}
        for term, text in zip(words[::2], words[1::2], strict=True):
            found: Quantities = getattr(room, names.get(term, term))
            assert found == _quantities(text), (term, str(found))

    def do_debts(self, nothing: str) -> None:
        assert nothing == "nothing"
        master = self._inside()
        if master is not None:
            assert isinstance(master.allocator, LendingAllocator)
            assert not any(agent.debt for agent in master.allocator.lent.agents.values())

    def do_estimator(self, text: str) -> None:
        body = ";".join(f"{name}:{value}" for name, value in amounts(text).items())
        assert self.stage.cluster.request("POST", "/slave(1)/oversubscribed", content=body).status == 200

    def do_guarantee(self, role: str, text: str) -> None:
        body = json.dumps({"role": role, "guarantee": resources(text), "force": True})
        assert self.stage.cluster.request("POST", "/quota", content=body, headers=_JSON).status == 200

    def do_reserve(self, role: str, text: str) -> None:
        self._operation("reserve", role, text)

    def do_unreserve(self, role: str, text: str) -> None:
        self._operation("unreserve", role, text)

    def _operation(self, deed: str, role: str, text: str) -> None:
        form = {"slaveId": self.stage.cluster.agents()[0]["id"], "resources": json.dumps(resources(text, role))}
        request = httpx.Request("POST", "http://x/", data=form)
        answer = self.stage.cluster.request(
            "POST", f"/{deed}", content=request.read(), headers={"Content-Type": request.headers["Content-Type"]}
        )
        assert answer.status == 202, answer.content

    def do_launches(self, take: str, seconds: str) -> None:
        assert take == "take"
        master = self._inside()
        assert master is not None, "not on a socket"
        for agent in master.state.agents.values():
            agent.faults.launch_delay = float(seconds)

    # --- Frameworks ---------------------------------------------------------------------------------

    def they_offered(self, player: Player, *items: str) -> None:
        if items == ("nothing",):
            if self._inside() is None:  # how long that takes nobody knows
                player.framework.settle()
            self.sooner_or_later(lambda: player.arrived, QUIET_INTERVALS * self.stage.interval)
            assert not player.arrived
            return
        assert self.sooner_or_later(lambda: player.arrived), "no offers"
        event = player.arrived.pop(0)
        shown = [(offer["hostname"], kind_of(offer), sums(offer["resources"])) for offer in event]
        wanted = []
        for item in items:
            where, _, kind = item.partition(":")[0].rpartition("@")
            wanted.append((where or "A", kind, amounts(item.partition(":")[2])))
        assert shown == wanted

    def they_declines(self, player: Player, *words: str) -> None:
        *kinds, said, seconds = words
        assert said == "for"
        wanted = kinds or KINDS
        player.decline([offer for offer in player.offers.values() if kind_of(offer) in wanted], float(seconds))

    def they_launches(self, player: Player, task: str, *words: str) -> None:
        if words[0] == "on":
            offer = player.of_kind(words[3], ever=True)
            rest = "3600"
            text = words[5]
        else:
            kind, text, *more = words
            offer, rest = player.of_kind(kind), more[1] if more else "0"
        part = part_of(offer["resources"], amounts(text))
        player.accept([offer], [task_of(offer, task, part)], float(rest))

    def they_mixes(self, player: Player, task: str, kinds: str, text: str) -> None:
        offers = [player.of_kind(kind) for kind in kinds.split("+")]
        parts = [entry for offer in offers for entry in part_of(offer["resources"], amounts(text))]
        player.accept(offers, [task_of(offers[0], task, parts)], 0.0)

    def they_kills(self, player: Player, task: str) -> None:
        player.framework.ask("KILL", kill={"task_id": {"value": task}})

    def they_revives(self, player: Player) -> None:
        player.framework.ask("REVIVE")

    def they_suppresses(self, player: Player) -> None:
        player.framework.ask("SUPPRESS")

    def they_leaves(self, player: Player) -> None:
        player.framework.leave()
        self.players = {name: other for name, other in self.players.items() if other is not player}

    def they_rescinded(self, player: Player, *kinds: str) -> None:
        player.framework.catch_up()
        self.listen()
        wanted = [] if kinds == ("nothing",) else list(kinds)
        if wanted:
            assert self.sooner_or_later(lambda: len(player.rescinded) >= len(wanted))
        assert player.rescinded == wanted
        player.rescinded.clear()

    def they_hears(self, player: Player, task: str, state: str, reason: str = "") -> None:
        def heard() -> bool:
            return any(told[0] == state for told in player.heard.get(task, ()))

        assert self.sooner_or_later(heard), player.heard
        told = [told for told in player.heard[task] if told[0] == state]
        assert not reason or told[0][1] == reason, told

    def they_runs(self, player: Player, task: str) -> None:
        self.they_hears(player, task, "TASK_RUNNING")
        assert player.heard[task][-1][0] == "TASK_RUNNING"
        assert self._state(task) == "TASK_RUNNING"

    def they_waits(self, player: Player, task: str) -> None:
        player.framework.catch_up()
        self.listen()
        assert task not in player.heard
        assert self._state(task) == "TASK_STAGING"

    def _state(self, task: str) -> str:
        (found,) = [shown for shown in self.stage.cluster.read("/tasks")["tasks"] if shown["id"] == task]
        return str(found["state"])

    def they_debt(self, player: Player, text: str) -> None:
        master = self._inside()
        if master is None:
            return
        assert isinstance(master.allocator, LendingAllocator)
        owed = Quantities.total(
            Quantities(debt)
            for agent in master.allocator.lent.agents.values()
            for tenant, debt in agent.debt.items()
            if tenant.framework == player.framework.id
        )
        assert owed == _quantities(text), str(owed)


def _quantities(text: str) -> Quantities:
    return Quantities({name: round(value * 1000) for name, value in amounts(text).items()})


def play(stage: Stage, steps: str) -> None:
    """Every step; a failure names the one that failed."""
    playing = Play(stage)
    for number, line in enumerate(steps.strip().splitlines(), 1):
        try:
            playing.step(line)
        except Exception as wrong:
            wrong.add_note(f"step {number}: {line}")
            raise


def cluster_file(
    scenario: dict[str, Any], folder: Path, interval: float = 1.0, stop_seconds: float | None = None
) -> Path:
    """The cluster of a scenario: agent A, unless it says otherwise."""
    flags = {"allocation_interval": f"{interval}secs"} | scenario.get("flags", {})
    if scenario.get("lends", True):
        flags["oversubscribe_reservations"] = "true"
    stops = scenario.get("stop_seconds", 2) if stop_seconds is None else stop_seconds
    lines = ['mesos_version = "1.11"', "[tasks]", f"stop_seconds = {stops}", "[flags]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in flags.items()]
    text = scenario.get("agent", "cpus:4;mem:400;cpus(lender):6;mem(lender):600")
    for name in scenario.get("agents", ["A"]):
        lines += ["[[agents]]", f"hostname = {json.dumps(name)}", f"resources = {json.dumps(text)}"]
        if "oversubscribed" in scenario:
            lines.append(f"oversubscribed = {json.dumps(scenario['oversubscribed'])}")
    path = folder / "cluster.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
