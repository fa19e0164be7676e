"""A real ZooKeeper server from the installed jar, on loopback, with a folder of its own.

Debian's package `zookeeper` puts it into /usr/share/java; ZOOKEEPER_CLASSPATH names it elsewhere.
"""

import json
import os
import subprocess
import time
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

from mesosctl.client.address import parse_address
from tests.helpers.tools import ZOOKEEPER_JAR

_SECONDS_TO_START = 120


class ZooKeeperServer:
    """One server: alone, or one of a quorum, whose `peers` are the lines of its configuration."""

    def __init__(self, folder: Path, port: int, number: int = 1, peers: tuple[str, ...] = ()) -> None:
        self.host = f"127.0.0.1:{port}"
        self._folder = folder
        (folder / "data").mkdir(parents=True, exist_ok=True)
        (folder / "data" / "myid").write_text(str(number))
        (folder / "zoo.cfg").write_text(
            "\n".join(
                [
                    f"dataDir={folder / 'data'}",
                    "clientPortAddress=127.0.0.1",
                    f"clientPort={port}",
                    "tickTime=200",
                    "initLimit=20",
                    "syncLimit=10",
                    "maxClientCnxns=0",
                    "admin.enableServer=false",
                    *peers,
                ]
            )
        )
        self._child: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        classpath = os.environ.get("ZOOKEEPER_CLASSPATH", str(ZOOKEEPER_JAR))
        with (self._folder / "log").open("ab") as log:
            self._child = subprocess.Popen(
                [
                    "java",
                    "-Xmx64m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    classpath,
                    "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                    str(self._folder / "zoo.cfg"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
            )

    def stop(self) -> None:
        """End it by its own pid, as a crash would."""
        if self._child is not None:
            self._child.kill()
            self._child.wait(60)
            self._child = None

    def last_words(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-2000:]


def connect(servers: list[ZooKeeperServer], **options: object) -> KazooClient:
    """A session with them, once they are ready; its caller stops and closes it."""
    end = time.monotonic() + _SECONDS_TO_START
    while True:
        client = KazooClient(hosts=",".join(server.host for server in servers), timeout=2, **options)
        try:
            client.start(timeout=5)
        except KazooTimeoutError:
            assert time.monotonic() < end, f"ZooKeeper is not ready: {servers[0].last_words()}"
        else:
            return client


def leave(client) -> None:
    client.stop()
    client.close()


class Election:
    """Masters of one path, each with a session of its own, as real masters have."""

    def __init__(self, server, path):
        self.server, self.path = server, path
        self.sessions = []
        self.admin = connect([server])
        self.admin.ensure_path(path)

    @property
    def address(self):
        return f"zk://{self.server.host}{self.path}"

    @property
    def where(self):
        return parse_address(self.address).zookeeper

    def register(self, master, **info):
        """A node as Mesos writes it, and the session that keeps it."""
        client = connect([self.server])
        host, port = master.rsplit(":", 1)
        content = {
            "address": {"hostname": host, "ip": "127.0.0.1", "port": int(port)},
            "capabilities": [],
            "hostname": host,
            "id": f"{master}-id",
            "ip": 16777343,
            "pid": f"master@127.0.0.1:{port}",
            "port": int(port),
            "version": "1.11.0",
        } | info
        client.create(f"{self.path}/json.info_", json.dumps(content).encode(), ephemeral=True, sequence=True)
        self.sessions.append(client)
        return client

    def close(self):
        for client in [*self.sessions, self.admin]:
            leave(client)
