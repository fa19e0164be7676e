"""The cost of public logs at invented prices is that of a script which knows nothing of the calculation."""

from datetime import UTC, date
from fractions import Fraction

import pytest

from mesosctl.history.imports.run import ImportOptions, import_log
from mesosctl.history.months import month_text
from mesosctl.history.sqlite import open_writer
from mesosctl.history.windows import asked_window
from mesosctl.usage.calculation import By
from mesosctl.usage.cost import CostOptions, cost
from mesosctl.usage.prices import load
from tests.helpers.traces import trace
from tests.mesosctl.usage.plain_cost import as_toml, half_up
from tests.mesosctl.usage.plain_sums import cost_by_month

FOR_PODS = [
    {"attributes": {"model": "G2"}, "from": date(1970, 3, 15), "gpu_hour": "0.9", "cpu_hour": "0.028"},
    {"attributes": {"model": "G2"}, "gpu_hour": "1.1"},
    {"from": date(1970, 2, 10), "gpu_hour": "1.35", "mem_gib_hour": "0.003333"},
    {"cpu_hour": "0.031", "mem_gib_hour": "0.004", "gpu_hour": "1.5"},
]
FOR_JOBS = [
    {"from": date(1993, 12, 25), "cpu_hour": "0.123457"},
    {"from": date(1993, 11, 11), "cpu_hour": "0.07"},
    {"cpu_hour": "0.123456"},
]


def check(found, plain):
    """Every cell is within a cent, and every total exact."""
    assert [month_text(month.number) for month in found.months] == sorted(plain)
    for month in found.months:
        exact = plain[month_text(month.number)]
        assert month.total == half_up(sum(exact.values()))
        shown = {(cell.key, cell.part): cell.cost for cell in month.cells}
        for cell in {*exact, *shown}:
            assert abs(shown.get(cell, 0) - exact.get(cell, Fraction(0)) * 100) <= 1, (month.number, cell)


COLUMNS: dict[By, str] = {"role": "role", "framework": "framework_id", "agent": "coalesce(agent_id, 'unknown')"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "of_format", "more", "tables"),
    [
        ("openb-pods.csv", "openb", {"agents": "openb-nodes.csv"}, FOR_PODS),
        ("nasa-ipsc-1993.swf.gz", "swf", {"role_by": "user"}, FOR_JOBS),
    ],
)
def test_the_cost_of_a_public_log_is_that_of_a_plain_sum(log, of_format, more, tables, tmp_path):
    if "agents" in more:
        more = {"agents": trace(more["agents"])}
    path = tmp_path / "h.sqlite"
    with open_writer(path) as recording:
        import_log(recording, ImportOptions(trace(log), of_format, **more), lambda *_: None)
        prices = load(as_toml(tables), "prices.toml", UTC)
        (cluster,) = recording.clusters()
        window = asked_window(cluster, None, None)
        for by, column in COLUMNS.items():
            options = CostOptions(window.since, window.until, prices, UTC, by)
            check(cost(recording, cluster, options), cost_by_month(path, tables, column))
