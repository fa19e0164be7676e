"""A smaller number of the same requests over a socket, byte for byte, where HTTP itself is odd as well."""

import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conformance.masters import fakes
from tests.conformance.masters.cluster import Cluster, Setup
from tests.endurance.fuzz.lab import AGENTS
from tests.endurance.fuzz.requests import Sent, any_target
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.socket, pytest.mark.process]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory):
    folder = Path(tmp_path_factory.mktemp("fuzz"))
    cluster = fakes.start_on_socket("1.11", Setup(agents=AGENTS), folder)
    yield cluster
    cluster.stop()
    assert (folder / "fake.log").read_text() == ""


def spoken(sent: Sent) -> bytes:
    lines = {"host": "localhost", "connection": "close", "content-length": str(len(sent.body)), **sent.headers}
    head = f"{sent.method} {sent.target or '/'} HTTP/1.1\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return head.encode(errors="surrogatepass") + b"\r\n" + sent.body


def status(cluster: Cluster, data: bytes) -> int:
    """Of the answer; 0 where there is none."""
    host, _, port = cluster.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        try:
            connection.sendall(data)
            line = connection.makefile("rb").readline()
        except ConnectionError:
            return 0
    return int(line.split()[1]) if line else 0


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sent=any_target, cut=st.integers(0, 400))
def test_it_answers_and_stays(master: Cluster, sent: Sent, cut: int) -> None:
    data = spoken(sent)
    # Sometimes with a piece missing from the head.
    data = data[:cut] + data[cut + 3 :] if cut < 40 else data
    answered = status(master, data) if b"\r\n\r\n" in data else 0
    assert answered < 500 or answered == 501, (answered, data[:300])
    assert master.request("GET", "/slaves").status == 200
