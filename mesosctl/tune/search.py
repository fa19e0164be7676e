"""Goals of roles, the settings that may be changed to meet them, and the search among these.

A candidate is a step of each unknown; None leaves a setting as it is.  `search` asks about candidates and knows nothing
of replays: nothing counts as met that was not asked about.
"""

import math
import shlex
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations, islice, product
from random import Random
from typing import Literal, NamedTuple, Protocol

from mesosctl.mesos.amounts.amount_text import in_mesos_notation, percent_text
from mesosctl.mesos.amounts.notation import format_span
from mesosctl.mesos.amounts.quantities import WHOLE_NAMES, Limits, Quantities, Quota, format_double
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.door.replay import ReplayDeviation, RoleOutcome, unasked_sentence
from mesosctl.mesos.exit_status import Answer
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange

GoalKind = Literal["wait_p95", "wait_max", "hours_served", "never_below_guarantee"]
SettingKind = Literal["guarantee", "limit", "weight"]
DEFAULT_STEPS = 8
MOST_STEPS = 1000
DEFAULT_TRIES = 200
MOST_TRIES = 10_000


# --- Goals ----------------------------------------------------------------------------------------------


class RoleFigures(NamedTuple):
    """How a role fared in the replay of one candidate.  Waits are seconds, and None if nobody asked for a task."""

    tasks: int = 0
    never_fit: int = 0
    median_wait: float | None = None
    p95_wait: float | None = None
    longest_wait: float | None = None
    part_served: float | None = None
    below_guarantee: float = 0.0
    waiting_at_the_end: int = 0
    """Tasks that had not started when the replay ended, so that nobody knows how long they wait in all."""
    p95_at_most: float | None = None
    """`p95_wait` if those had waited for ever."""
    unasked: int = 0
    """Tasks of which nobody recorded when they were asked for."""

    @property
    def part_waiting(self) -> float:
        """The part of the tasks that fit which had not started at the end."""
        return self.waiting_at_the_end / max(1, self.tasks - self.never_fit)

    @classmethod
    def of(cls, outcome: RoleOutcome) -> "RoleFigures":
        """Return the figures of an outcome."""
        return cls(
            outcome.tasks,
            outcome.never_fit,
            outcome.median_wait,
            outcome.p95_wait,
            outcome.longest_wait,
            outcome.part_served,
            outcome.below_guarantee,
            outcome.waiting_at_the_end,
            outcome.p95_at_most,
            outcome.unasked,
        )


class Evidence(NamedTuple):
    """The figures of the replay of one candidate."""

    roles: Mapping[str, RoleFigures]
    refusal: str = ""
    """Why a master would refuse the changes; empty if it accepts them."""
    calibration: ReplayDeviation | None = None
    """How far the replay is from the recording, if nothing is changed."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal of a role; `bound` is seconds, or of `hours_served` the least part."""

    role: str
    kind: GoalKind
    bound: float = 0.0
    text: str = ""
    """The bound as it is written in the file."""

    @property
    def sentence(self) -> str:
        """Return it in words: `wait_p95 of LS within 10m`."""
        if self.kind == "never_below_guarantee":
            return f"never_below_guarantee of {self.role}"
        return f"{self.kind} of {self.role} {'of at least' if self.kind == 'hours_served' else 'within'} {self.text}"

    def measured(self, figures: RoleFigures) -> float:
        """Return what a replay showed: seconds, or of `hours_served` a part.  Without tasks it is the best there is."""
        match self.kind:
            case "wait_p95":
                return figures.p95_wait or 0.0
            case "wait_max":
                return figures.longest_wait or 0.0
            case "hours_served":
                return 1.0 if figures.part_served is None else figures.part_served
            case "never_below_guarantee":
                return figures.below_guarantee

    def unseen(self, figures: RoleFigures) -> float:
        """Return the part of the tasks that had not started at the end, if a goal of waits depends on them.

        They have waited until the end, at least: they are counted both ways, as if they had started then, and never.
        """
        at_most = 0.0
        if self.kind == "wait_p95":
            at_most = figures.p95_at_most or 0.0
        elif self.kind == "wait_max" and figures.waiting_at_the_end:
            at_most = math.inf
        is_judged = at_most <= self.bound or not self.is_met(self.measured(figures))
        return 0.0 if is_judged else figures.part_waiting

    def is_met(self, measured: float) -> bool:
        """Whether what was measured is good enough."""
        return measured >= self.bound if self.kind == "hours_served" else measured <= self.bound

    def miss(self, measured: float) -> float:
        """Return how far it is from the bound: 0 if it is met, and below 1."""
        if self.is_met(measured):
            return 0.0
        if self.kind == "hours_served":
            return self.bound - measured
        return (measured - self.bound) / (measured - self.bound + max(self.bound, 60.0))

    def text_of(self, measured: float) -> str:
        """Return what was measured for people."""
        if self.kind == "hours_served":
            return percent_text(measured)
        return format_span(measured) if measured else "0s"


