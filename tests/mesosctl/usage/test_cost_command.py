"""`mesosctl usage --prices`: the same cost as a table, csv, JSON and a page."""

import csv
import io
import json
import re
from collections import Counter

import pytest

from mesosctl.__main__ import main
from mesosctl.history.records import MICROS
from mesosctl.usage.charts import step_of_lines
from tests.helpers.surroundings import InMemory, Ran, Terminal
from tests.mesosctl.usage.priced import NOVEMBER, OCTOBER, write_priced


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    write_priced(tmp_path)

    def run(*words, terminal=False):
        out = Terminal("") if terminal else io.StringIO()
        environment = InMemory(variables={"HOME": str(tmp_path), "COLUMNS": "200"}, stdout=out)
        words = ("usage", "--history", "h.sqlite", "--prices", "prices.toml", *words)
        return Ran(main(words, environment), environment.out, environment.err)

    return run


def cells(ran, key="role"):
    found = {}
    for row in csv.DictReader(io.StringIO(ran.out)):
        assert row["currency"] == "EUR"
        found[row["month"], row[key], row["part"]] = float(row["cost"])
    return found


def test_csv_has_a_row_for_each_role_month_and_part(typed):
    ran = typed("-o", "csv")
    found = cells(ran)
    for month, wanted in (("2026-10", OCTOBER), ("2026-11", NOVEMBER)):
        assert {key[1:]: cost for key, cost in found.items() if key[0] == month and key[1]} == wanted
    in_service = 12 * (8 + 2 * 2 + 10) + 12 * (8 + 2 * 2 + 10) + 12 * 8 + 10 * 8 * 0.5
    assert sum(found.values()) == in_service
    for said in ("2h00m are in gaps", "is out of service", "revocable resources cost nothing"):
        assert said in ran.err, said
    assert "without a price" not in ran.err


def test_json_has_the_sums_of_the_cells(typed):
    found = Counter(cells(typed("-o", "csv")))
    document = json.loads(typed("-o", "json").out)
    assert document["total"] == sum(found.values()) == sum(month["total"] for month in document["months"])
    assert document["idle"] == sum(cost for key, cost in found.items() if key[2] == "idle")
    assert document["billed"] == document["total"] - document["idle"]
    for row in document["rows"]:
        role = row.get("role") or ""
        of_role = {key: cost for key, cost in found.items() if key[1] == role and key[2] != "idle"}
        assert row["cost"] == sum(of_role.values()) == sum(month["cost"] for month in row["months"])
        for part, cost in row["parts"].items():
            assert cost == sum(one for key, one in of_role.items() if key[2] == part)
    (b,) = (row for row in document["rows"] if row["role"] == "b")
    assert b["out_of_service_hours"] == {"cpus": 22.0, "gpus": 22.0}
    assert document["unseen_seconds"] == 7200


@pytest.mark.parametrize(
    ("by", "key", "used"),
    [("framework", "f", 324.0), ("principal", "unknown", 324.0), ("agent", "g", 288.0), ("agent", "n", 36.0)],
)
def test_by_another_key_cells_have_what_was_used_and_the_rest_is_apart(typed, by, key, used):
    ran = typed("--by", by, "-o", "csv")
    found = cells(ran, by)
    assert sum(cost for of, cost in found.items() if of[1] == key) == used
    assert {of[2] for of in found if not of[1]} == {"reserved_idle", "kept", "idle"}
    assert sum(found.values()) == sum(cells(typed("-o", "csv")).values())
    table = typed("--by", by).out
    for name in ("reserved and idle", "kept", "idle"):
        assert re.search(f"^{name} ", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("how", "weights"),
    [
        ("idle", {"a": 0.0, "b": 1.0}),
        ("idle=use", {"a": 0.0, "b": 1.0}),
        ("idle=guarantee", {"a": 1.0}),
        ("idle=evenly", {"a": 0.5, "b": 0.5}),
    ],
)
def test_idle_cost_of_a_month_is_shared(typed, how, weights):
    idle = cells(typed("-o", "csv", "--month", "2026-11"))["2026-11", "", "idle"]
    found = cells(typed("-o", "csv", "--month", "2026-11", "--share", how))
    assert found["2026-11", "", "idle"] == 0
    shared = {key[1]: cost for key, cost in found.items() if key[2] == "idle_share"}
    assert shared == {role: idle * weight for role, weight in weights.items() if weight}


MONTHS = {"2026-10": ("1.6%", 12 / (31 * 24)), "2026-11": ("4.7%", 34 / (30 * 24))}
"""How much of them was seen."""


