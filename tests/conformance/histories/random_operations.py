"""Random resources, stacks and volumes: mostly acceptable ones, so that the next step has something to work upon."""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from mesosctl.mesos.amounts.quantities import to_double, to_milli
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile
from tests.conformance.scenarios.reserving import cpus, disk, dynamic, mem, ports, static

Resource = dict[str, Any]
Choice = TypeVar("Choice")

OWNERS = (
    [dynamic("r")],
    [dynamic("r", "p")],
    [dynamic("r", k="v")],
    [dynamic("r", a="1", b="2")],
    [dynamic("r", b="2", a="1")],
    [dynamic("q")],
    [dynamic("a/b")],
)
REFINED = (
    [dynamic("r"), dynamic("r/x")],
    [dynamic("r"), dynamic("r/x/y", "p")],
    [dynamic("r"), dynamic("r/x"), dynamic("r/x/y", k="v")],
    [dynamic("r", "p"), dynamic("r/x")],
    [dynamic("r", "p"), dynamic("r/x", "q")],
    [dynamic("r", "q"), dynamic("r/x", "p"), dynamic("r/x/y", "s")],
    [dynamic("a/b", "p"), dynamic("a/b/c", "q")],
    [static("ads"), dynamic("ads/x")],
)
ILLEGAL: tuple[list[dict[str, Any]], ...] = (
    [],
    [static("r")],
    [static("ads")],
    [dynamic("*")],
    [dynamic("a b")],
    [{"type": "DYNAMIC"}],
    [{"role": "r"}],
    [dynamic("r"), dynamic("s")],
    [dynamic("r"), dynamic("r")],
    [dynamic("r"), static("r/x")],
)
STACKS = (*OWNERS * 8, *REFINED * 3, *ILLEGAL)
AMOUNTS = (*(0.5, 1, 2, 3.001, 0.0015) * 6, 100, 7000, -1, 0.0004)
FORMATS = (*("POST", "POST", "PRE", "BOTH") * 5, "BOTH, DIFFERENT")


class Dice:
    """A source of random things that a seed fixes: what would end a master of the profile is not among them."""

    def __init__(self, seed: int, profile: Profile = MESOS_1_11) -> None:
        self._random = random.Random(seed)
        self._operates_on_nothing = profile.operates_on_nothing
        self._reserves_one_by_one = profile.reserves_one_by_one

    def choose(self, among: Sequence[Choice]) -> Choice:
        return self._random.choice(among)

    def amount(self) -> float:
        return self.choose((*AMOUNTS, 0, 0) if self._operates_on_nothing else AMOUNTS)

    def stack(self) -> list[Resource]:
        return self.choose(STACKS)

    def owner(self, role: str) -> Resource:
        return self.choose((dynamic(role), dynamic(role, "p"), dynamic(role, "q"), dynamic(role, k="v")))

    def some(self, among: Sequence[Choice], most: int = 3) -> list[Choice]:
        """Up to so many of them, each once, in any order."""
        return self._random.sample(among, min(len(among), self._random.randint(1, most)))

    def disk(self, stack: list[Resource]) -> Resource:
        return disk(self.amount(), *stack)

    def entries(self) -> list[Resource]:
        """One resource, or up to three; ports once, if the same port for two owners ends agents."""
        entries = [self._entry() for _ in range(self.choose((1, 1, 1, 2, 3)))]
        if not self._reserves_one_by_one:
            ranges = [entry for entry in entries if entry["type"] == "RANGES"]
            entries = [entry for entry in entries if entry not in ranges[1:]]
        return [written(entry, self.choose(FORMATS)) for entry in entries]

    def again(self, entries: list[Resource]) -> list[Resource]:
        """The same, perhaps with one of them a second time: for another owner, or a level further up."""
        first = self.choose(entries)
        stack = first.get("reservations", [])
        if not self._reserves_one_by_one or not stack or "role" not in stack[-1]:
            return entries
        plain = {key: value for key, value in first.items() if key not in ("role", "reservation")}
        levels = self.choose(([*stack, dynamic(f"{stack[-1]['role']}/x")], [*stack[:-1], dynamic("q")]))
        return [*entries, {**plain, "reservations": levels}]

    def _entry(self) -> Resource:
        stack = self.stack()
        if self._random.random() < 0.2:
            begin = self._random.randint(31000, 31050)
            if self._operates_on_nothing and self._random.random() < 0.2:
                return {**ports(by={}), "reservations": stack}
            return {**ports((begin, begin + self._random.randint(0, 5)), by={}), "reservations": stack}
        return self.choose((cpus, mem, disk))(self.amount(), *stack)

    def volumes(self) -> list[Resource]:
        return [disk(self.amount(), *self.stack(), **self.volume_info()) for _ in range(self.choose((1, 1, 2)))]

    def volume_info(self) -> dict[str, Any]:
        mode = self.choose(("RW", "RW", "RW", "RO"))
        volume = {"mode": mode, "container_path": "data"}
        return {"persistence": {"id": self.choose(("v1", "v2", "v3"))}, "volume": volume}

    def part(self, entry: Resource) -> Resource:
        """The whole of it, or half, and nothing where a release takes that."""
        if "scalar" not in entry or "disk" in entry:
            return entry
        factor = self.choose((1, 1, 0.5, 0.5, 0) if self._operates_on_nothing else (1, 0.5))
        if not factor:
            return {**entry, "scalar": {"value": 0}}
        value = entry["scalar"]["value"] * factor
        return {**entry, "scalar": {"value": max(0.001, round(value, 3))}}


def written(entry: Resource, form: str) -> Resource:
    """An entry in another format; one that a format cannot say is written wrongly on purpose."""
    stack = entry.get("reservations", [])
    if form == "POST" or not stack or "role" not in stack[-1]:
        return entry
    rest = {key: value for key, value in stack[-1].items() if key not in ("type", "role")}
    before = {"role": stack[-1]["role"], **({"reservation": rest} if stack[-1].get("type") == "DYNAMIC" else {})}
    if form == "BOTH":
        return {**entry, **before}
    if form == "BOTH, DIFFERENT":
        return {**entry, **before, "role": "other"}
    return {key: value for key, value in entry.items() if key != "reservations"} | before


def bottom(entry: Resource) -> str | None:
    """The role of a static reservation at the bottom of a stack."""
    first: dict[str, Any] = next(iter(entry["reservations"]), {})
    return first.get("role") if first.get("type") == "STATIC" else None


def rounded(entry: Resource) -> Resource:
    if "scalar" not in entry:
        return entry
    return {**entry, "scalar": {"value": to_double(to_milli(entry["scalar"]["value"]))}}