# --- What may be changed --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchVariable:
    """A setting of a role between two bounds, in equal steps; of several resources, all grow together."""

    role: str
    kind: SettingKind
    low: Mapping[str, int]
    """Thousandths by resource; of a weight, by no name."""
    high: Mapping[str, int]
    steps: int = DEFAULT_STEPS

    def at(self, step: int) -> Mapping[str, int]:
        """Return the amounts of a step, from 0 to `steps`."""
        return {name: self._amount(name, low, step) for name, low in self.low.items()}

    def _amount(self, name: str, low: int, step: int) -> int:
        grain = 1000 if name in WHOLE_NAMES else 1
        exact = low + (self.high[name] - low) * step // self.steps
        return exact if step in (0, self.steps) else exact // grain * grain

    def place(self, amounts: Mapping[str, int]) -> float:
        """Return where amounts are between the bounds: 0 at the lower, 1 at the upper; no limit is a step above."""
        places = []
        for name, low in self.low.items():
            beyond = math.inf if self.kind == "limit" else 0
            amount, high = amounts.get(name, beyond), self.high[name]
            if amount == math.inf:
                places.append(1 + 1 / self.steps)
            elif high > low:
                places.append((amount - low) / (high - low))
            else:  # the bounds are one amount
                places.append(float(amount != low))
        return sum(places) / len(places)


WEIGHT = ""
"""The name of the one amount of a weight."""
_FAR_ABOVE = 1e12
"""A weight that is above all bounds; on record it may be as large as a double can be."""


@dataclass(frozen=True, slots=True)
class QuotasAndWeights:
    """Quotas by role, and weights that are not 1."""

    quotas: Mapping[str, Quota] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    def amounts(self, role: str, kind: SettingKind) -> Mapping[str, int]:
        """Return what a setting of a role is, in thousandths."""
        if kind == "weight":
            return {WEIGHT: round(min(self.weights.get(role, 1.0), _FAR_ABOVE) * 1000)}
        quota = self.quotas.get(role, Quota())
        return quota.guarantees if kind == "guarantee" else quota.limits


Candidate = tuple[int | None, ...]
"""A step of each unknown; None leaves it as it is."""


