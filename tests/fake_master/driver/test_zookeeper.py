"""The fake master in ZooKeeper: the real driver and the tool find it there, and its node goes with it."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from fake_master.transports.zookeeper import parse_place
from mesosctl.__main__ import main
from mesosctl.mesos.errors import BadInput
from tests.conformance.masters import fakes
from tests.conformance.masters.processes import Process
from tests.fake_master.driver.hosting import RealDriver
from tests.helpers.needs import needs
from tests.helpers.surroundings import InMemory
from tests.mesosctl.client.leader.zookeeper_server import ZooKeeperServer

AGENT = ("--agent", "cpus:4;mem:1024")


@pytest.fixture(scope="module")
@needs("zookeeper", "socket", "process")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"), port)
    yield started
    started.stop()


def _fake(folder: Path, server: ZooKeeperServer, path: str, *more: str) -> Process:
    command = [*fakes.PROGRAM, "--driver", *AGENT, "--zk", f"zk://{server.host}{path}", *more]
    return Process(command, folder / "fake.log")


def _nodes(server: ZooKeeperServer, path: str) -> list[str]:
    client = KazooClient(hosts=server.host)
    client.start()
    try:
        return [client.get(f"{path}/{name}")[0].decode() for name in sorted(client.get_children(path))]
    finally:
        client.stop()
        client.close()


def test_it_registers_as_a_master_does(server: ZooKeeperServer, tmp_path: Path) -> None:
    process = _fake(tmp_path, server, "/one")
    url = process.first_line()
    (info,) = map(json.loads, _nodes(server, "/one"))
    assert info["pid"] == f"master@{url.removeprefix('http://')}"
    assert (info["address"]["ip"], info["ip"]) == ("127.0.0.1", 16777343)
    environment = InMemory(variables={})
    assert main(["--master", f"zk://{server.host}/one", "quota", "list", "-o", "json"], environment) == 0
    process.stop()
    assert _nodes(server, "/one") == []


def test_where_another_master_leads_it_does_not_start(server: ZooKeeperServer, tmp_path: Path) -> None:
    other = KazooClient(hosts=server.host)
    other.start()
    other.create("/taken/json.info_", b"{}", ephemeral=True, sequence=True, makepath=True)
    process = _fake(tmp_path, server, "/taken")
    assert process.first_line() == ""
    assert "another master is registered" in process.last_words()
    other.stop()
    other.close()
    process.stop()


@pytest.mark.real_master
def test_a_real_driver_finds_it(server: ZooKeeperServer, tmp_path: Path, driver: Callable[[], RealDriver]) -> None:
    process = _fake(tmp_path, server, "/two")
    assert process.first_line()
    one = driver()
    info = {"user": "u", "name": "n", "role": "ads", "failover_timeout": 100.0}
    one.start(f"zk://{server.host}/two", info)
    known, _ = one.next("registered")
    process.stop()
    one.next("disconnected")
    again = _fake(tmp_path, server, "/two")
    assert again.first_line()
    one.next("reregistered")
    assert one.wait(lambda: known["value"] in str(one.heard)), "another framework"
    again.stop()


@pytest.mark.parametrize("text", ["", "zk://", "zk://host:1", "http://host/x", "zk://a@b@host:1/x", "host:1/x"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(BadInput):
        parse_place(text)


def test_addresses() -> None:
    assert parse_place("zk://a:1,b:2/mesos/x/") == ("a:1,b:2", "/mesos/x", None)
    assert parse_place("zk://user:word@a:1/mesos") == ("a:1", "/mesos", "user:word")
