# ruff: noqa: E501  # lists of odd texts, several to a line
"""Files that the tool and the fake master read: cluster files, payloads, rate limits, offers, secrets."""

from typing import Any

from hypothesis import strategies as st

from fake_master.http.operator_api import CALL
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from tests import EXAMPLES
from tests.endurance.fuzz.json_texts import odd_values, write
from tests.endurance.fuzz.messages import json_of, part_of

CLUSTER = EXAMPLES / "drf.toml"
_calls = st.sampled_from(["UPDATE_QUOTA", "RESERVE_RESOURCES", "UNRESERVE_RESOURCES"])
_quotas = json_of(mesos_message("mesos.v1.quota.QuotaRequest")) | json_of(CALL, kind="UPDATE_QUOTA")
_reservations = _calls.flatmap(lambda kind: json_of(CALL, kind=kind)) | part_of(
    mesos_message("mesos.v1.Offer"), "resources"
)
_offers = json_of(mesos_message("mesos.v1.Offer")) | json_of(mesos_message("mesos.v1.scheduler.Event.Offers"))
_rate_limits = json_of(mesos_message("mesos.v1.RateLimits"))
payloads = st.one_of(_quotas, _rate_limits, _offers, _reservations, odd_values).map(write)

# --- Cluster files --------------------------------------------------------------------------------
_TEXTS = [
    '"cpus:4;mem:2GiB"',
    '"web"',
    '"agent"',
    '""',
    '"\\u0000"',
    '"\\u001b[2J"',
    '"a/b"',
    '"*"',
    '"cpus:x"',
    '"1.11"',
    '"documents"',
    '"accept"',
    '"' + "x" * 3000 + '"',
]
_OTHERS = [
    "1",
    "0",
    "-1",
    "3",
    "true",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "9" * 400,
    "1979-05-27",
    "[]",
    "{}",
    '["web"]',
    "[1]",
    "[[]]",
    "{a=1}",
    "100001",
    "2000000000000",
    "[" * 3000,
]
_KEYS = {
    "": ["mesos_version"],
    "[[agents]]": ["resources", "hostname", "count", "active", "attributes", "loses", "delay", "leaves_after", "returns_after", "region", "zone", "nope"],
    "[[frameworks]]": ["name", "role", "roles", "principal", "task", "tasks", "per_offer", "answer", "refuse_seconds", "capabilities", "count"],
    "[tasks]": ["outcome", "seconds"],
    "[flags]": ["roles", "weights", "allocation_interval", "rate_limits", "acls", "credentials", "authenticate_http_readwrite", "max_completed_frameworks",
                "allocator_recovery_timeout", "registry", "port", "work_dir", "cluster", "rate_limit_http", "allocator_agent_recovery_factor", "agent_ping_timeout"],
}  # fmt: skip
_RIGHT = {
    "mesos_version": '"1.11"', "resources": '"cpus:4;mem:2GiB"', "task": '"cpus:1;mem:64"', "answer": '"accept"', "role": '"web"', "roles": '["web"]', "outcome": '"finished"',
    "seconds": "1", "count": "2", "allocation_interval": '"1secs"', "weights": '"web=2"', "hostname": '"pool"', "name": '"one"', "active": "true",
}  # fmt: skip


@st.composite
def clusters(draw: st.DrawFn) -> bytes:
    """A cluster file, mostly one that can be read."""
    lines = []
    for header in draw(st.lists(st.sampled_from(list(_KEYS)), min_size=1, max_size=4)):
        lines.append(header)
        keys = set(draw(st.lists(st.sampled_from(_KEYS[header]), max_size=3)))
        if header == "[[agents]]":
            keys.add("resources")
        if header == "[[frameworks]]":
            keys.add("task")
        for key in sorted(keys):
            odd = draw(st.integers(0, 6)) == 3 or key not in _RIGHT
            lines.append(f"{key} = {draw(st.sampled_from(_TEXTS + _OTHERS)) if odd else _RIGHT[key]}")
    return "\n".join(lines).encode()


@st.composite
def _changed(draw: st.DrawFn, original: bytes) -> bytes:
    """A file with something cut out of it or put into it."""
    at, end = sorted((draw(st.integers(0, len(original))), draw(st.integers(0, len(original)))))
    return (
        original[:at]
        + draw(st.sampled_from([b"", b"\0", b"\xff", b"[", b'"', b"\n", b"=", b"\xef\xbb\xbf"]))
        + original[max(at, end - 20) :]
    )


_plain: list[Any] = [
    b"",
    b"\n",
    b"\0",
    b"\xff\xfe",
    b"secret\n",
    b"[",
    b"{",
    b"null",
    b"http://master:5050\n",
    b"x" * 100_000,
    b"[" * 100_000,
    b"a = " + b"[" * 20_000,
    None,
]
any_file = st.one_of(payloads, clusters(), clusters(), _changed(CLUSTER.read_bytes()), st.sampled_from(_plain))
# What a command reads, by the first words of it; for all others any file will do.
_READS = {
    ("quota",): _quotas.map(write),
    ("ratelimit",): _rate_limits.map(write),
    ("reserve",): _reservations.map(write),
    ("unreserve",): _reservations.map(write),
    ("offers", "reserve"): _offers.map(write),
    ("offers", "unreserve"): _offers.map(write),
    ("offers", "simulate"): clusters(),
}


def file_for(path: tuple[str, ...]) -> st.SearchStrategy[bytes | None]:
    """What stands in a file that this command reads: most often the right kind of thing."""
    right = _READS.get(path[1:3], _READS.get(path[1:2], any_file))
    return st.one_of(right, right, right, any_file)
