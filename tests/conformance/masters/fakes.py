"""The fake master: in process and on a socket.  Everything that these tests know of its interface is here."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import httpx
import tomli_w

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.sorters.sorter import Sorter
from fake_master.allocator.options import Shuffle
from fake_master.http.application import Application
from fake_master.master import Master
from fake_master.registry.sqlite import open_registry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec, read_cluster
from fake_master.state.agents import Domain
from fake_master.state.clock import VirtualClock
from fake_master.transports.in_process import InProcessTransport
from tests.conformance.callers.subscribers import InTheSameProcess, OverTheNetwork
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.processes import Process
from tests.helpers.waiting import PATIENCE

PROGRAM = (sys.executable, "-m", "fake_master", "--port", "0", "--no-page")


def start_in_process(version: str, setup: Setup, folder: Path, shuffle: Shuffle | None = None) -> Cluster:
    """A fake master behind an httpx transport, without a socket."""
    agents = tuple(AgentSpec(text, attributes=setup.attributes) for text in setup.agents)
    agents += tuple(AgentSpec(text, domain=Domain("elsewhere", "z")) for text in setup.elsewhere)
    agents = tuple(agents[place] for place in setup.order or range(len(agents)))
    spec = ClusterSpec(agents=agents, mesos_version=version, flags=setup.all_flags(folder))
    clock = VirtualClock()
    master = spec.start(open_registry(spec.flags), clock=clock, takes_over=True)
    if shuffle is not None:
        assert isinstance(master.allocator, HierarchicalAllocator)
        state = master.allocator.state
        state.options = replace(state.options, shuffle=shuffle)
    return in_process(master, clock, setup)


def start_in_order(version: str, shuffle: Shuffle, setup: Setup, folder: Path) -> Cluster:
    """The same; the hook says in which order a run visits the agents."""
    return start_in_process(version, setup, folder, shuffle)


def start_on_socket(version: str, setup: Setup, folder: Path) -> Cluster:
    """A fake master in a process of its own."""
    process = Process([*PROGRAM, *_arguments(version, setup, folder)], folder / "fake.log")
    return on_socket(process, setup)


def start_for_drivers(setup: Setup, folder: Path) -> Cluster:
    """The same, which serves scheduler drivers."""
    process = Process([*PROGRAM, "--driver", *_arguments("1.11", setup, folder)], folder / "fake.log")
    return on_socket(process, setup)


def start_from_file(text: str, folder: Path, setup: Setup, *, socket: bool) -> Cluster:
    """A fake master of a cluster file, on a socket or in process; `setup` says who its operator is."""
    file = folder / "cluster.toml"
    file.write_text(text, encoding="utf-8")
    if socket:
        return on_socket(Process([*PROGRAM, "--cluster", str(file)], folder / "fake.log"), setup)
    clock = VirtualClock()
    return in_process(read_cluster(text, str(file)).start(clock=clock, takes_over=True), clock, setup)


def in_process(master: Master, clock: VirtualClock, setup: Setup) -> Cluster:
    """A master that has been started here."""
    transport = InProcessTransport(master, clock.sleep)
    cluster = Cluster(
        setup,
        httpx.Client(transport=transport),
        "http://127.0.0.1:5050",
        subscribers=InTheSameProcess(Application(master), clock),
        transport=transport,
        stop=master.close,
    )
    cluster.count_anew = partial(_count_anew, master)
    return cluster


def _count_anew(master: Master, draw: Random) -> None:
    allocator = master.allocator
    assert isinstance(allocator, HierarchicalAllocator)
    state = allocator.state
    of_guarantees = None if state.guarantees is None else state.guarantees.sorter
    for sorter in (state.role_sorter, of_guarantees, *(role.sorter for role in state.roles)):
        if not isinstance(sorter, Sorter):
            continue
        waiting = [sorter.root]
        while waiting:
            node = waiting.pop()
            node.count += draw.randrange(100)
            waiting += node.children.values()
        sorter.dirty = True


def on_socket(process: Process, setup: Setup) -> Cluster:
    """A fake master that a process serves; says why where it serves none."""
    address = process.first_line().rstrip("/")
    if not address.startswith("http://"):
        words = process.last_words()
        process.stop()
        raise AssertionError(f"the fake master said {address!r} instead of its address: {words}")
    return Cluster(
        setup,
        httpx.Client(trust_env=False, timeout=PATIENCE),
        address,
        subscribers=OverTheNetwork(address),
        stop=process.stop,
        last_words=process.last_words,
    )


def _arguments(version: str, setup: Setup, folder: Path) -> list[str]:
    words = ["--mesos-version", version]
    if setup.attributes:  # which no option can give
        agents = [{"resources": text, "attributes": dict(setup.attributes)} for text in setup.agents]
        (folder / "agents.toml").write_text(tomli_w.dumps({"agents": agents}), encoding="utf-8")
        words += ["--cluster", str(folder / "agents.toml")]
    else:
        words += [word for text in setup.agents for word in ("--agent", text)]
    for name, value in ({"registry": "in_memory"} | setup.all_flags(folder)).items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value == "true" else [option, value]
    return words
