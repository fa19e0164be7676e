"""`mesosctl maintenance` on every carrier: the schedule, machines that go down, and machines that come up."""

from typing import Any

import pytest

from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.joining import quick
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:4;mem:2048")
OWN_MASTER = True  # its agent leaves
AT = "2030-12-01T02:00+01:00"


@pytest.mark.parametrize("api", ["v0", "v1"])
def test_a_machine_is_planned_and_taken_down(master: Cluster, api: str) -> None:
    (agent,) = master.agents()
    host = agent["hostname"]

    def typed(words: str, gives: int = 0) -> Any:
        status, said = run_for_json(master, f"maintenance {words} --api {api}")
        assert status == gives, said
        return said

    def modes() -> list[tuple[str, str, str | None, list[str]]]:
        return [
            (one["hostname"], one["mode"], (one["unavailability"] or {}).get("since"), one["agents"])
            for one in typed("list")["machines"]
        ]

    assert modes() == []
    typed(f"plan {host} --at {AT} --duration 2h")
    assert modes() == [(host, "draining", "2030-12-01T01:00:00.000Z", [host])]
    assert typed(f"up {host}", 3)["rule"] == "maintenance.mode"
    typed(f"cancel {host}")
    assert modes() == []
    assert typed(f"down {host} --yes", 3)["rule"] == "maintenance.scheduled"
    typed(f"plan {host} --at {AT}")
    assert typed(f"down {host} --yes")["changes"][0]["confirmed"]
    assert [mode for _, mode, _, _ in modes()] == ["down"]
    assert typed(f"cancel {host}", 3)["rule"] == "maintenance.down"
    assert typed(f"up {host}")["changes"][0]["confirmed"]
    assert modes() == []
