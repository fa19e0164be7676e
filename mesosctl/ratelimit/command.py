"""`mesosctl ratelimit`: its verbs."""

import math
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.arguments import Every, FileWord, names_argument, the_file
from mesosctl.cli.command import Command, Group, SingleCommand, examples
from mesosctl.cli.environment import STANDARD_INPUT, named, read_text
from mesosctl.cli.session import Session
from mesosctl.files.rate_limits import RateLimitsMessage
from mesosctl.files.writing import write_atomically
from mesosctl.mesos.amounts.notation import LONGEST_WAIT, format_span, parse_bytes, parse_span
from mesosctl.mesos.cluster.message_rates import PRINCIPAL_KEYS, CounterReading, FileEdit, Simulation, observe
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.rules.rate_limit_simulation import parse_traffic
from mesosctl.mesos.rules.rate_limits import LARGEST_CAPACITY, RateLimit, limit_warnings, plan_memory
from mesosctl.ratelimit.file import Change, dump, edit, limit_in, parse_valid, set_default, set_limit, unset_limit
from mesosctl.ratelimit.given_files import check_standard_input, read_limits, read_present_limits, read_recorded
from mesosctl.ratelimit.report import NOTHING_TO_WATCH, file_edit, memory_plan, principal_statuses, validation, watched
from mesosctl.ratelimit.simulation_report import chart, simulation, suggestion
from mesosctl.ratelimit.work import PollOptions, watch_and_suggest
from mesosctl.reading.list_options import Count, Watch, show_list, sort_option
from mesosctl.reading.selection import Selection
from mesosctl.show import output_formats
from mesosctl.suggestion import command

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    epilog=examples(
        ("ratelimit suggest --for 10m -f limits.json", "limits that suit the traffic of all, from observation"),
        (
            "ratelimit set noisy --qps 20 --capacity 1000 -f limits.json",
            "or throttle one, in a file for --rate_limits",
        ),
    ),
)

EditedFile = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="The file to edit. It is created if it does not exist."),
]
ExistingFile = Annotated[str | None, typer.Option("--file", "-f", metavar="FILE", help="The file to edit.")]
Principal = Annotated[
    str, typer.Argument(metavar="PRINCIPAL", help="A principal, as in FrameworkInfo.principal.", show_default=False)
]
PrincipalNames = Annotated[list[str] | None, names_argument("PRINCIPAL", None, "Show only these principals.")]
SortPrincipals = Annotated[str | None, sort_option(PRINCIPAL_KEYS, resources=False)]
Qps = Annotated[
    float | None,
    typer.Option(
        "--qps",
        metavar="NUMBER",
        help="Messages per second. Without this and --capacity, the principal is never throttled.",
    ),
]
SharedQps = Annotated[
    float | None,
    typer.Option(
        "--qps",
        metavar="NUMBER",
        help="Messages per second of all unlisted principals together. Give either this or --none.",
    ),
]
Capacity = Annotated[
    int | None,
    typer.Option(
        "--capacity",
        metavar="NUMBER",
        min=0,
        max=LARGEST_CAPACITY,
        help="Messages that may wait. The default is what the file has, or else any number.",
    ),
]
ConfigFile = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="A JSON file for the master's --rate_limits; - is standard input.",
        show_default=False,
    ),
]
Interval = Annotated[str, typer.Option("--interval", metavar="SPAN", help="The time between readings, such as 5s.")]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="The memory that queues may use: the master's limit minus what it uses for everything else.",
    ),
]
MessageSize = Annotated[str, typer.Option("--message-size", metavar="SIZE", help="The average size of a message.")]


def limit_of(qps: float | None, capacity: int | None) -> RateLimit:
    """The limit in the options.  Raises UsageError for a rate that no file can hold."""
    if qps is not None and not (qps > 0 and math.isfinite(qps)):
        raise UsageError(f"{qps:g} is not a rate: it must be above zero", field="--qps")
    return RateLimit(qps, capacity)


_OPTION_FOR = {
    "ratelimit.no-capacity": "; --capacity says how many may wait",
    "ratelimit.capacity-without-rate": "; --qps gives one",
}
"""By the rule of a warning, the option with which the limit would be wise."""


