"""The quotas a master holds, and the three ways to change them (spec/quota.md §3, §4, §8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mesosctl.core import quota as quota_rules
from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.quantities import Quota
from mesosctl.core.resources import Resource
from mesosctl.core.scalars import to_milli

if TYPE_CHECKING:
    from fake_master.master.state import Master

KIND = "quota"


@dataclass(frozen=True, slots=True)
class StoredQuota:
    """A role's quota as it was sent, doubles and all, beside what it means.

    The real master shows amounts as they came and rounds only when it compares.
    """

    guarantees: Mapping[str, float]
    limits: Mapping[str, float]

    @property
    def meaning(self) -> Quota:
        """The quota that rules and the allocator work with."""
        return quota_rules.quota_of_config(self.guarantees, self.limits)

    def to_record(self) -> dict[str, Any]:
        """For the registry."""
        return {"guarantees": dict(self.guarantees), "limits": dict(self.limits)}

    @classmethod
    def of(cls, guarantees: Mapping[str, float], limits: Mapping[str, float]) -> "StoredQuota":
        """Guarantees of nothing vanish; limits of nothing forbid, and stay."""
        return cls(
            {name: guarantees[name] for name in sorted(guarantees) if to_milli(guarantees[name]) > 0},
            {name: limits[name] for name in sorted(limits)},
        )


@dataclass(frozen=True, slots=True)
class GuaranteeEntry:
    """One entry of a v0 guarantee: the resource, and the double it was sent as."""

    resource: Resource
    sent: float


class Quotas:
    """Quotas by role, kept in the registry; every change is checked whole before any of it happens."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._stored: dict[str, StoredQuota] = {}

    def load(self) -> None:
        """Take what the registry holds."""
        self._stored = {
            role: StoredQuota(record["guarantees"], record["limits"])
            for role, record in self._master.registry.records(KIND).items()
        }

    @property
    def stored(self) -> Mapping[str, StoredQuota]:
        """Every entry, by role."""
        return self._stored

    def meanings(self) -> dict[str, Quota]:
        """What every entry means, by role."""
        return {role: stored.meaning for role, stored in self._stored.items()}

    def set(self, principal: str | None, role: str, guarantee: Sequence[GuaranteeEntry], *, force: bool) -> None:
        """POST /quota and SET_QUOTA.  Raises RuleViolation, Forbidden or Conflict, in Mesos's order."""
        master = self._master
        resources = [entry.resource for entry in guarantee]
        quota_rules.check_role_may_have_quota(role, master.profile)
        quota_rules.check_guarantee(resources)
        quota_rules.check_whitelist(role, master.flags.whitelist)
        quota_rules.check_no_quota_yet(role, self._stored)
        amounts = {entry.resource.name: entry.sent for entry in guarantee}
        stored = StoredQuota.of(amounts, amounts if master.profile.quota_sets_limits else {})
        wanted = self.meanings() | {role: stored.meaning}
        quota_rules.check_tree(wanted)
        quota_rules.check_not_nested(role)
        master.flags.authorizer.require("update_quotas", principal, role)
        if not force:
            quota_rules.check_capacity(wanted, master.capacity())
        # Beyond this size a real master accepts the request and dies on it (spec/crashers.md).
        quota_rules.check_config_amounts(stored.guarantees, stored.limits)
        self._keep(role, stored)
        master.quota_was_set(role, stored.meaning)

    def remove(self, principal: str | None, role: str) -> None:
        """DELETE /quota/ROLE and REMOVE_QUOTA.  Raises RuleViolation or Forbidden."""
        master = self._master
        quota_rules.check_whitelist(role, master.flags.whitelist)
        if role not in self._stored:
            raise RuleViolation(f"role '{role}' has no quota set", field="role", rule="quota.not-set")
        left = self.meanings()
        del left[role]
        quota_rules.check_tree(left)
        master.flags.authorizer.require("update_quotas", principal, role)
        self._keep(role, None)
        master.quota_was_removed(role)

    def update(self, principal: str | None, configs: Sequence[tuple[str, StoredQuota]], *, force: bool) -> None:
        """UPDATE_QUOTA: all of the configs or none.  Raises RuleViolation, Conflict or Forbidden."""
        master = self._master
        for role, config in configs:
            quota_rules.check_whitelist(role, master.flags.whitelist)
            quota_rules.check_not_nested(role)
            roles.check_role(role, "quota_configs.role")
            quota_rules.check_config_amounts(config.guarantees, config.limits)
        if not force:
            for role, config in configs:
                quota_rules.check_consumption(role, config.meaning.limits, master.consumed(role))
        wanted = self.meanings() | {role: config.meaning for role, config in configs}
        quota_rules.check_tree(wanted)
        if not force:
            quota_rules.check_capacity(wanted, master.capacity(newest_rule=True))
        for role, _ in configs:
            master.flags.authorizer.require("update_quotas", principal, role)
        for role, config in configs:
            self._keep(role, StoredQuota.of(config.guarantees, config.limits))
        for role, config in configs:
            master.quota_was_updated(role, config.meaning)

    def _keep(self, role: str, stored: StoredQuota | None) -> None:
        self._master.registry.write(KIND, role, None if stored is None else stored.to_record())
        if stored is None:
            self._stored.pop(role, None)
        else:
            self._stored[role] = stored
