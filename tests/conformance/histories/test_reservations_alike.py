"""A fake and a real master given the same random operations: same statuses, same resources after each.

Nothing is sent that ends a real master or its agents (scenarios/lethal.py): no zero amount where that does, no TEXT,
no static reservation that comes or goes.  What ends a master of 1.4 depends on what it was asked before: the fake one
is asked first, and if it says that, both masters are replaced.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conformance.histories.playing import SEED, steps_beside
from tests.conformance.histories.random_operations import Dice, Resource, bottom, rounded
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.judges import JUDGES_OF_HISTORIES
from tests.conformance.scenarios.setups import STANDARD
from tests.helpers.needs import needs

LETHAL = b"would end a real master"
FRESH_EVERY = 50
"""Steps after which everything is undone, so that there is room again."""


class Pair:
    """Two masters of one setup, asked the same."""

    def __init__(self, pool: Pool, carriers: tuple[Carrier, Carrier], dice: Dice) -> None:
        self._pool = pool
        self._carriers = carriers
        self.dice = dice
        self.statuses: Counter[int] = Counter()
        self.lethal = 0
        """Requests of which the fake master said that they would end a real one, which was not asked."""
        self.starts = 0
        self.agent = 0
        self.start_over()

    @property
    def steps(self) -> int:
        return steps_beside(self._carriers[0])

    def start_over(self) -> None:
        """Undo everything; a master of 1.4 may end of that."""
        self.starts += 1
        if self._carriers[0].profile.forgets_roles_without_scalars and self.starts > 1:
            self.discard()
        self.masters = [self._pool.lend(carrier, STANDARD) for carrier in self._carriers]
        self.ids = [[agent["id"] for agent in master.agents()] for master in self.masters]
        self.look()

    def discard(self) -> None:
        for master in self.masters:
            self._pool.discard(master)

    def look(self) -> None:
        """Both must show the same; what they show is what the next step can work upon."""
        real, fake = (_shown(master) for master in self.masters)
        assert real == fake
        self.shown = real

    def step(self) -> None:
        self.agent = self.dice.choose((0, 0, 1))
        self.dice.choose(STEPS_TO_CHOOSE)(self, self.dice)

    def post(self, path: str, **fields: list[Resource]) -> None:
        text = {name: json.dumps(value) for name, value in fields.items()}
        self._ask("POST", path, fields, lambda agent: urlencode({"slaveId": agent, **text}), {})

    def call(self, kind: str, **fields: Any) -> None:
        def content(agent: str) -> str:
            return json.dumps({"type": kind, kind.lower(): {"agent_id": {"value": agent}, **fields}})

        self._ask("POST", "/api/v1", (kind, fields), content, {"Content-Type": "application/json"})

    def _ask(self, method: str, path: str, what: Any, content: Any, headers: dict[str, str]) -> None:
        def answer(number: int) -> Answer:
            own = content(self.ids[number][self.agent])
            return self.masters[number].request(method, path, content=own, headers=headers)

        fake = answer(1)
        if LETHAL in fake.content:
            self.lethal += 1
            self.start_over()
            return
        real = answer(0)
        assert real.status == fake.status, (path, what, real, fake)
        self.statuses[real.status] += 1
        self.look()

    def present(self, *, volume: bool = False, dynamic: bool = False, disk: bool = False) -> Resource:
        """One of the resources that the agent has now, of a kind if there is any."""
        return self.dice.choose(self.all_present(volume=volume, dynamic=dynamic, disk=disk))

    def all_present(self, *, volume: bool = False, dynamic: bool = False, disk: bool = False) -> list[Resource]:
        """All of a kind that the agent has now; without any of it, all that it has."""
        wanted = [
            entry
            for entry in self.shown[self.agent]
            if ("disk" in entry) >= volume
            and (entry.get("reservations", [{}])[-1].get("type") == "DYNAMIC") >= dynamic
            and (entry["name"] == "disk" and "disk" not in entry and "reservations" in entry) >= disk
        ]
        return wanted or self.shown[self.agent]


def _shown(master: Cluster) -> list[list[Resource]]:
    """Every resource of every agent, sorted: the order depends on what was undone before.

    To three decimals: a real master shows an amount as it was sent until it adds to it, 0.0015 for 0.002.
    """
    return [
        sorted(
            (
                rounded(entry)
                for entries in (agent["unreserved_resources_full"], *agent["reserved_resources_full"].values())
                for entry in entries
            ),
            key=json.dumps,
        )
        for agent in master.agents()
    ]


def reserve(pair: Pair, dice: Dice) -> None:
    entries = dice.entries()
    pair.post("/reserve", resources=dice.choose((entries, entries, dice.again(entries))))


def reserve_below(pair: Pair, dice: Dice) -> None:
    """Something that is reserved, one level further up."""
    present = dict(pair.present(dynamic=True))
    stack = present.get("reservations", [])
    role = "/".join([*(level["role"] for level in stack[-1:]), dice.choose(("x", "x/y", "z"))])
    present["reservations"] = [*stack, dice.owner(role)]
    pair.post("/reserve", resources=[dice.part({k: v for k, v in present.items() if k not in ("role", "reservation")})])


def reserve_from_source(pair: Pair, dice: Dice) -> None:
    """Something that there is, handed to another owner."""
    present = dice.part(pair.present())
    bare = {key: value for key, value in present.items() if key not in ("role", "reservation", "reservations")}
    source, target = bare | {"reservations": present.get("reservations", [])}, bare | {"reservations": dice.stack()}
    if bottom(source) == bottom(target):
        pair.post("/reserve", resources=[target], source=[source])


def unreserve(pair: Pair, dice: Dice) -> None:
    pair.post("/unreserve", resources=dice.entries())


def unreserve_what_there_is(pair: Pair, dice: Dice) -> None:
    pair.post("/unreserve", resources=[dice.part(pair.present(dynamic=True))])


def unreserve_several(pair: Pair, dice: Dice) -> None:
    """Of several owners and levels in one request."""
    chosen = dice.some(pair.all_present(dynamic=True))
    again = dice.choose(([], [], chosen[:1]))
    pair.post("/unreserve", resources=[dice.part(entry) for entry in (*chosen, *again)])


def reserve_several(pair: Pair, dice: Dice) -> None:
    """For several owners and levels in one request: upon what there is, and of what is free."""
    chosen = [dict(entry) for entry in dice.some(pair.all_present())]
    for entry in chosen:
        stack = entry.get("reservations", [])
        role = "/".join([*(level["role"] for level in stack[-1:]), dice.choose(("x", "z"))])
        entry["reservations"] = [*stack, dice.owner(role)]
    bare = [{key: value for key, value in entry.items() if key not in ("role", "reservation")} for entry in chosen]
    pair.post("/reserve", resources=[dice.part(entry) for entry in bare])


def create(pair: Pair, dice: Dice) -> None:
    pair.post("/create-volumes", volumes=dice.volumes())


def create_from_what_there_is(pair: Pair, dice: Dice) -> None:
    present = dice.part(pair.present(disk=True))
    pair.post("/create-volumes", volumes=[present | {"disk": dice.volume_info()}])


def destroy(pair: Pair, dice: Dice) -> None:
    pair.post("/destroy-volumes", volumes=dice.volumes())


def destroy_what_there_is(pair: Pair, dice: Dice) -> None:
    pair.post("/destroy-volumes", volumes=[pair.present(volume=True)])


def destroy_several(pair: Pair, dice: Dice) -> None:
    """What there is, and perhaps something that there is not."""
    chosen = dice.some(pair.all_present(volume=True))
    chosen += dice.choose(([], chosen[:1]))
    pair.post("/destroy-volumes", volumes=[*chosen, *dice.choose(([], [], dice.volumes()))])


def grow(pair: Pair, dice: Dice) -> None:
    volume = pair.present(volume=True)
    pair.call("GROW_VOLUME", volume=volume, addition=dice.disk(volume.get("reservations", [])))


def shrink(pair: Pair, dice: Dice) -> None:
    pair.call("SHRINK_VOLUME", volume=pair.present(volume=True), subtract={"value": dice.amount()})


STEPS_TO_CHOOSE = (
    *(reserve, reserve_below, unreserve_what_there_is) * 4,
    *(reserve_from_source, create_from_what_there_is, unreserve_several, reserve_several) * 2,
    *(unreserve, create, destroy, destroy_what_there_is, destroy_several, grow, shrink),
)


@pytest.fixture(params=judged(*JUDGES_OF_HISTORIES), ids=lambda masters: str(masters[0]))
@needs(*REAL.needs)
def pair(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Pair]:
    pair = Pair(pool, request.param, Dice(SEED, request.param[0].profile))
    yield pair
    if request.param[0].profile.forgets_roles_without_scalars:
        pair.discard()


def test_a_thousand_operations_leave_both_masters_alike(pair: Pair) -> None:
    while (number := pair.statuses.total()) < pair.steps:
        if number >= FRESH_EVERY * pair.starts:
            pair.start_over()
        pair.step()
    # Otherwise little would have been tried.
    assert min(pair.statuses[status] for status in (202, 400, 409)) > pair.steps / 20, pair.statuses
