"""A recording played through the allocator: read, without changes, and with them."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.api.resources import list_to_json, to_model
from mesosctl.client.settings import ClientSettings
from mesosctl.history.interface import Recording
from mesosctl.history.records import (
    MICROS,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedTask,
    Window,
    to_seconds,
)
from mesosctl.model.agents import Agent
from mesosctl.model.errors import BadInput, Conflict, Invalid, NotFound, UsageError
from mesosctl.model.notation import counted
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import MESOS_1_11, PROFILES
from mesosctl.operations.whatif import ChangeRunner, open_dry_run
from mesosctl.planning import whatif_changes as changes_of_masters
from mesosctl.planning.added_demand import (
    added_outcomes,
    delayed_tasks,
    demand_of_snapshot,
    displaced_frameworks,
    with_frameworks,
    with_started_tasks,
)
from mesosctl.planning.added_framework import AddedFramework, check_resources
from mesosctl.planning.forecast import DryRunOptions, Progress
from mesosctl.planning.replay import (
    DEFAULT_REFUSE,
    DEFAULT_WAIT_LIMIT,
    REFUSE_ABOVE,
    Calibration,
    Played,
    RecordedDemand,
    Replay,
    ReplayedAgent,
    ReplayedFramework,
    ReplayedSetting,
    RoleOutcome,
    calibrate,
    never_fitting,
    outcomes,
)
from mesosctl.planning.replayed_tasks import ReplayedTask, ReplayedTasks
from mesosctl.planning.snapshot import ClusterSnapshot
from mesosctl.planning.whatif_changes import Change

if TYPE_CHECKING:
    from mesosctl.client.leading_master import Master


# --- Reading ------------------------------------------------------------------------------------------


def read_demand(
    recording: Recording, cluster: RecordedCluster, window: Window, version: str | None, *, is_wanted: bool = True
) -> RecordedDemand:
    """Return the demand of a window.  Raises BadInput if no agent is known, or if `is_wanted` and nothing is wanted."""
    assert window.since is not None, "the window is that of the command"
    assert window.until is not None, "the window is that of the command"
    since, until = to_seconds(window.since), to_seconds(window.until)
    left_out = _LeftOut()
    agents = list(_agents(recording.agents(cluster.cluster_id, window), since, left_out))
    if not agents:
        raise BadInput(
            "the recording shows no agents in this time, so nothing can be placed",
            field="--replay",
            hint="mesosctl history import has --agents FILE for those of a log",
        )
    hosts = {one.agent.id: one.agent.hostname for one in agents}
    is_imported = any(one.cluster_id == cluster.cluster_id for one in recording.imports())
    tasks = _Tasks(hosts, since, until, left_out)
    rows = recording.demand(cluster.cluster_id, window)
    if recording.counts(cluster.cluster_id).executors:  # else the rows of all tasks are not read twice
        executors = (one for one in recording.tasks(cluster.cluster_id, window) if one.is_executor)
        rows = chain(rows, executors)
    wanted = ReplayedTasks(one for one in map(tasks.read, rows) if one is not None)
    if not wanted and is_wanted:
        raise BadInput("no task was wanted in this time", field="--replay", hint="choose another --since or --until")
    frameworks = _frameworks(recording.frameworks(cluster.cluster_id, window), wanted)
    settings = sorted(_settings(recording, cluster.cluster_id, window, since, until), key=lambda one: one.at)
    gaps = list(recording.gaps(cluster.cluster_id, window))
    assumptions = [
        "tasks are wanted as on record, however long they wait",
        "a task that waits does not wait for others, and takes any agent once its own had no room for it",
    ]
    if not is_imported:
        assumptions.append("a task is wanted when it started on record: a master does not tell when it was asked for")
    if gaps:
        assumptions.append(f"{counted(len(gaps), 'gap')} in the recording: what was wanted meanwhile is unknown")
    return RecordedDemand(
        cluster_id=cluster.cluster_id,
        version=_version(version) or cluster.version or MESOS_1_11.version,
        since=since,
        until=until,
        agents=agents,
        frameworks=frameworks,
        tasks=wanted,
        settings=settings,
        first_run=next(map(to_seconds, recording.runs(cluster.cluster_id, window)), None),
        is_imported=is_imported,
        assumptions=(*assumptions, *left_out.sentences()),
    )


def _version(name: str | None) -> str | None:
    """The version that --mesos-version names.  Raises UsageError."""
    if name is None:
        return None
    if name not in PROFILES:
        known = " and ".join(PROFILES)
        raise UsageError(f"there are rules of Mesos {known}, not of '{name}'", field="--mesos-version")
    return PROFILES[name].version


class _LeftOut:
    """Sentences about the parts of a recording that cannot be replayed, counted."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, sentence: str) -> None:
        self._counts[sentence] = self._counts.get(sentence, 0) + 1

    def sentences(self) -> Iterator[str]:
        for sentence, count in self._counts.items():
            yield f"{count:,} {sentence}"


