"""The real master, started by the command in MESOS_RUNNER."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import httpx

from tests.conformance.callers.subscribers import OverTheNetwork
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.processes import Process, hold_port, wait_until_ready
from tests.helpers.needs import lacking
from tests.helpers.waiting import PATIENCE

T = TypeVar("T")
RUNNER = "MESOS_RUNNER"
RELEASE = "MESOS_RELEASE"
"""The variable that tells the runner which release to start; 1.11.0 unless it is set."""
START_SECONDS = 240  # the first start may have to install the master: twenty seconds or so, on an idle machine

RUN_TOGETHER = "Bad value for resources, missing or extra ':'"
"""What a runner's agent says that was slow to read its resources, and took the next one's for their end."""
MISREADINGS = 9
"""How often that may happen in a row."""


def start(setup: Setup, folder: Path, release: str | None = None) -> Cluster:
    """A real master whose agents have all registered; of a release, if the runner knows more than one."""
    work = folder / "work"
    is_first = not work.exists()

    def clean() -> None:
        if is_first:
            shutil.rmtree(work)

    return unless_misread(lambda: _started(setup, folder, release), clean)


def unless_misread(start: Callable[[], T], clean: Callable[[], None] = lambda: None) -> T:
    """Return the result of `start`; after a misreading, call `clean`, then `start` again."""
    for _ in range(MISREADINGS):
        try:
            return start()
        except AssertionError as failure:
            if RUN_TOGETHER not in str(failure):
                raise
        clean()
    return start()


def _started(setup: Setup, folder: Path, release: str | None) -> Cluster:
    held = _port(folder)
    port = held.getsockname()[1]
    flags = setup.all_flags(folder)
    if "credentials" in flags:  # the agents are in the same process and want to know whom to let in, too
        flags["http_credentials"] = flags["credentials"]
    if flags.get("authenticate_http_frameworks") == "true":  # which only a real master has to be told how
        flags["http_framework_authenticators"] = "basic"
    attributes = ";".join(f"{name}:{value}" for name, value in setup.attributes.items())
    process = Process(
        [os.environ[RUNNER], *setup.agents],
        folder / "master.log",
        environment={
            "PORT": str(port),
            **({} if release is None else {RELEASE: release}),
            "WORK": str(folder / "work"),
            "GLOG_minloglevel": "1",
            # Otherwise it answers for its metrics twice a second and no more.
            "LIBPROCESS_METRICS_SNAPSHOT_ENDPOINT_RATE_LIMIT": "1000/1secs",
            **{f"MESOS_{name.upper()}": value for name, value in flags.items()},
            **({"MESOS_ATTRIBUTES": attributes} if attributes else {}),
        },
    )
    client = httpx.Client(trust_env=False, timeout=PATIENCE)
    base = f"http://127.0.0.1:{port}"

    def stop() -> None:
        process.stop()
        held.close()

    cluster = Cluster(
        setup,
        client,
        base,
        subscribers=OverTheNetwork(base),
        stop=stop,
        last_words=process.last_words,
        pid=process.pid,
    )
    try:
        wait_until_ready(lambda: _is_ready(cluster, client), process, START_SECONDS)
    except BaseException:
        cluster.stop()
        raise
    if release is not None and cluster.read("/version")["version"] != release:
        cluster.stop()
        lacking(RELEASE, f"the command in {RUNNER} starts another release than {release}")
    return cluster


def _is_ready(cluster: Cluster, client: httpx.Client) -> bool:
    headers = {"Accept": "application/json", **cluster.setup.operator()}
    try:  # a v1 call, because those are refused until the registry has been read
        answer = client.post(f"{cluster.address}/api/v1", json={"type": "GET_AGENTS"}, headers=headers)
    except httpx.TransportError:
        return False
    if answer.status_code != 200:
        return False
    agents = answer.json()["get_agents"].get("agents", ())
    present = sum(agent["active"] or agent.get("deactivated", False) for agent in agents)
    if cluster.setup.registered is None:
        return present == len(cluster.setup.agents)
    # Each has asked, and one that was refused is not there.
    asked = cluster.read("/metrics/snapshot")["master/messages_register_slave"]
    return present == cluster.setup.registered and asked >= len(cluster.setup.agents)


def _port(folder: Path) -> socket.socket:
    """Any free one, and the same for whoever is started again: an agent at another address is another agent."""
    kept = folder / "port"
    held = hold_port(int(kept.read_text()) if kept.exists() else 0)
    kept.write_text(str(held.getsockname()[1]))
    return held
