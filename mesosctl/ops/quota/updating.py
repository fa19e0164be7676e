"""`quota update`: another quota for roles that have one.

A master that knows UPDATE_QUOTA changes it at once; for others see `replacing`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mesosctl.client.master import Master
from mesosctl.core.errors import RuleViolation, UsageError
from mesosctl.core.profile import Profile
from mesosctl.core.quantities import Limits, Quantities, Quota
from mesosctl.core.quota import check_consumption, check_role_may_have_quota
from mesosctl.core.standing import QuotaChange
from mesosctl.ops.confirm import make
from mesosctl.ops.quota.payload import check_config, check_path
from mesosctl.ops.quota.state import no_quota, quotas_if_allowed, read_quotas, sees_every_role, usage_if_allowed


@dataclass(frozen=True, slots=True)
class Wish:
    """What a role's quota should become; None keeps what it has.

    Without `limits`, limits that equal the guarantee follow it, as they do where a v0 request
    made them; others stay.  A role without quota gets what a v0 request would give it.
    """

    role: str
    guarantees: Quantities | None = None
    limits: Limits | None = None

    def over(self, before: Quota, profile: Profile) -> Quota:
        """The whole quota that this makes of `before`."""
        guarantees = before.guarantees if self.guarantees is None else self.guarantees
        if self.limits is not None:
            return Quota(guarantees, self.limits)
        follow = profile.quota_sets_limits if before.is_default else before.limits == Limits(before.guarantees)
        return Quota(guarantees, Limits(guarantees) if follow else before.limits)


@dataclass(frozen=True, slots=True)
class UpdateManner:
    """How to go about it.

    `force` passes the capacity and the consumption check, `create` also makes quotas for roles
    without, `api` is auto, v0 or v1, `wait` reads back.
    """

    force: bool = False
    create: bool = False
    api: str = "auto"
    wait: bool = True


def update_quotas(master: Master, wishes: Sequence[Wish], manner: UpdateManner) -> list[QuotaChange]:
    """Change quotas: all of them in one call, or by remove and set where a master is older (one role only).

    Raises RuleViolation, Conflict, NotFound, NotConfirmed and what `client.Master` raises.
    """
    _check_wishes(wishes)
    at_once = manner.api == "v1" or (manner.api == "auto" and master.profile.knows_update_quota)
    stored = quotas_if_allowed(master)
    if stored is None:
        raise RuleViolation(
            "the quotas cannot be read, and an update must know what it replaces", field="role", rule="quota.readable"
        )
    missing = [wish.role for wish in wishes if wish.role not in stored]
    if missing and not manner.create:
        refusal = no_quota(missing)
        refusal.would_answer = 200 if at_once else 400  # UPDATE_QUOTA makes what is not there
        raise refusal
    for role in missing:
        check_path(role)  # what is made must be removable
    wanted = {wish.role: wish.over(stored.get(wish.role, Quota()), master.profile) for wish in wishes}
    _check_wanted(master, stored, wanted, manner, at_once=at_once)
    if at_once:
        return _update_at_once(master, stored, wanted, manner)
    from mesosctl.ops.quota.replacing import replace_quota

    if len(wanted) != 1:
        raise UsageError(
            "this way, quotas are changed one role at a time", field="--file", hint="give one configuration a file"
        )
    [(role, quota)] = wanted.items()
    return [replace_quota(master, role, stored.get(role), quota, force=manner.force, wait=manner.wait)]


def _check_wishes(wishes: Sequence[Wish]) -> None:
    """The rules that need no master."""
    if not wishes:
        raise RuleViolation("there is nothing to update", field="quota_configs", rule="quota.empty")
    seen: set[str] = set()
    for wish in wishes:
        # An absent part is checked again when what it becomes is known.
        check_config(wish.role, Quota(wish.guarantees or Quantities(), wish.limits or Limits()))
        if wish.role in seen:
            raise RuleViolation(
                f"role '{wish.role}' is configured twice", field="quota_configs", rule="quota.duplicate-role"
            )
        seen.add(wish.role)


def _check_wanted(
    master: Master, stored: Mapping[str, Quota], wanted: Mapping[str, Quota], manner: UpdateManner, *, at_once: bool
) -> None:
    """The rules on what the quotas would become."""
    from mesosctl.ops.quota.setting import check_fits

    for role, quota in wanted.items():
        check_role_may_have_quota(role, master.profile)
        check_config(role, quota)
        if quota.is_default:
            # A 1.11 master keeps an empty entry then, which blocks a later quota set.
            raise RuleViolation(
                f"that leaves role '{role}' neither guarantee nor limit",
                field="guarantees",
                rule="quota.empty",
                hint=f"use quota remove {role}",
            )
    if not manner.force and any(quota.limits for quota in wanted.values()):
        usage = usage_if_allowed(master) or {}
        for role, quota in wanted.items():
            consumed = usage[role].consumed if role in usage else None
            if consumed is not None:
                check_consumption(role, quota.limits, consumed)
    # Of UPDATE_QUOTA even this is a 400 (spec/quota.md §8).
    check_fits(master, {**stored, **wanted}, force=manner.force, answered=400 if at_once else 409)


def _update_at_once(
    master: Master, stored: Mapping[str, Quota], wanted: Mapping[str, Quota], manner: UpdateManner
) -> list[QuotaChange]:
    def look() -> bool | None:
        shown = read_quotas(master)
        if all(shown.get(role) == quota for role, quota in wanted.items()):
            return True
        # All are taken or none, so one that should be seen and is not as wanted tells of all.
        told = any(role in stored or role in shown for role, quota in wanted.items() if shown.get(role) != quota)
        return False if told or sees_every_role(master) else None

    confirmed = make(
        master,
        lambda: send_update(master, wanted, force=manner.force),
        look,
        what="updating quota of " + ", ".join(f"'{role}'" for role in wanted),
        wait=manner.wait,
    )
    return [QuotaChange(role, stored.get(role), quota, confirmed) for role, quota in wanted.items()]


def send_update(master: Master, wanted: Mapping[str, Quota], *, force: bool) -> None:
    """One UPDATE_QUOTA of checked configurations."""
    from mesosctl.wire.quota import UpdateQuotaCall

    master.call(UpdateQuotaCall.of(wanted, force=force).body())
