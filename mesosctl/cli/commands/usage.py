"""`mesosctl usage`."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import ClusterId, HistoryFile, Since, Until, refuse_to_overwrite
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.session import Session
from mesosctl.history.usage import By
from mesosctl.model.errors import UsageError

app = typer.Typer(cls=Group, rich_markup_mode=None)

Key = Annotated[By, typer.Option("--by", help="Whose use each row shows.")]
StepSpan = Annotated[
    str | None,
    typer.Option(
        "--step", metavar="SPAN", help="Also divide the time into steps, such as 1d or 6h; days begin at midnight."
    ),
]
TimeZone = Annotated[
    str, typer.Option("--timezone", metavar="ZONE", help="The time zone of days, such as Europe/Berlin.")
]
HalfLife = Annotated[
    str | None,
    typer.Option(
        "--half-life",
        metavar="SPAN",
        help="Also show each share of the use that decays with this half-life, as Slurm's fair-share factor counts it.",
    ),
]
Page = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write an HTML page with a chart; - writes only the page, to standard output.",
    ),
]


@app.command(
    "usage",
    cls=SingleCommand,
    epilog=examples(
        ("usage --history h.sqlite", "who got what, by role"),
        ("usage --history h.sqlite --since 30d --step 1d --timezone Europe/Berlin", "by day"),
        ("usage --history h.sqlite --by principal --half-life 7d", "decayed shares of principals"),
        ("usage --history h.sqlite --step 1d --report usage.html", "with a chart"),
    ),
)
def usage(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    *,
    history: HistoryFile,
    since: Since = None,
    until: Until = None,
    by: Key = "role",
    step: StepSpan = None,
    timezone: TimeZone = "UTC",
    half_life: HalfLife = None,
    report: Page = None,
    cluster_id: ClusterId = None,
) -> None:
    """Show who got what over time, from a recording.

    Hours are exact integrals of what tasks and executors held; a shared volume counts once. Gaps, in which nothing was
    seen, are left out, and the answer says how long they are. SHARE is the mean of the dominant share, P95 its 95th
    percentile. BELOW GUARANTEE is the time in which a role had less than its guarantee and wanted more; UNKNOWN is the
    same where the recording does not say whether it wanted more.
    """
    from mesosctl.history.contents import chosen_cluster
    from mesosctl.history.sqlite import open_recording
    from mesosctl.history.usage import UsageOptions
    from mesosctl.history.usage import usage as used
    from mesosctl.history.windows import boundaries, step_of, time_zone, window_of
    from mesosctl.output.usage import remarks, usage_page, usage_report

    session: Session = ctx.obj
    zone = time_zone(timezone)
    if step is None and timezone != "UTC":
        raise UsageError("--timezone is for --step", field="--timezone", hint="give --step 1d too")
    refuse_to_overwrite(history, report, "--report")
    with open_recording(history) as recording:
        cluster = chosen_cluster(recording, cluster_id)
        start, end = window_of(cluster, since, until)
        steps = () if step is None else boundaries(start, end, step_of(step, "--step"), zone)
        decay = None if half_life is None else step_of(half_life, "--half-life")
        with session.waiting() as progress:
            progress("adding up what tasks held …")
            use = used(recording, cluster, UsageOptions(start, end, by, steps, decay))
    instead = session.is_output(report, "--report")
    if not instead:
        session.emit(usage_report(use))
    if session.form in ("csv", "name"):  # which have no place for it
        for remark in remarks(use):
            session.note(remark)
    if report is not None:
        from mesosctl.cli.report_origin import origin

        session.emit_page(usage_page(use, origin(session, str(history), cluster.address)), report)
