"""`mesosctl usage`: the same figures as a table, csv, JSON and a page."""

import csv
import io
import json
import re

import pytest

from mesosctl.__main__ import main
from mesosctl.history.records import MICROS, Gap, RecordedAgent, RecordedCluster, RecordedSetting, RecordedTask
from mesosctl.history.sqlite import open_writer
from mesosctl.model.notation import parse_resources
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


def test_a_page_has_a_bar_for_each_step_in_which_somebody_held_something(typed):
    ran = typed("--step", "1d", "--report", "-")
    assert ran.out.startswith("<!DOCTYPE html>")
    assert len(re.findall(r"<rect [^>]*><title>a/x ", ran.out)) == DAYS
    assert "2h00m are in gaps" in ran.out


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


def test_the_bars_of_all_others_are_grey(typed, tmp_path):
    """A role may be named as the others are, and stays itself."""
    assert 'fill="#777777"' not in typed("--step", "1d", "--report", "-").out
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        for name in ("others", "c", "d", "e", "f", "g"):
            held = parse_resources("cpus:2" if name == "others" else "cpus:0.01")
            recording.add_task("lab", RecordedTask("f", f"of-{name}", name, held, "n", start=BEGIN, end=BEGIN + HOUR))
    page = typed("--step", "1d", "--report", "-").out
    colours = re.findall(r'<rect [^>]*fill="([^"]+)"><title>others ', page)
    assert len(colours) == 2
    assert colours.count("#777777") == 1


def test_parts_of_a_gpu_are_said_in_every_answer(typed, tmp_path):
    log = "task,role,resources,from,to\nt,web,gpus:0.5,1000,2000\n"
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    environment = InMemory(variables={"HOME": str(tmp_path)})
    assert main(("history", "import", "log.csv", "--format", "csv", "--history", "h.sqlite"), environment) == 0
    for words in ([], ["-o", "json"], ["-o", "csv"], ["-o", "name"], ["-o", "yaml"], ["--report", "-"]):
        ran = typed("--cluster-id", "log", *words)
        assert "may hold parts of a GPU" in ran.out + ran.err, words
