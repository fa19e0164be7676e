"""The commands that hints suggest about a change of a quota."""

import pytest

from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.version_profile import DOCUMENTS, MESOS_1_11
from mesosctl.quota.suggested import instead_of_new, instead_of_update, setting, updating
from mesosctl.reading.quotas import QuotaOptions

FOUR, EIGHT = Quantities({"cpus": 4000}), Quantities({"cpus": 8000})
MEM = Limits({"mem": 512_000})


@pytest.mark.parametrize(
    ("role", "desired", "profile", "words"),
    [
        ("web", DesiredQuotaChange(FOUR), DOCUMENTS, "mesosctl quota set web cpus:4"),
        ("web", DesiredQuotaChange(FOUR, Limits(EIGHT)), MESOS_1_11, "mesosctl quota set web cpus:4 --limit cpus:8"),
        ("web", DesiredQuotaChange(FOUR, Limits()), MESOS_1_11, "mesosctl quota set web cpus:4 --limit none"),
        ("web", DesiredQuotaChange(limits=MEM), MESOS_1_11, "mesosctl quota set web --limit mem:512MiB"),
        ("web", DesiredQuotaChange(FOUR, MEM), DOCUMENTS, None),
        ("web?", DesiredQuotaChange(FOUR), MESOS_1_11, None),
        ("web", DesiredQuotaChange(), MESOS_1_11, None),
    ],
)
def test_the_command_that_sets_it_is_given_if_it_would_be_accepted(role, desired, profile, words):
    assert setting(role, desired, profile, QuotaOptions()) == words


def test_a_guarantee_that_becomes_empty_is_none_in_the_command():
    assert updating("web", DesiredQuotaChange(Quantities()), QuotaOptions()) == "mesosctl quota update web none"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (QuotaOptions(force=True), "--force"),
        (QuotaOptions(allow_new_resource=True), "--allow-new-resource"),
        (QuotaOptions(dry_run=True), "--dry-run"),
    ],
)
def test_the_command_keeps_the_option_that_was_given(options, said):
    assert setting("web", DesiredQuotaChange(FOUR), MESOS_1_11, options) == f"mesosctl quota set web cpus:4 {said}"


@pytest.mark.parametrize(
    ("roles", "stored", "profile", "hint"),
    [
        (["web"], [], MESOS_1_11, "mesosctl quota set web cpus:4 --limit cpus:8 sets a new one"),
        (["web"], ["wev"], MESOS_1_11, "did you mean wev? mesosctl quota set web cpus:4 --limit cpus:8 sets a new one"),
        (["web", "ads"], ["ads"], MESOS_1_11, "--create also sets quota for roles that have none"),
        (["web"], [], DOCUMENTS, None),
    ],
)
def test_an_update_of_a_role_without_quota_is_told_how_to_set_one(roles, stored, profile, hint):
    desired = [(role, DesiredQuotaChange(FOUR, Limits(EIGHT))) for role in roles]
    assert instead_of_update(desired, stored, profile, QuotaOptions()) == hint


def test_a_role_that_has_quota_is_told_how_to_change_it():
    hint = instead_of_new("web", DesiredQuotaChange(limits=MEM), QuotaOptions(force=True))
    assert "mesosctl quota update web none --limit mem:512MiB --force" in hint
    assert "mesosctl quota remove web" in hint
