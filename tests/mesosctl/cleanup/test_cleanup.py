"""`mesosctl cleanup`: what nothing uses goes, in an order that a master accepts; what is in use stays and is named."""

import json
import re

import pytest

from fake_master import FakeMaster
from mesosctl.__main__ import main
from mesosctl.apply import work as run_operations
from mesosctl.apply.work import perform
from mesosctl.cleanup import work as cleaning
from mesosctl.reading.targets import read_agents
from tests.helpers.lab import CommandLine, Lab, Scheduler, scalar
from tests.helpers.surroundings import InMemory

CLUSTER = """
mesos_version = "1.11"
[[agents]]
hostname = "node-1"
resources = "cpus:8;mem:8GiB;disk:1000"
[[agents]]
hostname = "node-2"
resources = "cpus:8;mem:8GiB;disk:1000;disk(ads):100"
[[frameworks]]
name = "kafka"
role = "kafka"
answer = "decline"
# running
[[frameworks]]
name = "other"
role = "other"
answer = "decline"
[[reservations]]
agent = "node-1"
role = "kafka"
resources = "cpus:4;mem:2GiB;disk:500"
principal = "ops"
[[reservations]]
agent = "node-1"
role = "kafka/x"
under = ["kafka"]
resources = "cpus:2"
principal = "kafka"
[[volumes]]
agent = "node-1"
role = "kafka"
id = "v1"
size = "disk:100"
[[reservations]]
agent = "node-2"
role = "other"
resources = "cpus:1"
"""
TASK = """
[[frameworks.running]]
agent = "node-1"
resources = "cpus(kafka):1"
"""


@pytest.fixture
def clean(run, tmp_path):
    """Run words on a cluster with the volumes and reservations above."""

    def run_words(*words, more="", running="", **kept):
        file = tmp_path / "cluster.toml"
        if not file.exists():
            file.write_text(CLUSTER.replace("# running\n", running) + more)
        return run(*words, master=f"fake:{file}", **kept)

    return run_words


def made(out):
    return [(step["step"].split()[0], step["of"]) for step in json.loads(out)["steps"]]


def reserved(clean):
    entries = json.loads(clean("reservations", "-o", "json")[1])["reservations"]
    return {
        (one["role"], one["agent"]["hostname"] if isinstance(one["agent"], dict) else one["agent"]) for one in entries
    }


def test_volumes_first_then_the_outermost_refinement(clean):
    status, out, err = clean("cleanup", "--role", "kafka", "--yes", "-o", "json")
    assert status == 0, err
    assert made(out) == [
        ("destroy", "kafka on node-1"),
        ("unreserve", "kafka > kafka/x on node-1"),
        ("unreserve", "kafka on node-1"),
    ]
    assert json.loads(out)["applied"] is True
    assert {role for role, _ in reserved(clean)} == {"other", "ads"}
    assert json.loads(clean("volumes", "list", "-o", "json")[1])["volumes"] == []


def test_the_question_shows_no_columns_without_anything_in_them(clean):
    shown = clean("cleanup", "--role", "kafka")[2] + clean("cleanup", "--role", "kafka", "--yes")[1]
    assert shown.count("WHAT") == 2
    assert "BEFORE" not in shown
    assert clean("cleanup", "--role", "other", "--yes", "-o", "csv")[1].startswith("step,done,what,of,before,after")


def test_nothing_to_do_is_status_0(clean):
    status, out, err = clean("cleanup", "--role", "nobody", "-o", "json")
    assert (status, json.loads(out)["steps"], json.loads(out)["left"]) == (0, [], []), err
    assert "role 'nobody' has no volumes and no reservations" in clean("cleanup", "--role", "nobody")[2]
    assert "role 'ads' has only static reservations" in clean("cleanup", "--role", "ads")[2]


def test_what_is_in_use_is_named_and_left(clean):
    status, out, err = clean("cleanup", "--role", "kafka", "--yes", "-o", "json", running=TASK)
    assert status == 0, err
    (left,) = json.loads(out)["left"]
    assert (left["role"], left["agent"], left["resources"]["text"]) == ("kafka", "node-1", "cpus:1")
    status, out, err = clean("cleanup", "--role", "kafka", "--yes")
    assert (status, "1 cpu of 'kafka' on node-1" in out, "nothing to clean up" in err) == (0, True, False)
    assert ("kafka", "node-1") in reserved(clean)
    for form in ("csv", "name"):
        assert (
            "note: in use, and left: 1 cpu of 'kafka' on node-1" in clean("cleanup", "--role", "kafka", "-o", form)[2]
        )


