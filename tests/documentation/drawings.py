"""The drawings of the pages, made of what mesosctl says.  `python -m tests.documentation --write` makes them."""

import io
import json
import sys
import tempfile
from typing import Any

from tests.benchmarks.reporting.charts import STYLE, drawing_alone
from tests.documentation.pages import DOCS, fences
from tests.helpers.surroundings import InMemory

_FAIR_SHARES = DOCS / "explanation" / "fair-shares.md"


def drawings() -> dict[str, str]:
    """Return each drawing by its path below docs/."""
    return {"images/drf.svg": _fair_shares(), "images/headroom.svg": _headroom()}


def _fair_shares() -> str:
    """The dominant shares after each step of the example on the page about fair shares."""
    steps = _simulated(next(one.text for one in fences(_FAIR_SHARES) if one.title == "drf.toml"))["steps"]
    chart = _chart("Bar", "Dominant share after each step, and the framework that was served", "%")
    chart.x_labels = [f"{step['number']}: {step['framework']}" for step in steps]
    for number, holding in enumerate(steps[0]["holdings"]):
        resource = steps[-1]["holdings"][number]["dominant"]
        shares = [round(100 * step["holdings"][number]["share"]) or None for step in steps]
        chart.add(f"{holding['framework']} ({resource})", shares)
    return _text(chart)


def _simulated(cluster: str) -> dict[str, Any]:
    from mesosctl.__main__ import main  # noqa: PLC0415  # most of what imports this module draws nothing

    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(cluster)
        file.flush()
        environment = InMemory(stdout=io.StringIO(), stderr=io.StringIO(), variables={})
        status = main(("offers", "simulate", file.name, "-o", "json"), environment)
    assert status == 0, environment.err
    found: dict[str, Any] = json.loads(environment.out)
    return found


def _headroom() -> str:
    """The example of the page about quota: a role that uses 10 cpus, one that takes what it is offered."""
    chart = _chart("HorizontalStackedBar", "100 cpus, of which fA uses 10", "")
    chart.x_labels = ["50 guaranteed to fA", "no quota"]
    for name, amounts in {"fA": (10, 10), "kept free for fA": (40, None), "fB": (50, 90)}.items():
        chart.add(name, amounts)
    return _text(chart)


def _chart(kind: str, title: str, unit: str) -> Any:
    import pygal  # noqa: PLC0415  # as above
    from pygal.style import Style  # noqa: PLC0415  # as above

    # It leaves an import hook of an old kind behind, for maps, upon which pytest collects nothing more in this process.
    sys.meta_path[:] = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    return getattr(pygal, kind)(
        title=title,
        range=(0, 100),
        legend_at_bottom=True,
        truncate_legend=-1,
        truncate_label=-1,
        value_formatter=lambda value: f"{value:g}{unit}",
        y_labels=range(0, 101, 25),
        legend_at_bottom_columns=3,
        print_values=True,
        print_zeroes=False,
        width=720,
        height=300,
        style=Style(**STYLE),
        js=(),
        no_prefix=True,
    )


def _text(chart: Any) -> str:
    chart.add_xml_filter(drawing_alone)
    return str(chart.render(is_unicode=True)) + "\n"
