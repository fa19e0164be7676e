"""`mesosctl whatif`."""

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mesosctl.cli.arguments import (
    ONLY_BY_NAME,
    AllowNewResource,
    ClusterId,
    ForecastPage,
    MesosVersion,
    Since,
    Uncalibrated,
    Until,
    attribute_option,
    named_file,
    pairs,
    refuse_option,
    refuse_to_overwrite,
)
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.notation import parse_fraction
from mesosctl.planning.whatif_changes import VERBS, Change, example, parse_change

if TYPE_CHECKING:
    from fake_master import DryRun
    from mesosctl.operations.whatif import ChangeRunner
    from mesosctl.planning.whatif_variants import Template

    _Several = tuple[tuple[str, Change], ...] | Template

app = typer.Typer(cls=Group, rich_markup_mode=None)

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CHANGES...]",
        autocompletion=completing.changes,
        help="'quota:ROLE=cpus:12;mem:6GiB', limit:ROLE=cpus:16 (or none), remove-quota:ROLE, weight:ROLE=2, "
        "'reserve:AGENT=cpus(ROLE):2' (refined: cpus(ads>ads/video):2), 'unreserve:AGENT=cpus(ROLE):2', "
        "'create:AGENT=ID:disk(ROLE):1GiB', destroy:AGENT=ID, failover:80% (the share of agents that are back), "
        "priority:ROLE=10, preemption:on or off, lending:on or off, ratelimits:FILE (with --recorded). They are made "
        "in the order in which you give them.",
        show_default=False,
    ),
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Start from a snapshot or a cluster file instead of a live master; - is standard input.",
    ),
]
Lost = Annotated[
    list[str] | None,
    typer.Option(
        "--lose-agent",
        metavar="AGENT",
        autocompletion=completing.agents,
        help="Remove this agent, or every agent with an attribute, such as rack=r1. Repeat for several.",
    ),
]


def _fraction(text: str) -> float:
    """The value of --lose-fraction.  Raises UsageError."""
    part = parse_fraction(text)
    if not 0 < part <= 1:
        raise UsageError(
            f"--lose-fraction is '{text}': it must be above 0 and at most 1, or 100%",
            field="--lose-fraction",
            hint="write 0.2 or 20% for a fifth of the agents; to lose particular agents, use --lose-agent",
        )
    return part


Fraction = Annotated[
    float | None,
    typer.Option(
        "--lose-fraction",
        metavar="PART",
        parser=_fraction,
        help="Remove this fraction of all agents, such as 0.2 or 20% for a fifth, rounded up to whole agents. They are "
        "spread evenly over the sorted host names, so they are the same every time.",
        show_default=False,
    ),
]
Added = Annotated[
    list[str] | None,
    typer.Option("--add-agent", metavar="RESOURCES", help="Add an agent with these resources. Repeat for several."),
]
Count = Annotated[
    int | None,
    typer.Option("--count", metavar="N", min=1, max=100_000, help="How many of each --add-agent. The default is 1."),
]
Attribute = Annotated[
    list[str] | None,
    attribute_option("An attribute of the added agents. Repeat for several."),
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
Force = Annotated[
    bool, typer.Option("--force", help="Skip the checks of capacity and of what the role uses.", show_default=False)
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
Recording = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        metavar="FILE",
        parser=named_file("--replay", ONLY_BY_NAME),
        help="Play what a recording says was wanted, without the changes and with them, and compare who waits. "
        "at:TIME before a change says from when it holds.",
        show_default=False,
    ),
]
WaitLimit = Annotated[
    str | None,
    typer.Option("--wait-limit", metavar="SPAN", help="The wait that is too long, with --replay. The default is 1h."),
]
Refuse = Annotated[str | None, refuse_option(", with --replay or --add-framework")]
AddedFrameworks = Annotated[
    list[str] | None,
    typer.Option(
        "--add-framework",
        metavar="FRAMEWORK",
        help="Add a framework that asks for tasks, from now on or from the beginning of a replay: "
        "'role=db;task=cpus:2,mem:4GiB;tasks=200;every=10s;lasts=1h'. Without tasks, it asks for one; without every, "
        "for all at once; without lasts, they run until the end. Repeat for several.",
    ),
]
Wait = Annotated[
    str | None,
    typer.Option(
        "--wait",
        metavar="TASK",
        help="Say when one more task would start: 'role=db;task=cpus:4'. The lifetimes in the recording of --history "
        "say when what runs at its end will end.",
    ),
]
Lifetimes = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        parser=named_file("--history", ONLY_BY_NAME),
        help="The recording for --wait.",
        show_default=False,
    ),
]
Each = Annotated[
    list[str] | None,
    typer.Option(
        "--each",
        metavar="CHANGE",
        help="Forecast each of the changes that the braces list, from one reading of the cluster or the recording: "
        "'quota:web=cpus:{8,12,16}' or {8..16..4}. Repeat for several.",
    ),
]
Largest = Annotated[
    str | None,
    typer.Option(
        "--find-largest",
        metavar="CHANGE",
        help="Find the largest amount for the ? that is accepted and starves nobody: 'quota:web=cpus:?;mem:6GiB'. "
        "With --replay, it is the largest that makes no role wait much longer.",
    ),
]


