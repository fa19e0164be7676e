"""`mesosctl usage`: the same figures as a table, csv, JSON and a page."""

import csv
import io
import json
import re

import pytest

from mesosctl.__main__ import main
from mesosctl.history.records import MICROS, Gap, RecordedAgent, RecordedCluster, RecordedSetting, RecordedTask
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from tests import ROOT
from tests.helpers.surroundings import InMemory, Ran, Terminal

HOUR = 3600 * MICROS
BEGIN = 1_774_656_000 * MICROS
"""2026-03-28 00:00 UTC, the day before Berlin's shortest one."""
DAYS = 3
QUOTA = '{"role": "a", "guarantees": {"cpus": {"value": 4}}, "limits": {"cpus": {"value": 6}}}'


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def at(hours):
        return BEGIN + round(hours * HOUR)

    def task(name, role, resources, start, end):
        return RecordedTask(
            "f", name, role, parse_resources(resources, of_agents=True), "n", start=at(start), end=at(end)
        )

    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(RecordedCluster("lab", "http://lab", None, BEGIN, at(24 * DAYS), clean_end=True))
        recording.add_agent("lab", RecordedAgent("n", "node", parse_resources("cpus:6;cpus(a):2;gpus:1"), BEGIN))
        recording.add_setting("lab", RecordedSetting("quota", "a", QUOTA, BEGIN, at(10)))
        recording.add_task("lab", task("t1", "a", "cpus(a):1;cpus:1", 0, 10))
        recording.add_task("lab", task("t2", "a/x", "cpus:3", 12, 60))
        recording.add_task("lab", task("t3", "b", "cpus:1", 20, 22))
        recording.add_gap("lab", Gap(at(21), at(23)))

    def run(*words, terminal=False):
        out = Terminal("") if terminal else io.StringIO()
        environment = InMemory(variables={"HOME": str(tmp_path), "COLUMNS": "200"}, stdout=out)
        return Ran(main(("usage", "--history", "h.sqlite", *words), environment), environment.out, environment.err)

    return run


def test_json_has_the_hours_of_a_role_alone_and_with_those_below_it(typed):
    rows = {one["role"]: one for one in json.loads(typed("-o", "json").out)["rows"]}
    hours = rows["a"]["hours"]
    assert hours["used"] == {"cpus": 20.0}
    assert hours["reserved_idle"] == {"cpus": 1 * 10 + 2 * (24 * DAYS - 10 - 2)}
    assert (hours["guaranteed"], hours["limited"]) == ({"cpus": 40.0}, {"cpus": 60.0})
    assert rows["a"]["own"] == {"used": hours["used"], "reserved_idle": hours["reserved_idle"]}
    assert rows["a"]["subtree"]["used"] == {"cpus": 20.0 + 3 * (60 - 12 - 2)}
    assert rows["b"]["hours"]["used"] == {"cpus": 1.0}
    # Reserved and idle counts for a guarantee; who wants more is unknown, since no suppression was recorded.
    assert (rows["a"]["below_guarantee_seconds"], rows["a"]["below_guarantee_unknown_seconds"]) == (0.0, 0.0)


def test_csv_has_every_figure_that_json_has(typed):
    ran = typed("-o", "csv", "--half-life", "1d")
    (row,) = (one for one in csv.DictReader(io.StringIO(ran.out)) if one["role"] == "a")
    known = json.loads(typed("-o", "json", "--half-life", "1d").out)
    (figures,) = (one for one in known["rows"] if one["role"] == "a")
    assert float(row["cpus_hours"]) == figures["hours"]["used"]["cpus"]
    for kind in ("reserved_idle", "guaranteed", "limited"):
        assert float(row[f"cpus_{kind}_hours"]) == figures["hours"][kind]["cpus"]
    assert float(row["cpus_subtree_hours"]) == figures["subtree"]["used"]["cpus"]
    assert float(row["cpus_peak"]) == figures["peak"]["cpus"] == 2.0
    assert float(row["cpus_share"]) == pytest.approx(figures["share"]["cpus"], rel=1e-5)
    assert float(row["decayed_cpus"]) == pytest.approx(figures["decayed_share"]["cpus"], rel=1e-5)
    assert float(row["p95_life_seconds"]) == figures["lifetime_seconds"]["p95"] == 36_000
    assert "2h00m are in gaps" in ran.err
    assert "2h00m are in gaps" in " ".join(known["remarks"])


def test_a_day_is_as_long_as_it_was_where_the_reader_lives(typed):
    ran = typed("-o", "json", "--step", "1d", "--timezone", "Europe/Berlin")
    (row,) = (one for one in json.loads(ran.out)["rows"] if one["role"] == "a/x")
    lengths = [one["hours"]["used"].get("cpus", 0) / 3 for one in row["steps"]]
    assert [(one["since"][8:13], one["until"][8:13]) for one in row["steps"]] == [
        ("28T00", "28T23"), ("28T23", "29T22"), ("29T22", "30T22"), ("30T22", "31T00")
    ]  # fmt: skip
    assert lengths == [23 - 12 - 2, 23, 60 - 46, 0]


def test_a_terminal_draws_the_steps_in_one_line(typed):
    ran = typed("--step", "1d", terminal=True)
    (line,) = (one for one in ran.out.splitlines() if re.match(r"\W*a/x ", one))
    assert re.search("[▁▂▃▄▅▆▇█]{3}", line)
    assert len([one for one in typed("--step", "1d").out.splitlines() if one.startswith("a/x ")]) == DAYS


