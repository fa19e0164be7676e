"""A recorder over TLS, and one that finds the leading master through ZooKeeper and goes on with the next one."""

import os
import signal
import subprocess
import sys
import time

import pytest
import trustme

from mesosctl.history.records import MICROS
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.errors import BadInput
from tests.conformance.masters.processes import Process, hold_port
from tests.helpers.waiting import PATIENCE, wait_until
from tests.mesosctl.client.leader.zookeeper_server import ZooKeeperServer, connect, leave

pytestmark = [pytest.mark.socket, pytest.mark.process, pytest.mark.slow]
TASKS = """
mesos_version = "1.11"
[[agents]]
hostname = "{agent}"
resources = "cpus:4;mem:4096"
[tasks]
outcome = "finished"
seconds = 0.5
[[frameworks]]
name = "{framework}"
task = "cpus:1;mem:64"
tasks = 2
"""


def finished(history, framework):
    """The tasks of a framework that the recording has seen end."""
    try:
        with open_recording(history) as recording:
            names = {one.id: one.name for one in recording.frameworks("lab")}
            return [
                one
                for one in recording.tasks("lab")
                if one.state == "TASK_FINISHED" and names[one.framework_id] == framework
            ]
    except BadInput:
        return []


@pytest.fixture
def folder(tmp_path):
    for agent, framework in (("a1", "first"), ("a2", "second")):
        text = TASKS.format(agent=agent, framework=framework)
        (tmp_path / f"{framework}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def master(folder, framework, *words):
    cluster = str(folder / f"{framework}.toml")
    return Process(
        [sys.executable, "-m", "fake_master", "--port", "0", "--cluster", cluster, *words], folder / f"{framework}.log"
    )


def recorder(folder, history, address, *words):
    record = ["history", "record", "--history", str(history), "--cluster-id", "lab"]
    return Process([sys.executable, "-m", "mesosctl", "--master", address, *words, *record], folder / "recorder.log")


def test_over_tls(folder):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")
    authority.issue_cert("ops@example.org").private_key_and_cert_chain_pem.write_to_path(folder / "client.pem")
    of_server = ("--ssl-cert-file", str(folder / "server.pem"), "--ssl-ca-file", str(folder / "ca.pem"))
    served = master(folder, "first", *of_server, "--ssl-require-client-cert")
    history, recording = folder / "h.sqlite", None
    try:
        client = ("--cacert", str(folder / "ca.pem"), "--cert", str(folder / "client.pem"))
        recording = recorder(folder, history, served.first_line(), *client)
        wait_until(lambda: len(finished(history, "first")) > 2, recording.last_words, PATIENCE)
        os.kill(recording.pid, signal.SIGTERM)
        wait_until(lambda: not recording.running())
    finally:
        for one in (recording, served):
            if one is not None:
                one.stop()
    with open_recording(history) as read:
        assert [one.clean_end for one in read.clusters()] == [True]
        assert read.counts("lab").gaps == 0


IDLE = """
mesos_version = "1.11"
[[agents]]
resources = "cpus:4;mem:4096"
"""


def test_the_time_of_duration_counts_from_the_first_state_on(folder):
    (folder / "idle.toml").write_text(IDLE, encoding="utf-8")
    history, served = folder / "h.sqlite", master(folder, "idle")
    try:
        words = ("history", "record", "--history", str(history), "--cluster-id", "lab", "--duration", "2s")
        command = [sys.executable, "-m", "mesosctl", "--master", served.first_line(), *words]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    finally:
        served.stop()
    assert "waiting" not in ran.stderr
    with open_recording(history) as read:
        (cluster,) = read.clusters()
        assert (cluster.clean_end, read.counts("lab").gaps) == (True, 0)
        assert (cluster.last_seen or 0) - (cluster.first_seen or 0) >= 1.9 * MICROS


@pytest.mark.zookeeper
def test_the_next_leading_master_is_found_and_the_time_between_is_a_gap(folder):
    history, held = folder / "h.sqlite", hold_port()
    server = ZooKeeperServer(folder / "zookeeper", held.getsockname()[1])
    started, admin = [], None
    try:
        admin = connect([server])
        address = f"zk://{server.host}/mesos"
        started.append(first := master(folder, "first", "--zk", address))
        first.first_line()
        started.append(recording := recorder(folder, history, address))
        wait_until(lambda: len(finished(history, "first")) > 2, recording.last_words, PATIENCE)
        killed = time.time()
        first.kill()
        wait_until(lambda: not admin.get_children("/mesos"), first.last_words, PATIENCE)
        started.append(second := master(folder, "second", "--zk", address))
        second.first_line()
        wait_until(lambda: len(finished(history, "second")) > 2, recording.last_words, 2 * PATIENCE)
        os.kill(recording.pid, signal.SIGTERM)
        wait_until(lambda: not recording.running())
        told = recording.last_words()
    finally:
        for one in reversed(started):
            one.stop()
        if admin is not None:
            leave(admin)
        server.stop()
        held.close()
    with open_recording(history) as read:
        (cluster,) = read.clusters()
        assert (cluster.clean_end, cluster.address) == (True, address)
        (gap,) = read.gaps("lab")
        before, after = read.agents("lab")
        assert before.end == gap.end
        assert gap.start <= after.start <= gap.end  # the second master tells when it registered
        assert killed - 1 <= gap.start / MICROS + 1
        frameworks = {one.name: one for one in read.frameworks("lab")}
        assert frameworks["first"].end == gap.end
        assert frameworks["second"].end is None
        # Those of the first master ended inside of the gap, at a time that nobody saw.
        cut = [one for one in read.tasks("lab") if one.framework_id == frameworks["first"].id and one.end == gap.end]
        assert not any(one.end_known for one in cut)
    assert told.count("waiting until the master is back") == 1
    assert "the recording continues after a gap of" in told
    assert "Traceback" not in told
