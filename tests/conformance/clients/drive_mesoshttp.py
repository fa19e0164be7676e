"""A framework by mesoshttp: URL of the master, id of a framework to take over or "-".

Launches one task, declines other offers, acknowledges, and does what it is told on standard input.
Writes a JSON array a line: what happened, and to what.
"""

import json
import sys
import threading
from typing import Any

from mesoshttp.client import MesosClient

URL, KNOWN = sys.argv[1:3]
client = MesosClient(mesos_urls=[URL], frameworkId=None if KNOWN == "-" else KNOWN, frameworkName="mesoshttp")
client.set_role("ads")
client.set_failover_timeout(60)
FILTERS = {"filters": {"refuse_seconds": 1000.0}}
launched: list[Any] = [] if KNOWN == "-" else ["before"]


def say(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def on_subscribed(_driver: Any) -> None:
    say("subscribed", client.frameworkId)


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
    update.ack()
    say("update", update.mesosUpdate["status"]["state"])


client.on(MesosClient.SUBSCRIBED, on_subscribed)
client.on(MesosClient.OFFERS, on_offers)
client.on(MesosClient.UPDATE, on_update)
threading.Thread(target=client.register, daemon=True).start()
for line in sys.stdin:
    order, driver = line.strip(), client.get_driver()
    if order == "reconcile":
        driver.reconcile([{"task_id": {"value": "t"}}])
    elif order == "kill":
        driver.kill(launched[0]["value"], "t")
    elif order == "revive":
        driver.revive()
    else:
        driver.tearDown()
        say("torn down")
