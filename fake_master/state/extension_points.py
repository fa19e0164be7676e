"""Rules that an extension may override, as Mesos has them: revocable resources, and how agents run tasks."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fake_master.state.agents import KnownAgent
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import Executor, KnownTask
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource, Revocability
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import Lending


class RevocabilityRules:
    """The rules of Mesos: usage slack is revocable, and counts like all other resources.

    Source: Mesos documentation, "Oversubscription".
    """

    throttles = False
    """Whether `throttle_info` means anything; Mesos 1.11 passes over it."""

    counts_revocable = True
    """Whether revocable resources in use count against quota limits."""

    def kinds(self, resources: Resources) -> Iterable[tuple[Revocability, Resources]]:
        """Split an allocation by kind into parts that are offered separately."""
        return (("regular", resources),)

    def kind_of(self, _offered: Resources) -> Revocability | None:
        """Return the kind of offer for resources; None if no single offer can contain them."""
        return "regular"

    def counted_offers(self, framework: KnownFramework) -> Iterable[Resource]:
        """Return the part of a framework's offers that counts towards quota limits."""
        return framework.offered()

    def is_slack_of_use(self, entry: Resource) -> bool:
        """Return whether an entry of an offer is usage slack."""
        return entry.revocable


class AgentRuntime:
    """The agents of Mesos: every task that fits starts at once, and they show nothing else.

    An extension overrides what differs on its agents.
    """

    evicts = False
    """Whether tasks may wait for room, or have to go."""
    shows_more = False
    """Whether agents show data that changes while their own fields stay the same."""

    def __init__(self) -> None:
        self.on_eviction: Callable[[KnownFramework, KnownTask], None] = lambda _framework, _task: None
        """Called with each task that has to go."""

    def may_start(self, _framework: KnownFramework, _task: KnownTask, _executor: Executor | None) -> bool:
        """Return whether a task that has reached its agent starts now; otherwise the runtime starts or refuses it."""
        return True

    def restore(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> None:
        """Take in a task that was on its agent before this master was made; it answers for `executor`."""

    def left(self, framework: KnownFramework, task: KnownTask) -> None:
        """Take notice that a task has ended and holds nothing any more."""

    def restore_lending(self, _lending: Lending) -> None:
        """Add refusals and debts from before this master was made."""

    def would_be_evicted(self, _agent: KnownAgent, _used: Resources) -> Iterable[tuple[KnownFramework, KnownTask]]:
        """Return the tasks that would be evicted if this much more of an agent were in regular use."""
        return ()

    def allocation_slack(self, _agent: KnownAgent) -> Quantities | None:
        """Return an agent's idle reservations as of the last allocation run; None if nothing is ever lent."""
        return None

    def describe_agent(self, _agent: KnownAgent) -> Mapping[str, Any]:
        """Return the fields that this runtime adds to an agent in GET_AGENTS."""
        return {}

    def describe_framework(self, _framework: KnownFramework) -> Mapping[str, Any]:
        """Return the fields that this runtime adds to a framework in GET_FRAMEWORKS."""
        return {}

    def metrics(self) -> Mapping[str, float]:
        """Return the metrics that this runtime adds, by their whole names."""
        return {}
