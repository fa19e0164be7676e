"""The quotas a master holds, and the three ways to change them (spec/quota.md §3, §4, §8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fake_master.state import roles as roles_state
from mesosctl.model import roles
from mesosctl.model.errors import RuleViolation
from mesosctl.model.quantities import Quantities, Quota, to_milli
from mesosctl.model.quota import rules as quota_rules
from mesosctl.model.quota.capacity import check_capacity
from mesosctl.model.resource import Resource

if TYPE_CHECKING:
    from fake_master.master import Master
    from fake_master.state.offers import Offer


QUOTA_KIND = "quota"


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
            for role, record in self._master.registry.records(QUOTA_KIND).items()
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
        for_new_quota(master, role, quota.meaning.guarantees)

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
            for_updated_quota(master, role, config.meaning)

    def _keep(self, role: str, stored: SentQuota | None) -> None:
        self._master.registry.write(QUOTA_KIND, role, None if stored is None else stored.to_record())
        if stored is None:
            self._stored.pop(role, None)
        else:
            self._stored[role] = stored


def for_new_quota(master: "Master", role: str, needed: Quantities) -> None:
    """Whole agents in turn, until the guarantee is covered and there is one agent for each framework."""
    frameworks = sum(of.active and role in of.tracked_roles for of in master.frameworks.values())
    covered, visited = Quantities(), 0
    for agent in master.agents.values():
        if covered.contains(needed) and visited >= frameworks:
            return
        offers = _regular(master.offers.on_agent(agent.id)) if agent.active else []
        for offer in offers:
            covered += _plain(offer)
            master.offers.rescind(offer)
        visited += bool(offers)


def for_updated_quota(master: "Master", role: str, quota: Quota) -> None:
    """First the role's own offers, down to its limits; then others' offers, up to its guarantees.

    A master counts whole offers here, whoever owns what is in them: a reservation of somebody else's counts
    towards the guarantees although the role cannot have it, and one of the role's own that is being offered
    counts twice, as consumed and as offered.

    Agents and frameworks come in the master's own order.  The newest offer of each comes first: Mesos leaves that
    open, but its sets of offers have the newest at the front (all but always, where there are three or more).
    """
    offered = roles_state.sums(
        (entry for offer in _regular(framework.offers.values()) for entry in offer.resources)
        if master.lends
        else framework.offered()
        for framework in master.frameworks.values()
    )
    held = master.consumed(role) + offered.get(role, Quantities())
    for framework in list(master.frameworks.values()):
        for offer in _newest_first(framework.offers.values()):
            if quota.limits.contains(held):
                break
            if _within(offer, role):
                held -= offer.resources.quantities()
                master.offers.rescind(offer)
    for agent in list(master.agents.values()):
        for offer in _newest_first(master.offers.on_agent(agent.id)):
            if held.contains(quota.guarantees):
                return
            if not _within(offer, role):
                held += offer.resources.quantities()
                master.offers.rescind(offer)


def _regular(offers: "Iterable[Offer]") -> "list[Offer]":
    """What is lent, or slack of use, serves no quota."""
    return [offer for offer in offers if offer.kind == "regular"]


def _newest_first(offers: "Iterable[Offer]") -> "list[Offer]":
    return _regular(offers)[::-1]


def _plain(offer: "Offer") -> Quantities:
    """What a v0 guarantee is made of: owned by nobody, not to be taken back, of no particular disk or provider."""
    plain = offer.resources.unreserved().non_revocable()
    return plain.filter(lambda entry: entry.disk is None and entry.provider_id is None).scalar_quantities()


def _within(offer: "Offer", role: str) -> bool:
    return offer.role == role or roles.is_strict_subrole(offer.role, role)


WEIGHT_KIND = "weight"


class Weights:
    """Configured weights by role; a role without one weighs 1."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._configured: dict[str, float] = {}

    def load(self) -> None:
        """The registry's weights; those of the flag count only for a registry that has none."""
        self._configured = dict(self._master.registry.records(WEIGHT_KIND)) or dict(self._master.flags.weights)

    @property
    def configured(self) -> Mapping[str, float]:
        """Every weight that was set, 1.0 included."""
        return self._configured

    def of(self, role: str) -> float:
        """The weight of any role."""
        return self._configured.get(role, 1.0)

    def update(self, principal: str | None, wanted: Sequence[tuple[str, float]]) -> None:
        """All or nothing.  Raises RuleViolation or Forbidden."""
        trimmed = [(role.strip(" \t\n\r"), weight) for role, weight in wanted]
        for index, (role, weight) in enumerate(trimmed):
            roles.check_role(role, f"[{index}].role")
            roles.check_whitelist(role, self._master.flags.whitelist)
            # Written so that NaN fails too.
            if not weight > 0:
                raise RuleViolation(
                    f"weight {weight:g} of role '{role}': weights must be positive",
                    field=f"[{index}].weight",
                    rule="weight.positive",
                )
        for role, _ in trimmed:
            self._master.flags.authorizer.require("update_weights", principal, role)
        if not trimmed:  # nothing to change still asks for the right to change anything
            self._master.flags.authorizer.require("update_weights", principal, None)
            return
        # From the first change on the registry rules, so what the flag said goes into it.
        for role, weight in {**self._configured, **dict(trimmed)}.items():
            self._master.registry.write(WEIGHT_KIND, role, weight)
            self._configured[role] = weight
        self._enforce(dict(trimmed))

    def _enforce(self, changed: Mapping[str, float]) -> None:
        """Where it concerns anybody, every offer of the cluster is taken back."""
        master = self._master
        master.allocator.update_weights(changed)
        if any(not framework.tracked_roles.isdisjoint(changed) for framework in master.frameworks.values()):
            for offer in master.offers:
                if offer.kind == "regular":
                    master.offers.rescind(offer)
