"""The parts of each refusal that scripts read: its rule, its field, its role and the option that skips it."""

from collections.abc import Callable

import pytest

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.errors import Conflict, MesosctlError, NotFound, RuleViolation
from mesosctl.mesos.rules.quota import rules
from mesosctl.mesos.rules.quota.capacity import check_capacity
from mesosctl.mesos.rules.quota.desired import (
    DesiredQuotaChange,
    check_stored,
    check_update,
    guarantees_of,
    limits_of,
    plan_quotas,
)
from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_11

FOUR = Quantities({"cpus": 4000})
EIGHT = Quantities({"cpus": 8000})
NAMED = DesiredQuotaChange(FOUR, Limits({"cpus": 8000}))


def stored_check(*desired: tuple[str, DesiredQuotaChange], stored=(), create=False, only_new=False):
    check_stored(desired, stored, create=create, only_new=only_new, missing_answer=404)


def plan(desired: DesiredQuotaChange, *, profile=MESOS_1_11, **stored: Quota):
    return plan_quotas([("web", desired)], stored, rules.GivenFacts(profile))


REFUSALS: list[tuple[Callable[[], object], type[MesosctlError], str, str, str | None]] = [
    (lambda: rules.check_not_default_role("*", DOCUMENTS), RuleViolation, "quota.default-role", "role", None),
    (lambda: rules.check_no_quota_yet("web", {"web"}), RuleViolation, "quota.already-set", "role", None),
    (lambda: rules.check_quota_is_set("web", {"ads"}), RuleViolation, "quota.not-set", "role", None),
    (lambda: rules.check_not_nested("web/a"), RuleViolation, "quota.nested", "role", None),
    (lambda: rules.check_path("web?"), RuleViolation, "quota.path", "role", None),
    (lambda: rules.check_path("web#"), RuleViolation, "quota.path", "role", None),
    (lambda: rules.check_path("wéb"), RuleViolation, "quota.path", "role", None),
    (lambda: rules.check_tree({"a/b": Quota(FOUR)}), RuleViolation, "quota.hierarchy", "role", None),
    (
        lambda: rules.check_limits_fit_request(Quota(FOUR), MESOS_1_11),
        RuleViolation,
        "quota.limits-need-update",
        "limits",
        None,
    ),
    (
        lambda: rules.check_limits_fit_request(Quota(FOUR, Limits(FOUR)), DOCUMENTS),
        RuleViolation,
        "quota.limits-need-update",
        "limits",
        None,
    ),
    (
        lambda: rules.check_amounts_above_zero(parse_entries("mem:0")),
        RuleViolation,
        "quota.above-zero",
        "guarantee[0].scalar.value",
        None,
    ),
    (
        lambda: rules.check_config_amounts({"cpus": 2e12}, {}),
        RuleViolation,
        "quota.too-large",
        "guarantees",
        None,
    ),
    (lambda: rules.check_config_amounts({}, {"mem": 2e12}), RuleViolation, "quota.too-large", "limits", None),
    (lambda: rules.check_config_amounts({"cpus": -1.0}, {}), RuleViolation, "quota.number", "guarantees", None),
    (lambda: rules.check_config_amounts({}, {"cpus": -1.0}), RuleViolation, "quota.number", "limits", None),
    (
        lambda: rules.check_config_amounts({"cpus": 2.0}, {"cpus": 1.0}),
        RuleViolation,
        "quota.guarantee-within-limit",
        "limits",
        None,
    ),
    (
        lambda: rules.check_consumption("web", Limits(FOUR), EIGHT),
        RuleViolation,
        "quota.consumption",
        "limits",
        "force",
    ),
    (lambda: check_capacity({"web": Quota(EIGHT)}, FOUR), Conflict, "quota.capacity", "guarantee", "force"),
    (
        lambda: guarantees_of(parse_entries("cpus:0")),
        RuleViolation,
        "quota.above-zero",
        "guarantee[0].scalar.value",
        None,
    ),
    (lambda: limits_of(parse_entries("cpus:1;cpus:2")), RuleViolation, "quota.duplicate-name", "limits[1].name", None),
    (lambda: check_update([]), RuleViolation, "quota.empty", "quota_configs", None),
    (
        lambda: check_update([("web", NAMED), ("web", NAMED)]),
        RuleViolation,
        "quota.duplicate-role",
        "quota_configs",
        None,
    ),
    (lambda: stored_check(("web", NAMED)), NotFound, "quota.exists", "role", None),
    (lambda: stored_check(("web", NAMED), ("ads", NAMED), stored={"ads"}), NotFound, "quota.exists", "role", None),
    (
        lambda: stored_check(("web", NAMED), stored={"web"}, create=True, only_new=True),
        RuleViolation,
        "quota.already-set",
        "role",
        None,
    ),
    (lambda: stored_check(("web?", NAMED), create=True), RuleViolation, "quota.path", "role", None),
    (lambda: plan(DesiredQuotaChange(Quantities(), Limits())), RuleViolation, "quota.empty", "guarantees", None),
    (
        lambda: plan(DesiredQuotaChange(Quantities({"cpus": 9000})), web=Quota(FOUR, Limits(FOUR))),
        RuleViolation,
        "quota.guarantee-within-limit",
        "limits",
        None,
    ),
]


