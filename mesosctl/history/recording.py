"""From what a master shows to rows: begins and ends of agents, frameworks, tasks, executors and settings.

A `Ledger` knows what is open in a recording. It takes whole states, which tell what began and ended while nothing was
seen, and single changes. Every call is made within a transaction of the writer, with the master's time; that never goes
backwards in a recording.
"""

import json
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Generic, TypeVar

from mesosctl.history.interface import RecordingWriter
from mesosctl.history.records import (
    EndCause,
    Gap,
    Micros,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    SettingKind,
    Suppression,
    to_micros,
)
from mesosctl.history.setting_values import out_of_service_value, quota_value, weight_value
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.elements.agents import AgentMessage
from mesosctl.mesos.messages.elements.frameworks import FrameworkMessage
from mesosctl.mesos.messages.elements.tasks import HeldResources, TaskChange
from mesosctl.mesos.messages.events import SeenState
from mesosctl.mesos.messages.resources import list_to_json
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

HOLDS_NOTHING = TERMINAL_STATES | {"TASK_UNREACHABLE"}
"""The states of tasks that hold no resources."""
COMES_BACK = frozenset({"TASK_UNREACHABLE", "TASK_LOST"})
"""The states of tasks that may run again when their agent is back."""
_OUT: SettingKind = "out of service"
_DISCONNECTED = "REASON_AGENT_DISCONNECTED"
"""The reason of a task that ended as the master lost the connection with its agent."""
_MARKED_GONE = "REASON_AGENT_REMOVED_BY_OPERATOR"
"""The reason of a task that ended since an operator marked its agent gone."""
_TaskKey = tuple[str, str, str, bool]
Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


class _Open(Generic[Key, Row]):
    """The rows of one kind that have not ended, by what they are of."""

    def __init__(self) -> None:
        self.rows: dict[Key, tuple[int, Row]] = {}

    def row(self, key: Key) -> Row | None:
        """The open row; None if there is none."""
        found = self.rows.get(key)
        return None if found is None else found[1]


@dataclass(frozen=True, slots=True)
class MasterSettings:
    """The settings that a master has now, as documented JSON by name; None if it does not show them."""

    quotas: Mapping[str, Quota] | None = None
    weights: Mapping[str, float] | None = None
    rate_limits: str | None = None
    suppressed: Mapping[str, Mapping[str, bool]] | None = None
    """By framework id and role."""
    lending: str | None = None
    """Empty for a master that lends no idle reservations."""


