"""`mesosctl reserve`: which agent, which owner, what is refused before anything is sent, and what is waited for."""

import json

import pytest

ONE_CPU = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}
PORTS = {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31002}]}}
BY_ADS = {"type": "DYNAMIC", "role": "ads"}


def test_reserves_and_sees_it_on_the_master_and_on_the_agent(lab):
    ran = lab.run("reserve", "one", "cpus:2", "mem:1GiB", "--role", "ads", "-o", "json")
    [change] = ran.json["changes"]
    assert ran.status == 0
    assert (change["done"], change["by_master"], change["by_agent"]) == ("reserved", True, True)
    assert change["agent"]["hostname"] == "one"
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,ads)]):2; mem(reservations: [(DYNAMIC,ads)]):1024"


@pytest.mark.parametrize("end", [slice(None), slice(-3, None), slice(-2, None)])
def test_an_agent_can_be_named_by_its_id_or_the_end_of_it(lab, end):
    assert lab.run("reserve", lab.agent("two").id[end].lstrip("-"), "cpus:1", "--role", "ads").status == 0
    assert lab.reserved("two") == "cpus(reservations: [(DYNAMIC,ads)]):1"


def test_a_beginning_that_all_ids_share_means_nobody_in_particular(lab):
    ran = lab.run("reserve", lab.agent("one").id[:8], "cpus:1", "--role", "ads")
    assert ran.status == 2
    assert "several agents" in ran.err


def test_whoever_names_nobody_is_told_who_there_is(lab):
    ran = lab.run("reserve", "four", "cpus:1", "--role", "ads")
    assert ran.status == 5
    assert "the agents are one, three, two\n" in ran.err


def test_labels_keep_their_order_and_the_v1_call_does_the_same(lab):
    words = ("--role", "ads", "--label", "b=2", "--label", "a=1", "--reserver", "me")
    assert lab.run("reserve", "one", "cpus:1", *words, "--api", "v1").status == 0
    assert lab.run("reserve", "one", "cpus:1", *words).status == 0
    assert lab.changes == ["POST /api/v1 RESERVE_RESOURCES", "POST /reserve"]
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,ads,me,{b: 2, a: 1})]):2"


def test_refines_what_lies_below_whatever_its_labels(lab):
    lab.run("reserve", "one", "cpus:4", "--role", "eng", "--label", "k=v", "--reserver", "me")
    assert lab.run("reserve", "one", "cpus:1", "--role", "eng/web/db", "--under", "eng").status == 0
    assert "cpus(reservations: [(DYNAMIC,eng,me,{k: v}),(DYNAMIC,eng/web/db)]):1" in lab.reserved("one")


def test_refines_a_static_reservation(lab):
    assert lab.run("reserve", "two", "cpus:1", "--role", "ads/x", "--under", "ads").status == 0
    assert lab.reserved("two") == "cpus(reservations: [(STATIC,ads),(DYNAMIC,ads/x)]):1"


def test_does_not_guess_between_two_reservations_below(lab):
    for reserver in ("me", "you"):
        lab.run("reserve", "one", "cpus:1", "--role", "eng", "--reserver", reserver)
    for words in (
        ("reserve", "one", "cpus:1", "--role", "eng/x", "--under", "eng", "--reserver", "me"),
        ("whatif", "reserve:one=cpus(eng>eng/x):1"),
    ):
        ran = lab.run(*words)
        assert ran.status == 2
        assert "more than once" in ran.err
        assert "hint: mesosctl reserve one -f FILE reads JSON" in ran.err  # an option would be for the new reservation


@pytest.mark.parametrize(("amount", "role", "lacks"), [(20, "ads", False), (30, "ads", True), (30, "web", False)])
def test_a_guarantee_that_cannot_be_met_any_more_is_named(lab, amount, role, lacks):
    """There are 32 cpus that nobody has reserved, and 8 of ads; web has a guarantee of 8."""
    assert lab.run("quota", "set", "web", "cpus:8").status == 0
    rest = amount
    for agent, free in (("three", 16), ("one", 12), ("two", 4)):
        taken, rest = min(rest, free), rest - min(rest, free)
        if taken:
            ran = lab.run("reserve", agent, f"cpus:{taken}", "--role", role)
            assert ran.status == 0
    assert ("web lacks 8 cpus of its guarantee" in ran.err) is lacks, ran.err


def test_any_takes_the_agent_with_most_room(lab):
    assert lab.run("reserve", "--any", "cpus:4", "mem:1024", "--role", "db").status == 0
    assert "cpus" in lab.reserved("three")


