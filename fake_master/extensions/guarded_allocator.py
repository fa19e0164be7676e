"""The guard around a custom allocator: the master reports violations of the interface, and keeps running.

An exception ends with the event that raised it.  An offer that no master could make is not made and goes straight back
to the allocator.  Decisions reach the master at the end of `advance_to`, whenever the allocator reported them.
"""

import functools
import logging
import math
from abc import update_abstractmethods
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fake_master.allocator import custom
from fake_master.allocator.custom_watchdog import in_progress
from fake_master.allocator.interface import Allocator, Callbacks
from fake_master.allocator.options import Options
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.reservations.operations import Conversion

_log = logging.getLogger(__name__)
_MOST_ADVANCES = 1000
"""The number of times that an allocator may ask for the same time."""
_MOST_REPORTS = 100
"""The most different faults that are logged."""


class GuardedAllocator(Allocator):
    """Forwards every event to a custom allocator, and checks its decisions.

    Faults are logged, each sentence once, and counted by the metric `allocator/custom/faults`.
    """

    def __init__(self, name: str, options: Options, master: Callbacks, state: MasterState) -> None:
        """Load and make the allocator.  Raises BadInput."""
        self._name = name
        self._state = state
        self._master = master
        self._interval = options.allocation_interval
        self._now = state.now
        self._advances = 0
        """The number of times that it was advanced to the present time since the last event."""
        self._delivers = False
        self._decisions: list[tuple[bool, str, Any]] = []
        """Decisions not yet passed on: (whether it is about offers, framework id, by role or by agent)."""
        self._reported: set[str] = set()
        self.faults = 0
        """The number of violations so far."""
        callbacks = replace(
            master,
            offers=lambda framework, by_role: self._decisions.append((True, framework, by_role)),
            inverse_offers=lambda framework, by_agent: self._decisions.append((False, framework, by_agent)),
        )
        self._allocator = custom.make(name, custom.load(name), options, callbacks, state.now)

    # --- Time -----------------------------------------------------------------------------------------

    def advance_to(self, now: float) -> None:
        """See `Allocator.advance_to`.  Decisions are checked and passed on afterwards."""
        self._advances = self._advances + 1 if now == self._now else 0
        self._now = now
        self._call("advance_to", now)
        decisions, self._decisions = self._decisions, []
        self._delivers = True
        try:
            for is_offer, framework, decision in decisions:
                if is_offer:
                    self._offer(framework, decision)
                else:
                    self._ask_to_leave(framework, decision)
        finally:
            self._delivers = False

    def next_deadline(self) -> float | None:
        """See `Allocator.next_deadline`."""
        faults = self.faults
        deadline = self._call("next_deadline")
        if self._decisions:
            return self._now
        if deadline is not None and (
            not isinstance(deadline, int | float) or isinstance(deadline, bool) or math.isnan(deadline)
        ):
            self._report(f"next_deadline returned {deadline!r}, which is not a time")
        elif deadline is not None and deadline <= self._now and self._advances >= _MOST_ADVANCES:
            self._report(f"next_deadline asked to advance to the same time more than {_MOST_ADVANCES} times")
        if self.faults != faults:
            return self._now + self._interval
        return deadline  # type: ignore[no-any-return]  # looked at above

    # --- Events that answer ---------------------------------------------------------------------------

    def allocate(self) -> None:
        """See `Allocator.allocate`."""
        self._tell("allocate")

    def update_available(self, agent: str, conversions: Any) -> bool:
        """See `Allocator.update_available`; a fault changes nothing."""
        steps: list[Conversion] = list(conversions)
        return self._call("update_available", agent, steps) is True

    def metrics(self) -> dict[str, float]:
        """See `Allocator.metrics`."""
        found = self._call("metrics")
        figures: dict[str, float] = {}
        if isinstance(found, Mapping):
            figures = {
                str(name): float(value)
                for name, value in found.items()
                if isinstance(value, int | float) and math.isfinite(value)
            }
        return {**figures, "allocator/custom/faults": float(self.faults)}

    # --- Decisions ------------------------------------------------------------------------------------

    def _offer(self, framework: str, by_role: Any) -> None:
        sound: dict[str, dict[str, Resources]] = {}
        # Each part is passed on before the next is checked, because it is then no longer free.
        for role, by_agent in by_role.items() if isinstance(by_role, Mapping) else ((None, None),):
            for agent, resources in by_agent.items() if isinstance(by_agent, Mapping) else ((None, None),):
                if not (isinstance(role, str) and isinstance(agent, str) and isinstance(resources, Resources)):
                    self._report("offers must be {role: {agent id: Resources}}")
                    continue
                fault = self._fault(framework, role, agent, resources, sound)
                if fault is None:
                    sound.setdefault(role, {})[agent] = resources
                    continue
                self._report(fault)
                if resources and len({entry.allocation_role for entry in resources}) == 1:
                    self._call("recover_resources", framework, agent, resources)
        if sound:
            self._master.offers(framework, sound)

    def _fault(
        self, framework_id: Any, role: Any, agent_id: Any, resources: Resources, before: Mapping[str, Mapping[str, Any]]
    ) -> str | None:
        """Return the fault of an offer, or None; `before` are those passed on with it."""
        framework, agent = self._state.frameworks.get(framework_id), self._state.agents.get(agent_id)
        if framework is None:
            return f"it offered resources to framework {framework_id}, which is not known"
        if agent is None:
            return f"it offered resources of agent {agent_id}, which is not known"
        if not resources:
            return "it made an empty offer"
        if role not in framework.roles:
            return f"it offered resources to {framework_id} in role {role}, but the framework is not subscribed to it"
        if any(entry.allocation_role != role for entry in resources):
            return "offered resources must carry the role as allocation role"
        plain = resources.allocated_to(None)
        if not all(entry.allocatable_to(role) for entry in plain):
            return f"it offered role {role} resources that are reserved for other roles"
        held = Resources(
            entry for by_agent in before.values() for entry in by_agent.get(agent_id, Resources()).allocated_to(None)
        )
        if not self._is_free(agent, plain + held):
            return f"it offered {plain} of {agent.hostname}, which is not free"
        return None

    def _is_free(self, agent: KnownAgent, plain: Resources) -> bool:
        """Whether resources are neither used nor offered; a shared volume is free however many have it."""
        own = plain.filter(lambda entry: not entry.shared)
        held = self._state.held_on(agent.id).allocated_to(None).filter(lambda entry: not entry.shared)
        shared = plain.filter(lambda entry: entry.shared)
        return (agent.whole).contains(held + own) and all(
            any(replace(entry, copies=1) == replace(other, copies=1) for other in agent.whole if other.shared)
            for entry in shared
        )

    def _ask_to_leave(self, framework: str, by_agent: Any) -> None:
        known = isinstance(by_agent, Mapping) and all(agent in self._state.agents for agent in by_agent)
        if known and framework in self._state.frameworks:
            self._master.inverse_offers(framework, by_agent)
        else:
            self._report("it made an inverse offer to a framework, or of an agent, that is not known")

    # --- Faults ---------------------------------------------------------------------------------------

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        try:
            with in_progress(self._name, method):
                return getattr(self._allocator, method)(*arguments, **named)
        except Exception as error:  # noqa: BLE001  # code of others
            self._report(f"{method} raised {custom.explain(error)}")
            return None

    def _tell(self, method: str, *arguments: Any, **named: Any) -> None:
        if not self._delivers:
            self._advances = 0
        self._call(method, *arguments, **named)

    def _report(self, fault: str) -> None:
        self.faults += 1
        if fault not in self._reported and len(self._reported) < _MOST_REPORTS:
            self._reported.add(fault)
            _log.error("allocator %s: %s", self._name, fault)


def _forward(method: str) -> Any:
    @functools.wraps(getattr(Allocator, method))
    def forward(self: GuardedAllocator, *arguments: Any, **named: Any) -> None:
        self._tell(method, *arguments, **named)

    del forward.__isabstractmethod__  # type: ignore[attr-defined]  # `wraps` has copied it
    return forward


# The other events return nothing and are all forwarded in the same way.
for _method in sorted(Allocator.__abstractmethods__ & GuardedAllocator.__abstractmethods__):
    setattr(GuardedAllocator, _method, _forward(_method))
update_abstractmethods(GuardedAllocator)  # type: ignore[type-abstract]  # it is none any more


def guarded(name: str, options: Options, master: Callbacks, state: MasterState) -> Allocator:
    """Return a new allocator of a named class, behind the guard.  Raises BadInput."""
    return GuardedAllocator(name, options, master, state)  # type: ignore[abstract]  # completed above
