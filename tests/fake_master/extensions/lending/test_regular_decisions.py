"""I4: lending changes no regular decision.  Random histories of the allocator, with tenants who take and give back.

The reference of the allocator knows nothing of lending; its offers must be the regular ones here, in every step.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_master.allocator.interface import Callbacks
from fake_master.allocator.options import Options
from fake_master.extensions.lending.allocator import LendingAllocator
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from tests.fake_master.allocator.reference import history as plain
from tests.fake_master.allocator.reference.events import COMMON, NUMBER, RARE, START
from tests.fake_master.allocator.words import expand
from tests.helpers.profiles import examples

LENDERS = ["cpus(a):4;mem(a):400;2/200", "cpus(q):1;mem(q):200;1/100", "cpus(a/b):2;mem(a/b):64;cpus(b):3"]


class LendingHistory(plain.History):
    """As its parent, with an allocator that lends; `lent` is who has been offered what, and keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self.lent: list[tuple[str, str, Resources]] = []
        self.allocator = self.lending = LendingAllocator(
            Options(), Callbacks(self._on_all_offers), 0.0, on_rescind=self._on_rescind
        )

    def _on_all_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        regular: dict[str, dict[str, Resources]] = {}
        for role, by_agent in by_role.items():
            for agent, offered in by_agent.items():
                for kind, part in offered.by_revocability().items():
                    if kind == "regular":
                        regular.setdefault(role, {})[agent] = part
                    else:
                        assert "REVOCABLE_RESOURCES" in self.reference.frameworks[framework].info.capabilities
                        self.lent.append((framework, agent, part))
        self._on_offers(framework, regular)

    def _on_rescind(self, framework: str, by_agent: dict[str, Resources]) -> None:
        """Every other time nothing is done about it, as if it were in use."""
        for agent, resources in by_agent.items():
            assert resources
            mine = [offer for offer in self.lent if offer[:2] == (framework, agent) and not _throttled(offer[2])]
            assert mine, "nothing is taken back that nobody has"
            for offer in mine[: len(self.lent) % 2]:
                self._give_back_lent(offer, None)

    def _give_back_lent(self, offer: tuple[str, str, Resources], seconds: float | None) -> None:
        self.lent = [other for other in self.lent if other is not offer]
        self.allocator.recover_resources(*offer, seconds)

    # --- More words ---------------------------------------------------------------------------------

    def do_lender(self, number: int) -> None:
        before = plain.AGENTS
        try:
            plain.AGENTS = LENDERS
            self.do_agent(number)
        finally:
            plain.AGENTS = before

    def do_return(self, number: int, refusal: int) -> None:
        if self.lent:
            offer = self.lent[number % len(self.lent)]
            self._give_back_lent(offer, plain.REFUSALS[refusal % len(plain.REFUSALS)])

    def do_estimate(self, number: int, amount: int) -> None:
        agent = self._agent(number)
        if agent is not None:
            slack = expand(f"cpus{{REV}}:{amount % 4}") if amount % 4 else Resources()
            record = self.lending.lent.agent(agent.info.id)
            before = record.usage_slack
            self.allocator.update_agent(agent.info, agent.total + slack)
            if record.usage_slack != before:
                # As in a master without lending: another total is a reason to share the agent out.
                self.candidates[agent.info.id] = None

    def do_remove_agent(self, number: int) -> None:
        agent = self._agent(number)
        if agent is not None:
            self.lent = [offer for offer in self.lent if offer[1] != agent.info.id]
        super().do_remove_agent(number)

    def do_remove_framework(self, number: int) -> None:
        framework = self._framework(number)
        if framework is not None:
            self.lent = [offer for offer in self.lent if offer[0] != framework.info.id]
        super().do_remove_framework(number)


def _throttled(resources: Resources) -> bool:
    return all(entry.throttleable for entry in resources)


def check_lent(history: LendingHistory) -> None:
    """I2 and I3, and the sorters' sums."""
    books = history.lending.lent
    for record in books.agents.values():
        assert Quantities(record.allocation_slack).contains(Quantities(record.lent_in_all()))
    has: dict[tuple[str, str], Quantities] = {}
    for framework, agent, part in history.lent:
        if not _throttled(part):
            has[framework, agent] = has.get((framework, agent), Quantities()) + part.scalar_quantities()
    booked: dict[tuple[str, str], Quantities] = {}
    for record in books.agents.values():
        for book in (record.lent, record.debt):
            for tenant, amounts in book.items():
                key = tenant.framework, record.id
                booked[key] = booked.get(key, Quantities()) + Quantities(amounts)
    assert booked == has
    assert Quantities(books.totals.amounts) == Quantities.total(
        Quantities(record.allocation_slack) + record.usage_slack.scalar_quantities() for record in books.agents.values()
    )
    for role in books.roles.values():
        lent = Quantities.total(
            Quantities(amounts)
            for record in books.agents.values()
            for tenant, amounts in record.lent.items()
            if tenant.role is role
        )
        used = Quantities.total(
            held.scalar_quantities()
            for record in books.agents.values()
            for tenant, held in record.throttled.items()
            if tenant.role is role
        )
        assert Quantities(books.role_sorter.allocation(role.name)) == lent + used


OWN = st.one_of(
    st.tuples(st.just("lender"), NUMBER),
    st.tuples(st.just("return"), NUMBER, NUMBER),
    st.tuples(st.just("estimate"), NUMBER, NUMBER),
)
EVENTS = st.lists(st.one_of(COMMON, OWN, OWN, RARE), min_size=5, max_size=40)
BEGIN = [*START, ("lender", 0), ("framework", 3, 2), ("lender", 1), ("framework", 1, 3)]


class Forgetful(LendingHistory):
    """No proof that nobody wants what is idle outlives a run."""

    def __init__(self) -> None:
        super().__init__()
        stage = self.lending._stage
        third_stage = stage.third_stage

        def third_stage_anew(agents: Any, offered: Any) -> None:
            self.lending.lent.epoch = object()
            third_stage(agents, offered)

        stage.third_stage = third_stage_anew  # type: ignore[method-assign]  # for this one alone


@pytest.fixture(autouse=True)
def without_revocable_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference would mix what they have into regular offers."""
    monkeypatch.setattr(plain, "AGENTS", [text for text in plain.AGENTS if "REV" not in text])


SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


@settings(SETTINGS, max_examples=examples(120))
@given(EVENTS)
def test_regular_offers_are_those_of_an_allocator_that_does_not_lend(events: list[tuple[Any, ...]]) -> None:
    history = LendingHistory()
    for word, *numbers in [*BEGIN, *events]:
        history.play(word, *numbers)
        check_lent(history)


@settings(SETTINGS, max_examples=examples(80))
@given(EVENTS)
def test_proofs_that_nobody_wants_it_change_nothing(events: list[tuple[Any, ...]]) -> None:
    history, forgetful = LendingHistory(), Forgetful()
    for word, *numbers in [*BEGIN, *events]:
        for one in (history, forgetful):
            one.play(word, *numbers)
        assert [(name, agent, str(part)) for name, agent, part in history.lent] == [
            (name, agent, str(part)) for name, agent, part in forgetful.lent
        ]
