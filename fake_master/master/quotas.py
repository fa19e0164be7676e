"""The quotas a master holds, and the three ways to change them (spec/quota.md §3, §4, §8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fake_master.master import rescinding
from mesosctl.core import quota as quota_rules
from mesosctl.core import roles
from mesosctl.core.capacity import check_capacity
from mesosctl.core.quantities import Quota
from mesosctl.core.resource import Resource
from mesosctl.core.scalars import to_milli

if TYPE_CHECKING:
    from fake_master.master.master import Master

KIND = "quota"


@dataclass(frozen=True)
class SentQuota:
    """A role's quota as it was sent, doubles and all, and what it means.

    The real master shows amounts as they came and rounds only when it compares.
    """

    guarantees: Mapping[str, float]
    limits: Mapping[str, float]

    @cached_property
    def meaning(self) -> Quota:
        """The quota that rules and the allocator work with."""
        return quota_rules.quota_of_config(self.guarantees, self.limits)

    def kept(self) -> "SentQuota":
        """As a master keeps it: guarantees of nothing vanish; limits of nothing forbid, and stay."""
        return SentQuota(
            {name: sent for name, sent in sorted(self.guarantees.items()) if to_milli(sent) > 0},
            dict(sorted(self.limits.items())),
        )

    def to_record(self) -> dict[str, Any]:
        """For the registry."""
        return {"guarantees": dict(self.guarantees), "limits": dict(self.limits)}


class Quotas:
    """Quotas by role, kept in the registry; every change is checked whole before any of it happens."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._stored: dict[str, SentQuota] = {}

    def load(self) -> None:
        """Take what the registry holds."""
        self._stored = {
            role: SentQuota(record["guarantees"], record["limits"])
            for role, record in self._master.registry.records(KIND).items()
        }

    @property
    def stored(self) -> Mapping[str, SentQuota]:
        """Every entry, by role."""
        return self._stored

    def meanings(self) -> dict[str, Quota]:
        """What every entry means, by role."""
        return {role: stored.meaning for role, stored in self._stored.items()}

    def set(
        self,
        principal: str | None,
        role: str,
        guarantee: Sequence[Resource],
        sent: Mapping[str, float],
        *,
        force: bool,
    ) -> None:
        """POST /quota and SET_QUOTA; `sent` is what came for each name.

        Raises RuleViolation, Forbidden or Conflict, in Mesos's order.
        """
        master = self._master
        quota_rules.check_role_may_have_quota(role, master.profile)
        quota_rules.check_guarantee(guarantee)
        roles.check_whitelist(role, master.flags.whitelist)
        quota_rules.check_no_quota_yet(role, self._stored)
        quota = SentQuota(sent, sent if master.profile.quota_sets_limits else {}).kept()
        wanted = self.meanings() | {role: quota.meaning}
        quota_rules.check_tree(wanted)
        quota_rules.check_not_nested(role)
        master.flags.authorizer.require("update_quotas", principal, role)
        if not force:
            check_capacity(wanted, master.capacity())
        # Beyond this size a real master accepts the request and dies on it (spec/crashers.md).
        quota_rules.check_config_amounts(quota.guarantees, quota.limits)
        self._keep(role, quota)
        master.allocator.update_quota(role, quota.meaning)
        rescinding.for_new_quota(master, role, quota.meaning.guarantees)

    def remove(self, principal: str | None, role: str) -> None:
        """DELETE /quota/ROLE and REMOVE_QUOTA; no offer is taken back.  Raises RuleViolation or Forbidden."""
        master = self._master
        roles.check_whitelist(role, master.flags.whitelist)
        quota_rules.check_quota_is_set(role, self._stored)
        left = self.meanings()
        del left[role]
        quota_rules.check_tree(left)
        master.flags.authorizer.require("update_quotas", principal, role)
        self._keep(role, None)
        master.allocator.update_quota(role, Quota())

    def update(self, principal: str | None, configs: Sequence[tuple[str, SentQuota]], *, force: bool) -> None:
        """UPDATE_QUOTA: all of the configs or none.  Raises RuleViolation, Conflict or Forbidden."""
        master = self._master
        for role, config in configs:
            roles.check_whitelist(role, master.flags.whitelist)
            quota_rules.check_not_nested(role)
            roles.check_role(role, "quota_configs.role")
            quota_rules.check_config_amounts(config.guarantees, config.limits)
        if not force:
            for role, config in configs:
                quota_rules.check_consumption(role, config.meaning.limits, master.consumed(role))
        wanted = self.meanings() | {role: config.meaning for role, config in configs}
        quota_rules.check_tree(wanted)
        if not force:
            check_capacity(wanted, master.capacity(newest_rule=True))
        for role, _ in configs:
            master.flags.authorizer.require("update_quotas", principal, role)
        for role, config in configs:
            self._keep(role, config.kept())
        for role, config in configs:
            master.allocator.update_quota(role, config.meaning)
            rescinding.for_updated_quota(master, role, config.meaning)

    def _keep(self, role: str, stored: SentQuota | None) -> None:
        self._master.registry.write(KIND, role, None if stored is None else stored.to_record())
        if stored is None:
            self._stored.pop(role, None)
        else:
            self._stored[role] = stored
