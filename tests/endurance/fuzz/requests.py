# ruff: noqa: E501  # lists of odd texts, several to a line
"""Requests to every route: made from the routes and from the messages that each endpoint declares."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

from fake_master.http.operator_api import CALL as OPERATOR_CALL
from fake_master.http.routes import Endpoints
from fake_master.http.scheduler_api import CALL as SCHEDULER_CALL
from fake_master.sources.cluster_file import BUILT_IN
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from tests.conformance.masters.codec import in_protobuf
from tests.endurance.fuzz.json_texts import ODD_TEXTS, odd_texts, odd_values, write
from tests.endurance.fuzz.messages import json_of, kinds_of, part_of, texts

TYPE = "application/json"
ENDPOINTS = Endpoints(BUILT_IN.start(), has_page=True)


@dataclass(frozen=True)
class Sent:
    """One request; "@" words in target, headers and body stand for ids that the master knows."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    in_protobuf: Callable[[bytes], bytes] | None = None
    """Makes protobuf of the body, once the "@" words are replaced."""

    @property
    def event(self) -> str:
        """The full name of an event's message, on a stream that is the answer."""
        return "mesos.v1.scheduler.Event" if "scheduler" in self.target else "mesos.v1.master.Event"


_RESOURCES = mesos_message("mesos.v1.master.Call.ReserveResources")
_MACHINES = mesos_message("mesos.v1.master.Call.StartMaintenance")
_WEIGHTS = mesos_message("mesos.v1.master.Call.UpdateWeights")
# What each endpoint with a body of its own reads: a message, an array, or a form with a JSON field.
_OBJECTS = {
    "quota": mesos_message("mesos.v1.quota.QuotaRequest"),
    "maintenance/schedule": mesos_message("mesos.v1.maintenance.Schedule"),
}
_ARRAYS = {
    "weights": (_WEIGHTS, "weight_infos"),
    "machine/down": (_MACHINES, "machines"),
    "machine/up": (_MACHINES, "machines"),
}
_FORMS = {
    "reserve": ("slaveId", "resources"),
    "unreserve": ("slaveId", "resources"),
    "create-volumes": ("slaveId", "volumes"),
    "destroy-volumes": ("slaveId", "volumes"),
    "teardown": ("frameworkId", ""),
}
_METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "BREW", "get"]
_QUERIES = [
    "",
    "?",
    "?jsonp=f",
    "?jsonp=%00%0d%0a",
    "?slave_id=@A1",
    "?framework_id=@F1",
    "?task_id=t1",
    "?limit=5&offset=1",
    "?order=asc",
]
_PIECES = ["/", "//", "/.", "/..", "/%2e%2e", "/%00", "/%", "/%zz", "/*", "/web", "/%C3%28", "/ä", "/" + "x" * 3000, ";a=b", "?", "#x", "?x=" + "y" * 3000]  # fmt: skip

odd_headers = st.dictionaries(
    st.sampled_from(["content-type", "accept", "authorization", "mesos-stream-id", "accept-encoding", "x-y"]),
    st.sampled_from(
        [TYPE, "application/json; charset=utf-8", "text/plain", "application/x-protobuf", "", "*/*", "application/*;q=0", ",;=", "Basic", "Basic %%%",
         "Basic " + "QQ==" * 500, "Bearer x", "@S1", "gzip;q=0", "x" * 2000, "\xff\xfe", "multipart/form-data", "application/x-www-form-urlencoded"]
    ),
    max_size=3,
)  # fmt: skip
# Numbers that steer a list: `limit`, `offset` and the like.
_odd_query = st.tuples(
    st.sampled_from(["limit", "offset", "order", "slave_id", "framework_id", "task_id", "jsonp", "timeout"]),
    st.sampled_from(["-1", "1e3", "9" * 40, "NaN", "", "0", "%ff", "5secs", "1e400secs", "-5secs"])
    | odd_texts.map(lambda text: quote(text, safe="", errors="replace")),
).map(lambda pair: f"?{pair[0]}={pair[1]}")


