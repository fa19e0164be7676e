"""The leading master, from its registration in ZooKeeper.

Each master that is up keeps one ephemeral node `json.info_NNNNNNNNNN` under the path of the address: its MasterInfo in
JSON.  The lowest number leads.  The nodes are read in a separate session that ends at once, so that no session can be
lost between two readings, and every answer is fresh.
"""

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from typing import TYPE_CHECKING, Any

from mesosctl.client.address import ZooKeeper, bracketed, is_host
from mesosctl.mesos.errors import Forbidden, MesosctlError, NoLeader, NoZooKeeper, UnexpectedAnswer, printable

if TYPE_CHECKING:
    from kazoo.client import KazooClient

PREFIX = "json.info_"
OLD_PREFIX = "info_"
"""The nodes of masters before 0.24, which registered in a binary format."""
TIMEOUT = 10.0
"""Seconds for an answer of ZooKeeper, at most: it takes two or three to elect its own leader."""
_MOST_NODES = 1000
"""Below the path of the masters, of which there are a few."""
_LONGEST_SHOWN = 40
_PAUSE = 0.1
_FRUITLESS_PAUSES = 30
"""Tenths of a second after which the client gives up if every server refuses."""


@dataclass(frozen=True, slots=True)
class RegisteredMaster:
    """A master that registered: its number, and its addresses as "host:port", the best first."""

    number: int
    hosts: tuple[str, ...]


def read_masters(where: ZooKeeper, seconds: float) -> list[RegisteredMaster]:
    """Every registered master, the leader first; takes at most `seconds`.

    Raises NoZooKeeper if no server answers, NoLeader if none is registered, Forbidden if
    the nodes may not be read, and UnexpectedAnswer if they hold something else.
    """
    end = time.monotonic() + seconds
    with _session(where, seconds) as client:
        nodes = _read_nodes(client, where, seconds, end)
    found = [_registered(where, name, data) for name, data in nodes.items() if name.startswith(PREFIX)]
    if not found:
        raise NoLeader(
            f"no master is registered at {where}"
            + (", or only ones from before Mesos 0.24" if nodes else ": no leader is elected"),
            hint="name the masters: http://host1:5050,http://host2:5050" if nodes else "try again when one is elected",
        )
    return sorted(found, key=lambda master: master.number)


@contextmanager
def _session(where: ZooKeeper, seconds: float) -> Iterator["KazooClient"]:
    """A client that is connected.  Raises NoZooKeeper."""
    from kazoo.client import KazooClient
    from kazoo.retry import KazooRetry

    from mesosctl.client.zookeeper_handler import Handler

    refusals = _Refusals()
    handler = Handler(refusals.pause)
    client = KazooClient(
        hosts=",".join(where.servers),
        # For one server: a silent server must leave time for the others.
        timeout=max(0.5, seconds / (len(where.servers) + 1)),
        auth_data=[("digest", where.digest)] if where.digest is not None else None,
        connection_retry=KazooRetry(max_tries=-1, delay=_PAUSE, max_delay=0.5, sleep_func=refusals.pause),
        handler=handler,
        logger=_silent_logger(),
    )
    end = time.monotonic() + seconds
    try:
        connected = client.start_async()
        while not connected.wait(0.05):
            if handler.is_flooded:
                raise _no_protocol(where)
            if refusals.enough or time.monotonic() > end:
                raise _no_zookeeper(where, "accepts a session", seconds - (end - time.monotonic()))
        yield client
    finally:
        # kazoo takes long to close a connection to a silent server; there is no time for that.
        leaving = threading.Thread(target=_leave, args=(client,), daemon=True)
        leaving.start()
        leaving.join(1.0 if client.connected else 0.1)


def _leave(client: "KazooClient") -> None:
    client.stop()
    client.close()


class _Refusals:
    """Counts kazoo's pauses of a tenth of a second, each after no server accepted a session."""

    def __init__(self) -> None:
        self._pauses = 0

    @property
    def enough(self) -> bool:
        return self._pauses >= _FRUITLESS_PAUSES

    def pause(self, seconds: float) -> None:
        self._pauses += 1
        time.sleep(seconds)


def _silent_logger() -> logging.Logger:
    """Silence kazoo's log, which contains the secret; our errors have the facts."""
    logger = logging.getLogger("mesosctl.client.zookeeper")
    logger.disabled = True
    return logger


