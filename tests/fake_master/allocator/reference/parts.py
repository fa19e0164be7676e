"""The agents, frameworks and filters of the reference, and its ways to divide what an agent has free."""

from dataclasses import dataclass, field, replace

from fake_master.allocator.interface import AgentInfo, FrameworkInfo
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources


@dataclass
class PlainAgent:
    info: AgentInfo
    total: Resources
    activated: bool = True
    held: list[tuple[str, Resources]] = field(default_factory=list)

    def available(self) -> Resources:
        used = Resources(entry for _, part in self.held for entry in part.allocated_to(None))
        return self.total - used


@dataclass
class PlainFramework:
    info: FrameworkInfo
    active: bool = True
    suppressed: set[str] = field(default_factory=set)


@dataclass
class PlainFilter:
    framework: str
    role: str
    agent: str
    refused: Resources


def split(resources: Resources) -> tuple[Resources, Resources]:
    """Return the unreserved scalars that are not revocable, which quota counts, and all other resources."""

    def unreserved_nonrevocable(entry: Resource) -> bool:
        return entry.is_scalar and not entry.is_reserved and not entry.revocable

    return resources.filter(unreserved_nonrevocable), resources.filter(lambda entry: not unreserved_nonrevocable(entry))


def shrink(resources: Resources, target: Quantities) -> Resources:
    return _shrink(resources, {entry.name: target.get_amount(entry.name) for entry in resources})


def shrink_to_limits(resources: Resources, target: Limits) -> Resources:
    return _shrink(resources, dict(target))


def _shrink(resources: Resources, left: dict[str, int]) -> Resources:
    kept = []
    for entry in resources:
        assert isinstance(entry.value, int)
        amount = min(entry.value, left.get(entry.name, entry.value))
        if entry.disk is not None and entry.disk.indivisible and amount < entry.value:
            continue
        kept.append(replace(entry, value=amount))
        if entry.name in left:
            left[entry.name] -= amount
    return Resources(kept)


def part_of(resources: Resources, role: str | None) -> Resources:
    """Return the resources that are allocated to the role."""
    return resources.filter(lambda entry: entry.allocation_role == role)
