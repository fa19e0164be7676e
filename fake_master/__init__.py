"""A Mesos master without a cluster: the same requests, the same answers, the same decisions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


def open_transport(address: str) -> "httpx.BaseTransport":
    """The transport behind a `fake:` address, for an httpx client; the one door from mesosctl.

    Raises BadInput where the address, the cluster file or the kept state cannot be used.
    """
    # Late: the command line comes through here, and most of its commands go elsewhere.
    from fake_master.carriers.address import open_address
    from fake_master.carriers.in_process import InProcessTransport

    return InProcessTransport(open_address(address))
