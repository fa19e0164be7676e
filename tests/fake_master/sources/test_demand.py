"""Frameworks that ask for tasks over time: `every`, `lasts` and `from` of a cluster file."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean, median
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_master.master import Master
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec, read_cluster
from fake_master.sources.demand import Listed, WantedTask, parse_time_span, read_tasks
from fake_master.sources.simulated_frameworks import SimulatedFramework, SimulatedFrameworkSpec
from fake_master.sources.simulation import simulate
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import KnownTask
from fake_master.testing.fake import FakeMaster
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput
from tests.helpers.profiles import examples

AGENTS = '[[agents]]\nresources = "cpus:4;mem:4096"\ncount = 2\n'
START = 1000.0


def started(text: str, where: str = "cluster.toml") -> tuple[Master, VirtualClock]:
    clock = VirtualClock(START)
    master = read_cluster('mesos_version = "1.11"\n' + text, where).start(clock=clock)
    master.advance()
    return master, clock


def passes(master: Master, clock: VirtualClock, seconds: float) -> KnownFramework:
    clock.sleep(seconds)
    master.advance()
    return next(iter(master.state.frameworks.values()))


def starts(tasks: Sequence[KnownTask]) -> dict[str, float]:
    return {task.id: task.statuses[0].timestamp - START for task in tasks}


def test_a_task_is_asked_for_every_so_often_and_runs_as_long_as_it_lasts() -> None:
    text = AGENTS + '[[frameworks]]\nname = "f"\ntask = "cpus:1"\nevery = "10s"\nlasts = "25s"\ntasks = 5\n'
    master, clock = started(text)
    alive = [passes(master, clock, seconds).alive for seconds in (0, 9.5, 1, 10, 5, 10, 5, 30)]
    assert alive == [1, 1, 2, 3, 2, 2, 3, 0]
    (framework,) = master.state.frameworks.values()
    assert starts(framework.completed_tasks) == {f"task-{n + 1}": 10.0 * n for n in range(5)}
    assert framework.suppressed == {"f"}
    assert framework.counts["tasks/terminal/task_finished"] == 5


def test_tasks_at_once_are_replaced_when_they_end() -> None:
    master, clock = started(AGENTS + '[[frameworks]]\nname = "f"\ntask = "cpus:1"\nlasts = "5s"\ntasks = 3\n')
    framework = passes(master, clock, 21.0)
    assert framework.alive == 3
    assert framework.counts["tasks/terminal/task_finished"] >= 9


LINES: dict[str, tuple[str, ...]] = {
    "asked": ("10", "0", "1m"),
    "lasts": ("5", "", "90s"),
    "cpus": ("1", "0.5", ""),
    "mem": ("64", "", "32"),
    "name": ("one", "", "three, again"),
    "agent": ("", "agent-2", "agent-1"),
}
"""A file of three tasks, by column."""


@settings(max_examples=examples(120))
@given(
    columns=st.permutations(sorted(LINES)),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", "\ufeff"]),
    quoted=st.booleans(),
    last=st.sampled_from(["", "{end}", "{end}{end}"]),
    blanks=st.booleans(),
)
@example(columns=sorted(LINES), end="\r\n", mark="\ufeff", quoted=True, last="{end}", blanks=False)
def test_a_file_of_tasks_means_the_same_however_a_program_writes_it(
    columns: list[str], end: str, mark: str, quoted: bool, last: str, blanks: bool
) -> None:
    """Spreadsheets begin it with a byte order mark, quote every cell, and end lines in their own way."""

    def cell(text: str) -> str:
        padded = f" {text} " if blanks else text
        return f'"{padded}"' if quoted or "," in text else padded

    rows = [columns, *[[LINES[name][number] for name in columns] for number in range(3)]]
    text = mark + end.join(",".join(map(cell, row)) for row in rows) + last.format(end=end)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.csv"
        path.write_bytes(text.encode())
        found = read_tasks(path, "from", parse_resources("cpus:2"), ("f",)).wanted
    # In the order in which they are asked for.
    assert [(one.asked, one.lasts, one.name, one.agent) for one in found] == [
        (0.0, None, None, "agent-2"),
        (10.0, 5.0, "one", None),
        (60.0, 90.0, "three, again", "agent-1"),
    ]
    assert [one.resources for one in found] == [*map(parse_resources, ("cpus:0.5", "cpus:1;mem:64", "mem:32"))]


def test_the_seed_decides_what_is_drawn() -> None:
    text = AGENTS + (
        '[[frameworks]]\nname = "f"\ntask = "cpus:1"\n'
        'every = "exponential(mean=5s)"\nlasts = "uniform(low=1s, high=9s)"\n'
    )
    drawn = []
    for seed in (1, 1, 2):
        master, clock = started(f"seed = {seed}\n" + text)
        drawn.append(starts(passes(master, clock, 300.0).completed_tasks))
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) > 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exponential(mean=10m)", 600.0),
        ("uniform(low=1m, high=5m)", 180.0),
        ("lognormal(median=10m, sigma=0.5)", 600.0 * 1.1331),
        ("weibull(scale=10m, shape=2)", 600.0 * 0.8862),
        ("pareto(minimum=1m, shape=4)", 80.0),
        ("1h30m", 5400.0),
    ],
)
def test_distributions_have_the_mean_that_they_say(text: str, expected: float) -> None:
    span, random = parse_time_span(text, "lasts"), Random(1)
    assert span.mean == pytest.approx(expected, rel=1e-3)
    assert fmean(span.draw(random) for _ in range(20_000)) == pytest.approx(expected, rel=0.03)


def test_the_median_is_the_median() -> None:
    span, random = parse_time_span("lognormal(median=10m, sigma=1.5)", "lasts"), Random(1)
    assert median(span.draw(random) for _ in range(20_000)) == pytest.approx(600.0, rel=0.05)


@pytest.mark.parametrize(
    "text", ["pareto(minimum=1s, shape=0.01)", "lognormal(median=1m, sigma=1000)", "weibull(scale=1m, shape=0.0001)"]
)
def test_a_heavy_tail_ends_at_the_longest_span(text: str) -> None:
    span, random = parse_time_span(text, "lasts"), Random(1)
    drawn = [span.draw(random) for _ in range(1000)]
    assert min(drawn) >= 0
    assert max(drawn) == 1e10


# --- From a file ------------------------------------------------------------------------------------


def of_file(tmp_path: Path, rows: str, agents: str = AGENTS) -> tuple[Master, VirtualClock]:
    (tmp_path / "tasks.csv").write_text(rows, encoding="utf-8")
    text = agents + '[[frameworks]]\nname = "f"\nfrom = "tasks.csv"\n'
    return started(text, str(tmp_path / "cluster.toml"))


def test_tasks_of_a_file_are_asked_for_at_their_times(tmp_path: Path) -> None:
    rows = "asked,lasts,task,name\n1m,10,cpus:4,b\n0,5s,cpus:1;mem:1GiB,a\n60.5,,cpus:1,c\n"
    master, clock = of_file(tmp_path, rows)
    framework = passes(master, clock, 100.0)
    assert starts([*framework.completed_tasks, *framework.all_tasks().values()]) == {"a": 0.0, "b": 60.0, "c": 60.5}
    assert [task.id for task in framework.all_tasks().values()] == ["c"]


def test_a_task_waits_an_interval_for_its_host_and_then_takes_any(tmp_path: Path) -> None:
    rows = "asked,lasts,cpus,name,agent\n0,3,4,there,agent-2\n0,9,4,late,agent-2\n20,1,1,nowhere,gone\n"
    rows += "40.3,1,1,own,agent-2\n"
    master, clock = of_file(tmp_path, rows)
    framework = passes(master, clock, 60.0)
    assert starts(framework.completed_tasks) == pytest.approx(
        {"there": 0.0, "late": 1.001, "nowhere": 21.001, "own": 40.3}
    )
    hosts = {task.id: master.state.agents[task.agent_id].hostname for task in framework.completed_tasks}
    assert hosts == {"there": "agent-2", "late": "agent-1", "nowhere": "agent-1", "own": "agent-2"}


def test_the_first_that_fits_goes_first(tmp_path: Path) -> None:
    rows = "asked,lasts,cpus,name\n0,10,3,a\n1,5,3,b\n2,5,2,c\n3,2,1,d\n"
    master, clock = of_file(tmp_path, rows, AGENTS.replace("count = 2", "count = 1"))
    framework = passes(master, clock, 60.0)
    begun = starts(framework.completed_tasks)
    assert begun["d"] == 3.0
    assert begun["a"] < begun["d"] < begun["b"] < begun["c"]


def test_a_task_without_a_name_never_gets_the_name_of_another(tmp_path: Path) -> None:
    rows = "asked,lasts,cpus,name\n0,10,1,\n0,10,1,task-1\n1,10,1,\n1,10,1,task-2\n"
    master, clock = of_file(tmp_path, rows)
    framework = passes(master, clock, 5.0)
    assert set(framework.all_tasks()) == {"task-1", "task-2", "task-3", "task-4"}
    assert not passes(master, clock, 60.0).used()
    assert framework.counts["tasks/terminal/task_finished"] == 4


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("", "line 1: the columns are none"),
        ("lasts\n1\n", "line 1: the columns are lasts"),
        ("asked,cpus\n0,1\n0\n", "line 3: 1 columns instead of 2"),
        ("asked,cpus\nsoon,1\n", "line 2: asked: 'soon' is not a time"),
        ("asked,cpus\n-1,1\n", "line 2: asked: '-1' is not a time"),
        ("asked,cpus\nnan,1\n", "line 2: asked: 'nan' is not a time"),
        ("asked,cpus\n0,many\n", "line 2: cpus: 'many' is not an amount"),
        ("asked,task\n0,ports:[1-2]\n", "line 2: a task takes plain amounts"),
        ("asked,cpus\n0,\n", "line 2: the task has no resources"),
        ("asked,cpus,role\n0,1,x\n", "line 2: role: 'x' is not one of"),
        (f"asked,{'c' * 200_000}\n0,1\n", "line 1: field larger than field limit"),
        ("asked,cpus,\n0,1,\n0,1,7\n", "line 3: '7' is in column 3, which has no name in line 1"),
        ("asked,cpus,name\n0,1,a\n0,1,a\n", "two tasks are called 'a'"),
    ],
)
def test_mistakes_in_the_file_have_their_line(tmp_path: Path, rows: str, problem: str) -> None:
    with pytest.raises(BadInput) as raised:
        of_file(tmp_path, rows)
    assert problem in raised.value.message
    assert "tasks.csv" in raised.value.message


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ('every = "soon"', "every"),
        ('every = "0s"', "every"),
        ("every = -1", "every"),
        ("every = 0.0009", "every"),
        ('every = "1ns"', "every"),
        ('every = "exponential(mean=999us)"', "every"),
        ("lasts = true", "lasts"),
        ('lasts = "normal(mean=1m)"', "lasts"),
        ('lasts = "lognormal(median=1m)"', "lasts"),
        ('lasts = "uniform(low=2m, high=1m)"', "lasts"),
        ('lasts = "weibull(scale=1m, shape=nan)"', "lasts"),
        ('from = "no.csv"', "from"),
        ("from = 3", "from"),
        ('from = "no.csv"\nevery = "1s"', "every"),
        ('answer = "decline"\nevery = "1s"', "every"),
    ],
)
def test_mistakes_are_named(keys: str, field: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_cluster(f'[[frameworks]]\nname = "f"\ntask = "cpus:1"\n{keys}\n', "cluster.toml")
    assert raised.value.field == f"frameworks[0].{field}"


# --- Elsewhere --------------------------------------------------------------------------------------


def test_a_fake_master_for_tests_has_them_too() -> None:
    demand = {"name": "f", "task": "cpus:1", "every": "1m", "lasts": "30s", "tasks": 2}
    with FakeMaster(["cpus:4;mem:1024"], frameworks=[demand]) as fake:  # type: ignore[list-item]  # of a dict
        fake.advance(100.0)
        assert [task.state for task in fake.tasks] == ["TASK_FINISHED", "TASK_FINISHED"]


def test_a_simulation_ends_when_everything_was_asked_for_and_has_ended() -> None:
    text = AGENTS + '[[frameworks]]\nname = "f"\ntask = "cpus:1"\nevery = "3h"\nlasts = "2h"\ntasks = 4\n'
    sharing = simulate(read_cluster(text, "cluster.toml"), 100)
    assert [step.seconds for step in sharing.steps] == [0.0, 10800.0, 21600.0, 32400.0]
    assert sharing.ended


def test_a_simulation_ends_when_only_tasks_without_an_end_run(tmp_path: Path) -> None:
    (tmp_path / "tasks.csv").write_text("asked,lasts,cpus\n0,1,4\n0,,1\n0,100,5\n", encoding="utf-8")
    text = AGENTS + '[[frameworks]]\nname = "f"\nfrom = "tasks.csv"\n'
    result = simulate(read_cluster('mesos_version = "1.11"\n' + text, str(tmp_path / "cluster.toml")), 1000)
    assert result.ended
    assert result.tasks == {"f": 1}


def test_a_simulation_of_endless_demand_that_finds_no_room_ends() -> None:
    text = AGENTS + '[[frameworks]]\nname = "f"\ntask = "cpus:4"\nevery = "1m"\n'
    sharing = simulate(read_cluster(text, "cluster.toml"), 100)
    assert [step.seconds for step in sharing.steps] == [0.0, 60.0]
    assert sharing.ended


# --- Laws -------------------------------------------------------------------------------------------

wanted = st.builds(
    lambda asked, cpus, lasts, agent: (asked, cpus, lasts, agent),
    st.integers(0, 60),
    st.sampled_from([0.5, 1, 3, 8]),
    st.integers(1, 20),
    st.sampled_from([None, None, "agent-1", "agent-2"]),
)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(wanted, min_size=1, max_size=15), st.integers(1, 2))
def test_every_task_that_fits_somewhere_starts_once_and_nothing_is_held_too_long(
    rows: list[tuple[int, float, int, str | None]], agents: int
) -> None:
    sizes = {cpus: parse_resources(f"cpus:{cpus}") for _, cpus, _, _ in rows}
    tasks = [
        WantedTask(float(asked), sizes[cpus], float(lasts), f"t{number}", None, agent)
        for number, (asked, cpus, lasts, agent) in enumerate(sorted(rows, key=lambda row: row[0]))
    ]
    clock = VirtualClock(START)
    master = ClusterSpec((AgentSpec("cpus:4;mem:4096"),) * agents, "1.11").start(clock=clock)
    framework = SimulatedFramework(master, SimulatedFrameworkSpec("f", ("f",), demand=Listed(tasks)))
    begun: dict[str, float] = {}
    framework.on_start = lambda _wanted, task: begun.__setitem__(task.id, master.state.now - START)
    framework.join({})
    for _ in range(100):
        clock.sleep(7.0)
        master.advance()
        held = [agent.used.scalar_quantities().get_amount("cpus") for agent in master.state.agents.values()]
        assert all(0 <= cpus <= 4000 for cpus in held)
    assert begun.keys() == {task.name for task in tasks if task.resources is not sizes.get(8)}
    assert all(begun[task.name or ""] >= task.asked for task in tasks if task.name in begun)
    assert sorted(task.name or "" for task in framework.waiting) == sorted(
        task.name or "" for task in tasks if task.resources is sizes.get(8)
    )
    (known,) = master.state.frameworks.values()
    assert (known.alive, len(known.used())) == (0, 0)
    assert all(not agent.used for agent in master.state.agents.values())
