"""A recording of a real master: what came, what was set, and that the master was away and came back."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time

import httpx
import pytest

from mesosctl.history.records import to_micros
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.errors import BadInput
from tests.conformance.masters.processes import Process, hold_port
from tests.conformance.masters.real import RELEASE
from tests.fake_master.allocator.real.real_master import Agents, RealMaster, Scheduler
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


@pytest.mark.parametrize("release", ["1.4.3", "1.11.0"])
def test_a_real_master_that_is_killed_and_comes_back(tmp_path, release):
    held = hold_port()
    port = held.getsockname()[1]
    history, address = tmp_path / "h.sqlite", f"http://127.0.0.1:{port}"

    def master(name, *agents):
        variables = {"PORT": str(port), "GLOG_minloglevel": "1", "WORK": str(tmp_path / name), RELEASE: release}
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
        assert (cluster.clean_end, cluster.version) == (True, release)
        assert recording.counts("real").gaps == 1
        before, after = recording.agents("real")
        (gap,) = recording.gaps("real")
        assert before.total.reserved("ads").scalar_quantities().get_amount("cpus") == 2000
        assert before.end == gap.end
        assert gap.start <= after.start  # the second master tells when it registered, maybe inside of the gap
        assert after.end is None
        (setting,) = recording.settings("real")
        assert json.loads(setting.value)["guarantees"] == {"cpus": {"value": 3.0}}
        assert setting.end is not None  # the second master knows nothing of it


def settings_in(history):
    with open_recording(history) as recording:
        return list(recording.settings("real"))


@contextlib.contextmanager
def running(loop, work):
    """A coroutine that runs until the block ends, or that has ended before."""
    task = asyncio.run_coroutine_threadsafe(work, loop)
    yield task
    task.cancel()
    with contextlib.suppress(BaseException):
        task.result(PATIENCE)


def frameworks_in(history):
    with open_recording(history) as recording:
        return {one.name: one for one in recording.frameworks("real")}


def test_simulated_agents_and_frameworks_come_and_go(tmp_path):
    history, loop = tmp_path / "h.sqlite", asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def do(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

    with RealMaster() as master:
        words = ["history", "record", "--history", str(history), "--every", "1", "--cluster-id", "real"]
        recorder = Process([sys.executable, "-m", "mesosctl", "--master", master.url, *words], tmp_path / "log")
        agents, times = Agents(master.port), {"start": time.time()}
        try:
            do(agents.start())
            wait_until(lambda: history.exists() and clusters_in(history), recorder.last_words, 4 * PATIENCE)
            times["agents"] = time.time()
            for resources in ("cpus:4;mem:64", "cpus:2;mem:32", "cpus:1;mem:16"):
                do(agents.register(resources))
            wait_until(lambda: len(agents_in(history)) == 3, recorder.last_words, PATIENCE)
            times["frameworks"] = time.time()
            quiet = Scheduler(master.port, "quiet", ["quiet"], lambda *_: None, suppressed=True)
            busy = Scheduler(master.port, "busy", ["web"], lambda *_: None)
            with running(loop, quiet.run()), running(loop, busy.run()) as leaving:
                wait_until(lambda: {"quiet", "busy"} <= frameworks_in(history).keys(), recorder.last_words, PATIENCE)
                wait_until(lambda: "quiet" in wishes_in(history), recorder.last_words, PATIENCE)
                times["leaving"] = time.time()
                leaving.cancel()
                wait_until(lambda: frameworks_in(history)["busy"].end is not None, recorder.last_words, PATIENCE)
                times["left"] = time.time()
                first = next(
                    one for one in agents_in(history) if one.total.scalar_quantities().get_amount("cpus") == 4000
                )
                agent_id = first.id.encode()
                of_agent = b"\x0a" + bytes([len(agent_id)]) + agent_id
                do(agents.say("UnregisterSlaveMessage", b"\x0a" + bytes([len(of_agent)]) + of_agent, 0))
                wait_until(lambda: len(agents_in(history, still_there=True)) == 2, recorder.last_words, PATIENCE)
                times["gone"] = time.time()
                second = next(
                    one for one in agents_in(history) if one.total.scalar_quantities().get_amount("cpus") == 2000
                )
                master.call({"type": "MARK_AGENT_GONE", "mark_agent_gone": {"agent_id": {"value": second.id}}})
                # No event tells it. A reading of agents does, which follows on a reading of settings and an event.
                wait_until(lambda: len(agents_in(history, still_there=True)) == 1, recorder.last_words, PATIENCE)
            os.kill(recorder.pid, signal.SIGTERM)
            wait_until(lambda: not recorder.running())
        finally:
            recorder.stop()
            do(agents.stop())
            loop.call_soon_threadsafe(loop.stop)
            thread.join(PATIENCE)
            loop.close()
    at = {name: to_micros(seconds) for name, seconds in times.items()}
    moment = to_micros(1)  # the clocks of the master and of the recorder agree to that
    with open_recording(history) as recording:
        (cluster,) = recording.clusters()
        assert (cluster.clean_end, recording.counts("real").gaps) == (True, 0)
        for agent in recording.agents("real"):
            assert at["agents"] - moment <= agent.start <= at["frameworks"] + moment
        (gone,) = [one for one in recording.agents("real") if one.id == first.id]
        assert gone.cause == "removed"
        assert at["left"] - moment <= (gone.end or 0) <= at["gone"] + moment
        (marked,) = [one for one in recording.agents("real") if one.id == second.id]
        assert marked.cause == "gone"
        by_name = {one.name: one for one in recording.frameworks("real")}
        for framework in by_name.values():
            assert at["frameworks"] - moment <= framework.start <= at["leaving"] + moment
        assert at["leaving"] - moment <= (by_name["busy"].end or 0) <= at["left"] + moment
        assert by_name["quiet"].roles == ("quiet",)
        wishes = {one.role: one.suppressed for one in recording.suppressions("real")}
        assert wishes["quiet"] is True


def clusters_in(history):
    try:
        with open_recording(history) as recording:
            return recording.clusters()
    except BadInput:
        return []


def wishes_in(history):
    with open_recording(history) as recording:
        return {one.role for one in recording.suppressions("real")}
