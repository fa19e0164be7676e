"""Random changes of quota and weights while frameworks hold offers: each offer that is said to go goes, and no other.

Every round is forecast by the command line and then made on the same master, so that agents, frameworks and offers
are the very same ones, in the same order; only how a real master walks three or more offers of one agent or framework
is its own affair.  MESOS_CONFORMANCE_ROUNDS sets how many changes one history has, MESOS_CONFORMANCE_HISTORIES how
many histories there are.
"""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.joining import joining, quick
from tests.conformance.callers.owning import owned
from tests.conformance.forecasts.forecasting import World, forecast
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier, Pool
from tests.conformance.scenarios.scenario import Step, api, config, form, post_quota, send, update_quota
from tests.helpers.profiles import examples

ROUNDS = int(os.environ.get("MESOS_CONFORMANCE_ROUNDS", examples(12)))
HISTORIES = int(os.environ.get("MESOS_CONFORMANCE_HISTORIES", "2"))
AGENTS = (
    "cpus:12;mem:6144;disk:1000;ports:[31000-31009]",
    "cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500;ports:[31000-31009]",
    "cpus:6;mem:3072;cpus(eng):2;gpus(eng):1;disk:200;ports:[31000-31004];ports(web):[32000-32003]",
    "cpus(web):3;mem(web):1024;cpus:1;mem:512;disk:100",
    "cpus:2;mem:8192;disk:900",
)
SUBSCRIBED = (("ads",), ("web",), ("eng/dev",), ("eng/qa", "web"), ("ops",), ("ads", "ops"), ("eng",))
TOP = ("ads", "web", "eng", "ops", "idle")


class History:
    """One master with frameworks that hold what they are offered, and what an operator does to it."""

    def __init__(self, world: World, random: Random, release: str | None) -> None:
        self.world, self.random = world, random
        self.has_limits = has(release, "1.9.0")
        """If not, quota comes from POST /quota alone."""
        self.declined: set[str] = set()

    def prepare(self) -> None:
        """Some quota and reservations, then everybody who asks for offers."""
        for role in self.random.sample(TOP, self.random.randint(0, 2)):
            quota = update_quota(self.some_config(role))
            self.world.send(quota if self.has_limits else post_quota(role, **self.some_amounts(), force=True))
        for number in self.random.sample(range(1, 6), self.random.randint(0, 2)):
            role = self.random.choice(("ads", "web", "eng", "eng/dev"))
            self.world.send(form("/reserve", slaveId=f"@A{number}", resources=owned(role, cpus=1, mem=256)))
        for number, roles in enumerate(self.random.sample(SUBSCRIBED, self.random.randint(2, 5))):
            self.world.frameworks.append(self.world.join(*roles, name=f"f{number}").subscribe())
            self.world.settle()
        self.share()

    def share(self) -> None:
        """Some offers go back, so that the next allocation is everybody's."""
        for framework in self.world.frameworks:
            held = [offer for offer in self.held() if offer["framework_id"]["value"] == framework.id]
            back = self.random.sample(held, self.random.randint(0, len(held)))
            if back:
                framework.decline(back, refuse=0.0)
                self.declined.update(offer["id"]["value"] for offer in back)
        self.world.settle()

    def some_config(self, role: str) -> dict[str, Any]:
        guarantees = self.some_amounts()
        above = {name: guarantees.get(name, 0) + amount for name, amount in self.amounts().items()}
        limits = {name: amount for name, amount in above.items() if self.random.random() < 0.5}
        if self.random.random() < 0.3:
            limits["ports"] = self.random.choice((0, 5, 10, 12, 20))
        return config(role, guarantees, limits)

    def some_amounts(self) -> dict[str, float]:
        """At least one: without any, the words would leave the guarantee as it is."""
        amounts = self.amounts()
        return {name: amounts[name] for name in self.random.sample(sorted(amounts), self.random.randint(1, 3))}

    def amounts(self) -> dict[str, float]:
        return {
            "cpus": self.random.choice((0.5, 1, 2, 3, 5, 8, 10)),
            "mem": self.random.choice((256, 1024, 3000, 6000)),
            "disk": self.random.choice((50, 100, 600)),
        }

    def change(self) -> tuple[str, Step]:
        """The words that forecast a change, and the request that makes it."""
        role = self.random.choice(TOP)
        of_limits = ("update", "update", "update", "set") if self.has_limits else ("post",)
        kind = self.random.choice((*of_limits, "post", "weight"))
        if kind == "weight":
            weight = self.random.choice((0.5, 1, 2, 3))
            return f"whatif weight:{role}={weight}", send("PUT", "/weights", [{"role": role, "weight": weight}])
        if kind in ("set", "post"):
            if self.has_quota(role):
                assert self.world.send(api("REMOVE_QUOTA", remove_quota={"role": role})) == 200
                self.world.settle()
            wanted = self.some_amounts()
            words = f"quota set {role} {text(wanted, ' ')} --force"
            if kind == "post":
                return f"{words} --api v0", post_quota(role, **wanted, force=True)
            return words, update_quota(config(role, wanted), force=True)
        chosen = self.some_config(role)
        guarantees, limits = (
            {name: amount["value"] for name, amount in chosen.get(key, {}).items()} for key in ("guarantees", "limits")
        )
        words = (
            f"quota update {role} {text(guarantees, ' ')} --limit {text(limits, ';') or 'none'} --create --force --yes"
        )
        return words, update_quota(chosen, force=True)

    def has_quota(self, role: str) -> bool:
        return any(entry["role"] == role for entry in self.world.master.read("/quota").get("infos", ()))

    def gone(self) -> set[str]:
        """Ids of the offers that were taken back."""
        return {
            event["rescind"]["offer_id"]["value"]
            for framework in self.world.frameworks
            for event in framework.stream.events
            if event["type"] == "RESCIND"
        }

    def held(self) -> list[Any]:
        """The outstanding offers."""
        offers = [o for framework in self.world.frameworks for o in self.world.outstanding(framework).values()]
        return [offer for offer in offers if offer["id"]["value"] not in self.declined]


def one_crowd(held: list[Any], ids: set[str]) -> bool:
    """Whether these offers are all of one agent or one framework, which has three or more."""
    return any(
        len(crowd) > 2 and ids <= crowd
        for key in ("agent_id", "framework_id")
        for value in {offer[key]["value"] for offer in held}
        for crowd in [{offer["id"]["value"] for offer in held if offer[key]["value"] == value}]
    )


def text(amounts: dict[str, float], between: str) -> str:
    return between.join(f"{name}:{amount}" for name, amount in amounts.items())


@pytest.mark.parametrize("seed", range(HISTORIES))
@pytest.mark.parametrize("on", [REAL, IN_PROCESS], ids=str)
def test_offers_that_are_said_to_go_are_those_that_go(
    on: Carrier, pool: Pool, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    random = Random(seed)
    master = pool.start(on, quick(*random.sample(AGENTS, random.randint(2, 5)), flags={"agent_ping_timeout": "15mins"}))
    went = 0
    with joining(master) as join:
        history = History(World(master, join, tmp_path), random, on.profile.release)
        history.prepare()
        for _ in range(ROUNDS):
            words, request = history.change()
            before, held = history.gone(), history.held()
            said = forecast(history.world, words)
            assert history.world.send(request) == 200, words
            history.world.settle()
            happened = history.gone() - before
            expected = {offer["offer_id"] for offer in said["rescinded"] if offer["out_now"]}
            differing = happened ^ expected
            assert not differing or (on is REAL and one_crowd(held, differing)), (words, held, expected, happened)
            went += len(happened)
            history.share()
    master.stop()
    assert went