def test_any_takes_the_agent_with_most_of_what_it_refines(lab):
    lab.run("reserve", "three", "cpus:1", "--role", "eng")
    lab.run("reserve", "one", "cpus:2", "--role", "eng")
    assert lab.run("reserve", "--any", "cpus:1", "--role", "eng/x", "--under", "eng").status == 0
    assert "eng/x" in lab.reserved("one")


def test_count_and_attributes_choose_agents_of_a_rack(lab):
    assert lab.run("reserve", "--count", "2", "cpus:1", "--role", "db", "--attribute", "rack=r1").status == 0
    assert [bool(lab.agent(name).total.reserved("db")) for name in ("one", "two", "three")] == [True, False, True]
    assert lab.run("reserve", "--any", "cpus:1", "--role", "x", "--attribute", "slots=2").status == 0
    assert lab.agent("one").total.reserved("x")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (2, ["reserve"]),
        (2, ["reserve", "one", "--role", "ads"]),
        (2, ["reserve", "one", "cpus:1"]),
        (2, ["reserve", "one", "cpus:1", "--role", "ads", "--label", "k"]),
        (2, ["reserve", "one", "cpus:1", "--role", "ads", "--attribute", "rack=r1"]),
        (3, ["reserve", "one", "cpus:0", "--role", "ads"]),
        (3, ["reserve", "one", "ports:[]", "--role", "ads"]),
        (3, ["reserve", "one", "cpus:-1", "--role", "ads"]),
        (3, ["reserve", "one", "cpus:1", "--role", "*"]),
        (3, ["reserve", "one", "cpus:1", "--role", "a b"]),
        (3, ["reserve", "one", "cpus(web):1", "--role", "ads"]),
        (3, ["reserve", "one", "cpus:1", "--role", "ads", "--under", "web"]),
        (5, ["reserve", "nobody", "cpus:1", "--role", "ads"]),
        (5, ["reserve", "one", "cpus:1", "--role", "ads/x", "--under", "ads"]),
        (6, ["reserve", "one", "cpus:100", "--role", "ads"]),
        (6, ["reserve", "--count", "4", "cpus:1", "--role", "ads"]),
    ],
)
def test_what_is_wrong_is_never_sent(lab, status, words):
    ran = lab.run(*words)
    assert ran.status == status, ran.err
    assert lab.changes == []
    assert ran.out == ""


@pytest.mark.parametrize(
    "wrap", [lambda entries: entries, lambda entries: {"reserve_resources": {"resources": entries}}]
)
def test_takes_the_documented_json(lab, wrap):
    payload = wrap([{**ONE_CPU, "reservations": [BY_ADS]}, {**ONE_CPU, "role": "web", "reservation": {}}])
    assert lab.run("reserve", "one", "-f", "-", stdin=json.dumps(payload)).status == 0
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,ads)]):1; cpus(reservations: [(DYNAMIC,web)]):1"


def test_the_agent_in_the_json_is_the_one_that_is_named(lab):
    one, two = lab.agent("one").id, lab.agent("two").id
    operation = {"agent_id": {"value": one}, "resources": [{**ONE_CPU, "reservations": [BY_ADS]}]}
    call = json.dumps({"type": "RESERVE_RESOURCES", "reserve_resources": operation})
    ran = lab.run("reserve", "two", "-f", "-", stdin=call)
    assert (ran.status, lab.changes) == (2, [])
    assert one in ran.err
    assert two in ran.err
    assert lab.run("reserve", "one", "-f", "-", stdin=call).status == 0


def test_a_source_changes_the_owner_without_a_moment_in_between(lab):
    lab.run("reserve", "one", "cpus:1", "--role", "ads")
    payload = {
        "source": [{**ONE_CPU, "reservations": [BY_ADS]}],
        "resources": [{**ONE_CPU, "reservations": [{"type": "DYNAMIC", "role": "web"}]}],
    }
    assert lab.run("reserve", "one", "-f", "-", stdin=json.dumps(payload)).status == 0
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,web)]):1"


def test_a_source_may_be_what_it_becomes(lab):
    lab.run("reserve", "one", "cpus:1", "--role", "ads")
    same = [{**ONE_CPU, "reservations": [BY_ADS]}]
    assert lab.run("reserve", "one", "-f", "-", stdin=json.dumps({"source": same, "resources": same})).status == 0
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,ads)]):1"


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [{**ONE_CPU, "scalar": {"value": 0}, "reservations": [BY_ADS]}],
        [{"name": "note", "type": "TEXT", "reservations": [BY_ADS]}],
        [{**ONE_CPU, "reservations": [{"type": "STATIC", "role": "ads"}]}],
        [{**PORTS, "reservations": [BY_ADS]}, {**PORTS, "reservations": [{"type": "DYNAMIC", "role": "web"}]}],
        [{**ONE_CPU, "reservations": [BY_ADS], "allocation_info": {"role": "ads"}}],
        {"resources": [{**ONE_CPU, "reservations": [BY_ADS]}], "source": [{**ONE_CPU, "role": "ads"}]},
        {"nothing": 1},
        "text",
    ],
)
def test_json_that_would_be_refused_or_kill_is_not_sent(lab, entries):
    ran = lab.run("reserve", "one", "-f", "-", stdin=json.dumps(entries))
    assert ran.status == 3, ran.err
    assert lab.changes == []


