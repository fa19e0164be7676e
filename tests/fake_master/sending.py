"""Requests of an operator to a fake master without a carrier, and registries that are the worse for wear."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import ClusterSpec

JSON = {"content-type": "application/json", "accept": "application/json"}
AGENT = "cpus:12;mem:6144;disk:1000"


def send(application: Application, method: str, target: str, body: Any = None) -> Response:
    content = b"" if body is None else json.dumps(body).encode()
    return application.handle(Request(method, target, JSON, content))


def quota(role: str, padding: int = 0) -> dict[str, Any]:
    amount = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}
    return {"role": role + "x" * padding, "guarantee": [amount], "force": True}


def as_json(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


def make(path: Path) -> None:
    with closing(SqliteRegistry(path)) as registry:
        application = Application(ClusterSpec(agents=(AGENT,)).start(registry))
        for number in range(40):
            assert send(application, "POST", "/quota", quota(f"r{number}", padding=300)).status == 200


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database, however long it may become" * 200)
