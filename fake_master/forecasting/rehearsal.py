"""A cluster as it is now, in virtual time: settled, then changed, then settled again.

rehearsal = Rehearsal(master, clock, picture, terms)    settled at once: the moment before
rehearsal.begin("lose two agents")
rehearsal.lose_agents([…])                              what nobody asks for
rehearsal.transport                                     for a client of httpx: it asks the fake master
rehearsal.forecast()                                    time passes: the moment after, and what lies between

"""

import math
from collections.abc import Iterable, Mapping

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.carriers.transport import CarrierTransport
from fake_master.forecasting import events
from fake_master.forecasting.agent_names import AgentNames
from fake_master.forecasting.evictions import Evictions
from fake_master.forecasting.listening import Listening
from fake_master.forecasting.looking import look
from fake_master.master.clocks import VirtualClock
from fake_master.master.master import Master
from fake_master.master.offers import Offer
from fake_master.master.tasks import Task
from mesosctl.core.comparing import Course, forecast
from mesosctl.core.forecast import Answer, Forecast, Rescinded, Terms
from mesosctl.core.moment import Moment
from mesosctl.core.picture import ClusterPicture
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources

_NAMED = 20
"""Agents in one sentence; the forecast has them all."""


class Rehearsal:
    """One master that nobody else uses, and everything that is tried out on it."""

    def __init__(
        self,
        master: Master,
        clock: VirtualClock,
        picture: ClusterPicture,
        terms: Terms | None = None,
        wants: str | None = None,
    ) -> None:
        self.clock = clock
        self.picture = picture
        self._wants = wants
        self._master = master
        self._terms = terms or Terms()
        self._out = {offer.id for offer in master.offers}
        self._rescinded: list[Rescinded] = []
        self._names = AgentNames(master)
        self._evictions = Evictions(master, self._names)
        self._answers: list[Answer] = []
        self._changes: list[str] = []
        self._lost: list[tuple[str, str]] = []
        self._done = 0
        after = self._terms.cycles * master.allocation_interval
        # What the change itself keeps from being offered again, it keeps for so long.
        after = max(after, DEFAULT_REFUSE_SECONDS + 2 * master.allocation_interval)
        after += self._evictions.longest_grace
        self._cycles_after = math.ceil(after / master.allocation_interval)
        self.before = self._settle()
        self._evictions.begin()
        master.offers.on_rescind = self._note
        self.carrier = Listening(master, clock, self._answers.append)
        self.transport = CarrierTransport(self.carrier)

    # --- Changes --------------------------------------------------------------------------------------

    def lose_agents(self, agent_ids: Iterable[str], why: str = "") -> None:
        """Agents are gone for good; the change that is tried says which and what they had, and `why` so many.

        Raises KeyError for one that is not registered.
        """
        everybody = self._master.agents
        gone = [(everybody[agent_id].hostname, agent_id) for agent_id in dict.fromkeys(agent_ids)]
        names = ", ".join(self._names.of(agent_id) for _, agent_id in gone[:_NAMED])
        more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
        had = Quantities.total(everybody[agent_id].total.scalar_quantities() for _, agent_id in gone)
        share = f"{len(gone)} of {len(everybody)}{f' ({why})' if why else ''}"
        self._changes[-1:] = [f"agents lost: {share}: {names}{more}; with {had}"]
        self._lost += gone
        events.lose_agents(self._master, [agent_id for _, agent_id in gone])
        self._master.advance()

    def add_agents(self, total: Resources, count: int, attributes: Mapping[str, str]) -> None:
        """Agents register."""
        events.add_agents(self._master, events.NewAgents(total, count, attributes=attributes))
        self._names.grown()
        self._master.advance()

    def lose_framework(self, framework_id: str) -> None:
        """A framework is gone for good, with its tasks.  Raises KeyError for one that is not registered."""
        self._master.subscriptions.remove(self._master.frameworks[framework_id])
        self._master.advance()

    @property
    def frameworks(self) -> dict[str, str]:
        """Names of the registered frameworks, by id."""
        return {framework.id: framework.name for framework in self._master.frameworks.values()}

    # --- Time -----------------------------------------------------------------------------------------

    def _settle(self) -> Moment:
        self._pass(self._terms.cycles)
        return look(self._master)

    def _pass(self, cycles: int) -> None:
        for _ in range(cycles):
            self.clock.sleep(self._master.allocation_interval)
            self._master.advance()
            if self._terms.assume == "accept":
                self._accept_everything()
            self._done += 1
            self._terms.progress(self._done / (self._terms.cycles + self._cycles_after))

    def _accept_everything(self) -> None:
        """Every offer becomes a task that takes all of it and does not end."""
        master = self._master
        for offer in master.offers:
            if master.offers.get(offer.id) is None:  # rescinded for one of those before it
                continue
            master.offers.discard(offer)
            master.allocator.transition_offered_to_allocated(offer.agent_id, offer.resources)
            if self._evictions.are_possible:
                self._launch(offer)
            else:
                master.frameworks[offer.framework_id].hold(master.agents[offer.agent_id], offer.resources)

    def _launch(self, offer: Offer) -> None:
        """Where tasks can be evicted, each is one of its own."""
        framework, name = self._master.frameworks[offer.framework_id], f"assumed-{offer.id}"
        task = Task(name, framework.id, offer.agent_id, {"name": name}, offer.resources, offer.role)
        self._master.task_runner.launch(framework, task, None)

    # --- The answer -----------------------------------------------------------------------------------

    @property
    def answers(self) -> tuple[Answer, ...]:
        """What every request was answered so far."""
        return tuple(self._answers)

    def begin(self, change: str) -> None:
        """Note that a change is tried."""
        self._changes.append(change)

    def refuse(self, answer: Answer) -> None:
        """Note a change that is refused before any request is made."""
        self._answers.append(answer)

    def forecast(self) -> Forecast:
        """Let time pass until the change has settled, and compare."""
        self._pass(self._cycles_after)
        course = Course(
            picture=self.picture,
            cycles=self._cycles_after,
            seconds=self._cycles_after * self._master.allocation_interval,
            assume=self._terms.assume,
            changes=tuple(self._changes),
            lost=tuple(self._lost),
            answers=self.answers,
            rescinded=tuple(self._rescinded),
            evicted=self._evictions.found(),
            wants=self._wants,
        )
        return forecast(self.before, look(self._master), course)

    def _note(self, offer: Offer) -> None:
        framework = self._master.frameworks.get(offer.framework_id)
        self._rescinded.append(
            Rescinded(
                offer_id=offer.id,
                framework_id=offer.framework_id,
                framework=offer.framework_id if framework is None else framework.name,
                role=offer.role,
                hostname=self._master.agents[offer.agent_id].hostname,
                resources=offer.resources.allocated_to(None),
                agent_id=offer.agent_id,
                agent=self._names.of(offer.agent_id),
                is_out=offer.id in self._out,
            )
        )
