"""The reservations of one agent on their way from what is there to what is desired."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_is_empty, value_subtract
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.rules.reservations import operations


@dataclass(frozen=True, slots=True)
class DesiredOnAgent:
    """The desired dynamic reservations of one role on one agent."""

    agent: str
    """A host name or id."""
    role: str
    resources: Resources
    """Without owners: scalars, ranges and sets."""
    under: tuple[str, ...] = ()
    """The roles below it on the stack, from the bottom up."""
    principal: str | None = None
    """The reserver; None for any, and for the principal that makes it."""
    labels: Labels | None = None
    """None for any, and for none in a new one."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the whole stack."""
        return (*self.under, self.role)


Stack = tuple[Reservation, ...]


StepAction = Literal["reserved", "unreserved", "destroyed"]
CONVERSIONS: Mapping[StepAction, Callable[[Resources], list[operations.Conversion]]] = {
    "reserved": operations.reserve,
    "unreserved": operations.unreserve,
    "destroyed": operations.destroy,
}
"""The function that makes the conversions of each action."""


@dataclass(frozen=True, slots=True)
class ReservationStep:
    """One operation on one agent, and the resources of these kinds before and after it."""

    agent_id: str
    hostname: str
    """The name in sentences: `RegisteredAgent.name`."""
    action: StepAction
    """Only volumes are destroyed."""
    resources: Resources
    """With their whole stacks."""
    before: Resources
    after: Resources

    def conversions(self) -> list[operations.Conversion]:
        """Return the conversions of the agent's resources."""
        return CONVERSIONS[self.action](self.resources)


@dataclass(slots=True)
class SameRoleStacks:
    """Stacks of one desired reservation: all of the same roles."""

    target: Stack
    """Where what is missing goes."""
    stacks: list[Stack]
    held: Resources
    """Without owners, volumes counted as disk."""
    desired: Resources | None = None
    """None leaves it as it is."""
    released: list[tuple[Stack, Resources]] = field(default_factory=list)
    missing: Resources = field(default_factory=Resources)


