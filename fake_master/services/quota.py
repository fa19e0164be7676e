"""Quotas and weights, and the ways to change them.  `mesos.messages.http_statuses` has the status of each error.

Sources: Mesos documentation, "Quota" and "Weights".
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from fake_master.allocator.interface import Allocator, quota_metric
from fake_master.registry.interface import Registry
from fake_master.services.rescinding import Rescinding
from fake_master.state.master_state import MasterState
from fake_master.state.quota import RoleUsage, SentQuota
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities, Quota, to_double
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.values import value_quantity
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.quota import rules as quota_rules
from mesosctl.mesos.rules.quota.rules import Wish, refuse
from mesosctl.mesos.rules.version_profile import MESOS_1_11

QUOTA_KIND = "quota"
Rescind = Callable[[str, Quota], None]
"""Rescinds offers for the new quota of a role."""


class QuotaChange(NamedTuple):
    """A change that has passed every check."""

    role: str
    quota: SentQuota | None
    """As a master keeps it; None if the role has none any more."""


class _Facts:
    """Facts about this master, for the rules of one request; UPDATE_QUOTA follows the newest rules on every version."""

    whitelist: Collection[str] | None

    def __init__(self, state: MasterState, *, of_update: bool = False) -> None:
        self._state = state
        self._of_update = of_update
        self.profile = MESOS_1_11 if of_update and state.profile.is_documents else state.profile
        self.whitelist = state.flags.whitelist
        self.quotas = state.quota_meanings()

    @property
    def capacity(self) -> Quantities:
        """Return the amounts that quota can guarantee."""
        return self._state.capacity(newest_rule=self._of_update)

    @cached_property
    def _usage(self) -> RoleUsage:
        return self._state.role_usage()

    def consumed(self, role: str) -> Quantities:
        """Return what counts towards the limits of `role`: allocated, and reserved but idle if that counts."""
        return self._usage.consumed(role)


class Quotas:
    """Quotas by role, kept in the registry; every change is checked whole before any of it happens."""

    def __init__(self, state: MasterState, registry: Registry, allocator: Allocator, rescinding: Rescinding) -> None:
        self._state = state
        self._registry = registry
        self._allocator = allocator
        self._rescinding = rescinding
        self._first_guarantees: dict[str, float] = {}
        """By the metric that shows it for ever, where masters forget to take it away."""

    def metrics(self) -> Mapping[str, float]:
        """Guarantees that the allocator does not know: of nothing, if those are kept, and those that stay for ever."""
        found: dict[str, float] = {}
        for role, quota in self._state.quotas.items():
            for entry in quota.entries or ():
                if entry["name"] not in quota.guarantees:
                    metric = quota_metric(role, entry["name"])
                    found |= {
                        f"{metric}/guarantee": 0.0,
                        f"{metric}/offered_or_allocated": self._held(role, entry["name"]),
                    }
        return found | self._first_guarantees

    def _held(self, role: str, name: str) -> float:
        """The sum that frameworks hold of it in the role, and are offered."""
        return to_double(
            sum(
                value_quantity(entry.value)
                for framework in self._state.frameworks.values()
                for held in (framework.used(), framework.offered())
                for entry in held
                if (entry.allocation_role, entry.name) == (role, name)
            )
        )

    def load(self) -> None:
        """Apply the registry, and pass each difference on to the allocator."""
        before = self._state.quota_meanings()
        self._state.quotas = {
            role: SentQuota.of_record(record) for role, record in self._registry.records(QUOTA_KIND).items()
        }
        after = self._state.quota_meanings()
        for role, quota in self._state.quotas.items():
            self._note_guarantees(role, quota)
        for role in before.keys() | after.keys():
            if before.get(role) != after.get(role):
                self._allocator.update_quota(role, after.get(role, Quota()))

    def set(
        self,
        principal: str | None,
        role: str,
        guarantee: Sequence[Resource],
        sent: Mapping[str, float],
        entries: tuple[Mapping[str, Any], ...] | None = None,
        *,
        force: bool,
    ) -> None:
        """POST /quota and SET_QUOTA; `sent` is what came for each name, `entries` what is kept of it as it came.

        Raises RuleViolation, Forbidden or Conflict, in Mesos's order.
        """
        facts = _Facts(self._state)
        limits = sent if facts.profile.quota_request_sets_limit else {}
        setter = principal if facts.profile.quota_shows_principal else None
        quota = SentQuota(sent, limits, entries, setter).kept()
        wish = Wish(role, quota.guarantees, quota.limits, by_request=True, entries=guarantee)
        refuse(quota_rules.SET_QUOTA, wish, facts)
        self._state.flags.authorizer.require("update_quotas", principal, role)
        refuse(quota_rules.SET_QUOTA_IF_AUTHORIZED, wish, facts, force=force)
        self._make([QuotaChange(role, quota)])
        self._rescinding.for_new_quota(role, quota.meaning.guarantees)

    def remove(self, principal: str | None, role: str) -> None:
        """DELETE /quota/ROLE and REMOVE_QUOTA; no offer is taken back.  Raises RuleViolation or Forbidden."""
        refuse(quota_rules.REMOVE_QUOTA, Wish(role, together={role: None}), _Facts(self._state))
        self._state.flags.authorizer.require("update_quotas", principal, role)
        self._make([QuotaChange(role, None)])

    def update(self, principal: str | None, configs: Sequence[tuple[str, SentQuota]], *, force: bool) -> None:
        """UPDATE_QUOTA: all of the configs or none.  Raises RuleViolation, Conflict or Forbidden."""
        facts = _Facts(self._state, of_update=True)
        wishes = [Wish(role, config.guarantees, config.limits) for role, config in configs]
        for wish in wishes:
            refuse(quota_rules.UPDATE_QUOTA_EACH, wish, facts)
        for wish in wishes:
            refuse([quota_rules.CONSUMPTION], wish, facts, force=force)
        whole = Wish("", together={role: config.meaning for role, config in configs})
        refuse(quota_rules.UPDATE_QUOTA_WHOLE, whole, facts, force=force)
        for role, _ in configs:
            self._state.flags.authorizer.require("update_quotas", principal, role)
        changes = [QuotaChange(role, config.kept()) for role, config in configs]
        self._make(changes, self._rescinding.for_updated_quota)

    def _make(self, changes: Sequence[QuotaChange], rescind: Rescind = lambda _role, _quota: None) -> None:
        """Write all changes to the registry, then tell the allocator of each and have offers rescinded."""
        for role, quota in changes:
            self._registry.write(QUOTA_KIND, role, None if quota is None else quota.to_record())
            if quota is None:
                self._state.quotas.pop(role, None)
            else:
                self._state.quotas[role] = quota
                self._note_guarantees(role, quota)
        for role, quota in changes:
            meaning = Quota() if quota is None else quota.meaning
            self._allocator.update_quota(role, meaning)
            rescind(role, meaning)

    def _note_guarantees(self, role: str, quota: SentQuota) -> None:
        if self._state.profile.guarantee_metrics_stay:
            for entry in quota.entries or ():
                metric = f"{quota_metric(role, entry['name'])}/guarantee"
                self._first_guarantees.setdefault(metric, entry["scalar"]["value"])


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
            if weight <= 0:  # not NaN, which a master takes
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
