"""`mesosctl whatif`."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mesosctl.cli.arguments import AllowNewResource, ForecastPage, refuse_option, refuse_options
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named, opened
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.report_origin import origin
from mesosctl.cli.session import Session
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.door.upgrade import SentRequest
from mesosctl.mesos.errors import BadInput, UsageError
from mesosctl.mesos.exit_status import ExitStatus, status_of
from mesosctl.suggestion import command
from mesosctl.whatif.added_frameworks import OPTION, parse_added_framework
from mesosctl.whatif.change_options import (
    Added,
    Attribute,
    Count,
    Force,
    Fraction,
    Lost,
    Several,
    added_framework_option,
    changes_of,
    each_option,
    find_largest_option,
    read_changes,
    read_several,
    wait_limit_option,
)
from mesosctl.whatif.changes import Change, LoseAgents, example, parse_change
from mesosctl.whatif.completion import changes as changes_offered
from mesosctl.whatif.dry_run import DryRunSession, begin_dry_run, emit_answer, emit_with_page, tell, terms_of
from mesosctl.whatif.forecast_variants import forecast_variants, search_range
from mesosctl.whatif.loss_runs import forecast_losses
from mesosctl.whatif.losses_report import losses_report
from mesosctl.whatif.played_demand import ReplayOptions, add_to_snapshot
from mesosctl.whatif.played_demand_answer import read_options, tell_answer
from mesosctl.whatif.played_demand_report import replay_report
from mesosctl.whatif.rate_limits import read_for_changes
from mesosctl.whatif.upgrade import read_requests
from mesosctl.whatif.variants_report import alternatives_report, largest_report
from mesosctl.whatif.work import ChangeRunner
from mesosctl.whatif.work import upgrade as upgrade_master

if TYPE_CHECKING:
    from fake_master import DryRun

app = typer.Typer(cls=Group, rich_markup_mode=None)

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CHANGES...]",
        autocompletion=changes_offered,
        help="'quota:ROLE=cpus:12;mem:6GiB', limit:ROLE=cpus:16 (or none), remove-quota:ROLE, weight:ROLE=2, "
        "'reserve:AGENT=cpus(ROLE):2' (refined: cpus(ads>ads/video):2), 'unreserve:AGENT=cpus(ROLE):2', "
        "'create:AGENT=ID:disk(ROLE):1GiB', destroy:AGENT=ID, failover:80% (the share of agents that are back), "
        "priority:ROLE=10, preemption:on or off, lending:on or off, ratelimits:FILE (with --recorded). They are made "
        "in the order in which you give them.",
        show_default=False,
    ),
    Meaning.AMOUNTS,
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Start from a snapshot or a cluster file instead of a live master; - is standard input.",
    ),
]
FileVersion = Annotated[
    str | None,
    typer.Option(
        "--mesos-version",
        metavar="VERSION",
        help="Whose rules a file of --from is played by: documents, or a release of Mesos. The default is its own.",
    ),
]
Upgrade = Annotated[
    str | None,
    typer.Option(
        "--upgrade",
        metavar="VERSION",
        help="A master of this release of Mesos leads, or of an older one; the other changes are made there. What is "
        "different for this cluster is told.",
    ),
]
Requests = Annotated[
    Path | None,
    typer.Option(
        "--requests",
        metavar="FILE",
        help="With --upgrade, try the requests of this file on both masters: METHOD PATH [BODY] on each line, or an "
        "access log, or the log of a Mesos master.",
    ),
]
Gone = Annotated[
    list[str] | None,
    typer.Option(
        "--lose-framework",
        metavar="FRAMEWORK",
        autocompletion=completing.frameworks,
        help="Remove this framework. Repeat for several.",
    ),
]
Cycles = Annotated[
    int,
    typer.Option(
        "--cycles",
        metavar="N",
        min=1,
        max=10_000,
        help="The number of allocations before the change; after it, there are at least as many.",
    ),
]
Assume = Annotated[
    Literal["hold", "accept"],
    typer.Option("--assume", help="What frameworks do with offers: hold them, or run tasks on all of their resources."),
]
Recorded = Annotated[
    Path | None,
    typer.Option(
        "--recorded", metavar="FILE", help="The traffic for ratelimits:FILE, as recorded by ratelimit watch -o jsonl."
    ),
]
Before = Annotated[
    str | None,
    typer.Option(
        "--before",
        metavar="FILE",
        help="The present rate limits, to compare with ratelimits:FILE. By default, they are those of the master or "
        "the cluster file; a snapshot has none.",
    ),
]
WaitLimit = Annotated[str | None, wait_limit_option(", with --add-framework")]
Refuse = Annotated[str | None, refuse_option(", with --add-framework")]
AddedFrameworks = Annotated[list[str] | None, added_framework_option("from now on"), Meaning.AMOUNTS]
Each = Annotated[
    list[str] | None,
    each_option("Forecast each of the changes that the braces list, from one reading of the cluster"),
    Meaning.AMOUNTS,
]
LoseEach = Annotated[
    list[str] | None,
    typer.Option(
        "--lose-each",
        metavar="NAME",
        help="Rank losses, the worst first: that of every single agent (agent), or that of the agents with each value "
        "of an attribute, such as rack. Repeat for several.",
    ),
]
Largest = Annotated[str | None, find_largest_option("starves nobody"), Meaning.AMOUNTS]

OF_RECORDINGS = ("--replay", "--history")
"""Options for a recording, which is an argument of `replay`."""
OF_REPLAY = (
    *OF_RECORDINGS, "--wait", "--since", "--until", "--cluster-id", "--uncalibrated",
)  # fmt: skip
"""Options that belong to `replay`, where somebody may look for them here."""


class _Whatif(Command):
    """The command, which names `replay` for the options of recordings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words.  Raises UsageError."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            option = getattr(error, "option_name", None)
            if ctx.resilient_parsing or option not in OF_REPLAY:
                raise
            sentence = f"whatif has no {option}: it forecasts the cluster as it is, and replay plays a recording"
            hint = f"use {self._as_replay(ctx, ctx.obj.words[: -len(args) - 1], args)}"
            raise UsageError(sentence, field=option, hint=hint) from None

    def _as_replay(self, ctx: Any, before: Sequence[str], after: Sequence[str]) -> str:
        """The command `replay` with the words before and after `whatif`, but for options that mean nothing to it."""
        replay = ctx.parent.command.get_command(ctx.parent, "replay")
        mine, theirs = ({name for parameter in command.params for name in parameter.opts} for command in (self, replay))
        left_out = {"--master", *mine - theirs}  # each takes a value
        recording = "RECORDING"
        kept: list[list[str]] = [[], []]
        for place, words in enumerate((before, after)):
            left = iter(words)
            for word in left:
                name, equals, value = word.partition("=")
                if name not in OF_RECORDINGS and name not in left_out:
                    kept[place].append(word)
                    continue
                value = value if equals else next(left, "")
                if name in OF_RECORDINGS:
                    recording = value or recording
        return shlex.join(["mesosctl", *kept[0], "replay", recording, *kept[1]])


