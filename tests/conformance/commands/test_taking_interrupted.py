"""`offers take` that is interrupted leaves no framework behind: fake on a socket, and real."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import REAL, SOCKET, Carrier, Pool
from tests.conformance.masters.cluster import Cluster
from tests.helpers.waiting import PATIENCE

SETUP = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
NAME = "mesosctl offers take"
WORDS = ("offers", "take", "--role", "ads", "--reserve", "cpus:100")


@pytest.fixture(params=[REAL, SOCKET], ids=str)
def master(request: pytest.FixtureRequest, pool: Pool) -> Cluster:
    carrier: Carrier = request.param
    return pool.lend(carrier, SETUP)


def named(master: Cluster, key: str) -> list[dict[str, Any]]:
    return [entry for entry in master.read("/frameworks")[key] if entry["name"] == NAME]


@contextmanager
def taking(master: Cluster, *more: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own, ended in any case."""
    words = [sys.executable, "-m", "mesosctl", *WORDS, "--master", master.address, *more]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=stderr) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_its_framework(master: Cluster, number: signal.Signals, status: int) -> None:
    gone = len(named(master, "completed_frameworks"))
    with taking(master, "--timeout", str(PATIENCE)) as process:
        assert master.subscribers.wait(lambda: bool(named(master, "frameworks")))
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (status, b""), err
    assert b"Traceback" not in err
    assert named(master, "frameworks") == []
    assert len(named(master, "completed_frameworks")) == gone + 1


def test_killing_it_leaves_no_framework_either(master: Cluster) -> None:
    with taking(master, "--timeout", str(PATIENCE)) as process:
        assert master.subscribers.wait(lambda: bool(named(master, "frameworks")))
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert master.subscribers.wait(lambda: named(master, "frameworks") == [])


def test_the_deadline_ends_it_though_the_stream_is_alive(master: Cluster) -> None:
    with taking(master, "--timeout", "8") as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (9, b""), err
    assert re.search(rb"no offer fit within 8 s; offers declined: [1-9][0-9]*", err), err
    assert named(master, "frameworks") == []


def test_it_shows_how_far_it_is_on_a_terminal_alone(master: Cluster) -> None:
    with taking(master, "--timeout", "1") as process:
        quiet = process.communicate(timeout=PATIENCE)[1]
    assert b"waiting for an offer" not in quiet
    ours, theirs = pty.openpty()
    shown = b""
    try:
        with taking(master, "--timeout", str(PATIENCE), stderr=theirs) as process:
            while b"offers declined so far: 1" not in shown and select.select([ours], [], [], PATIENCE)[0]:
                shown += os.read(ours, 1 << 16)
            process.kill()
            process.communicate(timeout=PATIENCE)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"offers declined so far: 1" in shown
