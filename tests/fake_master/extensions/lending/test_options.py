"""How lending is switched on, what it shows, and what stays as it was without it."""

import json
from pathlib import Path
from typing import Any

import pytest

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.services.accept_context import AcceptContext, entries
from fake_master.sources.cluster_file import ClusterSpec
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput
from tests.helpers.cluster_files import read_cluster_file

CLUSTER = """
mesos_version = "1.11"
[flags]
oversubscribe_reservations = {lends}
lendable_names = "cpus"
[[agents]]
resources = "cpus:4;mem:400;cpus(lender):6;mem(lender):600"
oversubscribed = "cpus:2"
[[frameworks]]
name = "tenant"
task = "cpus:1"
tasks = 9
capabilities = ["MULTI_ROLE", "REVOCABLE_RESOURCES"]
"""


def opened(folder: Path, lends: str) -> Application:
    path = folder / "cluster.toml"
    path.write_text(CLUSTER.format(lends=lends))
    application = Application(read_cluster_file(path).start())
    application.tick()
    return application


def read(application: Application, path: str) -> dict[str, Any]:
    return json.loads(application.handle(Request("GET", path)).body)


def test_what_a_master_that_lends_shows(tmp_path: Path) -> None:
    application = opened(tmp_path, "true")
    (agent,) = read(application, "/slaves")["slaves"]
    assert agent["resources"]["cpus"] == 10.0
    assert agent["resources"]["cpus_revocable"] == 2.0
    assert agent["used_resources"]["cpus"] == 4.0
    assert agent["used_resources"]["cpus_revocable"] == 5.0
    assert agent["allocation_slack"] == {"cpus": 6.0, "mem": 0.0, "disk": 0.0, "gpus": 0.0}
    throttled = [entry for entry in agent["unreserved_resources_full"] if "revocable" in entry]
    assert [entry["revocable"] for entry in throttled] == [{"throttle_info": {}}]
    figures = read(application, "/metrics/snapshot")
    assert figures["master/revocable_evictions"] == 0.0
    assert figures["master/cpus_revocable_total"] == 2.0 + 6.0
    assert figures["master/cpus_revocable_used"] == 5.0
    assert figures["master/cpus_revocable_percent"] == 5.0 / 8.0
    assert figures["allocator/mesos/revocable/throttleable/resources/cpus/allocated"] == 2.0
    assert figures["allocator/mesos/revocable/non_throttleable/resources/cpus/total"] == 6.0
    assert read(application, "/flags")["flags"]["oversubscribe_reservations"] == "true"
    (role,) = [role for role in read(application, "/roles")["roles"] if role["name"] == "tenant"]
    assert role["quota"]["consumed"] == {"cpus": 4.0}, "what may be taken back counts for no quota"


def test_without_it_slack_of_use_is_as_in_mesos(tmp_path: Path) -> None:
    application = opened(tmp_path, "false")
    (agent,) = read(application, "/slaves")["slaves"]
    assert "allocation_slack" not in agent
    assert (agent["used_resources"]["cpus"], agent["used_resources"]["cpus_revocable"]) == (4.0, 2.0)
    revocable = [entry for entry in agent["unreserved_resources_full"] if "revocable" in entry]
    assert [entry["revocable"] for entry in revocable] == [{}]
    assert not [name for name in read(application, "/metrics/snapshot") if "revocable/" in name or "evictions" in name]


def test_a_fake_master_without_the_flag_does_not_speak_of_it() -> None:
    flags = read(Application(ClusterSpec().start()), "/flags")["flags"]
    assert not {"oversubscribe_reservations", "lendable_names"} & flags.keys()


@pytest.mark.parametrize(
    ("flag", "value"), [("oversubscribe_reservations", "yes"), ("lendable_names", ""), ("lendable_names", "cpus,,mem")]
)
def test_flags_that_make_no_sense(flag: str, value: str) -> None:
    with pytest.raises(BadInput) as wrong:
        ClusterSpec(flags={flag: value}).start()
    assert wrong.value.field == flag


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("oversubscribed = 2", "oversubscribed"),
        ('oversubscribed = "cpus(a):2"', "oversubscribed"),
        ('oversubscribed = "two"', "oversubscribed"),
        ("launch_delay = -1", "launch_delay"),
    ],
)
def test_agents_that_make_no_sense(tmp_path: Path, line: str, field: str) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(f'[[agents]]\nresources = "cpus:1"\n{line}\n')
    with pytest.raises(BadInput) as wrong:
        read_cluster_file(path).start()
    assert wrong.value.field == f"agents[0].{field}"


@pytest.mark.parametrize("knows", [True, False])
def test_throttle_info_means_something_only_to_a_master_that_lends(knows: bool) -> None:
    nobody: Any = None  # neither framework nor agent is asked
    ground = AcceptContext(nobody, nobody, "r", Resources(), knows_throttling=knows)
    message = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}, "revocable": {"throttle_info": {}}}
    (entry,) = entries([message], ground)
    assert (entry.revocable, entry.throttleable) == (True, knows)


def test_an_estimate_is_posted_to_the_agent() -> None:
    application = Application(ClusterSpec(agents=("cpus:4;mem:400",), mesos_version="1.11").start())
    path = "/slave(1)/oversubscribed"
    assert application.handle(Request("POST", path, body=b"cpus:2;mem:1GiB")).status == 200
    (agent,) = read(application, "/slaves")["slaves"]
    assert (agent["resources"]["cpus_revocable"], agent["resources"]["mem_revocable"]) == (2.0, 1024.0)
    assert application.handle(Request("POST", path)).status == 200
    assert "cpus_revocable" not in read(application, "/slaves")["slaves"][0]["resources"]
    assert application.handle(Request("POST", path, body=b"cpus(a):2")).status == 400
    assert application.handle(Request("POST", path, body=b"cpus:many")).status == 400
    assert application.handle(Request("GET", path)).status == 405
    assert application.handle(Request("POST", "/slave(2)/oversubscribed")).status == 404
