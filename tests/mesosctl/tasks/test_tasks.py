"""`mesosctl tasks` as it is typed, against a fake master in virtual time."""

import csv
import io
import json

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.tasks import ALL, PRESENT, tasks_shown
from mesosctl.tasks.work import state_names
from tests.helpers.lab import CommandLine, Lab


def of(text):
    return Resources(parse_entries(text))


SPARK = SimulatedFrameworkSpec("spark", ("ads",), task=of("cpus:1;mem:1024"), tasks=2)
SHOP = SimulatedFrameworkSpec("shop", ("web/front",), task=of("cpus:0.1;mem:64"), tasks=1)
MANY = SimulatedFrameworkSpec("many", ("batch",), task=of("cpus:0.1;mem:32"), tasks=11)


@pytest.fixture
def live():
    agents = [AgentSpec("cpus:4;mem:8192", hostname=name) for name in ("big", "small")]
    lab = Lab(*agents, version="1.11", frameworks=(SPARK, SHOP, MANY))
    commands = CommandLine(lab)
    lab.wait(10.0)
    return commands


def rows(live, *words):
    ran = live.run("tasks", *words, "-o", "csv")
    assert ran.status == 0, ran.err
    return list(csv.DictReader(io.StringIO(ran.out)))


def test_a_task_has_a_line_with_its_own_resources(live):
    (shown,) = rows(live, "--framework", "shop")
    assert (shown["name"], shown["framework"], shown["role"]) == (shown["task"], "shop", "web/front")
    assert (shown["state"], shown["resources"]) == ("TASK_RUNNING", "cpus:0.1;mem:64")
    assert shown["since"].startswith("1970-01-01T00:16:4")
    assert (shown["agent"], shown["agent id"]) in {(one["hostname"], one["id"]) for one in live.lab.agents}
    (one,) = live.run("tasks", "--framework", "shop", "-o", "json").json["tasks"]
    assert (one["resources"]["amounts"], one["agent"]) == ({"cpus": 0.1, "mem": 64}, shown["agent"])
    assert (one["since"], one["framework_id"]) == (shown["since"], shown["framework id"])
    assert "0.1 cpus and 64MiB mem" in live.run("tasks", "--role", "web").out


def test_what_tasks_use_together_is_what_their_role_uses(live):
    (role,) = live.run("roles", "ads", "-o", "json").json["roles"]
    listed = live.run("tasks", "--role", "ads", "-o", "json").json["tasks"]
    for name, amount in role["usage"]["consumed"].items():
        assert sum(one["resources"]["amounts"][name] for one in listed) == amount
    drawn = live.run("tasks", "--role", "ads", terminal=True, NO_COLOR="1", COLUMNS="120").out
    assert "2 tasks (2 TASK_RUNNING); used: 2 cpus and 2GiB mem" in drawn


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--framework", "spark"), {"spark": 2}),
        (("--role", "web"), {"shop": 1}),
        (("--role", "ads", "--framework", "spark"), {"spark": 2}),
        (("--role", "nobody"), {}),
        (("task-2",), {"spark": 1, "many": 1}),
        (("task-2", "--framework", "many"), {"many": 1}),
        (("--state", "Running", "--framework", "shop"), {"shop": 1}),
        (("--state", "TASK_RUNNING", "--state", "failed"), {"spark": 2, "shop": 1, "many": 11}),
        (("--state", "staging"), {}),
    ],
)
def test_tasks_are_chosen(live, words, found):
    names = [row["framework"] for row in rows(live, *words)]
    assert {name: names.count(name) for name in names} == found


def test_every_task_is_on_one_of_the_agents(live):
    everywhere = rows(live)
    by_name = {name: rows(live, "--agent", name) for name in ("big", "small")}
    assert sum(map(len, by_name.values())) == len(everywhere) == 14
    assert all(row["agent"] == name for name, found in by_name.items() for row in found)
    first = live.lab.agents[0]
    assert rows(live, "--agent", first["id"]) == rows(live, "--agent", "S0") == by_name[first["hostname"]]


def test_they_are_in_the_order_of_people_or_by_a_column(live):
    ids = [f"task-{number}" for number in range(1, 12)]
    assert [row["task"] for row in rows(live, "--framework", "many")] == ids
    assert live.run("tasks", "--framework", "many", "-o", "name").out.split() == ids
    assert [row["task"] for row in rows(live, "--framework", "many", "--sort", "-id")] == ids[::-1]
    by_memory = [row["framework"] for row in rows(live, "--sort", "mem")]
    assert by_memory == ["spark"] * 2 + ["shop"] + ["many"] * 11
    by_framework = [(row["framework"], row["task"]) for row in rows(live, "--sort", "framework")]
    assert by_framework == [("many", one) for one in ids] + [("shop", ids[0]), ("spark", ids[0]), ("spark", ids[1])]
    assert [row["role"] for row in rows(live, "--sort", "role")] == ["ads"] * 2 + ["batch"] * 11 + ["web/front"]


def test_ended_tasks_are_there_for_those_who_ask(live):
    live.run("frameworks", "teardown", "spark", "--yes")
    live.lab.wait(3.0)
    assert rows(live, "--role", "ads") == []
    ended = rows(live, "--role", "ads", "--all")
    assert [(row["framework"], row["task"], row["state"]) for row in ended] == [
        ("spark", "task-1", "TASK_KILLED"),
        ("spark", "task-2", "TASK_KILLED"),
    ]
    assert rows(live, "--state", "killed") == ended
    assert rows(live, "task-1", "--framework", "spark", "--state", "killed") == ended[:1]
    drawn = live.run("tasks", "--role", "ads", "--all", terminal=True, NO_COLOR="1", COLUMNS="120").out
    assert "2 tasks (2 TASK_KILLED)\n" in drawn
    assert "used" not in drawn


