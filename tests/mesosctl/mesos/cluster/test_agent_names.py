"""The names of agents where several run on one host."""

from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.names import agent_names
from mesosctl.mesos.roles import display_names, shared_hostnames, short_ids


def test_agents_on_hosts_of_their_own_are_called_as_the_hosts():
    assert display_names({"a-S0": "one", "a-S1": "two"}) == {"a-S0": "one", "a-S1": "two"}


def test_agents_on_one_host_have_the_end_of_their_ids():
    assert display_names({"a-S0": "one", "a-S1": "one", "a-S10": "two"}) == {
        "a-S0": "one (S0)",
        "a-S1": "one (S1)",
        "a-S10": "two",
    }
    assert shared_hostnames(["one", "two", "one"]) == {"one"}


def test_an_end_that_follows_every_id_in_the_alphabet_is_one_too():
    assert short_ids({"A-S0": "h", "A-S1": "h"}) == {"A-S0": "S0", "A-S1": "S1"}


def test_ends_that_several_ids_have_are_made_longer():
    assert short_ids({"x-1-S0": "h", "x-2-S0": "h", "x-2-S1": "h"}) == {
        "x-1-S0": "1-S0",
        "x-2-S0": "2-S0",
        "x-2-S1": "S1",
    }


def test_an_end_that_means_something_else_is_not_taken():
    assert short_ids({"a-S0": "h", "b-S1": "S0"})["a-S0"] == "a-S0"
    assert short_ids({"a-S0": "h", "S0-S1": "h"})["a-S0"] == "a-S0"


@given(st.dictionaries(st.from_regex(r"\A[ab]{1,2}(-S[0-3]{1,2}){1,2}\Z"), st.sampled_from(["one", "two", "S0", "S1"])))
def test_a_short_id_means_its_agent_alone(hostnames):
    for agent_id, short in short_ids(hostnames).items():
        if short != agent_id:
            assert agent_names(hostnames).one(short) == agent_id


def test_an_agent_is_meant_by_its_host_name_its_id_and_either_end_of_it():
    names = agent_names({"ab-S0": "one"})
    for word in ("one", "ab-S0", "ab", "S0", "id:ab-S0", "id:S0", "id:a", "host:one"):
        assert names.one(word) == "ab-S0", word
    for word in ("on", "0", "b-S0", "host:ab-S0", "id:one", "host:on"):
        assert names.one(word) is None, word
