"""A dry run as a table, as bars and as a picture."""

import io
import xml.etree.ElementTree as ET

from mesosctl.core.quantities import Quantities
from mesosctl.core.sharing import Holding, Sharing, SharingStep
from mesosctl.render.report import write
from mesosctl.render.sharing import offer_simulation
from mesosctl.render.sharing_picture import picture

TOTALS = Quantities({"cpus": 9000, "mem": 18000})


def step(number: int, chosen: str, **held: dict[str, int]) -> SharingStep:
    holdings = tuple(Holding.of(name, Quantities(amounts), TOTALS) for name, amounts in held.items())
    allocated = Quantities.total(holding.amounts for holding in holdings)
    return SharingStep(number, float(number), chosen, chosen, "pool", 1, holdings, allocated)


SHARING = Sharing(
    TOTALS,
    ("a", "b<"),
    (
        step(1, "b<", **{"a": {}, "b<": {"cpus": 3000, "mem": 1000}}),
        step(2, "a", **{"a": {"cpus": 1000, "mem": 4000}, "b<": {"cpus": 3000, "mem": 1000}}),
    ),
    {"a": 1, "b<": 1},
    ended=True,
)


def test_the_table_of_the_paper() -> None:
    out = io.StringIO()
    write(offer_simulation(SHARING), "table", out, draws=False, colours=False)
    lines = out.getvalue().splitlines()
    assert lines[1].split() == "b< 0/9, 0/18 - 0%* 3/9, 1/18 3/9 33% 3/9 1/18".split()
    assert lines[2].split() == "a 1/9, 4/18 4/18 22%* 3/9, 1/18 3/9 33% 4/9 5/18".split()
    assert lines[-2].split()[0] == "a"
    assert lines[-2].count("#") == 9


def test_the_picture_is_well_formed_and_has_a_line_for_each() -> None:
    root = ET.fromstring(picture(SHARING))
    lines = [element for element in root.iter() if element.tag.endswith("polyline")]
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3]
    assert any(element.text == "b< 33%" for element in root.iter())


def test_nobody_took_anything() -> None:
    nothing = Sharing(TOTALS, ("a",), (), {"a": 0}, ended=True)
    out = io.StringIO()
    write(offer_simulation(nothing), "table", out, draws=True, colours=False)
    assert out.getvalue().startswith("nobody took anything")
    assert "polyline" in picture(nothing)
