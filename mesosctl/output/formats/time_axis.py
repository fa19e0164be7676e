"""The time axis of a chart in SVG."""

from collections.abc import Iterator

from mesosctl.model.text import format_span

_TICKS = 5
"""About so many."""
_STEPS = (
    *(factor * 10.0**power for power in range(-3, 2) for factor in (1, 2, 5)),
    *(60.0, 120.0, 300.0, 600.0, 1800.0),
    *(3600.0 * hours for hours in (1, 2, 6, 12, 24, 48, 168, 720)),
)
"""Seconds between two ticks, as clocks are read."""


def time_ticks(end: float) -> list[float]:
    """Return round times from 0 to `end` seconds."""
    step = min(_STEPS, key=lambda one: abs(end / one - _TICKS))
    return [round(number * step, 6) for number in range(int(end / step + 1e-9) + 1)]


def time_axis(width: float, y: float, end: float) -> Iterator[str]:
    """Yield ticks from 0 to `end` seconds along `width`, with their times and the title of the axis."""
    for tick in time_ticks(end):
        x = width * tick / end
        anchor = "start" if not tick else "end" if x > width - 20 else "middle"
        text = f"{tick:g}s" if tick < 60 else format_span(tick)
        yield f'<path d="M{x:.1f},{y} v4" stroke="black"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{y + 16}" text-anchor="{anchor}">{text}</text>'
    yield f'<text x="{width / 2:.0f}" y="{y + 31}" text-anchor="middle" fill="#555555">time</text>'
