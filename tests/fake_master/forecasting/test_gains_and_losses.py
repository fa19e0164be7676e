"""The comparison of two dry runs: gains, losses, and roles below their guarantee."""

from hypothesis import given
from hypothesis import strategies as st

from fake_master.forecasting.gains_and_losses import (
    RunSummary,
    at_limit,
    fits,
    forecast,
    headroom,
    share_changes,
    starving,
    unknowns,
    unoffered,
)
from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.cluster.account import ClusterAccount, LikeAgents
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.forecast import AnsweredChange

SNAPSHOT = ClusterSnapshot("1.11.0", 1e9)
TEN = Quantities({"cpus": 10_000, "mem": 10_000})


def cpus(amount: float) -> Quantities:
    return Quantities({"cpus": int(amount * 1000)})


def moment(**more) -> ClusterAccount:
    return ClusterAccount(**({"totals": TEN, "capacity": TEN, "free": Quantities()} | more))


def guaranteed(**roles: float) -> dict[str, Quota]:
    return {role: Quota(cpus(amount)) for role, amount in roles.items()}


def starved(before: ClusterAccount, after: ClusterAccount) -> list[tuple[str, str, bool]]:
    roles, frameworks = share_changes(before, after)
    return [(one.name, one.reason, one.caused) for one in starving(before, after, [*roles, *frameworks])]


def test_who_gains_and_who_loses():
    before = moment(roles={"a": UsedAndOffered(cpus(1), cpus(4)), "b": UsedAndOffered(cpus(2))})
    after = moment(roles={"a": UsedAndOffered(cpus(1)), "b": UsedAndOffered(cpus(2), Quantities({"mem": 9_000}))})
    (a, b), _ = share_changes(before, after)
    assert (a.gains, a.loses, a.share_before, a.share_after) == (Quantities(), cpus(4), 0.5, 0.1)
    assert (b.gains, b.loses, b.dominant) == (Quantities({"mem": 9_000}), Quantities(), "mem")
    assert (a.changes, b.changes) == (True, True)


def test_below_a_guarantee_because_of_the_change():
    before = moment(quotas=guaranteed(a=4), counted={"a": cpus(4)}, asking=frozenset("a"))
    after = moment(quotas=guaranteed(a=6), counted={"a": cpus(4)}, asking=frozenset("a"))
    assert starved(before, after) == [("a", "guarantee", True)]


def test_a_guarantee_that_only_offers_met():
    def before(consumed: float) -> ClusterAccount:
        held = {"counted": {"a": cpus(6)}, "consumed": {"a": cpus(consumed)}}
        return moment(quotas=guaranteed(a=6), asking=frozenset("a"), **held)

    after = moment(quotas=guaranteed(a=6), counted={"a": cpus(4)}, asking=frozenset("a"))
    for consumed, by_offers in ((4, True), (6, False)):
        (one,) = starving(before(consumed), after, [])
        assert one.was_met_by_offers is by_offers


def test_at_a_limit_by_what_is_consumed_and_not_by_offers():
    def with_limit(bound: float, consumed: float) -> ClusterAccount:
        held = {"counted": {"a": cpus(9)}, "consumed": {"a": cpus(consumed)}}
        return moment(quotas={"a": Quota(limits=Limits({"cpus": int(bound * 1000)}))}, **held)

    def reached(before: ClusterAccount, after: ClusterAccount) -> list[str]:
        return [one.role for one in at_limit(before, after)]

    below, exact, above = (with_limit(bound, 4) for bound in (5, 4, 3))
    assert reached(moment(), below) == []
    assert reached(moment(), exact) == reached(below, exact) == reached(exact, above) == ["a"]
    assert reached(above, above) == [], "as before"
    assert reached(with_limit(5, 4), with_limit(5, 5)) == ["a"], "it uses more"
    assert reached(moment(), with_limit(0, 0)) == [], "a limit of zero forbids what it does not use"


def test_below_a_guarantee_as_before():
    before = moment(quotas=guaranteed(a=6), counted={"a": cpus(4)}, asking=frozenset("a"))
    assert starved(before, before) == [("a", "guarantee", False)]
    better = moment(quotas=guaranteed(a=6), counted={"a": cpus(5)}, asking=frozenset("a"))
    assert starved(before, better) == [("a", "guarantee", False)]
    assert starved(better, before) == [("a", "guarantee", True)]


def test_a_guarantee_that_nobody_asks_for_is_met_by_what_is_held_back_for_it():
    quiet = moment()
    assert starved(quiet, moment(quotas=guaranteed(a=4), free=cpus(4))) == []
    assert starved(quiet, moment(quotas=guaranteed(a=4), free=cpus(3))) == [("a", "guarantee", True)]
    assert starved(quiet, moment(quotas=guaranteed(a=4, b=4), free=cpus(8))) == []
    assert starved(quiet, moment(quotas=guaranteed(a=4, b=4), free=cpus(7))) == [("b", "guarantee", True)]
    asked = moment(quotas=guaranteed(a=4, b=4), counted={"b": cpus(2)}, free=cpus(5), asking=frozenset("b"))
    assert starved(quiet, asked) == [("a", "guarantee", True), ("b", "guarantee", True)]


