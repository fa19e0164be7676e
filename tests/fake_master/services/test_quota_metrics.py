"""The metrics of guarantees, as a release shows them."""

import json

import pytest

from tests.conformance.masters.carriers import Pool, in_process_of
from tests.conformance.masters.cluster import Cluster, Setup

SETUP = Setup(agents=("cpus:12;mem:6144",))


@pytest.fixture(params=["1.4.3", "1.8.1", "1.11.0"])
def master(request):
    pool = Pool()
    yield pool.start(in_process_of(request.param), SETUP)
    pool.close()


def guaranteed(master: Cluster, **amounts: float) -> dict[str, float]:
    """The metrics after the role has been given these amounts, or none."""
    if amounts:
        entries = [{"name": name, "type": "SCALAR", "scalar": {"value": value}} for name, value in amounts.items()]
        answer = master.request("POST", "/quota", content=json.dumps({"role": "r", "guarantee": entries}))
    else:
        answer = master.request("DELETE", "/quota/r")
    assert answer.status == 200
    shown = master.read("/metrics/snapshot").items()
    return {name.split("/")[-2]: value for name, value in shown if name.endswith("/guarantee")}


def test_the_first_guarantee_stays_on_1_4_alone(master):
    stays = master.read("/version")["version"] == "1.4.3"
    assert guaranteed(master, cpus=1) == {"cpus": 1.0}
    assert guaranteed(master) == ({"cpus": 1.0} if stays else {})
    assert guaranteed(master, cpus=2, mem=5) == {"cpus": 1.0 if stays else 2.0, "mem": 5.0}


def test_a_guarantee_of_nothing_is_shown_where_entries_are_kept(master):
    keeps = master.read("/version")["version"] != "1.11.0"
    assert guaranteed(master, cpus=1, gpus=0) == ({"cpus": 1.0, "gpus": 0.0} if keeps else {"cpus": 1.0})
