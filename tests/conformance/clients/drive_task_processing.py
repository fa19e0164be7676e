"""Yelp's task_processing on a master: host:port.  Runs a task as its examples do, and kills one.

Writes a JSON array a line: what happened, and to what.
"""

import json
import sys
from typing import Any

from task_processing.runners.sync import Sync
from task_processing.task_processor import TaskProcessor

(ADDRESS,) = sys.argv[1:]


def say(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


processor = TaskProcessor()
processor.load_plugin(provider_module="task_processing.plugins.mesos")
executor = processor.executor_from_config(
    provider="mesos_task",
    provider_config={"secret": "s", "mesos_address": ADDRESS, "pool": "batch", "role": "taskproc"},
)
config = executor.TASK_CONFIG_INTERFACE
result = Sync(executor).run(config(image="busybox", cmd="/bin/true", cpus=1, mem=32, disk=10))
say("ran", result.success, result.platform_type)

long = config(image="busybox", cmd="/bin/sleep 1000", cpus=1, mem=32, disk=10)
executor.run(long)
events = executor.get_event_queue()
while (event := events.get(timeout=60)).platform_type != "running":
    say("heard", event.platform_type)
say("running")
executor.kill(long.task_id)
while not (event := events.get(timeout=60)).terminal:
    say("heard", event.platform_type)
say("ended", event.success, event.platform_type)
executor.stop()
say("stopped")