def test_down_to_nothing_is_what_no_task_can_run_with():
    before = moment(roles={"a": UsedAndOffered(TEN)}, frameworks={"f": UsedAndOffered(TEN)}, names={"f": "one"})
    after = moment(
        roles={"a": UsedAndOffered(offered=Quantities({"ports": 5_000}))},
        frameworks={"f": UsedAndOffered()},
        names={"f": "one"},
    )
    assert starved(before, after) == [("a", "nothing", True), ("one", "nothing", True)]


def test_an_offer_that_is_taken_back_starves_nobody():
    before = moment(
        roles={"a": UsedAndOffered(offered=TEN)}, frameworks={"f": UsedAndOffered(offered=TEN)}, names={"f": "one"}
    )
    after = moment(roles={"a": UsedAndOffered()}, frameworks={"f": UsedAndOffered()}, names={"f": "one"})
    assert starved(before, after) == []
    roles, frameworks = share_changes(before, after)
    assert [one.name for one in unoffered(before, after, [*roles, *frameworks])] == ["a", "one"]


def test_who_was_removed_does_not_starve():
    before = moment(
        roles={"a": UsedAndOffered(cpus(1))},
        frameworks={"f": UsedAndOffered(cpus(1))},
        names={"f": "f"},
        asking=frozenset("a"),
    )
    assert starved(before, moment()) == []


def test_a_guarantee_that_fits_only_in_pieces():
    small = LikeAgents(cpus(8), cpus(2), (("a", cpus(2)), ("a/b", cpus(1)), ("other", cpus(5))))
    large = LikeAgents(cpus(12), cpus(12))
    quotas = guaranteed(a=11, b=12, c=13)
    found = {
        fit.role: (fit.agents_whole, fit.agents_now, fit.largest)
        for fit in fits(moment(quotas=quotas, like_agents={small: 3, large: 2}))
    }
    assert found == {"a": (5, 2, cpus(12)), "b": (2, 2, cpus(12)), "c": (0, 0, cpus(12))}


def test_what_is_left():
    room = headroom(
        moment(free=cpus(3)),
        moment(free=cpus(2), quotas=guaranteed(a=6, b=1), counted={"a": cpus(4), "b": cpus(1)}, asking=frozenset("ab")),
    )
    assert room.unpromised == (TEN, TEN - cpus(7))
    assert room.free == (cpus(3), cpus(2))
    assert room.owed == (Quantities(), cpus(2))
    assert room.kept == (Quantities(), cpus(2))


def test_nothing_more_is_accepted_where_too_much_is_promised():
    assert moment(quotas=guaranteed(a=11)).unpromised == Quantities()


def test_a_refusal_or_a_starving_role_makes_the_answer_no():
    calm, hungry = moment(), moment(quotas=guaranteed(a=4), asking=frozenset("a"))
    no = AnsweredChange("x", 409, accepted=False)
    yes = AnsweredChange("x", 200, accepted=True)
    courses = {name: RunSummary(SNAPSHOT, 1, 1.0, "hold", (answer,)) for name, answer in (("no", no), ("yes", yes))}
    assert forecast(calm, calm, courses["yes"]).is_harmless
    assert not forecast(calm, calm, courses["no"]).is_harmless
    assert not forecast(calm, hungry, courses["yes"]).is_harmless
    assert forecast(hungry, hungry, courses["yes"]).is_harmless  # it was so before


def test_unknowns_name_what_is_assumed():
    snapshot = ClusterSnapshot("1.11.0", 1e9, unknown=("offer filters: taken as none", "a bare sentence"))
    found = {one.what: one.assumed for one in unknowns(RunSummary(snapshot, 1, 1.0, "hold", wants="nothing"))}
    assert found["what frameworks want"] == "nothing"
    assert found["offer filters"] == "taken as none"
    assert found["a bare sentence"] == ""


amounts = st.builds(
    Quantities, st.dictionaries(st.sampled_from(("cpus", "mem", "disk")), st.integers(0, 10_000), max_size=3)
)
holdings = st.dictionaries(st.sampled_from("abc"), st.builds(UsedAndOffered, amounts, amounts))


@given(holdings, holdings)
def test_what_changes_hands_adds_up(first, second):
    roles, _ = share_changes(moment(roles=first), moment(roles=second))
    for party in roles:
        assert party.before.total + party.gains == party.after.total + party.loses
        assert not any(name in party.loses for name in party.gains)


@given(holdings, holdings, st.dictionaries(st.sampled_from("abc"), st.builds(Quota, amounts)))
def test_the_same_moment_twice_starves_nobody(held, counted, quotas):
    sums = {role: one.total for role, one in counted.items()}
    calm = moment(roles=held, quotas=quotas, counted=sums, asking=frozenset("ab"))
    assert not any(caused for _, _, caused in starved(calm, calm))
