"""Each fact of a profile has a case, which tells its values apart, and which real and fake masters answer alike."""

from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import pytest

from mesosctl.mesos.rules.version_profile import PROFILES, Profile
from tests.conformance.facts import playing
from tests.conformance.facts.cases import CASES, ENDED, Case, Told
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.masters.judges import JUDGES
from tests.helpers.needs import needs

NAMES_OF_A_MASTER = {"name", "version", "release"}
DOCUMENTS, *OF_RELEASES = PROFILES.values()
BOUNDARIES = [
    (before, after, name)
    for before, after in pairwise([*OF_RELEASES, DOCUMENTS])
    for name in CASES
    if getattr(before, name) != getattr(after, name)
]


SEEN_ELSEWHERE = frozenset(
    {
        "sends_whole_checkpoint",  # tests/conformance/facts/test_sent_to_agents.py
        "same_slack_ends_offers",  # tests/conformance/offers/test_slack_of_use.py
        "looks_for_nothing",  # tests/conformance/scenarios/test_operations_of_releases.py
        "tasks_unknown_to_agents_are_gone",  # tests/conformance/frameworks/test_subscribing.py
        # tests/fake_master/allocator/test_facts_of_releases.py
        *("guarantees_have_own_sorter", "framework_shares_are_of_role", "revive_ends_all_filters"),
        *("resubscribing_ends_filters", "longest_refusal", "random_order_keeps_subtrees_together"),
        *("inner_weights_stay", "filters_outlive_agents"),
        # tests/conformance/scenarios/test_operations_of_releases.py
        *("operates_on_nothing", "reserves_one_by_one", "destroy_finds_each_alone", "guarantee_metrics_stay"),
        # tests/conformance/frameworks/test_calls_of_releases.py
        *("framework_leaves_nothing", "checks_framework_ids", "refuses_another_principal", "removal_disconnects"),
        "operations_have_one_provider",
        *("operators_hear_of_ended_tasks", "tasks_unknown_to_agents_are_gone", "unknown_calls_end_master"),
        "agents_may_name_providers",  # tests/fake_master/sources/test_separate_disks.py, and drawn agents
        "checks_minimum_capabilities",  # tests/conformance/forecasts/test_upgrades.py: one release after another
    }
)
"""The facts that other tests see on real masters."""


def test_every_fact_has_a_case() -> None:
    assert set(Profile._fields) >= SEEN_ELSEWHERE
    assert set(Profile._fields) - NAMES_OF_A_MASTER - SEEN_ELSEWHERE == CASES.keys()
    assert {name for _, _, name in BOUNDARIES} == CASES.keys(), "each fact differs somewhere"


def told_by(profile: Profile, case: Case, folder: Path) -> Told:
    """The answers of a fake master that behaves so."""
    with playing.shuffling(1) if case.shuffles else nullcontext():
        master = playing.start(profile, case.setup, folder)
    try:
        return case.told(master)
    finally:
        master.stop()


@pytest.mark.parametrize(("before", "after", "name"), BOUNDARIES, ids=str)
def test_a_case_tells_the_values_of_its_fact_apart(before: Profile, after: Profile, name: str, tmp_path: Path) -> None:
    """Of two masters that differ in this alone; on one side of the boundary at least, as another fact may cover it."""
    values = getattr(before, name), getattr(after, name)
    told = [
        [told_by(profile._replace(**{name: value}), CASES[name], tmp_path) for value in values]
        for profile in (before, after)
    ]
    assert any(one != other for one, other in told), told


@pytest.fixture(params=judged(*JUDGES), ids=lambda pair: str(pair[0]), scope="module")
@needs(*REAL.needs)
def carriers(request: pytest.FixtureRequest) -> tuple[Carrier, Carrier]:
    """The real and the fake master of a release."""
    return request.param


def told(pool: Pool, carrier: Carrier, case: Case) -> Told:
    """The answers of a real master."""
    spoils = case.ends or case.read is not None
    master = (pool.start if spoils else pool.lend)(carrier, case.setup)
    found = case.told(master)
    if spoils:
        master.stop()
    return found


@pytest.mark.parametrize("name", CASES)
def test_each_release_answers_as_itself(
    pool: Pool, carriers: tuple[Carrier, Carrier], name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    real, fake = told(pool, carriers[0], case), told_by(carriers[1].profile, case, tmp_path)
    if real[-1] == ENDED:
        assert fake[-1] == (400, True), "a fake master refuses what ends a real one"
    else:
        assert fake == real
