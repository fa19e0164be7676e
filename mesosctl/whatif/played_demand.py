"""Demand played through the allocator, without changes and with them.

The demand is what a recording says was wanted, or what frameworks would want of a cluster as it is.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.added_framework import FrameworkToAdd
from mesosctl.mesos.door.forecast import DryRunOptions, Progress
from mesosctl.mesos.door.replay import (
    DEFAULT_REFUSE,
    DEFAULT_WAIT_LIMIT,
    REFUSE_ABOVE,
    Played,
    RecordedDemand,
    Replay,
    ReplayDeviation,
    ReplayedAgent,
    ReplayedSetting,
    RoleOutcome,
    as_first_registered,
    calibrate,
    hole_sentence,
    never_fitting,
    outcomes,
    recorded_outcomes,
)
from mesosctl.mesos.errors import Conflict, Invalid, NotFound, UsageError
from mesosctl.mesos.messages.resources import list_to_json, to_model
from mesosctl.mesos.rules.version_profile import Profile
from mesosctl.suggestion import command
from mesosctl.whatif import changes as changes_of_masters
from mesosctl.whatif.added_demand import (
    added_outcomes,
    delayed_tasks,
    demand_of_snapshot,
    displaced_frameworks,
    with_frameworks,
    with_started_tasks,
)
from mesosctl.whatif.added_frameworks import OPTION, check_resources
from mesosctl.whatif.changes import Change
from mesosctl.whatif.upgraded_demand import on_release
from mesosctl.whatif.work import ChangeRunner, open_dry_run, upgrade_words


class TimedChange(NamedTuple):
    """A change, and the moment from which it holds; None is the beginning."""

    word: str
    change: Change
    at: float | None = None


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a recording is played: plain values, so that another process can play it too.

    `refuse` are the seconds for which a framework declines what it has no use for.  `force` skips the checks of
    capacity when changes are made, and `allow_new_resource` accepts resources that no agent has.
    """

    wait_limit: float = DEFAULT_WAIT_LIMIT
    refuse: float = DEFAULT_REFUSE
    uncalibrated: bool = False
    force: bool = False
    allow_new_resource: bool = False


Notice = Callable[[str], None]
"""Tell the operator what a change means, such as who loses a limit."""


def _nothing(_: object) -> None:
    """Progress and notes that nobody sees."""


@dataclass(frozen=True, slots=True)
class PlayedDemand:
    """Demand that was played without changes, and is there to be played with some.

    unchanged = play_unchanged(demand, options)
    unchanged.play_with(changes)                    the answer to one question; to many, one after the other
    """

    demand: RecordedDemand
    options: ReplayOptions
    played: Played
    interval: float
    """Seconds between two allocations."""
    calibration: ReplayDeviation
    outcomes: Mapping[str, RoleOutcome]
    recorded: Mapping[str, RoleOutcome]
    """On record, of a log of another scheduler."""

    def play_with(
        self,
        changes: Sequence[TimedChange],
        added: Sequence[FrameworkToAdd] = (),
        progress: Progress = _nothing,
        notice: Notice = _nothing,
        upgrade: Profile | None = None,
    ) -> Replay:
        """Play the demand with changes and added frameworks, and compare.  Raises what the changes raise.

        `upgrade` is the profile of the master that leads instead.
        """
        demand, played = with_frameworks(self.demand, added), self.played
        if upgrade is not None:
            demand = on_release(demand, upgrade)
        if changes or added or upgrade is not None:
            played, _ = play(demand, changes, self.options, progress, notice)
        return self.compare(demand, played, changes, added, upgrade)

    def compare(
        self,
        demand: RecordedDemand,
        played: Played,
        changes: Sequence[TimedChange],
        added: Sequence[FrameworkToAdd] = (),
        upgrade: Profile | None = None,
    ) -> Replay:
        """Return the answer, once `demand`, this one with what was added, was played with these changes."""
        words = [
            *([] if upgrade is None else [upgrade_words(upgrade)]),
            *(timed.word for timed in changes),
            *(f"{OPTION} {framework.word}" for framework in added),
        ]
        return Replay(
            self.demand,
            self.options.wait_limit,
            self.calibration,
            self.outcomes,
            outcomes(demand, played, self.options.wait_limit),
            tuple(words),
            played.answers,
            self.played,
            played,
            demand,
            tuple(added_outcomes(demand, played, added, self.interval)),
            delayed_tasks(self.demand, self.played, demand, played, self.interval),
            self.recorded,
        )


