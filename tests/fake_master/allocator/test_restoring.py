"""Refusals and offers of an earlier master, and the order of the next run."""

from fake_master.allocator.interface import AgentInfo
from tests.fake_master.allocator.player import Player, player
from tests.fake_master.allocator.words import expand

# --- Refusals and offers of an earlier master -----------------------------------------------------


def refused() -> Player:
    """A1 was refused in role a two seconds ago, for five; A2 in role b just now."""
    made = player("queued agent A1 1/1", "queued agent A2 2/1", "framework F a,b -> F:A1 F:A2")
    made.play("queued recover F A1 refuse=5")
    made.play("queued suppress F")
    made.play("tick 2 -> -")
    made.play("recover F A2 refuse=30 -> -")
    return made


def test_refusals_have_the_seconds_that_are_left() -> None:
    assert list(refused().allocator.refusals("F")) == [
        ("A1", "a", expand("1/1"), 3.0),
        ("A2", "b", expand("2/1"), 30.0),
    ]


def test_a_restored_refusal_lasts_as_long_as_it_would_have() -> None:
    made = player("queued agent A1 1/1", "queued agent A2 2/1", "queued framework F a")
    made.allocator.restore_refusal("F", "A1", "a", expand("1/1"), 2.5)
    made.play("tick 0 -> F:A2")
    made.play("tick 2 -> -")
    made.play("tick 1 -> F:A1")


def test_a_refusal_in_a_role_without_a_framework_is_not_restored() -> None:
    made = player("queued agent A1 1/1", "queued framework F a", "queued framework G b")
    made.allocator.restore_refusal("F", "A1", "b", expand("1/1"), 60.0)
    made.allocator.restore_refusal("G", "A1", "a", expand("1/1"), 60.0)
    assert [list(made.allocator.refusals(framework)) for framework in "FG"] == [[], []]


def test_a_refusal_in_a_role_that_a_framework_has_left_is_not_restored() -> None:
    made = player("agent A1 1/1", "framework F a -> F:A1", "roles F b -> -")
    made.allocator.restore_refusal("F", "A1", "a", expand("1/1"), 60.0)
    assert list(made.allocator.refusals("F")) == []


def test_a_restored_offer_is_held_until_it_is_answered() -> None:
    made = player("queued agent A1 3/3", "queued framework F a", "queued framework G b")
    made.allocator.restore_offered("F", "A1", expand("2/1").allocated_to("a"))
    made.play("tick 0 -> G:A1=1/2")
    made.play("suppress G")
    made.allocator.recover_resources("F", "A1", expand("2/1").allocated_to("a"))
    made.play("tick -> F:A1=2/1")


def test_what_several_roles_hold_on_an_agent_is_each_counted() -> None:
    made = player("queued framework F a,b", "queued framework G c")
    used = expand("1/1").allocated_to("a") + expand("2/1").allocated_to("b")
    made.allocator.add_agent(AgentInfo("A1"), expand("4/4"), {"F": used})
    figures = made.allocator.metrics()
    name = "allocator/mesos/quota/roles/{}/resources/cpus/consumed"
    assert [figures[name.format(role)] for role in ("a", "b", "")] == [1.0, 2.0, 3.0]
    made.allocator.remove_framework("F")
    assert name.format("a") not in made.allocator.metrics()


# --- The order of the next run --------------------------------------------------------------------


def test_roles_below_their_guarantee_are_served_first_then_by_share() -> None:
    made = player("agent A1 8/8", "framework F1 a", "queued recover F1 A1 4/4")
    for framework, role in (("F2", "b"), ("F3", "c")):
        made.play(f"queued framework {framework} {role}")
    assert list(made.allocator.serving_order()) == [("b", 0.0), ("c", 0.0), ("a", 0.5)]
    made.play("queued quota c 1/1")
    assert [role for role, _ in made.allocator.serving_order()] == ["c", "b", "a"]
    made.play("queued quota a 4/4")
    assert [role for role, _ in made.allocator.serving_order()] == ["c", "b", "a"]
    made.play("queued quota a 4/5")
    assert [role for role, _ in made.allocator.serving_order()] == ["c", "a", "b"]


def test_an_order_that_is_drawn_by_lot_is_not_known_before() -> None:
    made = player("agent A1 8/8", "framework F1 a", role_sorter="random")
    assert list(made.allocator.serving_order()) == []
    assert made.allocator.metrics()["allocator/mesos/roles/a/shares/dominant"] == 0.0
