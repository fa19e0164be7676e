"""The metrics of a master, under Mesos's own names, and how much it logs.

Sources: Mesos documentation, "Monitoring", "Metrics"; Mesos documentation, "Operator HTTP API", "SET_LOGGING_LEVEL".
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

from fake_master.state.clock import Timer
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.shown_since import metrics_of
from mesosctl.mesos.amounts.quantities import to_number
from mesosctl.mesos.amounts.resources import Resources

_MEASURED = ("cpus", "gpus", "mem", "disk")
_OPERATIONS = (
    "create",
    "create_disk",
    "destroy",
    "destroy_disk",
    "grow_volume",
    "reserve",
    "shrink_volume",
    "unreserve",
)
_OPERATION_STATES = (
    "dropped",
    "error",
    "failed",
    "finished",
    "gone_by_operator",
    "pending",
    "recovering",
    "total",
    "unreachable",
)
# Counters that nothing here moves yet; a dashboard finds them all the same.
_AT_REST = tuple(
    "master/" + name
    for name in (
        "dropped_messages event_queue_dispatches event_queue_http_requests event_queue_messages "
        "frameworks_active frameworks_connected frameworks_disconnected frameworks_inactive http_cache_hits "
        "invalid_executor_to_framework_messages invalid_framework_to_executor_messages "
        "invalid_operation_status_update_acknowledgements invalid_operation_status_updates "
        "invalid_status_update_acknowledgements invalid_status_updates "
        "messages_authenticate messages_deactivate_framework messages_decline_offers messages_executor_to_framework "
        "messages_exited_executor messages_framework_to_executor messages_kill_task messages_launch_tasks "
        "messages_operation_status_update messages_operation_status_update_acknowledgement "
        "messages_reconcile_operations messages_reconcile_tasks messages_register_framework messages_register_slave "
        "messages_reregister_framework messages_reregister_slave messages_resource_request messages_revive_offers "
        "messages_status_update messages_status_update_acknowledgement messages_suppress_offers "
        "messages_unregister_framework messages_unregister_slave messages_update_slave "
        "operator_event_stream_subscribers outstanding_offers recovery_slave_removals slave_removals "
        "slave_registrations "
        "slave_removals/reason_registered slave_removals/reason_unhealthy slave_removals/reason_unregistered "
        "slave_reregistrations slave_shutdowns_canceled slave_shutdowns_completed slave_shutdowns_scheduled "
        "slave_unreachable_canceled slave_unreachable_completed slave_unreachable_scheduled slaves_unreachable "
        "tasks_dropped tasks_error tasks_failed tasks_finished tasks_gone tasks_gone_by_operator tasks_killed "
        "tasks_killing tasks_lost tasks_running tasks_staging tasks_starting tasks_unreachable "
        "valid_executor_to_framework_messages valid_framework_to_executor_messages "
        "valid_operation_status_update_acknowledgements valid_operation_status_updates "
        "valid_status_update_acknowledgements valid_status_updates"
    ).split()
)


class Metrics:
    """The metrics of a master: those of its state, and those that its parts count themselves."""

    def __init__(self, state: MasterState, *parts: Callable[[], Mapping[str, float]]) -> None:
        self._state = state
        self._parts = parts

    def snapshot(self) -> dict[str, float]:
        """Return every metric by name, sorted."""
        state = self._state
        found = _snapshot(state, *(part() for part in self._parts))
        shown = metrics_of(state.profile.release, found)
        if state.profile.roles_are_a_tree:
            return shown
        named = {role for framework in state.frameworks.values() for role in framework.tracked_roles}
        return {
            name: value
            for name, value in shown.items()
            if (match := _FILTERS.fullmatch(name)) is None or match[1] in named
        }


_FILTERS = re.compile("allocator/mesos/offer_filters/roles/(.*)/active")
"""The metrics of all roles where roles are a tree, and else of those with frameworks."""


def _snapshot(state: MasterState, *others: Mapping[str, float]) -> dict[str, float]:
    found = dict.fromkeys(_AT_REST, 0.0)
    found |= dict.fromkeys(_operation_names(), 0.0)
    found |= _agents(state) | _resources(state) | _system()
    found |= figures(state)
    for counted in others:
        found |= counted
    for name, count in state.counts.items():
        found[f"master/{name}"] = found.get(f"master/{name}", 0.0) + count
    found["master/elected"] = 1.0
    found["master/uptime_secs"] = max(0.0, state.clock() - state.start_time)
    return dict(sorted(found.items()))


def _operation_names() -> Iterable[str]:
    for state in _OPERATION_STATES:
        yield f"master/operations/{state}"
        for operation in _OPERATIONS:
            yield f"master/operations/{operation}/{state}"


def _agents(state: MasterState) -> dict[str, float]:
    agents = list(state.agents.values())
    connected = sum(agent.connected for agent in agents)
    in_service = sum(agent.active for agent in agents)
    return {
        "master/slaves_unreachable": float(len(state.known_agents.unreachable())),
        "master/slaves_active": float(in_service),
        "master/slaves_inactive": float(len(agents) - in_service),
        "master/slaves_connected": float(connected),
        "master/slaves_disconnected": float(len(agents) - connected),
    }


def _resources(state: MasterState) -> dict[str, float]:
    totals = _amounts(agent.whole for agent in state.agents.values())
    in_use = _amounts(agent.used for agent in state.agents.values())
    found = {}
    for name in _MEASURED:
        for suffix, revocable in (("", False), ("_revocable", True)):
            total, used = to_number(totals[name, revocable]), to_number(in_use[name, revocable])
            found[f"master/{name}{suffix}_total"] = total
            found[f"master/{name}{suffix}_used"] = used
            found[f"master/{name}{suffix}_percent"] = used / total if total else 0.0
    return found


def _amounts(everywhere: Iterable[Resources]) -> Counter[tuple[str, bool]]:
    """Sums of amounts in thousandths, by the name and whether they are revocable."""
    sums = Counter[tuple[str, bool]]()
    for held in everywhere:
        for entry in held:
            if isinstance(entry.value, int):
                sums[entry.name, entry.revocable] += entry.value
    return sums


def _system() -> dict[str, float]:
    load = os.getloadavg()
    page = os.sysconf("SC_PAGE_SIZE")
    return {
        "system/cpus_total": float(os.cpu_count() or 1),
        "system/load_1min": load[0],
        "system/load_5min": load[1],
        "system/load_15min": load[2],
        "system/mem_total_bytes": float(os.sysconf("SC_PHYS_PAGES") * page),
        "system/mem_free_bytes": float(os.sysconf("SC_AVPHYS_PAGES") * page),
    }


_CALLS = (
    "accept accept_inverse_offers acknowledge acknowledge_operation_status decline decline_inverse_offers kill message "
    "reconcile reconcile_operations request revive shutdown subscribe suppress teardown update_framework"
).split()
_EVENTS = (
    "error failure heartbeat inverse_offers message offers rescind rescind_inverse_offer subscribed update "
    "update_operation_status"
).split()
_OPERATIONS_FRAMEWORK_METRICS = (
    "create create_disk destroy destroy_disk grow_volume launch launch_group reserve shrink_volume unreserve"
).split()
_ACTIVE = "task_killing task_running task_staging task_starting task_unknown task_unreachable".split()
_TERMINAL = "task_dropped task_error task_failed task_finished task_gone task_gone_by_operator task_killed task_lost"
_GROUPS = {"calls": _CALLS, "events": _EVENTS, "operations": _OPERATIONS_FRAMEWORK_METRICS}
_SINGLE = (
    *(f"offers/{what}" for what in ("accepted", "declined", "rescinded", "sent")),
    *(f"tasks/active/{state}" for state in _ACTIVE),
    *(f"tasks/terminal/{state}" for state in _TERMINAL.split()),
)
# A call of the scheduler API → the name of its message in the master's own counter. ACCEPT is not among them, since
# what counts is each LAUNCH in it, nor TEARDOWN, which has no counter.
_MESSAGES = {
    "acknowledge": "status_update_acknowledgement",
    "acknowledge_operation_status": "operation_status_update_acknowledgement",
    "decline": "decline_offers",
    "kill": "kill_task",
    "message": "framework_to_executor",
    "reconcile": "reconcile_tasks",
    "reconcile_operations": "reconcile_operations",
    "request": "resource_request",
    "revive": "revive_offers",
    "suppress": "suppress_offers",
}


def figures(state: MasterState) -> dict[str, float]:
    """Return the metrics of frameworks, offers and tasks."""
    present, gone = state.frameworks.values(), state.completed_frameworks.values()
    found = dict(_sums(state, [*present, *gone]))
    if state.flags.is_true("publish_per_framework_metrics"):
        for framework in (*present, *gone):
            found.update(_of_one(framework))
    return found


def _sums(state: MasterState, everybody: Iterable[KnownFramework]) -> Iterator[tuple[str, float]]:
    in_service = sum(framework.active for framework in state.frameworks.values())
    connected = sum(framework.connected for framework in state.frameworks.values())
    yield "master/frameworks_active", float(in_service)
    yield "master/frameworks_inactive", float(len(state.frameworks) - in_service)
    yield "master/frameworks_connected", float(connected)
    yield "master/frameworks_disconnected", float(len(state.frameworks) - connected)
    yield "master/outstanding_offers", float(len(state.offers))
    yield "master/operator_event_stream_subscribers", float(len(state.operator_streams))
    counts = Counter(state.forgotten_counts)
    for framework in everybody:
        counts.update(framework.lasting_counts())
    yield "master/messages_register_framework", float(counts["registered"])
    yield "master/messages_reregister_framework", float(counts["reregistered"])
    for call, message in _MESSAGES.items():
        yield f"master/messages_{message}", float(counts[f"calls/{call}"])
    for active in _ACTIVE:
        if active != "task_unknown":
            yield f"master/{active.replace('task', 'tasks', 1)}", float(counts[f"tasks/active/{active}"])
    for terminal in _TERMINAL.split():
        yield f"master/{terminal.replace('task', 'tasks', 1)}", float(counts[f"tasks/terminal/{terminal}"])


def _of_one(framework: KnownFramework) -> Iterator[tuple[str, float]]:
    prefix = f"master/frameworks/{quote(framework.name, safe='')}/{framework.id}/"
    counts = framework.counts
    for group, names in _GROUPS.items():
        parts = [counts[f"{group}/{name}"] for name in names]
        yield f"{prefix}{group}", float(sum(parts))
        for name, part in zip(names, parts, strict=True):
            yield f"{prefix}{group}/{name}", float(part)
    for name in _SINGLE:
        yield prefix + name, float(counts[name])
    yield prefix + "subscribed", float(framework.active)
    for role in framework.roles:
        yield f"{prefix}roles/{role}/suppressed", float(role in framework.suppressed)


_USUAL = 0


class LoggingLevel:
    """The level of logging, for SET_LOGGING_LEVEL and GET_LOGGING_LEVEL; the last one set counts, for its own time.

    It does not change this master's log, but a script that sets the level and reads it sees the same as on Mesos.
    """

    def __init__(self, state: MasterState) -> None:
        self._state = state
        self._timer: Timer | None = None
        self.level = _USUAL

    def set(self, level: int, seconds: float) -> None:
        """Set it for so long; nothing is awaited if that is the usual level."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.level = level
        if level != _USUAL:
            self._timer = self._state.timers.at(self._state.now + seconds, self._revert)

    def _revert(self) -> None:
        self._timer = None
        self.level = _USUAL
