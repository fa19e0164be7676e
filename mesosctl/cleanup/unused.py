"""Volumes and reservations that nothing uses any more, and the steps that destroy and release them.

On each agent the volumes go first, then the reservations, the outermost refinement first, as each is released to the
one below it. What a task or an executor uses stays, with the reservations that it rests on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mesosctl.mesos.amounts.notation import listed
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent, without_owners
from mesosctl.mesos.desired.reservation_plan import CONVERSIONS, ReservationStep, StepAction, of_kinds
from mesosctl.mesos.roles import is_strict_subrole
from mesosctl.mesos.rules.reservations import operations


@dataclass(frozen=True, slots=True)
class CleanupSelection:
    """The reservations to clean up, with their volumes: those that meet everything that is given."""

    role: str | None = None
    """This role and those below it."""
    reserver: str | None = None
    """The principal of the reservation."""
    roles: frozenset[str] | None = None
    """Only these roles, such as those of a framework."""

    def accepts(self, top: Reservation) -> bool:
        """Whether the top level of a stack is to be cleaned up."""
        return self.has_role(top.role) and (self.reserver is None or top.principal == self.reserver)

    def has_role(self, role: str) -> bool:
        """Whether reservations of the role are among them."""
        is_named = self.role is None or role == self.role or is_strict_subrole(role, self.role)
        return is_named and (self.roles is None or role in self.roles)

    @property
    def in_words(self) -> str:
        """The selection in a sentence: `role 'ads'`."""
        parts = [f"role '{self.role}'"] if self.role is not None else []
        if self.roles is not None:
            parts.append(f"the framework ({listed(sorted(self.roles)) or 'without roles of its own'})")
        if self.reserver is not None:
            parts.append(f"principal '{self.reserver}'")
        return " with ".join(parts)


class ResourcesInUse(NamedTuple):
    """Selected resources of one role on one agent that tasks or executors use, and that stay."""

    agent: RegisteredAgent
    role: str
    resources: Resources

    @property
    def volumes(self) -> list[str]:
        """The ids of those that are volumes."""
        return [entry.disk.persistence_id or "" for entry in self.resources if entry.disk is not None]

    @property
    def sentence(self) -> str:
        """`2 cpus of 'web' on agent-1`, with the ids of the volumes."""
        which = f" (volume {', '.join(self.volumes)})" if self.volumes else ""
        return f"{without_owners(self.resources).in_words} of '{self.role}' on {self.agent.name}{which}"


class Cleanup(NamedTuple):
    """The steps, and the resources that stay."""

    steps: Sequence[ReservationStep]
    left: Sequence[ResourcesInUse]
    static: bool
    """Whether static reservations are selected, which no command can undo."""


def plan_cleanup(agents: Sequence[RegisteredAgent], wanted: CleanupSelection) -> Cleanup:
    """The cleanup of these agents."""
    steps: list[ReservationStep] = []
    left: list[ResourcesInUse] = []
    for agent in agents:
        steps += _AgentCleanup(agent, wanted).steps()
        for role, used in sorted(agent.used.by_owner().items()):
            kept = used.filter(lambda entry: bool(entry.reservations) and wanted.accepts(entry.reservations[-1]))
            if len(kept):
                left.append(ResourcesInUse(agent, role, kept))
    static = any(
        bool(entry.reservations) and not entry.is_dynamically_reserved and wanted.accepts(entry.reservations[-1])
        for agent in agents
        for entry in agent.total
    )
    return Cleanup(steps, left, static)


class _AgentCleanup:
    """The steps of one agent; each changes what it has in total and what of it nothing uses."""

    def __init__(self, agent: RegisteredAgent, wanted: CleanupSelection) -> None:
        self._agent = agent
        self._wanted = wanted
        self._total, self._unused = agent.total, agent.available
        self._used = {entry.kind for entry in agent.used}

    def steps(self) -> Iterator[ReservationStep]:
        """Yield them in order."""
        volumes = self._unused.filter(
            lambda entry: (
                entry.is_persistent_volume
                and bool(entry.reservations)
                and entry.kind not in self._used
                and self._wanted.accepts(entry.reservations[-1])
            )
        )
        for volume in volumes:
            yield self._step("destroyed", Resources([volume]))
        deepest = max((len(entry.reservations) for entry in self._total), default=0)
        for depth in range(deepest, 0, -1):
            for stack in self._stacks(depth):
                yield self._step("unreserved", self._free_of(stack))

    def _free_of(self, stack: tuple[Reservation, ...]) -> Resources:
        return self._unused.filter(lambda entry: entry.reservations == stack and not entry.is_persistent_volume)

    def _stacks(self, depth: int) -> list[tuple[Reservation, ...]]:
        return list(
            dict.fromkeys(
                entry.reservations
                for entry in self._unused
                if len(entry.reservations) == depth
                and entry.is_dynamically_reserved
                and not entry.is_persistent_volume
                and self._wanted.accepts(entry.reservations[-1])
            )
        )

    def _step(self, action: StepAction, resources: Resources) -> ReservationStep:
        conversions = CONVERSIONS[action](resources)
        kinds = {entry.kind for entry in resources}
        before = of_kinds(self._total, kinds)
        self._total = operations.apply_all(self._total, conversions)
        self._unused = operations.apply_all(self._unused, conversions)
        return ReservationStep(
            self._agent.id, self._agent.name, action, resources, before, of_kinds(self._total, kinds)
        )
