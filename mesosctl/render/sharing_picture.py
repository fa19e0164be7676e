"""A dry run of sharing as a picture: dominant shares over the steps, in SVG.

Text, lines and nothing else: no script, no style sheet, no font of its own.
"""

from html import escape

from mesosctl.core.printable import printable
from mesosctl.core.sharing import Revoked, Sharing

_WIDTH, _HEIGHT = 720, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 180, 24, 40
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Told apart by people who see few colours; dashes tell apart what comes round again."""


def picture(sharing: Sharing) -> str:
    """An SVG document: one line a framework, from nothing held to the end; a ring where tasks were revoked."""
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    # What ended after the last step is one place more.
    last = max(1, len(sharing.steps) + sharing.moves_on)

    def point(step: int, share: float) -> str:
        return f"{_LEFT + across * step / last:.1f},{_TOP + down * (1 - share):.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        '<g font-family="sans-serif" font-size="12">',
        "<title>Dominant shares, step by step</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for percent in (0, 25, 50, 75, 100):
        y = _TOP + down * (1 - percent / 100)
        lines.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + across}" y2="{y:.1f}" stroke="#dddddd"/>')
        lines.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent}%</text>')
    lines.append(f'<text x="{_LEFT + across / 2:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">offers taken</text>')
    for index, name in enumerate(sharing.frameworks):
        shares = [0.0, *(step.holdings[index].share for step in sharing.steps)]
        if sharing.moves_on:
            shares.append(sharing.holdings_at_end[index].share)
        colour = _COLOURS[index % len(_COLOURS)]
        dashes = f' stroke-dasharray="{2 + 2 * (index // len(_COLOURS))}"' if index >= len(_COLOURS) else ""
        points = " ".join(point(step, share) for step, share in enumerate(shares))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        y = _TOP + 16 * index + 10
        for number, step in enumerate(sharing.steps, 1):
            lost = [entry for entry in step.revoked if entry.framework == name and entry.deed != "rescinded"]
            if lost:
                x, _, height = point(number, shares[number]).partition(",")
                lines.append(
                    f'<circle cx="{x}" cy="{height}" r="5" fill="#ffffff" stroke="{colour}" stroke-width="2">'
                    f"<title>revoked: {escape(Revoked.summed_up(lost))}</title></circle>"
                )
        label = f"{name} {shares[-1] * 100:.0f}%"
        lines.append(f'<text x="{_WIDTH - _RIGHT + 12}" y="{y}" fill="{colour}">{escape(printable(label))}</text>')
    return "\n".join([*lines, "</g>", "</svg>", ""])
