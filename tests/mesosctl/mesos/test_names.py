"""The meaning of a word among things that are named like each other, against a plain reading of every name."""

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.errors import NotFound, UsageError
from mesosctl.mesos.names import (
    KINDS,
    MACHINE,
    VOLUME,
    Kind,
    Names,
    agent_names,
    framework_names,
    kind_of,
    new_name,
    spelled,
    with_kind,
)
from tests.helpers.meanings import fitting, meant

# Few words, so that ids, their ends and beginnings, host names and prefixes collide in every way.
_PARTS = st.sampled_from(["S0", "S1", "S10", "a", "ab", "1"])
_IDS = st.lists(_PARTS, min_size=1, max_size=3).map("-".join)
_WORDS = st.one_of(_IDS, st.builds(with_kind, st.sampled_from(KINDS), _IDS), st.sampled_from(["", "id:", "a-", "-S0"]))
_AGENTS = st.dictionaries(st.one_of(_IDS, st.sampled_from(["id:S0", "host:a", "ab-S0"])), _WORDS, max_size=6)


@given(_AGENTS, _WORDS)
@example({"x-S0": "h1", "x-S7": "S0"}, "S0")
@example({"a-S1": "h1", "a-S10": "h2"}, "a-S1")
@example({"S0": "h1", "a-S0": "h2"}, "S0")
@example({"S0": "h1", "a-S0": "h2"}, "id:S0")
@example({"a-S0": "id:a-S1", "a-S1": "h"}, "id:a-S1")
@example({"a-S0": "id:a-S1", "a-S1": "h"}, "host:id:a-S1")
def test_a_word_means_an_agent_only_if_it_fits_no_other(hostnames, word):
    kind, text = kind_of(word)
    names = agent_names(hostnames)
    if not text or kind not in (None, "host", "id"):
        with pytest.raises(UsageError):
            names.one(word)
        return
    found = meant(hostnames, word)
    if len(found) > 1:
        with pytest.raises(UsageError, match="matches several agents") as refused:
            names.one(word)
        for one in found:
            assert one in refused.value.message or hostnames[one] in refused.value.message
        told = refused.value.hint or ""
        for advised in shlex.split(told.removeprefix("write ")) if told != "write one of these names" else ():
            if advised != "or":
                assert names.one(advised) in found
    else:
        assert names.one(word) == next(iter(found), None)


@given(_AGENTS)
def test_what_is_spelled_is_read_back_as_that_kind(hostnames):
    names = agent_names(hostnames)
    spell = names.speller()
    for agent_id, host in hostnames.items():
        assert names.every(spell("id", agent_id)) == [agent_id]
        if host:
            assert set(names.every(spell("host", host))) == {one for one in hostnames if hostnames[one] == host}
        both: list[tuple[Kind, str]] = [("id", agent_id), ("host", host)]
        for kind, text in both:
            word = spell(kind, text)
            assert word == names.spell(kind, text)
            # A kind is in front only if it is needed.
            plain = kind_of(text)[0] is None and len({frozenset(one) for one in fitting(hostnames, text).values()}) <= 1
            assert word == (text if plain or not text else with_kind(kind, text))


@given(_AGENTS)
def test_the_word_of_an_agent_means_it_alone(hostnames):
    names = agent_names(hostnames)
    for agent_id in hostnames:
        assert names.one(names.word(agent_id)) == agent_id


_FRAMEWORKS = st.dictionaries(st.one_of(_IDS, st.sampled_from(["id:a", "name:a"])), _WORDS, max_size=6)


