"""The work of `quota set`, `quota update` and `quota remove`: their checks, requests and confirmation."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from mesosctl.changes.confirm import GRACE, confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.amount_text import in_mesos_notation, in_words
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import Conflict, Denied, MesosctlError, NotFound, Rejected, RuleViolation, UsageError
from mesosctl.mesos.messages.http_statuses import SET_QUOTA_OVER_CAPACITY, UPDATE_QUOTA_OVER_CAPACITY
from mesosctl.mesos.rules.quota.desired import (
    ChangedQuota,
    DesiredQuotaChange,
    PlannedQuota,
    check_stored,
    check_update,
    describe_losses,
    guarantees_of,
    no_quota,
    of_role,
    plan_quotas,
)
from mesosctl.mesos.rules.quota.rules import (
    CAPACITY,
    CONSUMPTION,
    TREE,
    Wish,
    check_guarantee,
    check_limits_fit_request,
    check_path,
    check_tree,
    quota_of_guarantee,
    refuse,
)
from mesosctl.mesos.rules.version_profile import MESOS_1_9, Profile, needs
from mesosctl.quota.facts import ReadFacts, not_sent
from mesosctl.quota.requests import send_quota, send_removal, send_update
from mesosctl.quota.suggested import instead_of_new, instead_of_update
from mesosctl.reading.quotas import (
    QuotaOptions,
    check_names,
    newer_version_named,
    quotas_if_allowed,
    read_quotas,
    sees_every_role,
)
from mesosctl.suggestion import command


def _refuse_losses(losses: str) -> None:
    raise Conflict(
        f"{losses}; nothing was done",
        field="role",
        rule="quota.unseen",
        hint="name a guarantee too: POST /quota, which asks for one, replaces nothing",
    )


def set_quota(
    master: LeadingMaster,
    role: str,
    guarantee: Sequence[Resource],
    limits: Limits | None = None,
    options: QuotaOptions = QuotaOptions(),  # noqa: B008  # a named tuple, which cannot change
    agree: Callable[[str], None] = _refuse_losses,
) -> ChangedQuota:
    """Give a role without quota this guarantee, these limits, or both, and read them back: an update that only creates.

    Limits without a guarantee may replace a quota that this principal may not see. `agree` is given a sentence that
    says so, and returns only if the user agrees.  By default, this is a Conflict.

    Raises RuleViolation, which names an entry of the guarantee by its place, Conflict, NotConfirmed and what
    `client.Master` raises.
    """
    if not guarantee and not limits:
        check_guarantee(guarantee)
    desired = DesiredQuotaChange(guarantees_of(guarantee) if guarantee else None, limits)
    try:
        options = options._replace(create=True, only_new=True)
        plan = plan_update(master, [(role, desired)], options)
        losses = describe_losses(plan)
        if losses:
            agree(losses)
        (change,) = make_update(master, plan, options)
    except RuleViolation as error:
        for index, entry in enumerate(guarantee):
            if error.field == f"guarantees.{entry.name}":
                error.field = f"guarantee[{index}].name"
        raise
    return change


def set_if_different(
    master: LeadingMaster,
    role: str,
    guarantee: Sequence[Resource],
    limits: Limits | None,
    options: QuotaOptions,
    agree: Callable[[str], None] = _refuse_losses,
) -> ChangedQuota:
    """Give a role this guarantee, these limits, or both, whether it has quota or not; nothing is sent if it has these.

    The part that is not given stays as it is. `agree` is given a sentence about what an existing quota would lose, and
    returns only if the user agrees.  Raises what `set_quota` raises.
    """
    if not guarantee and not limits:
        check_guarantee(guarantee)
    desired = DesiredQuotaChange(guarantees_of(guarantee) if guarantee else None, limits)
    options = options._replace(create=True)
    plan = plan_update(master, [(role, desired)], options)
    (planned,) = plan
    if planned.before == planned.after:
        return ChangedQuota(role, planned.before, planned.after, limit_given=planned.limit_given, sent=False)
    losses = describe_losses(plan)
    if losses:
        agree(losses)
    (change,) = make_update(master, plan, options)
    return change


def remove_quotas(master: LeadingMaster, names: Sequence[str], *, wait: bool = True) -> list[ChangedQuota]:
    """Remove the quotas of roles, in order, and read each back; none unless every role has one.

    Raises NotFound naming all roles without quota.  If one of several fails, those before it stay removed, and a notice
    names them.
    """
    target = list(dict.fromkeys(names))
    for role in target:
        check_path(role)
    quotas = quotas_if_allowed(master)
    if quotas is not None:
        missing = [role for role in target if role not in quotas]
        if missing:
            raise no_quota(missing, quotas)
        check_tree({role: quota for role, quota in quotas.items() if role not in target})
    done: list[ChangedQuota] = []
    for role in target:
        try:
            confirmed = send_removal(master, role, seen=quotas is not None, wait=wait)
        except BaseException as stopped:
            if done:
                removed = ", ".join(change.role for change in done)
                if isinstance(stopped, KeyboardInterrupt):
                    stopped.add_note(f"removed {len(done)} of {len(target)}: {removed}")
                else:
                    master.notice(f"removed before that: {removed}")
            raise
        done.append(ChangedQuota(role, (quotas or {}).get(role), None, confirmed))
    return done


def update_quotas(
    master: LeadingMaster, desired: Sequence[tuple[str, DesiredQuotaChange]], options: QuotaOptions
) -> list[ChangedQuota]:
    """Change quotas: `plan_update`, and `make_update` of its plan, whatever is lost that was there to be seen.

    Raises Conflict if it may replace a quota that this principal may not see, and what they raise.
    """
    plan = plan_update(master, desired, options)
    losses = describe_losses([planned for planned in plan if planned.before is None])
    if losses:
        _refuse_losses(losses)
    return make_update(master, plan, options)


def plan_update(
    master: LeadingMaster, desired: Sequence[tuple[str, DesiredQuotaChange]], options: QuotaOptions
) -> list[PlannedQuota]:
    """Return the quotas of a master after an update, without changing anything.

    Raises RuleViolation, Conflict, NotFound and what reading raises.
    """
    try:
        check_update(desired)
    except RuleViolation as error:
        _join_names(error, master, desired, options)
        raise
    at_once = _is_at_once(master, options)
    if not at_once:
        _check_one_role(master, desired)
    _check_limits(master, desired)
    try:
        # UPDATE_QUOTA would replace a quota that is not seen; POST /quota replaces nothing.
        readable = read_quotas(master) if at_once and options.only_new else quotas_if_allowed(master)
    except Denied as error:
        error.hint = error.hint or "with --api v0, mesosctl sends POST /quota, which replaces nothing, without reading"
        raise
    if readable is None and not options.only_new:
        raise RuleViolation(
            "the quotas cannot be read, but an update must know what it replaces", field="role", rule="quota.readable"
        )
    stored = readable or {}
    facts = ReadFacts(master, capacity=options.capacity, read_quotas=lambda: readable)
    try:
        check_stored(
            desired,
            stored,
            create=options.create,
            only_new=options.only_new,
            missing_answer=200 if at_once else 400,  # UPDATE_QUOTA creates missing quotas
        )
    except (NotFound, RuleViolation) as error:
        _say_instead(error, desired, stored, master.profile, options)
        if error.rule != "quota.path":  # a command is suggested, which would be refused for them
            _check_names(master, desired, stored, options)
        raise
    with newer_version_named(master):
        plan = plan_quotas(desired, stored, facts, at_once=at_once)
    _check_names(master, desired, stored, options)
    if at_once and any(planned.before is None for planned in plan) and not sees_every_role(master):
        plan = _with_unseen(plan)
    if not at_once:
        for planned in plan:
            check_path(planned.role)
            if planned.after.limits and not planned.limit_given:
                master.notice(
                    f"POST /quota makes the limit of '{planned.role}' equal to its guarantee: "
                    f"{in_words(planned.after.limits)}; without --api v0, a limit is only what --limit names"
                )
    wishes = [Wish.of(planned.role, planned.after, by_request=not at_once) for planned in plan]
    for wish in wishes:
        with of_role(wish.role):
            refuse([CONSUMPTION], wish, facts, force=options.force)
    whole = replace(wishes[0], together={planned.role: planned.after for planned in plan})
    # Of UPDATE_QUOTA even this is a 400 (Mesos documentation, "Operator HTTP API", "UPDATE_QUOTA").
    with not_sent(UPDATE_QUOTA_OVER_CAPACITY if at_once else SET_QUOTA_OVER_CAPACITY):
        refuse([TREE, CAPACITY], whole, facts, force=options.force)
    return plan


def _check_one_role(master: LeadingMaster, desired: Sequence[tuple[str, DesiredQuotaChange]]) -> None:
    """Raise RuleViolation or UsageError for several roles, which only UPDATE_QUOTA changes at once."""
    if len(desired) == 1:
        return
    hint = "put one configuration in each file"
    if not master.profile.knows_update_quota:
        sentence = needs("an update of several roles", MESOS_1_9.version, master.profile)
        raise RuleViolation(sentence, field="--file", rule="quota.one-role", hint=hint)
    raise UsageError("with --api v0, quota update changes one role at a time", field="--file", hint=hint)


def _say_instead(
    error: MesosctlError,
    desired: Sequence[tuple[str, DesiredQuotaChange]],
    stored: Collection[str],
    profile: Profile,
    options: QuotaOptions,
) -> None:
    """Let an error about a quota that is there, or is not, name the command that makes the change."""
    if error.rule == "quota.already-set":
        role, quota = next(wish for wish in desired if wish[0] in stored)
        error.hint = instead_of_new(role, quota, options)
    elif error.rule == "quota.exists":
        instead = instead_of_update(desired, stored, profile, options)
        if instead is not None:
            error.hint = instead


def _check_names(
    master: LeadingMaster,
    desired: Sequence[tuple[str, DesiredQuotaChange]],
    stored: Mapping[str, Quota],
    options: QuotaOptions,
) -> None:
    """Raise RuleViolation for a resource that no agent has and the quota of its role has not had."""
    if not options.allow_new_resource:
        for role, quota in desired:
            with of_role(role):
                check_names(master, quota.fields, stored.get(role, Quota()).names)


def _join_names(
    error: RuleViolation,
    master: LeadingMaster,
    desired: Sequence[tuple[str, DesiredQuotaChange]],
    options: QuotaOptions,
) -> None:
    """Let an error about a role tell of names of resources that no agent has too, if the agents can be read."""
    if options.allow_new_resource:
        return
    for _, quota in desired:
        try:
            check_names(master, quota.fields)
        except MesosctlError as other:
            if isinstance(other, RuleViolation):
                error.join(other)


def _check_limits(master: LeadingMaster, desired: Sequence[tuple[str, DesiredQuotaChange]]) -> None:
    """Raise RuleViolation for limits on a master that has none, whatever the quotas there are."""
    if master.profile.knows_update_quota:
        return
    with newer_version_named(master):
        for role, quota in desired:
            with of_role(role):
                check_limits_fit_request(Quota(Quantities(), quota.limits or Limits()), master.profile)


def _is_at_once(master: LeadingMaster, options: QuotaOptions) -> bool:
    """Whether the change is one UPDATE_QUOTA, rather than requests for guarantees."""
    return options.api != "v0" and master.profile.knows_update_quota


def _with_unseen(plan: Sequence[PlannedQuota]) -> list[PlannedQuota]:
    """The plan for a principal from which the master may hide quotas.

    POST /quota refuses a role that has one, so it precedes the UPDATE_QUOTA of one role with a guarantee. Otherwise,
    UPDATE_QUOTA would replace a hidden quota, which is a loss.
    """
    if len(plan) == 1 and plan[0].after.guarantees:
        return [plan[0]._replace(request_first=True)]
    unseen = ["quota, if it has one that this principal may not see"]
    return [planned if planned.before else planned._replace(losses=unseen) for planned in plan]


def make_update(master: LeadingMaster, plan: Sequence[PlannedQuota], options: QuotaOptions) -> list[ChangedQuota]:
    """Make a planned update: in one call, or if a master is older, by requests for guarantees (one role only).

    Raises Conflict if it loses something and the quotas have changed since it was planned, NotConfirmed, and the errors
    of `client.Master`.
    """
    if any(planned.losses for planned in plan):
        now = read_quotas(master)  # the user may have taken a long time to answer
        if any(now.get(planned.role) != planned.before for planned in plan):
            raise Conflict(
                "the quota has changed since you were asked; nothing was done",
                field="role",
                rule="quota.unchanged",
                hint="run the same command again, and read the question",
            )
    if _is_at_once(master, options):
        first = plan[0].request_first
        confirmed = _create(master, plan[0], options) if first else _update_at_once(master, plan, options)
        return [
            ChangedQuota(planned.role, planned.before, planned.after, confirmed, planned.limit_given)
            for planned in plan
        ]
    (only,) = plan
    v1 = options.api == "v1"
    if only.before is None:
        confirmed = send_quota(master, only.role, only.after, force=options.force, v1=v1, wait=options.wait)
    else:
        from mesosctl.quota.replacement import replace_quota  # imported late: only old masters need it

        confirmed = replace_quota(
            master, only.role, only.before, only.after, force=options.force, v1=v1, wait=options.wait
        )
    return [ChangedQuota(only.role, only.before, only.after, confirmed, only.limit_given)]


def _create(master: LeadingMaster, planned: PlannedQuota, options: QuotaOptions) -> bool:
    """Send POST /quota (or SET_QUOTA), which replaces nothing, and then the limits; returns whether it was read back.

    If it stops in between, the role keeps the quota of the request, and a warning says which one that is.
    """
    by_request = quota_of_guarantee(planned.after.guarantees, master.profile)
    complete = by_request == planned.after
    try:
        confirmed = send_quota(
            master,
            planned.role,
            by_request,
            force=options.force,
            v1=options.api == "v1",
            wait=options.wait and complete,
        )
    except Rejected as error:
        error.hint = error.hint or f"role '{planned.role}' may have a quota that this principal may not see"
        raise
    if complete:
        return confirmed
    try:
        return _update_at_once(master, [planned], options)
    except BaseException as stopped:
        known = _after_request(master, planned, by_request)
        if isinstance(stopped, KeyboardInterrupt):
            stopped.__notes__ = [known]
        else:
            master.alarm(known)
        raise


def _after_request(master: LeadingMaster, planned: PlannedQuota, by_request: Quota) -> str:
    """Which quota a role has after its limits could not be set, as a sentence."""
    wanted = in_mesos_notation(planned.after.limits) or "none"
    remedy = f"finish with {command('quota update', planned.role, limit=wanted)}"
    try:
        master.deadline.extend_to(GRACE)
        shown = read_quotas(master).get(planned.role)
    except MesosctlError:
        shown = None
    if shown == planned.after:
        return f"role '{planned.role}' has the new quota"
    if shown is None:
        return (
            f"role '{planned.role}' was given the guarantee {in_words(by_request.guarantees)}, and its limit may still "
            f"be equal to that, which cannot be read back; as a principal that may see it, {remedy}"
        )
    return (
        f"role '{planned.role}' now has a guarantee of {in_words(shown.guarantees)} and a limit of "
        f"{in_words(shown.limits) if shown.limits else 'no resource'}; {remedy}"
    )


def _update_at_once(master: LeadingMaster, plan: Sequence[PlannedQuota], options: QuotaOptions) -> bool:
    """Send one UPDATE_QUOTA; returns whether all of it was read back."""
    target = {planned.role: planned.after for planned in plan}

    def is_shown() -> bool | None:
        shown = read_quotas(master)
        unseen = [planned for planned in plan if shown.get(planned.role) != planned.after]
        if not unseen:
            return True
        # All are set or none, so one that is not as desired decides for all.
        told = any(planned.before is not None or planned.role in shown for planned in unseen)
        return False if told or sees_every_role(master) else None

    return confirm(
        master,
        lambda: send_update(master, target, force=options.force),
        is_shown,
        what="the new quota of " + ", ".join(f"'{role}'" for role in target),
        wait=options.wait,
    )