def _agents(rows: Iterator[RecordedAgent], since: float, left_out: _LeftOut) -> Iterator[ReplayedAgent]:
    """The agents in the order in which they came.  Rows of one agent that goes on with other reservations are one."""
    found: list[ReplayedAgent] = []
    last: dict[str, int] = {}
    """The place of the last one of each id."""
    hosts: dict[str, str] = {}
    for row in rows:
        start, end = to_seconds(row.start), None if row.end is None else to_seconds(row.end)
        known = found[last[row.id]] if row.id in last else None
        if known is not None and known.end is not None and known.end >= start - 1 / MICROS:
            if known.agent.total.to_unreserved() != row.total.to_unreserved():
                left_out.add("times an agent goes on with other resources: it keeps its first")
            found[last[row.id]] = known._replace(end=end)
            continue
        hostname = row.host if hosts.setdefault(row.host, row.id) == row.id else f"{row.host} ({row.id})"
        number = len(hosts)
        total = row.total.non_revocable() if start <= since else _plain(row.total)
        agent = Agent(row.id, hostname, f"slave({number})@127.0.0.1:5051", total, {**row.attributes})
        last[row.id] = len(found)
        found.append(ReplayedAgent(agent, start, end))
    yield from found


def _plain(total: Resources) -> Resources:
    """The resources of an agent before any reservation was made, and without volumes."""
    return Resources(
        replace(entry, reservations=tuple(one for one in entry.reservations if one.type == "STATIC"), disk=None)
        if entry.is_dynamically_reserved or entry.is_persistent_volume
        else entry
        for entry in total.non_revocable()
    )


class _Tasks:
    def __init__(self, hosts: Mapping[str, str], since: float, until: float, left_out: _LeftOut) -> None:
        self._hosts = hosts
        self._since = since
        self._until = until
        self._left_out = left_out
        self._sizes: dict[str, Resources] = {}
        """Equal sizes share an object, by which the allocator knows them."""
        self._amounts: dict[int, tuple[Resources, Resources]] = {}

    def _size(self, held: Resources) -> Resources:
        known = self._amounts.get(id(held))
        if known is None:
            plain = Resources(
                Resource(entry.name, entry.value)
                for entry in held
                if entry.is_scalar and not entry.is_persistent_volume and not entry.shared
            )
            known = self._amounts[id(held)] = (held, self._sizes.setdefault(str(plain), plain))
        return known[1]

    def read(self, row: RecordedTask) -> ReplayedTask | None:
        """A task as it is wanted; None for one that holds nothing that is shared out."""
        size = self._size(row.resources)
        if not size:
            self._left_out.add("tasks hold no amounts: they are left out")
            return None
        if any(not entry.is_scalar or entry.disk is not None or entry.revocable for entry in row.resources):
            self._left_out.add("tasks hold ports, sets, volumes or revocable resources: only their amounts count")
        start = None if row.start is None else to_seconds(row.start)
        end = None if row.end is None else to_seconds(row.end)
        asked = start if row.asked is None else to_seconds(row.asked)
        assert asked is not None, "a task was wanted, or held something"
        if start is not None:
            lasts = None if end is None else end - start
        else:
            lasts = None if row.lasts is None else to_seconds(row.lasts)
            if lasts is None:
                self._left_out.add("tasks never ran, and nothing says how long they would have: they run until the end")
        from_the_beginning = start is not None and start < self._since
        age = 0.0
        if from_the_beginning:
            assert start is not None, "it ran"
            age = self._since - start
            lasts = None if lasts is None else lasts - (self._since - start)
            asked = start = self._since
        return ReplayedTask(
            framework_id=row.framework_id,
            role=row.role,
            resources=size,
            asked=asked,
            lasts=lasts,
            host=self._hosts.get(row.agent_id or ""),
            started=start if start is not None and start < self._until else None,
            start_is_known=row.start_known,
            ran_from_the_beginning=from_the_beginning,
            is_executor=row.is_executor,
            age=age,
        )


def _frameworks(rows: Iterator[RecordedFramework], tasks: Sequence[ReplayedTask]) -> dict[str, ReplayedFramework]:
    roles: dict[str, dict[str, None]] = {}
    found: dict[str, ReplayedFramework] = {}
    for row in rows:
        roles.setdefault(row.id, {}).update(dict.fromkeys(row.roles))
        found[row.id] = ReplayedFramework(row.id, row.name, (), row.principal, row.capabilities)
    uses_gpus = set()
    for task in tasks:
        roles.setdefault(task.framework_id, {}).setdefault(task.role)
        if any(entry.name == "gpus" for entry in task.resources):
            uses_gpus.add(task.framework_id)
    for framework_id, names in roles.items():
        known = found.get(framework_id, ReplayedFramework(framework_id, framework_id, (), None, ()))
        needed = {"MULTI_ROLE", "RESERVATION_REFINEMENT", *(("GPU_RESOURCES",) if framework_id in uses_gpus else ())}
        capabilities = tuple(sorted({*known.capabilities, *needed} - {"REVOCABLE_RESOURCES"}))
        found[framework_id] = known._replace(roles=tuple(names), capabilities=capabilities)
    return found


