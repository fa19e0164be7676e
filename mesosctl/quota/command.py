"""`mesosctl quota`: its verbs."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    AllowNewResource,
    Every,
    Limit,
    OptionalAmounts,
    OptionalRole,
    PayloadFile,
    Role,
    RoleAndBelow,
    ask_about_words_after_limit,
    names_argument,
    nothing_found,
    parse_limit,
    parse_quota,
    parse_words,
    read_payload,
    refusals_of,
)
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.questions import LEFT_OUT
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response import GIVE_CREDENTIALS
from mesosctl.mesos.amounts.amount_text import in_mesos_notation, in_words
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.exit_status import ExitStatus, status_of
from mesosctl.mesos.messages.quota.calls import read_quota_request, read_update_quota
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange, describe_losses, guarantees_of
from mesosctl.mesos.rules.quota.rules import check_guarantee, quota_of_guarantee
from mesosctl.quota.check import check_quota, quota_room, room_for_tasks
from mesosctl.quota.report import quota_changes, quota_check, quota_list, quota_show
from mesosctl.quota.report import quota_room as report_of
from mesosctl.quota.shares import TypedAmounts
from mesosctl.quota.suggested import instead_of_signs
from mesosctl.quota.work import make_update, plan_update, remove_quotas, set_if_different, set_quota
from mesosctl.reading.list_options import Count, Watch, show_list, sort_option
from mesosctl.reading.notes import note_quotas, note_role, note_role_at_limit, note_unmet_wish, sums_for_signs
from mesosctl.reading.quotas import QUOTA_KEYS, QuotaOptions, list_quotas, read_capacity, read_quotas, show_quota
from mesosctl.reading.selection import Selection
from mesosctl.show.output_formats import NARROW
from mesosctl.show.report import Report
from mesosctl.suggestion import command

app = typer.Typer(cls=Group, rich_markup_mode=None)

Force = Annotated[
    bool, typer.Option("--force", help="Skip the checks of capacity and of what the role uses.", show_default=False)
]


def _options(session: Session, *, force: bool, allow_new_resource: bool, create: bool = False) -> QuotaOptions:
    return QuotaOptions(
        force,
        session.options.api or "auto",
        session.waits,
        allow_new_resource,
        create=create,
        dry_run=bool(session.options.dry_run),
    )


def _amounts(session: Session, typed: TypedAmounts) -> TypedAmounts:
    """The amounts that are typed, with shares of the cluster's capacity resolved, which a note tells."""
    if not typed.have_shares:
        return typed
    with session.open_master() as master:
        capacity = read_capacity(master)
    for sentence in typed.sentences(capacity):
        session.note(sentence)
    return typed.of(capacity)


def _parse(
    session: Session, role: str, typed: TypedAmounts, options: QuotaOptions
) -> tuple[list[Resource] | None, Limits | None]:
    """The entries of a guarantee and the limits, each None if it is not given.

    Raises RuleViolation; for amounts such as `cpus:+2`, its hint is the command that sets the sum.
    """

    def in_sum(master: LeadingMaster) -> str | None:
        stored = read_quotas(master).get(role)
        return instead_of_signs(role, typed.resources or (), typed.limit, stored, master.profile, options)

    with sums_for_signs(session, in_sum):
        return parse_quota(role, typed.resources, typed.limit)


def check_role_of_file(argument: str | None, in_file: Sequence[str]) -> None:
    """A ROLE may repeat the role of a payload file, but not contradict it.  Raises UsageError."""
    if argument is not None and any(role not in ("", argument) for role in in_file):
        raise UsageError(
            f"ROLE '{argument}' contradicts '{', '.join(in_file)}' in the file", field="role", hint="leave ROLE out"
        )