@dataclass(frozen=True)
class Space:
    """Everything that may be tried: the unknowns, and the settings on record."""

    unknowns: tuple[SearchVariable, ...]
    present: QuotasAndWeights
    """At the end of the recording: what is changed."""
    first: QuotasAndWeights
    """At its beginning, where the changes are made."""
    total: Quantities
    """The amounts of all agents together."""

    @property
    def unchanged(self) -> Candidate:
        """Return the candidate that changes nothing."""
        return (None,) * len(self.unknowns)

    @cached_property
    def choices(self) -> tuple[tuple[int | None, ...], ...]:
        """The different steps of each unknown, the one that changes nothing as None."""
        found = []
        for unknown in self.unknowns:
            now = self.present.amounts(unknown.role, unknown.kind)
            seen = [self._seen(unknown, now)]
            steps: list[int | None] = [None]
            for step in range(unknown.steps + 1):
                shown = self._seen(unknown, unknown.at(step))
                if shown not in seen:
                    seen.append(shown)
                    steps.append(step)
            found.append(tuple(steps))
        return tuple(found)

    @staticmethod
    def _seen(unknown: SearchVariable, amounts: Mapping[str, int]) -> tuple[int | None, ...]:
        """The amounts of its resources alone; a guarantee of zero is none."""
        otherwise = None if unknown.kind == "limit" else 0
        return tuple(amounts.get(name, otherwise) for name in unknown.low)

    @property
    def count(self) -> int:
        """How many candidates there are, also impossible ones."""
        return math.prod(len(steps) for steps in self.choices)

    def place(self, candidate: Candidate) -> tuple[float, ...]:
        """Return where a candidate is between the bounds of each unknown."""
        return tuple(
            unknown.place(self.present.amounts(unknown.role, unknown.kind) if step is None else unknown.at(step))
            for unknown, step in zip(self.unknowns, candidate, strict=True)
        )

    def size(self, candidate: Candidate) -> float:
        """Return how large a change is: the sum of the parts of the bounds by which settings move."""
        moved = zip(self.place(candidate), self.place(self.unchanged), strict=True)
        return round(sum(abs(there - here) for there, here in moved), 9)

    def changed(self, candidate: Candidate) -> QuotasAndWeights:
        """Return the whole quotas and the weights of the roles that a candidate changes."""
        quotas: dict[str, Quota] = {}
        weights: dict[str, float] = {}
        for unknown, step in zip(self.unknowns, candidate, strict=True):
            if step is None:
                continue
            amounts, role = unknown.at(step), unknown.role
            if unknown.kind == "weight":
                weights[role] = amounts[WEIGHT] / 1000
                continue
            guarantees, limits = quotas.get(role, self.present.quotas.get(role, Quota()))
            if unknown.kind == "guarantee":
                named = {**guarantees, **amounts}
                guarantees = Quantities({name: amount for name, amount in named.items() if amount})
            else:
                limits = Limits({**limits, **amounts})
            quotas[role] = Quota(guarantees, limits)
        return QuotasAndWeights(quotas, weights)

    def is_possible(self, candidate: Candidate) -> bool:
        """Whether no guarantee is above its limit, and the agents have what is guaranteed."""
        quotas = {**self.first.quotas, **self.changed(candidate).quotas}
        sums: dict[str, int] = {}
        for role, (guarantees, limits) in quotas.items():
            if any(amount > limits.get(name, amount) for name, amount in guarantees.items()):
                return False
            if "/" in role:  # its amounts are part of those of the role above
                continue
            for name, amount in guarantees.items():
                sums[name] = sums.get(name, 0) + amount
        return all(amount <= self.total.get_amount(name) for name, amount in sums.items())

    def words(self, candidate: Candidate) -> tuple[str, ...]:
        """Return a candidate as changes of a replay, in an order in which none is in the way of another."""
        changed = self.changed(candidate)
        removed: list[str] = []
        lowered: list[str] = []
        others: list[str] = []
        for role, (guarantees, limits) in changed.quotas.items():
            old = self.first.quotas.get(role, Quota())
            both = guarantees != old.guarantees and limits != old.limits
            if not old.is_default and (both or not guarantees):
                removed.append(f"remove-quota:{role}")
                old = Quota()
            elif old.is_default and not guarantees and not limits:
                # The role gets its quota later on record; `play` then leaves that out.
                removed.append(f"remove-quota:{role}")
            group = lowered if _is_within(guarantees, old.guarantees) else others
            if guarantees and (guarantees != old.guarantees or limits == old.limits):
                group.append(f"quota:{role}={in_mesos_notation(guarantees)}")
            if limits != old.limits:
                group.append(f"limit:{role}={in_mesos_notation(limits) or 'none'}")
        weights = [f"weight:{role}={format_double(weight)}" for role, weight in changed.weights.items()]
        return (*removed, *lowered, *others, *weights)

    def desired(self, candidate: Candidate) -> DesiredState:
        """Return the desired state that `plan` and `apply` bring about; None of a section that does not change."""
        changed = self.changed(candidate)
        quotas = {role: DesiredQuotaChange(*quota) for role, quota in changed.quotas.items()}
        return DesiredState(quotas or None, dict(changed.weights) or None)

    def quoted(self, candidate: Candidate) -> str:
        """Return the changes as a shell takes them."""
        return shlex.join(self.words(candidate))