def edit_and_tell(session: Session, path: str, change: Change, limited: Sequence[str | None] = ()) -> FileEdit:
    """Edit a file, print the diff, and say when it will matter; with --dry-run the file is left alone.

    Notes say what is unwise in the limits of the principals `limited`, and in the default for None.

    Raises UsageError for standard input, and what `edit` raises.
    """
    if path == STANDARD_INPUT:
        raise UsageError("the file is edited in place, so it cannot be -", field="--file", hint="name a file")
    made = edit(path, change, write=not session.options.dry_run)
    session.emit(file_edit(made))
    for warning in (warning for who in limited for warning in limit_warnings(made.limits, who)):
        session.note(f"{warning.sentence}{_OPTION_FOR.get(warning.rule, '')}")
    if made.written:
        session.note(
            "a master reads its rate limits when it starts: restart every master with --rate_limits and the path of "
            "this file, the leading one last"
        )
    return made


@app.command(
    "show",
    cls=Command,
    epilog=examples(
        ("ratelimit show", "the limits with live figures"),
        ("ratelimit show --sort backlog --watch", "the longest queue first, refreshed every two seconds"),
        ("ratelimit show -o json", "the same as JSON"),
    ),
)
def show(
    ctx: typer.Context,
    names: PrincipalNames = None,
    *,
    sort: SortPrincipals = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """Show the limits of a master, and what each principal sends.

    The limits are those that the master was started with. A real master throttles and counts only frameworks that
    use a driver; the counters of frameworks that use the HTTP API stay at 0.
    """
    from mesosctl.ratelimit.work import show

    session: Session = ctx.obj
    wanted = Selection(names or (), None, (), sort)
    show_list(session, lambda master: principal_statuses(show(master, wanted)), watch=watch, every=every, count=count)


@app.command(
    "set",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit set batch --qps 50 --capacity 10000 -f limits.json", "throttle a principal"),
        ("ratelimit set production -f limits.json", "never throttle a principal, whatever the default is"),
    ),
)
def set_(
    ctx: typer.Context,
    who: Principal,
    word: FileWord = None,
    option: EditedFile = None,
    qps: Qps = None,
    capacity: Capacity = None,
) -> None:
    """Give a principal its own limit in a limits file.

    All frameworks with that principal share it. Everything else in the file stays as it is, and the diff is shown.
    """
    session: Session = ctx.obj
    file = the_file(word, option)
    limit = limit_of(qps, capacity)
    had = None if file == STANDARD_INPUT else limit_in(file, who)
    if qps is None and capacity is None and not session.options.dry_run and had is not None and had.throttles:
        session.confirm(
            f"Never throttle {who}?", f"{file} would lose the limit of '{who}', which would never be throttled"
        )
    made = edit_and_tell(session, file, set_limit(who, limit), [who])
    if made.written and had is None and session.options.master:
        look = command("ratelimit validate", file, live=True)
        session.note(f"{look} says whether a framework of the master uses principal '{who}'")


@app.command(
    "unset",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit unset batch -f limits.json", "let the default apply to a principal"),
    ),
)
def unset(ctx: typer.Context, who: Principal, word: FileWord = None, option: ExistingFile = None) -> None:
    """Remove a principal from a limits file.

    From then on, the default applies to it. The diff is shown.
    """
    session: Session = ctx.obj
    edit_and_tell(session, the_file(word, option), unset_limit(who))


Remove = Annotated[
    bool,
    typer.Option(
        "--none",
        help="Remove the default, so that unlisted principals are not throttled.",
        show_default=False,
    ),
]


@app.command(
    "default",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit default --qps 333 --capacity 1000000 -f limits.json", "set what all others share"),
        ("ratelimit default --none -f limits.json", "do not throttle the others"),
    ),
)
def default(
    ctx: typer.Context,
    word: FileWord = None,
    option: EditedFile = None,
    qps: SharedQps = None,
    capacity: Capacity = None,
    remove: Remove = False,
) -> None:
    """Set the limit that all unlisted principals share.

    The rate and the capacity apply to all of them together, including frameworks without a principal. The diff is
    shown.
    """
    session: Session = ctx.obj
    if remove == (qps is not None):
        raise UsageError("give either --qps or --none", field="--qps", hint="--none removes the limit")
    if remove and capacity is not None:
        raise UsageError(
            "--none and --capacity cannot be used together", field="--capacity", hint="a capacity needs --qps"
        )
    edit_and_tell(session, the_file(word, option), set_default(limit_of(qps, capacity)), [None])


Live = Annotated[
    bool, typer.Option("--live", help="Also ask the master which principals its frameworks use.", show_default=False)
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit status 1 if there are warnings.", show_default=False)
]


