"""Charts over time in SVG: the time axis of them all, and the dominant shares of frameworks."""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil

from mesosctl.mesos.amounts.amount_text import percent_text
from mesosctl.mesos.amounts.notation import format_span
from mesosctl.mesos.cluster.dominant_shares import Revocation, Sharing
from mesosctl.mesos.errors import printable

_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], tallest: float) -> str:
    """A character for each value; a space for zero, and a full block for the tallest."""
    return "".join(" " if value <= 0 else _BARS[min(8, ceil(value * 8 / tallest)) - 1] for value in values)


_TICKS = 5
"""About this many ticks."""
MONTH = 365 * 86_400 / 12
"""Seconds of a month, about."""
_STEPS = (
    *(factor * 10.0**power for power in range(-3, 2) for factor in (1, 2, 5)),
    *(60.0, 120.0, 300.0, 600.0, 1800.0),
    *(3600.0 * hours for hours in (1, 2, 6, 12, 24, 48, 168)),
    *(MONTH * months for months in (1, 3, 6)),
    *(MONTH * 12 * years for years in (1, 2, 5, 10, 20, 50, 100)),
)
"""Seconds between two ticks that are round on a clock."""


def round_step(length: float) -> float:
    """Return the seconds between two ticks of an axis that is this long."""
    return min(_STEPS, key=lambda step: abs(length / step - _TICKS))


def time_ticks(end: float) -> list[float]:
    """Return round times from 0 to `end` seconds."""
    step = round_step(end)
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


_WIDTH, _HEIGHT = 720, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 180, 24, 48
_ACROSS, _DOWN = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that colour-blind people can distinguish; dashes distinguish repeated colours."""
_AFTER = 0.1
"""The length of the axis, as a multiple of the time of the last step, so that its result is visible."""


def chart(sharing: Sharing) -> str:
    """An SVG document: one line a framework, which changes when an offer is taken; a ring where tasks were revoked.

    Time is to the right, and the share of the cluster upwards.
    """
    times = [0.0, *(step.seconds for step in sharing.steps)]
    last = times[-1] or 1.0
    if sharing.moves_on:  # tasks end after the last step
        times.append(last * (1 + _AFTER / 2))
    end = last * (1 + _AFTER)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<title>Dominant shares over time</title>",
        f'<g font-family="sans-serif" font-size="12" transform="translate({_LEFT},{_TOP})">',
        f'<rect x="-{_LEFT}" y="-{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for percent in (0, 25, 50, 75, 100):
        y = _DOWN * (1 - percent / 100)
        lines.append(f'<path d="M0,{y:.1f} H{_ACROSS}" stroke="#dddddd"/>')
        lines.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{percent}%</text>')
    lines += time_axis(_ACROSS, _DOWN, end)
    for index in range(len(sharing.frameworks)):
        lines += _line(sharing, index, [_ACROSS * time / end for time in times])
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _line(sharing: Sharing, index: int, across: Sequence[float]) -> Iterator[str]:
    """The line of one framework, its rings and its name; `across` is where each step is, the start first."""
    name, colour = sharing.frameworks[index], COLOURS[index % len(COLOURS)]
    shares = [0.0, *(step.holdings[index].share for step in sharing.steps)]
    if sharing.moves_on:
        shares.append(sharing.holdings_at_end[index].share)
    heights = [_DOWN * (1 - share) for share in shares]
    path = f"M{across[0]:.1f},{heights[0]:.1f} " + " ".join(
        f"H{x:.1f} V{y:.1f}" for x, y in zip(across[1:], heights[1:], strict=True)
    )
    dashes = f' stroke-dasharray="{2 + 2 * (index // len(COLOURS))}"' if index >= len(COLOURS) else ""
    yield f'<path class="share" d="{path.strip()} H{_ACROSS}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
    for number, step in enumerate(sharing.steps, 1):
        lost = [entry for entry in step.revoked if entry.framework == name and entry.action != "rescinded"]
        if lost:
            yield (
                f'<circle cx="{across[number]:.1f}" cy="{heights[number]:.1f}" r="5" fill="#ffffff" '
                f'stroke="{colour}" stroke-width="2">'
                f"<title>revoked: {escape(Revocation.summed_up(lost))}</title></circle>"
            )
    label = escape(printable(f"{name} {percent_text(shares[-1])}"))
    yield f'<text x="{_ACROSS + 12}" y="{16 * index + 10}" fill="{colour}">{label}</text>'
