"""SUBSCRIBE and UPDATE_FRAMEWORK: the description of a framework, its rules, and its form for the allocator.

Source: Mesos documentation, "Scheduler HTTP API", "SUBSCRIBE" and "UPDATE_FRAMEWORK".
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fake_master.allocator.interface import FrameworkInfo
from fake_master.state.flags import MasterFlags
from fake_master.state.frameworks import KnownFramework, capabilities_of, roles_of
from mesosctl.mesos import roles as roles_model
from mesosctl.mesos.amounts.quantities import Quantities, to_milli
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.defaults import replaced
from mesosctl.mesos.messages.protobuf_json.ending_numbers import ending_number
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.roles import id_error
from mesosctl.mesos.rules.offers.constraints import Holds, RegexLimits, excluded_agents

# The longest duration of the real master, in seconds.
_LONGEST_FAILOVER = 2**63 / 1e9
# A framework that subscribes again keeps them, whatever it says.
_LASTING = ("user", "checkpoint")


@dataclass(frozen=True, slots=True)
class Subscription:
    """The content of SUBSCRIBE or UPDATE_FRAMEWORK."""

    info: Mapping[str, Any]
    """FrameworkInfo; of a SUBSCRIBE, with the authenticated principal if it names none."""
    suppressed: frozenset[str] = frozenset()
    offer_constraints: Mapping[str, Any] = field(default_factory=dict)
    pid: str | None = None
    """The libprocess address of the driver; None over HTTP."""
    force: bool = False
    """Whether a driver takes the framework over from the one that it has."""

    @property
    def framework_id(self) -> str:
        """The framework's id; empty if it has none yet."""
        return str(self.info.get("id", {}).get("value", ""))

    def check(self, flags: MasterFlags, *, checks_id: bool = True) -> None:
        """The rules of FrameworkInfo, in the master's order.  Raises RuleViolation with the event's message."""
        info = self.info
        subscribed = _checked_roles(info)
        problem = id_error(self.framework_id) if checks_id and self.framework_id else None
        if problem is not None:
            raise RuleViolation(problem)
        for role in sorted(self.suppressed):
            if role not in subscribed:
                raise RuleViolation(f"Suppressed role '{role}' is not contained in the list of roles")
        for role in sorted(subscribed):
            roles_model.check_whitelist(role, flags.whitelist)
        if info["user"] == "root" and not flags.is_true("root_submissions"):
            raise RuleViolation("User 'root' is not allowed to run frameworks without --root_submissions set")
        if abs(info.get("failover_timeout", 0.0)) > _LONGEST_FAILOVER:  # not NaN, which a master takes
            raise RuleViolation(f"The framework failover_timeout ({info['failover_timeout']}) is invalid")
        for role in sorted(subscribed):
            if not flags.authorizer.allows("register_frameworks", info.get("principal"), role):
                raise RuleViolation(f"Not authorized to use role '{role}'")
        _check_minimums(info)
        _excludes(self.offer_constraints, flags)

    def check_harmless(self, release: str | None) -> None:
        """Check that a real master accepts it and lives.  Raises RuleViolation.

        One accepts a minimum of an offer that cannot be counted in thousandths, and its allocator then ends it. Some
        releases end when they show a timeout that is no number.
        """
        number = ending_number(mesos_message("mesos.v1.FrameworkInfo", release), self.info)
        if number is not None:
            raise RuleViolation(f"'{number}' is not finite, and a master of {release} shows it")
        for amounts in _alternatives(self.info):
            for name, scalar in amounts.items():
                try:
                    to_milli(scalar["value"])
                except ValueError as error:
                    raise RuleViolation(f"Invalid resource quantity for '{name}': {error}") from None

    def check_change_of(self, framework: KnownFramework) -> None:
        """Check that an UPDATE_FRAMEWORK changes no immutable field.  Raises RuleViolation."""
        self._check_same(framework, "principal", *_LASTING)

    def again(self, framework: KnownFramework, *, refuses_another_principal: bool) -> "Subscription":
        """Return it as of a framework that is known and keeps what may not change.  Raises RuleViolation."""
        if refuses_another_principal:
            self._check_same(framework, "principal")
        lasting = (*_LASTING, "principal")
        kept = {key: framework.info[key] for key in lasting if key in framework.info}
        changeable = {key: value for key, value in self.info.items() if key not in lasting}
        return replace(self, info=replaced(self.info, changeable | kept))

    def _check_same(self, framework: KnownFramework, *keys: str) -> None:
        for key in keys:
            default = False if key == "checkpoint" else None
            if framework.info.get(key, default) != self.info.get(key, default):
                raise RuleViolation(f"Changing framework's {key} is not allowed.")