@app.command(
    "validate",
    cls=Command,
    epilog=examples(
        ("ratelimit validate limits.json", "would a master start with this file?"),
        ("ratelimit validate limits.json --live -o wide", "and which principals are in use?"),
    ),
)
def validate(
    ctx: typer.Context, word: FileWord = None, option: ConfigFile = None, live: Live = False, strict: Strict = False
) -> ExitStatus:
    """Check a limits file before a master reads it.

    It shows everything that would keep a master from starting, and everything that is unwise. For broken JSON, it shows
    the line, the column and what was expected there. The exit status is 3 if a master would not start.
    """
    from mesosctl.ratelimit.file import validate

    session: Session = ctx.obj
    file = the_file(word, option)
    text = read_config(session, file)
    if live:
        with session.open_master() as master:
            check = validate(text, file, named(file), master)
    else:
        check = validate(text, file, named(file))
    session.emit(validation(check))
    if not check.valid:
        return ExitStatus.INVALID
    return ExitStatus.ANSWER_IS_NO if strict and check.remarks else ExitStatus.DONE


def read_config(session: Session, path: str) -> str:
    """The text of a configuration file.  Raises BadInput."""
    return read_text(path, "FILE", session.environment.stdin)


@app.command(
    "plan",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit plan limits.json --memory 2GiB", "do full queues fit?"),
        ("ratelimit plan limits.json --memory 2GiB --message-size 4KiB", "with larger messages"),
    ),
)
def plan(
    ctx: typer.Context,
    word: FileWord = None,
    *,
    option: ConfigFile = None,
    memory: Memory,
    message_size: MessageSize = "1KiB",
) -> ExitStatus:
    """Add up the memory that full queues would take.

    A master keeps about 2.5 KiB beside each message that waits; that is added to the size of the message.

    The exit status is 1 if they do not fit, or if a queue has no limit.
    """
    session: Session = ctx.obj
    file = the_file(word, option)
    limits = parse_valid(read_config(session, file), named(file))
    plan = plan_memory(
        limits, memory=parse_bytes(memory, "--memory"), message_size=parse_bytes(message_size, "--message-size")
    )
    session.emit(memory_plan(plan))
    return ExitStatus.DONE if plan.fits else ExitStatus.ANSWER_IS_NO


Traffic = Annotated[
    list[str] | None,
    typer.Option(
        "--traffic",
        metavar="PATTERN",
        help="PRINCIPAL=RATE/s*SECONDS@START or PRINCIPAL=COUNT@START; - stands for frameworks without a principal. "
        "Repeat for several.",
    ),
]
Svg = Annotated[
    str | None, typer.Option("--svg", metavar="FILE", help="Also draw the queues as SVG; - writes only the drawing.")
]


Recorded = Annotated[
    Path | None,
    typer.Option("--recorded", metavar="FILE", help="Traffic, as recorded by ratelimit watch -o jsonl."),
]
Before = Annotated[str | None, typer.Option("--before", metavar="FILE", help="The present limits, to compare with.")]


@app.command(
    "simulate",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit simulate limits.json --traffic 'foo=200/s*10'", "200 messages per second for ten seconds"),
        (
            "ratelimit simulate limits.json --traffic 'foo=50/s*60' --traffic 'foo=5000@20' --svg queues.svg",
            "with a burst after twenty seconds, and a drawing",
        ),
        (
            "ratelimit simulate new.json --before limits.json --recorded watch.jsonl",
            "what other limits would have done to recorded traffic",
        ),
    ),
)
def simulate(
    ctx: typer.Context,
    word: FileWord = None,
    option: ConfigFile = None,
    traffic: Traffic = None,
    *,
    recorded: Recorded = None,
    before: Before = None,
    svg: Svg = None,
) -> None:
    """Simulate traffic with a limits file.

    It shows which principals wait, for how long, and when a queue overflows. Time is virtual, so an hour takes a
    moment. The limiter is the fake master's. With --recorded, it replays the traffic of a master, as ratelimit watch -o
    jsonl recorded it.
    """
    session: Session = ctx.obj

    if not traffic and recorded is None:
        raise UsageError(
            "no traffic is given", field="--traffic", hint="give --traffic 'foo=200/s*10', or --recorded FILE"
        )
    file = the_file(word, option)
    check_standard_input((file, before, recorded), "--before")
    limits = read_limits(session, file, "FILE")
    arrivals = parse_traffic(traffic or (), "--traffic")
    if recorded is not None:
        arrivals += read_recorded(session, recorded)
    today = None if before is None else read_present_limits(session, before)
    played = Simulation.play(limits, arrivals, today)
    instead = session.is_output(svg, "--svg")
    if not instead:
        session.emit(simulation(played))
    if svg is not None:
        if instead:
            session.emit_text(chart(played))
        else:
            write_atomically(Path(svg), chart(played), field="--svg")
            session.note(f"drawing written to {svg}")