def _is_within(some: Mapping[str, int], others: Mapping[str, int]) -> bool:
    return all(amount <= others.get(name, 0) for name, amount in some.items())


# --- The order of candidates ----------------------------------------------------------------------------

_MOST_LISTED = 50_000
"""Candidates that are listed to be put in order; of more, some are drawn."""


def in_order(space: Space, seed: int) -> Iterator[Candidate]:
    """Yield possible candidates, from a coarse grid over the bounds to finer ones, each once; unchanged comes first.

    The order does not depend on goals.  Within a grid, those that change fewer settings come first, and the seed
    decides among equals.
    """
    random = Random(seed)  # noqa: S311  # an order, no secret
    levels = [_levels(unknown, steps) for unknown, steps in zip(space.unknowns, space.choices, strict=True)]
    seen = {space.unchanged}
    yield space.unchanged
    for level in range(1 + max((max(of.values()) for of in levels), default=0)):
        grid = [[step for step in steps if of[step] <= level] for of, steps in zip(levels, space.choices, strict=True)]
        for candidate in _shuffled(grid, random):
            if candidate not in seen:
                seen.add(candidate)
                if space.is_possible(candidate):
                    yield candidate


def _levels(unknown: SearchVariable, choices: Sequence[int | None]) -> dict[int | None, int]:
    """The first grid that has each step: 0 is the bounds alone, and each is twice as fine as the one before."""
    found: dict[int | None, int] = {None: 0}
    level = 0
    while len(found) < len(choices):
        for number in range(2**level + 1):
            step = (2 * number * unknown.steps + 2**level) // (2 * 2**level)
            if step in choices:
                found.setdefault(step, level)
        level += 1
    return found


def _shuffled(grid: Sequence[Sequence[int | None]], random: Random) -> Iterator[Candidate]:
    if math.prod(map(len, grid)) > _MOST_LISTED:
        for _ in range(_MOST_LISTED):
            yield tuple(random.choice(steps) for steps in grid)
        return
    listed = list(product(*grid))
    random.shuffle(listed)
    yield from sorted(listed, key=lambda candidate: sum(step is not None for step in candidate))


# --- The search -----------------------------------------------------------------------------------------


Known = Callable[[Candidate], Evidence | None]
"""The evidence of a candidate; None if its replay is unknown, or under way."""


class Ahead(Protocol):
    """Says which candidates will probably be asked about next, so that they can be replayed meanwhile."""

    def __call__(self, known: Known, count: int, /) -> Iterable[Candidate]:
        """Return the next ones by what is known now: at least `count` that are unknown, or all that can be foreseen."""


class Evaluate(Protocol):
    """Says of candidates what their replays show, one after another."""

    def __call__(self, candidate: Candidate, ahead: Ahead, /) -> Evidence | None:
        """Return what the replay of a candidate shows; None if there is no time for it."""


_AHEAD = 4
"""Candidates that are chosen before the first of them is known, however many are played at once."""
_CONSIDERED = 500
"""As many of the candidates that are left are compared by what they promise, each with as many that were tried."""
_MOST_SMALLER = 16
"""As many smaller candidates are tried as well; of one unknown, as many as before."""


