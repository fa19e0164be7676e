"""The cost of a cluster by calendar month: who used, held or was kept what, and what lay idle.

Every figure is a sum of cells. A cell is one month, one key (a role, framework, principal or agent) and one part. Exact
integrals of price, amount and time are rounded once: the month's total to hundredths of the currency, half up,
and its cells within that total, by largest remainder.

What is a fraction at a moment is cut down to 10⁻¹² of the currency, and the rest of it stays idle: what a guarantee
keeps, and what tasks hold on agents that the recording does not name, which costs what all agents cost on average.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from fractions import Fraction
from functools import partial
from typing import Literal, NamedTuple, get_args

from mesosctl.history.interface import Recording
from mesosctl.history.months import month_at, month_begin, month_end, months_of
from mesosctl.history.records import Gap, Micros, RecordedAgent, RecordedCluster, RecordedTask, Window
from mesosctl.history.setting_values import Amounts, lent_names, quota_amounts
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.roles import top_level
from mesosctl.mesos.rules.version_profile import profile_stored
from mesosctl.usage.calculation import UNKNOWN, By
from mesosctl.usage.event_queue import EventQueue
from mesosctl.usage.prices import LEAST, UNITS, Prices, Rates

CostPart = Literal["used", "borrowed", "reserved_idle", "lent", "kept", "idle_share", "idle"]
PARTS: tuple[CostPart, ...] = get_args(CostPart)
"""In the order in which they are shown; `lent` is below zero, and `idle` is nobody's."""
Sharing = Literal["use", "guarantee", "evenly"]
"""How idle cost is shared out: by what roles used, by what their guarantees would cost, or in equal parts."""
Money = int
"""Hundredths of the currency."""
_Exact = int | Fraction
"""Units of `prices.UNITS`."""


@dataclass(frozen=True, slots=True)
class CostOptions:
    """The span, the prices, the key, the time zone of months, and how idle cost is shared, if it is."""

    since: Micros
    until: Micros
    prices: Prices
    zone: tzinfo
    by: By = "role"
    sharing: Sharing | None = None
    outside: tuple[Gap, ...] = ()
    """The time of the span before the recording began and after it ended."""

    def __post_init__(self) -> None:
        """Raise UsageError if idle cost is to be shared among others than roles."""
        if self.sharing is not None and self.by != "role":
            raise UsageError(
                f"idle cost is shared among roles, not by {self.by}",
                field="--share",
                hint="leave out --by or --share",
            )


class Cell(NamedTuple):
    """The cost of one part of one key in a month; the key is empty for what belongs to nobody, or to no such key."""

    key: str
    part: CostPart
    cost: Money


@dataclass(frozen=True, slots=True)
class PricedMonth:
    """A month, or the part of it that is in the span."""

    number: int
    """See `months`."""
    start: Micros
    end: Micros
    length: Micros
    """Of the whole calendar month."""
    seen: Micros
    cells: tuple[Cell, ...]

    @property
    def total(self) -> Money:
        """The price of all agents in service."""
        return sum(cell.cost for cell in self.cells)

    def part(self, part: CostPart) -> Money:
        """The cost of one part of all keys."""
        return sum(cell.cost for cell in self.cells if cell.part == part)

    @property
    def covered(self) -> float:
        """The share of the whole calendar month that was seen."""
        return self.seen / self.length


