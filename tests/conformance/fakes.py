"""The fake master: in process and on a socket.  Everything that these tests know of its interface is here."""

import sys
from pathlib import Path

import httpx

from fake_master.carriers.in_process import InProcessTransport
from fake_master.cluster import ClusterSpec
from fake_master.http.application import Application
from fake_master.master.clocks import VirtualClock
from fake_master.master.registries import open_registry

from .cluster import Cluster, Setup
from .processes import Process
from .subscribers import PATIENCE, InTheSameProcess, OverTheNetwork


def start_in_process(version: str, setup: Setup, folder: Path) -> Cluster:
    """A fake master behind an httpx transport, without a socket."""
    spec = ClusterSpec(agents=setup.agents, mesos_version=version, flags=setup.all_flags(folder))
    clock = VirtualClock()
    registry = open_registry(spec.flags)
    master = spec.start(registry, clock=clock, takes_over=True)
    transport = InProcessTransport(master, clock.sleep)
    client = httpx.Client(transport=transport)
    subscribers = InTheSameProcess(Application(master), clock)
    return Cluster(
        setup, client, "http://127.0.0.1:5050", subscribers=subscribers, transport=transport, stop=master.close
    )


def start_on_socket(version: str, setup: Setup, folder: Path) -> Cluster:
    """A fake master in a process of its own."""
    process = Process([sys.executable, "-m", "fake_master", *_arguments(version, setup, folder)], folder / "fake.log")
    address = process.first_line()
    if not address.startswith("http://"):
        words = process.last_words()
        process.stop()
        raise AssertionError(f"the fake master said {address!r} instead of its address: {words}")
    client = httpx.Client(trust_env=False, timeout=PATIENCE)
    base = address.rstrip("/")
    return Cluster(
        setup, client, base, subscribers=OverTheNetwork(base), stop=process.stop, last_words=process.last_words
    )


def _arguments(version: str, setup: Setup, folder: Path) -> list[str]:
    words = ["--port", "0", "--mesos-version", version]
    for text in setup.agents:
        words += ["--agent", text]
    for name, value in ({"registry": "in_memory"} | setup.all_flags(folder)).items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value == "true" else [option, value]
    return words
