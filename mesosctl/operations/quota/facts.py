"""What the rules of quota ask about a cluster, read from a master."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

from mesosctl.api import responses
from mesosctl.api.http_statuses import SET_QUOTA_OVER_CAPACITY, UPDATE_QUOTA_OVER_CAPACITY
from mesosctl.client.leading_master import Master
from mesosctl.model.errors import Conflict
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.quota.role_status import RoleUsage
from mesosctl.model.quota.rules import known
from mesosctl.operations.quota.reading import (
    capacity_if_allowed,
    quotas_if_allowed,
    read_if_allowed,
    usage_if_allowed,
)


class ReadFacts:
    """The facts of a master, each read when a rule first asks for it; a notice says what this principal may not see."""

    def __init__(self, master: Master, *, capacity: Quantities | None = None) -> None:
        self._master = master
        self._capacity = capacity
        self.profile = master.profile

    def quotas_are(self, quotas: Mapping[str, Quota] | None) -> None:
        """Use quotas that have been read already; None if they are unknown."""
        self.__dict__["_seen_quotas"] = quotas

    @cached_property
    def _seen_quotas(self) -> Mapping[str, Quota] | None:
        return quotas_if_allowed(self._master)

    @property
    def quotas(self) -> Mapping[str, Quota]:
        """Every quota that this principal may see."""
        return known(self._seen_quotas)

    @cached_property
    def _flags(self) -> tuple[Collection[str] | None] | None:
        return read_if_allowed(
            self._master,
            "/flags",
            lambda answer: (responses.whitelist(answer),),
            "the whitelist is not checked",
        )

    @property
    def whitelist(self) -> Collection[str] | None:
        """The roles of --roles; None if every role is allowed."""
        return known(self._flags)[0]

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
        refusal = Conflict(
            f"not sent, because the master would answer {answered}{call}: {error.message}",
            field=error.field,
            rule=error.rule,
            hint=error.hint,
            override=error.override,
        )
        refusal.would_answer = answered
        raise refusal from error
