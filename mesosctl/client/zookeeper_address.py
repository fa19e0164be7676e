"""Where masters register: `zk://host1:2181,host2:2181/mesos`."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mesosctl.client.address import bracketed, is_host
from mesosctl.core.errors import UsageError

ZOOKEEPER_PORT = 2181
_ZOOKEEPER_HINT = "write zk://host1:2181,host2:2181/mesos, or zk://USER:SECRET@host1,host2/mesos"


@dataclass(frozen=True, slots=True)
class ZooKeeper:
    """Where masters register: servers as "host:port", the node above theirs, and "user:secret" or nothing.

    The secret is never part of the text of this value.  `tls` says that masters found there are
    spoken to by https, which ZooKeeper does not tell.
    """

    servers: tuple[str, ...]
    path: str
    digest: str | None = field(default=None, repr=False)
    tls: bool = False

    def __str__(self) -> str:
        return f"zk://{','.join(self.servers)}{self.path}"


def parse_zookeeper(text: str, *, tls: bool) -> ZooKeeper:
    """`[user:secret@]host[:port],…/path`, split as Mesos splits it: nothing is percent-decoded.

    The text may hold a secret, so no error repeats it.
    """
    before, slash, path = text.partition("/")
    digest, at, servers = before.rpartition("@")
    path = (slash + path).rstrip("/")
    if "@" in path:
        raise UsageError(
            "a secret in a zk:// address cannot contain a slash, nor its path an @",
            field="--master",
            hint=_ZOOKEEPER_HINT,
        )
    if at and not all(digest.partition(":")):
        raise UsageError("before the @ of a zk:// address belongs USER:SECRET", field="--master", hint=_ZOOKEEPER_HINT)
    if not path or "//" in path or not path.isprintable():
        raise UsageError(
            "a zk:// address ends with the path under which masters register, such as /mesos",
            field="--master",
            hint=_ZOOKEEPER_HINT,
        )
    named = tuple(_parse_server(server.strip()) for server in servers.split(","))
    return ZooKeeper(named, path, digest if at else None, tls)


def _parse_server(text: str) -> str:
    try:
        url = urlsplit(f"zk://{text}")
        port = ZOOKEEPER_PORT if url.port is None else url.port
    except ValueError:
        url, port = urlsplit(""), 0
    if url.netloc != text or not port or not is_host(url.hostname or ""):
        raise UsageError(f"'{text}' is not a ZooKeeper server", field="--master", hint=_ZOOKEEPER_HINT)
    return f"{bracketed(url.hostname or '')}:{port}"
