"""A change that is forecast, and then made: what was said, and what happened.

Case       a cluster, who is there, the words of the forecast, and the request that is sent
World      one master with its frameworks, which hold whatever they are offered
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mesosctl.mesos.amounts.quantities import Quantities, to_milli
from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import Join, joining
from tests.conformance.callers.tasks import launch_on
from tests.conformance.masters.carriers import REAL, Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.simulated import agents_of
from tests.conformance.scenarios.scenario import Step

FILTERED = 6.0
"""Seconds until what an operator's operation took back may be offered again to whoever had it."""
AMOUNTS = ("cpus", "mem", "disk")
Amounts = dict[str, int]


@dataclass
class World:
    """A master and the frameworks on it."""

    master: Cluster
    join: Join
    file: Path
    """Of wishes, where a case has any."""
    frameworks: list[Framework] = field(default_factory=list)

    def settle(self, seconds: float = 0.0) -> None:
        """Until nobody has been told anything for `seconds`, nor by any allocation that was due then."""
        seen = -1
        while (told := self._told()) != seen:
            seen = told
            self.master.subscribers.wait(lambda: self._told() != seen, seconds)  # noqa: B023  # called at once
            self.master.await_allocations()
            for framework in self.frameworks:
                framework.catch_up()

    def _told(self) -> int:
        return sum(event["type"] in ("OFFERS", "RESCIND") for one in self.frameworks for event in one.stream.events)

    def outstanding(self, framework: Framework) -> dict[str, Any]:
        """What one framework is offered now, by id."""
        held: dict[str, Any] = {}
        for event in framework.stream.events:
            if event["type"] == "OFFERS":
                held |= {offer["id"]["value"]: offer for offer in event["offers"]["offers"]}
            elif event["type"] == "RESCIND":
                held.pop(event["rescind"]["offer_id"]["value"])
        return held

    def rescinded(self) -> Counter[str]:
        """Every offer that was taken back so far, as role and amounts."""
        offered = {
            offer["id"]["value"]: offer
            for one in self.frameworks
            for event in one.stream.events
            if event["type"] == "OFFERS"
            for offer in event["offers"]["offers"]
        }
        taken = [
            offered[event["rescind"]["offer_id"]["value"]]
            for one in self.frameworks
            for event in one.stream.events
            if event["type"] == "RESCIND"
        ]
        return Counter(told(offer["allocation_info"]["role"], scalars(offer["resources"])) for offer in taken)

    def offered(self) -> dict[str, Amounts]:
        """What each role is offered, the roles below it included."""
        roles = self.master.read("/roles")["roles"]
        return {role["name"]: found for role in roles if (found := milli(role["offered"]))}

    def held(self) -> dict[str, Amounts]:
        """The offers that each framework which is there has not answered, by its id."""
        present = {framework["id"] for framework in self.master.read("/frameworks")["frameworks"]}
        found: dict[str, Amounts] = {}
        for framework in self.frameworks:
            if framework.id in present:
                offers = [
                    offer for name, offer in self.outstanding(framework).items() if name not in framework.answered
                ]
                amounts = scalars([entry for offer in offers for entry in offer["resources"]])
                found |= {str(framework.id): amounts} if amounts else {}
        return found

    def send(self, step: Step) -> int:
        """A request as it is; the status of its answer."""
        content = self.fill(step.content) if isinstance(step.content, str) else step.content
        return self.master.request(step.method, step.path, content=content, headers=step.headers).status

    def type(self, words: str) -> int:
        """Words that make a change; their exit status."""
        options = ("--yes", "--trust-master") if "apply" in words else ()
        return run_for_json(self.master, self.fill(words), *options)[0]

    def fill(self, words: str) -> str:
        """Words with the ids of agents and frameworks in the place of @A1 and @F1."""
        words = words.replace("@FILE", str(self.file))
        for number, framework in enumerate(self.frameworks, 1):
            words = words.replace(f"@F{number}", str(framework.id))
        filled = self.master.fill(words)
        assert isinstance(filled, str)
        return filled


Preparation = Callable[[World], None]


@dataclass(frozen=True)
class Case:
    """A change: `words` are typed with --dry-run, `request` is sent, and gives `status` (on an old master `old`).

    Without a request the words are typed again, and what they give is an exit status.
    """

    setup: Setup
    prepared: tuple[Preparation, ...]
    words: str
    request: Step | None
    status: int
    old: int | None = None
    newest: bool = False
    """Only for masters from 1.9 on."""
    waits: float = 0.0
    """Seconds."""
    tasks: bool = False
    """Whether tasks are to run."""
    targets: str = ""
    """What stands in @FILE."""
    suppresses: bool = False
    """Whether a framework suppresses its roles as it subscribes."""


