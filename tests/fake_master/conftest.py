"""A fake master to speak to, without a carrier."""

from collections.abc import Callable

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.sources.cluster_file import ClusterSpec

AGENTS = (
    "cpus:12;mem:6144;disk:1000;ports:[31000-32000]",
    "cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500;ports:[31000-31100]",
)
Send = Callable[..., Response]


@pytest.fixture
def send() -> Send:
    """Requests to a new 1.11 master."""
    application = Application(ClusterSpec(agents=AGENTS, mesos_version="1.11").start())

    def _send(method: str, target: str, body: bytes = b"", **headers: str) -> Response:
        return application.handle(
            Request(method, target, {name.replace("_", "-"): value for name, value in headers.items()}, body)
        )

    return _send
