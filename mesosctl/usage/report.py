"""Usage as reports: a table, csv, JSON, and a page with a chart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from mesosctl.history.records import MICROS, Micros, to_seconds
from mesosctl.mesos.amounts.amount_text import by_place, percent_text, shown_amount
from mesosctl.mesos.amounts.notation import counted, format_span, listed
from mesosctl.mesos.amounts.quantities import format_double, to_number
from mesosctl.show.bar_chart import Bar, bar_chart
from mesosctl.show.charts import sparkline
from mesosctl.show.html_page import ReportOrigin, Tone, html_report, section, sentences, text_table
from mesosctl.show.lists import rows_of
from mesosctl.show.report import Column, Report, Verdict, shown_cells
from mesosctl.usage import documents
from mesosctl.usage.calculation import UNKNOWN, UsageRow, WindowUsage
from mesosctl.usage.charts import dominant_lines, largest_rows, share_lines, table_of_lines
from mesosctl.usage.figures import KeyFigures, hours
from mesosctl.usage.spans import left_out, minute

PARTS_OF_GPUS = "tasks come from an imported log and may hold parts of a GPU; a Mesos master only shares out whole ones"


def usage_report(use: WindowUsage) -> Report:
    """The use of each key; a row for each of its steps if there are steps, which a terminal draws in one line."""
    shown = _table(use, _Plain(), with_steps=use.options.has_steps)
    with_steps = use.options.has_steps
    return shown._replace(
        table=lambda: _table(use, _ForPeople(), with_steps=with_steps)._replace(
            terminal=lambda: _table(use, _ForPeople(), with_steps=False)
        )
    )


class _Plain:
    """Figures for programs: hours, parts of one, and seconds."""

    def hours(self, name: str, integral: int) -> str:
        """Hours of a resource."""
        del name
        return format_double(hours(integral))

    def amount(self, name: str, milli: int) -> str:
        """An amount of a resource."""
        del name
        return format_double(to_number(milli))

    def share(self, part: float) -> str:
        """A part of the cluster."""
        return f"{part:.6g}"

    def span(self, time: Micros) -> str:
        """A span of time."""
        return format_double(to_seconds(time))


class _ForPeople(_Plain):
    """The same for people: hours of mem and disk in GiB or the like, percent, and spans with units."""

    def hours(self, name: str, integral: int) -> str:
        """See `_Plain.hours`; to a tenth of a unit."""
        whole = round(integral / (3600 * MICROS))
        return shown_amount(name, round(whole, -2) if abs(whole) >= 10_000 else whole)

    def amount(self, name: str, milli: int) -> str:
        """See `_Plain.amount`."""
        return shown_amount(name, milli)

    def share(self, part: float) -> str:
        """See `_Plain.share`."""
        return percent_text(part)

    def span(self, time: Micros) -> str:
        """See `_Plain.span`."""
        return format_span(to_seconds(time))


def _table(use: WindowUsage, written: _Plain, *, with_steps: bool) -> Report:
    def items() -> list[documents.UsageKey]:
        return [_key(use, row) for row in use.rows]

    def document() -> documents.UsageReport:
        return documents.UsageReport.of(use, remarks=remarks(use), rows=items())

    columns_of = _Columns(use, written, with_steps=with_steps)
    columns = [*columns_of.shown(), *columns_of.more()]
    rows = [
        figures
        for row in use.rows
        for figures in (KeyFigures.by_step(use, row) if with_steps else [KeyFigures.whole(use, row)])
    ]
    return Report(
        columns,
        rows_of(columns, rows),
        [row.key for row in use.rows],
        document,
        items,
        empty="nothing was held in this time",
        remark=["", *_facts(use), *_other_remarks(use)],
        verdicts=[Verdict(sentence, "at risk") for sentence in _left_out(use)],
    )


class _Columns:
    """The columns of a table."""

    def __init__(self, use: WindowUsage, written: _Plain, *, with_steps: bool) -> None:
        self._use = use
        self._written = written
        self._with_steps = with_steps
        self._names = sorted({*use.together.used, *use.whole.total}, key=lambda name: by_place((name, 1)))

    def shown(self) -> Iterator[Column[KeyFigures]]:
        """Those that every table has."""
        by, share = self._use.options.by, self._written.share
        yield Column(by.upper(), lambda of: of.row.key, rank=-1)
        if by in ("framework", "agent"):
            yield Column("NAME", lambda of: of.row.name, rank=1)
        if self._with_steps:
            yield Column("FROM", lambda of: minute(of.step.start))
            yield Column("TO", lambda of: minute(of.step.end))
        yield from self._each("HOURS", "hours", lambda of: of.hours.used, self._written.hours, wide=False)
        yield Column(
            "SHARE", lambda of: of.dominant_share and share(of.dominant_share.mean), key="mean_share", kind="number"
        )
        yield Column(
            "P95", lambda of: of.dominant_share and share(of.dominant_share.p95), key="p95_share", kind="number", rank=1
        )
        yield Column("TASKS", lambda of: of.part.tasks, kind="number")
        yield self._time("MEDIAN LIFE", "median_life_seconds", lambda of: of.lifetime.median, rank=2)
        if by == "role":
            below, unknown = "below_guarantee_seconds", "below_guarantee_unknown_seconds"
            yield self._time("BELOW GUARANTEE", below, lambda of: of.below_guarantee or None, rank=1)
            yield self._time("UNKNOWN", unknown, lambda of: of.below_guarantee_unknown or None, rank=3)
        if self._use.options.half_life is not None:
            for name in self._names:
                cell = partial(self._part, name, lambda of: of.decayed_shares)
                yield Column(f"DECAYED {name.upper()}", cell, key=f"decayed_{name}", kind="number")

    def more(self) -> Iterator[Column[KeyFigures]]:
        """Those that only a wide table and csv have, but for a line that is drawn."""
        hours = self._written.hours
        for name in self._names:
            cell = partial(self._part, name, lambda of: of.shares)
            yield Column(f"{name.upper()} SHARE", cell, key=f"{name}_share", kind="number", wide=True)
        yield from self._each("PEAK", "peak", lambda of: of.part.peak, self._written.amount)
        if self._use.options.by == "role":
            if not self._with_steps:
                yield from self._each("SUBTREE HOURS", "subtree_hours", _used_by_subtree, hours)
            yield from self._each(
                "RESERVED IDLE HOURS", "reserved_idle_hours", lambda of: of.hours.reserved_idle, hours
            )
            yield from self._each("GUARANTEED HOURS", "guaranteed_hours", lambda of: of.hours.guaranteed, hours)
            yield from self._each("LIMITED HOURS", "limited_hours", lambda of: of.hours.limited, hours)
        yield self._time("P95 LIFE", "p95_life_seconds", lambda of: of.lifetime.p95)._replace(wide=True)
        yield Column("COVERED", lambda of: self._written.share(of.covered), kind="number", wide=True)
        hidden = not _has_waits(self._use)
        for title, take in (("MEDIAN WAIT", lambda of: of.wait.median), ("P95 WAIT", lambda of: of.wait.p95)):
            column = self._time(title, f"{title.lower().replace(' ', '_')}_seconds", take, rank=2)
            yield column._replace(wide=hidden)
        if self._use.options.boundaries and not self._with_steps:
            tallest = max((max(_means(self._use, row), default=0.0) for row in self._use.rows), default=0.0)

            def line(of: KeyFigures) -> str | None:
                return sparkline(_means(of.use, of.row), tallest) if tallest else None

            yield Column("SHARE OVER TIME", line, key="share_over_time")

    def _each(
        self,
        title: str,
        key: str,
        take: Callable[[KeyFigures], Mapping[str, int] | None],
        write: Callable[[str, int], str],
        *,
        wide: bool = True,
    ) -> Iterator[Column[KeyFigures]]:
        """A column of amounts or hours for each resource."""

        def cell(name: str, figures: KeyFigures) -> str:
            return write(name, (take(figures) or {}).get(name, 0))

        for name in self._names:
            yield Column(f"{name.upper()} {title}", partial(cell, name), key=f"{name}_{key}", kind="number", wide=wide)

    def _part(
        self, name: str, take: Callable[[KeyFigures], Mapping[str, float] | None], figures: KeyFigures
    ) -> str | None:
        """The part of a resource, if it is known."""
        part = (take(figures) or {}).get(name)
        return None if part is None else self._written.share(part)

    def _time(
        self, title: str, key: str, take: Callable[[KeyFigures], Micros | None], rank: int = 0
    ) -> Column[KeyFigures]:
        def cell(figures: KeyFigures) -> str | None:
            return None if (time := take(figures)) is None else self._written.span(time)

        return Column(title, cell, key=key, kind="number", rank=rank)


def _has_waits(use: WindowUsage) -> bool:
    """Whether it is known of any task how long it waited."""
    return bool(use.together.waits)


def _used_by_subtree(figures: KeyFigures) -> Mapping[str, int] | None:
    return None if figures.row.subtree is None else figures.row.subtree.used


def _means(use: WindowUsage, row: UsageRow) -> list[float]:
    """The mean dominant share of each step."""
    return [part.mean_share(step.seen) for step, part in zip(use.steps, row.steps, strict=True)]


def _sentences(use: WindowUsage) -> Iterator[str]:
    """Yield the facts beside the table, and what it leaves out."""
    yield from _facts(use)
    yield from remarks(use)


def _facts(use: WindowUsage) -> Iterator[str]:
    yield (
        f"{use.cluster.cluster_id} from {minute(use.whole.start)} to {minute(use.whole.end)} UTC, "
        f"{format_span(to_seconds(use.whole.seen))} of it seen"
    )
    if use.together.lifetimes:
        yield f"lifetimes are those of the {counted(len(use.together.lifetimes), 'task')} that ended in this time"
    unasked = use.together.unasked
    if unasked:
        tasks = unasked + len(use.together.waits)
        yield f"waits of {unasked:,} of {tasks:,} tasks are unknown: nobody recorded when they were asked for"


def remarks(use: WindowUsage) -> Iterator[str]:
    """Yield sentences about the figures, which every answer has."""
    yield from _left_out(use)
    yield from _other_remarks(use)


def _left_out(use: WindowUsage) -> Iterator[str]:
    yield from left_out(use.cluster, use.whole.start, use.whole.end, use.unseen, use.options.outside)


def _other_remarks(use: WindowUsage) -> Iterator[str]:
    if not any(use.whole.total.values()):
        yield "the recording shows no agents in this time, so shares of the cluster are unknown" + (
            "; --agents of mesosctl history import adds them" if use.has_imports else ""
        )
    if use.has_imports and use.together.used.get("gpus"):
        yield PARTS_OF_GPUS


def _key(use: WindowUsage, row: UsageRow) -> documents.UsageKey:
    by = use.options.by
    name = row.name if by in ("framework", "agent") else None
    return documents.UsageKey.of(KeyFigures.whole(use, row), **{by: row.key}, name=name)


# --- The page -----------------------------------------------------------------------------------------


def usage_page(use: WindowUsage, origin: ReportOrigin) -> str:
    """The usage as an HTML report: what stands out, a chart of the dominant shares over time, and the tables."""
    titles, rows = shown_cells(_table(use, _ForPeople(), with_steps=False))
    has_steps = bool(use.rows and use.options.boundaries)
    sharing = f"{dominant_lines(use, lambda row: _means(use, row))}\n{_table_of_chart(use)}" if has_steps else ""
    below = [row for row in use.rows if row.whole.below_guarantee]
    verdict = _verdict(use, below)
    tone: Tone = "no" if below else "plain"
    return html_report(
        f"Usage of {use.cluster.cluster_id} by {use.options.by}",
        verdict,
        tone,
        origin.facts(),
        [
            sentences("What was read", _sentences(use)),
            section("Used and reserved part of the cluster", _bars(use)),
            section("Used part of the cluster in each step", share_lines(use) if has_steps else ""),
            section("Mean dominant share in each step", sharing),
            section("Who got what", text_table(titles, rows)),
        ],
    )


_MOST_NAMED = 3


def _verdict(use: WindowUsage, below: Sequence[UsageRow]) -> str:
    """One sentence: the largest user, and the roles that were below their guarantee, with how long."""
    if not use.rows:
        return "Nothing was held in this time"
    if any(use.whole.total.values()):
        most = max(use.rows, key=lambda row: row.whole.mean_share(use.whole.seen))
        share = percent_text(most.whole.mean_share(use.whole.seen))
        first = f"{_most_used(use.options.by, most.name or most.key)}: {share} of the cluster on average"
    else:
        first = f"{counted(len(use.rows), use.options.by)} used something"
    if use.options.by != "role":
        return first
    longest = sorted(below, key=lambda row: -row.whole.below_guarantee)
    named = [f"{row.key} for {format_span(to_seconds(row.whole.below_guarantee))}" for row in longest]
    if named:
        return f"{first}; below their guarantee: {listed(named, _MOST_NAMED)}"
    if any(row.whole.below_guarantee_unknown for row in use.rows):
        return f"{first}; whether all roles had their guarantee is not known"
    return f"{first}; no role was below its guarantee" if any(row.whole.guaranteed for row in use.rows) else first


def _most_used(by: str, key: str) -> str:
    """Return how the largest user begins a sentence."""
    if by == "agent":
        return f"most was used on agent {key}"
    if by == "principal" and key == UNKNOWN:
        return "tasks of unknown principals used most"
    return f"{by} {key} used most"


def _table_of_chart(use: WindowUsage) -> str:
    """The figures of the chart as a table."""
    return table_of_lines(use, [(row.key, _means(use, row)) for row in largest_rows(use)])


def _bars(use: WindowUsage) -> str:
    """A bar for each role: of the resource of which it has most, the used part, and the part reserved and idle."""
    if use.options.by != "role":
        return ""
    bars = []
    for row in use.rows:
        parts = [
            (name, row.whole.used.get(name, 0) / total, row.whole.reserved_idle.get(name, 0) / total)
            for name, total in use.whole.total.items()
            if total
        ]
        name, used, idle = max(parts, key=lambda part: part[1] + part[2], default=("", 0.0, 0.0))
        if used or idle:
            bars.append(Bar(row.key, (used, idle), f"{percent_text(used + idle)} of {name}"))
    return bar_chart("Used and reserved part of the cluster", ("used", "reserved and idle"), bars)
