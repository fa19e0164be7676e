"""Tasks of agents that leave, and the room for them elsewhere."""

import pytest

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.displacement import RunningTask, without_room
from mesosctl.mesos.cluster.holdings import RegisteredAgent


def agent(resources, **more):
    return RegisteredAgent("m-S1", "other", "", parse_resources(resources), **more)


def stranded(roles, *others):
    """Those tasks of one cpu, one for each of these roles, that fit on none of the others."""
    tasks = [RunningTask(str(n), "f", "m-S0", role, parse_resources("cpus:1")) for n, role in enumerate(roles)]
    return [task.id for task in without_room(tasks, others)]


@pytest.mark.parametrize(
    ("roles", "left"),
    [
        (["ads", "ads"], []),
        (["ads", "ads", "ads"], ["2"]),
        (["ads", "web", "ads"], ["1"]),
        (["web"], ["0"]),
    ],
)
def test_a_reservation_has_room_for_as_many_tasks_of_its_role_as_fit_into_it(roles, left):
    assert stranded(roles, agent("cpus(ads):2")) == left


def test_what_goes_beyond_a_reservation_is_taken_from_the_rest():
    assert stranded(["ads"] * 3 + ["web"], agent("cpus(ads):2;cpus:1")) == ["3"]


def test_an_agent_that_is_out_of_service_has_no_room():
    assert stranded(["ads"], agent("cpus:4", active=False)) == ["0"]
    assert stranded(["ads"], agent("cpus:4", active=False), agent("cpus:1")) == []
