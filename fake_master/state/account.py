"""The account of a cluster from the state of its master: a dry run compares two, and the page shows it."""

from collections.abc import Iterator

from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.account import (
    Accounts,
    AgentBalance,
    ClusterAccount,
    ClusterSource,
    FrameworkSource,
    HeldSource,
)


class AccountsOfMaster:
    """Makes the account of a master each time that it is asked for; equal agents are added up once."""

    def __init__(self) -> None:
        self._accounts = Accounts()

    def of(self, state: MasterState) -> ClusterAccount:
        """Return the account of this moment."""
        return self._accounts.of(
            ClusterSource(
                profile=state.profile,
                agents=(
                    AgentBalance(
                        agent.id,
                        agent.whole,
                        agent.used,
                        [offer.resources for offer in state.offers.on_agent(agent.id)],
                        agent.active,
                    )
                    for agent in state.agents.values()
                ),
                frameworks=[
                    FrameworkSource(framework.id, framework.name, framework.tracked_roles, _wanting(framework))
                    for framework in state.frameworks.values()
                ],
                used=(held for framework in state.frameworks.values() for held in _used(framework)),
                offered=(HeldSource(offer.framework_id, offer.role, offer.resources) for offer in state.offers),
                quotas=state.quota_meanings(),
                weights=state.weights,
                capacity=state.capacity(),
                lends=state.flags.oversubscribe_reservations,
                limits_count_revocable=state.revocability.counts_revocable,
            )
        )


def _used(framework: KnownFramework) -> Iterator[HeldSource]:
    by_role: dict[str, list[Resource]] = {}
    for entry in framework.used():
        by_role.setdefault(entry.allocation_role or roles.DEFAULT_ROLE, []).append(entry)
    for role, entries in by_role.items():
        yield HeldSource(framework.id, role, Resources(entries))


def _wanting(framework: KnownFramework) -> frozenset[str]:
    return framework.roles - framework.suppressed if framework.active else frozenset()
