"""The capacity heuristic: what a cluster can promise, and what no longer fits.

Source: docs/explanation/documents.md, "Capacity Heuristic Check".
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.rules.quota.capacity import AgentCapacity, capacity, check_capacity, total_guarantees, unpromised
from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_11


def quota(cpus: int) -> Quota:
    return Quota(Quantities({"cpus": cpus * 1000}))


AGENTS = (
    AgentCapacity(parse_resources("cpus:12;mem:6144;disk:1000;ports:[31000-32000]")),
    AgentCapacity(parse_resources("cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500;ports:[31000-31100]")),
)


def test_capacity_by_each_master():
    assert capacity(AGENTS, DOCUMENTS) == Quantities({"cpus": 16000, "mem": 8_192_000, "disk": 1_500_000})
    assert capacity(AGENTS, MESOS_1_11) == Quantities({"cpus": 24000, "mem": 12_288_000, "disk": 1_500_000})


def test_dynamically_reserved_resources_can_be_promised_everywhere():
    reserved = AgentCapacity(Resources([Resource("cpus", 4000, (Reservation("DYNAMIC", "ads"),))]))
    assert capacity([reserved], DOCUMENTS) == capacity([reserved], MESOS_1_11) == Quantities({"cpus": 4000})


def test_an_agent_out_of_service_counts_only_on_newer_masters():
    agents = (AGENTS[0], AgentCapacity(parse_resources("cpus:4"), active=False))
    assert capacity(agents, DOCUMENTS).get_amount("cpus") == 12000
    assert capacity(agents, MESOS_1_11).get_amount("cpus") == 16000


def test_equality_with_capacity_passes_and_a_thousandth_more_does_not():
    available = Quantities({"cpus": 16000})
    check_capacity({"a": quota(10), "b": quota(6)}, available)
    with pytest.raises(Conflict, match=r"0\.001 cpus too much"):
        check_capacity({"a": Quota(Quantities({"cpus": 16001}))}, available)


def test_a_resource_that_no_agent_has_is_a_conflict():
    with pytest.raises(Conflict):
        check_capacity({"a": Quota(Quantities({"gpus": 1000}))}, capacity(AGENTS, MESOS_1_11))


def test_only_top_level_roles_count_towards_the_total():
    assert total_guarantees({"a": quota(3), "a/b": quota(1)}) == Quantities({"cpus": 3000})


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 20).map(quota)), st.integers(0, 60))
def test_the_largest_quota_that_would_pass_does_pass_and_one_more_does_not(stored: dict[str, Quota], cpus: int):
    available = Quantities({"cpus": cpus * 1000})
    free = unpromised(stored, available)
    already = total_guarantees(stored)
    if available.contains(already):
        check_capacity(stored | {"new": Quota(free)}, available)
    more = Quota(Quantities({"cpus": free.get_amount("cpus") + 1}))
    with pytest.raises(Conflict):
        check_capacity(stored | {"new": more}, available)


def test_nothing_passes_while_any_name_is_promised_beyond_capacity():
    stored = {"a": Quota(Quantities({"cpus": 5000}))}
    assert unpromised(stored, Quantities({"cpus": 4000, "mem": 9000})) == Quantities()
