"""`quota check` and `quota room`: the rules of a request, one by one, and how much room there is.  Both only read."""

from collections.abc import Sequence

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.hints import hint_of
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import MesosctlError
from mesosctl.mesos.messages import responses
from mesosctl.mesos.rules.quota.capacity import CapacityCheck, CheckedRule, GuaranteeRoom, total_guarantees, unpromised
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.quota.rules import (
    ABOVE_ZERO,
    ALLOWED_ROLE,
    AMOUNTS,
    CAPACITY,
    CONSUMPTION,
    DEFAULT_ROLE,
    LIMITS,
    NO_QUOTA_YET,
    PLAIN_AMOUNTS,
    REMOVABLE,
    ROLE_WITH_QUOTA,
    TOP_LEVEL,
    TREE,
    VALID_ROLE,
    GivenFacts,
    Rule,
    UnknownFact,
    Wish,
    check_path,
    known_or_none,
    refuse,
)
from mesosctl.quota import task_room
from mesosctl.quota.facts import ReadFacts
from mesosctl.quota.task_room import TasksThatFit
from mesosctl.reading.quotas import (
    check_names,
    newer_version_named,
    read_capacity,
    read_quotas,
    read_roles,
)
from mesosctl.reading.targets import read_agents


def check_quota(
    master: LeadingMaster,
    role: str,
    guarantee: Sequence[Resource],
    limits: Limits | None = None,
    *,
    allow_new_resource: bool = False,
    by_request: bool = False,
) -> CapacityCheck:
    """Whether `quota set` would set this quota for `role`; `by_request` means with --api v0.

    Raises only the errors of reading.
    """
    profile = master.profile
    facts = ReadFacts(master)
    quotas, available = known_or_none(lambda: facts.quotas), known_or_none(lambda: facts.capacity)
    guarantees = Quantities({entry.name: entry.value for entry in guarantee if isinstance(entry.value, int)})
    by_request = by_request or not profile.knows_update_quota
    desired = DesiredQuotaChange(guarantees, limits)
    target = desired.requested(None, profile) if by_request else desired.applied_to(None)
    wish = Wish.of(role, target, by_request=by_request, entries=guarantee if guarantee or not limits else None)
    names = Rule(
        "resource.known",
        "every resource has a known name",
        lambda _wish, _facts: None if allow_new_resource else check_names(master, desired.fields),
    )
    rules = (
        *(VALID_ROLE, REMOVABLE, DEFAULT_ROLE, PLAIN_AMOUNTS, ABOVE_ZERO, AMOUNTS, names, LIMITS, ALLOWED_ROLE),
        *(NO_QUOTA_YET, TREE, TOP_LEVEL, CAPACITY),
        *([CONSUMPTION] if target.limits else []),
    )
    others = None if quotas is None else {name: quota for name, quota in quotas.items() if name != role}
    return CapacityCheck(
        role=role,
        requested=target.guarantees,
        limits=target.limits,
        findings=tuple(_finding(master, rule, wish, facts) for rule in rules),
        capacity=available,
        promised=None if others is None else total_guarantees(others),
        largest=None if others is None or available is None else unpromised(others, available),
    )


def _finding(master: LeadingMaster, rule: Rule, wish: Wish, facts: ReadFacts) -> CheckedRule:
    """One line; a rule with several parts has the name of the one that was broken."""
    try:
        with newer_version_named(master):
            rule.check(wish, facts)
    except UnknownFact:
        return CheckedRule(rule.name, None, f"unknown whether {rule.kept}")
    except MesosctlError as error:
        return CheckedRule(error.rule or rule.name, False, error.message, hint_of(error))
    if rule in _OF_EVERY_QUOTA and not facts.sees_every_quota:
        return CheckedRule(rule.name, None, f"unknown whether {rule.kept}: the master may hide quotas")
    return CheckedRule(rule.name, True, rule.kept)


_OF_EVERY_QUOTA = (NO_QUOTA_YET, TREE, CAPACITY)
"""The rules that a quota which is not seen can break."""


def room_for_tasks(master: LeadingMaster, room: GuaranteeRoom, task: Quantities) -> TasksThatFit:
    """Return how many such tasks the guarantee of the role holds today; without quota, the largest that it could have.

    Raises what reading raises.
    """
    guarantee = room.largest if room.guarantee is None else room.guarantee
    usages = {} if room.role is None else responses.roles(master.get("/roles"))
    usage = None
    if room.role in usages:
        usage = read_roles(master, usages, {room.role: Quota(guarantee)})[room.role].usage
    counted = Quantities() if usage is None else usage.counted
    return task_room.room_for_tasks(task, guarantee, counted, room.role, read_agents(master))


def quota_room(master: LeadingMaster, role: str | None = None) -> GuaranteeRoom:
    """Return the largest quota that would be accepted for `role`, or for a role without quota.

    Raises RuleViolation for a role that can have none, and what reading raises.
    """
    if role is not None:
        refuse(ROLE_WITH_QUOTA, Wish(role), GivenFacts(master.profile))
    quotas = read_quotas(master)
    if role is not None and role not in quotas:
        check_path(role)
    others = {name: quota for name, quota in quotas.items() if name != role}
    available = read_capacity(master)
    own = Quota() if role is None else quotas.get(role, Quota())
    return GuaranteeRoom(
        role=role,
        guarantee=own.guarantees if role in quotas else None,
        capacity=available,
        promised=total_guarantees(others),
        largest=own.limits.bounded(unpromised(others, available)),
        limits=own.limits,
    )