ListedRoles = Annotated[
    list[str] | None, names_argument("ROLE", completing.roles, "Show only these roles. The default is all roles.")
]
SortQuotas = Annotated[str | None, sort_option(QUOTA_KEYS)]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("quota list", "every role with quota"),
        ("quota list dev ops", "two of them"),
        ("quota list --sort cpus", "the largest guarantee first"),
        ("quota list -o json", "the same as JSON"),
        (
            "quota list -o wide --master http://host1:5050,http://host2:5050",
            "with what roles use, from the leader of two masters",
        ),
    ),
)
def list_(
    ctx: typer.Context,
    roles: ListedRoles = None,
    *,
    role: RoleAndBelow = None,
    sort: SortQuotas = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """Show every role with quota, or only the roles that you name.

    On a terminal, it also shows what each role uses, and which roles are below their guarantee. In a pipe, -o wide,
    json, jsonl, yaml and csv also show what each role uses. The amounts by which --sort sorts are guarantees.
    """
    session: Session = ctx.obj
    wanted = Selection(roles or (), role, (), sort)
    shows_all = session.environment.draws or session.options.columns is not None
    with_usage = session.form not in NARROW or (session.form == "table" and shows_all)

    def read(master: LeadingMaster) -> Report:
        found = list_quotas(master, wanted, with_usage=with_usage)
        return quota_list(found, empty=nothing_found("no quota is set", {"--role": role}), sort=sort)

    show_list(session, read, watch=watch, every=every, count=count)


@app.command(
    "show",
    cls=Command,
    epilog=examples(
        ("quota show dev", "one role"),
        ("quota show dev -o json", "the same as JSON"),
    ),
)
def show(ctx: typer.Context, role: Role) -> None:
    """Show the quota of one role and what it uses."""
    session: Session = ctx.obj
    with session.open_master() as master:
        session.emit(quota_show(show_quota(master, role)))


IfDifferent = Annotated[
    bool,
    typer.Option(
        "--if-different", help="Also change a quota that differs; do nothing if it is this one.", show_default=False
    ),
]


@app.command(
    "set",
    cls=ChangeCommand,
    epilog=examples(
        ("quota set dev cpus:12 mem:6GiB", "guarantee 12 cpus and 6 GiB"),
        ("quota set dev 'cpus:12;mem:6144' --force", "even if the cluster has less than that now"),
        ("quota set dev cpus:12 --limit 'cpus:16;mem:8GiB'", "with limits"),
        ("quota set dev cpus:25% mem:25%", "a quarter of what the agents have now"),
        ("quota set ops --limit cpus:4", "a limit without a guarantee"),
        ("quota set -f quota.json", "from the JSON of POST /quota"),
        ("quota set dev cpus:12 mem:6GiB --if-different", "in a script that may run again"),
    ),
)
def set_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    limit: Limit = None,
    force: Force = False,
    file: PayloadFile = None,
    *,
    if_different: IfDifferent = False,
    allow_new_resource: AllowNewResource = False,
) -> None:
    """Set the quota of a role that has none: a guarantee, a limit, or both.

    RESOURCES are guaranteed, and --limit caps what the role may use; what you do not name is neither guaranteed nor
    limited. cpus:25% is that share of the cpus that the agents have; it is resolved before it is sent, and a note tells
    the amount. With -f, the documented JSON of POST /quota or SET_QUOTA, including the role, is guaranteed as RESOURCES
    are, without a limit; give limits with --limit, because that JSON cannot express them.

    Mesos 1.9 and later receive UPDATE_QUOTA. With --api v0, mesosctl sends POST /quota itself; such a master then makes
    the limit equal to the guarantee, and a note says so. Mesos 1.4 to 1.8 know no limits, but cap a role at its
    guarantee; a note says that, too.

    If an ACL may hide quotas from you, POST /quota is sent before UPDATE_QUOTA, because it replaces no quota. It needs
    RESOURCES; without them you are asked first, and a script uses --yes.

    With --if-different, the command can be run again, for example after exit status 9: nothing is sent if the role has
    this quota, and another quota is changed as quota update changes it.
    """
    session: Session = ctx.obj
    written = None
    options = _options(session, force=force, allow_new_resource=allow_new_resource)
    if file is not None:
        if resources:
            raise UsageError("RESOURCES and --file cannot be used together", field="--file", hint="give one of them")

        written = read_payload(session, file)
        with written.refusals():
            request = read_quota_request(written.text, named(file), needs_role=role is None)
            guarantee, options = request.to_model(), options._replace(force=force or request.force)
        limits = parse_limit(limit)
        check_role_of_file(role, [request.role])
        role = request.role or role or ""
    elif role is None or not (resources or limit is not None):
        raise UsageError(
            "give a role and RESOURCES or --limit",
            hint=f"for example, {command('quota set', 'dev', 'cpus:12', 'mem:6GiB')}",
        )
    else:
        entries, limits = _parse(session, role, _amounts(session, TypedAmounts(resources, limit)), options)
        guarantee = entries or []
    refusals = written.refusals(role) if written else refusals_of(resources or ())
    ask_about_words_after_limit(session, resources, limits)
    with session.open_master() as master, refusals:

        def agree(losses: str) -> None:
            session.confirm("Set it anyway?", losses, "name a guarantee too, or use --yes in a script", case=LEFT_OUT)
            master.deadline.extend_to(master.settings.timeout)

        make = set_if_different if if_different else set_quota
        change = make(master, role, guarantee, limits, options, agree)
        session.emit(quota_changes([change]))
        if written is not None and limits is None and change.after is not None:
            _note_limit_of_request(session, master, role, change.after)
        note_role(session, master, role)
        note_quotas(session, master, {role: change.after})
        note_role_at_limit(session, master, role, change.after.limits if change.after else None)