def test_a_shared_volume_stays_for_as_long_as_one_task_uses_it():
    lab = Lab("cpus:4;mem:2048;disk:1000", version="1.11")
    framework = Scheduler(lab, "SHARED_RESOURCES", name="kafka")
    (offer,) = framework.offers()
    owner = [{"type": "DYNAMIC", "role": "kafka"}]
    disk = scalar("disk", 10) | {"reservations": owner}
    info = {"persistence": {"id": "v1"}, "volume": {"mode": "RW", "container_path": "p"}}
    shared = disk | {"disk": info, "shared": {}}
    task = {
        "name": "t",
        "task_id": {"value": "t"},
        "agent_id": offer["agent_id"],
        "command": {"value": "x"},
        "resources": [scalar("cpus", 1), scalar("mem", 32), shared],
    }
    operations = [
        {"type": "RESERVE", "reserve": {"resources": [disk]}},
        {"type": "CREATE", "create": {"volumes": [shared]}},
        {"type": "LAUNCH", "launch": {"task_infos": [task]}},
    ]
    framework.ask("ACCEPT", offer_ids=[offer["id"]], operations=operations, filters={"refuse_seconds": 1000})
    framework.acknowledge()
    line = CommandLine(lab)
    ran = line.run("cleanup", "--role", "kafka", "--yes")
    assert "(volume v1)" in ran.out + ran.err
    assert line.changes == []
    framework.ask("KILL", task_id={"value": "t"})
    framework.acknowledge()
    assert line.run("cleanup", "--role", "kafka", "--yes").status == 0
    assert [change.partition(" ")[2] for change in line.changes] == ["/destroy-volumes", "/unreserve"]


def test_the_agents_are_read_once_before_the_question(clean, monkeypatch):
    read = []

    def counted(master):
        read.append(master)
        return read_agents(master)

    monkeypatch.setattr(cleaning, "read_agents", counted)
    assert clean("cleanup", "--role", "kafka", answer="n\n")[0] == 2
    assert len(read) == 1


@pytest.mark.parametrize(
    ("words", "of"),
    [
        ("--role kafka/x", ["kafka > kafka/x on node-1"]),
        ("--reserver kafka", ["kafka > kafka/x on node-1"]),
        ("--reserver ops --role kafka", ["kafka on node-1", "kafka on node-1"]),
        ("--reserver ops --role other", []),
        ("--framework other", ["other on node-2"]),
    ],
)
def test_only_what_is_selected(clean, words, of):
    out = clean("cleanup", *words.split(), "--yes", "-o", "json")[1]
    assert [step for _, step in made(out)] == of


def test_a_framework_that_is_gone_is_known_by_its_name(tmp_path):
    with FakeMaster(["cpus:4;mem:1024"], frameworks=[{"name": "kafka", "role": "kafka", "answer": "decline"}]) as fake:

        def type_it(*words):
            environment = InMemory(
                variables={"MESOSCTL_MASTER": "http://mesos:5050", "XDG_STATE_HOME": str(tmp_path)},
                clock=lambda: fake.now,
                sleep=fake.advance,
                transport=fake.transport,
            )
            assert main([*words, "--yes"], environment) == 0, environment.err
            return environment

        fake.settle()
        type_it("reserve", "--any", "cpus:1", "--role", "kafka")
        type_it("frameworks", "teardown", "kafka")
        ran = type_it("cleanup", "--framework", "kafka", "-o", "json")
        assert [of.partition(" on ")[0] for _, of in made(ran.out)] == ["kafka"]
        assert "still subscribed" not in ran.err
        assert made(type_it("cleanup", "--framework", "kafka", "-o", "json").out) == []


@pytest.mark.parametrize("option", ["--framework", "--role"])
def test_a_framework_that_is_still_there_is_a_note(clean, option):
    assert "framework 'kafka' is still subscribed" in clean("cleanup", option, "kafka", "--dry-run")[2]