class GoalResult(NamedTuple):
    """The figure of a goal in the replay of a candidate."""

    goal: Goal
    measured: float
    unseen: float
    """As in `Goal`."""
    met: bool

    @property
    def margin(self) -> float:
        """By how much the goal is met, in the unit of its bound; below zero if it is not."""
        apart = self.measured - self.goal.bound
        return apart if self.goal.kind == "hours_served" else -apart


@dataclass(frozen=True)
class Tuning:
    """The answer.  `tried` is in the order in which it was asked about."""

    space: Space
    goals: tuple[Goal, ...]
    tried: Mapping[Candidate, Evidence]
    stopped: bool = False
    """Whether time ended before the search did."""
    is_smallest: bool = False
    """Whether every smaller change was tried."""
    is_whole: bool = False
    """Whether every possible candidate was tried."""

    def measured(self, candidate: Candidate) -> list[float]:
        """Return what was measured for each goal."""
        roles = self.tried[candidate].roles
        return [goal.measured(roles.get(goal.role, RoleFigures())) for goal in self.goals]

    def unseen(self, candidate: Candidate) -> list[float]:
        """Return for each goal the part of the tasks that had not started at the end, if it cannot be judged."""
        roles = self.tried[candidate].roles
        return [goal.unseen(roles.get(goal.role, RoleFigures())) for goal in self.goals]

    def met(self, candidate: Candidate) -> list[bool]:
        """Return which goals a candidate meets; none if it would be refused."""
        accepted = not self.tried[candidate].refusal
        measured = zip(self.goals, self.measured(candidate), self.unseen(candidate), strict=True)
        return [accepted and goal.is_met(value) and not unseen for goal, value, unseen in measured]

    def results(self, candidate: Candidate) -> list[GoalResult]:
        """The result of a candidate for each goal."""
        found = zip(self.goals, self.measured(candidate), self.unseen(candidate), self.met(candidate), strict=True)
        return [GoalResult(*of_goal) for of_goal in found]

    def meets_all(self, candidate: Candidate) -> bool:
        """Whether a candidate was tried and meets every goal."""
        return candidate in self.tried and all(self.met(candidate))

    def miss(self, candidate: Candidate) -> float:
        """Return how far a candidate is from its goals."""
        if self.tried[candidate].refusal:
            return float(len(self.goals))
        measured = zip(self.goals, self.measured(candidate), self.unseen(candidate), strict=True)
        return round(sum(max(goal.miss(value), unseen) for goal, value, unseen in measured), 9)

    @property
    def best(self) -> Candidate | None:
        """Return the smallest change that meets all goals; None if no candidate does."""
        met = [candidate for candidate in self.tried if self.meets_all(candidate)]
        return min(met, key=lambda candidate: _key(self.space, candidate), default=None)

    @property
    def ranked(self) -> list[Candidate]:
        """Return the candidates, the best first: all goals met by a small change, then the nearest to it."""
        return sorted(self.tried, key=self.rank)

    def rank(self, candidate: Candidate) -> tuple[object, ...]:
        """Return the key by which candidates are ranked."""
        return not self.meets_all(candidate), self.miss(candidate), *_key(self.space, candidate)

    @property
    def never_met(self) -> list[Goal]:
        """Return the goals that no candidate met."""
        met = [self.met(candidate) for candidate in self.tried]
        return [goal for index, goal in enumerate(self.goals) if not any(goals_met[index] for goals_met in met)]

    @property
    def pairs_against(self) -> list[tuple[Goal, Goal]]:
        """Return the pairs of goals that candidates met, but none of them together."""
        met, alone = [self.met(candidate) for candidate in self.tried], self.never_met
        return [
            (self.goals[first], self.goals[other])
            for first, other in combinations(range(len(self.goals)), 2)
            if not any(each[first] and each[other] for each in met)
            and self.goals[first] not in alone
            and self.goals[other] not in alone
        ]

    def nearest(self, goal: Goal) -> float:
        """Return the best that was measured for a goal."""
        index = self.goals.index(goal)
        judged = [
            candidate
            for candidate in self.tried
            if not self.tried[candidate].refusal and not self.unseen(candidate)[index]
        ]
        measured = [self.measured(candidate)[index] for candidate in judged]
        return max(measured, default=0.0) if goal.kind == "hours_served" else min(measured, default=math.inf)

    @property
    def unasked(self) -> str | None:
        """Return why nobody knows how long tasks wait; None if it is known."""
        some = next(iter(self.tried.values()), Evidence({}))
        return unasked_sentence({role: (figures.unasked, figures.tasks) for role, figures in some.roles.items()})

    @property
    def perhaps(self) -> Candidate | None:
        """Return the smallest change that may meet all goals, if none is known to do so."""
        if self.best is not None:
            return None
        may = [
            candidate
            for candidate, evidence in self.tried.items()
            if not evidence.refusal
            and all(goal.is_met(shown) for goal, shown in zip(self.goals, self.measured(candidate), strict=True))
        ]
        return min(may, key=lambda candidate: _key(self.space, candidate), default=None)

    @property
    def answer(self) -> Answer:
        """Whether a candidate meets all goals."""
        if self.unasked is not None or self.perhaps is not None:
            return "unknown"
        return "no" if self.best is None else "yes"

    @property
    def verdict(self) -> str:
        """Return the answer in one sentence."""
        if self.unasked is not None:
            return f"PERHAPS: {self.unasked}. Were they asked for when they started, the answer would be {self._found}"
        return self._found

    @property
    def _found(self) -> str:
        best, count = self.best, len(self.tried)
        if self.perhaps is not None:
            unseen = zip(self.goals, self.unseen(self.perhaps), strict=True)
            goal, part = next((goal, part) for goal, part in unseen if part)
            what = self.space.quoted(self.perhaps) or "the settings on record"
            return (
                f"PERHAPS: with {what}, {percent_text(part)} of the tasks of {goal.role} had not started at the end, "
                f"so it is unknown whether {goal.sentence} is met"
            )
        if best == self.space.unchanged:
            return f"YES: nothing needs to change, because {_all_goals(len(self.goals))} met already"
        if best is not None:
            return f"YES: {_all_goals(len(self.goals))} met by {self.space.quoted(best)}"
        if count == 1:
            every = f"the only candidate {'within the bounds' if self.is_whole else 'that was tried'} did not meet"
        else:
            every = f"none of {count} candidates{', all within the bounds,' if self.is_whole else ''} met"
        end = "; the search was stopped" if self.stopped else ""
        if self.never_met:
            goal = self.never_met[0]
            nearest = self.nearest(goal)
            best_seen = "" if nearest == math.inf else f": {goal.text_of(nearest)} is the best"
            return f"NO: {every} {goal.sentence}{best_seen}{end}"
        if self.pairs_against:
            first, other = self.pairs_against[0]
            return f"NO: {every} both {first.sentence} and {other.sentence}{end}"
        return f"NO: {every} all goals, though each two of them were met together{end}"