def _read_nodes(client: "KazooClient", where: ZooKeeper, seconds: float, end: float) -> dict[str, bytes]:
    """Name and data of each node of a master. A broken connection is opened again, until `end`."""
    from kazoo.exceptions import (
        AuthFailedError,
        ConnectionClosedError,
        ConnectionLoss,
        KazooException,
        NoAuthError,
        NoNodeError,
        OperationTimeoutError,
        SessionExpiredError,
    )

    while time.monotonic() < end:
        try:
            return _read_once(client, where.path, end)
        except ConnectionClosedError:
            break
        except (ConnectionLoss, OperationTimeoutError, SessionExpiredError):
            if client.handler.is_flooded:
                raise _no_protocol(where) from None
            time.sleep(_PAUSE)
        except client.handler.timeout_exception:
            break
        except NoNodeError:
            raise NoLeader(
                f"ZooKeeper has no {where.path}: no master has ever registered at {where}",
                hint="check the path against the --zk of the masters",
            ) from None
        except (NoAuthError, AuthFailedError):
            raise Forbidden(
                f"ZooKeeper denies access to {where}" + ("" if where.digest is None else " with this secret"),
                hint="give credentials that may read it, as zk://USER:SECRET@host/path in MESOSCTL_MASTER or in a file: file:///path",
            ) from None
        except KazooException as error:
            raise NoZooKeeper(f"ZooKeeper failed on {where}: {printable(type(error).__name__)}") from None
        except MesosctlError:
            raise
        except Exception:  # noqa: BLE001  # what kazoo stumbles over in bytes that are no answer: struct.error and others
            raise _no_protocol(where) from None
    raise _no_zookeeper(where, "answers", seconds)


def _read_once(client: "KazooClient", path: str, end: float) -> dict[str, bytes]:
    from kazoo.exceptions import NoNodeError

    def left() -> float:
        return max(0.0, end - time.monotonic())

    names: list[str] = client.get_children_async(path).get(timeout=left())
    nodes: dict[str, bytes] = {}
    if len(names) > _MOST_NODES:
        raise UnexpectedAnswer(
            f"there are {len(names)} nodes below {path}, more than {_MOST_NODES}",
            hint="check the path against the --zk of the masters",
        )
    for name in names:
        if name.startswith((PREFIX, OLD_PREFIX)):
            try:
                nodes[name], _ = client.get_async(f"{path}/{name}").get(timeout=left())
            except NoNodeError:
                if not client.exists_async(path).get(timeout=left()):
                    raise
                # This master's session ended in between.
    return nodes


def _no_protocol(where: ZooKeeper) -> UnexpectedAnswer:
    return UnexpectedAnswer(
        f"a server of {where} does not answer as ZooKeeper does",
        hint="check the address: it may be a server of something else",
    )


def _no_zookeeper(where: ZooKeeper, what: str, seconds: float) -> NoZooKeeper:
    return NoZooKeeper(
        f"ZooKeeper cannot be asked for the leader: no server of {where} {what} ({seconds:.1f} s)",
        hint="check that a quorum of its servers is running, or name the masters: http://host1:5050,http://host2:5050",
    )


def _registered(where: ZooKeeper, name: str, data: bytes) -> RegisteredMaster:
    """A master by its node.  Raises UnexpectedAnswer."""
    try:
        info = json.loads(data)
        hosts = tuple(dict.fromkeys(_hosts(info)))
        number = int(name.removeprefix(PREFIX))
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError):
        hosts, number = (), 0
    if not hosts:
        raise UnexpectedAnswer(
            f"{printable(name[:_LONGEST_SHOWN])} at {where} does not describe a master",
            hint="check the path against the --zk of the masters",
        )
    return RegisteredMaster(number, hosts)


def _hosts(info: Any) -> Iterator[str]:
    """The addresses in a MasterInfo: the name that it advertises, then its IP.

    Its redirects and its certificate use the name.
    """
    address = info.get("address") or {}
    port = int(address.get("port") or info["port"])
    if not 0 < port < 1 << 16:
        raise ValueError(f"{port} is not a port")
    for host in (address.get("hostname"), info.get("hostname"), address.get("ip")):
        if host:
            yield f"{_checked(str(host))}:{port}"
    if isinstance(info.get("ip"), int):
        # In network byte order, read as a number on a machine of the other order.
        yield f"{IPv4Address(info['ip'].to_bytes(4, 'little'))}:{port}"


def _checked(host: str) -> str:
    """A host as it is in addresses.  Raises ValueError if it is none: a URL of it could lead elsewhere."""
    if ":" in host:
        return bracketed(str(ip_address(host)))
    if not is_host(host) or any(mark in host for mark in "@/?#[]\\%"):
        raise ValueError("it is not a host")
    return host
