"""Numbers that JSON lacks: how each release shows them, and what it makes of a refusal of offers that lasts so long."""

import json
import math

import httpx
import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier, Pool, each_of
from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.codec import PROTOBUF, in_protobuf
from tests.conformance.masters.judges import JUDGES

SETUP = quick("cpus:4;mem:2048;disk:100")
SHOWN = tuple(release for release in JUDGES if not has(release, "1.7.3") or has(release, "1.10.0"))
"""A real master of those between ends when it shows one."""


def raw(master: Cluster, path: str, call: str | None = None) -> bytes:
    """The bytes of an answer, as they were sent."""
    content = None if call is None else json.dumps({"type": call})
    headers = {} if call is None else {"Content-Type": "application/json", "Accept": "application/json"}
    return master.request("GET" if call is None else "POST", path, content=content, headers=headers).content


def set_weight(master: Cluster, weight: float) -> None:
    infos = {"weight_infos": [{"role": "r", "weight": weight}]}
    content = in_protobuf("mesos.v1.master.Call", {"type": "UPDATE_WEIGHTS", "update_weights": infos})
    headers = httpx.Headers({"Content-Type": "application/x-protobuf", "Accept": "application/json"})
    assert master.request("POST", "/api/v1", content=content, headers=headers).status == 200


@pytest.mark.parametrize("carrier", each_of(*SHOWN), ids=str)
@pytest.mark.parametrize(
    ("weight", "short", "long"), [(math.inf, b"inf", b'"Infinity"'), (math.nan, b"nan", b"NaN")], ids=str
)
def test_weights_that_json_lacks(pool: Pool, carrier: Carrier, weight: float, short: bytes, long: bytes) -> None:
    master = pool.start(carrier, SETUP)
    set_weight(master, weight)
    wanted = b'"weight":' + (long if has(carrier.profile.release, "1.10.0") else short)
    for path, call in (("/weights", None), ("/roles", None), ("/api/v1", "GET_WEIGHTS")):
        assert wanted in raw(master, path, call)
    master.stop()


@pytest.mark.parametrize("carrier", each_of(*JUDGES), ids=str)
@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf, 1e300], ids=str)
def test_refusals_that_last_no_time_that_there_is(pool: Pool, carrier: Carrier, seconds: float) -> None:
    """Five seconds in 1.4; later, infinity is a year, and NaN is over at once."""
    master = pool.lend(carrier, SETUP)
    framework = Framework(master, "ads").subscribe()
    offers = framework.offers()
    master.speak(PROTOBUF)
    framework.decline(offers, seconds)
    if has(carrier.profile.release, "1.5.3") and math.isnan(seconds):
        framework.offers()
    else:
        framework.none_of("OFFERS")
    framework.leave()
