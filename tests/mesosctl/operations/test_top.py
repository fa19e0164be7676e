"""`top` beneath its screen: readings of a cluster, and the events that wake them."""

import pytest

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import Master
from mesosctl.client.settings import ClientSettings
from mesosctl.model.quantities import Quantities
from mesosctl.operations.top import Feed, OverviewReader, _sentence
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.waiting import wait_until

HOLDER = SimulatedFrameworkSpec("holder", ("ads",), answer="hold")


def master_of(lab: Lab) -> Master:
    return Master(parse_address("http://127.0.0.1:5050"), ClientSettings(), CommandLine(lab))


def test_a_reading_says_what_there_is():
    lab = Lab("cpus:4;mem:4096", "cpus:4;mem:4096", version="1.11", frameworks=(HOLDER,))
    lab.wait(2.0)
    read = OverviewReader(master_of(lab), lab.clock).read()
    assert read.total == Quantities({"cpus": 8000, "mem": 8192_000})
    assert read.offered == read.total
    assert not read.used
    assert (read.agents, read.frameworks, read.version) == ({"active": 2}, 1, "1.11.0")
    assert [(one.framework, one.offers) for one in read.offers] == [("holder", 2)]


def test_an_offer_is_older_than_what_was_seen_of_it_where_it_was_there_before():
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=(HOLDER,))
    lab.wait(5.0)
    reader = OverviewReader(master_of(lab), lab.clock)
    (first,) = reader.read().offers
    assert (first.oldest, first.was_there) == (0.0, True)
    lab.wait(3.0)
    (second,) = reader.read().offers
    assert (second.oldest, second.was_there) == (3.0, True)


def test_an_offer_that_came_meanwhile_is_as_old_as_it_was_seen():
    late = SimulatedFrameworkSpec("holder", ("ads",), answer="hold", after=10.0)
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=(late,))
    reader = OverviewReader(master_of(lab), lab.clock)
    assert reader.read().offers == []
    lab.wait(12.0)
    reader.read()
    lab.wait(4.0)
    (one,) = reader.read().offers
    assert (one.oldest, one.was_there) == (4.0, False)


def test_what_may_not_be_seen_is_named_and_the_rest_is_there():
    acls = '{"permissive": true, "view_roles": [{"principals": {"type": "ANY"}, "roles": {"type": "NONE"}}]}'
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=(HOLDER,), flags={"acls": acls})
    lab.wait(2.0)
    read = OverviewReader(master_of(lab), lab.clock).read()
    assert read.frameworks == 1
    assert read.total


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "AGENT_ADDED", "agent_added": {"agent": {"agent_info": {"id": {"value": "S1"}, "hostname": "a1"}}}},
         "agent a1 registered"),
        ({"type": "AGENT_REMOVED", "agent_removed": {"agent_id": {"value": "S0"}}}, "agent a0 left"),
        ({"type": "AGENT_REMOVED", "agent_removed": {"agent_id": {"value": "S9"}}}, "agent S9 left"),
        ({"type": "FRAMEWORK_ADDED", "framework_added": {"framework": {"framework_info": {"name": "spark"}}}},
         "framework spark subscribed"),
        ({"type": "FRAMEWORK_REMOVED", "framework_removed": {"framework_info": {"name": "spark"}}},
         "framework spark left"),
        ({"type": "TASK_ADDED", "task_added": {}}, ""),
        ({"type": "AGENT_ADDED", "agent_added": None}, ""),
        ({"type": "AGENT_REMOVED"}, ""),
    ],
)  # fmt: skip
def test_an_event_is_a_sentence(event, told):
    assert _sentence(event["type"], event, {"S0": "a0"}) == told


def test_a_feed_reads_in_a_thread_of_its_own_and_ends():
    lab = Lab("cpus:4;mem:4096", version="1.11")
    with Feed(lambda: master_of(lab), 0.5, events=False) as feed:
        wait_until(lambda: feed.overview is not None)
    assert feed.failed is None
    assert feed.overview is not None
    assert feed.overview.total["cpus"] == 4000


def test_a_feed_that_never_reads_anything_says_why():
    def refuse() -> Master:
        raise ValueError("no such thing")

    with Feed(refuse, 0.5, events=False) as feed:
        wait_until(lambda: feed.failed is not None)
    assert isinstance(feed.failed, ValueError)