@pytest.mark.parametrize(("act", "kind", "rule", "field", "override"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_a_refusal_has_its_rule_its_field_and_the_option_that_skips_it(act, kind, rule, field, override):
    with pytest.raises(kind) as refused:
        act()
    error = refused.value
    assert (error.rule, error.field, error.override) == (rule, field, override)
    assert len(error.message.split()) > 2, "a sentence says what is wrong"


@pytest.mark.parametrize(
    "act",
    [
        lambda: check_update([("web", NAMED), ("web/a", NAMED)]),
        lambda: plan_quotas([("web/a", NAMED)], {}, rules.GivenFacts(MESOS_1_11)),
        lambda: rules.check_consumption("web/a", Limits(FOUR), EIGHT),
    ],
)
def test_a_refusal_of_one_entry_names_its_role(act):
    with pytest.raises(RuleViolation) as refused:
        act()
    assert refused.value.role == "web/a"


@pytest.mark.parametrize(
    ("act", "hint"),
    [
        (lambda: rules.check_not_default_role("*", DOCUMENTS), "subscribe"),
        (lambda: rules.check_not_nested("web/a/b"), "'web'"),
        (lambda: rules.check_path("web?"), "ASCII"),
        (lambda: rules.check_guarantee([]), "at least one"),
        (lambda: rules.check_guarantee(parse_entries("mem:1;mem:2")), "mem once"),
        (lambda: rules.check_limits_fit_request(Quota(FOUR), MESOS_1_11), "UPDATE_QUOTA"),
        (lambda: rules.check_limits_fit_request(Quota(FOUR, Limits(FOUR)), DOCUMENTS), "none"),
        (lambda: rules.check_config_amounts({"cpus": 2.0}, {"cpus": 1.0}), "raise the limit"),
        (lambda: rules.check_consumption("web", Limits(FOUR), EIGHT), "raise the limits"),
        (lambda: check_capacity({"web": Quota(EIGHT)}, FOUR), "agents"),
        (lambda: plan(DesiredQuotaChange(Quantities(), Limits())), "name a guarantee"),
        (lambda: plan(DesiredQuotaChange(Quantities(), Limits()), web=Quota(FOUR)), "remove the quota"),
    ],
)
def test_a_refusal_says_what_to_do(act, hint):
    with pytest.raises(MesosctlError) as refused:
        act()
    assert hint in (refused.value.hint or "")


def test_a_missing_quota_is_answered_as_a_master_would():
    with pytest.raises(NotFound) as refused:
        stored_check(("web", NAMED))
    assert refused.value.would_answer == 404
    assert "'web'" in str(refused.value)


@pytest.mark.parametrize(
    ("amount", "kind"),
    [
        (float("nan"), ": NaN values"),
        (float("inf"), "is more than"),
        (float("-inf"), ": Infinite values"),
        (1e-310, ": Subnormal values"),
        (-0.5, ": Negative values"),
    ],
)
def test_an_amount_that_is_not_supported_is_called_what_it_is(amount, kind):
    for guarantees, limits, part in (({"cpus": amount}, {}, "guarantee"), ({}, {"cpus": amount}, "limit")):
        with pytest.raises(RuleViolation) as refused:
            rules.check_config_amounts(guarantees, limits)
        assert kind in str(refused.value)
        assert kind == "is more than" or f"{part} of cpus" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "largest", "words"), [("cpus", 1e12, "1 trillion"), ("mem", 1_099_511_627_776.0, "1 exabyte")]
)
def test_the_largest_amount_is_accepted_and_one_more_is_not(name, largest, words):
    rules.check_config_amounts({name: largest}, {name: largest})
    with pytest.raises(RuleViolation, match=words):
        rules.check_config_amounts({}, {name: largest + 1})


