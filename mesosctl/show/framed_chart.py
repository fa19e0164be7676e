"""The frame of a chart in a report, in SVG: a scale upwards, an axis to the right, and a legend."""

from collections.abc import Callable

from mesosctl.show.html_page import escape

WIDTH, HEIGHT = 720.0, 240.0
"""The size of the frame, in units of the drawing."""
_LINE = 18
"""The height of a line of the legend."""


class FramedChart:
    """A chart from `first` to `last` to the right, and from zero to `highest` upwards.

    `shown` writes a value of the scale upwards, in the room of `left`.
    """

    left = 48

    def __init__(self, title: str, first: float, last: float, highest: float, shown: Callable[[float], str]) -> None:
        self._title = title
        self._first, self._length = first, max(last - first, 1e-6)
        self._highest = highest or 1.0
        self._shown = shown
        self._drawn: list[str] = []
        self._legend: list[tuple[str, str]] = []

    def x(self, at: float) -> float:
        """Return where a value is to the right."""
        return WIDTH * (at - self._first) / self._length

    def y(self, value: float) -> float:
        """Return where a value is upwards."""
        return HEIGHT * (1 - value / self._highest)

    def draw(self, shape: str) -> None:
        """Add a shape of SVG, whose places are those of `x` and `y`."""
        self._drawn.append(shape)

    def name(self, name: str, colour: str) -> None:
        """Add a line to the legend."""
        self._legend.append((name, colour))

    def axis(self) -> list[str]:
        """Return the axis to the right, down to 40 below the frame."""
        raise NotImplementedError

    def svg(self) -> str:
        """Return the drawing."""
        box = f"0 0 {self.left + WIDTH + 24:.0f} {HEIGHT + 52 + _LINE * len(self._legend):.0f}"
        lines = [
            f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img">',
            f"<title>{escape(self._title)}</title>",
            f'<g font-family="sans-serif" font-size="12" fill="currentColor" transform="translate({self.left},8)">',
        ]
        for part in (0.0, 0.5, 1.0):
            y = HEIGHT * (1 - part)
            lines.append(f'<path d="M0,{y:.1f} H{WIDTH:.0f}" stroke="#999999" stroke-width="0.5"/>')
            text = escape(self._shown(self._highest * part))
            lines.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        lines += self._drawn
        lines += self.axis()
        for place, (name, colour) in enumerate(self._legend):
            y = HEIGHT + 52 + _LINE * place
            lines.append(f'<rect x="0" y="{y - 10:.0f}" width="10" height="10" fill="{colour}"/>')
            lines.append(f'<text x="16" y="{y:.0f}">{escape(name)}</text>')
        return "\n".join([*lines, "</g>", "</svg>"])


class PointChart(FramedChart):
    """A chart of points, with two amounts: `across` names the one to the right, which `shown_across` writes."""

    left = 72  # a value may be a span such as 63h14m10s

    def __init__(
        self,
        title: str,
        across: str,
        last: float,
        highest: float,
        shown_across: Callable[[float], str],
        shown: Callable[[float], str],
    ) -> None:
        last = last or 1.0
        super().__init__(title, 0.0, last, highest, shown)
        self._across = across
        self._last = last
        self._shown_across = shown_across

    def axis(self) -> list[str]:
        """Return the axis to the right."""
        ends = ((0.0, "start"), (self._last / 2, "middle"), (self._last, "end"))
        return [
            f'<path d="M0,0 V{HEIGHT:.0f}" stroke="#999999" stroke-width="0.5"/>',
            *(
                f'<text class="tick" x="{self.x(at):.1f}" y="{HEIGHT + 16:.0f}" text-anchor="{anchor}">'
                f"{escape(self._shown_across(at))}</text>"
                for at, anchor in ends
            ),
            f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT + 32:.0f}" text-anchor="middle">{escape(self._across)}</text>',
        ]
