"""A drawing of amounts that can be added: one bar for each name, made of parts, in SVG."""

from collections.abc import Sequence
from typing import NamedTuple

from mesosctl.mesos.amounts.notation import counted
from mesosctl.show.charts import COLOURS
from mesosctl.show.html_page import escape

_LEFT, _ACROSS, _RIGHT = 150.0, 460.0, 160.0
"""The room of names, of bars, and of what is written behind them."""
_BAR, _LINE = 16, 26
_MOST = 30
_LONGEST_NAME = 22


class Bar(NamedTuple):
    """A bar: its name, its parts in the order of the legend, and the text behind it."""

    name: str
    parts: Sequence[float]
    text: str


def bar_chart(title: str, legend: Sequence[str], bars: Sequence[Bar]) -> str:
    """An SVG drawing of the largest bars; parts below zero are not drawn.  Nothing if there is none."""
    largest = sorted(bars, key=lambda bar: -sum(bar.parts))[:_MOST]
    longest = max((sum(max(0.0, part) for part in bar.parts) for bar in largest), default=0.0)
    if longest <= 0:
        return ""
    height = _LINE * (len(largest) + 1) + 18 * len(legend)
    box = f"0 0 {_LEFT + _ACROSS + _RIGHT:.0f} {height}"
    lines = [
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img">',
        f"<title>{escape(title)}</title>",
        '<g font-family="sans-serif" font-size="12" fill="currentColor">',
    ]
    for number, bar in enumerate(largest):
        lines += _bar(bar, legend, number * _LINE + 6, longest)
    below = _LINE * len(largest) + 16
    for place, name in enumerate(legend):
        y = below + 18 * place
        lines.append(f'<rect x="{_LEFT:.0f}" y="{y - 10}" width="10" height="10" fill="{COLOURS[place]}"/>')
        lines.append(f'<text x="{_LEFT + 16:.0f}" y="{y}">{escape(name)}</text>')
    left = len(bars) - len(largest)
    more = f"<p>{counted(left, 'smaller bar')} not drawn</p>" if left else ""
    return "\n".join([*lines, "</g>", "</svg>"]) + more


def _bar(bar: Bar, legend: Sequence[str], y: int, longest: float) -> list[str]:
    name = bar.name if len(bar.name) <= _LONGEST_NAME else bar.name[: _LONGEST_NAME - 1] + "…"
    lines = [f'<text x="{_LEFT - 8:.0f}" y="{y + 12}" text-anchor="end">{escape(name)}</text>']
    x = _LEFT
    for place, (part, of) in enumerate(zip(bar.parts, legend, strict=True)):
        width = _ACROSS * max(0.0, part) / longest
        if width:
            lines.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}" fill="{COLOURS[place]}">'
                f"<title>{escape(f'{bar.name}: {of}')}</title></rect>"
            )
            x += width
    return [*lines, f'<text x="{x + 8:.1f}" y="{y + 12}">{escape(bar.text)}</text>']