@app.command(
    "whatif",
    cls=_Whatif,
    epilog=examples(
        ("whatif 'quota:web=cpus:12;mem:6GiB' remove-quota:ads", "two changes of quota, one after the other"),
        ("whatif --lose-fraction 0.2 --report outage.html", "the loss of a fifth of the agents, with a page"),
        ("whatif --upgrade 1.11", "who would gain and lose under another release, and what would be different"),
        ("whatif --lose-each agent --lose-each rack", "which loss of an agent or a rack would starve whom"),
        ("whatif --find-largest 'quota:web=cpus:?;mem:6GiB'", "the largest quota that starves nobody"),
        ("whatif ratelimits:new.json --recorded watch.jsonl", "other rate limits, with recorded traffic"),
        (
            "whatif --add-framework 'role=db;task=cpus:2,mem:4GiB;tasks=200;every=10s;lasts=1h'",
            "when the tasks of another framework would start",
        ),
        ("whatif --from prod.json --add-agent 'cpus:24;mem:64GiB' --count 10", "ten more agents, from a snapshot"),
    ),
)
def whatif(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    words: Words = None,
    *,
    source: From = None,
    mesos_version: FileVersion = None,
    upgrade: Upgrade = None,
    requests: Requests = None,
    lose_agent: Lost = None,
    lose_fraction: Fraction = None,
    lose_each: LoseEach = None,
    add_agent: Added = None,
    count: Count = None,
    attribute: Attribute = None,
    lose_framework: Gone = None,
    add_framework: AddedFrameworks = None,
    each: Each = None,
    find_largest: Largest = None,
    force: Force = False,
    allow_new_resource: AllowNewResource = False,
    cycles: Cycles = 10,
    assume: Assume = "hold",
    recorded: Recorded = None,
    before: Before = None,
    wait_limit: WaitLimit = None,
    refuse: Refuse = None,
    report: ForecastPage = None,
) -> ExitStatus:
    """Forecast what changes would do now: who gains, who loses, who starves, and what a master would refuse.

    The cluster itself is not changed: the changes are made to a fake master that holds a snapshot of it. Agents and
    frameworks come and go first, and then CHANGES are made. The exit status is 1 if a change is refused, if a role
    falls below its guarantee, if a role or framework has nothing left, or if rate limits refuse more of the
    recorded messages than before. With --each, it is 1 only if this is so for every alternative; with --lose-each,
    if any loss starves somebody, of which alike agents are tried once. With --add-framework, it is 1 if a change is
    refused, if a task of the framework fits on no agent, or if in some role the tasks that wait longer than --wait-
    limit grow by more than one in a hundred. mesosctl replay answers the same for recorded tasks.
    """
    session: Session = ctx.obj
    wanted = read_changes(
        words or (),
        lose_agent=lose_agent,
        lose_fraction=lose_fraction,
        lose_framework=lose_framework,
        add_agent=add_agent,
        count=count,
        attribute=attribute,
    )
    if source is None:
        refuse_options({"--mesos-version": mesos_version}, "is for --from", "a live master's own rules are followed")
    if upgrade is None:
        refuse_options({"--requests": requests}, "is for --upgrade", "give --upgrade VERSION too")
    if add_framework:
        refuse_options({"--upgrade": upgrade}, f"cannot be used with {OPTION}", "leave one of them out")
        _refuse_beside_framework(ctx, each, find_largest, lose_each, recorded=recorded, before=before)
        options = read_options(wait_limit, refuse, force=force, allow_new_resource=allow_new_resource)
        terms = terms_of(session, cycles, mesos_version=mesos_version)
        return _answer_added(session, options, wanted, add_framework, source, terms, report)
    refuse_options(
        {"--wait-limit": wait_limit, "--refuse": refuse},
        "is for --add-framework",
        f"give {OPTION} too, or play a recording: "
        f"{command('replay', 'RECORDING', wait_limit=wait_limit, refuse=refuse)}",
    )
    several = read_several(each, find_largest, report)
    if lose_each:
        others = {"--each": each, "--find-largest": find_largest, "--report": report}
        refuse_options(others, "cannot be used with --lose-each", "leave one of them out")
    if not wanted and several is None and not lose_each and upgrade is None:
        raise UsageError(
            "no change was given, so there is nothing to forecast",
            field="CHANGES",
            hint=f"name at least one: a change such as {example()}, --lose-agent, --lose-fraction, --lose-framework, "
            "--add-agent or --upgrade",
        )
    every_change = [change for _, change in (*wanted, *changes_of(several))]
    traffic = read_for_changes(session, every_change, recorded, before, source)
    dry_run, traffic = begin_dry_run(session, source, terms_of(session, cycles, assume, mesos_version), traffic)
    if upgrade is not None:
        upgrade_master(dry_run, upgrade, _read_requests(session, requests))
    acting = DryRunSession(session, dry_run)
    with acting.open_master() as master:
        runner = ChangeRunner(dry_run, master, force=force, allow_new_resource=allow_new_resource, traffic=traffic)
        runner.note_roles(every_change)
        runner.attempt(wanted)
        # Notes about the common changes.  Those about alternatives end with the processes that forecast them.
        session.environment.notes += acting.environment.take_notes()
        if lose_each:
            with acting.held_notes():
                return _tell_losses(session, dry_run, runner, lose_each)
        if several is not None:
            with acting.held_notes():
                origin = None if source is None else named(source)
                return _tell_several(
                    session, dry_run, several, runner, report, origin, is_alone=not wanted and source is None
                )
    return tell(session, dry_run.forecast(), report, [], None if source is None else named(source))


