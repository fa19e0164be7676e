"""Facts of the releases before 1.9 which decide who is served first, and how long a filter lasts."""

from collections import Counter
from dataclasses import asdict

import pytest

from fake_master.allocator.options import Options, facts_of
from mesosctl.mesos.rules.version_profile import MESOS_1_4, MESOS_1_8, MESOS_1_11, Profile
from tests.fake_master.allocator.player import Player

OLD = pytest.mark.parametrize("profile", [MESOS_1_4, MESOS_1_8], ids=str)


def play(profile: Profile, *steps: str, **flags: object) -> Player:
    made = Player(Options(**{**facts_of(profile), **flags}))
    for step in steps:
        made.play(step)
    return made


def test_options_are_those_of_the_newest_release_unless_said_otherwise() -> None:
    assert facts_of(MESOS_1_11).items() <= asdict(Options()).items()


def offered_to(made: Player) -> str:
    return " ".join(framework for framework, *_ in made.offers)


OFFERED_BEFORE = (
    "queued agent A1 2/1024",
    "framework F1 a -> F1:A1",
    "recover F1 A1 2/1024 1000",
    "tick -> -",
    "framework F2 b -> F2:A1",
    "recover F2 A1 2/1024 1000",
    "queued revive F1",
    "tick -> F1:A1",
    "recover F1 A1",
    "queued quota b 2/1024",
)


@OLD
def test_a_role_is_counted_anew_when_its_quota_is_set(profile: Profile) -> None:
    """The first was offered the agent twice before, the second once."""
    made = play(profile, *OFFERED_BEFORE, "queued quota a 2/1024", "queued revive F2", "tick")
    assert offered_to(made) == "F1"


def test_where_all_roles_have_one_order_former_offers_count() -> None:
    made = play(MESOS_1_11, *OFFERED_BEFORE, "queued quota a 2/1024", "queued revive F2", "tick")
    assert offered_to(made) == "F2"


@OLD
def test_a_role_that_holds_something_when_its_quota_is_set_comes_later(profile: Profile) -> None:
    made = play(
        profile,
        "queued agent A1 2/1024",
        "framework F1 a -> F1:A1",
        "queued framework F2 b",
        "queued quota a 4/2048",
        "queued quota b 4/2048",
        "agent A2 2/1024",
    )
    assert offered_to(made) == "F2"


@OLD
def test_what_roles_below_hold_does_not_put_a_guarantee_behind_another(profile: Profile) -> None:
    made = play(
        profile,
        "queued agent A1 2/1024",
        "framework F1 a/x -> F1:A1",
        "queued framework F2 a",
        "queued framework F3 b",
        "queued quota a 9/9000",
        "queued quota b 9/9000",
        "agent A2 2/1024",
    )
    assert offered_to(made) == "F2"


@OLD
def test_revocable_resources_do_not_put_a_guarantee_behind_another(profile: Profile) -> None:
    made = play(
        profile,
        "queued agent A1 cpus{REV}:2",
        "framework F1 a caps=REVOCABLE_RESOURCES -> F1:A1",
        "queued framework F2 b caps=REVOCABLE_RESOURCES",
        "queued agent A0 cpus{REV}:2",
        "tick",
        "queued quota b 4/2048",
        "queued quota a 4/2048",
        "recover F2 A0",
        "agent A2 2/1024",
    )
    assert offered_to(made).split()[0] == "F1"


FRAMEWORKS_OF_A_ROLE = (
    "queued framework F1 r",
    "agent A1 1/100",  # F1 holds a tenth of the cpus
    "queued suppress F1",
    "queued framework F2 r",
    "agent A2 2/10",  # F2 a fifth of the cpus, F1 nearly all of the memory that the role has
    "queued suppress F2",
    "queued framework F0 other",
    "agent A3 7/10000",
    "queued suppress F0",
    "queued revive F1",
    "queued revive F2",
    "agent A4 1/100",
)


@pytest.mark.parametrize(("profile", "expected"), [(MESOS_1_4, "F2"), (MESOS_1_8, "F1"), (MESOS_1_11, "F1")], ids=str)
def test_a_framework_has_a_share_of_its_role_or_of_the_cluster(profile: Profile, expected: str) -> None:
    assert offered_to(play(profile, *FRAMEWORKS_OF_A_ROLE)) == expected


