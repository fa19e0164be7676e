"""`--columns`: the chosen columns of every list, in the order of the words."""

import csv

import pytest

from mesosctl.mesos.errors import UsageError
from mesosctl.show.document import Document
from mesosctl.show.report import Column, Report, with_columns
from tests.mesosctl.program.mistakes.mistake import typed

LISTS = ["agents", "frameworks", "roles", "quota list", "weights list", "reservations", "volumes list", "offers list"]


@pytest.mark.parametrize("words", [*LISTS, "top", "maintenance list", "context list", "audit list"])
def test_every_list_shows_the_columns_of_its_csv_in_any_order(words, folder):
    typed("quota set web cpus:1", folder)
    whole = typed(f"{words} -o csv", folder)
    assert whole.status == 0, whole.err
    titles, *rows = csv.reader(whole.out.splitlines())
    chosen = list(reversed(titles))
    shown = typed(f"{words} -o csv --columns '{','.join(chosen).upper()}'", folder)
    assert shown.status == 0, shown.err
    assert list(csv.reader(shown.out.splitlines())) == [chosen, *(list(reversed(row)) for row in rows)]


def test_a_table_shows_wide_columns_too(folder):
    typed("quota set web cpus:1", folder, "fake:?version=1.11")
    shown = typed("quota list --columns frameworks,role", folder, "fake:?version=1.11").out
    assert [line.split() for line in shown.splitlines()] == [["FRAMEWORKS", "ROLE"], ["0", "web"]]


def test_a_list_that_is_watched(folder):
    shown = typed("roles --columns role --watch --count 1", folder).out
    assert shown.splitlines()[0].strip() == "ROLE"


def test_an_answer_that_is_no_table_is_told(folder):
    ran = typed("export --columns role", folder)
    assert ran.status == 0
    assert "note: --columns has no effect here" in ran.err


def test_an_unknown_column_is_refused():
    report = Report([Column("ROLE"), Column("AGENT ID", key="agent_id")], [["web", "S1"]], [], Document, list)
    assert list(with_columns(report, ["AGENT_ID", "Role"]).rows) == [["S1", "web"]]
    with pytest.raises(UsageError, match="there is no column 'limit'"):
        with_columns(report, ["limit"])
    with pytest.raises(UsageError, match="names 'agent id' twice"):
        with_columns(report, ["AGENT_ID", "role", "agent id"])


@pytest.mark.parametrize("words", [*LISTS, "tasks", "maintenance list", "ratelimit show"])
def test_a_list_is_sorted_by_the_column_that_people_see_first(words, folder):
    title = typed(f"{words} -o csv", folder).out.splitlines()[0].split(",")[0]
    for column in (title, title.upper()):
        ran = typed(f"{words} --sort {column}", folder)
        assert ran.status == 0, ran.err
    verb = "" if " " in words or words == "reservations" else " list"
    assert f"Sort by {title}" in " ".join(typed(f"{words}{verb} --help", folder).out.split())
