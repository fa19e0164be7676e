"""The readers of a master's answers, old and new: quotas, usage and agents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.listed_agents import agents
from mesosctl.mesos.rules.quota.capacity import capacity
from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_11
from tests.mesosctl.mesos.messages.quota_status import QuotaStatus


def scalar(name, value):
    return {"name": name, "role": "*", "type": "SCALAR", "scalar": {"value": value}}


def test_no_quota_at_all():
    assert responses.quotas({}) == {}


def test_an_older_master_shows_guarantees_alone():
    answer = {"infos": [{"role": "role1", "guarantee": [scalar("cpus", 12), scalar("mem", 6144.0)]}]}
    assert responses.quotas(answer) == {"role1": Quota(Quantities({"cpus": 12_000, "mem": 6_144_000}))}


def test_a_newer_one_shows_limits_and_empty_entries():
    answer = {
        "infos": [{"role": "b", "guarantee": [scalar("cpus", 1)]}, {"role": "a"}],
        "configs": [{"role": "b", "guarantees": {"cpus": {"value": 1}}, "limits": {"gpus": {"value": 0}}}],
        "something new": 1,
    }
    quotas = responses.quotas(answer)
    assert list(quotas) == ["a", "b"]
    assert quotas["a"].is_default
    assert quotas["b"] == Quota(Quantities({"cpus": 1000}), Limits({"gpus": 0}))


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpus", "mem", "disk", "gpus"]), st.integers(0, 10**9).map(lambda milli: milli / 1000), max_size=4
)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.tuples(AMOUNTS, AMOUNTS)))
def test_the_reader_and_the_model_agree(roles):
    answer = {
        "infos": [{"role": r, "guarantee": [scalar(n, v) for n, v in g.items()]} for r, (g, _) in roles.items()],
        "configs": [
            {
                "role": role,
                "guarantees": {name: {"value": value} for name, value in guarantees.items()},
                "limits": {name: {"value": value} for name, value in limits.items()},
            }
            for role, (guarantees, limits) in roles.items()
        ],
    }
    assert responses.quotas(answer) == QuotaStatus.model_validate(answer).to_model()


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ([], None),
        ({"infos": {}}, "infos"),
        ({"infos": [1]}, "infos[0]"),
        ({"infos": [{}]}, "infos[0].role"),
        ({"infos": [{"role": "a", "guarantee": [{"name": "cpus"}]}]}, "infos[0].guarantee[0].scalar.value"),
        ({"infos": [{"role": "a", "guarantee": [scalar("cpus", "x")]}]}, "infos[0].guarantee[0].scalar.value"),
        ({"infos": [{"role": "a", "guarantee": [scalar("cpus", True)]}]}, "infos[0].guarantee[0].scalar.value"),
        ({"infos": [{"role": "a", "guarantee": [scalar("cpus", 1e300)]}]}, "infos[0].guarantee[0].scalar.value"),
        ({"configs": [{"role": "a", "limits": []}]}, "configs[0].limits"),
    ],
)
def test_a_wrong_type_names_its_path(answer, path):
    with pytest.raises(UnexpectedAnswer) as caught:
        responses.quotas(answer)
    assert caught.value.field == path


def test_usage_before_and_after_1_9():
    old = {"roles": [{"name": "a", "weight": 1.0, "resources": {"cpus": 1, "ports": "[1-2]"}, "frameworks": []}]}
    assert responses.roles(old)["a"].consumed is None
    new = {
        "roles": [{"name": "a", "quota": {"consumed": {"cpus": 1.5}}, "allocated": {"cpus": 1}, "frameworks": ["x"]}]
    }
    usage = responses.roles(new)["a"]
    assert usage.consumed == Quantities({"cpus": 1500})
    assert (usage.frameworks, usage.weight) == (1, 1.0)


def test_the_whitelist_is_a_flag():
    assert responses.whitelist({"flags": {}}) is None
    assert responses.whitelist({"flags": {"roles": "a, b"}}) == frozenset({"a", "b"})


RESERVED = {
    "reserved_resources_full": {
        "ads": [scalar("cpus", 8) | {"role": "ads"}],
        "dyn": [scalar("cpus", 2) | {"role": "dyn", "reservation": {"principal": "op"}}],
    },
    "unreserved_resources_full": [scalar("cpus", 4), scalar("cpus", 1) | {"revocable": {}}],
}


class TestAgents:
    def test_what_is_reserved_by_the_agent_counts_on_newer_masters_only(self):
        found = agents({"slaves": [RESERVED | {"active": True}]})
        assert capacity(found, DOCUMENTS) == Quantities({"cpus": 6000})
        assert capacity(found, MESOS_1_11) == Quantities({"cpus": 14_000})

    @pytest.mark.parametrize("state", [{"active": False}, {"active": True, "deactivated": True}])
    def test_agents_out_of_service_count_on_newer_masters_only(self, state):
        found = agents({"slaves": [RESERVED | state]})
        assert capacity(found, DOCUMENTS) == Quantities()
        assert capacity(found, MESOS_1_11) == Quantities({"cpus": 14_000})

    def test_a_master_without_full_lists_has_all_reservations_counted_as_the_agents(self):
        summary = {
            "reserved_resources": {"ads": {"cpus": 8.0}},
            "unreserved_resources": {"cpus": 4.0, "cpus_revocable": 3.0, "ports": "[1-2]"},
        }
        assert capacity(agents({"slaves": [summary]}), DOCUMENTS) == Quantities({"cpus": 4000})

    @pytest.mark.parametrize(
        ("answer", "path"),
        [
            ({}, "slaves"),
            ({"slaves": [1]}, "slaves[0]"),
            ({"slaves": [{"unreserved_resources": {"cpus": True}}]}, "slaves[0].unreserved_resources.cpus"),
            (
                {"slaves": [{"reserved_resources_full": {}, "unreserved_resources_full": [{"name": "cpus"}]}]},
                "slaves[0].unreserved_resources_full[0]",
            ),
        ],
    )
    def test_a_wrong_type_names_its_path(self, answer, path):
        with pytest.raises(UnexpectedAnswer) as caught:
            agents(answer)
        assert caught.value.field == path


@pytest.mark.parametrize("read", [responses.quotas, responses.roles, responses.flags])
def test_the_answer_to_another_question_is_not_an_empty_one(read):
    with pytest.raises(UnexpectedAnswer, match="another server"):
        read({"slaves": []})
