"""The cost of a recording, worked out again in the plainest way: moment by moment, in fractions, with nothing kept."""

import json
from collections import Counter, defaultdict
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

HOUR = 3600 * 10**6
OF_MIB = ("mem", "disk")
KEYS = {"cpus": "cpu_hour", "mem": "mem_gib_hour", "disk": "disk_gib_hour", "gpus": "gpu_hour"}


def holds(row, at):
    return row.start is not None and row.start <= at and (row.end is None or at < row.end)


def scalars(resources):
    """(name, owner or None, thousandths) of every scalar that is not revocable."""
    return [
        (one.name, one.reservations[-1].role if one.reservations else None, one.value)
        for one in resources
        if isinstance(one.value, int) and not one.revocable
    ]


def loans(name, idle, tasks):
    """Yield each owner and task of a loan with what is lent, by shares of what is idle and of what is held."""
    held = [(task, one.value) for task in tasks for one in task.resources
            if one.name == name and one.revocability == "non-throttleable"]  # fmt: skip
    whole = sum(amount for _, amount in held)
    lent = min(whole, sum(idle.values()))
    for owner, of_owner in idle.items():
        for task, of_task in held:
            yield owner, task, Fraction(lent * of_owner * of_task, sum(idle.values()) * whole)


def held_by(tasks):
    """The resources of each task by its place; a shared volume is of the first task that began on the agent."""
    volumes, held = set(), []
    for task in tasks:
        mine = [one for one in task.resources if not (one.shared and (task.agent_id, one) in volumes)]
        volumes |= {(task.agent_id, one) for one in mine if one.shared}
        held.append((task, scalars(mine)))
    return held


def _sums() -> Any:
    return Counter()