def play_unchanged(demand: RecordedDemand, options: ReplayOptions, progress: Progress = _nothing) -> PlayedDemand:
    """Play the demand without changes.  Raises Conflict if that is too far from the recording."""
    played, interval = play(demand, (), options, progress)
    calibration = calibrate(demand, played, interval)
    check_calibrated(demand, calibration, options)
    found = outcomes(demand, played, options.wait_limit)
    recorded = recorded_outcomes(demand, options.wait_limit)
    return PlayedDemand(demand, options, played, interval, calibration, found, recorded)


def compare_replays(
    demand: RecordedDemand,
    changes: Sequence[TimedChange],
    options: ReplayOptions,
    added: Sequence[FrameworkToAdd] = (),
    progress: Progress = _nothing,
    notice: Notice = _nothing,
    upgrade: Profile | None = None,
) -> Replay:
    """Play the demand without changes, then with them and the added frameworks.

    `upgrade` is the profile of the master that leads in the second.  Raises Conflict if the first is too far from the
    recording, UsageError for changes that cannot be replayed, and what these raise.
    """
    check_replayable(changes)
    if not options.allow_new_resource:
        more = [timed.change.entries for timed in changes if isinstance(timed.change, changes_of_masters.AddAgents)]
        check_resources(added, [*(replayed.agent.total for replayed in demand.agents), *map(Resources, more)])
    parts = 2 if changes or added or upgrade is not None else 1
    unchanged = play_unchanged(demand, options, lambda part: progress(part / parts))
    return unchanged.play_with(changes, added, lambda part: progress((1 + part) / parts), notice, upgrade)


def check_calibrated(demand: RecordedDemand, calibration: ReplayDeviation, options: ReplayOptions) -> None:
    """Raise Conflict if a replay without changes is too far from a recording of this allocator.

    If the recording says why, the answer does.
    """
    if hole_sentence(demand, calibration) is not None:
        return
    if calibration.distance > REFUSE_ABOVE and not demand.is_imported and not options.uncalibrated:
        raise Conflict(
            f"the replay is too far from the recording to say anything: {calibration.sentence}",
            field="--replay",
            rule="replay.calibrated",
            hint="give --uncalibrated to see it anyway",
        )


def add_to_snapshot(
    snapshot: ClusterSnapshot,
    changes: Sequence[tuple[str, Change]],
    options: ReplayOptions,
    added: Sequence[FrameworkToAdd],
    terms: DryRunOptions,
    notice: Notice = _nothing,
) -> Replay:
    """Play the tasks of added frameworks on a cluster as it is, and say who would be offered less because of them.

    Raises what `compare_replays` raises.
    """
    import fake_master

    demand = demand_of_snapshot(snapshot, added)
    timed = [TimedChange(word, change) for word, change in changes]
    answer = compare_replays(demand, timed, options, added, terms.progress, notice)
    assert answer.demand_after is not None, "it was played"
    assert answer.played_after is not None, "it was played"
    grown = replace(snapshot, agents=(*snapshot.agents, *answer.played_after.added_agents))
    others = _without_added_agents(snapshot, changes, answer.played_after)
    # Both without the present offers, which would be made again differently.
    sides = [
        replace(grown, offers=()),
        with_started_tasks(grown, answer.demand_after, answer.played_after, added),
    ]
    forecasts = []
    for side in sides:
        dry_run = fake_master.start_dry_run(side, replace(terms, progress=_nothing))
        clock = dry_run.clock
        with open_dry_run(dry_run, ClientSettings(clock=clock, sleep=clock.sleep)) as master:
            ChangeRunner(dry_run, master, force=options.force, allow_new_resource=options.allow_new_resource).attempt(
                others
            )
            forecasts.append(dry_run.forecast())
    return replace(answer, displaced=displaced_frameworks(*forecasts))


