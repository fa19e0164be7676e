"""Quotas and weights, and the ways to change them.  `mesosctl.api.http_statuses` has the status of each error.

Sources: Mesos documentation, "Quota" and "Weights".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fake_master.allocator.interface import Allocator
from fake_master.registry.interface import Registry
from fake_master.services.rescinding import Rescinding
from fake_master.state.master_state import MasterState
from fake_master.state.quota import SentQuota
from mesosctl.model import roles
from mesosctl.model.errors import RuleViolation
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.quota import rules as quota_rules
from mesosctl.model.quota.capacity import check_capacity
from mesosctl.model.resource import Resource

QUOTA_KIND = "quota"
Rescind = Callable[[str, Quota], None]
"""Rescinds offers for the new quota of a role."""


class QuotaChange(NamedTuple):
    """A change that has passed every check."""

    role: str
    quota: SentQuota | None
    """As a master keeps it; None if the role has none any more."""


class Quotas:
    """Quotas by role, kept in the registry; every change is checked whole before any of it happens."""

    def __init__(self, state: MasterState, registry: Registry, allocator: Allocator, rescinding: Rescinding) -> None:
        self._state = state
        self._registry = registry
        self._allocator = allocator
        self._rescinding = rescinding

    def load(self) -> None:
        """Apply the registry, and pass each difference on to the allocator."""
        before = self._state.quota_meanings()
        self._state.quotas = {
            role: SentQuota(record["guarantees"], record["limits"])
            for role, record in self._registry.records(QUOTA_KIND).items()
        }
        after = self._state.quota_meanings()
        for role in before.keys() | after.keys():
            if before.get(role) != after.get(role):
                self._allocator.update_quota(role, after.get(role, Quota()))

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
        quota_rules.check_role_may_have_quota(role, self._state.profile)
        quota_rules.check_guarantee(guarantee)
        roles.check_whitelist(role, self._state.flags.whitelist)
        quota_rules.check_no_quota_yet(role, self._state.quotas)
        quota = SentQuota(sent, sent if self._state.profile.quota_sets_limits else {}).kept()
        wanted = self._state.quota_meanings() | {role: quota.meaning}
        quota_rules.check_tree(wanted)
        quota_rules.check_not_nested(role)
        self._state.flags.authorizer.require("update_quotas", principal, role)
        if not force:
            check_capacity(wanted, self._state.capacity())
        # Beyond this size a real master accepts the request and dies on it.
        quota_rules.check_config_amounts(quota.guarantees, quota.limits)
        self._make([QuotaChange(role, quota)])
        self._rescinding.for_new_quota(role, quota.meaning.guarantees)

    def remove(self, principal: str | None, role: str) -> None:
        """DELETE /quota/ROLE and REMOVE_QUOTA; no offer is taken back.  Raises RuleViolation or Forbidden."""
        roles.check_whitelist(role, self._state.flags.whitelist)
        quota_rules.check_quota_is_set(role, self._state.quotas)
        left = self._state.quota_meanings()
        del left[role]
        quota_rules.check_tree(left)
        self._state.flags.authorizer.require("update_quotas", principal, role)
        self._make([QuotaChange(role, None)])

    def update(self, principal: str | None, configs: Sequence[tuple[str, SentQuota]], *, force: bool) -> None:
        """UPDATE_QUOTA: all of the configs or none.  Raises RuleViolation, Conflict or Forbidden."""
        for role, config in configs:
            roles.check_whitelist(role, self._state.flags.whitelist)
            quota_rules.check_not_nested(role)
            roles.check_role(role, "quota_configs.role")
            quota_rules.check_config_amounts(config.guarantees, config.limits)
        if not force:
            for role, config in configs:
                quota_rules.check_consumption(role, config.meaning.limits, self._consumed(role))
        wanted = self._state.quota_meanings() | {role: config.meaning for role, config in configs}
        quota_rules.check_tree(wanted)
        if not force:
            check_capacity(wanted, self._state.capacity(newest_rule=True))
        for role, _ in configs:
            self._state.flags.authorizer.require("update_quotas", principal, role)
        changes = [QuotaChange(role, config.kept()) for role, config in configs]
        self._make(changes, self._rescinding.for_updated_quota)

    def _consumed(self, role: str) -> Quantities:
        """Return what counts towards the limits of `role`: allocated, and reserved but idle if that counts."""
        return self._state.role_usage().consumed(role)

    def _make(self, changes: Sequence[QuotaChange], rescind: Rescind = lambda _role, _quota: None) -> None:
        """Write all changes to the registry, then tell the allocator of each and have offers rescinded."""
        for role, quota in changes:
            self._registry.write(QUOTA_KIND, role, None if quota is None else quota.to_record())
            if quota is None:
                self._state.quotas.pop(role, None)
            else:
                self._state.quotas[role] = quota
        for role, quota in changes:
            meaning = Quota() if quota is None else quota.meaning
            self._allocator.update_quota(role, meaning)
            rescind(role, meaning)


WEIGHT_KIND = "weight"


class Weights:
    """Configured weights by role; a role without one weighs 1."""

    def __init__(self, state: MasterState, registry: Registry, allocator: Allocator, rescinding: Rescinding) -> None:
        self._state = state
        self._registry = registry
        self._allocator = allocator
        self._rescinding = rescinding

    def load(self) -> None:
        """The registry's weights; those of the flag count only for a registry that has none."""
        self._state.weights = dict(self._registry.records(WEIGHT_KIND)) or dict(self._state.flags.weights)
        self._allocator.update_weights(self._state.weights)

    def keep_flag(self) -> None:
        """Write the weights of the flag to a registry that has none.  Only inside a transaction."""
        if not self._registry.records(WEIGHT_KIND):
            for role, weight in self._state.flags.weights.items():
                self._registry.write(WEIGHT_KIND, role, weight)

    def update(self, principal: str | None, wanted: Sequence[tuple[str, float]]) -> None:
        """Set weights, all of them or none.  Raises RuleViolation or Forbidden."""
        trimmed = [(role.strip(" \t\n\r"), weight) for role, weight in wanted]
        for index, (role, weight) in enumerate(trimmed):
            roles.check_role(role, f"[{index}].role")
            roles.check_whitelist(role, self._state.flags.whitelist)
            # Written so that NaN fails too.
            if not weight > 0:
                raise RuleViolation(
                    f"weight {weight:g} of role '{role}': weights must be positive",
                    field=f"[{index}].weight",
                    rule="weight.positive",
                )
        for role, _ in trimmed:
            self._state.flags.authorizer.require("update_weights", principal, role)
        if not trimmed:  # nothing to change still asks for the right to change anything
            self._state.flags.authorizer.require("update_weights", principal, None)
            return
        # The registry takes precedence over the flag, so the values of that are copied into it.
        for role, weight in {**self._state.weights, **dict(trimmed)}.items():
            self._registry.write(WEIGHT_KIND, role, weight)
            self._state.weights[role] = weight
        self._enforce(dict(trimmed))

    def _enforce(self, changed: Mapping[str, float]) -> None:
        """Tell the allocator, and have offers rescinded."""
        self._allocator.update_weights(changed)
        self._rescinding.for_weights(changed)
