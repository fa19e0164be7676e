"""Reports of any length are written as if they were whole."""

import io
import json
from collections.abc import Callable
from typing import NoReturn

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from mesosctl.mesos.amounts.resource import Disk, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import AgentReservation, RegisteredAgent, agent_reservations
from mesosctl.mesos.errors import printable_json
from mesosctl.reservations.documents import ReservationEntry, ReservationList, VolumeList
from mesosctl.reservations.report import reservation_list, volume_list
from mesosctl.show.output_formats import write
from mesosctl.show.report import Column, Report, Rows
from tests.helpers.profiles import examples

NAMES = st.text(min_size=1, max_size=8)


def always(document: BaseModel) -> Callable[[], BaseModel]:
    return lambda: document


def no_document() -> NoReturn:
    pytest.fail("rows are written without the document")


@st.composite
def held(draw):
    """What some agents hold, with names and labels of any letters."""
    found: list[AgentReservation] = []
    for number in range(draw(st.integers(0, 3))):
        labels = Labels([(draw(NAMES), draw(st.none() | NAMES))])
        stack = (Reservation("DYNAMIC", draw(NAMES), draw(st.none() | NAMES), labels),)
        volume = Disk(draw(NAMES), container_path=draw(NAMES), mode="RW")
        total = Resources([Resource("cpus", 1500, stack), Resource("disk", 2000, stack, disk=volume)])
        found += agent_reservations(RegisteredAgent(f"S{number}", draw(NAMES), "pid", total))
    return found


def written(report, form, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding, newline="")
    write(report, form, stream, draws=False, colours=False)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


@settings(max_examples=examples(150))
@given(held(), st.sampled_from(["utf-8", "ascii"]))
def test_a_listing_is_the_document_with_its_items(shown, encoding):
    entries = [ReservationEntry.of(one) for one in shown]
    for report, whole in (
        (reservation_list(shown), ReservationList(reservations=entries)),
        (volume_list(shown), VolumeList(volumes=entries)),
    ):
        text = written(report, "json", encoding)
        assert json.loads(text) == whole.model_dump()
        assert text == written(report._replace(document=always(whole), listing=""), "json", encoding)
        in_yaml = written(report, "yaml", encoding)
        assert yaml.safe_load(in_yaml) == whole.model_dump()
        assert printable_json(in_yaml) == in_yaml


def test_a_name_that_is_no_utf_8_is_escaped_where_it_stands():
    total = Resources([Resource("cpus", 1000, (Reservation("STATIC", "r\udcff"),))])
    shown = [
        *agent_reservations(RegisteredAgent("S0", "höst", "", total)),
        *agent_reservations(RegisteredAgent("S1", "h", "", total)),
    ]
    entries = json.loads(written(reservation_list(shown), "json"))["reservations"]
    assert yaml.safe_load(written(reservation_list(shown), "yaml"))["reservations"] == entries
    assert [(entry["role"], entry["agent"]["hostname"]) for entry in entries] == [("r\udcff", "höst"), ("r\udcff", "h")]


@pytest.mark.parametrize("form", ["table", "wide", "csv"])
def test_rows_that_are_made_when_looked_at_are_written_like_others(form):
    values = ["a", "bbbb", "\x1b[2J"]
    columns = [Column("NAME"), Column("LENGTH", wide=True)]
    lazy = Rows(values, lambda value: [value, str(len(value))])
    report = Report(columns, lazy, values, no_document, list)
    assert written(report, form) == written(report._replace(rows=[[value, str(len(value))] for value in values]), form)
    assert (len(lazy), lazy[1], list(lazy[1:])) == (3, ["bbbb", "4"], [["bbbb", "4"], ["\x1b[2J", "4"]])


def test_no_row_and_no_item_is_kept():
    alive: set[int] = set()
    most = [0]

    class Row(list[str]):
        def __del__(self):
            alive.discard(id(self))

    def make(value):
        row = Row([value])
        alive.add(id(row))
        most[0] = max(most[0], len(alive))
        return row

    report = Report([Column("N")], Rows([str(n) for n in range(500)], make), [], no_document, list)
    for form in ("table", "csv"):
        assert len(written(report, form).splitlines()) == 501
    assert most[0] < 10