@dataclass(frozen=True, slots=True)
class Beside:
    """The amounts of a key that cost nothing, in thousandths times microseconds."""

    revocable: Amounts = field(default_factory=lambda: defaultdict(int))
    out_of_service: Amounts = field(default_factory=lambda: defaultdict(int))
    """Held on agents that were unreachable or had left."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a cluster in a span."""

    cluster: RecordedCluster
    options: CostOptions
    months: tuple[PricedMonth, ...]
    names: Mapping[str, str]
    """By id: the names of frameworks, the hosts of agents."""
    beside: Mapping[str, Beside]
    has_unplaced: bool
    """Whether tasks ran on agents that the recording does not name."""
    has_unknown_loans: bool
    """Whether tasks held revocable resources of which the recording does not say whether they were lent."""
    unpriced: tuple[str, ...]
    """The resources that have no price at some time on some agent."""

    @property
    def seen(self) -> Micros:
        """The time that was seen."""
        return sum(month.seen for month in self.months)

    @property
    def unseen(self) -> Micros:
        """The time of the span that was not."""
        return self.options.until - self.options.since - self.seen

    @property
    def total(self) -> Money:
        """The price of all agents in service."""
        return sum(month.total for month in self.months)

    @property
    def idle(self) -> Money:
        """The part of it that is nobody's."""
        return sum(month.part("idle") for month in self.months)

    @property
    def has_names(self) -> bool:
        """Whether keys are ids, which have names."""
        return self.options.by in ("framework", "agent")

    @property
    def keys(self) -> list[str]:
        """Every key that costs something, by name."""
        return sorted({cell.key for month in self.months for cell in month.cells if cell.key})

    @property
    def covered(self) -> float:
        """The share of the span that was seen."""
        return self.seen / (self.options.until - self.options.since)

    def by_key(self) -> dict[str, dict[CostPart, Money]]:
        """The cost of every key by part, by name; the empty key has what no key has."""
        found = cost_by_key(self.months)
        return {key: found.get(key, {}) for key in (*self.keys, "")}


def cost_by_key(months: Iterable[PricedMonth]) -> dict[str, dict[CostPart, Money]]:
    """The cost in some months by key and part; the empty key has what no key has."""
    found: dict[str, dict[CostPart, Money]] = {}
    for month in months:
        for cell in month.cells:
            parts = found.setdefault(cell.key, {})
            parts[cell.part] = parts.get(cell.part, 0) + cell.cost
    return found


def cost(recording: Recording, cluster: RecordedCluster, options: CostOptions) -> Cost:
    """The cost of a cluster."""
    return _Sweep(recording, cluster, options).run()


def of_last_month(first: Micros, last: Micros, prices: Prices) -> CostOptions:
    """The options for the calendar month in which a recording ends, from the first of the month until that end."""
    zone = prices.zone
    begin = month_begin(month_at(last - 1, zone), zone)
    return CostOptions(begin, last, prices, zone, outside=(Gap(begin, first),) if begin < first else ())


# --- Cells ---------------------------------------------------------------------------------------------

_Key = tuple[str, CostPart]


