"""The master's metrics, under Mesos's own names (spec/endpoints.md §6)."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fake_master.master import framework_metrics
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_double

if TYPE_CHECKING:
    from fake_master.master.master import Master

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
        "messages_reconcile_operations messages_reconcile_tasks messages_register_framework "
        "messages_reregister_framework messages_reregister_slave messages_resource_request messages_revive_offers "
        "messages_status_update messages_status_update_acknowledgement messages_suppress_offers "
        "messages_unregister_framework messages_unregister_slave messages_update_slave "
        "operator_event_stream_subscribers outstanding_offers recovery_slave_removals slave_removals "
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


def snapshot(master: "Master") -> dict[str, float]:
    """Every metric by name, sorted."""
    found = dict.fromkeys(_AT_REST, 0.0)
    found |= dict.fromkeys(_operation_names(), 0.0)
    found |= _agents(master) | _resources(master) | _system()
    found |= framework_metrics.figures(master) | master.allocator.metrics()
    found |= master.rate_limiting.metrics()
    for name, count in master.counts.items():
        found[f"master/{name}"] = found.get(f"master/{name}", 0.0) + count
    if master.tenancy is not None:
        found["master/revocable_evictions"] = float(master.tenancy.evictions)
    found["master/elected"] = 1.0
    found["master/uptime_secs"] = max(0.0, master.clock() - master.start_time)
    return dict(sorted(found.items()))


def _operation_names() -> Iterable[str]:
    for state in _OPERATION_STATES:
        yield f"master/operations/{state}"
        for operation in _OPERATIONS:
            yield f"master/operations/{operation}/{state}"


def _agents(master: "Master") -> dict[str, float]:
    agents = list(master.agents.values())
    removed = master.leaving.counts
    connected = sum(agent.connected for agent in agents)
    active = sum(agent.active for agent in agents)
    return {
        "master/slave_registrations": float(master.membership.registrations),
        "master/messages_register_slave": float(master.membership.registrations),
        "master/slave_reregistrations": float(master.membership.returns),
        "master/messages_reregister_slave": float(master.membership.returns),
        "master/messages_update_slave": float(master.membership.registrations + master.membership.returns),
        "master/slaves_unreachable": float(len(master.membership.unreachable())),
        **{f"master/{name}": float(count) for name, count in removed.items()},
        "master/slaves_active": float(active),
        "master/slaves_inactive": float(len(agents) - active),
        "master/slaves_connected": float(connected),
        "master/slaves_disconnected": float(len(agents) - connected),
    }


def _resources(master: "Master") -> dict[str, float]:
    totals = [agent.whole for agent in master.agents.values()]
    in_use = [agent.used for agent in master.agents.values()]
    found = {}
    for name in _MEASURED:
        for suffix, part in (("", Resources.non_revocable), ("_revocable", Resources.revocable)):
            total, used = (
                to_double(sum(part(held).scalar_quantities().get_amount(name) for held in everywhere))
                for everywhere in (totals, in_use)
            )
            found[f"master/{name}{suffix}_total"] = total
            found[f"master/{name}{suffix}_used"] = used
            found[f"master/{name}{suffix}_percent"] = used / total if total else 0.0
    return found


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
