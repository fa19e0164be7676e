"""Random recordings of three months in which much happens at once, and prices for them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise
from random import Random
from zoneinfo import ZoneInfo

from mesosctl.history.records import (
    Gap,
    Micros,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
)
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from tests.mesosctl.history.memory import CLUSTER, MemoryRecording
from tests.mesosctl.usage.plain_cost import HOUR

BEGIN = round(datetime(2026, 9, 20, tzinfo=UTC).timestamp()) * 10**6
HOURS = 24 * 90
"""Until 19 December: every zone but UTC changes its clock in between."""
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "America/Havana")
"""Beirut's clock goes back at midnight, and Havana's to it: its first of November has two."""
FRAMEWORKS = {"f1": "p1", "f2": "p2", "f3": "p1"}
_ROLES = ("a", "a/x", "a/x/deep", "b", "b/y", "c", "d")
_AGENTS = ("n1", "n2", "n3", "n4", "n5")
_TOTALS = (
    "cpus:8;mem:16384;disk:999", "cpus:4;cpus(b):3;mem(b):512;mem:4096;gpus:2", "cpus:2;cpus(a/x):5;gpus(c):2",
    "cpus:16;mem:1000;mem(d):7000;disk(b):500",
)  # fmt: skip
_HELD = (
    "cpus:1;mem:2048", "cpus:0.001;disk:7", "cpus:3;gpus:1", "mem:700", "cpus(b):1;mem(b):64;cpus:1", "cpus(a/x):2",
    "cpus:0.5;disk:100", "gpus(c):1;cpus:0.333",
)  # fmt: skip
_BY_B = (Reservation("DYNAMIC", "b", "p"),)
_REVOCABLE = (
    Resources([Resource("cpus", 2000, revocable=True)]),
    Resources([Resource("mem", 300_000, revocable=True), Resource("cpus", 700, revocable=True)]),
    Resources([Resource("cpus", 5000, revocable=True, throttleable=True)]),
)
_VOLUME = Resources([Resource("disk", 300_000, _BY_B, disk=Disk("v", container_path="d"), shared=True)])
_PRICES = {
    "cpu_hour": ("0.031", "0.000001", "7.5", "0", "0.028"),
    "mem_gib_hour": ("0.004", "0.123457", "0.0035"),
    "disk_gib_hour": ("0.01", "0.000333"),
    "gpu_hour": ("1.35", "2"),
}
_ATTRIBUTES: tuple[dict[str, str | float], ...] = ({}, {"type": "gpu"}, {"rack": 3.0, "type": "gpu"}, {"rack": 3.0})


@dataclass(frozen=True)
class Dense:
    """A recording, the prices as tables of TOML, and the question."""

    cluster: RecordedCluster
    history: MemoryRecording
    tables: list[dict[str, object]]
    zone: tzinfo
    since: Micros
    until: Micros


def dense(seed: int) -> Dense:
    """The recording of a number."""
    return _Maker(seed).make()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def make(self) -> Dense:
        random, since = self.random, BEGIN + self.random.choice([0, 5, 11 * 24]) * HOUR
        return Dense(
            replace(CLUSTER, mesos_profile=random.choice(["documents", "1.11", "1.11"])),
            MemoryRecording(
                of_agents=[row for name in _AGENTS for row in self.agent(name)],
                of_frameworks=[RecordedFramework(name, name, _ROLES, 0, None, of) for name, of in FRAMEWORKS.items()],
                of_tasks=[self.task(number) for number in range(50)],
                of_settings=[*(one for role in "abcd" for one in self.quotas(role)), *self.lending()],
                of_gaps=[self.gap() for _ in range(random.randint(2, 6))],
            ),
            [self.table() for _ in range(random.randint(3, 6))],
            ZoneInfo(random.choice(ZONES)),
            since,
            max(since + 40 * 24 * HOUR, random.choice([BEGIN + HOURS * HOUR, self.time(), self.time()])),
        )

    def time(self) -> Micros:
        """A moment; half of them are at a whole hour, where they meet others and the ends of days."""
        micros = self.random.choice([0, 0, 1, 333_333_333])
        return BEGIN + self.random.randint(0, HOURS) * HOUR + micros

    def times(self, count: int) -> list[Micros]:
        """Moments in order, of which no two are the same."""
        found: set[Micros] = set()
        while len(found) < count:
            found.add(self.time())
        return sorted(found)

    def gap(self) -> Gap:
        """A gap of up to four days."""
        start = self.time()
        return Gap(start, start + self.random.randint(1, 96) * HOUR)

    def agent(self, name: str) -> list[RecordedAgent]:
        """The rows of an agent: it changes, and one of three leaves and comes back."""
        edges, leaves, rows = self.times(self.random.randint(2, 4)), self.random.randrange(3) == 0, []
        if not leaves:
            edges[0] = BEGIN
        for number, (start, end) in enumerate(zip(edges, [*edges[1:], None], strict=True)):
            if leaves and number % 2:
                continue
            total = parse_resources(self.random.choice(_TOTALS), of_agents=True)
            if self.random.randrange(3) == 0:
                total += _VOLUME
            rows.append(RecordedAgent(name, "host", total, start, end, attributes=self.random.choice(_ATTRIBUTES)))
        return rows

    def task(self, number: int) -> RecordedTask:
        random, (start, end) = self.random, self.times(2)
        held = parse_resources(random.choice(_HELD), of_agents=True)
        more = random.randrange(12)
        if more < 4:
            held += (*_REVOCABLE, _VOLUME)[more]
        return RecordedTask(
            random.choice(sorted(FRAMEWORKS)), f"t{number}", random.choice(_ROLES), held,
            random.choice([*_AGENTS * 4, "gone", None]), start=start, end=random.choice([end, end, None]),
        )  # fmt: skip

    def quotas(self, role: str) -> list[RecordedSetting]:
        """The quota of a role, which changes."""
        found = []
        for start, end in pairwise(self.times(self.random.randint(3, 5))):
            names = self.random.sample(["cpus", "mem", "gpus", "disk"], self.random.randint(1, 3))
            guarantees = {name: {"value": self.random.choice([1, 2.5, 12, 40, 4096])} for name in names}
            value = json.dumps({"role": role, "guarantees": guarantees})
            found.append(RecordedSetting("quota", role, value, start, end))
        return found

    def lending(self) -> Iterator[RecordedSetting]:
        """Yield the times in which the master lends idle reservations."""
        for start, end in list(pairwise(self.times(4)))[:: self.random.choice([1, 2])]:
            names = self.random.choice([["cpus", "mem"], ["cpus"], ["mem"]])
            yield RecordedSetting("lending", "", json.dumps({"names": names}), start, end)

    def table(self) -> dict[str, object]:
        """A table of prices, most of them from a day on."""
        names = self.random.sample(sorted(_PRICES), self.random.randint(1, 4))
        table: dict[str, object] = {name: self.random.choice(_PRICES[name]) for name in names}
        attributes = self.random.choice(_ATTRIBUTES)
        if attributes:
            table["attributes"] = attributes
        if self.random.randrange(3):
            table["from"] = date(2026, 9, 10) + timedelta(days=self.random.randint(0, 95))
        return table
