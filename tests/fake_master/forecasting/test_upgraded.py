"""A master of another release takes over: what is told of the cluster, of its quotas and of requests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fake_master.forecasting.cluster_changes import take_over_quotas
from fake_master.registry.interface import MemoryRegistry
from fake_master.services.quota import QUOTA_KIND
from mesosctl.mesos.rules.version_profile import MESOS_1_4, MESOS_1_11
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine

CLUSTER = """
mesos_version = "{version}"

[[agents]]
resources = "cpus:8;mem:8192"
count = 3

[[agents]]
resources = "cpus:4;mem:4096;cpus(ads):4"

[quotas.web]
guarantee = "cpus:6"

[[frameworks]]
name = "shop"
role = "web/shop"
task = "cpus:1;mem:512"
tasks = 2
"""
Upgrade = Callable[..., dict[str, Any]]


@pytest.fixture
def upgrade(tmp_path: Path) -> Upgrade:
    """Type whatif --upgrade, and return what is said of the upgrade, with the forecast as `forecast`."""

    def run(
        before: str, after: str, *words: str, status: int = 0, requests: str | None = None, more: str = ""
    ) -> dict[str, Any]:
        cluster = tmp_path / "cluster.toml"
        cluster.write_text(CLUSTER.format(version=before) + more)
        if requests is not None:
            (tmp_path / "requests.txt").write_text(requests)
            words = (*words, "--requests", str(tmp_path / "requests.txt"))
        ran = CommandLine(Lab()).run("whatif", "--from", str(cluster), "--upgrade", after, *words, "-o", "json")
        assert ran.status == status, ran.err
        document = json.loads(ran.out) if ran.out else json.loads(ran.err)["error"]
        return {**(document.get("upgrade") or {}), "forecast": document}

    return run


def told(said: dict[str, Any], subject: str) -> list[tuple[str, str, str]]:
    return [(one["name"], one["today"], one["there"]) for one in said["differences"] if one["subject"] == subject]


def quotas(said: dict[str, Any]) -> dict[str, Any]:
    return {role["name"]: role["guarantee"] for role in said["forecast"]["roles"] if role["guarantee"]}


@pytest.mark.parametrize("before", ["1.4", "1.8"])
def test_a_guarantee_becomes_a_limit_too(upgrade: Upgrade, before: str) -> None:
    said = upgrade(before, "1.11")
    assert (said["starts"], said["before"], said["after"]) == (True, [], [])
    first, *others = told(said, "quota")
    assert first == ("web", "guarantee 6 cpus, which is the limit too", "guarantee 6 cpus, limit 6 cpus")
    counted = [("web", "what roles below it have: not counted", "what roles below it have: counted")]
    assert others == (counted if before == "1.4" else [])


def test_every_quota_is_read_and_of_a_name_that_is_there_twice_the_last_amount_is_the_limit() -> None:
    """As a real 1.11.0 reads what a real 1.4.3 kept (docs/explanation/releases.md, "One release after another")."""
    registry = MemoryRegistry()
    entries = [{"name": "mem", "type": "SCALAR", "scalar": {"value": value}} for value in (64.0, 32.0)]
    with registry.transaction():
        registry.write(QUOTA_KIND, "twice", {"guarantees": {"mem": 96.0}, "limits": {}, "entries": entries})
        registry.write(QUOTA_KIND, "seeded", {"guarantees": {"cpus": 1.0, "mem": 5.0}, "limits": {}})
    take_over_quotas(registry, MESOS_1_4, MESOS_1_11)
    assert registry.records(QUOTA_KIND) == {
        "twice": {"guarantees": {"mem": 96.0}, "limits": {"mem": 32.0}},
        "seeded": {"guarantees": {"cpus": 1.0, "mem": 5.0}, "limits": {"cpus": 1.0, "mem": 5.0}},
    }


def test_every_quota_is_named_and_set_again(upgrade: Upgrade) -> None:
    said = upgrade("1.11", "1.8", status=1, more='[quotas.ads]\nguarantee = "cpus:2;mem:512"\n')
    assert "of ads and web" in said["why_not"]
    assert said["before"] == ["mesosctl quota remove ads web"]
    assert said["after"] == ["mesosctl quota set ads cpus:2 mem:512MiB", "mesosctl quota set web cpus:6"]


def test_only_what_the_cluster_has_is_told(upgrade: Upgrade) -> None:
    said = upgrade("1.11", "1.11")
    assert (said["differences"], said["requests"], said["forecast"]["harmless"]) == ([], [], True)


@pytest.mark.parametrize(
    ("before", "after", "today", "there"), [("1.4", "1.11", "28", "32"), ("1.8", "1.4", "32", "28")]
)
def test_static_reservations_are_capacity_or_are_not(
    upgrade: Upgrade, before: str, after: str, today: str, there: str
) -> None:
    assert told(upgrade(before, after), "capacity") == [("cpus", today, there)]


@pytest.mark.parametrize(("before", "after", "status"), [("1.11", "1.4", 1), ("1.5", "1.4", 0), ("1.11", "1.5", 1)])
def test_suppression_is_told_where_subscribing_does_not_keep_it(
    upgrade: Upgrade, before: str, after: str, status: int
) -> None:
    more = "".join(
        f'[[frameworks]]\nname = "{name}"\nrole = "{name}"\ntask = "cpus:1;mem:64"\nsuppressed = ["{name}"]\n'
        for name in ("quiet", "silent")
    )
    found = told(upgrade(before, after, more=more, status=status), "suppression")
    assert {name for name, _, _ in found} >= ({"quiet", "silent"} if after == "1.4" else set())
    assert {row[1:] for row in found} == (
        {("kept when it subscribes", "ignored when it subscribes")} if after == "1.4" else set()
    )


def test_metrics_that_are_gone_are_told_together(upgrade: Upgrade) -> None:
    gone = {name: there for name, _, there in told(upgrade("1.8", "1.4"), "metric")}
    assert gone["master/frameworks/…"] == "not there"
    assert "master/uptime_secs" not in gone
    assert told(upgrade("1.8", "1.11"), "metric") == []


def test_a_master_that_lacks_a_capability_of_the_registry_does_not_start(upgrade: Upgrade) -> None:
    said = upgrade("1.11", "1.8", status=1)
    assert (said["starts"], said["differences"]) == (False, [])
    assert said["forecast"]["verdict"].startswith("NO: Mesos 1.8.1 would not start")
    assert quotas(said) == {"web": {"cpus": 6.0}}  # the present master goes on
    assert (said["before"], said["after"]) == (["mesosctl quota remove web"], ["mesosctl quota set web cpus:6"])


def test_an_older_one_starts_and_forgets_quotas(upgrade: Upgrade) -> None:
    said = upgrade("1.11", "1.4", status=1)
    assert (said["starts"], quotas(said)) == (True, {})
    assert told(said, "quota")[0] == ("web", "guarantee 6 cpus", "none")
    assert said["after"] == ["mesosctl quota set web cpus:6"]


def test_changes_are_made_on_the_other_master(upgrade: Upgrade) -> None:
    said = upgrade("1.8", "1.11", "limit:web=cpus:20", "remove-quota:web")
    assert [answer["status"] for answer in said["forecast"]["answers"]] == [200, 200]
    assert said["forecast"]["changes"] == ["upgrade to Mesos 1.11.0", "limit:web=cpus:20", "remove-quota:web"]


REQUESTS = """
# of a script
GET /state.json
GET /quota
GET /quota
POST /quota {"role": "db", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}
127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET /roles.json HTTP/1.1" 200 23
I1010 13:55:36.068194 28764 http.cpp:1115] HTTP GET for /master/health from 127.0.0.1:3434
POST /api/v1 {"type": "GET_QUOTA"}
something else
"""


def test_requests_are_tried_on_both_masters(upgrade: Upgrade) -> None:
    said = upgrade("1.4", "1.11", status=1, requests=REQUESTS)
    assert said["tried"] == 6
    refused = [(one["request"], one["today"], one["there"]) for one in said["requests"] if one["there"] >= 400]
    assert refused == [("GET /state.json", 200, 404), ("GET /roles.json", 200, 404)]
    assert "2 requests that are accepted today would be refused" in said["forecast"]["verdict"]


def test_what_is_tried_changes_nothing(upgrade: Upgrade) -> None:
    said = upgrade("1.4", "1.11", requests='DELETE /quota/web\nPOST /api/v1 {"type": "GET_QUOTA"}\n')
    assert (said["tried"], quotas(said)) == (2, {"web": {"cpus": 6.0}})


def test_members_that_an_answer_lacks_are_told(upgrade: Upgrade) -> None:
    said = upgrade("1.11", "1.8", status=1, requests="GET /quota\nGET /quota\nGET /weights\n")
    (found,) = said["requests"]
    assert (found["request"], found["times"], found["today"], found["there"]) == ("GET /quota", 2, 200, 200)
    assert "configs" in found["members_gone"]
    assert not any(name.startswith("configs.") for name in found["members_gone"])


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--upgrade", "documents"], "--upgrade"),
        (["--upgrade", "2.0"], "--upgrade"),
        (["--requests", "r.txt", "remove-quota:web"], "--requests"),
        (["--upgrade", "1.11", "--add-framework", "role=db;task=cpus:1"], "--upgrade"),
    ],
)
def test_words_that_mean_nothing_are_refused(tmp_path: Path, words: list[str], field: str) -> None:
    cluster = tmp_path / "cluster.toml"
    cluster.write_text(CLUSTER.format(version="1.8"))
    ran = CommandLine(Lab()).run("whatif", "--from", str(cluster), *words, "-o", "json")
    assert (ran.status, json.loads(ran.err)["error"]["field"]) == (2, field)


def test_a_file_without_requests_is_refused(upgrade: Upgrade) -> None:
    assert upgrade("1.8", "1.11", status=3, requests="nothing here\n")["forecast"]["field"] == "--requests"


def test_people_see_tables_and_commands(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.toml"
    cluster.write_text(CLUSTER.format(version="1.11"))
    page = tmp_path / "page.html"
    words = ["whatif", "--from", str(cluster), "--upgrade", "1.4", "--report", str(page)]
    ran = CommandLine(Lab()).run(*words)
    assert ran.status == 1
    for text in (ran.out, page.read_text()):
        assert "mesosctl quota set web cpus:6" in text
        assert "master/frameworks/…" in text
