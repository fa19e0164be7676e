"""A Mesos master without a cluster: the same requests, the same answers, the same decisions.

    from fake_master import FakeMaster

    with FakeMaster(["cpus:4;mem:2048"], quotas={"web": "cpus:2"}) as master:
        ...

`__all__` is for the tests of other programs.  mesosctl uses only the functions (a contract in `pyproject.toml`).
Importing this package loads nothing else.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fake_master.state.clock import VirtualClock
    from fake_master.testing.fake import FakeMaster as FakeMaster
    from fake_master.testing.values import Agent as Agent
    from fake_master.testing.values import AgentConfig as AgentConfig
    from fake_master.testing.values import Framework as Framework
    from fake_master.testing.values import FrameworkConfig as FrameworkConfig
    from fake_master.testing.values import Offer as Offer
    from fake_master.testing.values import QuotaConfig as QuotaConfig
    from fake_master.testing.values import Role as Role
    from fake_master.testing.values import Task as Task
    from fake_master.testing.values import TaskConfig as TaskConfig

__all__ = [
    "Agent",
    "AgentConfig",
    "FakeMaster",
    "Framework",
    "FrameworkConfig",
    "Offer",
    "QuotaConfig",
    "Role",
    "Task",
    "TaskConfig",
]

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from io import BufferedIOBase

    import typer

    from fake_master.forecasting.dry_run import DryRun as DryRun
    from fake_master.forecasting.replay import ReplayRun as ReplayRun
    from fake_master.state.clock import VirtualClock
    from fake_master.transports.in_process import ConnectionTransport as ConnectionTransport
    from mesosctl.mesos.cluster.dominant_shares import Sharing
    from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
    from mesosctl.mesos.door.forecast import DryRunOptions
    from mesosctl.mesos.door.offer_explanation import OfferAccount
    from mesosctl.mesos.door.replay import RecordedDemand


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'fake_master' has no attribute '{name}'")
    from fake_master import testing

    return getattr(testing, name)


def __dir__() -> list[str]:
    """List the public names too."""
    return sorted({*globals(), *__all__})


def open_transport(
    address: str,
    longest_wait: float | None = None,
    *,
    clock: "VirtualClock | None" = None,
    notice: "Callable[[str], None]" = lambda _: None,
) -> "ConnectionTransport":
    """A transport of httpx to the master behind a `fake:` address.

    `longest_wait`: seconds to wait, at most ten, while another process holds the saved state. `clock`: the time of the
    master, which reading a stream of events moves on at once. `notice` gets sentences for the operator. Raises BadInput
    if the address, the cluster file or the saved state cannot be used, and so may the first request.

    The transport's `pass_time` is called with the seconds that the client has waited: the time of `fake:FILE` passes
    with these, and while a stream is read, but not while a command or the master works.
    """
    # Imported late, here and below: the command line imports this module, and most commands do not need them.
    from fake_master.transports.address import open_on_call
    from fake_master.transports.in_process import ConnectionTransport

    connection = open_on_call(address, longest_wait, clock=clock, notice=notice)
    return ConnectionTransport(connection, connection.pass_time)


def address_forms() -> tuple[tuple[str, str], ...]:
    """The forms of `fake:` addresses, each with its meaning, for the pages that describe them."""
    from fake_master.transports.address import FORMS

    return FORMS


def virtual_clock() -> "VirtualClock":
    """A clock for `open_transport`, which begins now."""
    from fake_master.state.clock import VirtualClock

    return VirtualClock()


def simulate(cluster: "BufferedIOBase", where: str, most_steps: int) -> "Sharing":
    """A cluster file played in virtual time, offer by offer, for `mesosctl offers simulate`; `where` names it.

    Raises BadInput for the file, and OSError.
    """
    from fake_master.sources.simulation import simulate_file

    return simulate_file(cluster, where, most_steps)


def start_dry_run(snapshot: "ClusterSnapshot", options: "DryRunOptions") -> "DryRun":
    """A master that starts from a snapshot and has settled in virtual time, on which to try changes.

    Raises BadInput for an impossible cluster.
    """
    from fake_master.forecasting.dry_run import of_snapshot

    return of_snapshot(snapshot, options)


def start_dry_run_of_file(file: "BufferedIOBase", where: str, options: "DryRunOptions") -> "DryRun":
    """The same, from a snapshot (JSON) or a cluster file (TOML) with running frameworks; `where` names it.

    Raises BadInput, and OSError.
    """
    from fake_master.forecasting.dry_run import of_file

    return of_file(file, where, options)


def start_replay(
    demand: "RecordedDemand", never_fit: "Collection[int]", refuse: float, progress: "Callable[[float], None]"
) -> "ReplayRun":
    """A master on which recorded demand is played; `never_fit` are the places of tasks that fit nowhere.

    `refuse` are the seconds for which frameworks decline what they cannot use. Raises BadInput for an impossible
    cluster.
    """
    from fake_master.forecasting.replay import ReplayRun

    return ReplayRun(demand, never_fit, refuse, progress)


def account_offers(
    snapshot: "ClusterSnapshot", subjects: "Sequence[tuple[str, str]]", out_of_service: "Mapping[str, str]"
) -> "list[OfferAccount]":
    """Account for every resource of a cluster, for each subject: why the allocator does not offer it to that role.

    A subject is a framework id and a role; `out_of_service` has the state of agents by id, as far as it is known.
    Raises BadInput for an impossible cluster.
    """
    from fake_master.forecasting.offer_explanation import accounts_of

    return accounts_of(snapshot, subjects, out_of_service)


def cluster_file(snapshot: "ClusterSnapshot") -> tuple[str, list[str]]:
    """A snapshot as the text of a cluster file, and a sentence about each thing that the file leaves out.

    Raises BadInput for a name that TOML cannot express.
    """
    from fake_master.sources.cluster_writing import cluster_file

    return cluster_file(snapshot)


def command() -> "tuple[typer.Typer, tuple[tuple[str, str], ...]]":
    """`mesos-fake-master` and its examples (words, meaning), for the pages that describe it."""
    from fake_master.__main__ import EXAMPLES, app

    return app, EXAMPLES


def example_cluster() -> str:
    """A cluster file with every key, for the pages that describe it."""
    from pathlib import Path

    return (Path(__file__).parent / "sources" / "example_cluster.toml").read_text(encoding="utf-8")


def example_tasks() -> str:
    """The csv file of tasks that `example_cluster` names, for the pages that describe it."""
    from pathlib import Path

    return (Path(__file__).parent / "sources" / "example_tasks.csv").read_text(encoding="utf-8")
