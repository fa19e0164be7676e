"""`mesosctl diff`, `plan` and `apply`: a cluster is compared with its desired state in a file, and brought in line."""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mesosctl import __version__
from mesosctl.apply.comparison import compare, make_plan, read_actual
from mesosctl.apply.documents import SavedPlan
from mesosctl.apply.journal import Journal, JournalEntry, JournalKey, digest, folder, step_to_json
from mesosctl.apply.plan import Step, quotas_given, roles_given
from mesosctl.apply.report import (
    PlanOrigin,
    losses_text,
    plan_report,
    saved_plan,
    saved_plan_report,
    unnamed_text,
    wanted_differences,
)
from mesosctl.apply.saved_plan import KIND, Premise, checksum
from mesosctl.apply.saved_plan_file import ReadyPlan, read_facts, read_saved_plan
from mesosctl.apply.work import check_same, prove, resume, run
from mesosctl.apply.work import prove as prove_reached
from mesosctl.cli.arguments import (
    AllowNewResource,
    FileWord,
    ForecastPage,
    TrustMaster,
    refuse_options,
    save_option,
    the_file,
)
from mesosctl.cli.command import ChangeCommand, Command, Group, examples
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.questions import ANY_OTHER_PLAN, OTHER_CONTENT, OTHER_PLAN, TAKES_AWAY
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.files.desired_state import dump, load
from mesosctl.files.text_file import TextFile
from mesosctl.files.writing import holds_another_text, write_atomically
from mesosctl.mesos.amounts.quantities import Limits, Quota
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.errors import BadInput, Conflict, UsageError
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.messages.strict.line_numbers import places_in_toml
from mesosctl.mesos.messages.strict.reading import is_like_snapshot
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.upgrade import loses_quota
from mesosctl.mesos.rules.version_profile import Profile
from mesosctl.quota.work import remove_quotas
from mesosctl.reading.notes import note_quotas, note_role
from mesosctl.reservations.arguments import send_options
from mesosctl.show.report import Report
from mesosctl.snapshot.command import confirm_replacing
from mesosctl.suggestion import command
from mesosctl.whatif.dry_run import DryRunSession, emit_with_page, no_limit_of, terms_of
from mesosctl.whatif.report import forecast_report
from mesosctl.whatif.work import attempt, check_upgrade, make_upgrade, start_dry_run_of_master

if TYPE_CHECKING:
    from fake_master import DryRun

app = typer.Typer(cls=Group, rich_markup_mode=None)

File = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="The desired state in TOML, as export writes it; - is standard input. With several contexts, {context} in "
        "its name stands for the name of each.",
    ),
]
Prune = Annotated[
    bool, typer.Option("--prune", help="Also remove what the file's sections do not name.", show_default=False)
]

AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Accept a file that names nothing.", show_default=False)
]

ComparedToo = Annotated[
    bool, typer.Option("--prune", help="Also show what the file's sections do not name.", show_default=False)
]