@app.command(
    "whatif",
    cls=Command,
    epilog=examples(
        ("whatif 'quota:web=cpus:12;mem:6GiB' remove-quota:ads", "two changes of quota, one after the other"),
        ("whatif --lose-fraction 0.2 --report outage.html", "the loss of a fifth of the agents, with a page"),
        ("whatif --find-largest 'quota:web=cpus:?;mem:6GiB'", "the largest quota that starves nobody"),
        ("whatif ratelimits:new.json --recorded watch.jsonl", "other rate limits, with recorded traffic"),
        ("whatif --replay h.sqlite 'quota:web=cpus:12'", "whether anybody would have waited under another quota"),
        (
            "whatif --replay h.sqlite --add-framework 'role=db;task=cpus:2,mem:4GiB;tasks=200;every=10s;lasts=1h'",
            "when the tasks of another framework would start, and whom they would delay",
        ),
        ("whatif --history h.sqlite --wait 'role=db;task=cpus:4'", "when one more task of db would start"),
        ("whatif --from prod.json --add-agent 'cpus:24;mem:64GiB' --count 10", "ten more agents, from a snapshot"),
    ),
)
def whatif(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    words: Words = None,
    *,
    source: From = None,
    lose_agent: Lost = None,
    lose_fraction: Fraction = None,
    add_agent: Added = None,
    count: Count = None,
    attribute: Attribute = None,
    lose_framework: Gone = None,
    add_framework: AddedFrameworks = None,
    wait: Wait = None,
    history: Lifetimes = None,
    each: Each = None,
    find_largest: Largest = None,
    force: Force = False,
    allow_new_resource: AllowNewResource = False,
    cycles: Cycles = 10,
    assume: Assume = "hold",
    recorded: Recorded = None,
    before: Before = None,
    replay: Recording = None,
    since: Since = None,
    until: Until = None,
    cluster_id: ClusterId = None,
    wait_limit: WaitLimit = None,
    refuse: Refuse = None,
    mesos_version: MesosVersion = None,
    uncalibrated: Uncalibrated = False,
    report: ForecastPage = None,
) -> ExitStatus:
    """Forecast what changes would do: who gains, who loses, who starves, and what a master would refuse.

    The cluster itself is not changed: the changes are made to a fake master that holds a snapshot of it. Agents and
    frameworks come and go first, and then CHANGES are made. The exit status is 1 if a change is refused, if a role
    falls below its guarantee, if a role or framework has nothing left, or if rate limits refuse more of the recorded
    messages than before. With --each, it is 1 only if this is so for every alternative. With --replay, it is 1 if a
    change is refused, or if in some role the tasks that wait longer than --wait-limit grow by more than one in a
    hundred.
    """
    from mesosctl.cli.dry_run import DryRunSession, begin_dry_run, tell, terms_of
    from mesosctl.cli.rate_limit_files import read_for_changes
    from mesosctl.cli.replay import ReplayWords, answer_added, answer_replay, answer_wait
    from mesosctl.operations.whatif import ChangeRunner, named_changes

    session: Session = ctx.obj
    unused = "--count" if count is not None else "--attribute"
    if not add_agent and (count is not None or attribute):
        raise UsageError(
            f"{unused} applies to added agents, but no agent is added",
            field=unused,
            hint="give --add-agent RESOURCES too",
        )
    if any("," in name for name in lose_agent or ()):
        raise UsageError("--lose-agent is one agent", field="--lose-agent", hint="repeat the option for each")
    beside = {
        "--since": since, "--until": until, "--cluster-id": cluster_id, "--mesos-version": mesos_version,
        "--uncalibrated": uncalibrated or None,
    }  # fmt: skip
    of_snapshots = {"--cycles": _typed(ctx, "cycles", cycles), "--assume": _typed(ctx, "assume", assume)}
    if wait is not None or history is not None:
        instead = {
            **of_snapshots,
            "CHANGES": words, "--replay": replay, "--from": source, "--each": each, "--find-largest": find_largest,
            "--recorded": recorded, "--before": before, "--add-framework": add_framework, "--lose-agent": lose_agent,
            "--lose-fraction": lose_fraction, "--lose-framework": lose_framework, "--add-agent": add_agent,
            "--wait-limit": wait_limit, "--uncalibrated": uncalibrated or None,
        }  # fmt: skip
        word, file = _waiting(wait, history, report, instead)
        given = ReplayWords(
            file, since, until, cluster_id, None, refuse, mesos_version, uncalibrated, force, allow_new_resource,
            report,
        )  # fmt: skip
        return answer_wait(session, given, word)
    if replay is None:
        if not add_framework:
            beside |= {"--wait-limit": wait_limit, "--refuse": refuse}
        _refuse_options(beside, "is for --replay", "give --replay FILE too")
        if add_framework:
            instead = {"--each": each, "--find-largest": find_largest, "--recorded": recorded, "--before": before}
            why = "cannot be used with --add-framework, unless a recording is played"
            _refuse_options(instead, why, "leave one of them out, or give --replay FILE too")
    else:
        instead = {
            "--from": source, "--recorded": recorded, "--before": before, "--lose-framework": lose_framework,
            **of_snapshots,
        }  # fmt: skip
        _refuse_options(instead, "cannot be used with --replay", "leave one of them out")
    _refuse_amounts(session, words or ())
    wanted = named_changes(
        () if replay is not None else words or (),
        lose_agents=lose_agent or (),
        lose_fraction=lose_fraction or 0.0,
        lose_frameworks=lose_framework or (),
        add_agents=add_agent or (),
        count=count or 1,
        attributes=dict(pairs(attribute, "--attribute")),
    )
    several = _several(each or (), find_largest, report)
    given = ReplayWords(
        replay, since, until, cluster_id, wait_limit, refuse, mesos_version, uncalibrated, force, allow_new_resource,
        report, add_framework or (), several,
    )  # fmt: skip
    if replay is None and add_framework:
        return answer_added(session, given, wanted, source, cycles)
    if replay is not None:
        refuse_to_overwrite(replay, report, "--report")
        _parsed(several)
        return answer_replay(session, given, wanted, words or ())
    if not wanted and several is None:
        raise UsageError(
            "no change was given, so there is nothing to forecast",
            field="CHANGES",
            hint=f"name at least one: a change such as {example()}, --lose-agent, --lose-fraction, --lose-framework "
            "or --add-agent",
        )
    every_change = [change for _, change in (*wanted, *_parsed(several))]
    traffic = read_for_changes(session, every_change, recorded, before, source)
    dry_run, traffic = begin_dry_run(session, source, terms_of(session, cycles, assume), traffic)
    acting = DryRunSession(session, dry_run)
    with acting.open_master() as master:
        runner = ChangeRunner(dry_run, master, force=force, allow_new_resource=allow_new_resource, traffic=traffic)
        runner.note_roles(every_change)
        runner.attempt(wanted)
        # Notes about the common changes.  Those about alternatives end with the processes that forecast them.
        session.environment.notes += acting.environment.take_notes()
        if several is not None:
            with acting.held_notes():
                origin = None if source is None else named(source)
                return _tell_several(session, dry_run, several, runner, report, origin)
    return tell(session, dry_run.forecast(), report, [], None if source is None else named(source))


