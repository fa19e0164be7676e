"""Selectors of agents by their attributes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.cluster.selectors import is_selector, parse_selector, parse_selectors, take
from mesosctl.mesos.errors import UsageError

WITHOUT: dict[str, str | float] = {"zone": "a"}
R1: dict[str, str | float] = {"rack": "r1", "slots": 2.0}


@pytest.mark.parametrize(
    ("word", "takes_r1", "takes_without"),
    [
        ("rack=r1", True, False),
        ("rack==r1", True, False),
        (" rack = r1 ", True, False),
        ("rack=r2", False, False),
        ("rack=", False, False),
        ("rack!=r1", False, True),
        ("rack!=r2", True, True),
        ("rack in (r1,r2)", True, False),
        ("rack in(r1)", True, False),
        ("rack in ( r2 , r3 )", False, False),
        ("rack notin (r1, r2)", False, True),
        ("rack notin (r2)", True, True),
        ("rack", True, False),
        ("!rack", False, True),
        ("slots=2", True, False),
        ("slots in (1, 2.0)", True, False),
        ("slots=two", False, False),
        ("slots!=2", False, True),
    ],
)
def test_each_selector_means_what_it_means_to_kubectl(word, takes_r1, takes_without):
    selector = parse_selector(word, "--attribute")
    assert (selector.takes(R1), selector.takes(WITHOUT)) == (takes_r1, takes_without)


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("", "''"),
        ("!", "'!'"),
        ("=r1", "'=r1'"),
        ("!=r1", "'=r1'"),
        ("!rack=r1", "'rack=r1'"),
        ("rack>1", "'rack>1'"),
        ("rack is r1", "'is r1'"),
        ("rack in", "'in'"),
        ("rack in r1", "'r1'"),
        ("rack in (r1", "'(r1'"),
        ("rack in ()", "'()'"),
        ("rack notin (r1,,r2)", "'(r1,,r2)'"),
        ("rack=(r1,r2)", "'(r1,r2)'"),
        ("ra ck=r1", "'ck'"),
        ("rack,zone", "'rack,zone'"),
    ],
)
def test_a_malformed_one_is_refused_with_the_part_that_is_wrong(word, wrong):
    with pytest.raises(UsageError) as refused:
        parse_selector(word, "--attribute")
    assert refused.value.message.startswith(f"'{word}' does not select agents: {wrong} ")
    assert refused.value.field == "--attribute"


VALUES = st.sampled_from(["r1", "r2", "r3"])


@given(st.lists(VALUES, min_size=1), st.dictionaries(st.just("rack"), VALUES))
def test_a_set_is_any_of_its_values_and_its_opposite_every_other_agent(values, attributes):
    (of_set, not_of_set) = (
        parse_selector(f"rack {verb} ({','.join(values)})", "--attribute") for verb in ("in", "notin")
    )
    alone = [parse_selector(f"rack={value}", "--attribute") for value in values]
    assert of_set.takes(attributes) == any(one.takes(attributes) for one in alone)
    assert not_of_set.takes(attributes) != of_set.takes(attributes)
    every = parse_selectors([f"rack!={value}" for value in values], "--attribute")
    assert take(every, attributes) == not_of_set.takes(attributes)


@pytest.mark.parametrize(
    ("word", "selects"),
    [("rack=r1", True), ("!gpu", True), ("rack in (r1)", True), ("rack notin r1", True), ("node-1", False),
     ("inn", False), ("S0", False)],
)  # fmt: skip
def test_a_word_that_may_name_an_agent_is_told_from_a_selector(word, selects):
    assert is_selector(word) is selects
