"""A desired change of quotas: its values, the rules that mesosctl checks first, and the result.

The rules of a master are in `rules`. Only mesosctl refuses some roles in paths, and amounts of zero.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import NotFound, RuleViolation
from mesosctl.mesos.rules.quota.rules import (
    QUOTA_ON_MASTER,
    Facts,
    Wish,
    check_amounts_above_zero,
    check_guarantee,
    check_no_quota_yet,
    check_path,
    quota_of_guarantee,
    refuse,
    refuse_without_cluster,
)
from mesosctl.mesos.rules.version_profile import Profile

# --- Values -----------------------------------------------------------------------------------------


def guarantees_of(entries: Sequence[Resource]) -> Quantities:
    """The amounts of a guarantee.  Raises RuleViolation for entries that a guarantee cannot have."""
    check_guarantee(entries)
    check_amounts_above_zero(entries)
    return Quantities(_amounts(entries))


def limits_of(entries: Sequence[Resource]) -> Limits:
    """The bounds of limits; zero forbids a resource.  Raises RuleViolation for entries that limits cannot have."""
    if entries:
        check_guarantee(entries, field="limits")
    return Limits(_amounts(entries))


def _amounts(entries: Sequence[Resource]) -> dict[str, int]:
    return {entry.name: entry.value for entry in entries if isinstance(entry.value, int)}


class DesiredQuotaChange(NamedTuple):
    """A desired change of a role's quota; a part that is None stays as it is, and of a new quota it is none.

    Every command and file means this, on every version: a guarantee is what is named, and a limit is what is named as
    a limit.
    """

    guarantees: Quantities | None = None
    limits: Limits | None = None

    def applied_to(self, before: Quota | None) -> Quota:
        """The whole quota that results from `before`."""
        old = before or Quota()
        return Quota(
            old.guarantees if self.guarantees is None else self.guarantees,
            old.limits if self.limits is None else self.limits,
        )

    def requested(self, before: Quota | None, profile: Profile) -> Quota:
        """The quota that results if POST /quota or SET_QUOTA asks for it: of a limit that is not given, the master's.

        The rule `LIMITS` says whether that request can make these limits.
        """
        after = self.applied_to(before)
        if self.limits is None and profile.quota_request_sets_limit:
            return quota_of_guarantee(after.guarantees, profile)
        return after

    def implicit_losses(self, before: Quota | None, after: Quota) -> list[str]:
        """Return the guarantees and limits that `after` drops, and the limits it lowers, although they were not named.

        They are phrases that follow "its". A named amount may become smaller, and a part that becomes empty was named
        as a whole ("none").
        """
        if before is None:
            return []
        dropped = [] if not self.guarantees else [name for name in before.guarantees if name not in after.guarantees]
        none_named = self.limits is not None and not self.limits
        unbound = [] if none_named else [name for name in before.limits if name not in after.limits]
        # A request for a guarantee makes the limits equal to it, whatever they were.
        bound = {} if self.limits is not None else after.limits
        lowered = [
            f"limit of {in_words({name: before.limits[name]})} (which becomes {in_words({name: now})})"
            if name in before.limits
            else f"freedom from a limit on {name} (which becomes {in_words({name: now})})"
            for name, now in bound.items()
            if name not in before.limits or now < before.limits[name]
        ]
        return [
            *(f"guarantee of {in_words({name: before.guarantees[name]})}" for name in dropped),
            *(f"limit of {in_words({name: before.limits[name]})}" for name in unbound),
            *lowered,
        ]

    @property
    def fields(self) -> dict[str, str]:
        """The names of its resources, and the field of each."""
        parts = {"guarantees": self.guarantees or (), "limits": self.limits or ()}
        return {name: f"{part}.{name}" for part, names in parts.items() for name in names}


# --- Rules ------------------------------------------------------------------------------------------


@contextmanager
def of_role(role: str) -> Iterator[None]:
    """Add the role of the entry to the rules that are broken in this block."""
    try:
        yield
    except RuleViolation as error:
        error.role = role
        raise


def check_update(desired: Sequence[tuple[str, DesiredQuotaChange]]) -> None:
    """The rules of an update that need no master.  Raises RuleViolation."""
    if not desired:
        raise RuleViolation("there is nothing to update", field="quota_configs", rule="quota.empty")
    seen: set[str] = set()
    for role, quota in desired:
        with of_role(role):
            # An absent part is checked again when its value is known.
            refuse_without_cluster(role, quota.applied_to(None))
        if role in seen:
            raise RuleViolation(
                f"role '{role}' is configured twice", field="quota_configs", rule="quota.duplicate-role"
            )
        seen.add(role)


def no_quota(roles: Sequence[str], stored: Iterable[str]) -> NotFound:
    """The error for roles without quota; `stored` are those with one."""
    names = ", ".join(f"'{role}'" for role in roles)
    return NotFound(
        f"no quota is set for {names}, or this principal may not see it",
        field="role",
        rule="quota.exists",
        values={"roles": roles, "stored": list(stored)},
    )


def check_stored(
    desired: Sequence[tuple[str, DesiredQuotaChange]],
    stored: Collection[str],
    *,
    create: bool,
    only_new: bool,
    missing_answer: int,
) -> None:
    """Whether these roles have the quotas that an update expects.

    Raises RuleViolation for one that exists if `only_new`, and NotFound for one that does not, unless `create`; a
    master would answer that with the status `missing_answer`.
    """
    missing = [role for role, _ in desired if role not in stored]
    if only_new:
        for role, _ in desired:
            check_no_quota_yet(role, stored)
    if missing and not create:
        refusal = no_quota(missing, stored)
        refusal.would_answer = missing_answer
        raise refusal
    for role in missing:
        check_path(role)  # a new quota must be removable


# --- The result -------------------------------------------------------------------------------------


class PlannedQuota(NamedTuple):
    """The quota of a role before and after an update.

    `losses` are the guarantees and limits that it loses although they were not named; `limit_given` says whether limits
    were named. `request_first` says whether a request for the guarantee, which replaces nothing, precedes UPDATE_QUOTA.
    """

    role: str
    before: Quota | None
    after: Quota
    losses: list[str]
    limit_given: bool
    request_first: bool = False

    @property
    def keeps_guarantee(self) -> bool:
        """Whether only its limits change."""
        return self.before is not None and self.before.guarantees == self.after.guarantees


def plan_quotas(
    desired: Sequence[tuple[str, DesiredQuotaChange]],
    stored: Mapping[str, Quota],
    facts: Facts,
    *,
    at_once: bool = True,
) -> list[PlannedQuota]:
    """Return the quotas that result from an update of the stored ones.

    `at_once` means by one UPDATE_QUOTA, otherwise by requests for guarantees. Raises RuleViolation for a quota that
    must not be sent to a master.
    """
    plan = []
    for role, quota in desired:
        before = stored.get(role)
        with of_role(role):
            after = quota.applied_to(before) if at_once else quota.requested(before, facts.profile)
            refuse(QUOTA_ON_MASTER, Wish.of(role, after, by_request=not at_once), facts)
            if after.is_default:
                # A 1.11 master would keep an empty entry, which blocks a later quota set.
                raise RuleViolation(
                    f"that would leave role '{role}' without a guarantee or a limit",
                    field="guarantees",
                    rule="quota.empty",
                    hint="name a guarantee or a limit" if before is None else "remove the quota",
                    values=None if before is None else {"emptied": role},
                )
        losses = quota.implicit_losses(before, after)
        plan.append(PlannedQuota(role, before, after, losses, limit_given=quota.limits is not None))
    return plan


def describe_losses(plan: Sequence[PlannedQuota]) -> str:
    """Return the losses of a plan as one sentence; empty for none."""
    return "; ".join(
        f"role '{planned.role}' loses its {' and its '.join(planned.losses)}" for planned in plan if planned.losses
    )


class ChangedQuota(NamedTuple):
    """A change that was made: the quota before and after, None for no quota."""

    role: str
    before: Quota | None
    after: Quota | None
    confirmed: bool = True
    """Whether it was read back."""
    limit_given: bool = True
    """Whether the limits were given."""
    sent: bool = True
    """False if the role had this quota already, so that there was nothing to do."""

    @property
    def done(self) -> Literal["set", "updated", "removed", "unchanged"]:
        """The change in one word."""
        if not self.sent:
            return "unchanged"
        if self.after is None:
            return "removed"
        return "set" if self.before is None else "updated"
