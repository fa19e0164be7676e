"""The real master, started by the command in MESOS_RUNNER."""

import os
from pathlib import Path

import httpx

from .cluster import Cluster, Setup
from .processes import Process, free_port, wait_until
from .subscribers import OverTheNetwork

RUNNER = "MESOS_RUNNER"
START_SECONDS = 60  # the first start may have to install the master: twenty seconds or so


def why_not() -> str | None:
    """Why there is no real master here, or None."""
    return None if os.environ.get(RUNNER) else f"{RUNNER} is not set: no real Mesos master to compare with"


def start(setup: Setup, folder: Path) -> Cluster:
    """A real master whose agents have all registered."""
    port = _port(folder)
    flags = setup.all_flags(folder)
    if "credentials" in flags:  # the agents are in the same process and want to know whom to let in, too
        flags["http_credentials"] = flags["credentials"]
    environment = {f"MESOS_{name.upper()}": value for name, value in flags.items()}
    process = Process(
        [os.environ[RUNNER], *setup.agents],
        folder / "master.log",
        environment={"PORT": str(port), "WORK": str(folder / "work"), "GLOG_minloglevel": "1", **environment},
    )
    client = httpx.Client(trust_env=False, timeout=30)
    base = f"http://127.0.0.1:{port}"
    cluster = Cluster(
        setup, client, base, subscribers=OverTheNetwork(base), stop=process.stop, last_words=process.last_words
    )

    def ready() -> bool:
        headers = {"Accept": "application/json", **setup.operator()}
        try:  # a v1 call, because those are refused until the registry has been read
            answer = client.post(f"{cluster.address}/api/v1", json={"type": "GET_AGENTS"}, headers=headers)
        except httpx.TransportError:
            return False
        if answer.status_code != 200:
            return False
        agents = answer.json()["get_agents"]["agents"]
        return sum(agent["active"] or agent["deactivated"] for agent in agents) == len(setup.agents)

    try:
        wait_until(ready, process, START_SECONDS)
    except BaseException:
        cluster.stop()
        raise
    return cluster


def _port(folder: Path) -> int:
    """Any free one, and the same for whoever is started again: an agent at another address is another agent."""
    kept = folder / "port"
    if not kept.exists():
        kept.write_text(str(free_port()))
    return int(kept.read_text())
