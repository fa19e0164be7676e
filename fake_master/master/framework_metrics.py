"""What is counted of frameworks: each one's own metrics, and the sums over all (spec/endpoints.md §6).

Counts live in `Framework.counts`, under the names that they have below `master/frameworks/<name>/<id>/`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from fake_master.master.frameworks import Framework
    from fake_master.master.master import Master

_CALLS = (
    "accept accept_inverse_offers acknowledge acknowledge_operation_status decline decline_inverse_offers kill message "
    "reconcile reconcile_operations request revive shutdown subscribe suppress teardown update_framework"
).split()
_EVENTS = (
    "error failure heartbeat inverse_offers message offers rescind rescind_inverse_offer subscribed update "
    "update_operation_status"
).split()
_OPERATIONS = (
    "create create_disk destroy destroy_disk grow_volume launch launch_group reserve shrink_volume unreserve"
).split()
_ACTIVE = "task_killing task_running task_staging task_starting task_unknown task_unreachable".split()
_TERMINAL = "task_dropped task_error task_failed task_finished task_gone task_gone_by_operator task_killed task_lost"
_GROUPS = {"calls": _CALLS, "events": _EVENTS, "operations": _OPERATIONS}
_SINGLE = (
    *(f"offers/{what}" for what in ("accepted", "declined", "rescinded", "sent")),
    *(f"tasks/active/{state}" for state in _ACTIVE),
    *(f"tasks/terminal/{state}" for state in _TERMINAL.split()),
)
# Of the subscriptions of a framework the first registers it, unless it came with an id; all others do so again.
_FIRST, _AGAIN = "registered", "reregistered"
# A call of the scheduler API → the name of its message, which is what the master's own counter is called by.
# ACCEPT is not among them, since what counts is each LAUNCH in it, nor TEARDOWN, which has no counter.
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


def figures(master: "Master") -> dict[str, float]:
    """Every metric that tells of frameworks, offers and tasks."""
    present, gone = master.frameworks.values(), master.subscriptions.completed.values()
    found = dict(_sums(master, [*present, *gone]))
    if master.flags.is_true("publish_per_framework_metrics"):
        for framework in (*present, *gone):
            found.update(_of_one(framework))
    return found


def lasting(framework: "Framework") -> Counter[str]:
    """What one framework adds to the master's own counters."""
    subscribed = framework.counts["calls/subscribe"]
    first = 0 if framework.was_known else min(subscribed, 1)
    return framework.counts + Counter({_FIRST: first, _AGAIN: subscribed - first})


def _sums(master: "Master", everybody: "Iterable[Framework]") -> Iterator[tuple[str, float]]:
    active = sum(framework.active for framework in master.frameworks.values())
    connected = sum(framework.connected for framework in master.frameworks.values())
    yield "master/frameworks_active", float(active)
    yield "master/frameworks_inactive", float(len(master.frameworks) - active)
    yield "master/frameworks_connected", float(connected)
    yield "master/frameworks_disconnected", float(len(master.frameworks) - connected)
    yield "master/outstanding_offers", float(len(master.offers))
    yield "master/operator_event_stream_subscribers", float(master.tell.operator_streams)
    counts = Counter(master.subscriptions.forgotten)
    for framework in everybody:
        counts.update(lasting(framework))
    yield "master/messages_register_framework", float(counts[_FIRST])
    yield "master/messages_reregister_framework", float(counts[_AGAIN])
    for call, message in _MESSAGES.items():
        yield f"master/messages_{message}", float(counts[f"calls/{call}"])
    for state in _ACTIVE:
        if state != "task_unknown":
            yield f"master/{state.replace('task', 'tasks', 1)}", float(counts[f"tasks/active/{state}"])
    for state in _TERMINAL.split():
        yield f"master/{state.replace('task', 'tasks', 1)}", float(counts[f"tasks/terminal/{state}"])


def _of_one(framework: "Framework") -> Iterator[tuple[str, float]]:
    prefix = f"master/frameworks/{quote(framework.name, safe='')}/{framework.id}/"
    counts = framework.counts
    for group, names in _GROUPS.items():
        parts = [counts[f"{group}/{name}"] for name in names]
        yield f"{prefix}{group}", float(sum(parts))
        for name, part in zip(names, parts, strict=True):
            yield f"{prefix}{group}/{name}", float(part)
    for name in _SINGLE:
        yield prefix + name, float(counts[name])
    yield prefix + "subscribed", float(framework.connected)
    for role in framework.roles:
        yield f"{prefix}roles/{role}/suppressed", float(role in framework.suppressed)
