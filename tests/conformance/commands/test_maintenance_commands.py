"""`mesosctl maintenance` on every carrier: the schedule, machines that go down, and machines that come up."""

import json
from pathlib import Path
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:4;mem:2048", attributes={"rack": "r1"})
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


def test_a_rack_is_named_by_its_attribute_and_a_schedule_comes_from_a_file(
    master: Cluster, carrier: Carrier, tmp_path: Path
) -> None:
    (agent,) = master.agents()
    file = tmp_path / "schedule.json"

    def typed(words: str, gives: int = 0) -> Any:
        status, said = run_for_json(master, words)
        assert status == gives, said
        return said

    def schedule(*hostnames: str) -> None:
        ids = [{"hostname": name} for name in hostnames]
        window = {"machine_ids": ids, "unavailability": {"start": {"nanoseconds": 1922317200 * 10**9}}}
        file.write_text(json.dumps({"windows": [window] if ids else []}), encoding="utf-8")

    def scheduled() -> list[str]:
        return [one["hostname"] for one in typed("maintenance list")["machines"]]

    assert typed(f"maintenance plan --attribute rack=r2 --at {AT}", 5)["rule"] == "agent.exists"
    typed(f"maintenance plan --attribute rack=r1 --at {AT}")
    assert scheduled() == [agent["hostname"]]
    schedule("other", "another")
    assert typed(f"maintenance schedule -f {file}", 2)["message"].startswith("not done: the file does not name")
    typed(f"maintenance schedule -f {file} --yes")
    assert scheduled() == ["another", "other"]
    schedule()
    typed(f"maintenance schedule -f {file} --yes")
    assert scheduled() == []
    if not has(carrier.profile.release, "1.9.0"):
        return  # no agent can be drained
    assert typed("agents drain --attribute rack=r1 --wait --yes")["changes"][0]["status"] == "drained"
    assert typed("agents reactivate --attribute rack=r1")["changes"][0]["status"] == "active"


def test_dry_runs_say_what_then_happens(master: Cluster, carrier: Carrier) -> None:
    (agent,) = master.agents()
    host = agent["hostname"]

    def state() -> list[Any]:
        return [master.read("/maintenance/schedule"), master.read("/maintenance/status"), master.agents()]

    def tried(words: str) -> tuple[bool, list[tuple[str, str]]]:
        before = state()
        _, said = run_for_json(master, f"{words} --dry-run")
        assert state() == before
        changes = [change for document in said["would"] for change in document.get("changes", ())]
        return said["accepted"], [(one["hostname"], one.get("done") or one["status"]) for one in changes]

    def done(words: str) -> list[tuple[str, str]]:
        status, said = run_for_json(master, f"{words} --yes")
        assert status == 0, said
        return [(one["hostname"], one.get("done") or one["status"]) for one in said["changes"]]

    assert tried(f"maintenance down {host}") == (False, [])
    of_agents = ("agents deactivate --attribute rack=r1", "agents reactivate --attribute rack=r1")
    for words in (
        *(of_agents if has(carrier.profile.release, "1.9.0") else ()),
        f"maintenance plan --attribute rack=r1 --at {AT}",
        f"maintenance cancel {host}",
        f"maintenance plan {host} --at {AT}",
        f"maintenance down {host}",
        f"maintenance up {host}",
    ):
        assert tried(words) == (True, done(words)), words


def test_the_list_says_who_has_answered(master: Cluster) -> None:
    framework = Framework(master, "ads").subscribe()
    framework.offers()

    def answers() -> list[tuple[str, str]]:
        status, said = run_for_json(master, "maintenance list")
        assert status == 0, said
        return [(one["framework_id"], one["answer"]) for each in said["machines"] for one in each["answers"]]

    assert run_for_json(master, f"maintenance plan --attribute rack=r1 --at {AT}")[0] == 0
    assert answers() == []  # it runs nothing there
    (inverse,) = framework.next("INVERSE_OFFERS")["inverse_offers"]["inverse_offers"]
    declined = {"inverse_offer_ids": [inverse["id"]], "filters": {"refuse_seconds": 1000}}
    framework.ask("DECLINE_INVERSE_OFFERS", decline_inverse_offers=declined)
    assert master.subscribers.wait(lambda: answers() == [(framework.id, "declined")]), answers()