def _typed(ctx: typer.Context, parameter: str, value: object) -> object:
    """The value of an option that has a default, if it was given; else None."""
    return value if getattr(ctx.get_parameter_source(parameter), "name", "") == "COMMANDLINE" else None


def _waiting(
    wait: str | None, history: Path | None, report: str | None, instead: Mapping[str, object]
) -> tuple[str, Path]:
    """The task of --wait, and its recording.  Raises UsageError for one alone, or with other questions."""
    if wait is None:
        hint = "to play a recording, give --replay FILE"
        raise UsageError("--history is for --wait", field="--history", hint=hint)
    if history is None:
        raise UsageError("--wait needs a recording", field="--wait", hint="give --history FILE too")
    _refuse_options(instead, "cannot be used with --wait", "leave one of them out")
    refuse_to_overwrite(history, report, "--report")
    return wait, history


def _refuse_amounts(session: Session, words: Sequence[str]) -> None:
    """Raise UsageError for a change that is only an amount: quotes around it and the word before it are missing."""
    first = next((word for word in words if _AMOUNT.match(word) and word.partition(":")[0] not in VERBS), None)
    if first is None:
        return
    typed = list(session.environment.words)
    place = typed.index(first)
    rest = takewhile(_AMOUNT.match, typed[place:])
    before, option = typed[place - 1].rstrip(",;"), typed[place - 2] if place > 1 else ""
    is_change = before.partition(":")[0] in _OF_AMOUNTS and typed[place - 1] in words
    if place == 0 or not (is_change or (option in _OPTIONS_OF_AMOUNTS and ":" in before)):
        return
    option = "" if is_change else option
    separator = "," if "task=" in before.rpartition(";")[2] else ";"
    meant = shlex.quote(separator.join([before, *(word.rstrip(",;") for word in rest)]))
    hint = f"write {option} {meant}" if option else f"write {meant}"
    raise UsageError(f"'{first}' is not a change", field="CHANGES", hint=f"{hint}: one word, in quotes")