def _note_limit_of_request(session: Session, master: LeadingMaster, role: str, quota: Quota) -> None:
    """Tell the operator of a file if the request that it is for would limit the role too, as it does from 1.9 on."""
    by_request = quota_of_guarantee(quota.guarantees, master.profile)
    if by_request != quota:
        limit = in_mesos_notation(by_request.limits)
        session.note(
            f"'{role}' has no limit; POST /quota with this file would limit it to {in_words(by_request.limits)}, as "
            f"{command('quota update', role, limit=limit)} does"
        )


Create = Annotated[bool, typer.Option("--create", help="Also set quota for a role that has none.", show_default=False)]


@app.command(
    "update",
    cls=ChangeCommand,
    epilog=examples(
        ("quota update dev cpus:8 mem:4GiB", "change the guarantee"),
        ("quota update dev mem:4GiB --yes", "drop the guarantee of cpus without being asked"),
        ("quota update dev --limit cpus:16", "change the limit only"),
        ("quota update dev cpus:8 --limit none", "change the guarantee, and remove the limit"),
        ("quota update dev none --limit cpus:8", "remove the guarantee, and change the limit"),
        ("quota update -f - < quota.json", "from the JSON of UPDATE_QUOTA"),
    ),
)
def update(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    role: OptionalRole = None,
    resources: OptionalAmounts = None,
    limit: Limit = None,
    force: Force = False,
    create: Create = False,
    file: PayloadFile = None,
    *,
    allow_new_resource: AllowNewResource = False,
) -> None:
    """Change the quota of a role, or only its limits.

    RESOURCES replace the whole guarantee, and --limit replaces all limits; the word none removes them. If you leave out
    RESOURCES or --limit, that part stays as it is. If you leave out one resource of several, its amount is lost, so you
    are asked first; a script uses --yes. You are not asked when you name a smaller amount. cpus:25% is a share of what
    the agents have, as in quota set.

    Mesos 1.9 and later change it in one step. On an older master, or with --api v0, the quota is removed and set again;
    if that fails, the old quota is restored.  With -f, the change is the documented JSON of UPDATE_QUOTA, or one of its
    configurations; "guarantees" and "limits" that it leaves out stay as they are, and {} means none.
    """
    session: Session = ctx.obj
    written = None
    options = _options(session, force=force, allow_new_resource=allow_new_resource, create=create)
    if file is not None:
        if resources or limit is not None:
            raise UsageError(
                "RESOURCES and --limit cannot be used together with --file", field="--file", hint="give one of them"
            )

        written = read_payload(session, file)
        with written.refusals():
            request = read_update_quota(written.text, named(file))
            desired = [(config.role, config.to_model()) for config in request.quota_configs]
        check_role_of_file(role, [name for name, _ in desired])
        options = options._replace(force=force or request.force)
    elif role is None or not (resources or limit is not None):
        raise UsageError(
            "give a role and RESOURCES or --limit",
            hint=f"for example, {command('quota update', 'dev', 'cpus:8')}",
        )
    else:
        amounts = _amounts(session, TypedAmounts(resources, limit))
        with refusals_of(resources or ()):
            entries, limits = _parse(session, role, amounts, options)
            guarantee = None if entries is None else guarantees_of(entries) if entries else Quantities()
        ask_about_words_after_limit(session, resources, limits)
        desired = [(role, DesiredQuotaChange(guarantee, limits))]
    refusals = written.refusals(*(name for name, _ in desired)) if written else nullcontext()
    with session.open_master() as master, refusals:
        plan = plan_update(master, desired, options)
        losses = describe_losses(plan)
        if losses:
            session.confirm(
                "Update it anyway?", losses, "name that resource too, or use --yes in a script", case=LEFT_OUT
            )
            master.deadline.extend_to(master.settings.timeout)
        session.emit(quota_changes(make_update(master, plan, options)))
        note_quotas(session, master, {planned.role: planned.after for planned in plan if not planned.keeps_guarantee})
        for planned in plan:
            note_role_at_limit(session, master, planned.role, planned.after.limits)


Roles = Annotated[
    list[str],
    typer.Argument(
        metavar="ROLE...", autocompletion=completing.roles, help="Roles that have quota.", show_default=False
    ),
]


