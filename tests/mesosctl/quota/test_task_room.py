"""How many tasks of one size a guarantee holds, compared with every way to place them."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.quota.task_room import room_for_tasks


def agent(number: int, total: str, used: str = "") -> RegisteredAgent:
    return RegisteredAgent(
        id=f"S{number}",
        hostname=f"agent-{number}",
        pid="",
        total=Resources(parse_entries(total)),
        used=Resources(parse_entries(used)),
    )


def cpus(number: int) -> Quantities:
    return Quantities({"cpus": number * 1000})


small = st.integers(min_value=0, max_value=5)


@given(st.lists(st.tuples(small, small), max_size=3), st.integers(1, 3), small, small)
def test_no_other_placement_holds_more(agents, size, guaranteed, counted):
    """Each agent has unreserved cpus and some that are reserved for the role, which cost nothing of the guarantee."""
    found = room_for_tasks(
        cpus(size),
        cpus(guaranteed + 1),
        cpus(counted),
        "web",
        [agent(i, f"cpus:{plain};cpus(web):{own}") for i, (plain, own) in enumerate(agents)],
    )
    budget = max(0, guaranteed + 1 - counted)
    every_way = product(*(range((plain + own) // size + 1) for plain, own in agents))
    possible = [
        sum(way)
        for way in every_way
        if sum(max(0, tasks * size - own) for tasks, (_, own) in zip(way, agents, strict=True)) <= budget
    ]
    assert found.now == max(possible)
    assert found.agents <= len(agents)
    assert (found.agents == 0) == (found.now == 0)
    assert found.by_amounts == (guaranteed + 1) // size


def test_a_task_needs_all_its_resources_on_one_agent():
    agents = [agent(1, "cpus:8;mem:1024"), agent(2, "cpus:1;mem:65536"), agent(3, "cpus:4;mem:4096")]
    task = Quantities({"cpus": 2000, "mem": 2048_000})
    found = room_for_tasks(task, Quantities({"cpus": 12_000, "mem": 65_536_000}), Quantities(), "web", agents)
    assert (found.by_amounts, found.now, found.agents) == (6, 2, 1)


def test_tasks_that_run_and_reservations_of_others_leave_less():
    agents = [agent(1, "cpus:8;cpus(ads):8", "cpus:5"), agent(2, "cpus(web/db):4")]
    found = room_for_tasks(cpus(2), cpus(20), Quantities(), "web", agents)
    assert (found.now, found.agents) == (1, 1)
    assert room_for_tasks(cpus(2), cpus(20), Quantities(), "web/db", agents).now == 3
    assert room_for_tasks(cpus(2), cpus(20), Quantities(), None, agents).now == 1


def test_a_resource_that_the_guarantee_does_not_name_is_bound_by_agents_alone():
    task = Quantities({"cpus": 1000, "gpus": 1000})
    found = room_for_tasks(task, cpus(4), Quantities(), "web", [agent(1, "cpus:8;gpus:2")])
    assert (found.by_amounts, found.now, found.not_guaranteed) == (4, 2, ("gpus",))
    nothing = room_for_tasks(Quantities({"gpus": 1000}), cpus(4), Quantities(), "web", [agent(1, "cpus:8;gpus:2")])
    assert (nothing.by_amounts, nothing.now, nothing.agents) == (0, 0, 0)
