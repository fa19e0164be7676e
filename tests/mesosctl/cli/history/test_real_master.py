"""A recording of a real master: what came, what was set, and that the master was away and came back."""

import json
import os
import signal
import sys

import httpx
import pytest

from mesosctl.history.sqlite import open_recording
from mesosctl.model.errors import BadInput
from tests.conformance.masters.processes import Process, hold_port
from tests.helpers.waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.real_master, pytest.mark.socket, pytest.mark.process, pytest.mark.slow]


def agents_in(history, *, still_there=False):
    try:
        with open_recording(history) as recording:
            return [
                one
                for of in recording.clusters()
                for one in recording.agents(of.cluster_id)
                if one.end is None or not still_there
            ]
    except BadInput:
        return []


def test_a_real_master_that_is_killed_and_comes_back(tmp_path):
    held = hold_port()
    port = held.getsockname()[1]
    history, address = tmp_path / "h.sqlite", f"http://127.0.0.1:{port}"

    def master(name, *agents):
        variables = {"PORT": str(port), "GLOG_minloglevel": "1", "WORK": str(tmp_path / name)}
        return Process([os.environ["MESOS_RUNNER"], *agents], tmp_path / f"{name}.log", environment=variables)

    first = master("first", "cpus:8;mem:4096;disk:10;cpus(ads):2;ports:[1-2]")
    words = ["history", "record", "--history", str(history), "--every", "1", "--cluster-id", "real"]
    recorder = Process([sys.executable, "-m", "mesosctl", "--master", address, *words], tmp_path / "recorder.log")
    second = None
    try:
        wait_until(lambda: agents_in(history), recorder.last_words, 4 * PATIENCE)
        quota = {"role": "ads", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 3}}]}
        httpx.post(f"{address}/quota", json=quota, timeout=PATIENCE).raise_for_status()
        wait_until(lambda: settings_in(history), seconds=PATIENCE)
        first.kill()
        second = master("second", "cpus:4;mem:1024;disk:10;ports:[1-2]")
        wait_until(lambda: len(agents_in(history)) == 2 and agents_in(history, still_there=True), seconds=4 * PATIENCE)
        os.kill(recorder.pid, signal.SIGTERM)
        wait_until(lambda: not recorder.running())
    finally:
        for one in (recorder, first, second):
            if one is not None:
                one.stop()
        held.close()
    with open_recording(history) as recording:
        (cluster,) = recording.clusters()
        assert (cluster.clean_end, cluster.version) == (True, "1.11.0")
        assert recording.counts("real").gaps == 1
        before, after = recording.agents("real")
        (gap,) = recording.gaps("real")
        assert before.total.reserved("ads").scalar_quantities().get_amount("cpus") == 2000
        assert before.end == gap.end <= after.start
        assert after.end is None
        (setting,) = recording.settings("real")
        assert json.loads(setting.value)["guarantees"] == {"cpus": {"value": 3.0}}
        assert setting.end is not None  # the second master knows nothing of it


def settings_in(history):
    with open_recording(history) as recording:
        return list(recording.settings("real"))