class AgentReservations:
    """One agent and its desired reservations.  Raises RuleViolation or Conflict for those that cannot be."""

    def __init__(
        self,
        agent: RegisteredAgent,
        desired: Sequence[DesiredOnAgent],
        *,
        prune: bool,
        principal: str | None = None,
    ) -> None:
        self.agent = agent
        self._principal = principal
        self._free: dict[Stack, Resources] = {}
        """By stack what could be handed on, without owners."""
        self._volumes: dict[Stack, Resources] = {}
        for entry in agent.total:
            kept = self._volumes if entry.is_persistent_volume else self._free
            plain = Resources([replace(operations.plain_disk(entry), reservations=())])
            kept[entry.reservations] = kept.get(entry.reservations, Resources()) + plain
        self.groups: list[SameRoleStacks] = []
        claimed: set[Stack] = set()
        # Reservations with principal or labels choose first.
        chosen = sorted(desired, key=lambda reservation: (reservation.principal is None) + (reservation.labels is None))
        for reservation in sorted(chosen, key=lambda reservation: len(reservation.roles)):
            self.groups.append(self._group(reservation, claimed))
        targets = {group.target for group in self.groups}
        # What is unreserved falls to the stack below, even if that has nothing so far.
        present = {*self._free, *self._volumes}
        below = {stack[:depth] for stack in present for depth in range(1, len(stack))}
        for stack in (present | below) - claimed - targets:
            if stack and stack[-1].type == "DYNAMIC":
                self.groups.append(SameRoleStacks(stack, [stack], self._held([stack]), Resources() if prune else None))
        self.groups.sort(key=lambda group: (len(group.target), str(group.target)))

    def _held(self, stacks: Iterable[Stack]) -> Resources:
        nothing = Resources()
        held = Resources()
        for stack in stacks:
            held = held + self._free.get(stack, nothing) + self._volumes.get(stack, nothing)
        return held

    def _group(self, reservation: DesiredOnAgent, claimed: set[Stack]) -> SameRoleStacks:
        stacks = [
            stack for stack in {**self._free, **self._volumes} if stack not in claimed and _is_meant(stack, reservation)
        ]
        claimed.update(stacks)
        if stacks:
            target = stacks[0]
        else:
            top = Reservation("DYNAMIC", reservation.role, reservation.principal or self._principal, reservation.labels)
            target = (*self._below(reservation), top)
            if target in claimed or any(group.target == target for group in self.groups):
                raise RuleViolation(
                    f"role '{reservation.role}' has two entries on {self.agent.name} that look the same",
                    field="reservations",
                    rule="wanted.once",
                    hint="add a principal or labels, or merge them into one entry",
                )
        return SameRoleStacks(target, stacks, self._held(stacks), reservation.resources)

    def _below(self, reservation: DesiredOnAgent) -> Stack:
        """The stack on which a new reservation is put."""
        if not reservation.under:
            return ()
        for stack in (*(group.target for group in self.groups), *self._free):
            if tuple(level.role for level in stack) == reservation.under:
                return stack
        raise Conflict(
            f"nothing is reserved for {' > '.join(reservation.under)} on {self.agent.name} that '{reservation.role}' "
            f"could refine",
            field="reservations",
            rule="reservation.exists",
            hint=f"add a reservation for '{reservation.under[-1]}' there too, of cpus:0 if all of it is refined",
        )

    def steps(self) -> list[ReservationStep]:
        """The operations, in order.  Raises Conflict if the agent does not have what is needed, or tasks use it."""
        needed: dict[Stack, Resources] = {}
        for group in reversed(self.groups):
            self._settle(group, needed)
        released = [part for group in reversed(self.groups) for part in group.released]
        added = [(group.target, group.missing) for group in self.groups if len(group.missing)]
        total, available = self.agent.total, self.agent.available
        found = []
        both: tuple[tuple[Literal["reserved", "unreserved"], list[tuple[Stack, Resources]]], ...]
        both = (("unreserved", released), ("reserved", added))
        for action, parts in both:
            for stack, plain in parts:
                owned = Resources(replace(entry, reservations=stack) for entry in plain)
                make = operations.unreserve if action == "unreserved" else operations.reserve
                conversions = list(make(owned))
                try:
                    available = operations.apply_all(available, conversions)
                except Conflict as error:
                    raise Conflict(
                        f"{owned.in_words} cannot be {action} on {self.agent.name}: the agent lacks them, or tasks "
                        "use them",
                        field="reservations",
                        rule=error.rule,
                        hint=f"{self.agent.name} has {self.agent.available.in_words}",
                    ) from None
                before, total = total, operations.apply_all(total, conversions)
                kinds = {entry.kind for entry in owned}
                found.append(
                    ReservationStep(
                        self.agent.id, self.agent.name, action, owned, of_kinds(before, kinds), of_kinds(total, kinds)
                    )
                )
        return found

    def _settle(self, group: SameRoleStacks, needed: dict[Stack, Resources]) -> None:
        """Work out what the group releases and what it is missing, with the needs of stacks above it."""
        want = Resources()
        for stack in {group.target: None} | dict.fromkeys(group.stacks):
            want = want + needed.get(stack, Resources())
        stacks = [stack for stack in dict.fromkeys([*group.stacks, group.target]) if stack in self._free]
        have = self._held(dict.fromkeys([*group.stacks, group.target]))
        if group.desired is not None:  # else it hands upwards what it has
            want = want + group.desired
        excess = Resources() if group.desired is None else without(have, want)
        for stack in reversed(stacks):
            part = overlap(excess, self._free[stack])
            if len(part):
                group.released.append((stack, part))
                self._free[stack] = without(self._free[stack], part)
                below = stack[:-1]
                self._free[below] = self._free.get(below, Resources()) + part
                excess = without(excess, part)
        if len(excess):
            names, held_by = {entry.name for entry in excess}, {*group.stacks, group.target}
            in_the_way = self.agent.volumes.filter(lambda entry: entry.reservations in held_by and entry.name in names)
            raise Conflict(
                f"{excess} of '{group.target[-1].role}' on {self.agent.name} is in volumes",
                field="reservations",
                rule="unreserve.no-volume",
                hint="volumes use it; destroy them first",
                values={"agent": self.agent, "volumes": in_the_way},
            )
        group.missing = without(want, have)
        if len(group.missing):
            below = group.target[:-1]
            needed[below] = needed.get(below, Resources()) + group.missing


def of_kinds(total: Resources, kinds: Collection[object]) -> Resources:
    """The entries of `total` that are of these kinds."""
    return total.filter(lambda entry: entry.kind in kinds)


def _is_meant(stack: Stack, reservation: DesiredOnAgent) -> bool:
    return (
        bool(stack)
        and stack[-1].type == "DYNAMIC"
        and tuple(level.role for level in stack) == reservation.roles
        and stack[-1].matches(reservation.principal, reservation.labels)
    )


def without(left: Resources, right: Resources) -> Resources:
    """Return the entries of `left` that are not in `right`, without owners."""
    return Resources(_without(left, right))


def _without(left: Resources, right: Resources) -> Iterator[Resource]:
    subtracted = list(right)
    for entry in left:
        other = next((resource for resource in subtracted if entry.yields(resource)), None)
        if other is None:
            yield entry
            continue
        subtracted.remove(other)  # a second disk of the same kind stays
        value = value_subtract(entry.value, other.value)
        if not value_is_empty(value):
            yield entry.with_value(value)


def overlap(left: Resources, right: Resources) -> Resources:
    """Return the resources that are in both."""
    return without(left, without(left, right))
