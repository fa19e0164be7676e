"""The drawing of figures over time in a report: one axis of times for all of its charts, in SVG."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from mesosctl.model.notation import utc_minute
from mesosctl.output.formats.charts import MONTH, round_step
from mesosctl.output.formats.html_page import escape

_WIDTH, _HEIGHT, _LEFT = 720.0, 240.0, 48.0
_LINE = 18
"""The height of a line of the legend."""
_DAY = 86_400.0


class TimeChart:
    """A chart from `since` to `until`, in seconds since 1970, with a scale from zero to `highest`.

    The axis has ticks at round times of UTC. `shown` writes a value.
    """

    def __init__(self, title: str, since: float, until: float, highest: float, shown: Callable[[float], str]) -> None:
        self._title = title
        self._since, self._length = since, max(until - since, 1e-6)
        self._highest = highest or 1.0
        self._shown = shown
        self._drawn: list[str] = []
        self._legend: list[tuple[str, str]] = []

    def x(self, at: float) -> float:
        """Return where a moment is."""
        return _WIDTH * (at - self._since) / self._length

    def y(self, value: float) -> float:
        """Return where a value is."""
        return _HEIGHT * (1 - value / self._highest)

    def draw(self, shape: str) -> None:
        """Add a shape of SVG, whose places are those of `x` and `y`."""
        self._drawn.append(shape)

    def name(self, name: str, colour: str) -> None:
        """Add a line to the legend."""
        self._legend.append((name, colour))

    def svg(self) -> str:
        """Return the drawing."""
        box = f"0 0 {_LEFT + _WIDTH + 24:.0f} {_HEIGHT + 52 + _LINE * len(self._legend):.0f}"
        lines = [
            f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img">',
            f"<title>{escape(self._title)}</title>",
            f'<g font-family="sans-serif" font-size="12" fill="currentColor" transform="translate({_LEFT:.0f},8)">',
        ]
        for part in (0.0, 0.5, 1.0):
            y = _HEIGHT * (1 - part)
            lines.append(f'<path d="M0,{y:.1f} H{_WIDTH:.0f}" stroke="#999999" stroke-width="0.5"/>')
            text = escape(self._shown(self._highest * part))
            lines.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        lines += self._drawn
        lines += self._axis()
        for place, (name, colour) in enumerate(self._legend):
            y = _HEIGHT + 52 + _LINE * place
            lines.append(f'<rect x="0" y="{y - 10:.0f}" width="10" height="10" fill="{colour}"/>')
            lines.append(f'<text x="16" y="{y:.0f}">{escape(name)}</text>')
        return "\n".join([*lines, "</g>", "</svg>"])

    def _axis(self) -> list[str]:
        step = max(1.0, round_step(self._length))
        end = self._since + self._length
        years = {datetime.fromtimestamp(at, UTC).year for at in (self._since, end)}
        lines = []
        for at in _ticks(self._since, end, step):
            x, text = self.x(at), _time(at, step, with_year=len(years) > 1)
            lines.append(f'<path d="M{x:.1f},{_HEIGHT:.0f} v4" stroke="currentColor"/>')
            lines.append(f'<text class="tick" x="{x:.1f}" y="{_HEIGHT + 16:.0f}" text-anchor="middle">{text}</text>')
        since, until = utc_minute(self._since), utc_minute(self._since + self._length)
        span = f"{since} to {until} UTC"
        return [*lines, f'<text x="{_WIDTH / 2:.0f}" y="{_HEIGHT + 32:.0f}" text-anchor="middle">{span}</text>']


def _ticks(since: float, until: float, step: float) -> Iterator[float]:
    """Yield round times of UTC; if `step` is months or years, the beginnings of months."""
    if step < MONTH:
        first, last = -(-since // step), until // step
        yield from (number * step for number in range(int(first), int(last) + 1))
        return
    months = round(step / MONTH)
    begin = datetime.fromtimestamp(since, UTC)
    number = (begin.year * 12 + begin.month - 1) // months * months
    while (at := datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp()) <= until:
        if at >= since:
            yield at
        number += months


def _time(at: float, step: float, *, with_year: bool) -> str:
    if with_year and step >= _DAY:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m" if step >= MONTH else "%Y-%m-%d")
    form = "%m-%d" if step >= _DAY else "%H:%M" if step >= 60 else "%H:%M:%S"
    return datetime.fromtimestamp(at, UTC).strftime(form)
