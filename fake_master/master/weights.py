"""The weights a master holds (spec/endpoints.md §3)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation

if TYPE_CHECKING:
    from fake_master.master.master import Master

KIND = "weight"


class Weights:
    """Configured weights by role; a role without one weighs 1."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._configured: dict[str, float] = {}

    def load(self) -> None:
        """The registry's weights; those of the flag count only for a registry that has none."""
        self._configured = dict(self._master.registry.records(KIND)) or dict(self._master.flags.weights)

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
            self._master.registry.write(KIND, role, weight)
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
