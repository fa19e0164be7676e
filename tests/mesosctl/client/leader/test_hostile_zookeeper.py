"""ZooKeeper servers that lie, drip and never end: each is a sentence in time, and takes little memory."""

import itertools
import struct
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from mesosctl.client.address import ZooKeeper
from mesosctl.client.zookeeper import read_masters
from mesosctl.mesos.errors import MesosctlError, NoLeader, NoZooKeeper, UnexpectedAnswer
from tests.mesosctl.client.leader.hostile_zookeeper import HostileZooKeeper, Pieces, children, data

pytestmark = pytest.mark.socket

MIB = 1 << 20
ONE = children([b"json.info_0000000001"])
MASTER = data(b'{"hostname":"h","port":5050}')
NO_ZOOKEEPER = "does not answer as ZooKeeper does"


def endless(length: int) -> Pieces:
    """A frame of this length, and bytes without an end."""
    return lambda: itertools.chain([struct.pack(">i", length)], itertools.repeat(b"x" * 65536))


def dripping() -> Iterator[bytes]:
    never = threading.Event()
    yield struct.pack(">i", 500)
    while True:
        never.wait(0.02)
        yield b"x"


def info(text: str) -> tuple[Any, ...]:
    return ONE, data(text.encode())


HOSTILE: dict[str, tuple[tuple[Any, ...], type[MesosctlError], str]] = {
    "data of 2 GiB": ((ONE, endless(2**31 - 1)), UnexpectedAnswer, NO_ZOOKEEPER),
    "data of 300 MB": ((ONE, endless(300_000_000)), UnexpectedAnswer, NO_ZOOKEEPER),
    "a list of 2 GiB": ((endless(2**31 - 1),), UnexpectedAnswer, NO_ZOOKEEPER),
    "a list of 2^31 nodes that ends": ((struct.pack(">i", 2**31 - 1),), UnexpectedAnswer, NO_ZOOKEEPER),
    "many masters": ((children([b"json.info_%d" % n for n in range(5000)]), MASTER), UnexpectedAnswer, "5000 nodes"),
    "a greeting of 2 GiB": ((b"", b"", endless(2**31 - 1)), UnexpectedAnswer, NO_ZOOKEEPER),
    "a frame below zero": ((lambda: iter([struct.pack(">i", -5)]),), NoZooKeeper, "no server"),
    "a list that drips": ((dripping,), NoZooKeeper, "no server"),
    "a greeting that drips": ((b"", b"", dripping), NoZooKeeper, "no server"),
    "a name that is not UTF-8": ((children([b"json.info_\xff"]), MASTER), UnexpectedAnswer, NO_ZOOKEEPER),
    "a long number": ((children([b"json.info_" + b"9" * 5000]), MASTER), UnexpectedAnswer, "does not describe"),
    "deep JSON": (info("[" * 100_000), UnexpectedAnswer, "does not describe a master"),
    "no host": (info('{"hostname":"a@b/\\u001b[2J","port":5050}'), UnexpectedAnswer, "does not describe a master"),
    "a long host": (info('{"hostname":"' + "h" * 900_000 + '","port":5050}'), UnexpectedAnswer, "does not describe"),
    "no port": (info('{"hostname":"h","port":99999}'), UnexpectedAnswer, "does not describe a master"),
    "no nodes": ((children([]),), NoLeader, "no master is registered"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_server_that_lies(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    answers, error, said = HOSTILE[name]
    server = HostileZooKeeper(*answers)
    tracemalloc.start()
    try:
        with pytest.raises(error, match=said) as caught:
            read_masters(ZooKeeper((f"127.0.0.1:{server.port}",), "/mesos"), 1.0)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        server.stop()
    assert "drips" not in name or server.sent < 400, "50 bytes a second, of which 1 s may pass"
    assert len(caught.value.message) < 300
    assert caught.value.message.isprintable()
    assert most < 64 * MIB
    for thread in threading.enumerate():
        if thread.name.endswith("(zk_loop)"):
            thread.join(60)
    assert capfd.readouterr() == ("", "")  # kazoo's threads print nothing either
