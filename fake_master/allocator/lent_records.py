"""What is lent of one agent, and to whom: the records of `lent_state`."""

from dataclasses import dataclass, field

from fake_master.allocator.amounts import Amounts, Pairs, add
from fake_master.allocator.shapes import Shape
from fake_master.allocator.sorter import Node, Sorter
from mesosctl.core.resources import Resources


@dataclass(slots=True, eq=False)
class Tenant:
    """A framework in a role, as far as it may hold or holds something that can be taken back."""

    framework: str
    role: "TenantRole"
    leaf: Node
    subscribed: bool = False
    able: bool = False
    held: int = 0
    """On how many agents it has anything, twice where of both kinds."""


@dataclass(slots=True, eq=False)
class TenantRole:
    """A role with frameworks."""

    name: str
    leaf: Node
    sorter: Sorter
    tenants: dict[str, Tenant] = field(default_factory=dict)
    able: int = 0
    """How many of its frameworks can be offered what may be taken back."""


@dataclass(slots=True, eq=False)
class LentAgent:
    """What one agent has to lend, and who has it."""

    id: str
    usage: Resources = field(default_factory=Resources)
    """Slack of use, as it was reported."""
    slack: Amounts = field(default_factory=dict)
    """Slack of allocation, as of the last run."""
    lent: dict[Tenant, Amounts] = field(default_factory=dict)
    """Of the slack of allocation; together never more than it after a run."""
    debt: dict[Tenant, Amounts] = field(default_factory=dict)
    """What tenants still hold though it is lent no longer."""
    throttled: dict[Tenant, Resources] = field(default_factory=dict)
    """Of the slack of use, with allocation roles."""
    seen: Shape | None = None
    """What was free when `slack` was worked out."""
    entered: Pairs = ()
    """What the sorters' totals count of it."""
    idle_in: object = None
    """The situation in which nobody took anything of what there is now; None where that is not known."""

    def lent_in_all(self) -> Amounts:
        """What all tenants have of the slack of allocation, debts aside."""
        sums: Amounts = {}
        for amounts in self.lent.values():
            add(sums, tuple(amounts.items()))
        return sums

    def usage_free(self) -> Resources:
        """What nobody has of the slack of use."""
        left = self.usage
        for held in self.throttled.values():
            left -= held.allocated_to(None)
        return left


def beyond(whole: Amounts, part: Amounts) -> Amounts:
    """How much of each name is in `whole` beyond what is in `part`."""
    return {name: rest for name, amount in whole.items() if (rest := amount - part.get(name, 0)) > 0}


def common(left: Amounts, right: Amounts) -> Amounts:
    """As much of each name as is in both."""
    return {name: least for name, amount in left.items() if (least := min(amount, right.get(name, 0))) > 0}


def forget_idleness(agent: LentAgent) -> None:
    """Somebody might take something of it after all."""
    agent.idle_in = None