def _all_goals(count: int) -> str:
    return "the goal is" if count == 1 else "both goals are" if count == 2 else f"all {count} goals are"


def _key(space: Space, candidate: Candidate) -> tuple[float, int, tuple[int, ...]]:
    """Of two changes of one size, the one of fewer settings is smaller."""
    steps = tuple(-1 if step is None else step for step in candidate)
    return space.size(candidate), sum(step is not None for step in candidate), steps


class _Search:
    def __init__(
        self,
        space: Space,
        goals: Sequence[Goal],
        evaluate: Evaluate,
        tries: int,
        tried: Mapping[Candidate, Evidence] | None = None,
    ) -> None:
        self._evaluate = evaluate
        self._tries = tries
        self._tried = {**(tried or {})}
        self._found = self._tried
        """The candidates that were tried when the search for a smaller change began."""
        self._smaller: dict[Candidate, list[Candidate]] = {}
        self.tuning = Tuning(space, tuple(goals), self._tried)
        self.space = space
        self.stopped = False

    def ask(self, candidate: Candidate, ahead: Ahead) -> bool:
        """Try a candidate; False if time has ended."""
        if candidate in self._tried:
            return True
        shown = None if self.stopped else self._evaluate(candidate, ahead)
        if shown is None:
            self.stopped = True
            return False
        self._tried[candidate] = shown
        return True

    def find(self, pool: Sequence[Candidate]) -> None:
        """Try candidates of the pool until one meets all goals: half in its order, half those that promise most."""
        left = deque(pool)
        near: dict[Candidate, _Promise] = {}
        known: deque[tuple[Sequence[float], float]] = deque(maxlen=_CONSIDERED)
        asked: deque[Candidate] = deque()
        chosen = 0

        def ahead(shown: Known, count: int) -> Iterable[Candidate]:
            before = dict(self._tried)
            for place, candidate in enumerate(asked):
                before[candidate] = shown(candidate) or _MISSED
                if Tuning(self.space, self.tuning.goals, before).meets_all(candidate):
                    # The search ends with it unless one before it meets the goals.
                    return chain(islice(asked, place), self._smaller_ahead(before, shown, count))
            return chain(asked, near, left)

        while left or near or asked:
            while len(asked) < _AHEAD and (left or near):
                while left and len(near) < _CONSIDERED:
                    candidate = left.popleft()
                    near[candidate] = _Promise(self.space.place(candidate), known)
                first = chosen % 2 == 0 or not known
                asked.append(next(iter(near)) if first else min(near, key=lambda candidate: near[candidate].miss))
                del near[asked[-1]]
                chosen += 1
            if not self.ask(asked[0], ahead) or self.tuning.meets_all(asked[0]):
                return
            tried = asked.popleft()
            known.append((self.space.place(tried), self.tuning.miss(tried)))
            for promise in near.values():
                promise.learn(*known[-1])

    def make_smaller(self) -> bool:
        """Look for smaller changes than the best; return whether every one was tried."""
        self._found = dict(self._tried)
        return self._shrink() and self._try_smaller()

    def _shrink(self) -> bool:
        """Make the best change smaller, one setting after another, by halving; return whether time allowed it."""
        best = self.tuning.best
        while best is not None:
            before = best
            for index, step in enumerate(best):
                if step is not None and not self._shrink_one(index, best):
                    return False
                best = self.tuning.best or before
            if best == before:
                return True
        return True

    def _shrink_one(self, index: int, best: Candidate) -> bool:
        def replaced(step: int | None) -> Candidate:
            return (*best[:index], step, *best[index + 1 :])

        size = self.space.size(best)
        smaller = [replaced(step) for step in self.space.choices[index]]
        smaller = [
            candidate
            for candidate in smaller
            if self.space.size(candidate) < size and self.space.is_possible(candidate)
        ]
        smaller.sort(key=self.space.size)
        no, yes = -1, len(smaller)
        while yes - no > 1:
            asked = _thirds(no, yes)
            if not all(self.ask(smaller[at], self._ahead) for at in asked):
                return False
            for at in reversed(asked):
                if self.tuning.meets_all(smaller[at]):
                    yes = at
                else:
                    no = at
                    break
        return True

    def _untried_smaller(self, best: Candidate) -> Iterator[Candidate]:
        """Yield the smaller changes that are left, the smallest first."""
        if best not in self._smaller:
            key = _key(self.space, best)
            smaller = [candidate for candidate in product(*self.space.choices) if _key(self.space, candidate) < key]
            possible = filter(self.space.is_possible, smaller)
            self._smaller[best] = sorted(possible, key=lambda candidate: _key(self.space, candidate))
        yield from (candidate for candidate in self._smaller[best] if candidate not in self._tried)

    def _try_smaller(self) -> bool:
        """Try every smaller change than the best, if there are few; return whether all were tried."""
        best, space = self.tuning.best, self.space
        if best is None or space.count > _MOST_LISTED:
            return False
        left = list(self._untried_smaller(best))
        if len(left) > (_MOST_SMALLER if len(space.unknowns) > 1 else max(self._tries, _MOST_SMALLER)):
            return False
        for candidate in left:
            if not self.ask(candidate, self._ahead):
                return False
            if self.tuning.meets_all(candidate):
                break  # the first that meets all goals is the smallest, since smaller ones come first
        return True

    def _ahead(self, known: Known, count: int) -> Iterable[Candidate]:
        return self._smaller_ahead(self._found, known, count)

    def _smaller_ahead(self, tried: Mapping[Candidate, Evidence], known: Known, count: int) -> list[Candidate]:
        """Return up to `count` candidates whose replays are unknown and which `make_smaller` would ask about.

        Each is taken to fare as the nearest one that was tried, so that the search goes on without it.  Where that ends
        too early, they are taken to meet the goals.
        """
        unknown: dict[Candidate, None] = {}

        def look(otherwise: Callable[[_Search, Candidate], Evidence]) -> None:
            def guess(candidate: Candidate, _: Ahead) -> Evidence | None:
                shown = known(candidate)
                if shown is not None:
                    return shown
                unknown[candidate] = None
                return otherwise(run, candidate) if len(unknown) < count else None

            run = _Search(self.space, self.tuning.goals, guess, self._tries, tried)
            run._smaller = self._smaller
            run.make_smaller()

        look(_Search._of_nearest)
        if len(unknown) < count:
            look(lambda *_: _MET)
        return list(unknown)

    def _of_nearest(self, candidate: Candidate) -> Evidence:
        """Return the evidence of the nearest candidate that was tried; of two as near, of one that misses the goals."""
        here = self.space.place(candidate)

        def apart(other_candidate: Candidate) -> tuple[float, bool]:
            return round(math.dist(here, self.space.place(other_candidate)), 9), self.tuning.meets_all(other_candidate)

        return self._tried[min(self._tried, key=apart)]