def test_a_page_draws_lines_over_time_and_a_bar_for_each_role(typed):
    """Dominant shares are of different resources and are not stacked."""
    ran = typed("--step", "1d", "--report", "-")
    assert ran.out.startswith("<!DOCTYPE html>")
    assert len(re.findall(r'<path [^>]*stroke-width="1.5"', ran.out)) == 3 + 2  # the roles, and cpus and gpus
    drawn = re.findall(r"<rect [^>]*><title>(a[^<]*)</title>", ran.out)
    assert sorted(drawn) == ["a/x: used", "a: reserved and idle", "a: used"]
    assert "2h00m are in gaps" in ran.out


def test_a_line_is_broken_by_steps_in_which_nothing_was_seen(typed):
    whole = typed("--since", "2026-03-27", "--step", "1d", "--report", "-").out
    first = re.findall(r'<path d="(M[^"]*)"[^>]*stroke-width="1.5"', whole)[0]
    assert float(first[1:].split(",")[0]) > 100  # the first day is not in the recording


@pytest.mark.parametrize(
    ("words", "begin", "end"),
    [
        (["--by", "agent"], "most was used on agent node: ", " on average"),
        (["--by", "principal"], "tasks of unknown principals used most: ", " on average"),
        ([], "role a/x used most: ", "; no role was below its guarantee"),
        (["--since", "2026-03-29T12:00:00Z"], "role a/x used most: ", " on average"),
    ],
)
def test_the_verdict_of_a_page_claims_what_is_known(typed, words, begin, end):
    (verdict,) = re.findall("<h1>([^<]*)</h1>", typed(*words, "--report", "-").out)
    assert verdict.startswith(begin)
    assert verdict.endswith(end)


def test_steps_of_less_than_a_minute_have_seconds(typed):
    span = ["--since", "2026-03-28T00:00:00Z", "--until", "2026-03-28T00:02:00Z"]
    page = typed(*span, "--step", "30s", "--report", "-").out
    assert len(set(re.findall(r'<th scope="row">(2026-03-28 00:0[01]:[03]0)</th>', page))) == 4


@pytest.mark.parametrize("words", [[], ["-o", "wide"], ["--step", "1d"]])
def test_a_table_in_a_pipe_has_units(typed, words):
    """csv has the plain figures."""
    rows = [line.split("  ") for line in typed(*words).out.splitlines() if line.startswith("a ")]
    assert any("10h00m" in cell for cell in rows[0])
    assert any("%" in cell for cell in rows[0])
    assert "36000" in typed(*words[2:], "-o", "csv").out


BESIDE = ["--since", "2026-03-01", "--until", "2026-04-01"]


@pytest.mark.parametrize("span", [BESIDE, ["--month", "2026-03"]])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_month_that_is_half_recorded_says_so_first(typed, span, terminal):
    first = re.sub("\x1b\\[[0-9]*m", "", typed(*span, terminal=terminal).out.splitlines()[0])
    assert first.startswith("28d00h of the 31d00h that were asked")
    document = json.loads(typed(*span, "-o", "json").out)
    assert document["unseen_seconds"] == (28 * 24 + 2) * 3600
    assert (document["since"], document["until"]) == ("2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z")
    assert first in document["remarks"]
    ran = typed(*span, "-o", "csv")
    (covered,) = {row["covered"] for row in csv.DictReader(io.StringIO(ran.out))}
    assert float(covered) == pytest.approx((3 * 24 - 2) / (31 * 24), rel=1e-5)
    assert first in ran.err
    assert first in typed(*span, "--report", "-").out


def test_steps_of_months_begin_on_the_first(typed):
    rows = json.loads(typed("--since", "2026-02-10", "--until", "2026-04-02", "--step", "1mo", "-o", "json").out)[
        "rows"
    ]
    assert [step["since"][:10] for step in rows[0]["steps"]] == ["2026-02-10", "2026-03-01", "2026-04-01"]
    zone = ["--timezone", "Europe/Berlin", "--month", "2026-03", "-o", "json"]
    document = json.loads(typed(*zone).out)
    assert (document["since"], document["until"]) == ("2026-02-28T23:00:00.000Z", "2026-03-31T22:00:00.000Z")


def test_parts_of_a_gpu_are_said_in_every_answer(typed, tmp_path):
    log = "task,role,resources,from,to\nt,web,gpus:0.5,1000,2000\n"
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    environment = InMemory(variables={"HOME": str(tmp_path)})
    assert main(("history", "import", "log.csv", "--format", "csv", "--history", "h.sqlite"), environment) == 0
    for words in ([], ["-o", "json"], ["-o", "csv"], ["-o", "name"], ["-o", "yaml"], ["--report", "-"]):
        ran = typed("--cluster-id", "log", *words)
        assert "may hold parts of a GPU" in ran.out + ran.err, words


def test_the_unit_of_every_number_of_csv_is_in_the_conventions(typed):
    """Every column with numbers is described there; `tasks` has none, since it counts them."""
    page = (ROOT / "docs/reference/conventions.md").read_text(encoding="utf-8")
    assert "`mem_hours`" in page
    described = re.compile(r".*_(hours|peak|seconds|share)|decayed_.*|covered|tasks")
    for words in ((), ("--step", "1d", "--half-life", "1d"), ("--by", "agent")):
        for row in csv.DictReader(io.StringIO(typed("-o", "csv", *words).out)):
            numbers = {column for column, cell in row.items() if re.fullmatch(r"[0-9.e+-]+", cell)}
            assert [column for column in numbers if not described.fullmatch(column)] == []
