"""`history record`: follow a master's events, ask what no event tells, and keep both in a recording.

The stream of events is read in this thread. A second thread writes to the disk what has been held back for half a
second, since the next event may be long in coming, and a third asks for settings on time. Changes of tasks, which most
events are, are held back as they were told, and enter the recording together, which costs a third.

A master that is away is waited for: the time until it is back is a gap.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from mesosctl.client.deadline import Deadline
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response import Response
from mesosctl.client.response_body import event_of
from mesosctl.files.rate_limits import RateLimitsMessage
from mesosctl.history.asked_queue import AskedQueue
from mesosctl.history.interface import RecordingWriter
from mesosctl.history.recording import COMES_BACK, Ledger, MasterSettings
from mesosctl.history.records import MICROS, EndCause, Micros, RecordedCluster, to_micros, to_seconds
from mesosctl.history.setting_values import lending_value
from mesosctl.mesos.amounts.notation import format_span, utc_text
from mesosctl.mesos.errors import (
    Conflict,
    DeadlinePassed,
    Denied,
    MasterFailed,
    MesosctlError,
    NoMaster,
    UnexpectedAnswer,
)
from mesosctl.mesos.messages import rate_limits as rate_limits_api
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.tasks import HeldResources, TaskChange
from mesosctl.mesos.messages.events import EventReader, SeenState, agent_counts, clock_of, removal_counters
from mesosctl.mesos.messages.snapshots.cluster_state import suppressed_roles
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.mesos.rules.version_profile import LENDS, lendable_names
from mesosctl.reading.unreachable import in_registry

_STATE_SECONDS = 600.0
"""Seconds in which the state of a cluster, which a minute is enough for, is read once it has come."""
_HELD_BACK = 0.5
"""Seconds after which what was seen is on the disk; it takes a moment itself."""
_TOGETHER = 0.05
"""Seconds in which events are read together."""
_MOST_HELD_BACK = 1000
"""Changes of tasks."""
_PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to reach a master that is away; the last one repeats."""
_PRUNE_EVERY = 3600.0
_JOIN_EVERY = 3600.0
"""Seconds after which what a queue said is joined with the tasks that have started meanwhile."""
_SKEW = 1.0
"""Seconds by which the clocks of the master and of this machine may differ without a word."""
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """The options of `history record`; times are in seconds."""

    every: float = 60.0
    every_agents: float = 600.0
    duration: float | None = None
    keep: float | None = None
    cluster_id: str | None = None
    address: str = ""
    """Of the master as it was asked, without credentials."""
    principal: str | None = None
    queue: AskedQueue | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The clocks of a recorder, and the function that takes its sentences."""

    wall: Callable[[], float]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    tell: Callable[[str], None]
    in_process: bool = False
    """Whether time passes only while the stream is read, so that nothing may be asked in another thread."""


class _Departures:
    """Tells why agents have left, by the master's counters.

    Every removal raises one of them, except that of an agent that an operator marks gone.
    """

    def __init__(self) -> None:
        self._counted: dict[str, float] | None = None
        self._agents: tuple[float, ...] = ()

    def begin(self, metrics: Any) -> None:
        """Count from here on; metrics are None if this principal may not read them."""
        self._counted = None if metrics is None else removal_counters(metrics)
        self._agents = () if metrics is None else agent_counts(metrics)

    def may_tell(self, metrics: Any) -> bool:
        """Whether agents have left, or are about to, of which no event has told."""
        if metrics is None or self._counted is None:
            return False
        before, self._agents = self._agents, agent_counts(metrics)
        return before != self._agents or removal_counters(metrics) != self._counted

    def cause(self, metrics: Any, count: int) -> EndCause:
        """Why as many agents have left that were there until now; unknown if there are several causes."""
        if metrics is None or self._counted is None:
            return "unknown"
        now = removal_counters(metrics)
        grown = {cause: number - self._counted[cause] for cause, number in now.items() if number > self._counted[cause]}
        if not grown:
            return "gone"
        causes: dict[str, EndCause] = {"unreachable": "unreachable", "removed": "removed"}
        (cause, number), *others = grown.items()
        if others or number < count:
            self._counted = now
            return "unknown"
        self._counted[cause] += count  # those beyond may have left since
        return causes[cause]


class _Finished(Exception):
    """The time of --duration is over."""


class _Closed(Exception):
    """The end of the recording is written."""


class Recorder:
    """Records one cluster until it is stopped."""

    def __init__(
        self,
        recording: RecordingWriter,
        open_master: Callable[[], LeadingMaster],
        options: RecordOptions,
        around: Surroundings,
    ) -> None:
        self._recording, self._open_master, self._options, self._around = recording, open_master, options, around
        self._reader = EventReader()
        self._started = around.clock()
        self._ledger: Ledger | None = None
        self._lock = threading.RLock()
        """Held while the ledger, the transaction or what is held back changes.

        The rest are single values that one thread writes, or times of polls: at worst one is made a turn too early.
        """
        self._pending: AbstractContextManager[None] | None = None
        self._held_back: deque[tuple[Micros, HeldResources | TaskChange]] = deque()
        """Changes of tasks that are not in the ledger yet, and when each was told."""
        self._failed: MesosctlError | None = None
        """Why what was held back could not be written."""
        self._over = threading.Event()
        self._is_closed = False
        """Whether the end is written; an answer that comes later is dropped."""
        self._skew = 0.0
        """By which the master's clock was last said to differ from this machine's."""
        self._is_connected = False
        self._cut_silent: Callable[[], None] | None = None
        """Ends the stream of a master that does not tell when nothing happens."""
        self._heard: Micros = 0
        """When the last event came."""
        self._offset: Micros = 0
        """The master's time beyond that of this machine's steady clock."""
        self._end: Micros | None = None
        self._next_poll = self._next_agents = self._next_prune = self._next_queue = 0
        self._next_join: Micros | None = None
        """When what the queue said is joined next."""
        self._departures = _Departures()
        self._shows_runs = True
        self._last_run: Micros = 0

    def run(self) -> None:
        """Record until the time is over.

        Raises the errors of the recording's file, Denied, and whatever interrupts it; the end is clean all the same.
        """
        beside = [threading.Thread(target=self._flush_in_time, daemon=True)]
        if not self._around.in_process:
            beside.append(threading.Thread(target=self._ask_in_time, daemon=True))
            if self._options.queue is not None:
                beside.append(threading.Thread(target=self._ask_queue_in_time, daemon=True))
        for thread in beside:
            thread.start()
        try:
            self._follow()
        finally:
            self._over.set()
            beside[0].join()  # the other one may wait for an answer, and is abandoned
            self._finish()

    def _finish(self) -> None:
        """The end is clean, unless nothing can be written any more."""
        with self._lock:
            try:
                if self._failed is None and self._ledger is not None:
                    with self._changing() as ledger:
                        ledger.seen(self._now() if self._is_connected else ledger.now, clean_end=True)
                        if self._options.queue is not None:
                            self._options.queue.join(self._recording, ledger.cluster)
                    self._flush()
            finally:
                self._is_closed = True

    # --- The connection -------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Follow one master after another."""
        failures = 0
        while True:
            try:
                with self._open_master() as master:
                    for _ in self._events(master):
                        failures = 0
                failures += self._away("the master ended the stream of events", failures)
            except _Finished:
                return
            except (NoMaster, MasterFailed, DeadlinePassed) as error:
                failures += self._away(error.message, failures)
                if self._ledger is None and self._is_over(0.0):
                    raise  # nothing was recorded
            if self._is_over(0.0):
                return

    def _away(self, why: str, failures: int) -> int:
        """Wait a little for a master that is away, and say so once; returns 1, for one more failure."""
        self._lose()
        if failures == 0:
            self._around.tell(f"{why}; waiting until the master is back")
        self._around.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])
        return 1

    def _lose(self) -> None:
        """The stream has ended: the master was last seen at its last event, whatever was assumed since."""
        with self._lock:
            was_connected, self._is_connected = self._is_connected, False
            if was_connected:
                with self._changing() as ledger:
                    ledger.lost(self._heard)

    def _is_over(self, pause: float) -> bool:
        """Whether --duration ends within a pause, by this machine's clock."""
        if self._options.duration is None:
            return False
        if self._end is None:  # no master has answered yet
            return self._around.clock() + pause >= self._started + self._options.duration
        return self._now() + to_micros(pause) >= self._end

    def _events(self, master: LeadingMaster) -> Iterator[None]:
        """Take what a master tells, event after event.  Raises _Finished."""
        with master.subscribe_operator(most=self._left) as stream:
            self._cut_silent = None if master.sends_heartbeats else stream.cut
            try:
                with self._cut_in_time(stream.cut) as let_be:

                    def read(pieces: Iterable[bytes]) -> SeenState:
                        let_be()  # all of it has come, and the time of --duration counts from when it is recorded
                        return self._reader.state(pieces)

                    state = stream.next_in_pieces(read, Deadline(_STATE_SECONDS, self._around.clock))
                if state is None:
                    return
                self._connect(master, state)
                del state
                yield
                stream.gather(_TOGETHER)
                with self._cut_in_time(stream.cut):
                    for event in stream.read_each(self._read_event):
                        self._take(master, event)
                        yield
                        if self._end is not None and self._now() >= self._end:
                            self._ask_last_runs(master)
                            raise _Finished
            except (NoMaster, DeadlinePassed):
                if self._end is not None and self._now() + MICROS // 20 >= self._end:
                    self._ask_last_runs(master)
                    raise _Finished from None
                raise

    @property
    def _left(self) -> float | None:
        """The seconds of --duration that are left; None if it was not given."""
        return self._options.duration if self._end is None else max(0.0, (self._end - self._now()) / MICROS)

    @contextmanager
    def _cut_in_time(self, cut: Callable[[], None]) -> Iterator[Callable[[], None]]:
        """End a silent stream when --duration is over; gives the function that lets it be."""
        left = self._left
        if left is None:
            yield lambda: None
            return
        timer = threading.Timer(left, cut)
        timer.daemon = True
        timer.start()
        try:
            yield timer.cancel
        finally:
            timer.cancel()

    # --- Events ---------------------------------------------------------------------------------------

    def _read_event(self, record: bytes) -> HeldResources | TaskChange | dict[str, Any]:
        """The task in an event, its change, or another event whole.  Raises ConversionError and UnexpectedAnswer."""
        change = self._reader.change_of(record)
        if change is not None:
            return change
        event = event_of(record)
        if event["type"] == "TASK_ADDED":
            return self._reader.task(event)
        return self._reader.change(event) if event["type"] == "TASK_UPDATED" else event

    def _take(self, master: LeadingMaster, event: HeldResources | TaskChange | dict[str, Any]) -> None:
        now = self._now()
        if isinstance(event, dict):
            self._take_other(master, event, now)
        else:
            if isinstance(event, TaskChange) and event.state in COMES_BACK:
                self._next_agents = min(self._next_agents, now)  # no event tells that an agent is unreachable
            self._hold_back(now, event)
        self._poll(master, now)

    def _take_other(self, master: LeadingMaster, event: dict[str, Any], now: Micros) -> None:
        kind = event["type"]
        metrics = None
        if kind == "AGENT_REMOVED":
            metrics = self._allowed(master, lambda: master.get("/metrics/snapshot"))
        with self._changing() as ledger:
            if kind == "AGENT_ADDED":
                agent = self._reader.agent(event)
                ledger.pass_to(now, agent.registered)
                ledger.take_agent(agent)
                self._next_agents = min(self._next_agents, now + to_micros(self._options.every))
            elif kind == "AGENT_REMOVED":
                ledger.pass_to(now)
                agent_id = self._reader.removed_agent(event)
                if ledger.has_agent(agent_id):
                    cause = self._departures.cause(metrics, 1)
                    # The event is for removals: a master tells of no agent in it that is marked gone.
                    ledger.end_agent(agent_id, "removed" if cause in ("gone", "unknown") else cause, known=True)
            elif kind in ("FRAMEWORK_ADDED", "FRAMEWORK_UPDATED"):
                ledger.pass_to(now)
                ledger.take_framework(self._reader.framework(event))
            elif kind == "FRAMEWORK_REMOVED":
                ledger.pass_to(now)
                ledger.end_framework(self._reader.removed_framework(event))
            self._heard = now  # which `_flush_in_time` writes, since every event would cost a row of the cluster

    def _connect(self, master: LeadingMaster, state: SeenState) -> None:
        """Take the whole state that a stream begins with."""
        metrics = self._learn_time(master, connecting=True)
        self._departures.begin(metrics)
        now = self._now()
        version = self._allowed(master, master.version)
        flags = self._allowed(master, lambda: responses.flags(master.get("/flags")))
        self._shows_runs = True
        lending = _lending(flags, state)
        with self._begun(flags or {}, now) as ledger:
            after = ledger.cluster.last_seen
            self._tell_gap(after, now)
            profile = None if version is None else master.profile.name
            ledger.connected(now, version, self._options.address, self._options.principal, profile)
            ledger.take_state(state, after=after)
            ledger.seen(now)
            self._heard, self._is_connected = now, True
        limits = self._allowed(master, lambda: rate_limits_api.rate_limits(master.get("/flags")))
        self._ask_settings(master, metrics, limits, lending)
        self._next_poll = now + to_micros(self._options.every)
        self._next_agents = now + to_micros(self._options.every_agents)
        if self._end is None and self._options.duration is not None:
            self._end = now + to_micros(self._options.duration)
        self._prune(now)

    def _ask_last_runs(self, master: LeadingMaster) -> None:
        """Ask for the runs since the last reading, if the master still answers."""
        with suppress(MesosctlError):
            self._ask_runs(master)

    def _tell_gap(self, last: Micros | None, now: Micros) -> None:
        if last is not None and now - last >= MICROS:
            self._around.tell(f"the recording continues after a gap of {format_span(round((now - last) / MICROS))}")

    @contextmanager
    def _begun(self, flags: dict[str, str], now: Micros) -> Iterator[Ledger]:
        """The ledger of the cluster, which is known only once a master answers.  Raises Conflict."""
        found = None if self._ledger is not None else self._cluster(flags, now)
        with self._changing():
            if found is not None:
                self._recording.put_cluster(found)
                self._ledger = Ledger(self._recording, found)
            assert self._ledger is not None, "it begins with a cluster"
            yield self._ledger

    def _cluster(self, flags: dict[str, str], now: Micros) -> RecordedCluster:
        """The cluster of the master, as the recording has it or a new one."""
        cluster_id = self._options.cluster_id or flags.get("cluster") or self._options.address
        known = {cluster.cluster_id: cluster for cluster in self._recording.clusters()}.get(cluster_id)
        if self._around.in_process and known is not None and now < (known.last_seen or 0):
            raise _overlaps(known, now)
        return known or RecordedCluster(cluster_id, self._options.address)

    # --- Polls ----------------------------------------------------------------------------------------

    def _poll(self, master: LeadingMaster, now: Micros) -> None:
        """Ask what no event tells, if it is time."""
        if now >= self._next_poll and self._around.in_process:
            self._next_poll = now + to_micros(self._options.every)
            self._ask_settings(master, self._learn_time(master))
        if self._around.in_process and now >= self._next_queue:
            self._ask_queue()
        if now >= self._next_agents:
            self._next_agents = now + to_micros(self._options.every_agents)
            self._ask_agents(master)
            executors = self._read(master, "GET_EXECUTORS", self._reader.executors)
            if executors is not None:
                with self._changing() as ledger:
                    ledger.pass_to(self._now())
                    ledger.take_executors(executors)
        if now >= self._next_prune:
            self._prune(now)

    def _ask_agents(self, master: LeadingMaster) -> None:
        """Take the list of agents, and why those that are missing have left."""
        before = self._allowed(master, lambda: master.get("/metrics/snapshot"))
        agents = self._read(master, "GET_AGENTS", self._reader.agents)
        if agents is None:
            return
        after = self._allowed(master, lambda: master.get("/metrics/snapshot"))
        now = self._now()
        unreachable: dict[str, float] = {}
        if self._ledger is not None and self._ledger.missing_agents({agent.agent.id for agent in agents}):
            listed = self._allowed(master, lambda: in_registry(master)) or ()
            unreachable = {agent.id: agent.since for agent in listed}
        with self._changing() as ledger:
            ledger.pass_to(now)
            missing = ledger.missing_agents({agent.agent.id for agent in agents})
            if missing:
                cause = self._departures.cause(after, len(missing))
                ledger.take_agents(agents, after=ledger.now, cause=cause, unreachable=unreachable)
            else:
                ledger.take_agents(agents, after=ledger.now)
                self._departures.begin(before)  # and an agent that leaves since is missing in the next list

    def _ask_in_time(self) -> None:
        """Ask for settings on time, however long no event comes.  Agents are asked for between two events alone."""
        while not self._over.wait(_HELD_BACK):
            if not self._is_connected or self._now() < self._next_poll:
                continue
            self._next_poll = self._now() + to_micros(self._options.every)
            try:
                with suppress(_Closed), self._open_master() as master:
                    self._ask_settings(master, self._learn_time(master))
            except NoMaster:
                if self._cut_silent is not None:  # otherwise the stream tells that the master is away
                    self._cut_silent()
            except MesosctlError:
                pass

    def _ask_queue_in_time(self) -> None:
        """Ask the queue on time, whether the master answers or not."""
        assert self._options.queue is not None, "else nothing is asked"
        while not self._over.wait(self._options.queue.every):
            if self._is_connected:
                with suppress(MesosctlError, _Closed):
                    self._ask_queue()

    def _ask_queue(self) -> None:
        """Take an answer of the queue, and join what it said, from time to time."""
        queue = self._options.queue
        if queue is None:
            return
        self._next_queue = self._now() + to_micros(queue.every)
        answer = queue.ask()
        if answer is None:
            return
        with self._changing() as ledger:
            ledger.pass_to(self._now())
            queue.take(answer, ledger.now)
            if self._next_join is None:
                self._next_join = ledger.now + to_micros(_JOIN_EVERY)
            elif ledger.now >= self._next_join:
                self._next_join = ledger.now + to_micros(_JOIN_EVERY)
                ledger.seen(ledger.now)
                queue.join(self._recording, ledger.cluster)

    def _ask_settings(
        self, master: LeadingMaster, metrics: Any, limits: RateLimits | None = None, lending: str | None = None
    ) -> None:
        """Take the settings; those of flags, which a master has from its start on, only if they are given."""
        quotas = self._allowed(master, lambda: responses.quotas(master.get("/quota")))
        weights = self._allowed(master, lambda: responses.weights(master.get("/weights")))
        suppressed = None if metrics is None else suppressed_roles(metrics)
        now = self._now()
        text = None if limits is None else RateLimitsMessage.of(limits).model_dump_json(exclude_none=True)
        with self._changing() as ledger:
            ledger.pass_to(now)
            ledger.take_settings(MasterSettings(quotas, weights, text, suppressed or None, lending))
        self._ask_runs(master)

    def _ask_runs(self, master: LeadingMaster) -> None:
        """Ask for the allocation runs since the last time.  A master of Mesos shows none."""
        if not self._shows_runs:
            return
        master.deadline.extend_to(master.settings.timeout)
        since = to_seconds(self._last_run)
        try:
            found = responses.allocation_runs(master.get(f"/allocation-runs?since={since:.6f}"))
        except (UnexpectedAnswer, Denied):
            self._shows_runs = False
            return
        times = [at for at in map(to_micros, found) if at > self._last_run]
        if times:
            self._last_run = times[-1]
            with self._changing() as ledger:
                ledger.take_runs(times)

    def _prune(self, now: Micros) -> None:
        """Remove what is older than --keep."""
        self._next_prune = now + to_micros(_PRUNE_EVERY)
        if self._options.keep is not None:
            with self._changing() as ledger:
                ledger.prune(now - to_micros(self._options.keep))

    def _read(self, master: LeadingMaster, call: str, take: Callable[[Iterable[bytes]], Value]) -> Value | None:
        """The result of `take` for a long answer; None if this principal may not read it."""
        answer: Response | None = self._allowed(master, lambda: master.receive_call(call))
        return None if answer is None else answer.take(take, Deadline(_STATE_SECONDS, self._around.clock))

    def _allowed(self, master: LeadingMaster, read: Callable[[], Any]) -> Any:
        """The answer, for which there is the whole time of a command again; None if this principal may not read it."""
        master.deadline.extend_to(master.settings.timeout)
        try:
            return read()
        except Denied:
            return None

    # --- Time -----------------------------------------------------------------------------------------

    def _learn_time(self, master: LeadingMaster, *, connecting: bool = False) -> Any:
        """Compare the master's clock with that of this machine; return its metrics."""
        started = self._allowed(master, lambda: master.ask("GET_MASTER"))
        asked, wall = self._around.clock(), self._around.wall()
        metrics = self._allowed(master, lambda: master.get("/metrics/snapshot"))
        on_the_way = self._around.clock() - asked  # the master has read its clock in this time
        time = clock_of(started, metrics or {})
        skew = 0.0 if time is None else time - wall - on_the_way / 2
        if connecting:
            if abs(skew - self._skew) > _SKEW + on_the_way / 2:
                self._skew = skew
                self._around.tell(
                    f"the master's clock differs from this machine's by {skew:.1f} s; the recording has the master's"
                )
        elif self._departures.may_tell(metrics):
            self._next_agents = 0  # no event tells that an agent is unreachable, drained or gone
        before, self._offset = self._offset, to_micros(wall + skew + on_the_way / 2 - self._around.clock())
        if not connecting and before - self._offset > to_micros(_SKEW + on_the_way / 2):
            with self._changing() as ledger:
                ledger.clock_went_backwards()
        return metrics

    def _now(self) -> Micros:
        """The master's time."""
        return to_micros(self._around.clock()) + self._offset

    # --- Writing --------------------------------------------------------------------------------------

    def _hold_back(self, now: Micros, change: HeldResources | TaskChange) -> None:
        """Take a change of a task, which enters the recording with those after it.  Raises the errors of the file."""
        with self._lock:
            if self._failed is not None:
                raise self._failed
            self._held_back.append((now, change))
            self._heard = now
            if len(self._held_back) >= _MOST_HELD_BACK:
                with self._changing():  # which takes them
                    pass

    @contextmanager
    def _changing(self) -> Iterator[Ledger]:
        """Change the recording; it is on the disk within a second.  Raises the errors of the file, and _Closed."""
        with self._lock:
            if self._is_closed:
                raise _Closed
            if self._failed is not None:
                raise self._failed
            if self._pending is None:
                self._pending = self._recording.transaction()
                self._pending.__enter__()
            while self._held_back:
                assert self._ledger is not None, "a cluster has begun before any change of it"
                now, change = self._held_back.popleft()
                if isinstance(change, TaskChange):
                    self._ledger.pass_to(now, change.time)
                    self._ledger.change_task(change)
                else:
                    self._ledger.pass_to(now)
                    self._ledger.add_task(change)
            yield self._ledger  # type: ignore[misc]  # there is none only while it begins

    def _flush(self) -> None:
        """Write what is held back."""
        with self._lock:
            pending, self._pending = self._pending, None
            if pending is not None:
                pending.__exit__(None, None, None)

    def _flush_in_time(self) -> None:
        while not self._over.wait(_HELD_BACK):
            try:
                with self._lock:
                    if self._ledger is not None and self._failed is None:
                        if self._is_connected:
                            with self._changing() as ledger:
                                ledger.still_there(self._heard if self._around.in_process else self._now())
                        self._flush()
            except MesosctlError as error:
                self._failed = error
                return


def _lending(flags: dict[str, str] | None, state: SeenState) -> str | None:
    """The setting of what a master lends; empty for one that does not, None if it is unknown.

    Only the fake master lends; it shows that without its flags too.
    """
    lends = any(agent.lending is not None for agent in state.agents)
    if flags is None and not lends:
        return None
    shown = flags or {}
    if not lends and shown.get(LENDS) != "true":
        return ""
    try:
        return lending_value(lendable_names(shown))
    except ValueError:
        return None


def _overlaps(cluster: RecordedCluster, now: Micros) -> Conflict:
    """The refusal of a second time that would be mixed with the first: virtual time may begin anywhere."""
    return Conflict(
        f"the recording has cluster '{cluster.cluster_id}' until {utc_text(to_seconds(cluster.last_seen or 0))}, and "
        f"the time of this fake: master begins before that, at {utc_text(to_seconds(now))}",
        field="--history",
        hint="name a new file, or another cluster with --cluster-id",
    )