@given(_FRAMEWORKS, st.lists(_WORDS, max_size=3))
@example({"f-1": "kafka", "f-2": "f-1"}, ["f-1"])
@example({"f-1": "kafka", "f-2": "f-1"}, ["name:f-1", "id:f-1"])
@example({"f-1": "kafka", "f-2": "kafka"}, ["kafka"])
@example({"f-1": "name:id:x"}, ["name:name:id:x"])
@example({"f-1": "f-1", "f-2": "f-1"}, ["f-1"])
def test_a_list_takes_every_framework_of_a_name_and_refuses_what_is_the_id_of_another(named, words):
    names = framework_names(named)
    wanted: set[str] = set()
    for word in words:
        kind, text = kind_of(word)
        of_id = {text} & named.keys() if kind in (None, "id") else set()
        of_name = {one for one, name in named.items() if name == text} if kind in (None, "name") else set()
        if not text or kind not in (None, "id", "name") or (of_id and of_name and of_id != of_name):
            with pytest.raises(UsageError):
                names.chosen(words)
            return
        if not of_id | of_name:
            with pytest.raises(NotFound):
                names.chosen(words)
            return
        wanted |= of_id | of_name
    assert names.chosen(words) == [one for one in named if one in wanted]


@given(_FRAMEWORKS)
def test_a_framework_is_read_back_by_what_is_spelled(named):
    names = framework_names(named)
    for framework_id, name in named.items():
        assert names.one(names.spell("id", framework_id)) == framework_id
        assert names.one(names.word(framework_id)) == framework_id
        if name:
            assert framework_id in names.every(names.spell("name", name))
            assert all(named[one] == name for one in names.every(names.spell("name", name)))


def test_an_ambiguous_word_is_told_with_all_that_it_means():
    with pytest.raises(UsageError) as refused:
        agent_names({"x-S0": "h1", "x-S7": "S0", "y-S0": "h 2"}).one("S0")
    assert refused.value.message == "'S0' matches several agents: host:S0 (x-S7), h1, h 2"
    assert refused.value.hint == "write host:S0 or h1 or 'h 2'"
    with pytest.raises(UsageError) as refused:
        framework_names({"f-1": "kafka", "f-2": "f-1", "f-3": "f-1"}).every("f-1")
    assert refused.value.message == "'f-1' matches several frameworks: name:f-1 (f-2, f-3), id:f-1 (kafka)"
    assert refused.value.hint == "write name:f-1 or id:f-1"


def test_a_kind_that_the_noun_does_not_have_is_refused_with_how_to_write_it():
    for word, hint in (("role:x", "write host:role:x if all of it is the host name"), ("name:x", "host:name:x")):
        with pytest.raises(UsageError, match="no agent has a") as refused:
            agent_names({"a-S0": word}).one(word)
        assert hint in (refused.value.hint or "")
        assert agent_names({"a-S0": word}).one(f"host:{word}") == "a-S0"


def test_a_machine_is_meant_by_its_host_in_any_case_its_address_and_its_agents():
    machines = {"m1": ("Host-1", "10.0.0.1", ("x-S0", "x-S2")), "m2": ("10.0.0.1", "10.0.0.2", ("x-S1",))}

    def of(one):
        host, address, agents = machines[one]
        return (("host", host), ("address", address), *(("id", agent) for agent in agents))

    names = Names(machines, of, MACHINE)
    assert [names.one(word) for word in ("HOST-1", "host:host-1", "10.0.0.2", "S1")] == ["m1", "m1", "m2", "m2"]
    assert names.one("x-S2") == "m1"
    with pytest.raises(UsageError, match=r"host:10.0.0.1 \(10.0.0.2\), address:10.0.0.1 \(Host-1\)"):
        names.every("10.0.0.1")
    assert (names.every("host:10.0.0.1"), names.every("address:10.0.0.1")) == (["m2"], ["m1"])
    with pytest.raises(UsageError, match="matches several machines"):
        names.every("x")  # the beginning of an id means one machine, or nothing is taken down


def test_a_new_name_means_the_same_as_it_does_afterwards():
    assert (new_name("v1", "id"), new_name("id:v1", "id"), new_name("id:id:v1", "id")) == ("v1", "v1", "id:v1")
    with pytest.raises(UsageError, match="another kind"):
        new_name("name:v1", "id")
    for volume in ("v1", "id:v1", "name:v1", "role:", "host"):
        names = Names([volume], lambda one: (("id", one),), VOLUME)
        assert names.one(spelled("id", volume)) == volume
