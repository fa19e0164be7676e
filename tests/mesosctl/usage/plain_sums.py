"""The cost of an imported log, summed up from the rows of its recording with SQL and fractions alone.

A log has no quotas, reservations and gaps, and its agents are there all the time. So its tasks used something, and the
rest of the agents was idle. Where the log does not say on which agent a task ran, the mean price of all agents counts.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

HOURS = {"cpus": ("cpu_hour", 1), "mem": ("mem_gib_hour", 1024), "gpus": ("gpu_hour", 1)}
"""By resource, the key of its price, and its units in one that is priced."""
Cells = dict[tuple[str, str], Fraction]
"""By (key, part)."""
Table = Mapping[str, Any]
"""A table of prices, as TOML has it."""


def cost_by_month(recording: Path, tables: Sequence[Table], key: str) -> dict[str, Cells]:
    """The cost of each month by a column of the view `tasks`; all times are UTC."""
    with sqlite3.connect(recording) as connection:
        ((first, last),) = connection.execute("SELECT first_time, last_time FROM clusters")
        agents = connection.execute("SELECT agent_id, attributes, resources, from_time, to_time FROM agents").fetchall()
        tasks = connection.execute(
            f"SELECT {key}, agent_id, resources, from_time, to_time FROM tasks WHERE from_time IS NOT NULL"
        ).fetchall()
    assert {row[3:] for row in agents} == {(first, last)}
    log = _Log({name: (json.loads(attributes), _amounts(held)) for name, attributes, held, *_ in agents}, tables)
    months: dict[str, Cells] = defaultdict(lambda: defaultdict(Fraction))
    for name, (_, total) in log.agents.items():
        for month, price in log.pieces(name, total, first, last):
            months[month]["", "idle"] += price
    for of, agent, resources, begin, end in tasks:
        for month, price in log.pieces(agent, _amounts(resources), begin, last if end is None else end):
            months[month][of, "used"] += price
            months[month]["", "idle"] -= price
    return months


class _Log:
    def __init__(self, agents: dict[str, tuple[dict[str, Any], dict[str, Fraction]]], tables: Sequence[Table]) -> None:
        self.agents, self.tables = agents, tables
        self.days = {_midnight(table["from"]) for table in tables if "from" in table}
        self.price = cache(self._price)

    def pieces(
        self, agent: str | None, held: Mapping[str, Fraction], begin: float, end: float
    ) -> Iterator[tuple[str, Fraction]]:
        """Yield the months of a time with what it cost in them to hold something; one piece for each price."""
        years = range(datetime.fromtimestamp(begin, UTC).year, datetime.fromtimestamp(end, UTC).year + 1)
        firsts = {_midnight(date(year, month, 1)) for year in years for month in range(1, 13)}
        inside = {at for at in self.days | firsts if begin < at < end}
        for start, stop in pairwise(sorted({begin, end} | inside)):
            since = max((day for day in self.days if day <= start), default=None)
            price = sum((amount * self.price(agent, name, since) for name, amount in held.items()), Fraction(0))
            hours = Fraction(round((stop - start) * 10**6), 3600 * 10**6)
            yield datetime.fromtimestamp(start, UTC).strftime("%Y-%m"), price * hours

    def _price(self, agent: str | None, name: str, since: float | None) -> Fraction:
        """The price of one for an hour, from the last day on at which prices change."""
        if agent is None:
            totals = {other: total[name] for other, (_, total) in self.agents.items() if name in total}
            worth = sum((amount * self.price(other, name, since) for other, amount in totals.items()), Fraction(0))
            return worth / sum(totals.values())
        key, units = HOURS[name]
        for table in self.tables:
            fits = all(self.agents[agent][0].get(of) == value for of, value in table.get("attributes", {}).items())
            begins = "from" not in table or (since is not None and _midnight(table["from"]) <= since)
            if key in table and fits and begins:
                return Fraction(table[key]) / units
        return Fraction(0)


def _amounts(resources: str) -> dict[str, Fraction]:
    """The amounts of a text such as `cpus:4; mem:6144`."""
    return {name: Fraction(amount) for name, amount in (part.strip().split(":") for part in resources.split(";"))}


@cache
def _midnight(day: date) -> float:
    """When a day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
