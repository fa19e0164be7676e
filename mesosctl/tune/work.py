"""The work of `tune`: it plays candidates against a recording until the goals are met within their bounds."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Protocol, Self

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, to_milli
from mesosctl.mesos.door.replay import (
    RecordedDemand,
    calibrate,
    hole_sentence,
    never_fitting,
    outcomes,
    unasked_sentence,
)
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.messages.strict.reading import Fault
from mesosctl.mesos.roles import check_name, did_you_mean, with_ancestors
from mesosctl.mesos.rules.quota.rules import check_not_default_role
from mesosctl.mesos.rules.version_profile import MESOS_1_9, needs
from mesosctl.reading.side_by_side import Forked, processors
from mesosctl.tune.goals import GoalsFile
from mesosctl.tune.search import (
    DEFAULT_TRIES,
    Ahead,
    Candidate,
    Evidence,
    Goal,
    QuotasAndWeights,
    RoleFigures,
    Space,
    Tuning,
    search,
)
from mesosctl.whatif.changes import EXAMPLES, parse_change
from mesosctl.whatif.played_demand import ReplayOptions, TimedChange, check_calibrated, play

# --- The settings on record -----------------------------------------------------------------------------


def settings_at(demand: RecordedDemand, moment: float) -> QuotasAndWeights:
    """Return the quotas and weights that hold at a moment, after the changes that were made in it."""
    quotas: dict[str, Quota] = {}
    weights: dict[str, float] = {}
    for setting in demand.settings:
        if setting.at > moment:
            break
        config = {} if setting.value is None else json.loads(setting.value)
        if setting.kind == "weight":
            weights[setting.name] = float(config.get("weight", 1.0))
        elif setting.kind == "quota":
            guarantees, limits = (
                {name: to_milli(amount["value"]) for name, amount in config.get(part, {}).items()}
                for part in ("guarantees", "limits")
            )
            quotas[setting.name] = Quota(Quantities(guarantees), Limits(limits))
    return QuotasAndWeights(
        {role: quota for role, quota in quotas.items() if not quota.is_default},
        {role: weight for role, weight in weights.items() if weight != 1.0},
    )


def space_of(goals: GoalsFile, demand: RecordedDemand, *, allow_new_resource: bool = False) -> Space:
    """Return what may be tried.  Raises BadInput for goals that no setting can meet, every fault at once."""
    present = [replayed.agent for replayed in demand.agents if replayed.start <= demand.since]
    total = Quantities.total(agent.total.non_revocable().scalar_quantities() for agent in present)
    space = Space(goals.unknowns, settings_at(demand, demand.until), settings_at(demand, demand.since), total)
    unknown = {} if allow_new_resource else _unknown_resources(goals, demand)
    strange = [fault for faults in unknown.values() for fault in faults]
    goals.file.refuse([*_unknown_roles(goals, demand, space), *strange, *_impossible(goals, demand, space, unknown)])
    return space


def _unknown_roles(goals: GoalsFile, demand: RecordedDemand, space: Space) -> Iterator[Fault]:
    wanting = {task.role for task in demand.tasks if not task.is_executor}
    known = sorted(with_ancestors({*wanting, *space.present.quotas, *space.present.weights}))
    for role in dict.fromkeys(goal.role for goal in goals.goals):
        if role not in wanting:
            hint = did_you_mean(role, sorted(wanting), f"the roles are {listed(sorted(wanting))}")
            yield Fault(f"goals.{role}", f"no task of role '{role}' was wanted in this time", hint)
    for role in dict.fromkeys(variable.role for variable in goals.unknowns):
        if role not in known:
            yield Fault(f"change.{role}", f"role '{role}' is not in the recording", did_you_mean(role, known, ""))
    for role in goals.keep:
        if role not in known:
            yield Fault("keep", f"role '{role}' is not in the recording", did_you_mean(role, known, ""))


def _unknown_resources(goals: GoalsFile, demand: RecordedDemand) -> dict[str, list[Fault]]:
    """Return the faults of each resource that no agent has."""
    found: dict[str, list[Fault]] = {}
    known = {name for replayed in demand.agents for name in replayed.agent.total.scalar_quantities()}
    for unknown, path in zip(goals.unknowns, goals.paths, strict=True):
        for name in unknown.high if unknown.kind != "weight" else ():
            try:
                check_name(name, known, path)
            except RuleViolation as error:
                found.setdefault(name, []).append(Fault(path, error.message, error.hint))
    return found


def _impossible(goals: GoalsFile, demand: RecordedDemand, space: Space, unknown: Collection[str]) -> Iterator[Fault]:
    """Yield bounds that no cluster of this size has room for, and goals that no setting can meet.

    The bounds of `unknown` resources, whose names are wrong, are left out.
    """

    def too_many(amounts: Mapping[str, int]) -> dict[str, int]:
        known = {name: much for name, much in amounts.items() if name not in unknown}
        return {name: much for name, much in known.items() if much > space.total.get_amount(name)}

    has = in_words(space.total)
    profile = demand.profile
    for variable, path in zip(goals.unknowns, goals.paths, strict=True):
        if variable.kind == "limit" and not profile.knows_update_quota:
            yield Fault(path, needs("a limit", MESOS_1_9.version, profile))
        elif variable.kind in ("guarantee", "limit"):
            try:
                check_not_default_role(variable.role, profile)
            except RuleViolation as error:
                yield Fault(path, error.message, error.hint)
        if variable.kind != "guarantee":
            continue
        above = too_many(variable.high)
        if above:
            yield Fault(f"{path}.to", f"{in_words(above)} is more than the agents have: {has}", "lower it")
    too_much = too_many(_least_guarantees(space))
    if too_much:
        sentence = f"the smallest guarantees together are {in_words(too_much)}, but the agents have {has}"
        yield Fault("change", sentence, "lower from")
    yield from _never_met(goals, demand)
    yield from _unasked(goals, demand)


def _least_guarantees(space: Space) -> Mapping[str, int]:
    """The sums of the least that each role has in any candidate; those of nested roles are part of the ones above."""
    by_role: dict[str, dict[str, int]] = {role: {**quota.guarantees} for role, quota in space.first.quotas.items()}
    for unknown in space.unknowns:
        if unknown.kind == "guarantee":
            first, present = (
                where.quotas.get(unknown.role, Quota()).guarantees for where in (space.first, space.present)
            )
            of_role = by_role.setdefault(unknown.role, {})
            for name, low in unknown.low.items():
                of_role[name] = min(low, first.get_amount(name), present.get_amount(name))
    return Quantities.total(Quantities(amounts) for role, amounts in by_role.items() if "/" not in role)


def _never_met(goals: GoalsFile, demand: RecordedDemand) -> Iterator[Fault]:
    """Yield goals of roles of which no task fits on an agent; of other roles, goals leave such tasks out."""
    never = never_fitting(demand.tasks, (replayed.agent.total.to_unreserved() for replayed in demand.agents))
    for goal in goals.goals:
        places = [at for at, task in enumerate(demand.tasks) if task.role == goal.role and not task.is_executor]
        if not places or goal.kind == "never_below_guarantee" or not never.issuperset(places):
            continue
        example = demand.tasks[places[0]].resources.scalar_quantities()
        sentence = (
            f"no task of {goal.role} fits on an agent, even on an empty one, such as {in_words(example)}: no quota "
            "lets them start"
        )
        yield Fault(f"goals.{goal.role}.{goal.kind}", sentence, "choose another --since or --until")


def _unasked(goals: GoalsFile, demand: RecordedDemand) -> Iterator[Fault]:
    """Yield goals about waits of roles of which nobody recorded when their tasks were asked for."""
    tasks: Counter[str] = Counter()
    unasked: Counter[str] = Counter()
    never = never_fitting(demand.tasks, (replayed.agent.total.to_unreserved() for replayed in demand.agents))
    for place, task in enumerate(demand.tasks):
        if task.comes and place not in never:
            tasks[task.role] += 1
            unasked[task.role] += not task.asked_is_known
    for goal in goals.goals:
        sentence = unasked_sentence({goal.role: (unasked[goal.role], tasks[goal.role])})
        if goal.kind in ("wait_p95", "wait_max") and sentence is not None:
            yield Fault(
                f"goals.{goal.role}.{goal.kind}",
                f"{sentence}, so its waits are unknown",
                "leave the goal out, or replay a log that says when tasks were asked for",
            )


def notes_of(goals: Sequence[Goal], demand: RecordedDemand) -> Iterator[str]:
    """Yield a sentence about each role with a goal of which some tasks never fit, so that goals leave them out."""
    never = never_fitting(demand.tasks, (replayed.agent.total.to_unreserved() for replayed in demand.agents))
    for role in dict.fromkeys(goal.role for goal in goals):
        lost = sum(demand.tasks[place].role == role and not demand.tasks[place].is_executor for place in never)
        if lost:
            yield f"{counted(lost, 'task')} of {role} never fit on an agent, even on an empty one: goals leave them out"


# --- One candidate --------------------------------------------------------------------------------------


def play_candidate(demand: RecordedDemand, words: Sequence[str], options: ReplayOptions) -> Evidence:
    """Return what a replay with these changes shows; without changes, how far it is from the recording too.

    It depends on its arguments alone, so it can run in any process on any machine.
    """
    changes = [TimedChange(word, parse_change(word)) for word in words]
    played, interval = play(demand, changes, options)
    found = outcomes(demand, played, options.wait_limit)
    refused = [f"{answered.change}: {answered.message}" for answered in played.answers if not answered.accepted]
    return Evidence(
        {role: RoleFigures.of(outcome) for role, outcome in found.items()},
        "; ".join(refused),
        None if words else calibrate(demand, played, interval),
    )


class Players(Protocol):
    """Plays several candidates at once, wherever they are; used with `with`, which gives up what has not ended."""

    @property
    def at_once(self) -> int:
        """How many it plays at the same time."""

    def start(self, place: int, words: Sequence[str]) -> None:
        """Begin to play a candidate, which is known by its place."""

    def next_ended(self) -> tuple[int, Evidence]:
        """Wait for one that was started, in the order in which they end; return its place and what it showed."""


# --- The search -----------------------------------------------------------------------------------------


class EvidenceStore(Protocol):
    """The replays that were made before, by their changes."""

    def get(self, words: Sequence[str]) -> Evidence | None:
        """Return what the replay of these changes showed; None if it is unknown."""

    def add(self, words: Sequence[str], evidence: Evidence) -> None:
        """Keep what it showed."""


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """How a search goes on: `tell` hears of each replay, and `may_go_on` says if there is time for more of them."""

    replay: ReplayOptions
    tries: int = DEFAULT_TRIES
    seed: int = 0
    tell: Callable[[Tuning, int], None] = lambda _, __: None
    may_go_on: Callable[[], bool] = lambda: True


def tune(
    demand: RecordedDemand,
    space: Space,
    goals: Sequence[Goal],
    players: Players,
    store: EvidenceStore,
    options: TuningOptions,
) -> Tuning:
    """Search settings that meet the goals; each candidate that counts was replayed.

    Raises Conflict if the replay without changes is too far from the recording, and what the players raise.
    """
    asked = _Asked(demand, space, goals, players, store, options)
    tuning = search(space, goals, asked, tries=options.tries, seed=options.seed)
    # What was played ahead counts too, if the search has no time to come to it.
    return replace(tuning, tried={**tuning.tried, **asked.known}) if tuning.stopped else tuning


class _Asked:
    """Has candidates played that the search asks about, as many at a time as can be, and keeps the evidence.

    What it answers does not depend on how many are played at once.
    """

    def __init__(
        self,
        demand: RecordedDemand,
        space: Space,
        goals: Sequence[Goal],
        players: Players,
        store: EvidenceStore,
        options: TuningOptions,
    ) -> None:
        self._demand = demand
        self._space = space
        self._players = players
        self._store = store
        self._options = options
        self._running: dict[int, Candidate] = {}
        self._started = 0
        self._ended = 0
        self.known: dict[Candidate, Evidence] = {}
        self._so_far = Tuning(space, tuple(goals), self.known)

    def __call__(self, candidate: Candidate, ahead: Ahead) -> Evidence | None:
        """See `Evaluate`.  Raises Conflict if the replay without changes is too far from the recording."""
        while self._known_of(candidate) is None:
            self._start(candidate, ahead)
            if candidate not in self._running.values():
                return None
            self._options.tell(self._so_far, self._ended)
            self._end_one()
        self._options.tell(self._so_far, self._ended)
        return self.known[candidate]

    def _known_of(self, candidate: Candidate) -> Evidence | None:
        if candidate not in self.known:
            kept = self._store.get(self._space.words(candidate))
            if kept is not None:
                self._learn(candidate, kept)
        return self.known.get(candidate)

    def _start(self, first: Candidate, ahead: Ahead) -> None:
        """Start what is next while there is room and time; there is always time for the settings on record."""
        at_once = self._players.at_once
        room = at_once - len(self._running)
        if room <= 0:
            return
        # With one player, nothing is played ahead.
        queue = chain([first], ahead(self._known_of, at_once) if at_once > 1 else ())
        new = (
            candidate
            for candidate in queue
            if candidate not in self._running.values() and self._known_of(candidate) is None
        )
        for candidate in islice(new, room):
            if candidate != self._space.unchanged and not self._options.may_go_on():
                return
            self._running[self._started] = candidate
            self._players.start(self._started, self._space.words(candidate))
            self._started += 1

    def _end_one(self) -> None:
        place, evidence = self._players.next_ended()
        candidate = self._running.pop(place)
        self._store.add(self._space.words(candidate), evidence)
        self._ended += 1
        self._learn(candidate, evidence)

    def _learn(self, candidate: Candidate, evidence: Evidence) -> None:
        self.known[candidate] = evidence
        if candidate == self._space.unchanged:
            assert evidence.calibration is not None, "nothing is changed"
            hole = hole_sentence(self._demand, evidence.calibration)
            if hole is not None and not self._options.replay.uncalibrated:
                raise Conflict(
                    f"the replay is too far from the recording to judge goals: {hole}",
                    field="--replay",
                    rule="replay.calibrated",
                    hint="give --uncalibrated to see it anyway",
                )
            check_calibrated(self._demand, evidence.calibration, self._options.replay)


class InProcesses:
    """Plays candidates in processes of this machine; used with `with`."""

    def __init__(self, demand: RecordedDemand, options: ReplayOptions) -> None:
        self._demand = demand
        self._options = options
        self._forked: Forked[Sequence[str], Evidence] = Forked(lambda words: play_candidate(demand, words, options))
        self._is_warm = False

    def __enter__(self) -> Self:
        self._forked.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._forked.__exit__(*error)

    @property
    def at_once(self) -> int:
        """See `Players.at_once`."""
        return processors()

    def start(self, place: int, words: Sequence[str]) -> None:
        """See `Players.start`."""
        if not self._is_warm:
            # Modules are loaded here, and not again in each process.
            nobody = replace(self._demand, tasks=(), settings=(), until=self._demand.since, first_run=None)
            play_candidate(nobody, [EXAMPLES["quota"], EXAMPLES["weight"]], self._options)
            self._is_warm = True
        self._forked.start(place, words)

    def next_ended(self) -> tuple[int, Evidence]:
        """See `Players.next_ended`.  Raises what a replay raises, and Bug for a process that ends without an answer."""
        return self._forked.next_ended()