def _without_added_agents(
    snapshot: ClusterSnapshot, changes: Sequence[tuple[str, Change]], played: Played
) -> Sequence[tuple[str, Change]]:
    """Return the changes for a snapshot that has the added agents already.

    Agents that are lost are named by their ids: the added ones do not count towards a fraction of all.
    """
    if not played.added_agents:
        return changes
    lost = tuple(agent.id for agent in snapshot.agents if agent.id not in played.left_agents)
    return [
        (word, changes_of_masters.LoseAgents(lost) if isinstance(change, changes_of_masters.LoseAgents) else change)
        for word, change in changes
        if not isinstance(change, changes_of_masters.AddAgents)
    ]


def check_replayable(changes: Iterable[TimedChange]) -> None:
    """Raise UsageError for a change that restarts the master."""
    for timed in changes:
        if isinstance(timed.change, changes_of_masters.Restart):
            raise UsageError(
                f"'{timed.word}' restarts the master, which a replay cannot",
                field="CHANGES",
                hint=f"leave it out; {command('whatif', timed.word)} forecasts it alone",
            )


def play(
    demand: RecordedDemand,
    changes: Sequence[TimedChange],
    options: ReplayOptions,
    progress: Progress = _nothing,
    notice: Notice = _nothing,
) -> tuple[Played, float]:
    """Play the demand once; return what happened, and the allocation interval."""
    from fake_master import start_replay

    added = [
        Resources(timed.change.entries) for timed in changes if isinstance(timed.change, changes_of_masters.AddAgents)
    ]
    # A task that a reservation keeps away starves; it fits once the reservation is gone.
    never = never_fitting(
        demand.tasks, [*(as_first_registered(replayed.agent.total) for replayed in demand.agents), *added]
    )
    run = start_replay(demand, never, options.refuse, progress)
    settings = _SettingPlayer(demand.agents)
    changed: set[tuple[str, str]] = set()
    begun = False
    # Recorded settings come before changes of the same moment.
    steps: list[tuple[float, ReplayedSetting | TimedChange]] = [
        *((setting.at, setting) for setting in demand.settings),
        *((demand.since if timed.at is None else timed.at, timed) for timed in changes),
    ]
    steps.sort(key=lambda step: step[0])
    for at, setting in steps:
        # What holds at the beginning is set before anybody asks, so that no offer is made under other settings.
        if at > demand.since and not begun:
            begun = True
            run.begin()
        run.play_until(at)
        # The deadline of a client counts in virtual time, so each has its own.
        clock = run.dry_run.clock
        with open_dry_run(run.dry_run, ClientSettings(clock=clock, sleep=clock.sleep, notice=notice)) as master:
            if isinstance(setting, TimedChange):
                is_left_out = _removes_what_is_set_later(setting.change, at, demand.settings, changed)
                changed |= _keys(setting.change)
                if is_left_out:
                    continue
                runner = ChangeRunner(
                    run.dry_run, master, force=options.force, allow_new_resource=options.allow_new_resource
                )
                runner.attempt([(setting.word, setting.change)])
            elif (setting.kind, setting.name) not in changed:
                with run.dry_run.without_answers():  # the answer is about the changes
                    settings.make(master, setting)
        run.note_change()
    if begun:
        run.play_until(demand.until)
    else:
        run.play_undisturbed()
    return run.played(), run.allocation_interval


def _keys(change: Change) -> set[tuple[str, str]]:
    """The recorded settings that a change replaces from its moment on.

    A quota and a weight have one value, so the recorded one would take the change back.  Reservations of several
    hands stand side by side.
    """
    match change:
        case changes_of_masters.Guarantee(role) | changes_of_masters.Bounds(role) | changes_of_masters.NoQuota(role):
            return {("quota", role)}
        case changes_of_masters.ChangedWeight(role):
            return {("weight", role)}
    return set()


def _removes_what_is_set_later(
    change: Change, moment: float, settings: Sequence[ReplayedSetting], changed: Collection[tuple[str, str]]
) -> bool:
    """Whether a change removes a quota that is set only later on record, so that this is left out."""
    if not isinstance(change, changes_of_masters.NoQuota) or ("quota", change.role) in changed:
        return False
    recorded = [setting for setting in settings if (setting.kind, setting.name) == ("quota", change.role)]
    now = [setting.value for setting in recorded if setting.at <= moment]
    later = [setting.value for setting in recorded if setting.at > moment]
    return (not now or not _has_amounts(now[-1])) and any(map(_has_amounts, later))


