"""The search for settings that meet goals, on figures that are made up: the laws that hold whatever a replay shows."""

import math
from collections import Counter
from dataclasses import replace
from itertools import islice, product
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.tune.report import Tuned, tuning_report
from mesosctl.tune.search import (
    WEIGHT,
    Evidence,
    Goal,
    QuotasAndWeights,
    RoleFigures,
    SearchVariable,
    Space,
    Tuning,
    in_order,
    search,
)
from mesosctl.whatif.changes import Bounds, ChangedWeight, Guarantee, NoQuota, parse_change

TOTAL = Quantities({"cpus": 32_000, "mem": 64_000_000})


def guarantee(role, high, steps, low=0):
    return SearchVariable(role, "guarantee", {"cpus": low}, {"cpus": high}, steps)


def limit(role, low, high, steps):
    return SearchVariable(role, "limit", {"cpus": low}, {"cpus": high}, steps)


def weight(role, low, high, steps):
    return SearchVariable(role, "weight", {WEIGHT: low}, {WEIGHT: high}, steps)


def space(*unknowns, quotas=None, weights=None):
    present = QuotasAndWeights(quotas or {}, weights or {})
    return Space(unknowns, present, present, TOTAL)


UNKNOWNS = st.lists(
    st.one_of(
        st.builds(guarantee, st.sampled_from("ab"), st.sampled_from([8000, 16_000, 32_000]), st.integers(1, 6)),
        st.builds(limit, st.sampled_from("ab"), st.just(2000), st.sampled_from([8000, 32_000]), st.integers(1, 5)),
        st.builds(weight, st.sampled_from("ab"), st.just(1000), st.sampled_from([2000, 8000]), st.integers(1, 4)),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: (one.role, one.kind),
)
SPACES = st.builds(
    lambda unknowns, quota: space(*unknowns, quotas=quota),
    UNKNOWNS,
    st.sampled_from([{}, {"a": Quota(Quantities({"cpus": 4000}), Limits({"cpus": 16_000}))}]),
)


def made_up(seed):
    """A replay that depends on what is changed and nothing else, without any order."""

    def wait(role, words):
        return float(crc32(f"{seed} {role} {words}".encode()) % 1000)

    def evaluate(of):
        def batch(candidates):
            return [
                Evidence({role: RoleFigures(10, 0, 1.0, wait(role, of.words(one)), 1000.0, 0.5) for role in "ab"})
                for one in candidates
            ]

        return batch

    return evaluate


def one_by_one(batch):
    """Say of one candidate what `batch` says of several."""
    return lambda one, _: batch([one])[0]


def unknown(_):
    """The evidence of a candidate, before any is replayed ahead."""
    return


def goals(first, second):
    return [Goal("a", "wait_p95", first, f"{first}s"), Goal("b", "wait_p95", second, f"{second}s")]


BOUNDS = st.tuples(st.integers(0, 1000), st.integers(0, 1000))


@given(SPACES, st.integers(0, 3))
def test_candidates_come_once_from_the_unchanged_one_and_all_are_possible(of, seed):
    every = list(in_order(of, seed))
    assert every[0] == of.unchanged
    assert len(set(every)) == len(every)
    assert set(every) == {one for one in product(*of.choices) if of.is_possible(one) or one == of.unchanged}


@given(SPACES, st.integers(0, 3), BOUNDS, st.integers(2, 40))
def test_where_a_candidate_of_the_pool_meets_the_goals_one_is_found(of, seed, bounds, tries):
    wanted, evaluate = goals(*bounds), made_up(seed)(of)
    pool = list(islice(in_order(of, seed), tries))
    shown = zip(pool, evaluate(pool), strict=True)
    exists = any(all(goal.is_met(goal.measured(seen.roles[goal.role])) for goal in wanted) for _, seen in shown)
    found = search(of, wanted, one_by_one(evaluate), tries=tries, seed=seed)
    assert (found.best is not None) == exists
    if found.best is not None:
        (again,) = evaluate([found.best])
        assert all(goal.is_met(goal.measured(again.roles[goal.role])) for goal in wanted)


@given(SPACES, st.integers(0, 3), BOUNDS, BOUNDS, st.integers(2, 20))
def test_goals_that_are_easier_never_make_a_found_answer_unfound(of, seed, bounds, more, tries):
    strict, evaluate = goals(*bounds), one_by_one(made_up(seed)(of))
    assume(search(of, strict, evaluate, tries=tries, seed=seed).best is not None)
    easier = goals(bounds[0] + more[0], bounds[1] + more[1])
    assert search(of, easier, evaluate, tries=tries, seed=seed).best is not None
    assert search(of, strict[:1], evaluate, tries=tries, seed=seed).best is not None


@given(SPACES, st.integers(0, 3), BOUNDS)
def test_the_same_is_asked_in_the_same_order_each_time(of, seed, bounds):
    asked = []

    def noted(one, ahead):
        asked.append((one, tuple(islice(ahead(unknown, 9), 9))))
        return one_by_one(made_up(seed)(of))(one, ahead)

    found = [search(of, goals(*bounds), noted, tries=30, seed=seed) for _ in range(2)]
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
    assert found[0].verdict == found[1].verdict
    assert list(found[0].tried) == list(found[1].tried)


@given(SPACES, st.integers(0, 3), BOUNDS)
def test_nothing_is_said_of_what_was_not_asked_about(of, seed, bounds):
    asked = set()

    def noted(one, ahead):
        asked.add(one)
        assert not {one, *ahead(unknown, 9)} - {*in_order(of, seed)}  # what is played ahead is possible too
        return one_by_one(made_up(seed)(of))(one, ahead)

    found = search(of, goals(*bounds), noted, tries=30, seed=seed)
    assert set(found.tried) == asked
    if found.is_smallest:
        smaller = [one for one in product(*of.choices) if of.size(one) < of.size(found.best) and of.is_possible(one)]
        assert not any(found.meets_all(one) for one in smaller)
        assert asked >= set(smaller) - {of.unchanged}


@given(SPACES, st.integers(0, 3), BOUNDS)
def test_while_an_answer_is_made_smaller_what_is_ahead_is_what_will_be_asked(of, seed, bounds):
    evaluate = one_by_one(made_up(seed)(of))
    last = list(search(of, goals(*bounds), evaluate, tries=30, seed=seed).tried)[-1]
    tried: dict[tuple[int | None, ...], Evidence] = {}

    def known(one):
        return None if one == last else evaluate(one, None)

    def noted(one, ahead):
        if Tuning(of, goals(*bounds), tried).best is not None:
            assert list(ahead(known, 1)) == [last]
        tried[one] = evaluate(one, ahead)
        return tried[one]

    search(of, goals(*bounds), noted, tries=30, seed=seed)


def test_a_candidate_that_meets_the_goals_is_made_smaller_before_those_chosen_earlier_are_known():
    """Else what is replayed ahead is thrown away."""
    of = space(guarantee("a", 32_000, 32), quotas={"a": Quota(Quantities({"cpus": 32_000}))})
    wanted, evaluate = [Goal("b", "wait_max", 1250.0, "1250s")], monotone(of, 0)
    first, second, *rest = search(of, wanted, evaluate).tried
    shown = []

    def noted(one, ahead):
        if one == first:
            shown.extend(ahead(lambda other: evaluate(other, ahead) if other == second else None, 3))
        return evaluate(one, ahead)

    search(of, wanted, noted)
    assert shown[:3] == [first, *rest[:2]]


@given(st.sampled_from([guarantee("a", 32_000, 8), limit("a", 2000, 32_000, 6), weight("a", 1000, 9000, 8)]), BOUNDS)
def test_with_one_unknown_the_answer_is_that_of_trying_every_step(unknown, bounds):
    of, wanted = space(unknown), goals(*bounds)
    evaluate = made_up(5)(of)
    every = [one for one in product(*of.choices) if of.is_possible(one)]
    shown = dict(zip(every, evaluate(every), strict=True))
    met = [one for one in every if all(goal.is_met(goal.measured(shown[one].roles[goal.role])) for goal in wanted)]
    found = search(of, wanted, one_by_one(evaluate))
    assert (found.best is None) == (not met)
    if met:
        assert of.size(found.best) == min(map(of.size, met))
        assert found.is_smallest
    else:
        assert found.is_whole


def monotone(of, needed):
    """Role a waits until it has what it needs, and role b waits for what a has."""

    def batch(candidates):
        shown = []
        for one in candidates:
            has = of.changed(one).quotas.get("a", of.present.quotas.get("a", Quota())).guarantees.get_amount("cpus")
            a, b = max(0, needed - has) / 10, has / 10
            shown.append(Evidence({"a": RoleFigures(1, 0, a, a, a, 1.0), "b": RoleFigures(1, 0, b, b, b, 1.0)}))
        return shown

    return one_by_one(batch)


@pytest.mark.parametrize("needed", [1000, 9000, 17_000, 31_000])
def test_the_smallest_guarantee_is_found_by_halving(needed):
    of = space(guarantee("a", 32_000, 32))
    found = search(of, [Goal("a", "wait_max", 0.0, "0s")], monotone(of, needed))
    assert of.words(found.best) == (f"quota:a=cpus:{-(-needed // 1000)}",)
    assert len(found.tried) <= 33


def test_from_a_large_guarantee_downwards_the_largest_that_meets_the_goals_is_the_smallest_change():
    of = space(guarantee("a", 32_000, 32), quotas={"a": Quota(Quantities({"cpus": 32_000}))})
    found = search(of, [Goal("b", "wait_max", 1250.0, "1250s")], monotone(of, 0))
    assert of.words(found.best) == ("quota:a=cpus:12",)


def test_goals_that_hold_already_change_nothing():
    of = space(guarantee("a", 32_000, 8))
    found = search(of, goals(2000, 2000), one_by_one(made_up(1)(of)))
    assert found.best == of.unchanged
    assert of.words(found.best) == ()
    assert found.verdict.endswith("both goals are met already")


def test_goals_that_stand_against_each_other_are_named():
    of = space(guarantee("a", 32_000, 8))
    found = search(
        of, [Goal("a", "wait_max", 800.0, "800s"), Goal("b", "wait_max", 800.0, "800s")], monotone(of, 30_000)
    )
    assert found.best is None
    assert found.is_whole
    assert found.never_met == []
    assert [(one.role, other.role) for one, other in found.pairs_against] == [("a", "b")]
    assert "wait_max of a within 800s and wait_max of b within 800s" in found.verdict


def test_a_goal_that_no_candidate_meets_is_named_with_the_best():
    of = space(guarantee("a", 8000, 4))
    found = search(of, [Goal("a", "wait_max", 60.0, "1m")], monotone(of, 12_000))
    said = "NO: none of 5 candidates, all within the bounds, met wait_max of a within 1m: 6m40s is the best"
    assert found.verdict == said


def test_a_single_candidate_is_counted_as_one():
    of = space(guarantee("a", 8000, 4))

    def once(one, ahead):
        return monotone(of, 12_000)(one, ahead) if one == of.unchanged else None

    found = search(of, [Goal("a", "wait_max", 60.0, "1m")], once)
    assert len(found.tried) == 1
    assert "NO: the only candidate" in found.verdict


def test_when_time_ends_the_answer_is_what_was_found():
    of, asked = space(guarantee("a", 32_000, 32)), []

    def noted(one, ahead):
        asked.append(one)
        return monotone(of, 9000)(one, ahead)

    def until_time_ends(one, ahead):
        return noted(one, ahead) if len(asked) < count - 1 else None

    whole = search(of, [Goal("a", "wait_max", 0.0, "0s")], noted)
    count = len(asked)
    asked.clear()
    part = search(of, [Goal("a", "wait_max", 0.0, "0s")], until_time_ends)
    assert part.stopped
    assert not part.is_smallest
    assert list(part.tried) == list(whole.tried)[: len(part.tried)]


def test_one_goal_is_one_goal():
    of = space(guarantee("a", 32_000, 32))
    met = search(of, [Goal("a", "wait_max", 5000.0, "5000s")], monotone(of, 1000))
    assert met.verdict.endswith("the goal is met already")
    found = search(of, [Goal("a", "wait_max", 0.0, "0s")], monotone(of, 1000))
    assert found.verdict == "YES: the goal is met by quota:a=cpus:1"


def test_as_many_candidates_as_there_are_tries_are_all_of_them():
    of = space(guarantee("a", 8000, 4))
    wanted = [Goal("a", "wait_max", 60.0, "1m")]
    assert search(of, wanted, monotone(of, 12_000), tries=5).is_whole
    assert not search(of, wanted, monotone(of, 12_000), tries=4).is_whole


def test_of_very_many_steps_no_more_smaller_ones_are_tried_than_was_asked_for():
    of = space(guarantee("a", 32_000, 1000))
    found = search(of, [Goal("a", "wait_max", 0.0, "0s")], monotone(of, 31_990), tries=10)
    assert found.best == (1000,)
    assert len(found.tried) < 60
    assert not found.is_smallest


def test_many_tries_are_chosen_by_what_the_last_ones_showed():
    of = space(guarantee("a", 32_000, 400), weight("b", 1000, 9000, 8))
    measured: Counter[str] = Counter()

    class Counted(Goal):
        def measured(self, figures):
            measured["times"] += 1
            return super().measured(figures)

    shown = Evidence({"a": RoleFigures(1, 0, 9.0, 9.0, 9.0, 0.5)})
    found = search(of, [Counted("a", "wait_max", 1.0, "1s")], lambda *_: shown, tries=300)
    assert len(found.tried) == 300
    assert measured["times"] <= 4 * 300  # and not once for each pair of candidates


def test_a_refused_candidate_meets_nothing():
    of = space(guarantee("a", 32_000, 2))
    evidence = Evidence({"a": RoleFigures(), "b": RoleFigures()}, "quota:a=cpus:32: no room")
    found = search(of, goals(1000, 1000), lambda *_: evidence)
    assert found.best is None
    assert found.pairs_against == []
    assert len(found.never_met) == 2


# --- Candidates as changes ------------------------------------------------------------------------------


@given(SPACES)
def test_the_changes_of_a_candidate_are_words_of_whatif_and_lead_to_its_settings(of):
    for one in islice(in_order(of, 0), 30):
        held = dict(of.first.quotas)
        weights = {}
        for word in of.words(one):
            change = parse_change(word)
            match change:
                case NoQuota(role):
                    held.pop(role)
                case Guarantee(role, entries):
                    amounts = Quantities({entry.name: entry.value for entry in entries if isinstance(entry.value, int)})
                    held[role] = held.get(role, Quota())._replace(guarantees=amounts)
                case Bounds(role, limits):
                    held[role] = held.get(role, Quota())._replace(limits=limits)
                case ChangedWeight(role, value):
                    weights[role] = value
            for quota in held.values():  # what a master checks after each
                assert all(amount <= quota.limits.get(name, amount) for name, amount in quota.guarantees.items())
        changed = of.changed(one)
        assert weights == changed.weights
        wanted = {**of.first.quotas, **changed.quotas}
        assert held == {role: quota for role, quota in wanted.items() if not quota.is_default}


def test_a_guarantee_without_quota_on_record_is_added_and_one_of_zero_is_none():
    of = space(guarantee("a", 8000, 2))
    assert of.choices == ((None, 1, 2),)  # step 0 is what there is
    assert of.words((1,)) == ("quota:a=cpus:4",)


def test_a_quota_is_removed_first_if_guarantee_and_limit_both_change():
    of = space(
        guarantee("a", 16_000, 2),
        limit("a", 8000, 32_000, 3),
        quotas={"a": Quota(Quantities({"cpus": 12_000}), Limits({"cpus": 12_000}))},
    )
    assert of.words((1, 0)) == ("remove-quota:a", "quota:a=cpus:8", "limit:a=cpus:8")
    assert of.words((0, None)) == ("remove-quota:a", "limit:a=cpus:12")


def test_a_change_to_bounds_of_one_amount_has_a_size_too():
    of = space(guarantee("a", 4000, 1, low=4000), weight("b", 2000, 4000, 1))
    assert of.size((0, None)) == 1
    assert of.size((0, 0)) == 1.5


def test_several_resources_of_one_unknown_grow_together_and_in_whole_numbers():
    grows = SearchVariable("a", "guarantee", {"cpus": 0, "mem": 0}, {"cpus": 1000, "mem": 1_000_000}, 3)
    assert [grows.at(step) for step in range(4)] == [
        {"cpus": 0, "mem": 0},
        {"cpus": 333, "mem": 333_000},
        {"cpus": 666, "mem": 666_000},
        {"cpus": 1000, "mem": 1_000_000},
    ]


def test_what_is_guaranteed_to_others_counts():
    of = space(guarantee("a", 32_000, 4), quotas={"b": Quota(Quantities({"cpus": 20_000}))})
    assert [one for (one,) in in_order(of, 0)] == [None, 1]


def test_of_many_unknowns_the_first_candidates_come_at_once():
    of = space(*(guarantee(f"r{number}", 32_000, 1000) for number in range(7)))
    some = list(islice(in_order(of, 0), 100))
    assert len(set(some)) == 100
    assert some == list(islice(in_order(of, 0), 100))
    assert replace(of).count > 10**20


def test_tasks_that_had_not_started_at_the_end_are_counted_both_ways():
    """They waited for less than the bound when the replay ended, which does not show that they would have started."""
    of = space(guarantee("a", 8000, 1))
    wanted = [
        Goal("a", "wait_max", 60.0, "1m"),
        Goal("a", "wait_p95", 60.0, "1m"),
        Goal("a", "hours_served", 0.1, "10%"),
    ]
    for waiting, at_most, met in (
        (0, 9.0, [True, True, True]),
        (5, 9.0, [False, True, True]),
        (6, math.inf, [False, False, True]),
    ):
        figures = RoleFigures(100, 0, 1.0, 9.0, 9.0, 0.5, waiting_at_the_end=waiting, p95_at_most=at_most)
        found = search(of, wanted, lambda *_: Evidence({"a": figures}), tries=5)  # noqa: B023  # called at once
        assert found.met(found.space.unchanged) == met
        assert found.answer == ("yes" if all(met) else "unknown")
    assert found.verdict.startswith("PERHAPS: with the settings on record, 6.0% ")


def test_a_goal_that_is_missed_whatever_becomes_of_those_that_wait_is_missed():
    figures = RoleFigures(100, 0, 1.0, 90.0, 90.0, 0.5, waiting_at_the_end=6, p95_at_most=math.inf)
    found = search(
        space(guarantee("a", 8000, 1)), [Goal("a", "wait_p95", 60.0, "1m")], lambda *_: Evidence({"a": figures})
    )
    assert (found.answer, found.verdict.partition(":")[0]) == ("no", "NO")


def test_goals_met_among_tasks_that_nobody_knows_when_they_were_asked_for_are_met_perhaps():
    figures = RoleFigures(100, 0, 1.0, 9.0, 9.0, 1.0, unasked=100)
    found = search(
        space(guarantee("a", 8000, 1)), [Goal("a", "hours_served", 0.9, "90%")], lambda *_: Evidence({"a": figures})
    )
    assert found.answer == "unknown"
    assert found.verdict.startswith("PERHAPS: nobody recorded when 100 of 100 tasks of a ")


def test_a_row_says_why_a_goal_is_not_met_that_seems_to_be():
    of = space(guarantee("a", 32_000, 32), quotas={"a": Quota(Quantities({"cpus": 32_000}))})
    wanted = (
        Goal("a", "wait_p95", 600.0, "10m"),
        Goal("a", "wait_max", 600.0, "10m"),
        Goal("b", "wait_max", 60.0, "1m"),
    )
    fair = RoleFigures(tasks=1000, p95_wait=10.0, longest_wait=20.0, p95_at_most=10.0)
    late = RoleFigures(tasks=10, p95_wait=90.0, longest_wait=90.0, p95_at_most=90.0)
    demand: Any = SimpleNamespace(assumptions=(), cluster_id="c", since=0.0, until=60.0, master="Mesos 1.11.0")

    def shown(roles):
        report = tuning_report(Tuned(demand, Tuning(of, wanted, {of.unchanged: Evidence(roles)})))
        return dict(zip([column.title for column in report.columns], report.rows[0], strict=True))

    unseen = shown({"a": fair._replace(waiting_at_the_end=3), "b": late})
    assert unseen["MET"] == "1/3"
    assert unseen["WHY"].startswith("wait_max of a is unknown, and counts as missed: 0.3%")
    assert "of b" not in unseen["WHY"]  # its cell shows that
    assert "WHY" not in shown({"a": fair, "b": late})