# --- Who is there -----------------------------------------------------------------------------------


def joins(*roles: str, **more: Any) -> Preparation:
    """A framework subscribes, and holds what it is offered."""

    def prepare(world: World) -> None:
        world.frameworks.append(world.join(*roles, name=f"f{len(world.frameworks)}").subscribe(**more))
        world.settle()

    return prepare


def all_share(world: World) -> None:
    """Whoever came first gives everything back, so that the next allocation is everybody's."""
    first = world.frameworks[0]
    offers = [
        offer for event in first.stream.events if event["type"] == "OFFERS" for offer in event["offers"]["offers"]
    ]
    first.decline(offers, refuse=0.0)
    world.settle()


def asks(step: Step) -> Preparation:
    """An operator has done something before."""

    def prepare(world: World) -> None:
        assert world.send(step) in (200, 202)
        world.settle(FILTERED if step.path not in ("/quota", "/weights") else 0.0)

    return prepare


def runs(count: int) -> Preparation:
    """The last framework runs a task on the whole of so many of its offers."""

    def prepare(world: World) -> None:
        framework = world.frameworks[-1]
        for offer in list(world.outstanding(framework).values())[:count]:
            framework.accept([offer], launch_on(offer, scalars_of(offer)))
        world.settle()

    return prepare


def scalars_of(offer: dict[str, Any]) -> list[dict[str, Any]]:
    """What is offered, as a task may name it."""
    kept = ("name", "type", "scalar", "ranges", "reservations")
    return [{key: entry[key] for key in kept if key in entry} for entry in offer["resources"]]


@contextmanager
def world_of(case: Case, carrier: Carrier, pool: Pool, folder: Path) -> Iterator[World]:
    """A master of the case's own, prepared; the agents of a real one are simulated where tasks are to run."""
    simulated = carrier is REAL and case.tasks
    flags = {**case.setup.flags, "agent_ping_timeout": "15mins"}
    master = pool.start(carrier, Setup(flags=flags) if simulated else case.setup)
    with ExitStack() as ending:
        ending.callback(master.stop)
        if simulated:
            ending.enter_context(agents_of(master, case.setup.agents))
        file = folder / "wishes.toml"
        file.write_text(case.targets)
        world = World(master, ending.enter_context(joining(master)), file)
        for prepare in case.prepared:
            prepare(world)
        world.settle()
        yield world


# --- What is compared -------------------------------------------------------------------------------


def scalars(resources: list[dict[str, Any]]) -> Amounts:
    """Sums by name, in thousandths."""
    amounts = [
        Quantities({entry["name"]: to_milli(entry["scalar"]["value"])})
        for entry in resources
        if entry["type"] == "SCALAR"
    ]
    return dict(Quantities.total(amounts))


def milli(amounts: Mapping[str, Any]) -> Amounts:
    """JSON amounts in thousandths; what is nothing, or not compared, is left out."""
    return {
        name: to_milli(amounts[name])
        for name in AMOUNTS
        if isinstance(amounts.get(name), int | float) and amounts[name]
    }


def told(role: str, amounts: Amounts) -> str:
    return f"{role}: " + "; ".join(f"{name}:{amounts[name]}" for name in AMOUNTS if name in amounts)


def forecast(world: World, words: str) -> dict[str, Any]:
    """What the command line says would happen."""
    options = () if words.startswith("whatif") else ("--dry-run",)
    status, said = run_for_json(world.master, world.fill(words), *options)
    assert said.get("kind") == "forecast", said
    assert status == (0 if said["harmless"] else 1)
    document: dict[str, Any] = said
    return document


def predicted_rescinds(document: Mapping[str, Any]) -> Counter[str]:
    return Counter(
        told(offer["role"], milli(offer["resources"]["amounts"])) for offer in document["rescinded"] if offer["out_now"]
    )


def predicted_offers(document: Mapping[str, Any]) -> dict[str, Amounts]:
    return {role["name"]: found for role in document["roles"] if (found := milli(role["after"]["offered"]))}


def offered_to(document: Mapping[str, Any]) -> dict[str, Amounts]:
    """The offers that each framework would have, by its id."""
    return {one["id"]: found for one in document["frameworks"] if (found := milli(one["after"]["offered"]))}


def everything(world: World) -> str:
    """What a dry run must leave as it is."""
    kept = {path: world.master.read(path) for path in ("/quota", "/weights", "/slaves", "/frameworks")}
    return json.dumps(kept, sort_keys=True)
