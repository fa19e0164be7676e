"""The work of `replay`: it reads the demand of a recording, and plays it several times."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mesosctl.history.imports.join import HARMLESS
from mesosctl.history.interface import Recording
from mesosctl.history.records import (
    DEMAND_FORMATS,
    MICROS,
    Gap,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedTask,
    Window,
    to_seconds,
)
from mesosctl.history.setting_values import is_known
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.door.added_framework import FrameworkToAdd
from mesosctl.mesos.door.replay import (
    Played,
    RecordedDemand,
    Replay,
    ReplayedAbsence,
    ReplayedAgent,
    ReplayedFramework,
    ReplayedSetting,
    as_first_registered,
)
from mesosctl.mesos.door.replayed_tasks import ReplayedTask, ReplayedTasks
from mesosctl.mesos.errors import BadInput, UsageError
from mesosctl.mesos.rules.version_profile import (
    MESOS_1_11,
    Profile,
    answered_by_another,
    check_profile_named,
    profile_stored,
    unmarked,
)
from mesosctl.whatif.added_demand import with_frameworks
from mesosctl.whatif.changes import AddAgents, parse_change
from mesosctl.whatif.played_demand import PlayedDemand, TimedChange, play
from mesosctl.whatif.variant_runs import SearchRange, Variants
from mesosctl.whatif.variants import Template, likely_amount

_WITHIN = 2.0
"""Seconds: what is known to within two allocation intervals is known."""

# --- Reading ------------------------------------------------------------------------------------------


def read_demand(
    recording: Recording,
    cluster: RecordedCluster,
    window: Window,
    version: str | None,
    *,
    is_wanted: bool = True,
    with_ids: bool = False,
) -> RecordedDemand:
    """Return the demand of a window, with the ids of its tasks if `with_ids`.

    Raises BadInput if no agent is known, or if `is_wanted` and nothing is wanted.
    """
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
    hosts = {replayed.agent.id: replayed.agent.hostname for replayed in agents}
    is_imported = recording.is_of_log(cluster.cluster_id)
    tasks = _Tasks(hosts, since, until, left_out, is_imported=is_imported)
    rows = recording.demand(cluster.cluster_id, window)
    if recording.counts(cluster.cluster_id).executors:  # else the rows of all tasks are not read twice
        executors = (task for task in recording.tasks(cluster.cluster_id, window) if task.is_executor)
        rows = chain(rows, executors)
    ids: list[str] = []

    def wanted_tasks() -> Iterator[ReplayedTask]:
        for row in rows:
            task = tasks.read(row)
            if task is not None:
                if with_ids:
                    ids.append(row.id)
                yield task

    wanted = ReplayedTasks(wanted_tasks())
    if not wanted and is_wanted:
        raise BadInput("no task was wanted in this time", field="--replay", hint="choose another --since or --until")
    frameworks = _frameworks(recording.frameworks(cluster.cluster_id, window), wanted, is_imported=is_imported)
    settings = sorted(_settings(recording, cluster.cluster_id, window, since, until), key=lambda setting: setting.at)
    absences, unseen = _absences(recording, cluster.cluster_id, window, hosts)
    gaps = list(recording.gaps(cluster.cluster_id, window))
    profile = _profile(version, cluster)
    assumptions = [
        *_about_version(version, cluster),
        "tasks are wanted as on record, however long they wait",
        "a task that waits does not wait for others, and takes any agent once its own had no room for it",
    ]
    if gaps:
        assumptions.append(f"{counted(len(gaps), 'gap')} in the recording: what was wanted meanwhile is unknown")
    return RecordedDemand(
        cluster_id=cluster.cluster_id,
        version=cluster.version if version is None and cluster.version else profile.version,
        since=since,
        until=until,
        agents=agents,
        frameworks=frameworks,
        tasks=wanted,
        settings=settings,
        first_run=next(map(to_seconds, recording.runs(cluster.cluster_id, window)), None),
        is_imported=is_imported,
        absences=absences,
        holes=()
        if is_imported
        else tuple(_holes(recording, cluster.cluster_id, frameworks.values(), since, gaps, unseen)),
        assumptions=(*assumptions, *left_out.sentences()),
        ids=[ids[place] for place in wanted.order] if with_ids else (),
        mesos_profile=profile.name,
    )


def _profile(name: str | None, cluster: RecordedCluster) -> Profile:
    """The profile that --mesos-version names, or that of the recording.  Raises UsageError."""
    if name is not None:
        return check_profile_named(name, "--mesos-version", UsageError)
    return profile_stored(cluster.mesos_profile, cluster.version) if cluster.version else MESOS_1_11


def _about_version(name: str | None, cluster: RecordedCluster) -> Iterator[str]:
    """Sentences about whose rules a replay follows."""
    version = cluster.version or ""
    note = unmarked(version, cluster.mesos_profile) or answered_by_another(version)
    if name is None and note is not None:
        yield note


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
        total = row.total.non_revocable() if start <= since else as_first_registered(row.total)
        agent = ClusterAgent(row.id, hostname, f"slave({number})@127.0.0.1:5051", total, {**row.attributes})
        last[row.id] = len(found)
        found.append(ReplayedAgent(agent, start, end))
    yield from found


class _Tasks:
    def __init__(
        self, hosts: Mapping[str, str], since: float, until: float, left_out: _LeftOut, *, is_imported: bool
    ) -> None:
        self._hosts = hosts
        self._is_imported = is_imported
        self._since = since
        self._until = until
        self._left_out = left_out
        self._sizes: dict[str, Resources] = {}
        """Equal sizes share an object, by which the allocator knows them."""
        self._size = IdentityCache(self._size_of).of

    def _size_of(self, held: Resources) -> Resources:
        plain = Resources(
            Resource(entry.name, entry.value)
            for entry in held
            if entry.is_scalar and not entry.is_persistent_volume and not entry.shared
        )
        return self._sizes.setdefault(str(plain), plain)

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
        # What was there when a recording began is known since then, and began before.
        from_the_beginning = start is not None and (
            start < self._since or (start == self._since and not row.start_known)
        )
        age = 0.0
        if from_the_beginning:
            assert start is not None, "it ran"
            age = self._since - start
            lasts = None if lasts is None else lasts - (self._since - start)
            asked = start = self._since
        # From when a task of a master was asked for, its allocator placed it, which places it again.
        is_placed_again = row.asked is not None and not self._is_imported and not from_the_beginning
        if row.asked is None and not row.is_executor and not from_the_beginning:
            self._left_out.add("tasks are wanted when they started on record: nobody recorded when they were asked for")
        return ReplayedTask(
            framework_id=row.framework_id,
            role=row.role,
            resources=size,
            asked=asked,
            lasts=lasts,
            host=None if is_placed_again else self._hosts.get(row.agent_id or ""),
            started=start if start is not None and start < self._until else None,
            start_is_known=row.start_known,
            ran_from_the_beginning=from_the_beginning,
            is_executor=row.is_executor,
            age=age,
            asked_is_known=row.asked is not None,
        )


def _frameworks(
    rows: Iterator[RecordedFramework], tasks: Sequence[ReplayedTask], *, is_imported: bool
) -> dict[str, ReplayedFramework]:
    roles: dict[str, dict[str, None]] = {}
    found: dict[str, ReplayedFramework] = {}
    for row in rows:
        roles.setdefault(row.id, {}).update(dict.fromkeys(row.roles))
        joined = found[row.id].joined if row.id in found else None if is_imported else to_seconds(row.start)
        found[row.id] = ReplayedFramework(row.id, row.name, (), row.principal, row.capabilities, joined)
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


def _absences(
    recording: Recording, cluster_id: str, window: Window, hosts: Mapping[str, str]
) -> tuple[list[ReplayedAbsence], list[str]]:
    """Return when agents were out of service, and the hosts of those of which nobody knows whether they were.

    These are taken to have been, since nothing is seen to start there.
    """
    found, unseen = [], []
    for row in recording.settings(cluster_id, window):
        if row.kind == "out of service" and row.name in hosts:
            start, end = to_seconds(row.start), None if row.end is None else to_seconds(row.end)
            found.append(ReplayedAbsence(row.name, start, end))
            if not is_known(row.value) and (end is None or end - start > _WITHIN):
                unseen.append(hosts[row.name])
    return found, unseen


def _holes(
    recording: Recording,
    cluster_id: str,
    frameworks: Iterable[ReplayedFramework],
    since: float,
    gaps: Sequence[Gap],
    unseen: Sequence[str],
) -> Iterator[str]:
    """Yield what the recording of a master does not say, and what may decide who is served."""
    if gaps:
        yield f"{counted(len(gaps), 'gap')} in the recording hide{'s' * (len(gaps) == 1)} what was wanted then"
    if unseen:
        yield f"nobody saw when {listed(sorted(set(unseen)))} went out of service, or came back"
    lost = sum(
        cause.rows
        for done in recording.imports()
        if done.cluster_id == cluster_id
        for cause in done.skipped
        if done.format in DEMAND_FORMATS and cause.cause not in HARMLESS
    )
    if lost:
        belong = "belongs" if lost == 1 else "belong"
        yield f"{counted(lost, 'row')} of demand {belong} to no recorded task, and may have waited"
    if any(framework.joined is not None and framework.joined <= since for framework in frameworks):
        yield "nobody recorded what was offered and declined before the replay begins"


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
        if kind == "lending":  # nor revocable resources
            continue
        if kind == "out of service":
            continue
        at = max(since, to_seconds(row.start))
        if kind != "reservation" or at > since:
            yield ReplayedSetting(at, kind, row.name, row.value)
        if row.end is not None and to_seconds(row.end) < until and (row.kind, row.name, row.end) not in starts:
            yield ReplayedSetting(to_seconds(row.end), kind, row.name, None)


# --- Several changes ----------------------------------------------------------------------------------


def replayed_variants(
    unchanged: PlayedDemand,
    common: Sequence[TimedChange],
    added: Sequence[FrameworkToAdd],
    progress: Callable[[str], None],
    at_once: int | None = None,
) -> Variants[Played, Replay]:
    """Return replays of the same demand, each with the common changes and one more."""
    demand = with_frameworks(unchanged.demand, added)

    def changes(word: str) -> list[TimedChange]:
        return [*common, TimedChange(word, parse_change(word))]

    def run(word: str) -> Played:
        return play(demand, changes(word), unchanged.options)[0]

    def compare(word: str, played: Played) -> Replay:
        return unchanged.compare(demand, played, changes(word), added)

    return Variants(run, compare, progress, "playing", at_once)


def search_range(template: Template, unchanged: PlayedDemand, common: Sequence[TimedChange]) -> SearchRange:
    """Return the amounts that may be the largest: up to what the agents had at a time."""
    total = _largest_total(unchanged.demand, common, template.resource)
    _, guarantees = unchanged.played.guarantees[0]
    promised = Quantities.total(guarantees.values()).get_amount(template.resource)
    unpromised = Quantities({template.resource: max(0, total - promised)})
    # A replay takes as long as a forecast of many agents.
    return SearchRange(total, template.precision(total, is_slow=True), likely_amount(template, unpromised, guarantees))


def _largest_total(demand: RecordedDemand, common: Sequence[TimedChange], name: str) -> int:
    """The most that the agents had of a resource at a time, with those that a common change adds."""
    moments = {demand.since, *(replayed.start for replayed in demand.agents if replayed.start > demand.since)}
    amounts = [
        (replayed.start, replayed.end, replayed.agent.total.scalar_quantities().get_amount(name))
        for replayed in demand.agents
    ]
    there = (
        sum(amount for start, end, amount in amounts if start <= moment and (end is None or end > moment))
        for moment in moments
    )
    more = (
        change.count * Resources(change.entries).scalar_quantities().get_amount(name)
        for _, change, _ in common
        if isinstance(change, AddAgents)
    )
    return max(there) + sum(more)
