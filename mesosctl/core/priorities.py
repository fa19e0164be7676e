"""Priorities of roles, for the strict priority allocator (seeds/drf.txt).

The seed's module "gives a framework priority to always receive and accept resource offers
sufficient to meet its task requirements".  A priority is given to a role, as weights and quotas
are; a framework that needs one of its own gets a role of its own, nested if need be.
"""

from collections.abc import Mapping

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation


class Priorities:
    """Whole numbers by role, the higher the sooner; a role that is not named has that of its nearest ancestor, or 0."""

    __slots__ = ("_by_role",)

    def __init__(self, by_role: Mapping[str, int] | None = None) -> None:
        self._by_role = dict(by_role or {})

    @classmethod
    def parse(cls, text: str) -> "Priorities":
        """The flag `--priorities`: `prod=100,batch=1`.  Raises RuleViolation."""
        found: dict[str, int] = {}
        for pair in filter(None, (part.strip() for part in text.split(","))):
            role, equals, number = (word.strip() for word in pair.partition("="))
            problem = roles.role_error(role)
            if not equals or problem is not None:
                raise RuleViolation(
                    f"'{pair}' is not ROLE=PRIORITY" + (f": {problem}" if problem else ""),
                    field="priorities",
                    hint="prod=100,batch=1",
                )
            if role in found:
                raise RuleViolation(f"role '{role}' has two priorities", field="priorities")
            try:
                found[role] = int(number)
            except ValueError:
                raise RuleViolation(
                    f"'{pair}': a priority is a whole number", field="priorities", hint="prod=100,batch=1"
                ) from None
        return cls(found)

    def of(self, role: str) -> int:
        """The priority of any role."""
        if role in self._by_role:
            return self._by_role[role]
        return next((self._by_role[above] for above in roles.ancestors(role) if above in self._by_role), 0)
