"""Desired changes of quota: what results from them, by each kind of request, and what a role loses."""

import pytest

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.quota import rules
from mesosctl.mesos.rules.quota.desired import (
    DesiredQuotaChange,
    PlannedQuota,
    describe_losses,
    guarantees_of,
    limits_of,
    plan_quotas,
)
from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_11

FOUR, EIGHT = Quantities({"cpus": 4000}), Quantities({"cpus": 8000})
MEM = Limits({"mem": 512_000})
BEFORE = Quota(FOUR, MEM)


@pytest.mark.parametrize(
    ("desired", "after"),
    [
        (DesiredQuotaChange(EIGHT), Quota(EIGHT, MEM)),
        (DesiredQuotaChange(limits=Limits(EIGHT)), Quota(FOUR, Limits(EIGHT))),
        (DesiredQuotaChange(Quantities(), Limits()), Quota()),
        (DesiredQuotaChange(), BEFORE),
    ],
)
def test_a_part_that_is_not_named_stays(desired, after):
    assert desired.applied_to(BEFORE) == after


@pytest.mark.parametrize(
    ("desired", "profile", "after"),
    [
        (DesiredQuotaChange(EIGHT), MESOS_1_11, Quota(EIGHT, Limits(EIGHT))),
        (DesiredQuotaChange(limits=Limits(FOUR)), MESOS_1_11, Quota(FOUR, Limits(FOUR))),
        (DesiredQuotaChange(), MESOS_1_11, Quota(FOUR, Limits(FOUR))),
        (DesiredQuotaChange(EIGHT), DOCUMENTS, Quota(EIGHT, MEM)),
    ],
)
def test_a_request_for_a_guarantee_makes_the_limits_of_its_master(desired, profile, after):
    assert desired.requested(BEFORE, profile) == after


def test_a_plan_has_what_was_and_what_will_be():
    facts = rules.GivenFacts(MESOS_1_11)
    given = DesiredQuotaChange(Quantities({"mem": 1_000_000}), Limits({"mem": 2_000_000}))
    after = Quota(Quantities({"mem": 1_000_000}), Limits({"mem": 2_000_000}))
    assert plan_quotas([("web", given), ("ads", DesiredQuotaChange(EIGHT))], {"web": BEFORE}, facts) == [
        PlannedQuota("web", BEFORE, after, ["guarantee of 4 cpus"], limit_given=True),
        PlannedQuota("ads", None, Quota(EIGHT), [], limit_given=False),
    ]


def test_a_plan_by_requests_keeps_the_guarantee_that_is_not_named():
    facts = rules.GivenFacts(MESOS_1_11)
    [planned] = plan_quotas([("web", DesiredQuotaChange(limits=Limits(FOUR)))], {"web": BEFORE}, facts, at_once=False)
    assert planned.after == Quota(FOUR, Limits(FOUR))
    with pytest.raises(RuleViolation):
        plan_quotas([("web", DesiredQuotaChange(limits=Limits(EIGHT)))], {"web": BEFORE}, facts, at_once=False)


def test_losses_name_their_role():
    planned = PlannedQuota("web", BEFORE, Quota(), ["guarantee of cpus:4", "limit of mem:512"], limit_given=False)
    unharmed = PlannedQuota("ads", None, BEFORE, [], limit_given=True)
    assert describe_losses([planned, unharmed]).split(" and ") == [
        "role 'web' loses its guarantee of cpus:4",
        "its limit of mem:512",
    ]
    assert describe_losses([planned, planned]).count("; role 'web' loses") == 1
    assert describe_losses([unharmed]) == ""


def test_the_amounts_of_guarantees_and_limits_are_those_that_were_named():
    assert guarantees_of(parse_entries("cpus:4;mem:512")) == Quantities({"cpus": 4000, "mem": 512_000})
    assert limits_of(parse_entries("cpus:0;mem:512")) == Limits({"cpus": 0, "mem": 512_000})
    assert limits_of([]) == Limits()


def test_a_quota_that_could_not_be_removed_is_refused_unless_the_role_is_no_role():
    facts = rules.GivenFacts(MESOS_1_11)
    with pytest.raises(RuleViolation) as refused:
        rules.REMOVABLE.check(rules.Wish.of("web?", BEFORE), facts)
    assert refused.value.rule == "quota.path"
    rules.REMOVABLE.check(rules.Wish.of("-web?", BEFORE), facts)  # that has its own rule
