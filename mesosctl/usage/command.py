"""`mesosctl usage`."""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mesosctl.cli.arguments import ClusterId, HistoryFile, Since, TimeZone, Until, refuse_to_overwrite
from mesosctl.cli.command import Group, SingleCommand, examples
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.report_origin import origin
from mesosctl.cli.session import Session
from mesosctl.history.contents import chosen_cluster
from mesosctl.history.interface import Recording
from mesosctl.history.records import Micros, RecordedCluster
from mesosctl.history.sqlite import open_recording
from mesosctl.history.windows import (
    AskedWindow,
    asked_window,
    boundaries,
    month_boundaries,
    months_of_step,
    step_of,
    time_zone,
)
from mesosctl.mesos.errors import UsageError
from mesosctl.show.html_page import ReportOrigin
from mesosctl.show.report import Report
from mesosctl.usage.calculation import By, UsageOptions, WindowUsage
from mesosctl.usage.calculation import usage as used
from mesosctl.usage.report import remarks, usage_page, usage_report

if TYPE_CHECKING:
    from mesosctl.usage.cost import Sharing
    from mesosctl.usage.prices import Prices

app = typer.Typer(cls=Group, rich_markup_mode=None)

Key = Annotated[By, typer.Option("--by", help="Whose use each row shows.")]
StepSpan = Annotated[
    str | None,
    typer.Option(
        "--step",
        metavar="SPAN",
        help="Also divide the time into steps, such as 6h, 1d or 1mo; days begin at midnight, and months on the first.",
    ),
]
Month = Annotated[
    str | None,
    typer.Option("--month", metavar="MONTH", help="A calendar month, such as 2026-11, instead of --since and --until."),
]
PricesOption = Annotated[
    str | None,
    typer.Option(
        "--prices", metavar="FILE", help="Show what it costs, at the prices of a TOML file; - is standard input."
    ),
]
Share = Annotated[
    str | None,
    typer.Option(
        "--share",
        metavar="idle=HOW",
        help="Also bill roles for what is idle: in proportion to what they used (idle=use, the default of idle alone), "
        "to what their guarantees would cost (idle=guarantee), or in equal parts (idle=evenly).",
    ),
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
        ("usage --history h.sqlite --prices prices.toml --month 2026-11", "what a month cost, and who pays for it"),
        ("usage --history h.sqlite --prices prices.toml --share idle=guarantee -o csv", "with idle cost shared out"),
    ),
)
def usage(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    *,
    history: HistoryFile,
    since: Since = None,
    until: Until = None,
    month: Month = None,
    by: Key = "role",
    step: StepSpan = None,
    timezone: TimeZone = "UTC",
    half_life: HalfLife = None,
    prices: PricesOption = None,
    share: Share = None,
    report: Page = None,
    cluster_id: ClusterId = None,
) -> None:
    """Show who got what over time, from a recording.

    Hours are exact integrals of what tasks and executors held; a shared volume counts once. In csv and JSON, hours of
    mem and disk are those of one MiB. Gaps, in which nothing was seen, are left out, and the answer says how long they
    are. SHARE is the mean of the dominant share, P95 its 95th percentile. BELOW GUARANTEE is the time in which a role
    had less than its guarantee and wanted more; UNKNOWN is the same where the recording does not say whether it wanted
    more.
    """
    session: Session = ctx.obj
    zone = time_zone(timezone)
    asked = _Asked(since, until, month, by, step, timezone, half_life, prices, share)
    asked.check()
    refuse_to_overwrite(history, report, "--report")
    table = None if prices is None else _prices(session, prices, zone)
    with open_recording(history) as recording:
        cluster = chosen_cluster(recording, cluster_id)
        window = asked_window(cluster, since, until, zone, month)
        steps = asked.steps(window, zone)
        decay = None if half_life is None else step_of(half_life, "--half-life")
        made = origin(session, str(history), cluster.address)
        with session.waiting() as progress:
            progress("adding up what tasks held …")
            if table is not None:
                answer = _cost(recording, cluster, window, table, asked, made)
            else:
                options = UsageOptions(
                    window.since, window.until, by, steps, decay, window.outside, in_steps=step is not None
                )
                answer = _Answer.of(used(recording, cluster, options), made)
            page = "" if report is None else answer.page()
    if not session.is_output(report, "--report"):
        session.emit(answer.report)
    if session.form in ("csv", "name"):  # which have no place for it
        for remark in answer.remarks:
            session.note(remark)
    if report is not None:
        session.emit_page(page, report)


