"""The charts of a page about usage: lines over time, of each resource and of the largest keys."""

from collections.abc import Callable, Sequence

from mesosctl.history.records import MICROS, Micros, to_seconds
from mesosctl.mesos.amounts.amount_text import by_place, percent_text
from mesosctl.mesos.amounts.notation import utc_moment
from mesosctl.show.charts import COLOURS
from mesosctl.show.html_page import text_table
from mesosctl.show.report import NOTHING
from mesosctl.show.time_chart import TimeChart
from mesosctl.usage.calculation import UsageRow, WindowUsage

MOST_LINES = len(COLOURS)
_MOST_STEPS = 120
_MINUTE = 60 * MICROS
_HOUR, _DAY = 60 * _MINUTE, 24 * 60 * _MINUTE
_STEPS = (MICROS, _MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 7 * _DAY)


def step_of_lines(since: Micros, until: Micros) -> Micros:
    """A step of usual length for the lines of a page that has none from --step: of 120 in the span, or fewer."""
    enough = (step for step in _STEPS if until - since <= _MOST_STEPS * step)
    return next(enough, -(-(until - since) // (_MOST_STEPS * _DAY)) * _DAY)


def share_lines(use: WindowUsage) -> str:
    """The share of each resource that was used in each step: an SVG drawing, and its figures as a table."""
    names = sorted(
        {name for step in use.steps for name in step.total if step.total[name]}, key=lambda name: by_place((name, 1))
    )[:MOST_LINES]
    used = [[_used(use, number, name) for number in range(len(use.steps))] for name in names]
    series = list(zip(names, used, strict=True))
    drawing = _lines(use, "Used part of the cluster in each step", series)
    return f"{drawing}\n{table_of_lines(use, series)}" if drawing else ""


def table_of_lines(use: WindowUsage, series: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """The figures of lines as a table: a row for each step."""
    rows = [
        [
            utc_moment(to_seconds(step.start), to_seconds(step.end - step.start)),
            *(NOTHING if (value := values[number]) is None else percent_text(value) for _, values in series),
        ]
        for number, step in enumerate(use.steps)
    ]
    return text_table(["From (UTC)", *(name for name, _ in series)], rows)


def _used(use: WindowUsage, number: int, name: str) -> float | None:
    total = use.steps[number].total.get(name, 0)
    return sum(row.steps[number].used.get(name, 0) for row in use.rows) / total if total else None


def largest_rows(use: WindowUsage) -> list[UsageRow]:
    """The keys that a chart has lines of."""
    return sorted(use.rows, key=lambda row: -row.whole.mean_share(use.whole.seen))[:MOST_LINES]


def dominant_lines(use: WindowUsage, means: Callable[[UsageRow], Sequence[float]]) -> str:
    """An SVG drawing: the mean dominant share of each of the largest keys in each step.

    Dominant shares are of different resources, so they cannot be added.
    """
    series = []
    for row in largest_rows(use):
        values = [mean if step.seen else None for step, mean in zip(use.steps, means(row), strict=True)]
        series.append((row.key, values))
    return _lines(use, "Mean dominant share in each step", series)


def _lines(use: WindowUsage, title: str, series: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """Lines of parts of the cluster; a step without a value breaks a line.  Nothing if there is no value."""
    highest = max((value for _, values in series for value in values if value is not None), default=0.0)
    if not highest:
        return ""
    since, until = to_seconds(use.whole.start), to_seconds(use.whole.end)
    drawing = TimeChart(title, since, until, highest, percent_text)
    for index, (name, values) in enumerate(series):
        drawing.name(name, COLOURS[index])
        path, is_broken = "", True
        for step, value in zip(use.steps, values, strict=True):
            if value is None:
                is_broken = True
                continue
            left, right = (drawing.x(to_seconds(at)) for at in (step.start, step.end))
            y = drawing.y(value)
            path += f"M{left:.1f},{y:.1f} " if is_broken else f"V{y:.1f} "
            path += f"H{right:.1f} "
            is_broken = False
        drawing.draw(f'<path d="{path.strip()}" fill="none" stroke="{COLOURS[index]}" stroke-width="1.5"/>')
    return drawing.svg()
