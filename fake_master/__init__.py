"""A Mesos master without a cluster: the same requests, the same answers, the same decisions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from mesosctl.core.sharing import Sharing


def open_transport(address: str) -> "httpx.BaseTransport":
    """The transport behind a `fake:` address, for an httpx client; the one door from mesosctl.

    Raises BadInput where the address, the cluster file or the kept state cannot be used.
    """
    # Late: the command line comes through here, and most of its commands go elsewhere.
    from fake_master.carriers.address import open_address
    from fake_master.carriers.in_process import InProcessTransport

    return InProcessTransport(open_address(address))


def simulate(cluster: "Path", most_steps: int) -> "Sharing":
    """A cluster file played in virtual time, offer by offer; the second door, for `mesosctl offers simulate`.

    Raises BadInput for the file.
    """
    from fake_master.simulation import simulate_file

    return simulate_file(cluster, most_steps)