def _settings(
    recording: Recording, cluster_id: str, window: Window, since: float, until: float
) -> Iterator[ReplayedSetting]:
    """Every change of a setting; one that another value follows at once does not end."""
    rows = list(recording.settings(cluster_id, window))
    starts = {(row.kind, row.name, row.start) for row in rows}
    for row in rows:
        kind = row.kind
        if kind == "rate limits":  # messages are not replayed
            continue
        at = max(since, to_seconds(row.start))
        if kind != "reservation" or at > since:
            yield ReplayedSetting(at, kind, row.name, row.value)
        if row.end is not None and to_seconds(row.end) < until and (row.kind, row.name, row.end) not in starts:
            yield ReplayedSetting(to_seconds(row.end), kind, row.name, None)


# --- Playing ------------------------------------------------------------------------------------------


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
    calibration: Calibration
    outcomes: Mapping[str, RoleOutcome]

    def play_with(
        self,
        changes: Sequence[TimedChange],
        added: Sequence[AddedFramework] = (),
        progress: Progress = _nothing,
        notice: Notice = _nothing,
    ) -> Replay:
        """Play the demand with changes and added frameworks, and compare.  Raises what the changes raise."""
        demand, played = with_frameworks(self.demand, added), self.played
        if changes or added:
            played, _ = play(demand, changes, self.options, progress, notice)
        return self.compare(demand, played, changes, added)

    def compare(
        self,
        demand: RecordedDemand,
        played: Played,
        changes: Sequence[TimedChange],
        added: Sequence[AddedFramework] = (),
    ) -> Replay:
        """Return the answer, once `demand`, this one with the added frameworks, was played with these changes."""
        return Replay(
            self.demand,
            self.options.wait_limit,
            self.calibration,
            self.outcomes,
            outcomes(demand, played, self.options.wait_limit),
            (*(one.word for one in changes), *(one.word for one in added)),
            played.answers,
            self.played,
            played,
            demand,
            tuple(added_outcomes(demand, played, added, self.interval)),
            delayed_tasks(self.demand, self.played, demand, played, self.interval),
        )


def play_unchanged(demand: RecordedDemand, options: ReplayOptions, progress: Progress = _nothing) -> PlayedDemand:
    """Play the demand without changes.  Raises Conflict if that is too far from the recording."""
    played, interval = play(demand, (), options, progress)
    calibration = calibrate(demand, played, interval)
    check_calibrated(demand, calibration, options)
    found = outcomes(demand, played, options.wait_limit)
    return PlayedDemand(demand, options, played, interval, calibration, found)


def compare_replays(
    demand: RecordedDemand,
    changes: Sequence[TimedChange],
    options: ReplayOptions,
    added: Sequence[AddedFramework] = (),
    progress: Progress = _nothing,
    notice: Notice = _nothing,
) -> Replay:
    """Play the demand without changes, then with them and the added frameworks.

    Raises Conflict if the first is too far from the recording, UsageError for changes that cannot be replayed, and
    what these raise.
    """
    check_replayable(changes)
    if not options.allow_new_resource:
        more = [one.change.entries for one in changes if isinstance(one.change, changes_of_masters.AddAgents)]
        check_resources(added, [*(one.agent.total for one in demand.agents), *map(Resources, more)])
    parts = 2 if changes or added else 1
    unchanged = play_unchanged(demand, options, lambda part: progress(part / parts))
    return unchanged.play_with(changes, added, lambda part: progress((1 + part) / parts), notice)


def check_calibrated(demand: RecordedDemand, calibration: Calibration, options: ReplayOptions) -> None:
    """Raise Conflict if a replay without changes is too far from a recording of this allocator."""
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
    added: Sequence[AddedFramework],
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
    lost = tuple(one.id for one in snapshot.agents if one.id not in played.left_agents)
    return [
        (word, changes_of_masters.LoseAgents(lost) if isinstance(one, changes_of_masters.LoseAgents) else one)
        for word, one in changes
        if not isinstance(one, changes_of_masters.AddAgents)
    ]


