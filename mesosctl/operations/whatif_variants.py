"""Several forecasts from one reading of a cluster, or of a recording.

A dry run settles once, and a recording is played once without changes. Each alternative is then tried in a forked
process, so that none affects another, and none reads, settles or plays the same again.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from mesosctl.model.quantities import Quantities
from mesosctl.model.resources import Resources
from mesosctl.operations.replay import PlayedDemand, TimedChange, play
from mesosctl.operations.side_by_side import side_by_side
from mesosctl.planning.added_demand import with_frameworks
from mesosctl.planning.added_framework import AddedFramework
from mesosctl.planning.forecast import Forecast
from mesosctl.planning.replay import Played, Replay
from mesosctl.planning.whatif_changes import AddAgents, parse_change
from mesosctl.planning.whatif_variants import (
    MANY_AGENTS,
    Alternative,
    Answer,
    LargestChange,
    Search,
    Template,
    likely_amount,
)

if TYPE_CHECKING:
    from fake_master import DryRun

Attempts = Callable[[str], None]
"""Make the change of a word on the dry run's master."""
Progress = Callable[[str], None]


# --- From a snapshot ----------------------------------------------------------------------------------


def forecast_each(
    dry_run: "DryRun", words: Sequence[str], attempt: Attempts, progress: Progress
) -> Iterator[Alternative[Forecast]]:
    """Yield a forecast for each word, in order.  Raises what the attempts raise."""
    yield from _each(words, side_by_side(words, _forecasting(dry_run, attempt)), progress, "forecasting")


def find_largest(
    dry_run: "DryRun", template: Template, attempt: Attempts, progress: Progress
) -> LargestChange[Forecast]:
    """Return the largest amount for the question mark that is accepted and starves nobody.

    Raises what the attempts raise.
    """
    before = dry_run.before
    forecast = _forecasting(dry_run, attempt)
    total = before.totals.get_amount(template.resource)
    precision = template.precision(total, is_slow=sum(before.like_agents.values()) > MANY_AGENTS)
    guarantees = {role: quota.guarantees for role, quota in before.quotas.items()}

    def ask(words: Sequence[str]) -> list[Forecast]:
        progress(f"trying {words[0]}")
        return list(side_by_side(words, forecast))

    return Search(template, total, precision, ask).largest(likely_amount(template, before.unpromised, guarantees))


def _forecasting(dry_run: "DryRun", attempt: Attempts) -> Callable[[str], Forecast]:
    def forecast(word: str) -> Forecast:
        dry_run.be_silent()
        attempt(word)
        return dry_run.forecast()

    return forecast


# --- From a recording ---------------------------------------------------------------------------------


class ReplayedVariants:
    """Replays of one recording, each with the common changes and one more.

    `at_once` is how many are played at a time; by default, one for each core.
    """

    def __init__(
        self,
        unchanged: PlayedDemand,
        common: Sequence[TimedChange],
        added: Sequence[AddedFramework],
        progress: Progress,
        at_once: int | None = None,
    ) -> None:
        self._unchanged = unchanged
        self._common = common
        self._added = added
        self._progress = progress
        self._at_once = at_once
        self._demand = with_frameworks(unchanged.demand, added)

    def each(self, words: Sequence[str]) -> Iterator[Alternative[Replay]]:
        """Yield a replay for each word, in order.  Raises what the changes raise."""
        yield from _each(words, self._replays(words), self._progress, "playing")

    def find_largest(self, template: Template) -> LargestChange[Replay]:
        """Return the largest amount for the question mark that is accepted and makes nobody wait.

        Raises what the changes raise.
        """
        total = self._largest_total(template.resource)
        _, guarantees = self._unchanged.played.guarantees[0]
        promised = Quantities.total(guarantees.values()).get_amount(template.resource)
        unpromised = Quantities({template.resource: max(0, total - promised)})

        def ask(words: Sequence[str]) -> list[Replay]:
            self._progress(f"trying {words[0]}")
            return list(self._replays(words))

        # A replay takes as long as a forecast of many agents.
        search = Search(template, total, template.precision(total, is_slow=True), ask)
        return search.largest(likely_amount(template, unpromised, guarantees))

    def _replays(self, words: Sequence[str]) -> Iterator[Replay]:
        for word, played in zip(words, side_by_side(words, self._play, self._at_once), strict=True):
            yield self._unchanged.compare(self._demand, played, self._changes(word), self._added)

    def _play(self, word: str) -> Played:
        played, _ = play(self._demand, self._changes(word), self._unchanged.options)
        return played

    def _changes(self, word: str) -> list[TimedChange]:
        return [*self._common, TimedChange(word, parse_change(word))]

    def _largest_total(self, name: str) -> int:
        """The most that the agents had of a resource at a time, with those that a common change adds."""
        demand = self._unchanged.demand
        moments = {demand.since, *(one.start for one in demand.agents if one.start > demand.since)}
        amounts = [(one.start, one.end, one.agent.total.scalar_quantities().get_amount(name)) for one in demand.agents]
        there = (
            sum(amount for start, end, amount in amounts if start <= moment and (end is None or end > moment))
            for moment in moments
        )
        more = (
            change.count * Resources(change.entries).scalar_quantities().get_amount(name)
            for _, change, _ in self._common
            if isinstance(change, AddAgents)
        )
        return max(there) + sum(more)


def _each(
    words: Sequence[str], answers: Iterator[Answer], progress: Progress, doing: str
) -> Iterator[Alternative[Answer]]:
    for done, word in enumerate(words, 1):
        progress(f"{doing} change {done} of {len(words)}")
        yield Alternative(word, next(answers))