def _read_requests(session: Session, path: Path | None) -> list[SentRequest]:
    """The requests of --requests.  Raises BadInput."""
    if path is None:
        return []
    with opened(path, "--requests", session.environment.stdin) as file:
        return read_requests(file, named(path), session.note)


def _refuse_beside_framework(
    ctx: typer.Context,
    each: Sequence[str] | None,
    find_largest: str | None,
    lose_each: Sequence[str] | None,
    **files: object,
) -> None:
    """Raise UsageError for options that mean nothing beside --add-framework."""
    why = f"cannot be used with {OPTION}"
    alternatives = {"--each": each, "--find-largest": find_largest}
    refuse_options(alternatives, why, f"leave one of them out; {command('replay', 'RECORDING')} takes both")
    refuse_options({"--lose-each": lose_each}, why, "leave one of them out")
    given = {f"--{name}": value for name, value in files.items()}
    given["--assume"] = _typed(ctx, "assume", ctx.params["assume"])
    refuse_options(given, why, "leave one of them out")


def _typed(ctx: typer.Context, parameter: str, value: object) -> object:
    """The value of an option that has a default, if it was given; else None."""
    return value if getattr(ctx.get_parameter_source(parameter), "name", "") == "COMMANDLINE" else None


def _answer_added(
    session: Session,
    options: ReplayOptions,
    wanted: Sequence[tuple[str, Change]],
    add_framework: Sequence[str],
    source: Path | None,
    terms: DryRunOptions,
    report: str | None,
) -> ExitStatus:
    """Play the tasks of --add-framework on the cluster as it is, or on a snapshot of it.

    Raises UsageError, BadInput, and what reading raises.
    """
    added = [parse_added_framework(word) for word in add_framework]
    snapshot = begin_dry_run(session, source, terms, None)[0].snapshot
    if not snapshot.agents:
        raise BadInput(
            "a cluster file says how frameworks will behave, and not what runs now",
            field="--from",
            hint=f"{OPTION} takes a snapshot, or --master fake:FILE for the cluster of the file as it is now",
        )
    answer = add_to_snapshot(snapshot, wanted, options, added, terms, session.note)
    where = None if source is None else named(source)
    tell_answer(session, replay_report(answer), answer, report, origin(session, where))
    return ExitStatus.DONE if answer.is_harmless else ExitStatus.ANSWER_IS_NO