class Ledger:
    """The open rows of one cluster in a recording."""

    def __init__(self, recording: RecordingWriter, cluster: RecordedCluster) -> None:
        self._recording, self.cluster = recording, cluster
        self.now: Micros = cluster.last_seen or 0
        of = cluster.cluster_id
        self._agents: _Open[str, RecordedAgent] = _Open()
        self._frameworks: _Open[str, RecordedFramework] = _Open()
        self._tasks: _Open[_TaskKey, RecordedTask] = _Open()
        self._suppressions: _Open[tuple[str, str], Suppression] = _Open()
        self._settings: _Open[tuple[SettingKind, str], RecordedSetting] = _Open()
        self._of_agent: dict[str, set[_TaskKey]] = {}
        self._drain_states: dict[str, str] = {}
        """Of the agents that operators drain."""
        self._gone: set[str] = set()
        """The agents of which a task said that an operator has marked them gone."""
        self._served: dict[str, Micros] = {}
        """When each agent was last seen in service, or out of it."""
        self._away: dict[_TaskKey, RecordedTask] = {}
        """Tasks that ended since their agent is unreachable, and that may run again."""
        for key, agent in recording.open_agents(of):
            self._agents.rows[agent.id] = (key, agent)
        for key, framework in recording.open_frameworks(of):
            self._frameworks.rows[framework.id] = (key, framework)
        for key, task in recording.open_tasks(of):
            self._keep(key, task)
        for key, suppression in recording.open_suppressions(of):
            self._suppressions.rows[suppression.framework_id, suppression.role] = (key, suppression)
        for key, setting in recording.open_settings(of):
            self._settings.rows[setting.kind, setting.name] = (key, setting)
        self.now = max([self.now, *self._starts()])  # no row ends before it begins

    def _starts(self) -> Iterator[Micros]:
        for kept in (self._agents, self._frameworks, self._tasks, self._suppressions, self._settings):
            for _, row in kept.rows.values():
                yield row.start or 0

    # --- Time ---------------------------------------------------------------------------------------

    def pass_to(self, now: Micros, told: float | None = None) -> Micros:
        """The moment of a change: the time that was `told`, if it lies between the last change and `now`."""
        at = now if told is None else min(now, to_micros(told))
        self.now = max(self.now, at)
        return self.now

    def connected(
        self, now: Micros, version: str | None, address: str, principal: str | None, profile: str | None = None
    ) -> None:
        """A master is heard from; the time since it was last seen is a gap."""
        cluster, last = self.cluster, self.cluster.last_seen
        steps = cluster.clock_steps
        if last is not None and now < last:
            steps += 1
        self._lose_sight()
        self.now = max(self.now, now)
        if last is not None and last < self.now:
            self._recording.add_gap(cluster.cluster_id, Gap(last, self.now))
        self.cluster = replace(
            cluster,
            address=address,
            version=version or cluster.version,
            mesos_profile=profile if version else cluster.mesos_profile,
            principal=principal,
            first_seen=self.now if cluster.first_seen is None else cluster.first_seen,
            last_seen=self.now,
            clean_end=False,
            clock_steps=steps,
        )
        self._recording.put_cluster(self.cluster)

    def clock_went_backwards(self) -> None:
        """The master's clock was put back while it was heard from; no time in the recording goes back with it."""
        self.cluster = replace(self.cluster, clock_steps=self.cluster.clock_steps + 1)
        self._recording.put_cluster(self.cluster)

    def seen(self, now: Micros, *, clean_end: bool = False) -> None:
        """Everything is as it was up to now."""
        self.now = max(self.now, now)
        self.cluster = replace(self.cluster, last_seen=self.now, clean_end=clean_end)
        self._recording.put_cluster(self.cluster)

    def still_there(self, now: Micros) -> None:
        """The master would have told if anything had changed up to now; `lost` takes it back."""
        if now > (self.cluster.last_seen or 0):
            self.cluster = replace(self.cluster, last_seen=now)
            self._recording.put_cluster(self.cluster)

    def lost(self, heard: Micros) -> None:
        """The master was last heard from then."""
        self.cluster = replace(self.cluster, last_seen=max(heard, self.now))
        self._recording.put_cluster(self.cluster)

    def prune(self, before: Micros) -> int:
        """Remove what ended before, so that the recording begins then; returns how many rows."""
        first = self.cluster.first_seen
        if first is not None:
            self.cluster = replace(self.cluster, first_seen=max(first, before))
        return self._recording.prune(self.cluster.cluster_id, before)

    # --- Whole states ---------------------------------------------------------------------------------

    def take_state(self, state: SeenState, *, after: Micros | None) -> None:
        """Everything that a master shows when it is heard from; `after` is when it was last, None for never."""
        self.take_agents(state.agents, after=after)
        frameworks = {framework.framework.id for framework in state.frameworks}
        for framework_id in [framework_id for framework_id in self._frameworks.rows if framework_id not in frameworks]:
            self.end_framework(framework_id)
        for framework in state.frameworks:
            self.take_framework(framework, after=after)
        present = {_key_of(held): held for held in state.tasks if held.state not in HOLDS_NOTHING}
        ended = {_key_of(change): change for change in state.ended} | {
            _key_of(held): held.last_change for held in state.tasks if held.state in HOLDS_NOTHING
        }
        for key in [key for key in self._tasks.rows if key not in present]:
            found = ended.get(key)
            told = None if found is None else found.time
            inside = told is not None and (after is None or to_micros(told) >= after) and to_micros(told) <= self.now
            at = to_micros(told) if inside and told is not None else self.now
            self._end_task(key, at, found.state if found else None, found.reason if found else None, known=inside)
        for held in present.values():
            self._begin_task(held, self._bounded(held.first_time, after), known=False)

    def take_agents(
        self,
        agents: Iterable[AgentMessage],
        *,
        after: Micros | None,
        cause: EndCause = "unknown",
        unreachable: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Every agent; `cause` is why those that are missing ended, unless it is known since when they are unreachable.

        That is in seconds since 1970, by the ids of agents.
        """
        present = {message.agent.id: message for message in agents}
        for agent_id in self.missing_agents(present):
            since = unreachable.get(agent_id)
            if since is None:
                self.end_agent(agent_id, cause, known=False)
            else:
                self.end_agent(agent_id, "unreachable", known=False, at=to_micros(since))
        for agent in present.values():
            self.take_agent(agent, after=after)

    def has_agent(self, agent_id: str) -> bool:
        """Whether the agent is there."""
        return agent_id in self._agents.rows

    def missing_agents(self, present: Container[str]) -> list[str]:
        """The agents that have not ended, and are not among those that are present."""
        return [agent_id for agent_id in self._agents.rows if agent_id not in present]

    def take_executors(self, executors: Iterable[HeldResources]) -> None:
        """Every executor; nobody tells when one begins or ends, so that is bounded by the polls."""
        present = {_key_of(held): held for held in executors}
        for key in [key for key in self._tasks.rows if key[3] and key not in present]:
            self._end_task(key, self.now, None, None, known=False)
        for held in present.values():
            self._begin_task(held, self.now, known=False)

    def _bounded(self, told: float | None, after: Micros | None) -> Micros:
        """When something began that was not there when the master was last seen."""
        return self.now if told is None or after is None else min(max(to_micros(told), after), self.now)

    # --- Single changes -------------------------------------------------------------------------------

    def take_agent(self, read: AgentMessage, *, after: Micros | None = None) -> None:
        """An agent that is there, as it is now."""
        agent = read.agent
        self._take_service(agent.id, active=agent.active, registered=read.registered)
        if read.drain_state is None:
            self._drain_states.pop(agent.id, None)
        else:
            self._drain_states[agent.id] = read.drain_state
        known = self._agents.row(agent.id)
        start = self._bounded(read.registered, after)
        if known is not None:
            same = (agent.hostname, agent.total, dict(agent.attributes))
            if (known.host, known.total, dict(known.attributes)) == same:
                return
            self.end_agent(agent.id, "changed", known=True)
            start = self.now
        row = RecordedAgent(agent.id, agent.hostname, agent.total, start, attributes=dict(agent.attributes))
        self._agents.rows[agent.id] = (self._recording.add_agent(self.cluster.cluster_id, row), row)
        reserved = Resources(entry for entry in agent.total if entry.is_dynamically_reserved)
        text = json.dumps(list_to_json(reserved, "POST")) if reserved else None
        self._set("reservation", agent.id, text)

    def end_agent(self, agent_id: str, cause: EndCause, *, known: bool, at: Micros | None = None) -> None:
        """An agent has ended, or goes on with other resources; of one that has ended, tasks hold nothing any more.

        `known` if an event told it now, and not a list that came later; `at` is when it ended, if somebody tells it. An
        agent that was drained ends because of that, however it then leaves.
        """
        if cause != "changed":
            drain_state, is_gone = self._drain_states.pop(agent_id, None), agent_id in self._gone
            self._gone.discard(agent_id)
            cause = "gone" if is_gone else cause
            if drain_state == "DRAINED" or (drain_state is not None and cause == "gone"):
                cause = "drained"
        found = self._agents.rows.pop(agent_id, None)
        end = self.now if at is None else min(at, self.now)
        if found is not None:
            end = max(end, found[1].start)
            self._recording.end_agent(found[0], end, cause)
        if cause != "changed":
            out, seen = self._settings.rows.pop((_OUT, agent_id), None), self._served.pop(agent_id, end)
            if out is not None:
                self._recording.end_setting(out[0], max(end, out[1].start))
            elif cause == "unreachable":
                self._note_unknown_service(agent_id, seen, end)
            self._set("reservation", agent_id, None)
            for key in list(self._of_agent.get(agent_id, ())):
                task = self._tasks.row(key)
                self._end_task(key, self.now, None, None, known=known)
                if task is not None:
                    self._away[key] = task

    def _take_service(self, agent_id: str, *, active: bool, registered: float | None) -> None:
        """Whether an agent is in service; `registered` is when it last registered, if the master tells it.

        No event tells that it changes. So it is unknown for the time since the agent was last seen, but for the moment
        at which it registered again.
        """
        out = self._settings.row((_OUT, agent_id))
        seen = self._served.get(agent_id, self.now)
        again = None if registered is None else min(to_micros(registered), self.now)
        if not active:
            if out is None:
                self._note_unknown_service(agent_id, seen, self.now)
                self._set(_OUT, agent_id, out_of_service_value(known=True))
        elif out is not None:
            back = again if again is not None and again > out.start else max(seen, out.start)
            self._recording.end_setting(self._settings.rows.pop((_OUT, agent_id))[0], back)
            if back != again:
                self._note_unknown_service(agent_id, back, self.now)
        elif again is not None and again > seen:  # it was away between two looks
            self._note_unknown_service(agent_id, seen, again)
        self._served[agent_id] = self.now

    def _note_unknown_service(self, agent_id: str, start: Micros, end: Micros) -> None:
        """Add the time between two moments as one in which an agent may have been in service or not."""
        if start < end:
            row = RecordedSetting(_OUT, agent_id, out_of_service_value(known=False), start, end)
            self._recording.add_setting(self.cluster.cluster_id, row)

    def take_framework(self, read: FrameworkMessage, *, after: Micros | None = None) -> None:
        """A framework that is there, as it is now."""
        framework, capabilities = read.framework, tuple(sorted(read.framework.capabilities))
        known = self._frameworks.row(framework.id)
        start = self._bounded(read.registered, after)
        if known is not None:
            same = (framework.name, framework.roles, framework.principal, capabilities)
            if (known.name, known.roles, known.principal, known.capabilities) == same:
                return
            self._end_framework_row(framework.id)
            start = self.now
        row = RecordedFramework(
            framework.id, framework.name, framework.roles, start, None, framework.principal, capabilities
        )
        self._frameworks.rows[framework.id] = (self._recording.add_framework(self.cluster.cluster_id, row), row)

    def end_framework(self, framework_id: str) -> None:
        """A framework is gone, and so is what it wanted."""
        self._end_framework_row(framework_id)
        for key in [key for key in self._suppressions.rows if key[0] == framework_id]:
            self._recording.end_suppression(self._suppressions.rows.pop(key)[0], self.now)

    def _end_framework_row(self, framework_id: str) -> None:
        found = self._frameworks.rows.pop(framework_id, None)
        if found is not None:
            self._recording.end_framework(found[0], self.now)

    def add_task(self, task: HeldResources) -> None:
        """A task is launched, or back with its agent."""
        if task.state not in HOLDS_NOTHING:
            if task.agent_id in self._served:
                self._served[task.agent_id] = self.now
            self._begin_task(task, self.now, known=True)

    def change_task(self, change: TaskChange) -> None:
        """A task is in another state, in which it may hold nothing any more."""
        key = (change.framework_id, change.id, "", False)
        found = self._tasks.rows.get(key)
        if change.state in HOLDS_NOTHING:
            if found is not None:
                agent_id = found[1].agent_id
                if change.reason == _MARKED_GONE and agent_id is not None:
                    self._gone.add(agent_id)
                if change.reason == _DISCONNECTED and agent_id in self._served:
                    self._set(_OUT, agent_id, out_of_service_value(known=True))
                    self._served[agent_id] = self.now
                self._end_task(key, self.now, change.state, change.reason, known=True)
                if change.state in COMES_BACK:
                    self._away[key] = found[1]
            if change.state not in COMES_BACK:
                self._away.pop(key, None)
        elif found is not None:
            if found[1].state != change.state:
                self._tasks.rows[key] = (found[0], replace(found[1], state=change.state))
                self._recording.change_task(found[0], change.state, change.reason)
        elif key in self._away:
            self._restart(key, change.state, self.now, known=True)

    def _restart(self, key: _TaskKey, state: str | None, at: Micros, *, known: bool) -> None:
        before = self._away.pop(key)
        again = replace(
            before, run=before.run + 1, start=at, end=None, state=state, reason=None, start_known=known, end_known=True
        )
        self._keep(self._recording.add_task(self.cluster.cluster_id, again), again)

    def _begin_task(self, task: HeldResources, at: Micros, *, known: bool) -> None:
        key = _key_of(task)
        if key in self._tasks.rows:
            return
        if key in self._away:
            self._restart(key, task.state, at, known=known)
            return
        row = RecordedTask(
            task.framework_id, task.id, task.role, task.resources, task.agent_id, start=at, state=task.state,
            start_known=known, is_executor=task.is_executor,
        )  # fmt: skip
        self._keep(self._recording.add_task(self.cluster.cluster_id, row), row)

    def _keep(self, number: int, task: RecordedTask) -> None:
        key = (task.framework_id, task.id, task.agent_id or "" if task.is_executor else "", task.is_executor)
        self._tasks.rows[key] = (number, task)
        self._of_agent.setdefault(task.agent_id or "", set()).add(key)

    def _end_task(self, key: _TaskKey, at: Micros, state: str | None, reason: str | None, *, known: bool) -> None:
        number, task = self._tasks.rows.pop(key)
        self._of_agent.get(task.agent_id or "", set()).discard(key)
        end = max(at, task.start or at)
        self._recording.end_task(number, end, state, reason, known=known)

    def take_runs(self, times: Iterable[Micros]) -> None:
        """Allocation runs, of which those before the recording began are left out."""
        first = self.cluster.first_seen or 0
        self._recording.add_runs(self.cluster.cluster_id, (at for at in times if first <= at))

    # --- Settings -------------------------------------------------------------------------------------

    def take_settings(self, settings: MasterSettings) -> None:
        """The settings as they are now; those that the master does not show stay unknown."""
        if settings.quotas is not None:
            self._set_all("quota", {role: quota_value(role, quota) for role, quota in settings.quotas.items()})
        if settings.weights is not None:
            weights = {role: weight_value(role, weight) for role, weight in settings.weights.items()}
            self._set_all("weight", weights)
        if settings.rate_limits is not None:
            self._set("rate limits", "", settings.rate_limits)
        if settings.lending is not None:
            self._set("lending", "", settings.lending or None)
        if settings.suppressed is not None:
            self._take_suppressed(settings.suppressed)

    def _set_all(self, kind: SettingKind, values: Mapping[str, str]) -> None:
        for name in [name for of_kind, name in self._settings.rows if of_kind == kind and name not in values]:
            self._set(kind, name, None)
        for name, value in values.items():
            self._set(kind, name, value)

    def _set(self, kind: SettingKind, name: str, value: str | None) -> None:
        known = self._settings.row((kind, name))
        if known is not None:
            if known.value == value:
                return
            self._recording.end_setting(self._settings.rows.pop((kind, name))[0], self.now)
        if value is not None:
            row = RecordedSetting(kind, name, value, self.now)
            self._settings.rows[kind, name] = (self._recording.add_setting(self.cluster.cluster_id, row), row)

    def _take_suppressed(self, suppressed: Mapping[str, Mapping[str, bool]]) -> None:
        present = {
            (framework, role): is_so
            for framework, roles in suppressed.items()
            if framework in self._frameworks.rows
            for role, is_so in roles.items()
        }
        for key, (number, row) in list(self._suppressions.rows.items()):
            if present.get(key) != row.suppressed:
                self._recording.end_suppression(number, self.now)
                del self._suppressions.rows[key]
        for key, is_so in present.items():
            if key not in self._suppressions.rows:
                row = Suppression(*key, suppressed=is_so, start=self.now)
                self._suppressions.rows[key] = (self._recording.add_suppression(self.cluster.cluster_id, row), row)

    def _lose_sight(self) -> None:
        """Nothing is known about who wants offers from now on."""
        for number, _ in self._suppressions.rows.values():
            self._recording.end_suppression(number, self.now)
        self._suppressions.rows.clear()


def _key_of(task: HeldResources | TaskChange) -> _TaskKey:
    """A task by its framework and id, an executor by its agent too, since several agents may run one of the id."""
    if isinstance(task, HeldResources) and task.is_executor:
        return task.framework_id, task.id, task.agent_id, True
    return task.framework_id, task.id, "", False
