"""`mesosctl quota room`: the largest quota that would be accepted."""

import pytest

from tests.mesosctl.program.mistakes.mistake import typed


def test_without_a_role(run, cluster, entries):
    cluster.quotas["ops"] = entries(cpus=4)
    ran = run("quota", "room", "-o", "json")
    assert ran.status == 0
    assert (ran.json["kind"], ran.json["role"], ran.json["guarantee"]) == ("quota.room", None, None)
    assert ran.json["capacity"] == {"cpus": 24.0, "disk": 1000.0, "mem": 12288.0}
    assert ran.json["promised"] == {"cpus": 4.0}
    assert ran.json["largest"] == {"cpus": 20.0, "disk": 1000.0, "mem": 12288.0}
    assert {line.partition(" ")[0] for line in cluster.asked} == {"GET"}


def test_of_a_role_with_quota_its_own_is_not_promised_to_others(run, cluster, entries):
    cluster.quotas |= {"ops": entries(cpus=4), "dev": entries(cpus=2)}
    ran = run("quota", "room", "dev", "-o", "json")
    assert (ran.json["role"], ran.json["guarantee"]) == ("dev", {"cpus": 2.0})
    assert ran.json["largest"]["cpus"] == 20.0
    assert run("quota", "room", "new", "-o", "json").json["largest"]["cpus"] == 18.0


def test_what_it_names_is_accepted_and_a_thousandth_more_is_not(run, cluster, entries):
    cluster.quotas["ops"] = entries(cpus=4)
    largest = run("quota", "room", "-o", "name").out.split()
    assert largest == ["cpus:20", "disk:1000", "mem:12288"]
    assert run("quota", "check", "dev", *largest).status == 0
    assert run("quota", "check", "dev", "cpus:20.001").status == 1


@pytest.mark.parametrize(
    ("promised", "says"),
    [(24, "everything is already guaranteed"), (26, "the guarantees exceed the cluster by 2 cpus")],
)
def test_no_room(run, cluster, entries, promised, says):
    cluster.quotas["ops"] = entries(cpus=promised, mem=12288, disk=1000)
    ran = run("quota", "room", terminal=True)
    assert ran.status == 0
    assert f"no quota would be accepted: {says}" in " ".join(ran.out.split())
    assert run("quota", "room", "-o", "json").json["largest"] == {}


def test_a_table_for_people_and_for_pipes(run, cluster, entries):
    cluster.quotas["ops"] = entries(cpus=4)
    shown = run("quota", "room", terminal=True, NO_COLOR="1").out.splitlines()
    assert "the largest quota" in shown[0]
    assert "20 cpus, 12GiB mem and 1000MiB disk" in shown[0]
    assert run("quota", "room", "-o", "csv").out.splitlines()[1:] == [
        "capacity,cpus:24;disk:1000;mem:12288",
        "promised,cpus:4",
        "largest that would be accepted,cpus:20;disk:1000;mem:12288",
    ]


@pytest.mark.parametrize(("role", "status"), [("a/b", 3), ("a b", 3), ("*", 0)])
def test_a_role_that_can_have_no_quota(run, role, status):
    assert run("quota", "room", role).status == status


def test_static_reservations_on_an_older_master(run, cluster):
    cluster.version = "1.4.0"
    assert run("quota", "room", "-o", "json").json["largest"]["cpus"] == 16.0
    assert run("quota", "room", "*").status == 3


def test_there_is_no_room_for_a_role_whose_quota_could_not_be_removed(run):
    ran = run("quota", "room", "zürich", "-o", "json")
    assert (ran.status, "cannot be named in a path" in ran.err) == (3, True)


CLUSTER = """mesos_version = "1.11"
[quotas.dev]
guarantee = "cpus:18;mem:8GiB"
[[agents]]
count = 3
resources = "cpus:8;mem:4096"
[[frameworks]]
name = "holder"
roles = ["ops"]
answer = "hold"
"""


@pytest.fixture
def on_cluster(folder):
    (folder / "cluster.toml").write_text(CLUSTER, encoding="utf-8")
    return lambda words: typed(words, folder, "fake:cluster.toml")


def test_how_many_tasks_the_guarantee_holds_and_on_how_many_agents(on_cluster):
    assert on_cluster("quota room dev --task cpus:5,mem:1GiB -o json").json["tasks"] == {
        "task": {"cpus": 5.0, "mem": 1024.0},
        "guarantee": {"cpus": 18.0, "mem": 8192.0},
        "by_amounts": 3,
        "now": 3,
        "agents": 3,
        "not_guaranteed": [],
    }
    shown = on_cluster("quota room dev --task cpus:5,mem:1GiB").out.splitlines()[0]
    assert "dev holds 3 more tasks of 5 cpus and 1GiB mem " in shown
    assert shown.endswith(" on 3 agents")
    assert on_cluster("quota room dev --task cpus:7,mem:3GiB -o json").json["tasks"]["now"] == 2
    assert "dev holds no more tasks of 9 cpus " in on_cluster("quota room dev --task cpus:9").out


def test_tasks_without_quota_are_those_of_the_largest_quota(on_cluster):
    ran = on_cluster("quota room new --task 'cpus:2;mem:1GiB' -o json")
    assert ran.json["tasks"]["guarantee"] == ran.json["largest"]
    assert "the largest quota holds 3 more tasks of 2 cpus" in on_cluster("quota room --task cpus:2").out


@pytest.mark.parametrize(("task", "status"), [("", 2), ("cpus:x", 3), ("cpus:0", 2), ("ports:[1-2]", 3), ("gpus:1", 0)])
def test_the_resources_of_a_task(on_cluster, task, status):
    ran = on_cluster(f"quota room dev --task '{task}'")
    assert ran.status == status
    if not status:
        assert ran.out.startswith("the guarantee of dev names no gpus\n")


LIMITED = """mesos_version = "1.11"
quotas.web.limit = "cpus:4;mem:64GiB"
quotas.none.limit = "cpus:0;mem:0"
[[agents]]
count = 3
resources = "cpus:8;mem:4096"
"""


def test_no_more_than_the_limit_of_the_role_is_room(folder):
    (folder / "cluster.toml").write_text(LIMITED, encoding="utf-8")

    def on_cluster(words):
        return typed(words, folder, "fake:cluster.toml")

    room = on_cluster("quota room web -o json").json
    assert (room["largest"], room["limits"]) == ({"cpus": 4.0, "mem": 12288.0}, {"cpus": 4.0, "mem": 65536.0})
    shown = on_cluster("quota room web").out.splitlines()[0]
    assert " 4 cpus and 12GiB mem, " in shown
    assert shown.endswith(" its limit of 4 cpus")
    amounts = " ".join(on_cluster("quota room web -o name").out.split())
    assert on_cluster(f"quota update web {amounts}").status == 0
    (shown,) = on_cluster("quota room none").out.splitlines()[:1]
    assert shown.startswith("no quota for none ")
    assert shown.endswith(": its limit is 0 cpus")
