"""The identity of a cluster, by which the audit file and the journal of apply know it again."""

import re

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import MesosctlError

_LOOPBACK = re.compile(r"(^|//|@)(localhost|127(\.\d+){3}|\[::1\])(?=[:/,]|$)", re.IGNORECASE)


_ZOOKEEPER = re.compile(r"zk://(?:[^/]*@)?(?P<servers>[^/@]+)(?P<path>/.*)")


def identity(master: LeadingMaster, address: str) -> str:
    """A text that identifies the masters, whatever their address, and contains no credentials.

    Masters that elect a leader are identified by their ZooKeeper path, which outlives a leader; a single one by the
    host and port that it reports, which outlive a restart; a `fake:` one by its own id, because it has no port.
    Otherwise `address` is used.
    """
    try:
        info = master.ask("GET_MASTER")["get_master"]["master_info"]
        if address.startswith("fake:"):
            return f"fake:{info['id']}"
        elected = _ZOOKEEPER.fullmatch(_flags(master).get("zk", ""))
        if elected is not None:
            servers = sorted(server.strip().lower() for server in elected["servers"].split(","))
            return f"zk://{','.join(servers)}{elected['path'].rstrip('/')}"
        pid = str(info["pid"])
        # A machine that does not know its own name reports this; elsewhere it identifies nothing.
        return f"{pid} of {_plain(address)}" if _on_loopback(pid) and not _on_loopback(address) else pid
    except (MesosctlError, LookupError, TypeError, AttributeError):
        return _plain(address)


def _on_loopback(place: str) -> bool:
    return _LOOPBACK.search(place) is not None


def _flags(master: LeadingMaster) -> dict[str, str]:
    """Return the master's flags; none if this principal may not see them."""
    try:
        return dict(master.get("/flags")["flags"])
    except (MesosctlError, LookupError, TypeError, ValueError):
        return {}


def _plain(address: str) -> str:
    """An address without its secrets and insignificant parts."""
    parts = (part.strip().rpartition("@")[2].rstrip("/").lower() for part in address.split(","))
    return ",".join(sorted(parts))
