"""Charts as SVG, by pygal: text and lines, no script."""

import math
import sys
from xml.etree.ElementTree import Element

from tests.benchmarks.reporting.report import Chart

STYLE = {
    "background": "white",
    "plot_background": "white",
    "foreground": "#333333",
    "foreground_strong": "#000000",
    "foreground_subtle": "#777777",
    # Told apart by people who see few colours.
    "colors": ("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    "font_family": "sans-serif",
}
_SVG = "{http://www.w3.org/2000/svg}"


def picture(chart: Chart) -> str:
    """An SVG document: lines through points, or bars where what is across are words; amounts on a logarithmic scale."""
    # Late, as most of what imports this module draws nothing.
    import pygal  # noqa: PLC0415  # see above
    from pygal.style import Style  # noqa: PLC0415  # see above

    # It leaves an import hook of an old kind behind, for maps, upon which pytest collects nothing more in this process.
    sys.meta_path[:] = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    across = [place for place, _ in next(iter(chart.lines.values()))]
    bars = isinstance(across[0], str)
    amounts = [amount for points in chart.lines.values() for _, amount in points]
    lowest = 10.0 ** math.floor(math.log10(min(amounts)))
    steps = (1,) if max(amounts) > 1000 * lowest else (1, 2, 5)
    drawn = (pygal.Bar if bars else pygal.XY)(
        title=chart.title,
        x_title=chart.across,
        y_title=chart.up,
        x_labels=across,
        logarithmic=True,
        # From a whole power of ten on, or the shortest bar would have no height.
        range=(lowest, max(amounts)),
        zero=lowest,
        y_labels=[
            step * 10.0**decade
            for decade in range(-6, 9)
            for step in steps
            if lowest <= step * 10.0**decade <= max(amounts)
        ],
        legend_at_bottom=True,
        truncate_legend=-1,
        value_formatter=lambda value: f"{value:,g}",
        x_value_formatter=lambda value: f"{value:,g}",
        width=720,
        height=400,
        style=Style(**STYLE),
        js=(),
        no_prefix=True,
    )
    for name, points in chart.lines.items():
        drawn.add(name, [amount for _, amount in points] if bars else points)
    drawn.add_xml_filter(drawing_alone)
    return str(drawn.render(is_unicode=True)) + "\n"


def drawing_alone(root: Element) -> Element:
    """Take the scripts out of a drawing, and the comments, one of which is the date: it is the same on any day."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("script", f"{_SVG}script") or not isinstance(child.tag, str):
                parent.remove(child)
    return root