def check_replayable(changes: Iterable[TimedChange]) -> None:
    """Raise UsageError for a change that restarts the master."""
    for one in changes:
        if isinstance(one.change, changes_of_masters.Restart):
            raise UsageError(
                f"'{one.word}' restarts the master, which a replay cannot",
                field="CHANGES",
                hint="leave it out, or leave --replay out",
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

    added = [Resources(one.change.entries) for one in changes if isinstance(one.change, changes_of_masters.AddAgents)]
    # A task that a reservation keeps away starves; it fits once the reservation is gone.
    never = never_fitting(demand.tasks, [*(_plain(one.agent.total) for one in demand.agents), *added])
    run = start_replay(demand, never, options.refuse, progress)
    settings = _SettingPlayer(demand.agents)
    changed: set[tuple[str, str]] = set()
    begun = False
    # Recorded settings come before changes of the same moment.
    steps: list[tuple[float, ReplayedSetting | TimedChange]] = [
        *((one.at, one) for one in demand.settings),
        *((demand.since if one.at is None else one.at, one) for one in changes),
    ]
    steps.sort(key=lambda step: step[0])
    for at, one in steps:
        # What holds at the beginning is set before anybody asks, so that no offer is made under other settings.
        if at > demand.since and not begun:
            begun = True
            run.begin()
        run.play_until(at)
        # The deadline of a client counts in virtual time, so each has its own.
        clock = run.dry_run.clock
        with open_dry_run(run.dry_run, ClientSettings(clock=clock, sleep=clock.sleep, notice=notice)) as master:
            if isinstance(one, TimedChange):
                is_left_out = _removes_what_is_set_later(one.change, at, demand.settings, changed)
                changed |= _keys(one.change)
                if is_left_out:
                    continue
                runner = ChangeRunner(
                    run.dry_run, master, force=options.force, allow_new_resource=options.allow_new_resource
                )
                runner.attempt([(one.word, one.change)])
            elif (one.kind, one.name) not in changed:
                with run.dry_run.without_answers():  # the answer is about the changes
                    settings.make(master, one)
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
        case changes_of_masters.Weight(role):
            return {("weight", role)}
    return set()


def _removes_what_is_set_later(
    change: Change, moment: float, settings: Sequence[ReplayedSetting], changed: Collection[tuple[str, str]]
) -> bool:
    """Whether a change removes a quota that is set only later on record, so that this is left out."""
    if not isinstance(change, changes_of_masters.NoQuota) or ("quota", change.role) in changed:
        return False
    recorded = [one for one in settings if (one.kind, one.name) == ("quota", change.role)]
    now = [one.value for one in recorded if one.at <= moment]
    later = [one.value for one in recorded if one.at > moment]
    return (not now or not _has_amounts(now[-1])) and any(map(_has_amounts, later))


def _has_amounts(value: str | None) -> bool:
    config = {} if value is None else json.loads(value)
    return bool(config.get("guarantees") or config.get("limits"))


class _SettingPlayer:
    """Makes recorded settings on the master of a replay."""

    def __init__(self, agents: Iterable[ReplayedAgent]) -> None:
        self._reserved = {one.agent.id: _reserved(one.agent.total) for one in agents}
        """The reserved resources of each agent, by its id, volumes as the resources that they were made of."""
        self._quotas: set[str] = set()

    def make(self, master: "Master", setting: ReplayedSetting) -> None:
        """Set it; what the master refuses, because another allocation is in the way, stays as it is."""
        match setting.kind:
            case "quota":
                self._quota(master, setting.name, setting.value)
            case "weight":
                weight = 1.0 if setting.value is None else float(json.loads(setting.value)["weight"])
                _call(master, "UPDATE_WEIGHTS", {"weight_infos": [{"role": setting.name, "weight": weight}]})
            case "reservation":
                self._reserve(master, setting.name, setting.value)

    def _quota(self, master: "Master", role: str, value: str | None) -> None:
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

    def _reserve(self, master: "Master", agent_id: str, value: str | None) -> None:
        """Unreserve what is reserved no more, and reserve what is new: a level of a stack after the other."""
        held = self._reserved.get(agent_id, Resources())
        wanted = _reserved(to_model(one) for one in json.loads(value or "[]"))
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


def _operate(master: "Master", call: str, agent_id: str, entry: Resource, depth: int) -> bool:
    """Make or undo one level of a stack, unless the agent was started with it; False if the master refuses."""
    level = replace(entry, reservations=entry.reservations[:depth])
    if level.reservations[-1].type != "DYNAMIC":
        return True
    return _call(master, call, {"agent_id": {"value": agent_id}, "resources": list_to_json([level], "POST")})


def _call(master: "Master", call: str, message: Mapping[str, Any]) -> bool:
    """Make a call; False if the master refuses it."""
    try:
        master.call(json.dumps({"type": call, call.lower(): message}).encode())
    except (Invalid, NotFound, Conflict):
        return False
    return True