@app.command(
    "diff",
    cls=Command,
    epilog=examples(
        ("diff -f wanted.toml", "show the differences"),
        ("diff -f wanted.toml --prune", "also show what the file does not name"),
    ),
)
def diff(
    ctx: typer.Context,
    word: FileWord = None,
    *,
    option: File = None,
    prune: ComparedToo = False,
    allow_empty: AllowEmpty = False,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Show where quotas, weights and reservations differ from a file.

    Roles and reservations that the file does not name are ignored unless you give --prune. A quota to which
    the file gives no limit gets the one that quota set or quota update would give it without --limit; "none" means no
    limit. Nothing is changed. The exit status is 1 if there is a difference, or if the file names nothing and
    --allow-empty is not given. Notes say if the file names nothing, and how much exists that it does not name.
    """
    session: Session = ctx.obj
    file = session.read_for_context(the_file(word, option))
    written = TextFile(named(file), _read(session, file, may_be_empty=allow_empty), places_in_toml)
    wanted = _wanted(written.text, named(file))
    is_complete = allow_empty or _names_something(session, wanted, named(file), prune=prune)
    with session.open_master() as master:
        with written.refusals():
            everything = compare(master, wanted, prune=True, allow_new_resource=allow_new_resource)
        found = [difference for difference in everything if prune or difference.is_named]
        unnamed = [difference for difference in everything if not difference.is_named]
        shown_file = "FILE" if file == "-" else file
        session.emit(wanted_differences(found, shown_file, prune=prune, compares=is_complete))
        if unnamed and not prune:
            session.note(unnamed_text(unnamed))
        for role in dict.fromkeys(difference.role for difference in found if difference.is_named):
            note_role(session, master, role)
        note_quotas(session, master, {of.role: of.after for of in found if of.is_named and isinstance(of.after, Quota)})
    return ExitStatus.DONE if is_complete and not found else ExitStatus.ANSWER_IS_NO


def _names_something(session: Session, wanted: DesiredState, name: str, *, prune: bool) -> bool:
    """Whether a file has anything to compare; if not, a note says so, as it may have been emptied by mistake."""
    names = wanted.covers_something(prune=prune)
    if not names:
        session.note(f"{name} names no quota, weight or reservation; --allow-empty accepts that")
    return names


def _read(session: Session, file: str, *, may_be_empty: bool) -> str:
    """The text of the file with the desired state.  Raises BadInput."""
    missing = f"{command('export', f=file)} writes one"
    return read_text(file, "--file", session.environment.stdin, missing=missing, may_be_empty=may_be_empty)


def _wanted(text: str, where: str) -> DesiredState:
    """The desired state in the text of a file.  Raises BadInput."""
    try:
        return load(text, where)
    except BadInput as error:
        if is_like_snapshot(text):
            made = "mesosctl export --from SNAPSHOT -f FILE makes a file to apply"
            error.hint = f"it is a snapshot: give it with --from; {made}"
        raise


Save = Annotated[Path | None, save_option("Write the plan to this file, for apply --plan.")]
Upgrade = Annotated[
    str | None,
    typer.Option(
        "--upgrade",
        metavar="VERSION",
        help="Instead of FILE: set again, when a master of this release of Mesos leads, the guarantees that it does "
        "not read from the registry. Remove the quotas before it starts.",
    ),
]


@app.command(
    "plan",
    cls=Command,
    epilog=examples(
        ("plan -f wanted.toml", "show the steps, and what they would do"),
        ("plan -f wanted.toml --save plan.json", "also keep the plan, and show its checksum"),
        ("plan -f wanted.toml --save plan.json --report plan.html", "also write a page for a change ticket"),
        ("plan --upgrade 1.8 --save plan.json", "keep today's guarantees for an older release"),
    ),
)
def plan(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    word: FileWord = None,
    *,
    option: File = None,
    prune: Prune = False,
    save: Save = None,
    report: ForecastPage = None,
    upgrade: Upgrade = None,
    allow_empty: AllowEmpty = False,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Make a plan that brings quotas, weights and reservations in line with a file, and forecast it.

    Nothing is changed. --save keeps the plan in a file: its steps, its forecast and what it rests on. After somebody
    has approved it, apply --plan makes these steps and no others, and refuses if the cluster has moved since. The
    checksum identifies the plan in a change ticket.

    The exit status is 1 if a step would be refused or somebody would starve, or if the file names nothing and
    --allow-empty is not given. The plan is saved all the same.
    """
    session: Session = ctx.obj
    if save is not None:
        session.check_one_cluster("--save")
    if upgrade is not None:
        instead = {"FILE": word, "--file": option, "--prune": prune or None, "--allow-empty": allow_empty or None}
        refuse_options(instead, "cannot be used with --upgrade", "leave one of them out")
        _check_save(session, save, report)
        with session.open_master() as master:
            start = _after_upgrade(session, master, check_upgrade(upgrade), allow_new_resource=allow_new_resource)
        return _plan(session, start, save, report)
    file = session.read_for_context(the_file(word, option))
    text = _read(session, file, may_be_empty=allow_empty)
    wanted = _wanted(text, named(file))
    is_complete = allow_empty or _names_something(session, wanted, named(file), prune=prune)
    _check_save(session, save, report)
    source = _Source(file, text, wanted, prune, allow_new_resource)
    with session.open_master() as master:
        start = _now(session, master, source)
    status = _plan(session, start, save, report)
    return status if is_complete else ExitStatus.ANSWER_IS_NO


def _check_save(session: Session, save: Path | None, report: str | None) -> None:
    """Ask before a file with other content is replaced.  Raises UsageError for no, and for one file of both."""
    if save is None:
        return
    if report is not None and os.path.realpath(report) == os.path.realpath(save):
        raise UsageError("--save and --report name the same file", field="--report", hint="name another file")
    if holds_another_text(save, ""):
        confirm_replacing(session, save, OTHER_PLAN if _is_a_plan(save) else OTHER_CONTENT)


def _is_a_plan(file: Path) -> bool:
    """Whether a file looks like a saved plan, which a script may replace."""
    try:
        with file.open("rb") as opened:
            return f'"kind": "{KIND}"'.encode() in opened.read(200)
    except OSError:
        return False


class _Source(NamedTuple):
    """The file that a plan is made for, and how."""

    file: str
    """As it was typed; - is standard input."""
    text: str
    wanted: DesiredState
    prune: bool
    allow_new_resource: bool

    def planned(self, master: LeadingMaster) -> list[Step]:
        """The steps for a master.  Raises what `make_plan` raises, with lines of the file."""
        written = TextFile(named(self.file), self.text, places_in_toml)
        with written.refusals():
            return make_plan(master, self.wanted, prune=self.prune, allow_new_resource=self.allow_new_resource)


class _Start(NamedTuple):
    """The cluster that a plan begins with: as it is now, or as a master of another release takes it over."""

    source: _Source
    identity: str
    dry_run: "DryRun"
    steps: list[Step]
    rests_on: list[Premise]
    upgrade: Profile | None = None
    """The profile of that master."""


def _now(session: Session, master: LeadingMaster, source: _Source) -> _Start:
    steps = source.planned(master)
    note_quotas(session, master, quotas_given(steps))
    rests_on = read_facts(master, source.wanted, steps)
    dry_run = start_dry_run_of_master(master, terms_of(session), session.progress)
    return _Start(source, session.identity(master), dry_run, steps, rests_on)


def _after_upgrade(session: Session, master: LeadingMaster, profile: Profile, *, allow_new_resource: bool) -> _Start:
    """Remove the quotas that a master of the profile does not read, let it lead, and plan to set them again there."""
    lost = read_actual(master).quotas if loses_quota(master.profile, profile) else {}
    guarantees = {role: DesiredQuotaChange(quota.guarantees) for role, quota in lost.items() if quota.guarantees}
    for role, quota in lost.items():
        if quota.limits and quota.limits != Limits(quota.guarantees):
            session.note(f"the limit of {role} cannot be kept: Mesos {profile.version} limits a role to its guarantee")
    if not guarantees:
        session.note(f"Mesos {profile.version} keeps every guarantee, so there is nothing to set again")
    text = dump(DesiredState(guarantees, None, None))
    source = _Source("-", text, load(text, named("-")), prune=False, allow_new_resource=allow_new_resource)
    dry_run = start_dry_run_of_master(master, terms_of(session), session.progress)
    acting = DryRunSession(session, dry_run)
    if lost:
        with acting.open_master() as before:
            attempt(dry_run, lambda: remove_quotas(before, sorted(lost)), name="quotas removed")
    make_upgrade(dry_run, profile)
    with acting.open_master() as after:
        steps = source.planned(after)
        rests_on = read_facts(after, source.wanted, steps)
    return _Start(source, session.identity(master), dry_run, steps, rests_on, profile)


def _plan(session: Session, start: _Start, save: Path | None, page: str | None) -> ExitStatus:

    source, dry_run, steps = start.source, start.dry_run, start.steps
    acting = DryRunSession(session, dry_run)

    def tried() -> None:
        with acting.open_master() as trial:
            check_same(steps, source.planned(trial))
            _try(acting, trial, steps)

    try:
        attempt(dry_run, tried, name="plan")
    finally:
        acting.end_progress()
    session.environment.notes += acting.environment.take_notes()
    forecast = dry_run.forecast()
    origin = PlanOrigin(
        made_at=time.time(),
        made_by=__version__,
        master=start.identity,
        mesos_version=forecast.version,
        mesos_profile=forecast.mesos_profile,
        upgrade_to=None if start.upgrade is None else start.upgrade.name,
        file=source.file,
        wanted=source.text,
        prune=source.prune,
        allow_new_resource=source.allow_new_resource,
    )
    document = saved_plan(origin, [(step, step_to_json(step)) for step in steps], start.rests_on, forecast)
    document, text = _sealed(session, document)
    report = saved_plan_report(document, forecast_report(forecast, acting.reports))
    if save is not None:
        write_atomically(save, text, field="--save")
    emit_with_page(session, report, forecast, page, acting.reports, None, no_limit_of("apply"))
    if save is not None:
        session.note(f"the plan was written to {save}; its checksum is {document.checksum}")
    return ExitStatus.DONE if forecast.is_harmless else ExitStatus.ANSWER_IS_NO


def _try(session: Session, master: LeadingMaster, steps: list[Step]) -> None:
    """Make the steps in a dry run."""
    session.emit(plan_report(steps, 0, applied=False))
    unkept = Journal(folder({}), JournalKey("", "", ""), keeps=False)
    run(master, unkept, JournalEntry("", steps, 0), send_options(session, trust_master=True), session.progress)


def _sealed(session: Session, document: SavedPlan) -> tuple[SavedPlan, str]:
    """The plan with its checksum, and the text of its file, both without secrets."""
    plain = "".join(session.kept([json.dumps(document.model_dump(mode="json"))], "the plan"))
    content = json.loads(plain)
    content["checksum"] = checksum(content)
    return type(document).model_validate(content), json.dumps(content, indent=2) + "\n"


Restart = Annotated[
    bool, typer.Option("--restart", help="Discard an interrupted apply, and make a new plan.", show_default=False)
]


PlanFile = Annotated[
    str | None,
    typer.Option(
        "--plan", metavar="FILE", help="Apply the plan that plan --save wrote; - is standard input.", show_default=False
    ),
]
Checksum = Annotated[
    str | None,
    typer.Option(
        "--checksum", metavar="SUM", help="Refuse a plan with any other checksum than this.", show_default=False
    ),
]


@app.command(
    "apply",
    cls=ChangeCommand,
    epilog=examples(
        ("apply -f wanted.toml --dry-run", "show the steps in their order, and what they would do"),
        ("apply -f wanted.toml", "apply the file, after you have confirmed"),
        ("apply -f wanted.toml --prune --yes", "also remove what the file does not name"),
        ("apply --plan plan.json", "apply a plan that plan --save has kept, and no other"),
    ),
)
def apply(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    word: FileWord = None,
    *,
    option: File = None,
    prune: Prune = False,
    plan: PlanFile = None,
    checksum: Checksum = None,
    restart: Restart = False,
    trust_master: TrustMaster = False,
    allow_empty: AllowEmpty = False,
    allow_new_resource: AllowNewResource = False,
) -> ExitStatus:
    """Bring quotas, weights and reservations in line with a file, step by step.

    You see the plan first; its steps are in an order that the master accepts. If the cluster changes before you
    confirm, nothing is done. Each step is confirmed and recorded in a journal. If an apply is interrupted, the next
    apply of the same file continues where it stopped, unless the cluster has changed since. At the end, the cluster is
    compared with the file again.

    You are asked before it starts. A script must use --yes if the plan takes something away: if it removes or lowers
    a quota, lowers a weight (--prune sets it to 1), or unreserves. For a file that names nothing, the exit status is 1
    unless you give --allow-empty.

    With --plan, the steps are those that plan --save kept. If anything that the plan rests on has changed since, the
    exit status is 6, and nothing is done. A file that was edited is refused.
    """
    session: Session = ctx.obj
    if plan is not None:
        session.check_one_cluster("--plan")
        if restart:
            raise UsageError(
                "--restart makes a new plan, but --plan is one",
                field="--restart",
                hint=f"make another with {command('plan', f='FILE', save='PLAN')}",
            )
        given = {"FILE": word, "--file": option, "--prune": prune}
        given |= {"--allow-empty": allow_empty, "--allow-new-resource": allow_new_resource}
        for name, value in given.items():
            if value:
                raise UsageError(
                    f"{name} has no effect with --plan: it was decided when the plan was made",
                    field=name,
                    hint=f"leave it out, or make another with {command('plan', f='FILE', save='PLAN')}",
                )
        _apply_plan(session, plan, _checksum(checksum), trusts=trust_master)
        return ExitStatus.DONE
    if checksum is not None:
        raise UsageError("--checksum needs --plan", field="--checksum", hint="give both")

    file = session.read_for_context(the_file(word, option))
    text = _read(session, file, may_be_empty=allow_empty)
    wanted, written = _wanted(text, named(file)), TextFile(named(file), text, places_in_toml)
    is_complete = allow_empty or _names_something(session, wanted, named(file), prune=prune)

    def planned(master: LeadingMaster) -> list[Step]:
        with written.refusals():
            return make_plan(master, wanted, prune=prune, allow_new_resource=allow_new_resource)

    key = digest(text, prune=prune)
    work = Work(
        verb="apply",
        text=text,
        file=_full_name(file),
        digest=key,
        planned=planned,
        resumed=partial(resume, digest=key),
        prove=partial(prove_reached, desired=wanted, prune=prune),
        report=partial(plan_report, compares=is_complete),
        hint=f"compare with {command('diff', f=file)}, or start over: {command('apply', f=file, restart=True)}",
    )
    with session.open_master() as master:
        carry_out(session, master, work, restart=restart, trusts=trust_master)
    return ExitStatus.DONE if is_complete else ExitStatus.ANSWER_IS_NO


def _full_name(file: str) -> str:
    """A file by the name that it has from every folder; - is standard input."""
    return file if file == "-" else os.path.realpath(file)


def _checksum(word: str | None) -> str | None:
    """A checksum as plans have it, from one that may lack `sha256:`.  Raises UsageError."""
    if word is None:
        return None
    digits = word.strip().lower().removeprefix("sha256:")
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise UsageError(
            f"'{word}' is not a checksum",
            field="--checksum",
            hint="write the 64 digits that plan --save has shown, with or without sha256: before them",
        )
    return f"sha256:{digits}"


def _apply_plan(session: Session, file: str, expected: str | None, *, trusts: bool) -> None:

    missing = f"{command('plan', f='FILE', save=file)} makes one"
    saved = read_saved_plan(read_text(file, "--plan", session.environment.stdin, missing=missing), named(file))
    if expected is not None and expected != saved.checksum:
        raise BadInput(
            f"{named(file)} is another plan: its checksum is {saved.checksum}",
            field="--checksum",
            rule="plan.checksum",
            hint="apply the file that was approved",
        )
    ready = ReadyPlan(saved)
    work = Work(
        verb="apply",
        text=saved.checksum,
        file=_full_name(file),
        digest=saved.checksum,
        planned=ready.steps,
        resumed=ready.begun,
        prove=partial(prove, desired=ready.desired, prune=saved.prune),
        report=partial(plan_report, checksum=saved.checksum),
        hint=f"make a new plan: {command('plan', f='FILE' if saved.file == '-' else saved.file, save=file)}",
    )
    if session.options.dry_run:
        session.note(f"checksum of the plan: {saved.checksum}")  # a forecast shows the steps alone
    with session.open_master() as master:
        ready.check_master(session.identity(master))
        ready.check_release(master.profile)
        carry_out(session, master, work, trusts=trusts)


class Work(NamedTuple):
    """The steps that are applied, and the functions that find and check them."""

    verb: str
    """The command in sentences: apply or cleanup."""
    text: str
    """The input that the steps are made for, by which a journal is found again."""
    file: str
    """The name of that input in sentences."""
    digest: str
    """Of the input and the options with which the steps are made."""
    planned: Callable[[LeadingMaster], list[Step]]
    resumed: Callable[[LeadingMaster, Journal], JournalEntry | None]
    prove: Callable[[LeadingMaster], None]
    report: Callable[..., Report]
    """Called like `plan_report`."""
    hint: str
    """The hint if the cluster has changed since the plan was made, or if the journal cannot be read."""


def carry_out(session: Session, master: LeadingMaster, work: Work, *, trusts: bool, restart: bool = False) -> None:
    """Show the plan, ask, make its steps by their journal, and show that they are made.  Raises MesosctlError.

    With `restart`, the steps that an interrupted command has left are replaced by those of a new plan, once it begins.
    """
    about = JournalKey.of(session.identity(master), work.text, work.file)
    where, keeps = folder(session.environment.variables), not session.options.dry_run
    try:
        with Journal(where, about, verb=work.verb, hint=work.hint, keeps=keeps) as journal:
            _carry_out(session, master, journal, work, restart=restart, trusts=trusts)
    except Conflict as error:
        if error.rule == "apply.unchanged" and error.hint is None:
            error.hint = work.hint
        raise


def _carry_out(
    session: Session, master: LeadingMaster, journal: Journal, work: Work, *, restart: bool, trusts: bool
) -> None:

    left = None if restart else work.resumed(master, journal)
    entry = left or JournalEntry(work.digest, work.planned(master), 0)
    remaining = entry.steps[entry.done :]
    for role in roles_given(remaining):
        note_role(session, master, role)
    note_quotas(session, master, quotas_given(remaining))
    shown = work.report(entry.steps, entry.done, applied=False)
    if session.options.dry_run or not entry.steps:
        session.emit(shown)
        if not entry.steps:
            journal.end()  # of an older version of the file
        elif remaining:
            run(master, journal, entry, send_options(session, trust_master=trusts), session.progress)
        return
    if not session.options.yes:
        session.show(shown)
    if remaining:
        _ask(session, remaining)
    master.deadline.extend_to(master.settings.timeout)
    if left is None:
        check_same(entry.steps, work.planned(master))
    # Read back in any case: a step that may not have happened must not be followed by the next.
    how = replace(send_options(session, trust_master=trusts), wait=True)
    run(master, journal, entry, how, session.progress)
    master.deadline.extend_to(master.settings.timeout)
    work.prove(master)
    session.end_progress()
    session.emit(work.report(entry.steps, len(entry.steps), applied=True))


def _ask(session: Session, steps: Sequence[Step]) -> None:
    """Ask before the steps are made.  Raises UsageError."""
    question = f"Apply {len(steps)} step{'s' * (len(steps) != 1)}"
    losses = losses_text(steps)
    session.confirm(f"{question}{losses}?", case=TAKES_AWAY if losses else ANY_OTHER_PLAN)
