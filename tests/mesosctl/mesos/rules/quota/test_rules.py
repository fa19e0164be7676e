"""The rules of quota, each by its field and its name (docs/explanation/documents.md, "Quota")."""

import pytest

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.quota import rules as quota_rules
from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_4, MESOS_1_11, RELEASES, profile_of


def quota(cpus: int) -> Quota:
    return Quota(Quantities({"cpus": cpus * 1000}))


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        ("", "guarantee", "quota.empty"),
        ("ports:[1-2]", "guarantee[0].type", "quota.scalar-only"),
        ("cpus:1;disks:{a}", "guarantee[1].type", "quota.scalar-only"),
        ("cpus:1;cpus:2", "guarantee[1].name", "quota.duplicate-name"),
        ("cpus:1;mem(ads):2", "guarantee[1].role", "quota.unreserved-only"),
    ],
)
def test_a_guarantee_is_plain_scalars_named_once(text: str, field: str, rule: str):
    with pytest.raises(RuleViolation) as refused:
        quota_rules.check_guarantee(parse_entries(text))
    assert (refused.value.field, refused.value.rule) == (field, rule)


def test_a_zero_is_refused_by_the_tool_with_what_to_do_instead():
    with pytest.raises(RuleViolation) as refused:
        quota_rules.check_amounts_above_zero(parse_entries("cpus:1;mem:0"))
    assert refused.value.field == "guarantee[1].scalar.value"
    assert "leave mem out" in (refused.value.hint or "")


def test_children_fit_into_their_parent_or_the_tree_is_refused():
    quota_rules.check_tree({"a": quota(3), "a/b": quota(1), "a/c": quota(2)})
    for broken in (
        {"a": quota(2), "a/b": quota(1), "a/c": quota(2)},
        {"a/b": quota(1)},
        {"a": quota(2), "a/b/c": quota(1)},
    ):
        with pytest.raises(RuleViolation, match="does not contain the sum"):
            quota_rules.check_tree(broken)


@pytest.mark.parametrize(
    ("guarantees", "limits", "rule"),
    [
        ({}, {"cpus": 1e12 + 1}, "quota.too-large"),
        ({"cpus": 1e12}, {"cpus": 1e12 + 1}, "quota.too-large"),
        ({}, {"mem": 1099511627777.0}, "quota.too-large"),
        ({"disk": 1099511627777.0}, {}, "quota.too-large"),
        ({"cpus": -3.0}, {}, "quota.number"),
        ({"cpus": -1.0}, {"cpus": 2e12}, "quota.too-large"),
        ({"cpus": 5e-324}, {}, "quota.number"),
        ({"cpus": 3.0}, {"cpus": 2.0}, "quota.guarantee-within-limit"),
    ],
)
def test_amounts_of_a_configuration(guarantees: dict[str, float], limits: dict[str, float], rule: str):
    with pytest.raises(RuleViolation) as refused:
        quota_rules.check_config_amounts(guarantees, limits)
    assert refused.value.rule == rule


def test_a_guarantee_without_a_limit_and_the_reverse():
    quota_rules.check_config_amounts({"cpus": 1.0}, {"mem": 1.0})


def test_limits_below_what_is_consumed():
    with pytest.raises(RuleViolation, match="already consumes"):
        quota_rules.check_consumption("ads", Limits({"cpus": 4000}), Quantities({"cpus": 8000}))
    quota_rules.check_consumption("ads", Limits({"mem": 0}), Quantities({"cpus": 8000}))


def test_a_version_chooses_the_profile():
    assert profile_of("1.4.0", "documents") is DOCUMENTS
    assert profile_of("1.4.0") is MESOS_1_4
    assert profile_of("1.3.0") is MESOS_1_4
    assert [profile_of(release).version for release in RELEASES] == list(RELEASES)
    assert profile_of("1.7.0") is profile_of("1.7.3")
    assert profile_of("9" * 5000 + ".1") is profile_of("1.12.0") is MESOS_1_11
    assert profile_of("1.11.0") is MESOS_1_11