_OF_AMOUNTS = ("quota", "limit")
"""The changes that end in an amount."""
_OPTIONS_OF_AMOUNTS = ("--add-agent", "--add-framework", "--each", "--find-largest")
_AMOUNT = re.compile(r"(?!at:)[a-z_]+(\([^()]*\))?:[\d\[.]", re.ASCII)
"""The beginning of an amount: `mem:16GiB`, `mem(ads):4GiB`, `ports:[31000-32000]`; not at:TIME of a replay."""


def _refuse_options(given: Mapping[str, object], why: str, hint: str) -> None:
    """Raise UsageError if any of these options was given."""
    for name, value in given.items():
        if value is not None and value != []:
            raise UsageError(f"{name} {why}", field=name, hint=hint)


def _several(each: Sequence[str], find_largest: str | None, report: str | None) -> "_Several | None":
    """The changes of --each, or the template of --find-largest.  Raises UsageError."""
    from mesosctl.planning.whatif_variants import expand, parse_template

    if each and find_largest is not None:
        raise UsageError("--each and --find-largest cannot be used together", field="--each", hint="give one of them")
    if each and report is not None:
        raise UsageError(
            "--report writes one forecast, but --each makes several",
            field="--report",
            hint="choose one change, and give it as CHANGES with --report",
        )
    if find_largest is not None:
        return parse_template(find_largest)
    return tuple((word, parse_change(word)) for text in each for word in expand(text)) or None


def _parsed(several: "_Several | None") -> "Sequence[tuple[str, Change]]":
    """The alternatives, or an example of the template with an amount.  Raises UsageError, RuleViolation."""
    if several is None or isinstance(several, tuple):
        return several or ()
    return [(several.word, parse_change(several.with_amount(1000)))]


def _tell_several(
    session: Session,
    dry_run: "DryRun",
    several: "_Several",
    runner: "ChangeRunner",
    report: str | None,
    source: str | None,
) -> ExitStatus:
    from mesosctl.cli.dry_run import emit_answer, emit_with_page
    from mesosctl.operations.whatif_variants import find_largest, forecast_each
    from mesosctl.output.forecasts.variants import alternatives_report, largest_report

    if isinstance(several, tuple):
        parsed = dict(several)
        words = [word for word, _ in several]
        each = forecast_each(dry_run, words, lambda word: runner.attempt([(word, parsed[word])]), session.progress)
        found = list(each)
        session.end_progress()
        emit_answer(session, alternatives_report(found))
        return ExitStatus.DONE if any(one.answer.is_harmless for one in found) else ExitStatus.ANSWER_IS_NO
    largest = find_largest(dry_run, several, lambda one: runner.attempt([(one, parse_change(one))]), session.progress)
    answer = largest_report(largest)
    if largest.best is None:
        session.end_progress()
        emit_answer(session, answer)
        return ExitStatus.ANSWER_IS_NO
    emit_with_page(session, answer, largest.best.answer, report, [], source)
    return ExitStatus.DONE