_SHARED: "dict[str, Sharing]" = {
    "idle": "use", "idle=use": "use", "idle=guarantee": "guarantee", "idle=evenly": "evenly",
}  # fmt: skip


class _Asked(NamedTuple):
    """The options, as they were typed."""

    since: str | None
    until: str | None
    month: str | None
    by: By
    step: str | None
    timezone: str
    half_life: str | None
    prices: str | None
    share: str | None

    def check(self) -> None:
        """Raise UsageError for options that do not fit together."""
        has_span = self.since is not None or self.until is not None
        if self.timezone != "UTC" and not (self.step or self.month or has_span or self.prices):
            raise UsageError(
                "--timezone is for days and months", field="--timezone", hint="give --step 1d or --month 2026-11 too"
            )
        if self.share is not None:
            self._check_share()
        if self.prices is None:
            return
        if self.half_life is not None:
            raise UsageError("--half-life is not for cost", field="--half-life", hint="leave it out, or --prices")
        if self.step is not None and months_of_step(self.step) is None:
            raise UsageError("cost has steps of whole months", field="--step", hint="for example, --step 1mo")

    def _check_share(self) -> None:
        if self.prices is None:
            raise UsageError("--share is for --prices", field="--share", hint="give --prices FILE too")
        if self.sharing is None:
            raise UsageError(
                f"'{self.share}' is not idle=HOW", field="--share", hint="write idle=use, idle=guarantee or idle=evenly"
            )

    @property
    def sharing(self) -> "Sharing | None":
        """How idle cost is shared."""
        return None if self.share is None else _SHARED.get(self.share)

    def steps(self, window: AskedWindow, zone: tzinfo) -> tuple[Micros, ...]:
        """The boundaries between steps."""
        if self.step is None:
            return ()
        months = months_of_step(self.step)
        if months is not None:
            return month_boundaries(window.since, window.until, months, zone)
        return boundaries(window.since, window.until, step_of(self.step, "--step"), zone)


class _Answer(NamedTuple):
    """The answer in every form; `remarks` are for those that have no place for sentences."""

    report: Report
    remarks: Sequence[str]
    page: Callable[[], str]

    @classmethod
    def of(cls, use: WindowUsage, made: ReportOrigin) -> "_Answer":
        """That about hours."""
        return cls(usage_report(use), list(remarks(use)), lambda: usage_page(use, made))


def _prices(session: Session, file: str, zone: tzinfo) -> "Prices":
    from mesosctl.usage.prices import load

    return load(read_text(file, "--prices", session.environment.stdin), named(file), zone)


def _cost(
    recording: Recording,
    cluster: RecordedCluster,
    window: AskedWindow,
    prices: "Prices",
    asked: _Asked,
    made: ReportOrigin,
) -> _Answer:
    """The answer about money."""
    from mesosctl.usage.cost import CostOptions, cost
    from mesosctl.usage.cost_report import cost_report
    from mesosctl.usage.cost_sentences import left_out_of
    from mesosctl.usage.cost_sentences import remarks as cost_remarks

    options = CostOptions(window.since, window.until, prices, prices.zone, asked.by, asked.sharing, window.outside)
    found = cost(recording, cluster, options)
    step = None if asked.step is None else months_of_step(asked.step)

    def page() -> str:
        from mesosctl.usage.charts import step_of_lines
        from mesosctl.usage.cost_page import cost_page

        edges = boundaries(window.since, window.until, step_of_lines(window.since, window.until), prices.zone)
        in_steps = UsageOptions(window.since, window.until, "agent", edges, None, window.outside)
        return cost_page(found, used(recording, cluster, in_steps), step, made)

    return _Answer(cost_report(found, step), [*left_out_of(found), *cost_remarks(found)], page)
