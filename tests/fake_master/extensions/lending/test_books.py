"""The books of an allocator that lends: agents, tenants and debts, without a master."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options
from fake_master.extensions.lending.allocator import LendingAllocator
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.reservations.operations import Conversion
from tests.fake_master.allocator.words import expand
from tests.helpers.profiles import examples

A = "4/400;cpus(lender):6;mem(lender):600"
HOUR = 3600.0


class Books:
    """An allocator, what it offered last, and what it took back; everything is at second 0 until `tick`."""

    def __init__(self, options: Options | None = None) -> None:
        self.offers: dict[tuple[str, str, str], Resources] = {}
        self.rescinds: list[tuple[str, str, Resources]] = []
        self.now = 0.0
        self.allocator = LendingAllocator(
            options or Options(), Callbacks(self._on_offers), 0.0, on_rescind=self._on_rescind
        )

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for by_agent in by_role.values():
            for agent, offered in by_agent.items():
                for kind, part in offered.by_revocability().items():
                    self.offers[framework, agent, kind] = part

    def _on_rescind(self, framework: str, by_agent: dict[str, Resources]) -> None:
        self.rescinds += [(framework, agent, resources) for agent, resources in by_agent.items()]

    def agent(self, name: str = "A", text: str = A) -> None:
        self.allocator.add_agent(AgentInfo(name), expand(text))

    def framework(self, name: str, *roles: str, tenant: bool = True, **more: Any) -> None:
        able = {"MULTI_ROLE"} | ({"REVOCABLE_RESOURCES"} if tenant else set())
        self.allocator.add_framework(FrameworkInfo(name, frozenset(roles), frozenset(able), **more))
        self.allocator.advance_to(self.now)

    def tick(self) -> None:
        self.now += 1.0
        self.allocator.advance_to(self.now)

    def give_back(self, framework: str, kind: str, seconds: float | None = None, agent: str = "A") -> None:
        part = self.offers.pop((framework, agent, kind))
        self.allocator.recover_resources(framework, agent, part, seconds)

    def lent(self, agent: str = "A") -> Quantities:
        return Quantities(self.allocator.lent.agents[agent].lent_in_all())

    def debts(self) -> Quantities:
        records = self.allocator.lent.agents.values()
        return Quantities.total(Quantities(debt) for record in records for debt in record.debt.values())


def idle(*agents: str) -> Books:
    """The owner has refused everything for an hour, and the tenant was lent what is idle."""
    books = Books()
    for name in agents or ("A",):
        books.agent(name)
    books.framework("L", "lender", tenant=False)
    for name in agents or ("A",):
        books.give_back("L", "regular", HOUR, name)
    books.framework("T", "tenant")
    return books


def q(text: str) -> Quantities:
    return expand(text).scalar_quantities()


def test_r7_a_lost_agent_takes_its_debts_along() -> None:
    books = idle("A", "B")
    books.allocator.revive("L")
    books.allocator.advance_to(books.now)
    assert books.debts() == q("12/1200")
    books.allocator.remove_agent("A")
    assert books.debts() == q("6/600")
    books.give_back("T", "non-throttleable", agent="A")
    books.give_back("T", "non-throttleable", agent="B")
    assert (books.debts(), books.lent("B")) == (Quantities(), Quantities())
    assert books.allocator.lent.role_sorter.allocation("tenant") == {}


def test_what_is_lent_shows_neither_owner_nor_stack() -> None:
    (entry, _) = idle().offers["T", "A", "non-throttleable"]
    assert entry == Resource("cpus", 6000, revocable=True, allocation_role="tenant")


def test_only_what_is_taken_back_is_rescinded_and_the_best_off_gives_first() -> None:
    books = idle("A", "B")
    books.give_back("T", "non-throttleable", HOUR, "A")
    books.framework("T2", "second")
    assert books.offers["T2", "A", "non-throttleable"].scalar_quantities() == q("6/600")
    # T2 gives half back and T has it: on A both are lent something, and T has more in all.
    half = expand("cpus{REV}:3;mem{REV}:300").allocated_to("second")
    books.allocator.recover_resources("T2", "A", half, HOUR)
    books.allocator.revive("T")
    books.allocator.advance_to(books.now)
    assert books.offers["T", "A", "non-throttleable"].scalar_quantities() == q("3/300")
    books.allocator.update_agent(AgentInfo("A"), expand("4/400;cpus(lender):5;mem(lender):500"))
    books.allocator.advance_to(books.now)
    assert [(framework, agent, taken.scalar_quantities()) for framework, agent, taken in books.rescinds] == [
        ("T", "A", q("1/100"))
    ]


def test_a_debt_is_turned_back_before_anybody_else_is_lent_anything() -> None:
    books = idle()
    books.allocator.revive("L")
    books.allocator.advance_to(books.now)
    books.framework("T2", "a-second")
    books.give_back("L", "regular", HOUR)
    books.tick()
    assert (books.lent(), books.debts()) == (q("6/600"), Quantities())
    assert ("T2", "A", "non-throttleable") not in books.offers
    assert books.allocator.lent.roles["tenant"].leaf.count == 1


@pytest.mark.parametrize("idle_again", [0, 1, 2, 3, 4, 5, 6])
def test_no_more_debts_are_turned_back_than_lies_idle_again(idle_again: int) -> None:
    """Of three that were lent two cpus each, and then owe them."""
    books = idle()
    for name, left in (("T", 4), ("T2", 2)):
        part = expand(f"cpus{{REV}}:{left};mem{{REV}}:{left}00").allocated_to("tenant" if name == "T" else name)
        books.allocator.recover_resources(name, "A", part, HOUR)
        following = {"T": "T2", "T2": "T3"}[name]
        books.framework(following, following)
        assert books.offers[following, "A", "non-throttleable"].scalar_quantities() == q(f"{left}/{left}00")
    books.allocator.revive("L")
    books.allocator.advance_to(books.now)
    assert (books.lent(), books.debts()) == (Quantities(), q("6/600"))
    if idle_again:
        part = expand(f"cpus(lender):{idle_again};mem(lender):{idle_again}00").allocated_to("lender")
        books.allocator.recover_resources("L", "A", part, HOUR)
    books.tick()
    back = q(f"{idle_again}/{idle_again}00") if idle_again else Quantities()
    assert books.lent() == back
    assert books.debts() == q("6/600") - back


def test_a_role_below_an_owner_is_not_lent_what_the_owner_has() -> None:
    books = Books()
    books.agent(text="cpus(eng):4;mem(eng):400;cpus(ops):2;mem(ops):200")
    books.framework("E", "eng", tenant=False)
    books.framework("O", "ops", tenant=False)
    books.give_back("E", "regular", HOUR)
    books.give_back("O", "regular", HOUR)
    books.framework("X", "eng/batch")
    books.give_back("X", "regular", HOUR)
    books.tick()
    # Regularly it had the reservation of its parent; what it can be lent is the other one.
    assert books.offers["X", "A", "non-throttleable"].scalar_quantities() == q("2/200")
    books.framework("Y", "eng")
    books.give_back("Y", "regular", HOUR)
    books.tick()
    books.framework("Z", "elsewhere")
    assert ("Y", "A", "non-throttleable") not in books.offers
    assert books.offers["Z", "A", "non-throttleable"].scalar_quantities() == q("4/400")


def test_names_that_are_not_lendable_and_disks_stay() -> None:
    books = Books(Options(lendable_names=frozenset({"cpus"})))
    books.agent(text=A + ";disk(lender)[v]:50;disk(lender):50")
    books.framework("T", "tenant")
    assert books.offers["T", "A", "non-throttleable"].scalar_quantities() == q("cpus:6")


def test_each_kind_meets_the_minimum_and_is_refused_on_its_own() -> None:
    books = Books()
    books.agent(text="cpus(lender):6;mem(lender):600;cpus{REV}:0.005")
    books.framework("T", "tenant")
    assert list(books.offers) == [("T", "A", "non-throttleable")]
    books.give_back("T", "non-throttleable", HOUR)
    books.allocator.update_agent(AgentInfo("A"), expand("cpus(lender):6;mem(lender):600;cpus{REV}:2"))
    books.allocator.advance_to(books.now)
    assert list(books.offers) == [("T", "A", "throttleable")]


@pytest.mark.parametrize("change", ["refusal ends", "revive", "attributes", "another estimate", "reservation grows"])
def test_what_nobody_wanted_is_offered_again_once_somebody_may_want_it(change: str) -> None:
    books = idle()
    books.give_back("T", "non-throttleable", 3.5 if change == "refusal ends" else HOUR)
    for _ in range(2):
        books.tick()
        assert not books.offers.get(("T", "A", "non-throttleable"))
    if change == "refusal ends":
        books.tick()
    elif change == "revive":
        books.allocator.revive("T")
    elif change == "attributes":
        books.allocator.update_agent(AgentInfo("A", attributes=(("rack", "r1"),)))
    elif change == "another estimate":
        books.allocator.update_agent(AgentInfo("A"), expand(A + ";cpus{REV}:1"))
    else:
        books.allocator.update_agent(AgentInfo("A"), expand("4/400;cpus(lender):7;mem(lender):600"))
    books.tick()
    if ("L", "A", "regular") in books.offers:
        books.give_back("L", "regular", HOUR)
        books.tick()
    kind = "throttleable" if change == "another estimate" else "non-throttleable"
    assert ("T", "A", kind) in books.offers


def test_excluded_agents_are_not_lent_either() -> None:
    books = Books()
    books.agent()
    books.framework("T", "tenant", excludes={"tenant": lambda info: info.id == "A"})
    assert not books.offers


def test_what_a_known_framework_used_before_is_on_the_books() -> None:
    books = Books()
    books.agent()
    used = expand("cpus{REV}:2;mem{REV}:200").allocated_to("tenant")
    able = frozenset({"MULTI_ROLE", "REVOCABLE_RESOURCES"})
    books.allocator.add_framework(FrameworkInfo("T", frozenset({"tenant"}), able), {"A": used})
    books.allocator.advance_to(0.0)
    assert books.offers["T", "A", "non-throttleable"].scalar_quantities() == q("4/400")
    assert books.lent() == q("6/600")


@pytest.mark.parametrize("kind", ["non-throttleable", "throttleable"])
def test_giving_back_what_is_not_held_is_an_error(kind: str) -> None:
    books = Books()
    books.agent(text=A + ";cpus{REV}:2")
    books.framework("T", "tenant")
    part = books.offers["T", "A", kind]
    with pytest.raises(ValueError, match="T"):
        books.allocator.recover_resources("T", "A", part + part)


def change(books: Books, agent: str, cpus: int, *, reserve: bool) -> bool:
    """An operator reserves cpus of an agent for the owner, or undoes that; whether there were so many free."""
    plain, owned = expand(f"cpus:{cpus}"), expand(f"cpus(lender):{cpus}")
    step = Conversion(plain, owned) if reserve else Conversion(owned, plain)
    return books.allocator.update_available(agent, [step])


def totals(books: Books) -> tuple[float, float]:
    """Cpus that can be lent, and that are lent, as the metrics show them."""
    figures = books.allocator.metrics()
    prefix = "allocator/mesos/revocable/non_throttleable/resources/cpus"
    return figures[f"{prefix}/total"], figures[f"{prefix}/allocated"]


def test_a_run_for_one_agent_settles_what_has_changed_on_the_others() -> None:
    books = idle("A", "B")
    books.give_back("T", "regular", HOUR, "B")
    assert change(books, "A", 4, reserve=False)
    assert change(books, "B", 2, reserve=True)
    books.agent("C", "cpus:1;mem:100")
    books.allocator.advance_to(books.now)
    assert [(name, agent, taken.scalar_quantities()) for name, agent, taken in books.rescinds] == [
        ("T", "A", q("cpus:4"))
    ]
    assert (books.lent("A"), books.lent("B"), books.debts()) == (q("2/600"), q("6/600"), q("cpus:4"))
    assert totals(books) == (2 + 8, 2 + 6)


@settings(max_examples=examples(120))
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 6), st.booleans()), max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_after_each_run_no_agent_lends_more_than_lies_idle_and_the_figures_are_those_of_all(
    rounds: list[list[tuple[str, int, bool]]],
) -> None:
    """Whichever agents the run was for: those that changed, or a new one."""
    books = idle("A", "B", "C")
    for name in "ABC":
        books.give_back("T", "regular", HOUR, name)
    for number, changes in enumerate(rounds):
        for agent, cpus, reserve in changes:
            change(books, agent, cpus, reserve=reserve)
        books.agent(f"N{number}")
        books.allocator.advance_to(books.now)
        slack = {}
        for name, record in books.allocator.state.agents.items():
            slack[name] = Quantities.total(
                Resources([entry]).scalar_quantities() for entry in record.free_resources.resources if entry.is_reserved
            )
            assert slack[name].contains(books.lent(name)), name
        lent = [books.lent(name).get_amount("cpus") for name in slack]
        assert totals(books) == (sum(one.get_amount("cpus") for one in slack.values()) / 1000, sum(lent) / 1000)


def test_figures() -> None:
    books = Books()
    books.agent(text=A + ";cpus{REV}:2")
    books.framework("L", "lender", tenant=False)
    books.give_back("L", "regular", HOUR)
    books.framework("T", "tenant")
    books.allocator.revive("L")
    books.allocator.advance_to(0.0)
    figures = books.allocator.metrics()
    prefix = "allocator/mesos/revocable"
    assert {name.removeprefix(f"{prefix}/"): value for name, value in figures.items() if name.startswith(prefix)} == {
        "throttleable/resources/cpus/total": 2.0,
        "throttleable/resources/cpus/allocated": 2.0,
        "throttleable/resources/mem/total": 0.0,
        "throttleable/resources/mem/allocated": 0.0,
        "non_throttleable/resources/cpus/total": 0.0,
        "non_throttleable/resources/cpus/allocated": 0.0,
        "non_throttleable/resources/mem/total": 0.0,
        "non_throttleable/resources/mem/allocated": 0.0,
        "rescinds": 1.0,
    }
    assert figures["allocator/mesos/resources/cpus/total"] == 10.0
