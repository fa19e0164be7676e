"""Charts in a real browser: every word is within the chart, and none stands on another."""

import json
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from mesosctl.mesos.cluster.message_rates import Simulation
from mesosctl.mesos.rules.rate_limit_simulation import parse_traffic, simulate
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits
from mesosctl.ratelimit.simulation_report import chart
from mesosctl.show import charts
from mesosctl.show.charts import time_ticks
from tests.mesosctl.offers.test_dominant_shares import WITH_LOSSES

_PROBE = """
<script>
const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
const svg = document.querySelector('svg');
svg.querySelectorAll('title').forEach(title => title.remove());
document.title = JSON.stringify({
  frame: box(svg),
  words: [...svg.querySelectorAll('text')].map(text => [text.textContent, ...box(text)]),
  lines: svg.querySelectorAll('path.capacity').length,
});
</script>
"""
Box = tuple[float, ...]


def test_ticks_are_round_times() -> None:
    assert time_ticks(4.4) == [0, 1, 2, 3, 4]
    assert time_ticks(50.0) == [0, 10, 20, 30, 40, 50]
    assert time_ticks(3600.0)[1] == 600.0
    assert time_ticks(0.01)[1] == 0.002
    assert all(3 <= len(time_ticks(end)) <= 11 for end in (0.02, 0.7, 7, 59, 61, 200, 4000, 86400, 604800))


def queues() -> str:
    limits = RateLimits((("p", RateLimit(10, 30)), ("<b>q</b>", RateLimit(5, 10000))))
    arrivals = parse_traffic(["p=100@3", "<b>q</b>=10/s*20"])
    return chart(Simulation(limits, simulate(limits, arrivals)))


def probed(browser: list[str], svg: str, folder: Path) -> dict[str, Any]:
    file = folder / "chart.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{svg}{_PROBE}</body>', encoding="utf-8")
    words = [*browser, "--window-size=900,700", "--dump-dom", file.as_uri()]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    title = ran.stdout[ran.stdout.rindex("<title>") + 7 : ran.stdout.rindex("</title>")]
    found: dict[str, Any] = json.loads(title.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    return found


def overlap(one: Box, other: Box) -> bool:
    return min(one[2], other[2]) - max(one[0], other[0]) > 1 and min(one[3], other[3]) - max(one[1], other[1]) > 1


@pytest.mark.parametrize("which", ["queues", "shares"])
def test_in_a_real_browser(browser: list[str], tmp_path: Path, which: str) -> None:
    seen = probed(browser, queues() if which == "queues" else charts.chart(WITH_LOSSES), tmp_path)
    left, top, right, bottom = seen["frame"]
    boxes = {(number, text): tuple(box) for number, (text, *box) in enumerate(seen["words"])}
    assert len(boxes) > 8
    for text, box in boxes.items():
        assert left <= box[0] < box[2] <= right, text
        assert top <= box[1] < box[3] <= bottom, text
    clashes = [(a, b) for a, b in combinations(boxes, 2) if overlap(boxes[a], boxes[b])]
    assert clashes == []
    assert seen["lines"] == (1 if which == "queues" else 0), "the capacity that fits the panel is a line"
