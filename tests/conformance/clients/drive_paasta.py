"""The cluster autoscaler of PaaSTA: what it makes of a master, whose configuration PAASTA_SYSTEM_CONFIG_DIR names.

Writes JSON: by how much the use of the pool "default" is beyond 80 %, the agents with their tasks, fewest first as they
are considered for removal, and what `paasta metastatus` says of cpus, memory and agents.
"""

import asyncio
import json
import sys
from typing import Any

from paasta_tools.autoscaling.autoscaling_cluster_lib import get_mesos_utilization_error
from paasta_tools.mesos.master import MesosMaster
from paasta_tools.mesos_tools import get_mesos_master, get_mesos_task_count_by_slave
from paasta_tools.metrics.metastatus_lib import get_mesos_resource_utilization_health
from paasta_tools.utils import load_system_paasta_config

fetch = MesosMaster.fetch


def without_suffix(self: Any, url: str, **options: Any) -> Any:
    """Later masters have no path with this suffix any more."""
    return fetch(self, url.removesuffix(".json"), **options)


MesosMaster.fetch = without_suffix


async def look() -> dict[str, Any]:
    master = get_mesos_master()
    state = await master.state()
    metrics = await master.metrics_snapshot()
    agents = await get_mesos_task_count_by_slave(state, pool="default")
    health = get_mesos_resource_utilization_health(mesos_metrics=metrics, mesos_state=state)
    return {
        "error": get_mesos_utilization_error(state, load_system_paasta_config(), "west", "default", 0.8),
        "agents": sorted([one["task_counts"].count, one["task_counts"].slave["hostname"]] for one in agents),
        "health": [[check.healthy, check.message] for check in health],
    }


json.dump(asyncio.run(look()), sys.stdout)
