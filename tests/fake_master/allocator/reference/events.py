"""The events of random histories, and what must hold after each of them."""

from typing import Any

from hypothesis import strategies as st

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from tests.fake_master.allocator.reference.history import History

NUMBER = st.integers(0, 200)


def _padded(event: tuple[str, int, int]) -> tuple[Any, ...]:
    return (*event, 0) if event[0] == "recover" else event


COMMON = st.one_of(
    st.tuples(st.sampled_from(["tick", "decline_all"]), NUMBER),
    st.tuples(st.just("recover"), NUMBER, NUMBER, NUMBER),
    st.tuples(st.just("agent"), NUMBER),
    st.tuples(st.just("framework"), NUMBER, NUMBER),
    st.tuples(st.just("quota"), NUMBER, NUMBER),
)
RARE = st.one_of(
    st.tuples(
        st.sampled_from(
            [
                "remove_agent",
                "return_agent",
                "switch_agent",
                "attributes",
                "grow",
                "remove_framework",
                "switch_framework",
                "suppress",
                "revive",
                "no_quota",
            ]
        ),
        NUMBER,
    ),
    st.tuples(st.sampled_from(["reserve", "weight", "revive_one"]), NUMBER, NUMBER),
    st.tuples(st.just("resubscribe"), NUMBER, NUMBER, NUMBER),
)
EVENTS = st.lists(st.one_of(COMMON, COMMON, RARE), min_size=5, max_size=40)
START = [("agent", 0), ("agent", 2), ("framework", 3, 2), ("framework", 1, 0)]

# What moves proofs about: everybody refuses for a while, little happens, refusals end.
QUIET = st.lists(
    st.one_of(
        st.tuples(st.just("decline_all"), st.integers(3, 5)),
        st.tuples(st.just("tick"), NUMBER),
        st.tuples(st.just("tick"), NUMBER),
        st.tuples(st.sampled_from(["quota", "recover", "reserve", "framework"]), NUMBER, NUMBER).map(_padded),
        st.tuples(st.sampled_from(["revive", "suppress", "no_quota", "grow", "attributes"]), NUMBER),
    ),
    min_size=8,
    max_size=40,
)

# A framework moves from a role to the one above, which inherits the count of the whole subtree.
NEST_AND_RETURN: list[tuple[Any, ...]] = [
    ("decline_all", 0),
    ("tick", 0),
    ("decline_all", 0),
    ("resubscribe", 1, 0, 0),
    ("framework", 1, 0),
]

# In one run a role below the one with the limit is offered an agent, and then the role itself another.
LIMIT_AND_CHILD: list[tuple[Any, ...]] = [
    ("decline_all", 3),
    ("decline_all", 3),
    ("decline_all", 3),
    ("quota", 0, 1),
    ("suppress", 38),
    ("tick", 0),
    ("decline_all", 3),
    ("framework", 0, 0),
]


def check_books(history: History) -> None:
    """Nothing offered twice, nothing lost: offered + used + free = total on every agent."""
    held: dict[str, list[Resources]] = {}
    for framework, agent, part in history.outstanding:
        held.setdefault(agent, []).append(part)
        assert framework in history.allocator.state.frameworks
        for entry in part:
            owner, role = entry.role, entry.allocation_role
            assert role is not None
            assert not entry.is_reserved or owner == role or roles.is_strict_subrole(role, owner)
    for name, known in history.reference.agents.items():
        used = Resources(entry for part in held.get(name, []) for entry in part.allocated_to(None))
        free = history.allocator.state.agents[name].free_resources.resources
        assert known.total.contains(used)
        assert free + used == known.total
    used_in_all = Quantities.total(part.scalar_quantities() for _, _, part in history.outstanding)
    assert Quantities(history.allocator.state.total_used()) == used_in_all
