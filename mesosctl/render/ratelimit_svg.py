"""A simulation as a picture: the length of each queue over time, its capacity, and where it overflows."""

from collections.abc import Iterator
from html import escape

from mesosctl.core.durations import format_span
from mesosctl.core.printable import printable
from mesosctl.core.ratelimit_simulation import Outcome
from mesosctl.core.ratelimit_standing import Simulation
from mesosctl.render.ratelimit_simulation import name_of, sampled

_WIDTH, _HEIGHT, _LEFT, _GAP = 720, 90, 60, 46
_COLUMNS = _WIDTH - _LEFT - 20


def picture(played: Simulation) -> str:
    """SVG: one panel a principal, all with the same time axis, each as tall as its own longest queue."""
    end = max((outcome.last_processed for outcome in played.outcomes), default=0.0) or 1.0
    height = len(played.outcomes) * (_HEIGHT + _GAP) + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" style="font: 12px sans-serif">',
        "<title>Waiting messages by principal</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for index, outcome in enumerate(played.outcomes):
        lines.append(f'<g transform="translate({_LEFT},{30 + index * (_HEIGHT + _GAP)})">')
        lines.extend(_panel(played, outcome, end))
        lines.append("</g>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(played: Simulation, outcome: Outcome, end: float) -> Iterator[str]:
    tallest = max(outcome.longest_queue, 1)
    _, limit = played.limits.queue_of(outcome.principal)
    rate = "not throttled" if limit.qps is None else f"{limit.qps:g} messages/s"
    refused = f", {outcome.refused} refused" if outcome.refused else ""
    yield (
        f'<text x="0" y="-8"><tspan font-weight="bold">{escape(printable(name_of(outcome)))}</tspan> '
        f"{rate}; longest queue {outcome.longest_queue}, "
        f"longest delay {format_span(outcome.longest_delay)}{refused}</text>"
    )
    yield f'<text x="-6" y="10" text-anchor="end">{outcome.longest_queue}</text>'
    yield f'<text x="-6" y="{_HEIGHT}" text-anchor="end">0</text>'
    yield f'<text x="{_COLUMNS}" y="{_HEIGHT + 14}" text-anchor="end">{format_span(end)}</text>'
    heights = sampled(outcome, end, _COLUMNS)
    points = " ".join(f"{x},{_HEIGHT - _HEIGHT * length / tallest:.1f}" for x, length in enumerate(heights))
    yield f'<polygon points="0,{_HEIGHT} {points} {_COLUMNS},{_HEIGHT}" fill="#4a7ebb" fill-opacity="0.6"/>'
    yield f'<path d="M0,0 V{_HEIGHT} H{_COLUMNS}" fill="none" stroke="black"/>'
    if limit.throttles and limit.capacity is not None and limit.capacity <= tallest:
        y = _HEIGHT - _HEIGHT * limit.capacity / tallest
        yield f'<path d="M0,{y:.1f} H{_COLUMNS}" stroke="#b03030" stroke-dasharray="4 3"/>'
    if outcome.first_refused is not None:
        x = min(_COLUMNS * outcome.first_refused / end, _COLUMNS)
        yield f'<path d="M{x:.1f},0 V{_HEIGHT}" stroke="#b03030"/>'
        # Beside the line, on the side with more room.
        label, anchor = (x + 4, "start") if x < _COLUMNS / 2 else (x - 4, "end")
        when = format_span(outcome.first_refused)
        yield f'<text x="{label:.1f}" y="10" text-anchor="{anchor}" fill="#b03030">overflows at {when}</text>'