def _has_amounts(value: str | None) -> bool:
    config = {} if value is None else json.loads(value)
    return bool(config.get("guarantees") or config.get("limits"))


class _SettingPlayer:
    """Makes recorded settings on the master of a replay."""

    def __init__(self, agents: Iterable[ReplayedAgent]) -> None:
        self._reserved = {replayed.agent.id: _reserved(replayed.agent.total) for replayed in agents}
        """The reserved resources of each agent, by its id, volumes as the resources that they were made of."""
        self._quotas: set[str] = set()

    def make(self, master: LeadingMaster, setting: ReplayedSetting) -> None:
        """Set it; what the master refuses, because another allocation is in the way, stays as it is."""
        match setting.kind:
            case "quota":
                self._quota(master, setting.name, setting.value)
            case "weight":
                weight = 1.0 if setting.value is None else float(json.loads(setting.value)["weight"])
                _call(master, "UPDATE_WEIGHTS", {"weight_infos": [{"role": setting.name, "weight": weight}]})
            case "reservation":
                self._reserve(master, setting.name, setting.value)

    def _quota(self, master: LeadingMaster, role: str, value: str | None) -> None:
        config: dict[str, Any] = {"role": role} if value is None else json.loads(value)
        if master.profile.knows_update_quota:
            _call(master, "UPDATE_QUOTA", {"force": True, "quota_configs": [config]})
            return
        if role in self._quotas and _call(master, "REMOVE_QUOTA", {"role": role}):
            self._quotas.discard(role)
        guarantees = config.get("guarantees", {})
        if guarantees:
            listed = [{"name": name, "type": "SCALAR", "scalar": amount} for name, amount in guarantees.items()]
            if _call(master, "SET_QUOTA", {"quota_request": {"role": role, "guarantee": listed, "force": True}}):
                self._quotas.add(role)

    def _reserve(self, master: LeadingMaster, agent_id: str, value: str | None) -> None:
        """Unreserve what is reserved no more, and reserve what is new: a level of a stack after the other."""
        held = self._reserved.get(agent_id, Resources())
        wanted = _reserved(to_model(text) for text in json.loads(value or "[]"))
        for entry in held - wanted:
            for depth in range(len(entry.reservations), 0, -1):
                if not _operate(master, "UNRESERVE_RESOURCES", agent_id, entry, depth):
                    break
                held = held - _level(entry, depth) + _level(entry, depth - 1)
        for entry in wanted - held:
            for depth in range(1, len(entry.reservations) + 1):
                if not _operate(master, "RESERVE_RESOURCES", agent_id, entry, depth):
                    break
                held = held - _level(entry, depth - 1) + _level(entry, depth)
        self._reserved[agent_id] = held


def _reserved(entries: Iterable[Resource]) -> Resources:
    """The reserved entries, as if no volume had been made of them."""
    return Resources(replace(entry, disk=None) for entry in entries if entry.reservations)


def _level(entry: Resource, depth: int) -> Resources:
    """The entry with the lowest levels of its stack; nothing for none, since what is not reserved is not kept."""
    return Resources([replace(entry, reservations=entry.reservations[:depth])] if depth else [])


def _operate(master: LeadingMaster, call: str, agent_id: str, entry: Resource, depth: int) -> bool:
    """Make or undo one level of a stack, unless the agent was started with it; False if the master refuses."""
    level = replace(entry, reservations=entry.reservations[:depth])
    if level.reservations[-1].type != "DYNAMIC":
        return True
    return _call(master, call, {"agent_id": {"value": agent_id}, "resources": list_to_json([level], "POST")})


def _call(master: LeadingMaster, call: str, message: Mapping[str, Any]) -> bool:
    """Make a call; False if the master refuses it."""
    try:
        master.call(json.dumps({"type": call, call.lower(): message}).encode())
    except (Invalid, NotFound, Conflict):
        return False
    return True
