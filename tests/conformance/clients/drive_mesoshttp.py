"""A framework by mesoshttp, or by avmesos, a library with its interface.

Arguments: URL of the master, id of a framework to take over or "-", name of the library.

Launches one task, declines other offers, acknowledges, and does what it is told on standard input.
Writes a JSON array a line: what happened, and to what.
"""

import importlib
import json
import sys
import threading
from typing import Any

URL, KNOWN, LIBRARY = sys.argv[1:4]
MesosClient: Any = importlib.import_module(f"{LIBRARY}.client").MesosClient
client = MesosClient(mesos_urls=[URL], frameworkId=None if KNOWN == "-" else KNOWN, frameworkName=LIBRARY)
client.set_role("ads")
client.set_failover_timeout(60)
FILTERS = {"filters": {"refuse_seconds": 1000.0}}
launched: list[Any] = [] if KNOWN == "-" else ["before"]


def say(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def on_offers(offers: Any) -> None:
    for offer in offers:
        if launched:
            offer.decline(FILTERS)
            say("declined")
            continue
        launched.append(offer.get_offer()["agent_id"])
        task = {
            "name": "t",
            "task_id": {"value": "t"},
            "agent_id": launched[0],
            "command": {"value": "true"},
            "resources": [
                {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}},
                {"name": "mem", "type": "SCALAR", "scalar": {"value": 32}},
            ],
        }
        offer.accept([task], FILTERS)
        say("launched")


def on_update(update: Any) -> None:
    if LIBRARY == "mesoshttp":
        update.ack()
        update = update.mesosUpdate  # avmesos acknowledges by itself, and hands over the event
    say("update", update["status"]["state"])


client.on(MesosClient.SUBSCRIBED, lambda _driver: say("subscribed", client.frameworkId))
client.on(MesosClient.OFFERS, on_offers)
client.on(MesosClient.UPDATE, on_update)
if hasattr(MesosClient, "ERROR"):
    client.on(MesosClient.ERROR, lambda message: say("error", message))
threading.Thread(target=client.register, daemon=True).start()
for line in sys.stdin:
    order, driver = line.strip(), client.get_driver()
    if order == "reconcile":
        driver.reconcile([{"task_id": {"value": "t"}}])
    elif order == "kill":
        driver.kill(launched[0]["value"], "t")
    elif order == "suppress":
        driver.suppress()
    elif order == "revive":
        driver.revive()
    else:
        driver.tearDown()
        say("torn down")
