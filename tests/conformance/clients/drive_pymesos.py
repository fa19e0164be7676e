"""A framework by pymesos: host:port of the master, id of a framework to take over or "-".

Reserves, launches one task upon the reservation, and does what it is told on standard input.
Writes a JSON array a line: what happened, and to what.
"""

import json
import sys
from typing import Any

from pymesos import MesosSchedulerDriver, Scheduler

ADDRESS, KNOWN = sys.argv[1:3]
RESOURCES = [
    {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}, "role": "ads", "reservation": {}},
    {"name": "mem", "type": "SCALAR", "scalar": {"value": 32.0}, "role": "ads", "reservation": {}},
]


def say(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


class Reserving(Scheduler):  # type: ignore[misc]  # brings no types
    done = KNOWN != "-"

    def registered(self, _driver: Any, framework_id: Any, _master: Any) -> None:
        say("subscribed", framework_id["value"])

    def reregistered(self, _driver: Any, _master: Any) -> None:
        say("subscribed", KNOWN)

    def resourceOffers(self, driver: Any, offers: Any) -> None:  # noqa: N802  # its name
        for offer in offers:
            if self.done:
                driver.declineOffer(offer["id"], {"refuse_seconds": 1000.0})
                say("declined")
                continue
            self.done = True
            task = {
                "name": "t",
                "task_id": {"value": "t"},
                "agent_id": offer["agent_id"],
                "command": {"value": "true"},
                "resources": RESOURCES,
            }
            operations = [
                {"type": "RESERVE", "reserve": {"resources": RESOURCES}},
                {"type": "LAUNCH", "launch": {"task_infos": [task]}},
            ]
            driver.acceptOffers(offer["id"], operations)
            say("launched")

    def statusUpdate(self, _driver: Any, update: Any) -> None:  # noqa: N802
        say("update", update["state"])

    def error(self, _driver: Any, message: str) -> None:
        say("error", message)


framework = {"user": "u", "name": "pymesos", "role": "ads", "failover_timeout": 60.0}
if KNOWN != "-":
    framework["id"] = {"value": KNOWN}
driver = MesosSchedulerDriver(Reserving(), framework, ADDRESS)
driver.start()
for line in sys.stdin:
    order = line.strip()
    if order == "reconcile":
        driver.reconcileTasks([{"task_id": {"value": "t"}}])
    elif order == "kill":
        driver.killTask({"value": "t"})
    elif order == "suppress":
        driver.suppressOffers()
    elif order == "revive":
        driver.reviveOffers()
    else:
        driver.stop()
        driver.join()
        say("torn down")
