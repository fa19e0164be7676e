"""Usage as reports: a table, csv, JSON, and a page with a chart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mesosctl.history.records import MICROS, Micros, to_seconds
from mesosctl.history.usage import MICRO_MILLI_HOURS, Part, Step, Subtree, Usage, UsageRow
from mesosctl.model.amount_text import by_place, percent_text, shown_amount
from mesosctl.model.notation import counted, format_span, listed, utc_minute, utc_text
from mesosctl.model.quantities import format_double, to_number
from mesosctl.output.formats.charts import COLOURS, sparkline
from mesosctl.output.formats.html_page import Origin, Tone, escape, html_report, section, sentences, text_table
from mesosctl.output.formats.report import NOTHING, Column, Report, shown_cells
from mesosctl.output.formats.time_chart import TimeChart

if TYPE_CHECKING:
    from mesosctl.output.json_documents import usage as documents

_MOST_LINES_OF_CHART = 7
_REST = "#777777"
"""The colour of all others together, which a light and a dark page show."""
PARTS_OF_GPUS = "tasks come from an imported log and may hold parts of a GPU; a Mesos master only shares out whole ones"


def hours(integral: int) -> float:
    """Hours of an integral of thousandths times microseconds."""
    return integral / MICRO_MILLI_HOURS


def _hours(integrals: Mapping[str, int]) -> dict[str, float]:
    return {name: hours(value) for name, value in sorted(integrals.items()) if value}


def _minute(at: Micros) -> str:
    return utc_minute(to_seconds(at))


def usage_report(use: Usage) -> Report:
    """The use of each key; a row for each of its steps if there are steps, which a terminal draws in one line."""
    shown = _table(use, _Plain(), with_steps=bool(use.options.boundaries))
    return shown._replace(terminal=lambda: _table(use, _ForPeople(), with_steps=False))


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


def _table(use: Usage, written: _Plain, *, with_steps: bool) -> Report:
    by = use.options.by
    names = sorted({*use.together.used, *use.whole.total}, key=lambda name: by_place((name, 1)))

    def items() -> "list[documents.UsageKey]":
        return [_key(use, row) for row in use.rows]

    def document() -> "documents.UsageReport":
        return _document(use, items())

    columns = [Column(by.upper(), rank=-1)]
    if by in ("framework", "agent"):
        columns.append(Column("NAME", rank=1))
    if with_steps:
        columns += [Column("FROM"), Column("TO")]
    columns += [Column(f"{name.upper()} HOURS", key=f"{name}_hours", kind="number") for name in names]
    columns += [
        Column("SHARE", key="mean_share", kind="number"),
        Column("P95", key="p95_share", kind="number", rank=1),
        Column("TASKS", kind="number"),
        Column("MEDIAN LIFE", key="median_life_seconds", kind="number", rank=2),
    ]
    if by == "role":
        columns += [
            Column("BELOW GUARANTEE", key="below_guarantee_seconds", kind="number", rank=1),
            Column("UNKNOWN", key="below_guarantee_unknown_seconds", kind="number", rank=3),
        ]
    if use.options.half_life is not None:
        columns += [Column(f"DECAYED {name.upper()}", key=f"decayed_{name}", kind="number") for name in names]
    more = _more(use, with_steps=with_steps)
    columns += [
        Column(f"{name.upper()} {title}", key=f"{name}_{key}", kind="number", wide=True)
        for title, key, _ in more
        for name in names
    ]
    columns.append(Column("P95 LIFE", key="p95_life_seconds", kind="number", wide=True))
    sparks = not with_steps and bool(use.options.boundaries)
    if sparks:
        columns.append(Column("SHARE OVER TIME", key="share_over_time"))
    rows = []
    for row in use.rows:
        spans = zip(use.steps, row.steps, strict=True) if with_steps else ((use.whole, row.whole),)
        for step, part in spans:
            head = [row.key, *([row.name] if by in ("framework", "agent") else [])]
            head += [_minute(step.start), _minute(step.end)] if with_steps else []
            cells = [*head, *_cells(use, names, written, step, part)]
            cells += [figure(written, name, row, step, part) for _, _, figure in more for name in names]
            longest = part.lifetime_at(95)
            cells.append(NOTHING if longest is None else written.span(longest))
            rows.append([*cells, sparkline_of(use, row)] if sparks else cells)
    return Report(
        columns,
        rows,
        [row.key for row in use.rows],
        document,
        items,
        empty="nothing was held in this time",
        remark=["", *_sentences(use)],
    )


_Figure = Callable[[_Plain, str, UsageRow, Step, Part], str]


def _more(use: Usage, *, with_steps: bool) -> list[tuple[str, str, _Figure]]:
    """The figures of each resource that only a wide table and csv have: their title, their key, and one of them."""

    def share(written: _Plain, name: str, row: UsageRow, step: Step, part: Part) -> str:
        del row
        total = step.total.get(name)
        return written.share(part.used.get(name, 0) / total) if total else NOTHING

    def subtree(written: _Plain, name: str, row: UsageRow, step: Step, part: Part) -> str:
        del step, part
        return NOTHING if row.subtree is None else written.hours(name, row.subtree.used.get(name, 0))

    def peak(written: _Plain, name: str, row: UsageRow, step: Step, part: Part) -> str:
        del row, step
        return written.amount(name, part.peak.get(name, 0))

    def of_role(take: Callable[[Part], Mapping[str, int]]) -> _Figure:
        return lambda written, name, _row, _step, part: written.hours(name, take(part).get(name, 0))

    found: list[tuple[str, str, _Figure]] = [("SHARE", "share", share), ("PEAK", "peak", peak)]
    if use.options.by != "role":
        return found
    whole: list[tuple[str, str, _Figure]] = [] if with_steps else [("SUBTREE HOURS", "subtree_hours", subtree)]
    return [
        *found,
        *whole,
        ("RESERVED IDLE HOURS", "reserved_idle_hours", of_role(lambda part: part.reserved_idle)),
        ("GUARANTEED HOURS", "guaranteed_hours", of_role(lambda part: part.guaranteed)),
        ("LIMITED HOURS", "limited_hours", of_role(lambda part: part.limited)),
    ]


def _cells(use: Usage, names: Sequence[str], written: _Plain, step: Step, part: Part) -> list[str]:
    known = any(step.total.values())
    median = part.lifetime_at(50)
    cells = [written.hours(name, part.used.get(name, 0)) for name in names]
    cells += [
        written.share(part.mean_share(step.seen)) if known else NOTHING,
        written.share(part.share_at(95, step.seen)) if known else NOTHING,
        str(part.tasks),
        NOTHING if median is None else written.span(median),
    ]
    if use.options.by == "role":
        cells += [
            written.span(time) if time else NOTHING for time in (part.below_guarantee, part.below_guarantee_unknown)
        ]
    if use.options.half_life is not None:
        whole = use.together.decayed
        cells += [
            written.share(part.decayed.get(name, 0) / whole[name]) if whole.get(name) else NOTHING for name in names
        ]
    return cells


def sparkline_of(use: Usage, row: UsageRow) -> str:
    """The mean dominant share of each step."""
    means = _means(use, row)
    tallest = max((max(_means(use, other), default=0.0) for other in use.rows), default=0.0)
    return sparkline(means, tallest) if tallest else NOTHING


def _means(use: Usage, row: UsageRow) -> list[float]:
    return [part.mean_share(step.seen) for step, part in zip(use.steps, row.steps, strict=True)]


def _sentences(use: Usage) -> Iterator[str]:
    """Yield the facts beside the table."""
    yield (
        f"{use.cluster.cluster_id} from {_minute(use.whole.start)} to {_minute(use.whole.end)} UTC, "
        f"{format_span(to_seconds(use.whole.seen))} of it seen"
    )
    yield from remarks(use)


def remarks(use: Usage) -> Iterator[str]:
    """Yield sentences about the figures, which every answer has."""
    if use.unseen:
        yield f"{format_span(to_seconds(use.unseen))} are in gaps, in which nothing was seen, and are left out"
    if not any(use.whole.total.values()):
        yield "the recording shows no agents in this time, so shares of the cluster are unknown" + (
            "; --agents of mesosctl history import adds them" if use.has_imports else ""
        )
    if use.has_imports and use.together.used.get("gpus"):
        yield PARTS_OF_GPUS


def _figures(use: Usage, step: Step, part: Part) -> dict[str, object]:
    """The fields of `UsageFigures`."""
    from mesosctl.output.json_documents import usage as documents

    of_role = use.options.by == "role"
    known = any(step.total.values())
    decayed = None
    if use.options.half_life is not None:
        whole = use.together.decayed
        decayed = {name: part.decayed.get(name, 0.0) / total for name, total in sorted(whole.items()) if total}
    lifetimes = {percent: part.lifetime_at(percent) for percent in (50, 95)}
    seconds = {percent: None if time is None else to_seconds(time) for percent, time in lifetimes.items()}
    return {
        "hours": documents.UsageHours(
            used=_hours(part.used),
            reserved_idle=_hours(part.reserved_idle) if of_role else None,
            guaranteed=_hours(part.guaranteed) if of_role else None,
            limited=_hours(part.limited) if of_role else None,
        ),
        "share": {name: part.used.get(name, 0) / total for name, total in sorted(step.total.items()) if total}
        if known
        else None,
        "dominant_share": documents.DominantShare(mean=part.mean_share(step.seen), p95=part.share_at(95, step.seen))
        if known
        else None,
        "peak": {name: amount / 1000 for name, amount in sorted(part.peak.items())},
        "below_guarantee_seconds": to_seconds(part.below_guarantee) if of_role else None,
        "below_guarantee_unknown_seconds": to_seconds(part.below_guarantee_unknown) if of_role else None,
        "tasks": part.tasks,
        "lifetime_seconds": documents.Lifetime(median=seconds[50], p95=seconds[95]),
        "decayed_share": decayed,
    }


def _key(use: Usage, row: UsageRow) -> "documents.UsageKey":
    from mesosctl.output.json_documents import usage as documents

    by = use.options.by
    steps = [
        documents.UsageStep.model_validate(
            {
                **_figures(use, step, part),
                "since": utc_text(to_seconds(step.start)),
                "until": utc_text(to_seconds(step.end)),
            }
        )
        for step, part in zip(use.steps if row.steps else (), row.steps, strict=True)
    ]
    return documents.UsageKey.model_validate(
        {
            **_figures(use, use.whole, row.whole),
            by: row.key,
            "name": row.name if by in ("framework", "agent") else None,
            "own": None if row.subtree is None else _role_hours(row.whole),
            "subtree": None if row.subtree is None else _role_hours(row.subtree),
            "steps": steps,
        }
    )


def _role_hours(of: Part | Subtree) -> "documents.RoleHours":
    from mesosctl.output.json_documents import usage as documents

    return documents.RoleHours(used=_hours(of.used), reserved_idle=_hours(of.reserved_idle))


def _document(use: Usage, rows: "list[documents.UsageKey]") -> "documents.UsageReport":
    from mesosctl.output.json_documents import usage as documents

    return documents.UsageReport(
        cluster_id=use.cluster.cluster_id,
        by=use.options.by,
        since=utc_text(to_seconds(use.whole.start)),
        until=utc_text(to_seconds(use.whole.end)),
        seen_seconds=to_seconds(use.whole.seen),
        unseen_seconds=to_seconds(use.unseen),
        imported=use.has_imports,
        remarks=list(remarks(use)),
        cluster_hours=_hours(use.whole.total),
        used_hours=_hours(use.together.used),
        rows=rows,
    )


# --- The page -----------------------------------------------------------------------------------------


def usage_page(use: Usage, origin: Origin) -> str:
    """The usage as an HTML report: what stands out, a chart of the dominant shares over time, and the tables."""
    titles, rows = shown_cells(_table(use, _ForPeople(), with_steps=False))
    sharing = f"{chart(use)}\n{_table_of_chart(use)}" if use.rows and use.options.boundaries else ""
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
            section("Mean dominant share in each step", sharing),
            section("Who got what", text_table(titles, rows)),
        ],
    )


_MOST_NAMED = 3


def _verdict(use: Usage, below: Sequence[UsageRow]) -> str:
    """One sentence: the largest user, and the roles that were below their guarantee, with how long."""
    if not use.rows:
        return "Nothing was held in this time"
    if any(use.whole.total.values()):
        most = max(use.rows, key=lambda row: row.whole.mean_share(use.whole.seen))
        share = percent_text(most.whole.mean_share(use.whole.seen))
        first = f"{use.options.by} {most.name or most.key} used most: {share} of the cluster on average"
    else:
        first = f"{counted(len(use.rows), use.options.by)} used something"
    if use.options.by != "role":
        return first
    longest = sorted(below, key=lambda row: -row.whole.below_guarantee)
    named = [f"{row.key} for {format_span(to_seconds(row.whole.below_guarantee))}" for row in longest]
    return f"{first}; below their guarantee: {listed(named, _MOST_NAMED) or 'none'}"


def _series(use: Usage) -> list[tuple[str, list[float]]]:
    """Return the mean dominant share of the largest keys in each step, and of all others together."""
    largest = sorted(use.rows, key=lambda row: -row.whole.mean_share(use.whole.seen))
    shown, others = largest[: _MOST_LINES_OF_CHART - 1], largest[_MOST_LINES_OF_CHART - 1 :]
    series = [(row.key, _means(use, row)) for row in shown]
    if others:
        series.append(("others", [sum(values) for values in zip(*(_means(use, row) for row in others), strict=True)]))
    return series


def _table_of_chart(use: Usage) -> str:
    """The figures of the chart as a table."""
    series = _series(use)
    rows = [
        [_minute(step.start), *(percent_text(means[number]) for _, means in series)]
        for number, step in enumerate(use.steps)
    ]
    return text_table(["From (UTC)", *(name for name, _ in series)], rows)


def chart(use: Usage) -> str:
    """An SVG drawing: a bar for each step, made of the mean dominant shares of the largest keys; the rest is grey."""
    series = _series(use)
    highest = max((sum(values) for values in zip(*(means for _, means in series), strict=True)), default=0.0)
    since, until = to_seconds(use.whole.start), to_seconds(use.whole.end)
    drawing = TimeChart("Mean dominant share in each step", since, until, highest, percent_text)
    floor = [0.0] * len(use.steps)
    for index, (name, means) in enumerate(series):
        is_rest = index == _MOST_LINES_OF_CHART - 1
        colour = _REST if is_rest else COLOURS[index]
        drawing.name(name, colour)
        for number, (step, mean) in enumerate(zip(use.steps, means, strict=True)):
            if not mean:
                continue
            left, right = (drawing.x(to_seconds(at)) for at in (step.start, step.end))
            top, bottom = drawing.y(floor[number] + mean), drawing.y(floor[number])
            floor[number] += mean
            drawing.draw(
                f'<rect x="{left:.2f}" y="{top:.2f}" width="{max(0.5, right - left - 0.5):.2f}" '
                f'height="{bottom - top:.2f}" fill="{colour}"><title>{escape(name)} {percent_text(mean)}</title></rect>'
            )
    return drawing.svg()