def test_a_message_that_is_lost_on_the_way_to_the_agent_is_told(lab):
    lab.agent("one").faults.loses = 1
    ran = lab.run("reserve", "one", "cpus:1", "--role", "ads")
    assert ran.status == 9
    assert "but the agent never showed it" in ran.err
    assert lab.reserved("one") != "{}"


def test_a_late_agent_is_waited_for(lab):
    lab.agent("one").faults.delay = 3.0
    ran = lab.run("reserve", "one", "cpus:1", "--role", "ads", terminal=True)
    assert ran.status == 0
    assert "to show the change on one" in ran.err


def test_the_deadline_ends_the_waiting(lab):
    lab.agent("one").faults.delay = 3.0
    assert lab.run("reserve", "one", "cpus:1", "--role", "ads", "--timeout", "2").status == 9


def test_neither_is_asked_without_waiting_and_only_the_master_where_it_is_trusted(lab):
    lab.agent("one").faults.loses = -1
    assert lab.run("reserve", "one", "cpus:1", "--role", "ads", "--no-wait").status == 0
    ran = lab.run("reserve", "one", "cpus:1", "--role", "ads", "--trust-master", "-o", "json")
    [change] = ran.json["changes"]
    assert (change["by_master"], change["by_agent"]) == (True, False)
    assert not [line for line in lab.asked if "state" in line]


def test_an_agent_that_cannot_be_reached_is_told(lab):
    lab.agent("one").number = 99  # its pid leads nowhere
    lab.agent("two").number = 1
    lab.lab.master.state.agents[lab.agent("one").id].connected = False
    ran = lab.run("reserve", "one", "cpus:1", "--role", "ads")
    assert ran.status == 9
    assert "the agent could not be queried" in ran.err


def test_at_least_reserves_only_what_is_missing(lab):
    words = ("--role", "ads", "--at-least")
    assert lab.run("reserve", "one", "cpus:2", *words, "--reserver", "me").status == 0
    again = lab.run("reserve", "one", "cpus:2", *words, "-o", "json")
    assert (again.status, again.json["changes"], len(lab.changes)) == (0, [], 1)
    assert "'ads' already has at least cpus:2 reserved on one" in again.err
    assert lab.run("reserve", "one", "cpus:3", "mem:64", *words, "--reserver", "me").status == 0
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,ads,me)]):3; mem(reservations: [(DYNAMIC,ads,me)]):64"


def test_at_least_counts_the_same_stack_and_the_labels_that_are_named(lab):
    assert lab.run("reserve", "one", "cpus:1", "--role", "ads", "--label", "a=1").status == 0
    assert lab.run("reserve", "one", "cpus:1", "--role", "ads", "--at-least").status == 0
    assert lab.run("reserve", "one", "cpus:1", "--role", "ads/x", "--at-least").status == 0
    assert lab.run("reserve", "one", "cpus:1", "--role", "ads", "--label", "a=2", "--at-least").status == 0
    assert len(lab.changes) == 3


def test_at_least_on_some_agents_counts_those_that_have_it(lab):
    assert lab.run("reserve", "one", "cpus:2", "--role", "ads").status == 0
    ran = lab.run("reserve", "--count", "2", "cpus:2", "--role", "ads", "--at-least", "-o", "json")
    [change] = ran.json["changes"]
    assert change["agent"]["hostname"] != "one"
    assert lab.run("reserve", "--count", "2", "cpus:2", "--role", "ads", "--at-least").status == 0
    assert len(lab.changes) == 2


def test_at_least_is_safe_to_run_again_after_status_9(lab):
    lab.agent("one").faults.loses = 1
    words = ("reserve", "one", "cpus:1", "--role", "ads", "--at-least")
    assert lab.run(*words).status == 9
    assert lab.run(*words).status == 0
    assert len(lab.changes) == 1


def test_at_least_is_not_for_a_file(lab):
    assert lab.run("reserve", "one", "-f", "-", "--at-least", stdin="[]").status == 2
