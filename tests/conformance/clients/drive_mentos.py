"""A framework by mentos: host:port of the master, id of a framework to take over or "-".

Launches one task, declines other offers, and does what it is told on standard input.
Writes a JSON array a line: what happened, and to what.
"""

import collections
import collections.abc
import json
import sys
from collections.abc import Iterator
from typing import Any

# The Pythons that it was written for had this name, and let a generator end by StopIteration.
collections.MutableMapping = collections.abc.MutableMapping  # type: ignore[attr-defined]

import mentos.states  # type: ignore[import-not-found]  # noqa: E402  # after the name that it needs


def drain(iterable: Any) -> Iterator[Any]:
    take = getattr(iterable, "popleft", iterable.pop)
    while iterable:
        yield take()


mentos.states.drain = drain
ADDRESS, KNOWN = sys.argv[1:3]
FILTERS = {"refuse_seconds": 1000.0}


def say(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


class Launching:
    def __init__(self) -> None:
        self.agents: list[str] = [] if KNOWN == "-" else ["before"]

    def on_reregistered(self, _driver: Any, framework_id: Any, _master: Any) -> None:
        say("subscribed", framework_id["value"])

    def on_offers(self, driver: Any, offers: Any) -> None:
        for offer in offers:
            if self.agents:
                driver.decline(offer["id"], FILTERS)
                say("declined")
                continue
            self.agents.append(offer["agent_id"]["value"])
            task = {
                "name": "t",
                "task_id": {"value": "t"},
                "agent_id": offer["agent_id"],
                "command": {"value": "true"},
                "resources": [
                    {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}},
                    {"name": "mem", "type": "SCALAR", "scalar": {"value": 32}},
                ],
            }
            driver.launch(offer["id"], [task], FILTERS)
            say("launched")

    def on_update(self, _driver: Any, status: Any) -> None:
        say("update", status["state"])

    def on_error(self, _driver: Any, message: str) -> None:
        say("error", message)

    def on_heartbeat(self, _driver: Any, _event: Any) -> None:
        pass

    def on_outbound_success(self, _driver: Any, request: Any) -> None:
        if request["type"] == "TEARDOWN":
            say("torn down")

    def on_outbound_error(self, _driver: Any, request: Any, _endpoint: Any, errors: Any) -> None:
        say("error", request["type"], str(errors))


scheduler = Launching()
driver = mentos.SchedulerDriver(scheduler, "mentos", "u", ADDRESS, failover_timeout=60)
if KNOWN != "-":
    driver.framework["id"] = {"value": KNOWN}
driver.start()
for line in sys.stdin:
    order = line.strip()
    if order == "reconcile":
        driver.reconcile("t", scheduler.agents[0])
    elif order == "kill":
        driver.kill("t", scheduler.agents[0])
    elif order == "revive":
        driver.revive()
    else:
        driver.teardown(None)
