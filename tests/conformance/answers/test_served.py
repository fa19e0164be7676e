"""Everything that a real master serves is served by the fake one, or listed as not served."""

import re

import pytest

from fake_master.http.routes import NOT_SERVED, Endpoints
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.flags import MasterFlags
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.conformance.masters.carriers import REAL, Carrier
from tests.conformance.masters.cluster import Cluster

LISTED = re.findall("`([^`]+)`", " ".join(NOT_SERVED))
PATHS = [name for name in LISTED if name.startswith("/") and not name.endswith("…")]
LETHAL = "/slave(N)/containerizer/debug"
"""It ends a process in which both master and agents are."""
LATER = {"/allocator/offer_constraints_debug": "1.11.0"}
"""The first releases of those that not all have."""
FLAGS = [name for key in NOT_SERVED if key.startswith("flag") for name in re.findall("`([^`]+)`", key)]


@pytest.fixture
def agent(master: Cluster) -> str:
    """The agent's own name in its address, such as `slave(1)`."""
    pid: str = master.agents()[0]["pid"]
    return pid.partition("@")[0]


def endpoints_of(master: Cluster) -> set[str]:
    """The paths that a real master has."""
    return {
        re.sub(r"slave\(\d+\)", "slave(N)", f"/{process['id']}{endpoint['name']}".rstrip("/"))
        for process in master.read("/help?format=json")["processes"]
        for endpoint in process["endpoints"]
    }


def test_each_endpoint_of_a_master_is_served_or_listed(master: Cluster, carrier: Carrier, agent: str) -> None:
    endpoints = Endpoints(ClusterSpec(mesos_version=carrier.version).start())
    served = {f"/{route.path}" for route in endpoints.routes} | {f"/{of.path}" for of in endpoints.of_agents.routes}
    if carrier is not REAL:
        for path in ("/version", "/metrics/snapshot", "/state"):
            assert path in served
            assert master.request("GET", path).status == 200
        return
    found = endpoints_of(master)
    known = served | {f"/master{path}" for path in served} | {f"/slave(N){path}" for path in served} | {*PATHS}
    if carrier.profile.has_json_paths:
        known |= {f"{path}.json" for path in PATHS}
    assert found - known == set()
    assert "/master/quota" in found


@pytest.mark.parametrize("path", PATHS)
def test_what_is_listed_as_not_served(master: Cluster, carrier: Carrier, agent: str, path: str) -> None:
    if carrier is REAL and path == LETHAL:
        return
    answer = master.request("GET", path.replace("slave(N)", agent))
    is_there = carrier is REAL and has(carrier.profile.release, LATER.get(path, RELEASES[0]))
    assert (answer.status == 404) is not is_there, answer


@pytest.mark.parametrize(
    ("call", "body", "status"),
    [
        ("LIST_FILES", {"list_files": {"path": "/x"}}, 404),
        ("LIST_FILES", {"list_files": {"path": ""}}, 404),
        ("LIST_FILES", {}, 400),
        ("READ_FILE", {"read_file": {"path": "/x", "offset": 0}}, 404),
        ("READ_FILE", {"read_file": {"path": "/x"}}, 400),
        ("READ_FILE", {}, 400),
    ],
)
def test_files_that_are_not_there(master: Cluster, call: str, body: dict[str, object], status: int) -> None:
    assert master.call(call, **body).status == status


def test_metrics_of_the_registrar_are_listed(master: Cluster, carrier: Carrier) -> None:
    assert any("`registrar/…`" in key for key in NOT_SERVED)
    has_them = any(name.startswith("registrar/") for name in master.read("/metrics/snapshot"))
    assert has_them is (carrier is REAL)


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_that_is_listed_as_not_served_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=f"--{name} is not a flag of this master"):
        MasterFlags.parse({name: "1"})