@st.composite
def targets(draw: st.DrawFn, path: str) -> str:
    """The path, above all as it is; sometimes with something before, behind or inside."""
    shape = draw(st.integers(0, 9))
    if shape == 0:
        path = "master/" + path
    if shape == 1:
        path += draw(st.sampled_from(_PIECES))
    if shape == 2:
        path = draw(st.sampled_from(_PIECES)).lstrip("?#") + path
    if shape == 3:
        path = path[:1] and f"%{ord(path[0]):02x}" + path[1:]
    return "/" + path + draw(st.sampled_from(_QUERIES) | _odd_query if shape in (4, 5) else st.just(""))


@st.composite
def forms(draw: st.DrawFn, name: str) -> bytes:
    """A form-encoded body."""
    who, what = _FORMS[name]
    pairs = [(who, draw(texts("agent_id" if who == "slaveId" else "framework_id")).encode(errors="surrogatepass"))]
    if what:
        pairs.append((what, write(draw(part_of(_RESOURCES, "resources")))))
    if name == "reserve" and draw(st.booleans()):
        pairs.append(("source", write(draw(part_of(_RESOURCES, "resources")))))
    if draw(st.integers(0, 40)) == 20:
        pairs.append(
            (draw(st.sampled_from([who, what, "x"])), draw(st.sampled_from(ODD_TEXTS)).encode(errors="surrogatepass"))
        )
    joint = draw(st.sampled_from([b"&", b"&", b"&", b";", b"&&", b"\n"]))
    return joint.join(key.encode() + b"=" + quote(value, safe="@").encode() for key, value in pairs)


def _bodies(path: str) -> st.SearchStrategy[bytes]:
    if path in _OBJECTS:
        return json_of(_OBJECTS[path]).map(write)
    if path in _ARRAYS:
        return part_of(*_ARRAYS[path]).map(write)
    if path in _FORMS:
        return forms(path)
    if path == "api/v1":
        return st.sampled_from(sorted(CALLS)).flatmap(lambda kind: json_of(OPERATOR_CALL, kind=kind)).map(write)
    if path == "api/v1/scheduler":
        return (
            st.sampled_from(kinds_of(SCHEDULER_CALL))
            .flatmap(lambda kind: json_of(SCHEDULER_CALL, kind=kind))
            .map(write)
        )
    return st.just(b"")


CALLS = OPERATOR_CALL.types
_odd_bodies = st.one_of(
    odd_values.map(write),
    st.binary(max_size=40),
    st.sampled_from([b"", b"\xff\xfe{", b"\0" * 100, b"a=b&c", b"[" * 50_000]),
)


@st.composite
def requests_to(draw: st.DrawFn, route: Any) -> Sent:
    """One request to this route."""
    usual = "POST" if route.path.startswith("api/") else draw(st.sampled_from(sorted(route.methods) or ["GET"]))
    odd = draw(st.integers(-20, 40))
    method = draw(st.sampled_from(_METHODS)) if odd == 0 else usual
    has_body = method in ("POST", "PUT")
    body = draw(_odd_bodies) if odd == 1 else draw(_bodies(route.path)) if has_body else b""
    headers = {"content-type": TYPE, "accept": TYPE} if route.path.startswith("api/") else {}
    if route.path == "api/v1/scheduler" and b"SUBSCRIBE" not in body[:4000]:
        headers["mesos-stream-id"] = "@S1"
    if odd == 2:
        headers |= draw(odd_headers)
    if draw(st.integers(0, 60)) == 30 and body:
        at = draw(st.integers(0, len(body)))
        body = (
            body[:at]
            + draw(st.sampled_from([b"", b"\xff", b"\0", b"}", b'"', b",", b"9" * 400, b"\xed\xa0\x80"]))
            + body[at + draw(st.integers(0, 3)) :]
        )
    target = draw(targets(route.path)) if odd in (3, 4, 5) or not has_body else "/" + route.path
    if method == "DELETE" and route.path == "quota":
        target = "/quota/" + draw(texts("role").map(lambda text: quote(text, safe="/*@", errors="replace")))
    return Sent(method, target, headers, body)