class Plain:
    """Everything about one recording: `tables` are the tables of prices, as TOML has them."""

    def __init__(self, history, tables, zone, *, counts_reserved=True, outside=()):
        self.history, self.tables, self.zone, self.outside = history, tables, zone, outside
        self.counts_reserved = counts_reserved
        self.of_month: Any = defaultdict(lambda: (_sums(), _sums(), _sums()))
        """By month, times microseconds: the resources in service, their price, and guarantees by role and resource."""

    def midnight(self, day):
        return round(datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp()) * 10**6

    def price(self, attributes, name, at):
        """Of a thousandth in a microsecond."""
        for table in self.tables:
            fits = all(attributes.get(key) == value for key, value in table.get("attributes", {}).items())
            if fits and KEYS.get(name) in table and ("from" not in table or self.midnight(table["from"]) <= at):
                return Fraction(table[KEYS[name]]) / 1000 / HOUR / (1024 if name in OF_MIB else 1)
        return Fraction(0)

    def month(self, at):
        local = datetime.fromtimestamp(at // 10**6, self.zone)
        return local.year * 12 + local.month - 1

    def months(self, span, key_of=lambda task: task.role, *, by_role=True):
        """By month: the exact cost of each (key, part), and how much of it was seen."""
        since, until = span
        cells: Any = defaultdict(lambda: defaultdict(Fraction))
        seen: Counter[int] = Counter()
        edges = {since, until}
        rows = self.history
        for row in (*rows.of_agents, *rows.of_tasks, *rows.of_settings, *rows.of_gaps, *self.outside):
            edges |= {row.start, row.end}
        edges |= {self.midnight(table["from"]) for table in self.tables if "from" in table}
        for number in range(self.month(since), self.month(until) + 1):
            edges.add(self.midnight(date(number // 12, number % 12 + 1, 1)))
        inside = sorted(edge for edge in edges - {None} if since <= edge <= until)
        for start, end in pairwise(inside):
            cells[self.month(start)]["", "idle"] += 0
            if any(holds(gap, start) for gap in (*rows.of_gaps, *self.outside)):
                continue
            seen[self.month(start)] += end - start
            for cell, rate in self.moment(start, key_of, by_role=by_role).items():
                cells[self.month(start)][cell] += rate * (end - start)
            self.note(start, end - start)
        return cells, seen

    def note(self, at, time):
        """Add what is in service, its price, and what is guaranteed, to what the month has of them."""
        total, worth, guaranteed = self.of_month[self.month(at)]
        for agent in self.history.of_agents:
            if holds(agent, at):
                for name, _, amount in scalars(agent.total):
                    total[name] += amount * time
                    worth[name] += amount * time * self.price(agent.attributes, name, at)
        for role, amounts in self.guarantees(at):
            for name, amount in amounts.items():
                guaranteed[role, name] += amount * time

    def guarantees(self, at):
        """Yield each role with its guarantees in thousandths."""
        for setting in self.history.of_settings:
            if setting.kind == "quota" and holds(setting, at):
                amounts = json.loads(setting.value)["guarantees"].items()
                yield setting.name, {name: round(amount["value"] * 1000) for name, amount in amounts}

    def share_idle(self, cells, how):
        """Share out what is idle in each month, as `--share idle=HOW` does."""
        for month, exact in cells.items():
            weights, (total, worth, guaranteed) = _sums(), self.of_month[month]
            for (key, part), amount in exact.items():
                if how == "use" and part in ("used", "borrowed"):
                    weights[key] += amount
                elif how == "evenly" and key and amount:
                    weights[key] = 1
            for (role, name), amount in guaranteed.items():
                if how == "guarantee" and total[name]:
                    weights[role] += amount * Fraction(worth[name]) / total[name]
            idle = exact["", "idle"]
            if idle > 0 and sum(weights.values()):
                for key, weight in weights.items():
                    exact[key, "idle_share"] = Fraction(idle * weight) / sum(weights.values())
                exact["", "idle"] = Fraction(0)

    def moment(self, at, key_of, *, by_role):
        """What each (key, part) costs in the microsecond that begins now."""
        known = {agent.id for agent in self.history.of_agents}
        agents = [agent for agent in self.history.of_agents if holds(agent, at)]
        began = sorted(self.history.of_tasks, key=lambda task: task.start)
        tasks = held_by([task for task in began if holds(task, at)])
        in_service = {agent.id for agent in agents}
        placed = [(task, held) for task, held in tasks if task.agent_id in in_service]
        unplaced = [(task, held) for task, held in tasks if task.agent_id not in known]
        rates: Any = defaultdict(Fraction)
        total, worth, free, free_worth = (_sums() for _ in range(4))
        consumed: Any = defaultdict(Counter)
        for task, held in (*placed, *unplaced):
            for name, owner, amount in held:
                if owner is None or self.counts_reserved:
                    consumed[(owner or task.role).split("/")[0]][name] += amount
        for agent in agents:
            has, reserved, used = (_sums() for _ in range(3))
            for name, owner, amount in scalars(agent.total):
                has[name] += amount
                if owner is not None:
                    reserved[owner, name] += amount
            for task, held in placed:
                if task.agent_id == agent.id:
                    for name, owner, amount in held:
                        used[name] += amount
                        if owner is not None:
                            reserved[owner, name] -= amount
                        rates[key_of(task), "used"] += amount * self.price(agent.attributes, name, at)
            for (owner, name), amount in reserved.items():
                if amount > 0:
                    used[name] += amount
                    rates[owner if by_role else "", "reserved_idle"] += amount * self.price(agent.attributes, name, at)
                    if self.counts_reserved:
                        consumed[owner.split("/")[0]][name] += amount
            for name, amount in has.items():
                price = self.price(agent.attributes, name, at)
                total[name] += amount
                worth[name] += amount * price
                left = max(0, amount - used[name])
                free[name] += left
                free_worth[name] += left * price
                if name in self.lent_names(at):
                    on_agent = [task for task, _ in placed if task.agent_id == agent.id]
                    idle = {owner: milli for (owner, of), milli in reserved.items() if of == name and milli > 0}
                    for owner, task, part in loans(name, idle, on_agent):
                        rates[owner if by_role else "", "lent"] -= part * price
                        rates[key_of(task), "borrowed"] += part * price
        beyond = Fraction(0)
        elsewhere = _sums()
        for task, held in unplaced:
            for name, owner, amount in held:
                mean = Fraction(worth[name]) / total[name] if total[name] else self.price({}, name, at)
                rates[key_of(task), "used"] += amount * mean
                beyond += 0 if total[name] else amount * mean
                elsewhere[name] += amount if owner is None else 0
        for name in KEYS:
            lacks = self.lacks(name, at, consumed)
            left = free[name] - elsewhere[name]
            if left > 0 and sum(lacks.values()):
                for role, lack in lacks.items():
                    kept = Fraction(lack * min(left, sum(lacks.values())), sum(lacks.values()))
                    rates[role if by_role else "", "kept"] += kept * free_worth[name] / free[name]
        rates["", "idle"] = sum(worth.values()) + beyond - sum(rates.values())
        return rates

    def lent_names(self, at):
        """The resources that the master lends."""
        found = [row for row in self.history.of_settings if row.kind == "lending" and holds(row, at)]
        return json.loads(found[0].value)["names"] if found else []

    def lacks(self, name, at, consumed):
        return {role: max(0, amounts.get(name, 0) - consumed[role][name]) for role, amounts in self.guarantees(at)}


def half_up(value):
    """Hundredths."""
    return (value * 200 + 1) // 2 if value >= 0 else -((-value * 200 - 1) // -2)


def as_toml(prices):
    """A file of prices with these tables."""
    lines = ['currency = "EUR"']
    for table in prices:
        lines.append("[[prices]]")
        for key, value in table.items():
            if key == "attributes":
                value = "{ " + ", ".join(f"{of} = {json.dumps(one)}" for of, one in value.items()) + " }"  # noqa: PLW2901
            lines.append(f"{key} = {value}")
    return "\n".join(lines)
