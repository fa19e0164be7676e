"""Offer filters that are kept packed do what a list of them would, and proofs outlive any number of revivals."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.packed_filters import ClientFilters, Refusals, RefusedResources
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.profiles import examples

SIZES = [parse_resources(f"cpus:{cpus};mem:{128 * cpus}") for cpus in (1, 2, 4)]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("refuse"), st.integers(0, 4), st.integers(0, 2)),
        st.tuples(st.just("again"), st.integers(0, 4), st.integers(0, 20)),
        st.tuples(st.just("end"), st.integers(0, 20), st.just(0)),
        st.tuples(st.just("agent gone"), st.integers(0, 4), st.just(0)),
        st.tuples(st.just("clear"), st.just(0), st.just(0)),
    ),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=examples(200), deadline=None)
def test_packed_filters_are_those_of_a_plain_list(steps):
    refusals = Refusals()
    filters = ClientFilters(refusals)
    in_force: list[RefusedResources] = []
    plain: list[tuple[int, RefusedResources]] = []
    for word, first, second in steps:
        if word == "refuse" or (word == "again" and not in_force):
            in_force.append(refusals.add(SIZES[second % len(SIZES)], until=float(second)))
            filters.add(first, in_force[-1])
            plain.append((first, in_force[-1]))
        elif word == "again":
            refusal = in_force[second % len(in_force)]
            filters.add(first, refusal)
            plain.append((first, refusal))
        elif word == "end" and in_force:
            refusal = in_force.pop(first % len(in_force))
            ended = filters.remove_refusal(refusal)
            assert sorted(ended) == sorted(agent for agent, held in plain if held is refusal)
            refusals.remove(refusal)
            plain = [pair for pair in plain if pair[1] is not refusal]
        elif word == "agent gone":
            filters.remove_agent(first)
            plain = [pair for pair in plain if pair[0] != first]
        elif word == "clear":
            filters.clear()
            plain = []
        assert filters.count == len(plain)
        assert _by_agent(filters) == _by_agent(plain)
        for agent in range(5):
            for offer in SIZES:
                covered = any(held.refused.contains(offer) for other, held in plain if other == agent)
                assert filters.cover(agent, offer) == covered


def _by_agent(pairs):
    return sorted((agent, id(refusal)) for agent, refusal in pairs)


class Market:
    def __init__(self) -> None:
        self.offered: list[tuple[str, str, Resources]] = []
        self.now = 0.0
        self.allocator = HierarchicalAllocator(Options(), Callbacks(self._on_offers), 0.0)

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        self.offered += [(framework, agent, part) for by_agent in by_role.values() for agent, part in by_agent.items()]

    def next_offers(self) -> list[tuple[str, str, Resources]]:
        self.offered = []
        self.now += 1.0
        self.allocator.advance_to(self.now)
        return self.offered


def test_refusals_hold_while_others_revive_ever_so_often():
    """Every revival makes new tokens of proofs, which are bits that are used again at some time."""
    market = Market()
    for name in ("patient", "lively"):
        market.allocator.add_framework(FrameworkInfo(name, frozenset({name})))
    for name in ("a1", "a2"):
        market.allocator.add_agent(AgentInfo(name), SIZES[2])
    while offers := market.next_offers():
        for framework, agent, part in offers:
            market.allocator.recover_resources(framework, agent, part, 1e7)
    for _ in range(2000):
        market.allocator.revive("lively")
        offers = market.next_offers()
        assert sorted((framework, agent) for framework, agent, _ in offers) == [("lively", "a1"), ("lively", "a2")]
        for framework, agent, part in offers:
            market.allocator.recover_resources(framework, agent, part, 1e7)
    market.allocator.revive("patient")
    assert sorted((framework, agent) for framework, agent, _ in market.next_offers()) == [
        ("patient", "a1"),
        ("patient", "a2"),
    ]


def test_filters_of_one_moment_end_before_a_batch_that_was_due_after_them():
    """Deadlines that are equal are played in the order of their creation, so that a filter ends after such a batch."""
    market = Market()
    for name in ("f1", "f2"):
        market.allocator.add_framework(FrameworkInfo(name, frozenset({name})))
    market.allocator.add_agent(AgentInfo("a1"), SIZES[0])
    ((framework, agent, part),) = market.next_offers()
    market.allocator.recover_resources(framework, agent, part, 1.0)
    ((other, agent, part),) = market.next_offers()
    assert other != framework, "the filter was made after the batch of that moment was due, and still held"
    market.allocator.recover_resources(other, agent, part, 1e7)
    assert [name for name, _, _ in market.next_offers()] == [framework]