@pytest.mark.parametrize("words", [(), ("--step", "1mo"), ("--month", "2026-11")], ids=["span", "steps", "month"])
def test_an_incomplete_month_says_so_everywhere(typed, words):
    """Also if the span is the recording, of which the first and the last month are parts."""
    asked = {"2026-11": MONTHS["2026-11"]} if "--month" in words else MONTHS
    is_one = len(asked) == 1
    parts = ", ".join(f"{text} of {month}" for month, (text, _) in asked.items())
    sentence = f"{'1 month is' if is_one else '2 months are'} incomplete: {parts} {'was' if is_one else 'were'} seen"
    for terminal in (False, True):
        table = re.sub("\x1b\\[[0-9]*m", "", typed(*words, terminal=terminal).out)
        head, _, figures = table.partition("ROLE")
        assert sentence in " ".join(head.split())
        if "--step" in words:
            rows = [line.split() for line in figures.splitlines() if re.search(" 2026-1[01] ", line)]
            assert {row[-1] for row in rows} == {text for text, _ in asked.values()}
    ran = typed("-o", "csv", *words)
    assert sentence in ran.err
    covered = {row["month"]: float(row["covered"]) for row in csv.DictReader(io.StringIO(ran.out))}
    assert covered == {month: pytest.approx(share, rel=1e-5) for month, (_, share) in asked.items()}
    document = json.loads(typed("-o", "json", *words).out)
    assert sentence in document["remarks"]
    assert {month["month"]: month["covered"] for month in document["months"]} == {
        month: share for month, (_, share) in asked.items()
    }
    page = typed("--report", "-", *words).out
    assert f"<li>{sentence}</li>" in page
    assert re.search("<h1>.*; only [0-9.]+% of the span was seen</h1>", page)


def test_a_whole_month_says_nothing_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("task,role,cpus,from,to\nt,web,1,2026-11-01T00:00Z,2026-12-01T00:00Z\n", "utf-8")
    (tmp_path / "prices.toml").write_text('currency = "EUR"\n[[prices]]\ncpu_hour = 1\n', encoding="utf-8")

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        assert main(words, environment) == 0, environment.err
        return environment.out

    run("history", "import", "log.csv", "--format", "csv", "--history", "h.sqlite")
    for words in ((), ("--month", "2026-11"), ("--step", "1mo")):
        asked = ("usage", "--history", "h.sqlite", "--prices", "prices.toml", *words)
        for form in ((), ("-o", "json"), ("--report", "-")):
            out = run(*asked, *form)
            assert "incomplete" not in out
            assert "COVERED" not in out
        assert run(*asked, "-o", "csv").splitlines()[1:] == [
            ",2026-11,idle,0.00,EUR,1", "web,2026-11,used,720.00,EUR,1"
        ]  # fmt: skip


def test_a_table_has_its_currency_in_the_titles_and_what_was_not_seen_in_the_first_lines(typed):
    for terminal in (False, True):
        lines = re.sub("\x1b\\[[0-9]*m", "", typed("--month", "2026-11", terminal=terminal).out).splitlines()
        assert lines[0].startswith("28d12h of the 30d00h that were asked")
        assert "2h00m are in gaps" in lines[1]
        titles = next(line for line in lines if "ROLE" in line)
        assert re.findall("[A-Z]+ EUR", titles) == ["USED EUR", "IDLE EUR", "KEPT EUR", "COST EUR"]
    first = json.loads(typed("--month", "2026-11", "-o", "json").out)["remarks"][0]
    assert first == lines[0]
    assert first in typed("--month", "2026-11", "--report", "-").out


@pytest.mark.parametrize(("months", "steps"), [("1mo", 2), ("2mo", 1), ("3mo", 1)])
def test_steps_are_months_and_their_sums_are_those_of_the_span(typed, months, steps):
    rows = [line.split() for line in typed("--step", months).out.splitlines() if re.match("(a|b|total)  ", line)]
    whole = [line.split() for line in typed().out.splitlines() if re.match("(a|b|total)  ", line)]
    assert len(rows) == steps * len(whole)
    for role, *_, cost in whole:
        assert float(cost) == sum(float(row[-2]) for row in rows if row[0] == role)


def test_a_page_has_a_bar_for_each_role_and_a_line_for_each_resource(typed):
    page = typed("--report", "-").out
    titles = re.findall(r"<rect [^>]*><title>([^<]*)</title>", page)
    assert {"b: used", "a: used", "a: reserved and idle", "a: kept", "no role: idle"} == set(titles)
    assert len(re.findall(r'<path [^>]*stroke-width="1.5"', page)) == 2
    assert "EUR are billed" in page
    assert page.index("The figures") < page.index("Used part of the cluster over time")
    # Of 48 hours, a line has a step for each.
    assert page.count('<th scope="row">2026-1') == 48


@pytest.mark.parametrize(
    ("span", "step"),
    [
        (1, 1), (120, 1), (121, 60), (7200, 60), (86_400, 900), (31 * 86_400, 12 * 3600), (70 * 86_400, 86_400),
        (365 * 86_400, 7 * 86_400), (1200 * 86_400, 10 * 86_400),
    ],
)  # fmt: skip
def test_lines_have_steps_of_usual_lengths(span, step):
    assert step_of_lines(0, span * MICROS) == step * MICROS
