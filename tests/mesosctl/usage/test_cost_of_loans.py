"""Idle reservations that a master lends: they are recorded, credited to their owner and charged to the borrower."""

import csv
import io
import json
from collections import defaultdict
from datetime import UTC
from fractions import Fraction
from pathlib import Path

import pytest

from mesosctl.__main__ import main
from mesosctl.history.records import RecordedSetting
from mesosctl.history.setting_values import lending_value
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from tests import ROOT
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.history.memory import MemoryRecording
from tests.mesosctl.usage.plain_cost import Plain
from tests.mesosctl.usage.test_cost_rules import agent, at, cells, found, task

BORROWED = Resources([Resource("cpus", 2000, revocable=True)])
THROTTLED = Resources([Resource("cpus", 2000, revocable=True, throttleable=True)])


def lending(start=0.0, end=None, names=("cpus", "mem")):
    return RecordedSetting("lending", "", lending_value(names), at(start), None if end is None else at(end))


def test_the_borrower_pays_and_the_owner_is_credited():
    of = found(agent("cpus:1;cpus(a):4"), task("b", BORROWED), lending())
    assert of.by_key()["a"] == {"reserved_idle": 400, "lent": -200}
    assert of.by_key()["b"] == {"borrowed": 200}
    assert (of.total, of.has_unknown_loans) == (500, False)


def test_several_owners_lend_by_what_they_have_idle_and_what_borrowers_hold_beyond_that_is_no_loan():
    rows = agent("cpus(a):2;cpus(c):2"), task("a", "cpus(a):1"), lending()
    of = cells(*rows, task("b", BORROWED), task("d", BORROWED))
    assert {cell: cost for cell, cost in of.items() if cell[1] in ("lent", "borrowed")} == {
        ("a", "lent"): -1, ("c", "lent"): -2, ("b", "borrowed"): 1.5, ("d", "borrowed"): 1.5,
    }  # fmt: skip


def test_a_loan_is_one_on_its_agent_while_the_master_lends_that_resource():
    owner = agent("cpus(a):4")
    assert cells(owner, agent("cpus:4", "other"), task("b", BORROWED, on="other"), lending()) == {
        ("a", "reserved_idle"): 4
    }
    assert cells(owner, task("b", THROTTLED), lending()) == {("a", "reserved_idle"): 4}
    assert cells(owner, task("b", BORROWED), lending(names=["mem"])) == {("a", "reserved_idle"): 4}
    of = found(owner, task("b", BORROWED), lending(1, 2), until=4)
    assert (of.by_key()["b"], of.by_key()["a"]["lent"]) == ({"borrowed": 200}, -200)


@pytest.mark.parametrize(
    ("rows", "unknown"),
    [
        ((lending(),), False),
        ((), True),
        ((lending(0.5),), True),
        ((lending(0, 0.5),), True),
    ],
)
def test_where_the_recording_says_nothing_of_lending_loans_are_unknown(rows, unknown):
    assert found(agent("cpus(a):4"), task("b", BORROWED), *rows).has_unknown_loans == unknown


def test_on_an_agent_that_the_recording_does_not_name_nothing_is_lent():
    of = found(agent("cpus(a):4"), task("b", BORROWED, on=None), lending())
    assert (of.has_unplaced, of.has_unknown_loans, "b" in of.by_key()) == (False, False, False)


def test_what_may_be_throttled_is_no_loan_whoever_recorded_it():
    assert not found(agent("cpus(a):4"), task("b", THROTTLED)).has_unknown_loans


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = (ROOT / "tests/examples/lending.toml").read_text(encoding="utf-8")
    (tmp_path / "lending.toml").write_text(example, encoding="utf-8")
    (tmp_path / "prices.toml").write_text('currency = "EUR"\n[[prices]]\ncpu_hour = 3600\n', encoding="utf-8")

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        ran = Ran(main(words, environment), environment.out, environment.err)
        assert ran.status == 0, ran.err
        return ran

    return run


def test_a_recorder_writes_what_a_fake_master_lends(typed):
    """An owner comes to what a tenant was lent, which ends some of its tasks."""
    words = "history", "record", "--history", "h.sqlite", "--duration", "60s", "--cluster-id", "lab"
    typed("--master", "fake:lending.toml?fresh", *words)
    with open_recording(Path("h.sqlite")) as recording:
        (cluster,) = recording.clusters()
        rows = MemoryRecording(
            of_agents=list(recording.agents("lab")), of_tasks=list(recording.tasks("lab")),
            of_settings=list(recording.settings("lab")),
        )  # fmt: skip
    ran = typed("usage", "--history", "h.sqlite", "--prices", "prices.toml", "-o", "csv")
    cost: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for row in csv.DictReader(io.StringIO(ran.out)):
        cost[row["role"], row["part"]] += Fraction(row["cost"])
    plain = Plain(rows, [{"cpu_hour": "3600"}], UTC)
    by_month, _ = plain.months((cluster.first_seen, cluster.last_seen))
    exact: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for of_month in by_month.values():
        for cell, amount in of_month.items():
            exact[cell] += amount
    assert {cell for cell, amount in exact.items() if amount} == {cell for cell, amount in cost.items() if amount}
    for cell, amount in exact.items():
        assert abs(cost[cell] - amount) <= Fraction(1, 50), cell  # a cent in each of two months
    # Six cpus for the ten seconds before the owner comes, and some afterwards.
    assert 60 < cost["tenant", "borrowed"] == -cost["lender", "lent"] < 60 + 50 * 3
    assert "unknown" not in ran.err
    document = json.loads(typed("usage", "--history", "h.sqlite", "--prices", "prices.toml", "-o", "json").out)
    parts = {row["role"]: row["parts"] for row in document["rows"]}
    assert parts["lender"]["lent"] == -parts["tenant"]["borrowed"] == float(cost["lender", "lent"])
    page = typed("usage", "--history", "h.sqlite", "--prices", "prices.toml", "--report", "-").out
    assert "tenant: borrowed" in page
    table = typed("usage", "--history", "h.sqlite", "--prices", "prices.toml").out
    assert "BORROWED EUR" in table
    assert "LENT EUR" in table
