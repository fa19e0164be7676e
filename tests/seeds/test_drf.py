"""The article "Playing Traffic Cop": fair shares, step by step."""

import pytest

from fake_master.sources.cluster_file import read_cluster
from fake_master.sources.simulation import simulate
from fake_master.state.flags import MasterFlags
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.dominant_shares import FrameworkShare, Sharing

FRAMEWORK = '[[frameworks]]\nname = "{0}"\nrole = "{1}"\ntask = "{2}"\nper_offer = 1\n'
RAM, CPU = "cpus:1;mem:4GiB", "cpus:3;mem:1GiB"


def played(resources: str, *frameworks: tuple[str, str, str], more: str = "") -> Sharing:
    agents = f'mesos_version = "1.11"\n[[agents]]\nresources = "{resources}"\n'
    text = agents + "".join(FRAMEWORK.format(*one) for one in frameworks) + more
    return simulate(read_cluster(text, "cluster.toml"), 200)


def example(first: str = "b", second: str = "a") -> Sharing:
    """The example of the article; roles say who is served first among equals."""
    return played("cpus:9;mem:18GiB", ("one", first, RAM), ("two", second, CPU))


def test_greedy_frameworks_end_with_equal_dominant_shares():
    one, two = example().holdings_at_end
    assert one.share == two.share == pytest.approx(2 / 3)
    assert (one.dominant, two.dominant) == ("mem", "cpus")
    # Of ten times as much, equal parts of the cpus alone would be fifteen tasks of the second.
    large = played("cpus:90;mem:180GiB", ("one", "b", RAM), ("two", "a", CPU))
    assert large.tasks == {"one": 30, "two": 20}
    one, two = large.holdings_at_end
    assert one.share == two.share == pytest.approx(2 / 3)


def test_with_equal_demands_the_smallest_share_is_as_large_as_it_can_be():
    modest = FRAMEWORK.format("modest", "m", "cpus:1;mem:1GiB") + "tasks = 2\n"
    greedy = [(name, name, "cpus:1;mem:1GiB") for name in ("x", "y")]
    sharing = played("cpus:12;mem:12GiB", *greedy, more=modest)
    assert sharing.tasks == {"x": 5, "y": 5, "modest": 2}


def test_fair_sharing_is_the_default():
    shown = MasterFlags.parse({}).shown
    assert (shown["allocator"], shown["role_sorter"], shown["framework_sorter"]) == ("hierarchical", "drf", "drf")


@pytest.mark.parametrize(
    ("cpus", "mem", "dominant", "share"),
    [(6000, 2000, "cpus", 2 / 3), (3000, 12000, "mem", 2 / 3), (1000, 2000, "cpus", 1 / 9), (0, 0, None, 0)],
)
def test_the_dominant_resource_is_the_one_with_the_largest_part(cpus, mem, dominant, share):
    held = FrameworkShare.of("f", Quantities({"cpus": cpus, "mem": mem}), Quantities({"cpus": 9000, "mem": 18000}))
    assert held.dominant == dominant
    assert held.share == pytest.approx(share)


def test_the_example_step_by_step():
    steps = example().steps
    assert [step.framework for step in steps] == ["two", "one", "one", "two", "one"]
    shares = [{held.framework: round(held.share, 3) for held in step.holdings} for step in steps]
    assert [share["two"] for share in shares] == [0.333, 0.333, 0.333, 0.667, 0.667]
    assert [share["one"] for share in shares] == [0, 0.222, 0.444, 0.444, 0.667]
    # The first task of each is 1/9 and 2/9, and 1/3 and 1/18.
    totals = steps[0].holdings[1].amounts, steps[1].holdings[0].amounts
    assert [dict(held) for held in totals] == [
        {"cpus": 3000, "mem": 1_024_000},
        {"cpus": 1000, "mem": 4_096_000},
    ]
    assert steps[-1].allocated.get_amount("cpus") == 9000


def test_a_framework_with_few_tasks_leaves_the_rest_to_others():
    few = FRAMEWORK.format("one", "b", RAM) + "tasks = 2\n"
    sharing = played("cpus:18;mem:36GiB", ("two", "a", CPU), ("three", "c", "cpus:0.5;mem:1GiB"), more=few)
    assert sharing.tasks["one"] == 2
    assert sharing.allocated_at_end.get_amount("cpus") == 18000


def test_whoever_begins_the_end_is_the_same():
    other = example("a", "b")
    assert other.steps[0].framework == "one"
    assert other.tasks == example().tasks == {"one": 3, "two": 2}
    assert other.holdings_at_end == example().holdings_at_end