def _tell_losses(session: Session, dry_run: "DryRun", runner: ChangeRunner, by: Sequence[str]) -> ExitStatus:

    def lose(agents: Sequence[str]) -> None:
        runner.attempt([("agents lost", LoseAgents(tuple(agents)))])

    found = forecast_losses(dry_run, by, lose, session.progress)
    session.end_progress()
    emit_answer(session, losses_report(found))
    return status_of(found.answer)


def _tell_several(
    session: Session,
    dry_run: "DryRun",
    several: Several,
    runner: ChangeRunner,
    report: str | None,
    source: str | None,
    *,
    is_alone: bool,
) -> ExitStatus:

    def attempt(word: str) -> None:
        runner.attempt([(word, parse_change(word))])

    variants = forecast_variants(dry_run, attempt, session.progress)
    if isinstance(several, tuple):
        found = list(variants.each([word for word, _ in several]))
        session.end_progress()
        emit_answer(session, alternatives_report(found))
        return ExitStatus.DONE if any(variant.answer.is_harmless for variant in found) else ExitStatus.ANSWER_IS_NO
    largest = variants.find_largest(several, search_range(several, dry_run))
    answer = largest_report(largest, is_alone=is_alone)
    if largest.best is None:
        session.end_progress()
        emit_answer(session, answer)
        return ExitStatus.ANSWER_IS_NO
    emit_with_page(session, answer, largest.best.answer, report, [], source)
    return ExitStatus.DONE
