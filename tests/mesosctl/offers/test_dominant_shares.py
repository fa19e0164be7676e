"""A dry run as a table, as bars also draw the shares."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.dominant_shares import AcceptedOffer, FrameworkShare, Revocation, RevocationKind, Sharing
from mesosctl.offers.dominant_shares import offer_simulation
from mesosctl.show.charts import chart
from mesosctl.show.output_formats import write

TOTALS = Quantities({"cpus": 9000, "mem": 18000})


def step(number: int, chosen: str, **held: dict[str, int]) -> AcceptedOffer:
    holdings = tuple(FrameworkShare.of(name, Quantities(amounts), TOTALS) for name, amounts in held.items())
    allocated = Quantities.total(holding.amounts for holding in holdings)
    return AcceptedOffer(number, float(number), chosen, chosen, "pool", 1, holdings, allocated)


LAST = step(2, "a", **{"a": {"cpus": 1000, "mem": 4000}, "b<": {"cpus": 3000, "mem": 1000}})
SHARING = Sharing(
    TOTALS,
    ("a", "b<"),
    (
        step(1, "b<", **{"a": {}, "b<": {"cpus": 3000, "mem": 1000}}),
        LAST,
    ),
    {"a": 1, "b<": 1},
    ended=True,
    holdings_at_end=LAST.holdings,
)


def test_the_table_of_the_paper() -> None:
    out = io.StringIO()
    write(offer_simulation(SHARING), "table", out, draws=False, colours=False)
    lines = out.getvalue().splitlines()
    assert lines[1].split() == "b< 0/9, 0/18 - 0%* 3/9, 1/18 3/9 33% 3/9 1/18".split()
    assert lines[2].split() == "a 1/9, 4/18 4/18 22%* 3/9, 1/18 3/9 33% 4/9 5/18".split()
    assert lines[-2].split()[0] == "a"
    assert lines[-2].count("#") == 9


@pytest.mark.parametrize("names", [("a", "b"), ("a", "A"), ("a", "a", "a (2)"), ("cpus", "mem")])
def test_no_two_columns_of_csv_are_called_alike(names: tuple[str, ...]) -> None:
    amounts = {"cpus": 3000, "mem": 1000}
    holdings = tuple(FrameworkShare.of(name, Quantities(amounts), TOTALS) for name in names)
    one = replace(SHARING.steps[0], holdings=holdings)
    out = io.StringIO()
    sharing = replace(SHARING, frameworks=names, steps=(one,), holdings_at_end=holdings)
    write(offer_simulation(sharing), "csv", out, draws=False, colours=False)
    titles, row = csv.reader(out.getvalue().splitlines())
    assert len(set(titles)) == len(titles) == len(row)
    assert {"a shares", "a dominant", "a %"} <= set(titles) or "a" not in names


def test_the_picture_is_well_formed_and_has_a_line_for_each() -> None:
    root = ET.fromstring(chart(SHARING))
    lines = [element.attrib["d"] for element in root.iter() if element.attrib.get("class") == "share"]
    assert [line.count("V") for line in lines] == [2, 2], "each changes when an offer is taken"
    ticks = [element.text for element in root.iter() if element.attrib.get("class") == "tick"]
    assert ticks == ["0s", "0.5s", "1s", "1.5s", "2s"]
    assert any(element.text == "b< 33%" for element in root.iter())


def revoked(action: RevocationKind, number: int) -> Revocation:
    return Revocation(20.0, action, "b<", "pool", f"t{number}", Quantities({"cpus": 1000}), "a")


def test_what_ended_after_the_last_step_is_shown_in_every_form() -> None:
    left = step(3, "-", **{"a": {"cpus": 1000, "mem": 4000}, "b<": {}})
    over = replace(SHARING, tasks={"a": 1, "b<": 0}, holdings_at_end=left.holdings)
    lines = _table(over).splitlines()
    assert lines[3].split() == "(at the end) 1/9, 4/18 4/18 22% 0/9, 0/18 - 0% 1/9 4/18".split()
    assert lines[-1].split()[-1] == "0%"
    root = ET.fromstring(chart(over))
    assert any(element.text == "b< 0%" for element in root.iter())
    out = io.StringIO()
    write(offer_simulation(over), "json", out, draws=False, colours=False)
    shown = json.loads(out.getvalue())
    assert [(held["framework"], held["amounts"].get("cpus", 0)) for held in shown["holdings_at_end"]] == [
        ("a", 1.0),
        ("b<", 0),
    ]
    assert len(shown["steps"]) == 2


WITH_LOSSES = replace(
    SHARING,
    steps=(
        SHARING.steps[0],
        replace(SHARING.steps[1], revoked=(revoked("asked", 1), revoked("asked", 2), revoked("killed", 1))),
    ),
    revoked_at_end=(revoked("rescinded", 3),),
)


def test_the_table_has_a_column_for_what_was_revoked() -> None:
    out = io.StringIO()
    write(offer_simulation(WITH_LOSSES), "table", out, draws=False, colours=False)
    lines = out.getvalue().splitlines()
    assert "REVOKED BEFORE" in lines[0]
    assert "b<: 2 asked, 1 killed" in lines[2]
    assert "revoked: b<: 2 asked, 1 killed, 1 rescinded" in lines
    assert "REVOKED" not in _table(SHARING)


def _table(sharing: Sharing) -> str:
    out = io.StringIO()
    write(offer_simulation(sharing), "table", out, draws=False, colours=False)
    return out.getvalue()


def test_json_names_each_thing_that_was_revoked() -> None:
    out = io.StringIO()
    write(offer_simulation(WITH_LOSSES), "json", out, draws=False, colours=False)
    shown = json.loads(out.getvalue())
    assert [(entry["deed"], entry["id"]) for entry in shown["steps"][1]["revoked"]] == [
        ("asked", "t1"),
        ("asked", "t2"),
        ("killed", "t1"),
    ]
    assert shown["steps"][0]["revoked"] == []
    assert shown["revoked_at_end"][0] == {
        "seconds": 20.0,
        "deed": "rescinded",
        "framework": "b<",
        "agent": "pool",
        "id": "t3",
        "amounts": {"cpus": 1.0},
        "wanted_by": "a",
    }


def test_the_picture_rings_the_line_of_who_lost_tasks() -> None:
    root = ET.fromstring(chart(WITH_LOSSES))
    rings = [element for element in root.iter() if element.tag.endswith("circle")]
    assert len(rings) == 1
    assert rings[0][0].text == "revoked: b<: 2 asked, 1 killed"
    assert "circle" not in chart(SHARING)


def test_nobody_took_anything() -> None:
    nothing = Sharing(
        TOTALS, ("a",), (), {"a": 0}, ended=True, holdings_at_end=(FrameworkShare.of("a", Quantities(), TOTALS),)
    )
    out = io.StringIO()
    write(offer_simulation(nothing), "table", out, draws=True, colours=False)
    assert out.getvalue().startswith("nobody took an offer")
    assert chart(nothing).count('class="share"') == 1