def test_the_smallest_amounts_are_accepted():
    rules.check_config_amounts({"cpus": 0.0}, {"cpus": rules._SMALLEST_NORMAL})


def test_a_forced_request_skips_only_the_rules_that_force_skips():
    facts = rules.GivenFacts(MESOS_1_11, quotas={}, capacity=FOUR, consumed={"web": EIGHT})
    large = rules.Wish.of("web", Quota(EIGHT))
    with pytest.raises(Conflict):
        rules.refuse([rules.CAPACITY], large, facts)
    rules.refuse([rules.CAPACITY], large, facts, force=True)
    with pytest.raises(RuleViolation):
        rules.refuse([rules.TREE], rules.Wish.of("a/b", Quota(FOUR)), facts, force=True)
    limited = rules.Wish.of("web", Quota(FOUR, Limits(FOUR)))
    with pytest.raises(RuleViolation):
        rules.refuse([rules.CONSUMPTION], limited, facts)
    rules.refuse([rules.CONSUMPTION], rules.Wish.of("web", Quota(FOUR)), facts)


def test_a_rule_whose_facts_are_unknown_does_not_hide_the_next():
    facts = rules.GivenFacts(MESOS_1_11)
    with pytest.raises(RuleViolation):
        rules.refuse([rules.CAPACITY, rules.TREE, rules.TOP_LEVEL], rules.Wish.of("a/b", Quota(FOUR)), facts)


def test_a_rule_of_other_versions_is_not_applied():
    wish = rules.Wish.of("web", Quota(FOUR, Limits(FOUR)))
    rules.CONSUMPTION.check(wish, rules.GivenFacts(DOCUMENTS, consumed={"web": EIGHT}))


def test_quotas_that_change_together_are_judged_together():
    facts = rules.GivenFacts(MESOS_1_11, quotas={"a": Quota(FOUR), "b": Quota(FOUR)})
    assert rules.Wish.of("a", Quota(EIGHT)).after(facts) == {"a": Quota(EIGHT), "b": Quota(FOUR)}
    moved = rules.Wish("a", together={"a": Quota(EIGHT), "b": None})
    assert moved.after(facts) == {"a": Quota(EIGHT)}


def test_a_wish_by_request_is_held_to_the_limits_that_a_request_makes():
    facts = rules.GivenFacts(MESOS_1_11)
    other = Quota(FOUR, Limits(EIGHT))
    rules.LIMITS.check(rules.Wish.of("web", other), facts)
    rules.LIMITS.check(rules.Wish.of("web", Quota(FOUR, Limits(FOUR)), by_request=True), facts)
    with pytest.raises(RuleViolation):
        rules.LIMITS.check(rules.Wish.of("web", other, by_request=True), facts)


def test_the_entries_of_a_wish_are_checked_as_they_were_named():
    wish = rules.Wish.of("web", Quota(FOUR), entries=parse_entries("cpus:2;cpus:2"))
    with pytest.raises(RuleViolation) as refused:
        rules.PLAIN_AMOUNTS.check(wish, rules.GivenFacts(MESOS_1_11))
    assert refused.value.rule == "quota.duplicate-name"


@pytest.mark.parametrize(
    ("act", "named"),
    [
        (lambda: rules.check_guarantee([], field="limits"), "limits"),
        (lambda: rules.check_guarantee(parse_entries("ports:[1-2]")), "ports"),
        (lambda: rules.check_limits_fit_request(Quota(FOUR), MESOS_1_11), "POST /quota"),
        (lambda: rules.check_quota_is_set("web", ()), "'web'"),
        (lambda: rules.check_path("web?"), "'web?'"),
        (lambda: check_update([]), "nothing to update"),
        (lambda: check_update([("web", NAMED), ("web", NAMED)]), "'web'"),
        (lambda: plan(DesiredQuotaChange(Quantities(), Limits())), "'web'"),
    ],
)
def test_a_refusal_names_what_is_wrong(act, named):
    with pytest.raises(RuleViolation) as refused:
        act()
    assert named in refused.value.message


def test_a_limit_below_what_a_wish_consumes_is_of_its_role():
    facts = rules.GivenFacts(MESOS_1_11, consumed={"web": EIGHT})
    with pytest.raises(RuleViolation) as refused:
        rules.CONSUMPTION.check(rules.Wish.of("web", Quota(FOUR, Limits(FOUR))), facts)
    assert refused.value.role == "web"