def allocator_info(framework: KnownFramework, flags: MasterFlags) -> FrameworkInfo:
    """Return a framework as the allocator knows it."""
    return FrameworkInfo(
        id=framework.id,
        roles=framework.roles,
        capabilities=framework.capabilities,
        minimums=_minimums(framework),
        excludes=_excludes(framework.offer_constraints, flags),
    )


def _excludes(offer_constraints: Mapping[str, Any], flags: MasterFlags) -> Mapping[str, Holds]:
    """Return the agents that each role excludes, as functions by role.  Raises RuleViolation."""
    return excluded_agents(offer_constraints, RegexLimits.of(flags.shown))


def _checked_roles(info: Mapping[str, Any]) -> frozenset[str]:
    """The roles of a FrameworkInfo.  Raises RuleViolation."""
    multi_role = "MULTI_ROLE" in capabilities_of(info)
    named = list(info.get("roles", ()))
    if multi_role and "role" in info:
        raise RuleViolation("'FrameworkInfo.role' must not be set when the framework is MULTI_ROLE capable")
    if not multi_role and named:
        raise RuleViolation("'FrameworkInfo.roles' must not be set when the framework is not MULTI_ROLE capable")
    if len(set(named)) != len(named):
        twice = ", ".join(sorted({role for role in named if named.count(role) > 1}))
        raise RuleViolation(f"'FrameworkInfo.roles' contains duplicate items: {{ {twice} }}")
    subscribed = roles_of(info)
    for role in sorted(subscribed):
        problem = roles_model.role_error(role)
        if problem is not None:
            raise RuleViolation(f"'FrameworkInfo.roles' contains invalid role: {problem}")
    return subscribed


def _check_minimums(info: Mapping[str, Any]) -> None:
    """Check that each alternative of an offer filter names amounts, and none below zero.  Raises RuleViolation.

    The roles of the filters need not be those of the framework.
    """
    for amounts in _alternatives(info):
        if not amounts:
            raise RuleViolation("Invalid offer filters: an entry of 'min_allocatable_resources' names no quantity")
        for name, scalar in amounts.items():
            value = scalar["value"]
            if math.isnan(value):
                raise RuleViolation(f"Invalid resource quantity for '{name}': NaN not supported")
            if math.isinf(value):
                raise RuleViolation(f"Invalid resource quantity for '{name}': Infinite values not supported")
            if value < 0:
                raise RuleViolation(f"Invalid resource quantity for '{name}': Negative values not supported")


def _alternatives(info: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The minimums of the offers of all roles, each as scalars by name."""
    for filters in info.get("offer_filters", {}).values():
        for entry in filters.get("min_allocatable_resources", {}).get("quantities", ()):
            yield entry.get("quantities", {})


def _minimums(framework: KnownFramework) -> dict[str, tuple[Quantities, ...]]:
    """Return the minimum of an offer by role: alternatives."""
    minimums = {}
    for role, filters in framework.info.get("offer_filters", {}).items():
        minimum = filters.get("min_allocatable_resources")
        if minimum is not None:
            minimums[role] = tuple(
                Quantities({name: to_milli(scalar["value"]) for name, scalar in entry.get("quantities", {}).items()})
                for entry in minimum.get("quantities", ())
            )
    return minimums


def same_info(info: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two FrameworkInfos say the same, roles and capabilities in any order."""
    return _in_order(info) == _in_order(other)


def _in_order(info: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: sorted(info[name], key=repr) for name in ("roles", "capabilities") if name in info}
    return {name: value for name, value in {**info, **lists}.items() if value != []}
