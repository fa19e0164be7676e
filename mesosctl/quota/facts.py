"""The facts that the rules of quota need, read from a master."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.cluster.role_status import RoleUsage
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.http_statuses import SET_QUOTA_OVER_CAPACITY, UPDATE_QUOTA_OVER_CAPACITY
from mesosctl.mesos.rules.quota.rules import known
from mesosctl.reading.quotas import (
    capacity_if_allowed,
    may_see_every_quota,
    quotas_if_allowed,
    read_if_allowed,
    usage_if_allowed,
)


class ReadFacts:
    """The facts of a master, each read when a rule first asks for it; a notice says what this principal may not see.

    `read_quotas` replaces how the quotas are read; None stands for those that are unknown.
    """

    def __init__(
        self,
        master: LeadingMaster,
        *,
        capacity: Quantities | None = None,
        read_quotas: Callable[[], Mapping[str, Quota] | None] | None = None,
    ) -> None:
        self._master = master
        self._capacity = capacity
        self._read_quotas = read_quotas or (lambda: quotas_if_allowed(master))
        self.profile = master.profile

    @cached_property
    def _seen_quotas(self) -> Mapping[str, Quota] | None:
        return self._read_quotas()

    @property
    def quotas(self) -> Mapping[str, Quota]:
        """Every quota that this principal may see."""
        return known(self._seen_quotas)

    @cached_property
    def _flags(self) -> tuple[Collection[str] | None, bool] | None:
        return read_if_allowed(
            self._master,
            "/flags",
            lambda answer: (responses.whitelist(answer), may_see_every_quota(self._master, answer)),
            "the whitelist is not checked",
        )

    @property
    def whitelist(self) -> Collection[str] | None:
        """The roles of --roles; None if every role is allowed."""
        return known(self._flags)[0]

    @property
    def sees_every_quota(self) -> bool:
        """Whether a role that the master does not show certainly has no quota."""
        return self._flags is not None and self._flags[1]

    @cached_property
    def _seen_capacity(self) -> Quantities | None:
        return capacity_if_allowed(self._master) if self._capacity is None else self._capacity

    @property
    def capacity(self) -> Quantities:
        """The amounts that the cluster can promise."""
        return known(self._seen_capacity)

    @cached_property
    def _usages(self) -> dict[str, RoleUsage] | None:
        return usage_if_allowed(self._master)

    def consumed(self, role: str) -> Quantities:
        """Return what counts towards the limits of a role; a role that the master does not show consumes nothing."""
        usages = known(self._usages)
        return known(usages[role].consumed) if role in usages else Quantities()


@contextmanager
def not_sent(answered: int) -> Iterator[None]:
    """Say of a lack of capacity that the master would answer `answered`, and was not asked."""
    try:
        yield
    except Conflict as error:
        # Users know the master's status for it, and should know that the master was not asked.
        call = (
            f" to UPDATE_QUOTA ({SET_QUOTA_OVER_CAPACITY} to POST /quota)"
            if answered == UPDATE_QUOTA_OVER_CAPACITY
            else ""
        )
        refusal = error.retold(
            Conflict, f"not sent, because the master would answer {answered}{call}: {error.message}", error.field
        )
        refusal.rule, refusal.override, refusal.would_answer = error.rule, error.override, answered
        raise refusal from error
