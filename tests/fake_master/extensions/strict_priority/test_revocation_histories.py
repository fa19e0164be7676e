"""Random histories keep the promises of revocation; the market checks each of them.

Source: docs/explanation/documents.md, "Playing Traffic Cop".
"""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fake_master.extensions.strict_priority.market import GRACE, Market
from tests.helpers.profiles import examples

NUMBER = st.integers(0, 50)
SIZES = ["1/512", "2/256", "0.5/1024", "3/2048", "1/64"]
ROLES = ["prod", "mid", "batch", "batch/x", "idle"]
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(1, 8)),
        st.tuples(st.just("wait"), st.integers(1, 8)),
        st.tuples(st.just("launch"), NUMBER, NUMBER),
        st.tuples(st.just("launch"), NUMBER, NUMBER),
        st.tuples(st.just("ask"), NUMBER, NUMBER),
        st.tuples(st.just("ask"), NUMBER, NUMBER),
        st.tuples(st.just("framework"), NUMBER),
        st.tuples(st.just("agent"), NUMBER),
        st.tuples(st.just("decline"), NUMBER, NUMBER),
        st.tuples(st.just("lose"), NUMBER),
        st.tuples(st.just("end"), NUMBER),
        st.tuples(st.just("kill"), NUMBER),
        st.tuples(st.just("quota"), NUMBER, NUMBER),
        st.tuples(st.just("suppress"), NUMBER),
        st.tuples(st.just("revive"), NUMBER),
        st.tuples(st.just("refuse"), NUMBER),
    ),
    max_size=40,
)


class Hands:
    """Plays events whose numbers choose among what there is."""

    def __init__(self, market: Market) -> None:
        self.market = market

    def play(self, word: str, *numbers: int) -> None:
        getattr(self, word)(*numbers)
        self.market.check_books()

    def _framework(self, number: int) -> str:
        return list(self.market.roles)[number % len(self.market.roles)]

    def wait(self, halves: int) -> None:
        self.market.wait(halves / 2)

    def agent(self, number: int) -> None:
        self.market.agent(["4/4096", "2/1024", "8/2048"][number % 3])

    def lose(self, number: int) -> None:
        if len(self.market.totals) > 1:
            self.market.lose(list(self.market.totals)[number % len(self.market.totals)])

    def framework(self, number: int) -> None:
        self.market.framework(ROLES[number % len(ROLES)])

    def launch(self, number: int, how: int) -> None:
        offers = self.market.offers()
        if offers:
            executor = "shared" if how % 3 == 0 else None
            self.market.launch(offers[number % len(offers)], SIZES[how % len(SIZES)], 1 + how % 4, executor)

    def decline(self, number: int, how: int) -> None:
        offers = self.market.offers()
        if offers:
            self.market.decline(offers[number % len(offers)], [0.0, 2.0, 100.0][how % 3])

    def end(self, number: int) -> None:
        tasks = self.market.tasks()
        if tasks:
            self.market.end(tasks[number % len(tasks)])

    def kill(self, number: int) -> None:
        running = [task for task in self.market.tasks() if task.told_at is None]
        if running:
            self.market.kill_slowly(running[number % len(running)])

    def ask(self, number: int, how: int) -> None:
        self.market.ask(self._framework(number), *[SIZES[how % len(SIZES)]] * (how % 4))

    def quota(self, number: int, how: int) -> None:
        self.market.quota(["prod", "mid", "batch", "idle"][number % 4], ["", "1/512", "3/512", "0.5/2048"][how % 4])

    def suppress(self, number: int) -> None:
        self.market.allocator.suppress(self._framework(number))

    def revive(self, number: int) -> None:
        self.market.allocator.revive(self._framework(number))

    def refuse(self, number: int) -> None:
        """From now on the master refuses to revoke tasks of one more agent, or it refuses nothing any more."""
        agents = [*self.market.totals, None]
        chosen = agents[number % len(agents)]
        self.market.refused = set() if chosen is None else {*self.market.refused, chosen}


ASKED_IN_VAIN: list[tuple[Any, ...]] = [
    *[("suppress", number) for number in (0, 1, 3)],
    *[("wait", 2), ("launch", 0, 15), ("launch", 0, 15), ("suppress", 2), ("revive", 0)],
    *[("refuse", 0), ("refuse", 1), ("ask", 0, 5), ("wait", 6)],
]
"""Batch has all cpus; prod asks for one, and the master does not revoke anything."""


@settings(max_examples=examples(250), deadline=None)
@given(st.sampled_from([[], ASKED_IN_VAIN]), EVENTS)
@example(ASKED_IN_VAIN, [])
def test_in_any_history_the_promises_of_revocation_are_kept(
    before: list[tuple[Any, ...]], events: list[tuple[Any, ...]]
) -> None:
    """Never below a guarantee, never of an equal, never more than needed, nothing lost, nobody waited for in vain."""
    market = Market("prod=9,mid=5,batch=1,batch/x=2")
    hands = Hands(market)
    for word, *numbers in [("agent", 0), ("agent", 1), *[("framework", n) for n in range(4)], *before, *events]:
        hands.play(word, *numbers)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from(SIZES), min_size=1, max_size=6), st.sampled_from(SIZES), st.integers(1, 3))
def test_who_is_highest_gets_what_it_asks_for_where_it_could_fit_at_all(
    tasks: list[str], wanted: str, times: int
) -> None:
    """It guarantees resources for critical workloads, when nothing is guaranteed to others."""
    market = Market("prod=1")
    market.agent("4/4096")
    market.agent("4/4096")
    batch = market.framework("batch")
    for task in tasks:
        market.wait(1.0)
        for offer in market.offers(batch):
            market.launch(offer, task)
    for offer in market.offers(batch):
        market.decline(offer, 0.0)
    market.wait(1.0)
    prod = market.framework("prod")
    market.ask(prod, *[wanted] * times)
    for _ in range(times):
        market.wait(2 * GRACE)
        for offer in market.offers(prod):
            market.launch(offer, wanted, times - len(market.tasks(prod)))
        for offer in market.offers(batch):
            market.decline(offer, 1000.0)
    one = market.tasks(prod)
    fits = 8 if wanted == "1/64" else {"1/512": 8, "2/256": 4, "0.5/1024": 8, "3/2048": 2}[wanted]
    assert len(one) == min(times, fits)