# Every route equally often would ask for the same few lists all the time.
_WEIGHTED = [
    route
    for route in ENDPOINTS.routes
    for _ in range(8 if route.path.startswith("api/") else 2 if route.methods else 1)
]
_ODD_TARGETS = [
    *_PIECES,
    "*",
    "",
    "http://x/quota",
    "/slave(99999999999999999999)/state",
    "/slave%281%29/state",
    "/slave(\u0661)/state",
]
_off_the_routes = st.builds(Sent, st.sampled_from(_METHODS), st.sampled_from(_ODD_TARGETS))
any_request = st.sampled_from(_WEIGHTED).flatmap(requests_to)
any_target = any_request | _off_the_routes


# --- In protobuf --------------------------------------------------------------------------------------

_HURTS = [
    b"",
    b"\x00",
    b"\xff",
    b"\x7f",
    b"\x08",
    b"\x0b",
    b"\x0c",
    b"\x80" * 11,
    b"\xff" * 9 + b"\x01",
    b"\x0a\xff\xff\xff\xff\x0f",
]
_NO_AMOUNTS = [
    b"\x00\x00\x00\x00\x00\x00\xf8\x7f",
    b"\x00\x00\x00\x00\x00\x00\xf0\x7f",
    b"\x00\x00\x00\x00\x00\x00\xf0\xff",
]
"""Not a number, and infinity on both sides."""


@dataclass(frozen=True)
class InProtobuf:
    """Makes protobuf of a call in JSON, and does to it what a broken or hostile client would."""

    name: str
    keep: float
    """The part of the bytes that is sent."""
    at: float
    """Where they are hurt, as a part of them."""
    hurt: bytes | None
    amount: bytes | None
    """Instead of the first double that stands there."""

    def __call__(self, body: bytes) -> bytes:
        try:
            document = json.loads(body.decode(errors="surrogateescape"))
        except (ValueError, RecursionError):
            return body
        packed = in_protobuf(self.name, document) if isinstance(document, dict) else body
        if self.amount is not None and (place := packed.find(b"\x09\x09")) >= 0:
            packed = packed[: place + 2] + self.amount + packed[place + 10 :]
        packed = packed[: max(0, round(len(packed) * self.keep))]
        if self.hurt is not None:
            place = round(len(packed) * self.at)
            packed = packed[:place] + self.hurt + packed[place + 1 :]
        return packed


def _in_protobuf(path: str) -> st.SearchStrategy[InProtobuf]:
    name = "mesos.v1.scheduler.Call" if path.endswith("scheduler") else "mesos.v1.master.Call"
    mostly = st.sampled_from([None] * 4)
    part = st.floats(0, 1)
    return st.builds(
        InProtobuf,
        st.just(name),
        st.sampled_from([1.0] * 6) | part,
        part,
        mostly | st.sampled_from(_HURTS) | st.binary(min_size=1, max_size=4),
        mostly | st.sampled_from(_NO_AMOUNTS),
    )


@st.composite
def protobuf_requests(draw: st.DrawFn) -> Sent:
    """A call in protobuf, or bytes that are none."""
    route = draw(st.sampled_from([route for route in ENDPOINTS.routes if route.path.startswith("api/")]))
    sent = draw(requests_to(route))
    if draw(st.integers(0, 15)) == 8:
        return replace(
            sent,
            body=draw(st.binary(max_size=80)),
            headers=sent.headers | dict.fromkeys(("content-type", "accept"), "application/x-protobuf"),
        )
    return replace(sent, in_protobuf=draw(_in_protobuf(route.path)))
