"""`mesosctl wait` on every carrier: each condition is made true, and then holds."""

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:4;mem:2048")
OWN_MASTER = True  # its agent leaves


def test_conditions_come_true(master: Cluster, carrier: Carrier) -> None:
    (agent,) = (one["id"] for one in master.agents())

    def typed(words: str, gives: int = 0) -> None:
        status, said = run_for_json(master, words)
        assert status == gives, said

    typed(f"wait master=recovered agent/{agent}=active reserved/{agent}/ads=none")
    typed(f"reserve {agent} cpus:1 --role ads --trust-master --no-wait")
    typed(f"wait reserved/{agent}/ads=cpus:1 --trust-master")
    typed(f"wait reserved/{agent}/ads=cpus:2 --trust-master --timeout 1s", 9)
    typed("wait offers/web --timeout 1s", 9)
    typed("quota set web cpus:2")
    framework = Framework(master, "web").subscribe()
    typed("wait offers/web role/web=met")
    if has(carrier.profile.release, "1.9.0"):
        typed(f"agents drain {agent} --no-wait --yes")
        typed(f"wait --for agent/{agent}=drained")
        typed(f"agents reactivate {agent} --no-wait")
        typed(f"wait agent/{agent}=active")
    framework.leave()
