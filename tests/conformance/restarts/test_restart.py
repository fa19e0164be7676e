"""QH-35: what a master with a persistent registry still knows after it was killed and started again."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS, Carrier
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.comparing import canonical
from tests.conformance.scenarios.scenario import quota_request
from tests.helpers.waiting import wait_until

Flags = Callable[[Path], dict[str, str]]
QUOTA = json.dumps(quota_request("r1", cpus=1.5, force=True))


def _replicated_log(_folder: Path) -> dict[str, str]:
    return {"registry": "replicated_log"}  # lives in the folder that the runner is given anyway


def _sqlite(folder: Path) -> dict[str, str]:
    return {"registry": "sqlite", "work_dir": str(folder)}


WINDOW: dict[str, Any] = {
    "machine_ids": [{"hostname": "a"}, {"hostname": "b", "ip": "10.0.0.1"}],
    "unavailability": {"start": {"nanoseconds": 1895232742000000000}},
}


LASTING = [(REAL, _replicated_log), (SOCKET, _sqlite), (SOCKET_DOCUMENTS, _sqlite)]


@pytest.mark.parametrize(("carrier", "flags"), LASTING)
def test_quota_and_weights_survive_a_restart(carrier: Carrier, flags: Flags, tmp_path: Path) -> None:
    setup = Setup(flags=flags(tmp_path))
    paths = ("/quota", "/weights", "/roles")
    first = carrier.start(setup, tmp_path)
    try:
        posted = first.request("POST", "/quota", content=QUOTA)
        put = first.request("PUT", "/weights", content='[{"role":"r2","weight":2.5}]')
        before = {path: canonical(first.read(path)) for path in paths}
    finally:
        first.stop()
    second = carrier.start(setup, tmp_path)
    try:
        after = {path: canonical(second.read(path)) for path in paths}
        deleted = second.request("DELETE", "/quota/r1")
        left = second.read("/quota")
    finally:
        second.stop()
    assert (posted.status, put.status, deleted.status) == (200, 200, 200)
    assert after == before
    assert [entry["role"] for entry in after["/quota"]["infos"]] == ["r1"]
    assert left == {}


def _has_weights(master: Cluster) -> bool:
    return bool(master.read("/registrar(1)/registry").get("weights"))


def test_weights_of_the_flag_are_kept_by_an_empty_registry(carrier: Carrier, tmp_path: Path) -> None:
    kept = (_replicated_log if carrier is REAL else _sqlite)(tmp_path)
    shown = []
    for weights in ("a=3", "", "a=5,b=2"):
        master = carrier.start(Setup(flags=kept | ({"weights": weights} if weights else {})), tmp_path)
        try:
            if carrier is REAL:  # which shows the weights of its flag before it has written them
                wait_until(partial(_has_weights, master), "the registry of the master has no weights")
            shown.append(master.read("/weights"))
        finally:
            master.stop()
    assert shown == [[{"role": "a", "weight": 3.0}]] * 3


@pytest.mark.parametrize(("carrier", "flags"), LASTING)
def test_maintenance_survives_a_restart(carrier: Carrier, flags: Flags, tmp_path: Path) -> None:
    setup = Setup(flags=flags(tmp_path))
    first = carrier.start(setup, tmp_path)
    try:
        posted = first.request("POST", "/maintenance/schedule", content=json.dumps({"windows": [WINDOW]}))
        down = first.request("POST", "/machine/down", content=json.dumps(WINDOW["machine_ids"][:1]))
    finally:
        first.stop()
    second = carrier.start(setup, tmp_path)
    try:
        schedule, status = second.read("/maintenance/schedule"), second.read("/maintenance/status")
        up = second.request("POST", "/machine/up", content=json.dumps(WINDOW["machine_ids"][:1]))
        left = second.read("/maintenance/status")
    finally:
        second.stop()
    assert (posted.status, down.status, up.status) == (200, 200, 200)
    assert schedule == {"windows": [WINDOW]}
    draining = [{"id": {"hostname": "b", "ip": "10.0.0.1"}}]
    assert status == {"down_machines": [{"hostname": "a"}], "draining_machines": draining}
    assert left == {"draining_machines": draining}
