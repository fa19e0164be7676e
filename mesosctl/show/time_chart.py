"""The drawing of figures over time in a report: one axis of times for all of its charts, in SVG."""

from collections.abc import Iterator
from datetime import UTC, datetime

from mesosctl.mesos.amounts.notation import utc_minute
from mesosctl.show.charts import MONTH, round_step
from mesosctl.show.framed_chart import HEIGHT, WIDTH, FramedChart

_DAY = 86_400.0


class TimeChart(FramedChart):
    """A chart from one moment to another, in seconds since 1970, on an axis with ticks at round times of UTC."""

    def axis(self) -> list[str]:
        """Return the axis of times."""
        step = max(1.0, round_step(self._length))
        end = self._first + self._length
        years = {datetime.fromtimestamp(at, UTC).year for at in (self._first, end)}
        lines = []
        for at in _ticks(self._first, end, step):
            x, text = self.x(at), _time(at, step, with_year=len(years) > 1)
            lines.append(f'<path d="M{x:.1f},{HEIGHT:.0f} v4" stroke="currentColor"/>')
            lines.append(f'<text class="tick" x="{x:.1f}" y="{HEIGHT + 16:.0f}" text-anchor="middle">{text}</text>')
        since, until = utc_minute(self._first), utc_minute(self._first + self._length)
        span = f"{since} to {until} UTC"
        return [*lines, f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT + 32:.0f}" text-anchor="middle">{span}</text>']


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