def rounded(exact: Mapping[_Key, _Exact]) -> tuple[Cell, ...]:
    """The cells of a month in hundredths: together its total, rounded half up; by largest remainder, ties by name."""
    total = sum(exact.values())
    floors = {key: int(value * 100 // UNITS) for key, value in exact.items()}
    left = int((total * 200 + UNITS) // (2 * UNITS)) - sum(floors.values())
    by_remainder = sorted(exact, key=lambda key: (-(exact[key] * 100 - floors[key] * UNITS), key))
    for key in by_remainder[:left]:
        floors[key] += 1
    return tuple(Cell(*key, floors[key]) for key in sorted(floors, key=lambda key: (key[0], PARTS.index(key[1]))))


# --- The sweep -----------------------------------------------------------------------------------------


class _Held(NamedTuple):
    """The resources of a task or an agent: those that are not revocable, of these the reserved ones, and the others."""

    own: Amounts
    reserved: tuple[tuple[str, Amounts], ...]
    """By owner."""
    revocable: Amounts
    borrowable: Amounts
    """The part of the revocable ones that may be lent: it is not throttled for others."""
    shared: tuple[tuple[object, str, str | None, int], ...]
    """(identity, resource name, owner, amount) of shared volumes, which are not in the other amounts."""

    def unreserved(self) -> Amounts:
        """Those that are neither reserved nor revocable."""
        if not self.reserved:
            return self.own
        left = dict(self.own)
        for _, amounts in self.reserved:
            _add(left, amounts, -1)
        return left

    def volumes(self) -> "Iterator[tuple[object, _Held]]":
        """Yield each shared volume by its identity, as what one task holds."""
        for identity, name, owner, amount in self.shared:
            amounts = {name: amount}
            yield identity, _Held(amounts, () if owner is None else ((owner, amounts),), {}, {}, ())

    def with_shared(self) -> "_Held":
        """The same with each shared volume as a resource like others."""
        own = dict(self.own)
        reserved = {owner: dict(amounts) for owner, amounts in self.reserved}
        for _, name, owner, amount in self.shared:
            _add(own, {name: amount}, 1)
            if owner is not None:
                _add(reserved.setdefault(owner, {}), {name: amount}, 1)
        return _Held(own, tuple(reserved.items()), self.revocable, self.borrowable, ())


def _split(resources: Resources) -> _Held:
    own: Amounts = {}
    revocable: Amounts = {}
    borrowable: Amounts = {}
    reserved: dict[str, Amounts] = {}
    shared = []
    for entry in resources:
        if not isinstance(entry.value, int):
            continue
        name, amount = entry.name, int(entry.value)
        owner = entry.role if entry.is_reserved else None
        if entry.revocable:
            revocable[name] = revocable.get(name, 0) + amount
            if entry.revocability == "non-throttleable":
                borrowable[name] = borrowable.get(name, 0) + amount
        elif entry.shared:
            shared.append((entry.disk_identity, name, owner, amount))
        else:
            own[name] = own.get(name, 0) + amount
            if owner is not None:
                of = reserved.setdefault(owner, {})
                of[name] = of.get(name, 0) + amount
    return _Held(own, tuple(reserved.items()), revocable, borrowable, tuple(shared))


def _add(held: Amounts, amounts: Mapping[str, int], sign: int) -> None:
    for name, amount in amounts.items():
        left = held.get(name, 0) + sign * amount
        if left:
            held[name] = left
        else:
            held.pop(name, None)


def _priced(rates: Rates, amounts: Mapping[str, int]) -> int:
    return sum(rates.get(name, 0) * amount for name, amount in amounts.items())


class _Clock:
    """The time that was seen so far."""

    __slots__ = ("_gaps", "now", "seen")

    def __init__(self, since: Micros) -> None:
        self.now, self.seen, self._gaps = since, 0, 0

    def advance(self, to: Micros) -> Micros:
        """Go on to a time; return how much of the time until then was seen."""
        time = 0 if self._gaps else to - self.now
        self.seen += time
        self.now = to
        return time

    def gap(self, sign: int) -> None:
        """A gap begins, or ends."""
        self._gaps += sign


class _Meter:
    """A rate of a whole number of units in each microsecond, and what it has come to."""

    __slots__ = ("_at", "_clock", "_units", "rate")

    def __init__(self, clock: _Clock) -> None:
        self._clock, self._at, self._units, self.rate = clock, clock.seen, 0, 0

    def change(self, rate: int) -> None:
        """It costs more, or less, from now on."""
        if rate:
            self._settle()
            self.rate += rate

    def _settle(self) -> None:
        self._units += self.rate * (self._clock.seen - self._at)
        self._at = self._clock.seen

    def take(self) -> int:
        """The units since they were taken before."""
        self._settle()
        units, self._units = self._units, 0
        return units


class _Integrals:
    """Amounts by resource, and their integrals over the time that was seen."""

    __slots__ = ("_at", "_clock", "_sums", "amounts")

    def __init__(self, clock: _Clock) -> None:
        self._clock, self._at = clock, clock.seen
        self._sums: Amounts = {}
        self.amounts: Amounts = {}

    def change(self, amounts: Mapping[str, int], sign: int) -> None:
        """There is more, or less, from now on."""
        self._settle()
        _add(self.amounts, amounts, sign)

    def _settle(self) -> None:
        time = self._clock.seen - self._at
        if time:
            self._at = self._clock.seen
            for name, amount in self.amounts.items():
                self._sums[name] = self._sums.get(name, 0) + amount * time

    def take(self) -> Amounts:
        """The integrals since they were taken before."""
        self._settle()
        sums, self._sums = self._sums, {}
        return sums


class _Agent:
    """An agent: its resources while it is in service, and what tasks hold on it at any time."""

    def __init__(self) -> None:
        self.rows: list[RecordedAgent] = []
        """Those that hold now; an agent without any is out of service."""
        self.total: Amounts = {}
        self.reserved: dict[str, Amounts] = {}
        self.rates: Rates = {}
        self.held: Amounts = {}
        self.held_by: dict[str, Amounts] = {}
        """By key."""
        self.unreserved_of: dict[str, Amounts] = {}
        """The unreserved resources that tasks hold, by their role."""
        self.reserved_of: dict[str, Amounts] = {}
        """The reserved resources that tasks hold, by owner."""
        self.borrowed_by: dict[str, Amounts] = {}
        """The revocable resources that tasks hold and that may be lent, by key."""

    def idle(self, owner: str) -> Amounts:
        """The part of a reservation that no task holds."""
        held = self.reserved_of.get(owner, {})
        reserved = self.reserved.get(owner, {})
        return {name: left for name, amount in reserved.items() if (left := amount - held.get(name, 0)) > 0}

    def free(self, names: Iterable[str]) -> Amounts:
        """The part of these resources that is neither held nor reserved."""
        idle = [self.idle(owner) for owner in self.reserved]
        left = {name: self.total.get(name, 0) - self.held.get(name, 0) for name in names}
        for name in left:
            left[name] -= sum(of.get(name, 0) for of in idle)
        return {name: amount for name, amount in left.items() if amount > 0}

    def loans(self, name: str) -> Iterator[tuple[str, str, int]]:
        """Yield owners and borrowers of a resource, and what its loan costs in a microsecond.

        Each owner lends in proportion to what it has idle, each borrower owes in proportion to what it holds. What they
        hold beyond what is idle is no loan: its owner takes it back, and its tasks are about to end.
        """
        idle = {owner: amount for owner in self.reserved if (amount := self.idle(owner).get(name, 0))}
        held = {key: amount for key, amounts in self.borrowed_by.items() if (amount := amounts.get(name, 0))}
        of_idle, of_held = sum(idle.values()), sum(held.values())
        for owner, lent in idle.items():
            for key, borrowed in held.items():
                units = self.rates.get(name, 0) * min(of_idle, of_held) * lent * borrowed // (of_idle * of_held)
                yield owner, key, units

    def hold(self, key: str, role: str, held: "_Held", sign: int) -> None:
        """A task holds it, or no longer does."""
        _add(self.held, held.own, sign)
        _add(self.held_by.setdefault(key, {}), held.own, sign)
        _add(self.unreserved_of.setdefault(role, {}), held.unreserved(), sign)
        _add(self.borrowed_by.setdefault(key, {}), held.borrowable, sign)
        for owner, amounts in held.reserved:
            _add(self.reserved_of.setdefault(owner, {}), amounts, sign)


class _Volume(NamedTuple):
    """A shared volume that somebody holds; the first of its holders is the one who has it."""

    key: str
    role: str
    held: _Held


class _Guarantees:
    """The resources that are kept free for guarantees: by role, what it lacks of each, as far as that is free."""

    def __init__(self, *, counts_reserved: bool, counts_subroles: bool) -> None:
        self.counts_reserved = counts_reserved
        """Whether reservations count towards a guarantee."""
        self.counts_subroles = counts_subroles
        """Whether what the roles below have counts towards a guarantee."""
        self.promised: dict[str, Amounts] = {}
        """The guarantees of roles at the top of the tree, where Mesos has them."""
        self.free: Amounts = {}
        self.free_price: Amounts = {}
        """The units that all that is free costs in a microsecond."""
        self.unplaced: Amounts = {}
        """The unreserved resources that tasks hold on unknown agents, which are not free."""
        self._consumed: defaultdict[str, Amounts] = defaultdict(dict)

    def consume(self, role: str, amounts: Mapping[str, int], sign: int, *, is_reserved: bool = False) -> None:
        """More, or less, is held by or reserved for a role, and may count for the role at the top."""
        if (not is_reserved or self.counts_reserved) and ("/" not in role or self.counts_subroles):
            _add(self._consumed[top_level(role)], amounts, sign)

    def kept(self, time: Micros) -> Iterator[tuple[str, int]]:
        """Yield the units that were kept for each role in a time in which nothing changed."""
        for name in sorted({name for amounts in self.promised.values() for name in amounts}):
            lacks = {
                role: lack
                for role, amounts in self.promised.items()
                if (lack := amounts.get(name, 0) - self._consumed[role].get(name, 0)) > 0
            }
            on_agents = self.free.get(name, 0)
            free = on_agents - self.unplaced.get(name, 0)
            if not lacks or free <= 0:
                continue
            # All of what is lacking, or of what is free by shares of that, at the mean price of what is free.
            least = max(sum(lacks.values()), free) * on_agents * LEAST
            price = free * self.free_price.get(name, 0) * time
            for role, lack in lacks.items():
                yield role, lack * price // least * LEAST


class _Sweep:
    """One pass over a recording in the order of time."""

    def __init__(self, recording: Recording, cluster: RecordedCluster, options: CostOptions) -> None:
        self._recording, self._cluster, self._options = recording, cluster, options
        self._clock = clock = _Clock(options.since)
        self._events = EventQueue(options.since, options.until, self._advance)
        self._split = IdentityCache(_split).of
        self._agents: dict[str, _Agent] = {}
        self._principals: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._volumes: dict[tuple[str | None, object], dict[int, _Volume]] = {}
        self._meters: defaultdict[_Key, _Meter] = defaultdict(lambda: _Meter(clock))
        self._in_service, self._price = _Integrals(clock), _Integrals(clock)
        """The resources of all agents in service, and the units that they cost in a microsecond, by resource."""
        self._unplaced: dict[str, _Unplaced] = {}
        self._beyond = 0
        """The units that tasks cost on unknown agents while no agent was known, which are in service too."""
        profile = profile_stored(cluster.mesos_profile, cluster.version or "")
        self._kept = _Guarantees(
            counts_reserved=profile.reservations_consume_quota, counts_subroles=profile.subroles_consume_quota
        )
        self._guaranteed: defaultdict[str, _Integrals] = defaultdict(lambda: _Integrals(clock))
        self._lent_names: frozenset[str] = frozenset()
        """The resources that the master lends now."""
        self._has_unknown_loans = False
        self._revocable: defaultdict[str, _Integrals] = defaultdict(lambda: _Integrals(clock))
        self._away: defaultdict[str, _Integrals] = defaultdict(lambda: _Integrals(clock))
        self._unpriced: set[str] = set()
        self._exact: defaultdict[_Key, _Exact] = defaultdict(int)
        self._months: list[PricedMonth] = []
        self._default = options.prices.rates({}, options.since)

    def run(self) -> Cost:
        """The whole span."""
        options, of, reading = self._options, self._cluster.cluster_id, self._recording
        window = Window(options.since, options.until)
        for gap in (*reading.gaps(of, window), *options.outside):
            self._events.between(gap.start, gap.end, partial(self._clock.gap, 1), partial(self._clock.gap, -1))
        for framework in reading.frameworks(of):
            self._principals[framework.id] = framework.principal or UNKNOWN
            if options.by == "framework":
                self._names[framework.id] = framework.name
        self._hear_agents()
        for setting in reading.settings(of, window):
            if setting.kind == "quota" and "/" not in setting.name:
                promise = partial(self._promise, setting.name, quota_amounts(setting.value)[0])
                self._events.between(setting.start, setting.end, partial(promise, 1), partial(promise, -1))
            elif setting.kind == "lending":
                lend = partial(self._lend, lent_names(setting.value))
                self._events.between(setting.start, setting.end, lend, partial(self._lend, frozenset()))
        for change in options.prices.changes():
            if options.since < change:
                self._events.at(change, self._reprice)
        months = list(months_of(options.since, options.until, options.zone))
        for month in months[:-1]:
            self._events.at(month[2], partial(self._close, *month))
        for task in reading.tasks(of, window):
            self._events.go(max(task.start or 0, options.since))
            self._begin(task)
        self._events.go(options.until)
        self._close(*months[-1])
        return Cost(
            self._cluster, options, tuple(self._months), self._names, self._besides(),
            bool(self._unplaced), self._has_unknown_loans, tuple(sorted(self._unpriced)),
        )  # fmt: skip

    def _hear_agents(self) -> None:
        options = self._options
        for row in self._recording.agents(self._cluster.cluster_id):
            self._agents.setdefault(row.id, _Agent())
            if options.by == "agent":
                self._names[row.id] = row.host
            if row.start < options.until and (row.end is None or row.end > options.since):
                self._events.between(row.start, row.end, partial(self._agent, row, 1), partial(self._agent, row, -1))

    def _besides(self) -> dict[str, Beside]:
        return {
            key: Beside(self._revocable[key].take(), self._away[key].take())
            for key in sorted({*self._revocable, *self._away})
        }

    # --- Time ---------------------------------------------------------------------------------------

    def _advance(self, to: Micros) -> None:
        time = self._clock.advance(to)
        if time:
            for role, units in self._kept.kept(time):
                self._exact[self._owner(role), "kept"] += units

    def _close(self, number: int, start: Micros, end: Micros) -> None:
        """A month is over."""
        exact = self._exact
        for key, meter in self._meters.items():
            exact[key] += meter.take()
        for of_key in self._unplaced:
            self._settle_unplaced(of_key)
        totals, prices = self._in_service.take(), self._price.take()
        exact["", "idle"] += sum(prices.values()) + self._beyond - sum(exact.values())
        self._share_idle(exact, totals, prices)
        seen = self._clock.seen - sum(month.seen for month in self._months)
        cells = {key: units for key, units in exact.items() if units or key == ("", "idle")}
        zone = self._options.zone
        length = month_end(number, zone) - month_begin(number, zone)
        self._months.append(PricedMonth(number, start, end, length, seen, rounded(cells)))
        self._exact, self._beyond = defaultdict(int), 0

    def _share_idle(self, exact: dict[_Key, _Exact], totals: Amounts, prices: Amounts) -> None:
        """Share out what is idle in a month, if it is to be and there is a role to pay for it."""
        guaranteed = {role: integrals.take() for role, integrals in self._guaranteed.items()}
        idle, weights = exact["", "idle"], dict[str, _Exact]()
        if self._options.sharing == "use":
            for (key, part), units in exact.items():
                if part in ("used", "borrowed"):
                    weights[key] = weights.get(key, 0) + units
        elif self._options.sharing == "guarantee":
            weights = {
                role: sum(Fraction(prices.get(name, 0) * sums[name], totals[name]) for name in sums if totals.get(name))
                for role, sums in guaranteed.items()
            }
        elif self._options.sharing == "evenly":
            weights = {key: 1 for (key, _), units in exact.items() if key and units}
        whole = sum(weights.values())
        if whole > 0 and idle > 0:
            for role, weight in weights.items():
                exact[role, "idle_share"] = Fraction(idle * weight) / whole
            exact["", "idle"] = 0

    # --- What happens -------------------------------------------------------------------------------

    def _owner(self, role: str) -> str:
        """The key of what a role has, without a task that holds it."""
        return role if self._options.by == "role" else ""

    def _promise(self, role: str, guarantees: Amounts, sign: int) -> None:
        promised = self._kept.promised.setdefault(role, {})
        _add(promised, guarantees, sign)
        if not promised:
            del self._kept.promised[role]
        if self._options.sharing == "guarantee":
            self._guaranteed[role].change(guarantees, sign)

    def _lend(self, names: frozenset[str]) -> None:
        """The master lends these from now on."""
        in_service = [agent for agent in self._agents.values() if agent.rows]
        for agent in in_service:
            self._count_loans(agent, agent.total, -1)
        self._lent_names = names
        for agent in in_service:
            self._count_loans(agent, agent.total, 1)
        if not names and any(any(agent.borrowed_by.values()) for agent in in_service):
            self._has_unknown_loans = True

    def _agent(self, row: RecordedAgent, sign: int) -> None:
        agent = self._agents[row.id]
        self._count_agent(agent, -1)
        if sign > 0:
            agent.rows.append(row)
        else:
            agent.rows.remove(row)
        agent.total, agent.reserved = {}, {}
        for known in agent.rows:
            whole = self._split(known.total).with_shared()
            _add(agent.total, whole.own, 1)
            for owner, amounts in whole.reserved:
                _add(agent.reserved.setdefault(owner, {}), amounts, 1)
        self._price_agent(agent)
        self._count_agent(agent, 1)

    def _price_agent(self, agent: _Agent) -> None:
        attributes = agent.rows[-1].attributes if agent.rows else {}
        agent.rates = self._options.prices.rates(attributes, self._clock.now) if agent.rows else {}
        self._unpriced.update(name for name in agent.total if name not in agent.rates)

    def _reprice(self) -> None:
        """Other prices count from now on."""
        for agent in self._agents.values():
            if agent.rows:
                self._count_agent(agent, -1)
                self._price_agent(agent)
                self._count_agent(agent, 1)
        for key in self._unplaced:
            self._settle_unplaced(key)
        self._default = self._options.prices.rates({}, self._clock.now)

    def _count_agent(self, agent: _Agent, sign: int) -> None:
        """Count everything that an agent has and that is held on it, or no longer."""
        if not agent.rows:
            for key, amounts in agent.held_by.items():
                self._away[key].change(amounts, sign)
            return
        for key in self._unplaced:
            self._settle_unplaced(key)
        self._in_service.change(agent.total, sign)
        rates = agent.rates
        self._price.change({name: rates.get(name, 0) * amount for name, amount in agent.total.items()}, sign)
        for key, amounts in agent.held_by.items():
            self._meters[key, "used"].change(sign * _priced(rates, amounts))
        for role, amounts in agent.unreserved_of.items():
            self._kept.consume(role, amounts, sign)
        for owner, amounts in agent.reserved_of.items():
            self._kept.consume(owner, amounts, sign, is_reserved=True)
        self._count_idle(agent, agent.reserved, agent.total, sign)
        self._count_loans(agent, agent.total, sign)

    def _count_idle(self, agent: _Agent, owners: Iterable[str], names: Iterable[str], sign: int) -> None:
        """Count what is reserved and idle of these owners, and free of these resources, or no longer."""
        rates = agent.rates
        for owner in owners:
            idle = agent.idle(owner)
            if idle:
                self._meters[self._owner(owner), "reserved_idle"].change(sign * _priced(rates, idle))
                self._kept.consume(owner, idle, sign, is_reserved=True)
        free = agent.free(names)
        _add(self._kept.free, free, sign)
        _add(self._kept.free_price, {name: rates.get(name, 0) * amount for name, amount in free.items()}, sign)

    def _count_loans(self, agent: _Agent, names: Iterable[str], sign: int) -> None:
        """Count what is lent of these resources on an agent, or no longer: the owner is credited, the borrower pays."""
        for name in self._lent_names.intersection(names):
            for owner, key, units in agent.loans(name):
                self._meters[self._owner(owner), "lent"].change(-sign * units)
                self._meters[key, "borrowed"].change(sign * units)

    # --- Tasks --------------------------------------------------------------------------------------

    def _key(self, task: RecordedTask) -> str:
        by = self._options.by
        if by == "role":
            return task.role
        if by == "framework":
            return task.framework_id
        if by == "agent":
            return task.agent_id or UNKNOWN
        return self._principals.get(task.framework_id, UNKNOWN)

    def _begin(self, task: RecordedTask) -> None:
        key, number, held = self._key(task), self._events.next_number(), self._split(task.resources)
        self._hold(task.agent_id, key, task.role, held, 1)
        for identity, of_volume in held.volumes():
            holders = self._volumes.setdefault((task.agent_id, identity), {})
            holders[number] = _Volume(key, task.role, of_volume)
            if len(holders) == 1:
                self._hold(task.agent_id, key, task.role, of_volume, 1)
        if task.end is not None:
            self._events.at(task.end, partial(self._end, task, key, number))

    def _end(self, task: RecordedTask, key: str, number: int) -> None:
        held = self._split(task.resources)
        self._hold(task.agent_id, key, task.role, held, -1)
        for identity, of_volume in held.volumes():
            holders = self._volumes[task.agent_id, identity]
            was_first = next(iter(holders)) == number
            del holders[number]
            if was_first:
                self._hold(task.agent_id, key, task.role, of_volume, -1)
                for other in holders.values():  # the next one in time has it from here on
                    self._hold(task.agent_id, other.key, other.role, other.held, 1)
                    break

    def _hold(self, agent_id: str | None, key: str, role: str, held: "_Held", sign: int) -> None:
        if held.revocable:
            self._revocable[key].change(held.revocable, sign)
            self._has_unknown_loans = self._has_unknown_loans or bool(held.borrowable and not self._lent_names)
        if not held.own and not held.borrowable:
            return
        agent = None if agent_id is None else self._agents.get(agent_id)
        if agent is None:
            if held.own:
                self._hold_unplaced(key, role, held, sign)
        elif not agent.rows:
            agent.hold(key, role, held, sign)
            if held.own:
                self._away[key].change(held.own, sign)
        else:
            owners = [owner for owner, _ in held.reserved]
            lendable = {*held.borrowable, *(name for _, amounts in held.reserved for name in amounts)}
            self._count_loans(agent, lendable, -1)
            self._count_idle(agent, owners, held.own, -1)
            agent.hold(key, role, held, sign)
            self._count_idle(agent, owners, held.own, 1)
            self._count_loans(agent, lendable, 1)
            self._meters[key, "used"].change(sign * _priced(agent.rates, held.own))
            self._consume(role, held, sign)

    def _consume(self, role: str, held: "_Held", sign: int) -> None:
        self._kept.consume(role, held.unreserved(), sign)
        for owner, amounts in held.reserved:
            self._kept.consume(owner, amounts, sign, is_reserved=True)

    def _hold_unplaced(self, key: str, role: str, held: "_Held", sign: int) -> None:
        """The same for what the recording does not say where."""
        found = self._unplaced.setdefault(key, _Unplaced(self._clock.seen))
        self._settle_unplaced(key)
        _add(found.amounts, held.own, sign)
        _add(self._kept.unplaced, held.unreserved(), sign)
        self._consume(role, held, sign)

    def _settle_unplaced(self, key: str) -> None:
        """Count what tasks cost on unknown agents until now: what all agents cost on average."""
        found = self._unplaced[key]
        time, found.at = self._clock.seen - found.at, self._clock.seen
        if not time:
            return
        for name, amount in found.amounts.items():
            total = self._in_service.amounts.get(name, 0)
            if total > 0:
                price = self._price.amounts.get(name, 0) * amount * time
                self._exact[key, "used"] += price // (total * LEAST) * LEAST
            elif name in self._default:
                units = self._default[name] * amount * time
                self._exact[key, "used"] += units
                self._beyond += units
            else:
                self._unpriced.add(name)


@dataclass(slots=True)
class _Unplaced:
    """The resources that the tasks of a key hold on unknown agents, and until when their cost is counted."""

    at: Micros
    amounts: Amounts = field(default_factory=dict)