_MISSED = Evidence({}, "its replay is under way")
_MET = Evidence({})
"""Assumed of a candidate whose replay has not ended: a refusal misses every goal, and a role without tasks none."""


def _thirds(no: int, yes: int) -> list[int]:
    """The places that divide what is between two into three parts; fewer where little is between."""
    third = max(1, (yes - no) // 3)
    return sorted({at for at in (no + third, no + 2 * third) if no < at < yes})


class _Promise:
    """How far a candidate probably is from the goals: as those near it are."""

    __slots__ = ("_misses", "_weights", "place")

    def __init__(self, place: Sequence[float], known: Iterable[tuple[Sequence[float], float]]) -> None:
        self.place = place
        self._misses = self._weights = 0.0
        for there, miss in known:
            self.learn(there, miss)

    def learn(self, there: Sequence[float], miss: float) -> None:
        """Take the place of a candidate that was tried, and how far it is from the goals, into account."""
        apart = sum((here - other) ** 2 for here, other in zip(self.place, there, strict=True))
        weight = 1 / (apart + 1e-9) ** 2
        self._misses += weight * miss
        self._weights += weight

    @property
    def miss(self) -> float:
        return round(self._misses / self._weights, 9) if self._weights else 0.0


def search(
    space: Space,
    goals: Sequence[Goal],
    evaluate: Evaluate,
    *,
    tries: int = DEFAULT_TRIES,
    seed: int = 0,
) -> Tuning:
    """Look for the smallest change that meets all goals, among the first `tries` candidates of `in_order`.

    If one of these meets them, the search finds one, so goals that are easier never make a found answer unfound.  Then
    it makes that change smaller.
    """
    run = _Search(space, goals, evaluate, tries)
    pool = list(islice(in_order(space, seed), tries + 1))
    is_all = len(pool) <= tries and space.count <= _MOST_LISTED
    run.find(pool[:tries])
    is_whole = is_all and not run.stopped and run.tuning.best is None
    is_smallest = run.make_smaller()
    return Tuning(space, tuple(goals), run.tuning.tried, run.stopped, is_smallest, is_whole)
