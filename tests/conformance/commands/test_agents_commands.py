"""`mesosctl agents drain` and its kin, and `frameworks teardown`, on every carrier."""

import pytest

from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier, skip_before
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:4;mem:2048", "cpus:8;mem:2048")
OWN_MASTER = True  # its agents leave


def test_agents_leave_and_come_back(master: Cluster, carrier: Carrier) -> None:
    skip_before("1.9.0", carrier, "no agent can be drained")
    one, two = (agent["id"] for agent in master.agents())

    def typed(words: str) -> list[tuple[str, str, bool, bool]]:
        status, said = run_for_json(master, words)
        assert status == 0, said
        return [(each["id"], each["status"], each["sent"], each["confirmed"]) for each in said["changes"]]

    assert typed(f"agents drain {one} --max-grace-period 5s --wait --yes") == [(one, "drained", True, True)]
    assert typed(f"agents drain {one} {two} --at-most 1 --max-grace-period 5s --yes") == [
        (one, "drained", False, True),
        (two, "drained", True, True),
    ]
    assert typed(f"agents reactivate {one} {two}") == [(one, "active", True, True), (two, "active", True, True)]
    assert typed(f"agents deactivate {one}") == [(one, "deactivated", True, True)]
    assert typed(f"agents reactivate {one}") == [(one, "active", True, True)]
    assert typed(f"agents gone {two} --yes") == [(two, "gone", True, True)]
    assert [agent["id"] for agent in master.agents()] == [one]


@pytest.mark.parametrize("api", ["v0", "v1"])
def test_a_framework_is_torn_down(master: Cluster, carrier: Carrier, api: str) -> None:
    if api == "v1":
        skip_before("1.5.3", carrier, "operators have no such call")
    framework = Framework(master, "ads").subscribe()
    status, said = run_for_json(master, f"frameworks teardown {framework.id} --yes --api {api}")
    assert status == 0, said
    assert (said["id"], said["tasks"], said["confirmed"]) == (framework.id, 0, True)
    assert framework.closed()
    status, said = run_for_json(master, f"frameworks teardown {framework.id} --yes --api {api}")
    assert (status, said["rule"]) == (5, "framework.exists")