For = Annotated[str, typer.Option("--for", metavar="SPAN", help="How long to observe the traffic, such as 10m.")]
Headroom = Annotated[
    float,
    typer.Option(
        "--headroom", metavar="FACTOR", min=1.0, help="The rate, as a multiple of the rate in the busiest interval."
    ),
]
Burst = Annotated[
    str,
    typer.Option(
        "--burst", metavar="SPAN", help="The capacity, as the time that it takes to process a full queue at that rate."
    ),
]
Write = Annotated[
    str | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="Write the limits to this file. The default, and -, is standard output."
    ),
]


@app.command(
    "suggest",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit suggest --for 10m -f limits.json", "limits that suit the traffic of the next ten minutes"),
        ("ratelimit suggest --for 1h --headroom 3 --burst 60s -f limits.json", "more generous limits"),
    ),
)
def suggest(
    ctx: typer.Context,
    span: For = "10m",
    interval: Interval = "10s",
    headroom: Headroom = 2.0,
    burst: Burst = "30s",
    file: Write = None,
) -> None:
    """Suggest a limits file from the observed traffic.

    Start the master with this file as --rate_limits. Even generous rates protect other frameworks, so start with
    these and lower them later. Only principals with counters are visible. The suggested default is the largest of their
    limits. A note names each principal that reached its present limit, because it may send more without it.
    """
    session: Session = ctx.obj

    environment = session.environment
    step = parse_span(interval, "--interval", LONGEST_WAIT)
    count = max(1, ceil(parse_span(span, "--for") / step)) + 1
    poll_options = PollOptions(step, count, environment.clock)
    instead = session.is_output(file, "--file")

    def progress(readings: Sequence[CounterReading]) -> None:
        seen = [observed for observed in observe(readings[-2:]) if observed.mean > 0]
        busiest = sorted(seen, key=lambda observed: -observed.mean)[:3]
        rates = ", ".join(f"{observed.principal} {observed.mean:.3g}/s" for observed in busiest) or "no messages yet"
        rest = count - len(readings)
        left = f", {format_span(step * rest)} left" if rest else ""
        session.progress(f"reading {len(readings)} of {count}{left}: {rates}", len(readings) / count)

    with session.open_master() as master, session.waiting():
        made = watch_and_suggest(
            master, poll_options, headroom=headroom, burst=parse_span(burst, "--burst"), progress=progress
        )
    text = dump(RateLimitsMessage.of(made.limits).content())
    if instead or (session.form == "table" and file is None):
        session.emit_text(text)
        return
    if file is not None and session.options.dry_run:
        session.note(f"{file} is not changed: this is a dry run")
    elif file is not None:
        write_atomically(Path(file), text, field="--file")
        session.note(f"written to {file}")
    session.emit(suggestion(made, text))


@app.command(
    "watch",
    cls=SingleCommand,
    epilog=examples(
        ("ratelimit watch", "refreshed until interrupted"),
        ("ratelimit watch --interval 10s -o jsonl", "one line for each principal and reading"),
        ("ratelimit watch --count 6 -o csv", "six readings as CSV"),
    ),
)
def watch(ctx: typer.Context, interval: Interval = "5s", count: Count = None) -> None:
    """Watch the messages of each principal, and how many wait.

    It shows how many messages were received and processed, how fast, and when the queue will be full. Counters restart
    at zero when another master leads, and come and go with their frameworks. No rate is shown across such a break;
    STATUS says what happened. STATUS is full if a queue is full and the master refuses messages.
    """
    from mesosctl.ratelimit.work import PollOptions, watch

    session: Session = ctx.obj
    environment = session.environment
    if count is None and session.form in output_formats.ONE_PIECE:
        raise UsageError(
            f"-o {session.form} is written once, when the watch ends",
            field="--count",
            hint="give --count, or use -o jsonl",
        )
    poll_options = PollOptions(parse_span(interval, "--interval", LONGEST_WAIT), count, environment.clock)
    with session.open_master() as master:
        readings = watch(master, poll_options)
        if session.form in output_formats.ONE_PIECE:
            session.emit(watched(list(readings)))
            return
        was_empty = False
        for reading in readings:
            # On a terminal the table says so. In a pipe there is no table, and the command should not seem to hang.
            is_empty = not reading.rates
            if is_empty and not was_empty and not environment.draws:
                session.note(f"{NOTHING_TO_WATCH}; trying again every {interval}")
                environment.tell_notes()
            was_empty = is_empty
            session.redraw(watched([reading]))
