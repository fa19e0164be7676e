"""`top` beneath its screen: readings of a cluster, and the events that wake them."""

from dataclasses import replace

import pytest

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.reading.overview import Feed, Happenings, OverviewReader
from tests.helpers.lab import CommandLine, Lab, Scheduler
from tests.helpers.waiting import wait_until

HOLDER = SimulatedFrameworkSpec("holder", ("ads",), answer="hold")


def master_of(lab: Lab) -> LeadingMaster:
    return LeadingMaster(parse_address("http://127.0.0.1:5050"), ClientSettings(), CommandLine(lab))


def test_a_reading_says_what_there_is():
    lab = Lab("cpus:4;mem:4096", "cpus:4;mem:4096", version="1.11", frameworks=(HOLDER,))
    lab.wait(2.0)
    read = OverviewReader(master_of(lab), lab.clock).read()
    assert read.total == Quantities({"cpus": 8000, "mem": 8192_000})
    assert read.offered == read.total
    assert not read.used
    assert (read.agents, read.frameworks, read.version) == ({"active": 2}, 1, "Mesos 1.11.0")
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


def subscribed(agents, frameworks):
    state = {
        "get_agents": {"agents": [{"agent_info": info(of, name, "hostname")} for of, name in agents]},
        "get_frameworks": {"frameworks": [{"framework_info": info(of, name, "name")} for of, name in frameworks]},
    }
    return {"type": "SUBSCRIBED", "subscribed": {"get_state": state}}


def info(of, name, field):
    return {"id": {"value": of}, field: name}


def agent_added(of, hostname):
    return {"type": "AGENT_ADDED", "agent_added": {"agent": {"agent_info": info(of, hostname, "hostname")}}}


def agent_removed(of):
    return {"type": "AGENT_REMOVED", "agent_removed": {"agent_id": {"value": of}}}


def framework(of, name, *, removed=False):
    described = {"framework_info": info(of, name, "name")}
    if removed:
        return {"type": "FRAMEWORK_REMOVED", "framework_removed": described}
    return {"type": "FRAMEWORK_ADDED", "framework_added": {"framework": described}}


HEARD_OF = subscribed([("m-S0", "a0"), ("m-S2", "twin"), ("m-S3", "twin")], [("m-0000", "spark")])


def told(*events):
    happenings = Happenings()
    for event in (HEARD_OF, *events):
        happenings.hear(event)
    return list(happenings.sentences())


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (agent_added("m-S1", "a1"), "agent a1 registered"),
        (agent_removed("m-S0"), "agent a0 left"),
        (agent_removed("m-S9"), "agent m-S9 left"),
        (framework("m-0001", "cron"), "framework cron subscribed"),
        (framework("m-0001", ""), "framework m-0001 subscribed"),
        (framework("m-0000", "spark", removed=True), "framework spark left"),
        # Names that could mean something else are written with their kind, and agents of one host by short ids.
        (agent_added("m-S1", "S0"), "agent host:S0 registered"),
        (agent_added("m-S1", "host:a1"), "agent host:host:a1 registered"),
        (framework("m-0001", "m-0000"), "framework name:m-0000 subscribed"),
        (framework("m-0001", "id:m-0000", removed=True), "framework name:id:m-0000 left"),
        (agent_removed("m-S2"), "agent S2 left"),
    ],
)
def test_an_event_is_a_sentence(event, sentence):
    assert told(event) == [sentence]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "TASK_ADDED", "task_added": {}},
        {"type": "AGENT_ADDED", "agent_added": None},
        {"type": "AGENT_REMOVED"},
        {"type": "SUBSCRIBED", "subscribed": {}},
    ],
)
def test_an_event_of_another_kind_or_shape_says_nothing(event):
    assert told(event) == []


def test_the_last_events_are_kept_and_a_sentence_changes_with_the_names():
    numbers = range(1000, 1007)
    assert told(*(framework(f"m-{n}", f"f{n}") for n in numbers)) == [f"framework f{n} subscribed" for n in numbers[2:]]
    happenings = Happenings()
    happenings.hear(framework("m-0001", "m-0002"))
    assert happenings.sentences() == ("framework m-0002 subscribed",)
    happenings.hear(framework("m-0002", "other"))
    assert happenings.sentences() == ("framework name:m-0002 subscribed", "framework other subscribed")


def test_frameworks_are_named_as_they_have_to_be_typed():
    names = ("holder", "name:holder")
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=[HOLDER, replace(HOLDER, name=names[1])])
    lab.wait(2.0)
    read = OverviewReader(master_of(lab), lab.clock).read()
    assert sorted(one.typed_title for one in read.listed) == ["holder", "name:name:holder"]


def test_a_framework_that_needs_its_kind_is_named_with_it():
    """Its name is the id of one that is gone, or what fish replaces."""
    lab = Lab("cpus:4;mem:4096", version="1.11")
    gone = Scheduler(lab)
    assert gone.call("TEARDOWN").status == 202
    for name in (gone.id, "%self", "web"):
        Scheduler(lab, name=name)
    read = OverviewReader(master_of(lab), lab.clock).read()
    assert {one.typed_title for one in read.listed} == {f"name:{gone.id}", "name:%self", "web"}


def test_a_feed_reads_in_a_thread_of_its_own_and_ends():
    lab = Lab("cpus:4;mem:4096", version="1.11")
    with Feed(lambda: master_of(lab), 0.5, events=False) as feed:
        wait_until(lambda: feed.overview is not None)
    assert feed.failed is None
    assert feed.overview is not None
    assert feed.overview.total["cpus"] == 4000


def test_a_feed_that_never_reads_anything_says_why():
    def refuse() -> LeadingMaster:
        raise ValueError("no such thing")

    with Feed(refuse, 0.5, events=False) as feed:
        wait_until(lambda: feed.failed is not None)
    assert isinstance(feed.failed, ValueError)