@app.command(
    "remove",
    cls=ChangeCommand,
    epilog=examples(
        ("quota remove dev", "remove the quota of one role"),
        ("quota remove dev ops --yes", "remove two without being asked"),
    ),
)
def remove(ctx: typer.Context, roles: Roles) -> None:
    """Remove the quota of roles.

    If one of them has no quota, none is removed. On a terminal you are asked before several are removed.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        if len(set(roles)) > 1:
            session.confirm(f"Remove the quota of {', '.join(roles)}?")
        session.emit(quota_changes(remove_quotas(master, roles, wait=session.waits)))


@app.command(
    "check",
    cls=Command,
    epilog=examples(
        ("quota check dev cpus:12 mem:6GiB", "would it be accepted?"),
        ("quota check ops --limit cpus:4", "a limit without a guarantee"),
        ("quota check dev cpus:12 && mesosctl quota set dev cpus:12", "set it only if it would be accepted"),
    ),
)
def check(
    ctx: typer.Context,
    role: Role,
    resources: OptionalAmounts = None,
    limit: Limit = None,
    *,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Check a quota, and show how much room there is.

    Nothing is changed. The exit status is 0 only if it would be accepted: it is 1 if a rule is broken, and also if
    something that you may not see could refuse it, which the answer PERHAPS says.
    """
    session: Session = ctx.obj
    if not (resources or limit is not None):
        such = command("quota check", "dev", "cpus:12", "mem:6GiB")
        raise UsageError("give RESOURCES or --limit", hint=f"for example, {such}")
    amounts = _amounts(session, TypedAmounts(resources, limit))
    entries, limits = _parse(session, role, amounts, QuotaOptions(dry_run=True))
    guarantee = entries or []
    with session.open_master() as master:
        by_request = session.options.api == "v0"
        found = check_quota(
            master, role, guarantee, limits, allow_new_resource=allow_new_resource, by_request=by_request
        )
        session.emit(quota_check(found))
        if found.has_quota:
            change = command("quota update", role, *(resources or ["none"]), limit=limit, dry_run=True)
            session.note(f"{change} checks a change of the quota that it has")
        if not found.has_quota:
            note_role(session, master, role)
            if found.passed:
                note_quotas(session, master, {role: Quota(found.requested, found.limits)})
            note_role_at_limit(session, master, role, found.limits, would=True)
        if found.answer == "unknown":
            session.note(_how_to_know(session))
        if found.passed and found.requested:
            tried = command("quota set", role, *(resources or ()), limit=limit, dry_run=True)
            note_unmet_wish(session, master, role, Quota(found.requested), tried)
    return status_of(found.answer)


def _how_to_know(session: Session) -> str:
    """The note that says how to turn an unknown answer into a known one."""
    if session.credentials() is None:
        return f"the master may show more to a principal: {GIVE_CREDENTIALS}"
    return "the master may show more to another principal, and only it knows whether it would accept the quota"


Task = Annotated[
    str | None,
    typer.Option(
        "--task", metavar="RESOURCES", help="The resources of one task, such as cpus:2,mem:8GiB.", show_default=False
    ),
    Meaning.AMOUNTS,
]


def _parse_task(word: str) -> Quantities:
    """The amounts of one task, which commas or semicolons separate.

    Raises RuleViolation, and UsageError if there are none above zero.
    """
    entries = parse_words([word.replace(",", ";")])
    task = Resources(entries).quantities()
    if not task or len(task) < len(entries):
        sentence = "a task needs resources, each once and above zero"
        raise UsageError(sentence, field="--task", hint="for example, --task cpus:2,mem:8GiB")
    check_guarantee(entries, field="task")
    return task


@app.command(
    "room",
    cls=Command,
    epilog=examples(
        ("quota room", "the largest quota that a new role could have"),
        ("quota room dev", "the largest quota that could replace that of dev"),
        ("quota room -o name", "the amounts, to use with quota set"),
        ("quota room dev --task cpus:2,mem:8GiB", "how many such tasks the guarantee of dev holds today"),
    ),
)
def room(ctx: typer.Context, role: OptionalRole = None, task: Task = None) -> None:
    """Show how large a quota can be.

    This is the largest guarantee that quota check would accept: what the agents have, minus the guarantees of other
    roles, and no more than the limit of the role. Nothing is changed. -o name writes it as amounts for quota set.

    With --task, it also shows how many more such tasks the guarantee of the role holds today, and on how many agents;
    for a role without quota, it takes the largest quota that the role could have. Each task fits on one agent, beside
    the tasks that run there, and takes what is reserved for the role first. Offers do not count, because a framework
    may decline them.
    """
    session: Session = ctx.obj
    size = None if task is None else _parse_task(task)
    with session.open_master() as master:
        found = quota_room(master, role)
        session.emit(report_of(found, None if size is None else room_for_tasks(master, found, size)))
