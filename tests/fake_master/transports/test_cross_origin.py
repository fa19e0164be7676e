"""Web pages: a browser sends their requests to a fake master too, and must not let them change or read anything."""

import asyncio
import json
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from fake_master.http.routes import Endpoints
from fake_master.sources.cluster_file import BUILT_IN
from fake_master.transports.cross_origin import check_origins
from mesosctl.mesos.errors import BadInput
from tests.fake_master.transports.raw_clients import ROOMY, post, served

pytestmark = pytest.mark.socket

QUOTA = json.dumps({"role": "web", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}).encode()
FRIEND = "http://localhost:3000"
OWN_HOSTS = (
    "",
    "127.0.0.1",
    "127.0.0.1:PORT",
    "localhost:1",
    "LOCALHOST",
    "localhost.",
    "[::1]:5050",
    "10.1.2.3",
    "ip6-localhost:PORT",
    "localhost.localdomain",
    socket.gethostname(),
    f"{socket.gethostname().upper()}:PORT",
)
OTHER_HOSTS = (
    "evil.example",
    "evil.example:PORT",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "x@localhost:1",
    f"{socket.gethostname()}.evil.example",
)


def request(method: str, path: str, host: str | None, body: bytes = b"", **headers: str) -> bytes:
    lines = {} if host is None else {"Host": host}
    lines |= {"Content-Length": str(len(body))} | {name.replace("_", "-"): value for name, value in headers.items()}
    listed = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{listed}\r\n".encode() + body


def statuses(requests: Sequence[bytes], **more: Any) -> list[int]:
    """The status of each request on a connection of its own; PORT stands for the port."""

    async def play() -> list[int]:
        async with served(ROOMY, has_page=True, **more) as at:
            found = []
            for each in requests:
                client = await (await at.client()).says(each.replace(b"PORT", str(at.port).encode()))
                found.append(await client.status())
            return found

    return asyncio.run(play())


def answers(requests: Sequence[bytes], **more: Any) -> list[bytes]:
    async def play() -> list[bytes]:
        async with served(ROOMY, has_page=True, **more) as at:
            return [
                await (await (await at.client()).says(each.replace(b"PORT", str(at.port).encode()))).answer()
                for each in requests
            ]

    return asyncio.run(play())


def test_on_loopback_only_its_own_hosts_are_answered() -> None:
    asked = [request("GET", "/health", host) for host in (*OWN_HOSTS, *OTHER_HOSTS)]
    assert statuses(asked) == [200] * len(OWN_HOSTS) + [403] * len(OTHER_HOSTS)
    assert statuses([b"GET /health HTTP/1.0\r\n\r\n"]) == [200]


def test_a_name_that_is_rebound_reads_and_changes_nothing_on_any_route() -> None:
    endpoints = Endpoints(BUILT_IN.start(), has_page=True)
    paths = [f"/{route.path}" for route in endpoints.routes] + ["/slave(1)/state", "/nowhere", "/state?jsonp=f"]
    asked = [request(method, path, "evil.example") for path in paths for method in ("GET", "POST", "OPTIONS")]
    assert statuses(asked) == [403] * len(asked)


def test_the_name_that_was_given_is_its_own() -> None:
    asked = [request("GET", "/health", host) for host in ("lab.example:PORT", "LAB.example", "other.example")]
    assert statuses(asked, flags={"hostname": "lab.example"}) == [200, 200, 403]


def test_where_others_get_through_any_host_may_be_named() -> None:
    asked = [request("GET", "/health", "evil.example"), request("POST", "/quota", "evil.example", QUOTA)]
    assert statuses(asked, host="0.0.0.0") == [200, 200]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "http://localhost", "https://127.0.0.1:PORT", "http://127.0.0.1:PORT.x"],
)
def test_a_page_of_somebody_else_changes_nothing(origin: str) -> None:
    endpoints = Endpoints(BUILT_IN.start(), has_page=True)
    changing = [(m, f"/{route.path}") for route in endpoints.routes for m in route.methods if m not in ("GET", "HEAD")]
    asked = [request(method, path, "127.0.0.1:PORT", QUOTA, Origin=origin) for method, path in changing]
    assert statuses(asked) == [403] * len(asked)
    assert statuses(asked, host="0.0.0.0") == [403] * len(asked)


def test_a_name_that_is_rebound_is_not_the_page_of_this_master() -> None:
    asked = [request("POST", "/quota", "evil.example:PORT", QUOTA, Origin="http://evil.example:PORT")]
    assert statuses(asked, host="0.0.0.0") == [403]


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "lab.example:PORT"])
def test_the_page_of_this_master_and_programs_change_what_they_like(host: str) -> None:
    asked = [request("POST", "/quota", host, QUOTA, Origin=f"http://{host}"), request("DELETE", "/quota/web", host)]
    assert statuses(asked, flags={"hostname": "lab.example"}) == [200, 200]


def test_an_allowed_page_changes_and_reads_and_no_other_does() -> None:
    asked = [
        request("OPTIONS", "/api/v1", "localhost", Origin=FRIEND, Access_Control_Request_Method="POST"),
        request("POST", "/quota", "localhost", QUOTA, Origin=FRIEND),
        request("GET", "/quota", "localhost", Origin=FRIEND),
        request("GET", "/quota", "localhost", Origin="http://evil.example"),
        request("OPTIONS", "/quota", "localhost", Origin="http://evil.example", Access_Control_Request_Method="POST"),
    ]
    told = answers(asked, allowed_origins=[FRIEND])
    assert [int(answer.split()[1]) for answer in told] == [204, 200, 200, 200, 405]
    named = [f"Access-Control-Allow-Origin: {FRIEND}".encode() in answer for answer in told]
    assert named == [True, True, True, False, False]
    assert b"Access-Control-Allow-Headers: Accept, Authorization, Content-Type, Mesos-Stream-Id" in told[0]
    assert b"x-page-token" not in told[0].lower()  # so that it cannot change the clock


@pytest.mark.parametrize(
    "origin", ["*", "localhost", "http://", "http://a/", "ftp://a", "http://a/b", "null", "http://a?b"]
)
def test_what_is_no_origin_cannot_be_allowed(origin: str) -> None:
    with pytest.raises(BadInput, match="is not the origin of a web page"):
        check_origins([origin])


def test_the_usual_clients_send_what_passes() -> None:
    asked = [post(QUOTA), post(QUOTA, "/quota", Host="127.0.0.1:PORT", User_Agent="curl/8")]
    assert statuses(asked)[0] == 200