@pytest.mark.parametrize(("profile", "expected"), [(MESOS_1_4, "ab"), (MESOS_1_8, "a"), (MESOS_1_11, "a")], ids=str)
def test_a_revival_of_one_role_ends_the_filters_of_it_or_of_all(profile: Profile, expected: str) -> None:
    made = play(profile, "queued agent A1 2/1024", "queued agent A2 2/1024", "framework F a,b -> F*2")
    made.offers.clear()
    for agent in ("A1", "A2"):
        made.do_recover("F", agent, refuse="1000")
    made.play("tick")
    # What was offered in one role and refused is offered in the other.
    for agent in ("A1", "A2"):
        made.do_recover("F", agent, refuse="1000")
    made.play("tick -> -")
    made.allocator.revive("F", ["a"])
    made.play("tick -> F*2")
    assert {role for _, role, _, _ in made.offers} == set(expected)


@pytest.mark.parametrize(("profile", "ends"), [(MESOS_1_4, False), (MESOS_1_8, False), (MESOS_1_11, True)], ids=str)
def test_a_framework_that_returns_without_suppressing_keeps_its_filters_or_not(profile: Profile, *, ends: bool) -> None:
    made = play(profile, "queued agent A1 2/1024", "framework F r -> F:A1", "recover F A1 2/1024 1000", "suppress F")
    made.do_roles("F", "r")
    made.play("tick -> F:A1" if ends else "tick -> -")


@pytest.mark.parametrize(("profile", "days"), [(MESOS_1_4, 400), (MESOS_1_8, 365), (MESOS_1_11, 365)], ids=str)
def test_a_refusal_lasts_a_year_or_longer(profile: Profile, days: int) -> None:
    made = play(profile, "queued agent A1 2/1024", "framework F r -> F:A1")
    made.do_recover("F", "A1", refuse=str(400 * 86400.0))
    ((_, _, _, left),) = made.allocator.refusals("F")
    assert left == pytest.approx(days * 86400.0)


@pytest.mark.parametrize(("profile", "lives"), [(MESOS_1_4, True), (MESOS_1_8, False), (MESOS_1_11, False)], ids=str)
def test_a_filter_on_an_agent_that_returns_lives_or_not(profile: Profile, *, lives: bool) -> None:
    made = play(profile, "queued agent A1 2/1024", "framework F r -> F:A1", "recover F A1 2/1024 20", "tick -> -")
    made.allocator.remove_agent("A1")
    made.play("agent A1 2/1024 -> -" if lives else "agent A1 2/1024 -> F:A1")


def test_a_filter_on_an_agent_that_is_gone_ends() -> None:
    made = play(MESOS_1_4, "queued agent A1 2/1024", "framework F r -> F:A1", "recover F A1 2/1024 20", "tick -> -")
    made.allocator.remove_agent("A1")
    assert list(made.allocator.refusals("F")) == []
    made.play("tick 30")
    made.play("agent A1 2/1024 -> F:A1")


@pytest.mark.parametrize(("profile", "together"), [(MESOS_1_4, True), (MESOS_1_8, False)], ids=str)
def test_a_random_order_keeps_the_roles_below_one_together_or_not(profile: Profile, *, together: bool) -> None:
    sorter = play(
        profile, "queued framework F1 a/x", "queued framework F2 a/y", "framework F3 b", role_sorter="random"
    ).allocator.state.role_sorter
    orders = Counter(tuple(leaf.client_path for leaf in sorter.walk()) for _ in range(400))
    assert {order[1] for order in orders} == ({"a/x", "a/y"} if together else {"a/x", "a/y", "b"})
    # Half of the draws begin with b, in both.
    assert 140 < sum(times for order, times in orders.items() if order[0] == "b") < 260


@pytest.mark.parametrize(
    ("profile", "expected"),
    [(MESOS_1_4, "F2 F2 F1 F2"), (MESOS_1_8, "F2 F1 F2 F1"), (MESOS_1_11, "F2 F1 F2 F1")],
    ids=str,
)
def test_a_weight_of_a_role_above_others_counts_at_once_or_later(profile: Profile, expected: str) -> None:
    made = play(profile, "queued framework F1 a/x", "framework F2 b/x", "agent A0 1/100 -> F1:A0", "weight b 2")
    served = []
    for number in range(1, 5):
        made.play(f"agent A{number} 1/100")
        served.append(offered_to(made))
    assert " ".join(served) == expected


@OLD
def test_a_weight_of_a_role_counts_at_once_for_its_own_frameworks(profile: Profile) -> None:
    made = play(profile, "queued framework F1 a", "framework F2 b", "agent A0 1/100 -> F1:A0", "weight b 2")
    made.play("agent A1 1/100 -> F2:A1")
    made.play("agent A2 1/100 -> F2:A2")