def test_a_task_that_has_ended_is_not_unknown():
    one = SimulatedFrameworkSpec("one", ("web",), task=of("cpus:1"), tasks=1)
    live = CommandLine(Lab("cpus:4;mem:2048", version="1.11", frameworks=(one,)))
    live.lab.wait(3.0)
    live.run("frameworks", "teardown", "one", "--yes")
    ran = live.run("tasks", "task-1")
    assert (ran.status, "task 'task-1' has ended" in ran.err) == (5, True), ran.err
    assert "mesosctl tasks list task-1 --all shows it" in ran.err
    assert live.run("tasks", "list", "task-1", "--all", "-o", "name").out == "task-1\n"
    assert "task 'task-1' is in another state" in live.run("tasks", "task-1", "--state", "failed").err


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ("tasks --framework sprak", 5, "did you mean spark?"),
        ("tasks --agent bgi", 5, "did you mean big?"),
        ("tasks task-1 tsak-2", 5, "did you mean task-2?"),
        ("tasks --state runing", 2, "did you mean running?"),
        ("tasks --sort framwork", 2, "did you mean framework?"),
        ("tasks --role asd", 0, "there are no tasks with --role asd"),
        ("tasks --state failed --role ads", 0, "there are no tasks with --role ads and --state failed"),
    ],
)
def test_a_mistake_is_named_with_what_is_likely(live, words, status, told):
    ran = live.run(*words.split())
    assert (ran.status, told in ran.err) == (status, True), ran.err


def test_a_watched_list_is_written_again_when_it_has_changed(live):
    ran = live.run("tasks", "--framework", "spark", "--watch", "--count", "3", "-o", "jsonl")
    (line,) = ran.out.splitlines()
    assert json.loads(line) == live.run("tasks", "--framework", "spark", "-o", "json").json


def test_frameworks_of_one_name_bring_their_ids():
    twins = (SPARK, SimulatedFrameworkSpec("spark", ("web",), task=of("cpus:1"), tasks=1))
    live = CommandLine(Lab("cpus:8;mem:8192", version="1.11", frameworks=twins))
    live.lab.wait(3.0)
    assert len(rows(live, "--framework", "spark")) == 3
    drawn = live.run("tasks", terminal=True, NO_COLOR="1", COLUMNS="160").out
    assert {"0000", "0001"} <= set(drawn.split())


# --- The answer -----------------------------------------------------------------------------------------------


def message(number, state="TASK_RUNNING", **more):
    return {
        "name": "",
        "task_id": {"value": f"t-{number}"},
        "framework_id": {"value": "f"},
        "agent_id": {"value": "s"},
        "state": state,
        "resources": [
            {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}, "allocation_info": {"role": f"r{number % 3}"}},
            {
                "name": "ports",
                "type": "RANGES",
                "ranges": {"range": [{"begin": 31000 + number % 7, "end": 31000 + number % 7}]},
                "allocation_info": {"role": f"r{number % 3}"},
            },
        ],
        "statuses": [{"state": state, "timestamp": 7.5}, {"state": state, "timestamp": 8.5}],
        **more,
    }


def answer(**lists):
    return json.dumps({"type": "GET_TASKS", "get_tasks": lists}, separators=(",", ":")).encode()


@pytest.mark.parametrize("count", [3, 300], ids=["as-json", "many-at-once"])
def test_short_and_long_answers_are_read_alike(count):
    lists = {name: [message(number + 1000 * at) for number in range(count)] for at, name in enumerate(ALL)}
    found = tasks_shown([answer(**lists)], *PRESENT)
    wanted = [one for name in PRESENT for one in lists[name]]
    assert [one.id for one in found] == [one["task_id"]["value"] for one in wanted]
    assert {one.time for one in found} == {8.5}
    assert [one.role for one in found] == [one["resources"][0]["allocation_info"]["role"] for one in wanted]
    ports = [one["resources"][1]["ranges"]["range"][0]["begin"] for one in wanted]
    assert [str(one.resources) for one in found] == [f"cpus:1; ports:[{port}-{port}]" for port in ports]


@pytest.mark.parametrize("count", [1, 300], ids=["as-json", "many-at-once"])
@pytest.mark.parametrize(
    ("fault", "where"),
    [
        ({"state": 7}, "tasks[0]"),
        ({"task_id": {}}, "tasks[0]"),
        ({"statuses": [{"timestamp": "now"}]}, "tasks[0]"),
        ({"resources": {}}, "tasks[0]"),
    ],
)
def test_what_is_not_as_documented_is_named(count, fault, where):
    listed = [message(number) for number in range(count)]
    listed[0].update(fault)
    with pytest.raises(UnexpectedAnswer) as raised:
        tasks_shown([answer(tasks=listed)], *PRESENT)
    assert where in (raised.value.field or "")


@pytest.mark.parametrize("content", [b"{}", b'{"get_tasks":[]}', b'{"get_tasks":{"tasks":{}}}', b'{"get_state":{}}'])
def test_another_answer_is_refused(content):
    with pytest.raises(UnexpectedAnswer):
        tasks_shown([content], *PRESENT)


def test_the_states_are_those_of_mesos():
    assert {"running", "staging", "gone_by_operator", "unreachable"} <= set(state_names())
    assert all(name == name.lower() and not name.startswith("task_") for name in state_names())
