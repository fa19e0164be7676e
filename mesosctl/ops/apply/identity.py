"""Which master a plan is for: told from what it says of itself, so that no way to write its address hides it."""

import re

from mesosctl.client.master import Master
from mesosctl.core.errors import MesosctlError

_LOOPBACK = re.compile(r"(^|//|@)(localhost|127(\.\d+){3}|\[::1\])(?=[:/,]|$)", re.IGNORECASE)
_ZOOKEEPER = re.compile(r"zk://(?:[^/]*@)?(?P<servers>[^/@]+)(?P<path>/.*)")


def identity(master: Master, address: str) -> str:
    """A text that is the same for each way to the same masters, and holds no credentials.

    Masters that elect a leader are told by where they do so, which outlives whoever leads; one that stands alone by
    the host and port at which it says it listens, which outlive a restart; a `fake:` one by its own id, as all of
    them listen nowhere.  Of one that tells nothing of this, `address` has to do.
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
        # Said by a machine that does not know its own name; heard from afar it tells nothing.
        return f"{pid} of {_plain(address)}" if _on_loopback(pid) and not _on_loopback(address) else pid
    except (MesosctlError, LookupError, TypeError, AttributeError):
        return _plain(address)


def _on_loopback(place: str) -> bool:
    return _LOOPBACK.search(place) is not None


def _flags(master: Master) -> dict[str, str]:
    """What it was started with; nothing where it does not show that to this principal."""
    try:
        return dict(master.get("/flags")["flags"])
    except (MesosctlError, LookupError, TypeError, ValueError):
        return {}


def _plain(address: str) -> str:
    """An address as it is written, but for what is secret or means nothing in it."""
    parts = (part.strip().rpartition("@")[2].rstrip("/").lower() for part in address.split(","))
    return ",".join(sorted(parts))