OTHERS = "".join(
    f'[[frameworks]]\nname = "{name}"\nroles = {roles}\nanswer = "decline"\n'
    + (f'principal = "{principal}"\n' if principal else "")
    for name, roles, principal in (
        ("below", '["kafka/x"]', "ops"),
        ("both", '["web", "other"]', "kafka"),
        ("reserves", '["web"]', "ops"),
        ("nobody's", '["web"]', None),
    )
)


@pytest.mark.parametrize(
    ("words", "noted"),
    [
        ("--role kafka", {"kafka", "below"}),
        ("--role kafka/x", {"below"}),
        ("--role other", {"other", "both"}),
        ("--role web", set()),  # nothing is selected
        ("--reserver ops", {"below", "reserves"}),
        ("--reserver kafka", {"both"}),
        ("--reserver nobody", set()),
        # A role says more than a principal: only frameworks of the role may miss what is selected.
        ("--role kafka --reserver ops", {"kafka", "below"}),
        ("--role kafka --reserver kafka", {"kafka", "below"}),
        ("--role web --reserver ops", set()),
        ("--framework below", {"below"}),
        ("--framework reserves --reserver ops", {"reserves"}),
    ],
)
def test_whoever_may_miss_what_is_selected_is_a_note_and_nobody_else(clean, words, noted):
    """Several frameworks with several roles and principals, some of them shared."""
    err = clean("cleanup", *words.split(), "--dry-run", more=OTHERS)[2]
    assert set(re.findall(r"note: framework '(.+?)' is still subscribed", err)) == noted


def test_a_role_that_another_framework_has_too_is_left(clean):
    second = '[[frameworks]]\nname = "second"\nrole = "kafka"\nanswer = "decline"\n'
    status, out, err = clean("cleanup", "--framework", "kafka", "--yes", "-o", "json", more=second)
    assert (status, made(out)) == (0, []), err
    assert "kafka has is left, because framework 'second'" in err


def test_a_volume_on_a_static_reservation_is_destroyed_and_the_reservation_stays(clean):
    volume = '[[volumes]]\nagent = "node-2"\nrole = "ads"\nid = "v2"\nsize = "disk:50"\n'
    status, out, err = clean("cleanup", "--role", "ads", "--yes", "-o", "json", more=volume)
    assert (status, made(out)) == (0, [("destroy", "ads on node-2")]), err
    assert ("ads", "node-2") in reserved(clean)


def test_a_script_has_to_confirm_and_is_told_of_the_data(clean):
    before = reserved(clean)
    status, out, err = clean("cleanup", "--role", "kafka")
    assert (status, out) == (2, "")
    assert "the data of 1 volume is lost" in err
    assert reserved(clean) == before


def test_a_person_is_asked(clean):
    assert clean("cleanup", "--role", "kafka", answer="n\n")[0] == 2
    assert ("kafka", "node-1") in reserved(clean)
    assert clean("cleanup", "--role", "kafka", answer="y\n")[0] == 0
    assert ("kafka", "node-1") not in reserved(clean)


@pytest.mark.parametrize("words", ["", "--framework nobody", "--role kafka/"])
def test_mistakes(clean, words):
    status, out, err = clean("cleanup", *words.split(), "--yes")
    assert (status, out) == ({"": 2, "--framework nobody": 5, "--role kafka/": 3}[words], ""), err


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
def test_interrupted_it_goes_on(clean, monkeypatch, at, when):
    numbers = iter(range(1, 100))

    def stopping(*words):
        is_now = next(numbers) == at
        if is_now and when == "before":
            raise KeyboardInterrupt
        perform(*words)
        if is_now:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_operations, "perform", stopping)
        assert clean("cleanup", "--role", "kafka", "--yes")[0] == 130
    status, out, err = clean("cleanup", "--role", "kafka", "--yes", "-o", "json")
    assert (status, {step["done"] for step in json.loads(out)["steps"]}) == (0, {True}), err
    assert "an earlier cleanup was interrupted" in err
    assert {role for role, _ in reserved(clean)} == {"other", "ads"}
