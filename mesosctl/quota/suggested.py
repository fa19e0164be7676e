"""Hints about a change of quotas that cannot be made as it was asked for: the command that can be."""

from collections.abc import Collection, Mapping, Sequence

from mesosctl.mesos.amounts.amount_text import as_typed, in_words
from mesosctl.mesos.amounts.notation import changed_names, parse_changed
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.values import NONE
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.roles import did_you_mean
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.quota.rules import DEFAULT_ROLE, LIMITS, REMOVABLE, VALID_ROLE, GivenFacts, Wish, refuse
from mesosctl.mesos.rules.version_profile import Profile
from mesosctl.reading.quotas import QuotaOptions
from mesosctl.suggestion import command


def instead_of_new(role: str, quota: DesiredQuotaChange, options: QuotaOptions) -> str:
    """A hint about a role that has quota already."""
    whole = quota._replace(guarantees=quota.guarantees or Quantities())  # an update would keep the old one
    return f"use {updating(role, whole, options)}, or {command('quota remove', role)} first"


def instead_of_update(
    desired: Sequence[tuple[str, DesiredQuotaChange]], stored: Collection[str], profile: Profile, options: QuotaOptions
) -> str | None:
    """A hint about roles without quota; None if no command would give them this one."""
    missing = [role for role, _ in desired if role not in stored]
    if len(desired) > 1:
        return did_you_mean(missing, stored, "--create also sets quota for roles that have none")
    ((role, quota),) = desired
    new = setting(role, quota, profile, options)
    return None if new is None else did_you_mean(missing, stored, f"{new} sets a new one")


def setting(role: str, quota: DesiredQuotaChange, profile: Profile, options: QuotaOptions) -> str | None:
    """The command that sets it for a role without quota; None if such a command would be refused."""
    after = quota.applied_to(None)
    try:
        refuse(
            (VALID_ROLE, REMOVABLE, DEFAULT_ROLE, LIMITS),
            Wish.of(role, after, by_request=not profile.knows_update_quota),
            GivenFacts(profile),
        )
    except RuleViolation:
        return None
    if after.is_default:
        return None
    words, given = _in_a_command(quota._replace(guarantees=quota.guarantees or None), options)
    return command("quota set", role, *words, **given)


def updating(role: str, quota: DesiredQuotaChange, options: QuotaOptions) -> str:
    """The command that makes this change of a quota."""
    words, given = _in_a_command(quota, options)
    return command("quota update", role, *words, **given)


def instead_of_signs(
    role: str, words: Sequence[str], limit: str | None, stored: Quota | None, profile: Profile, options: QuotaOptions
) -> str | None:
    """A hint about amounts with a sign: the command that sets the sums; None if no command could.

    Raises RuleViolation for other faults of the words.
    """
    has = stored or Quota()
    guarantees = _changed(";".join(words), has.guarantees) if words else None
    limits = None if limit is None else _changed(limit, has.limits)
    free = [] if limit in (None, NONE) else [name for name in changed_names(limit) if name not in has.limits]
    if free:
        return f"role '{role}' has no limit of {' and '.join(free)} that could change"
    if any(amount < 0 for amount in (*(guarantees or {}).values(), *(limits or {}).values())):
        return f"role '{role}' has {in_words(has.guarantees)}" if stored else f"role '{role}' has no quota"
    sums = DesiredQuotaChange(
        None if guarantees is None else Quantities(guarantees), None if limits is None else Limits(limits)
    )
    if stored is None:
        new = setting(role, sums, profile, options)
        return None if new is None else f"role '{role}' has no quota; use {new}"
    return f"role '{role}' has {in_words(has.guarantees)}; for the sum, use {updating(role, sums, options)}"


def _changed(text: str, now: Mapping[str, int]) -> dict[str, int]:
    return {} if text == NONE else parse_changed(text, now)


def _in_a_command(quota: DesiredQuotaChange, options: QuotaOptions) -> tuple[list[str], dict[str, object]]:
    """The words of the guarantee, and the limit with the options of the present command that another one needs too."""
    guarantee = [] if quota.guarantees is None else as_typed(quota.guarantees) or [NONE]
    limit = None if quota.limits is None else ";".join(as_typed(quota.limits)) or NONE
    repeated = {name: getattr(options, name) or None for name in ("force", "allow_new_resource", "dry_run")}
    return guarantee, {"limit": limit, **repeated}
