"""Reports on terminals of several widths."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.amount_text import shown_amount
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Ranges
from mesosctl.show.amounts import (
    agent_use_text,
    amounts_text,
    bar,
    plain_resources_text,
    quota_use_text,
    resources_text,
)
from mesosctl.show.live import LiveView, ProgressLine
from mesosctl.show.output_formats import write
from mesosctl.show.report import Column, Minor, Report, Verdict
from mesosctl.show.terminal import draw_line, view
from tests.helpers.screen import is_cursor_shown, visible


def quantities(**amounts):
    return Quantities({name: round(amount * 1000) for name, amount in amounts.items()})


def report(columns, rows, **more):
    return Report(columns, rows, [], pytest.fail, pytest.fail, **more)


def drawn(shown, width=80, form="table", *, colours=False):
    stream = io.StringIO()
    write(shown, form, stream, draws=True, colours=colours, width=width)
    return stream.getvalue()


def lines(*args, **more):
    return [line.rstrip() for line in drawn(*args, **more).splitlines()]


ROLES = report(
    [
        Column("ROLE"),
        Column("GUARANTEE", kind="amounts"),
        Column("LIMIT", kind="amounts", rank=1),
        Column("AGENTS", kind="number"),
    ],
    [
        ["dev", amounts_text(quantities(cpus=22, disk=2500, mem=6144)), "-", "12"],
        ["ops", amounts_text(quantities(cpus=2.5, gpus=1)), amounts_text(Limits({"mem": 0})), "3"],
    ],
)


def test_amounts_have_a_column_a_resource_with_units():
    assert lines(ROLES) == [
        "      GUARANTEE                  LIMIT",
        "ROLE  CPUS   MEM     DISK  GPUS    MEM  AGENTS",
        "dev     22  6GiB  2500MiB     -      -      12",
        "ops    2.5     -        -     1      0       3",
    ]


def test_what_has_no_room_is_left_out_by_rank_and_named():
    assert lines(ROLES, 40) == [
        "      GUARANTEE",
        "ROLE  CPUS   MEM     DISK  GPUS  AGENTS",
        "dev     22  6GiB  2500MiB     -      12",
        "ops    2.5     -        -     1       3",
        "no room for LIMIT: see -o wide",
    ]


def test_wide_shows_everything_however_narrow_the_terminal_is():
    shown = lines(ROLES, 30, form="wide")
    assert max(map(len, shown)) <= 30
    assert shown == [
        "      GUARANTEE",
        "ROLE  CPUS   MEM     DISK",
        "dev     22  6GiB  2500MiB",
        "ops    2.5     -        -",
        "",
        "      GUARANTEE  LIMIT",
        "ROLE       GPUS    MEM  AGENTS",
        "dev           -      -      12",
        "ops           1      0       3",
    ]


@pytest.mark.parametrize("form", ["table", "wide"])
@pytest.mark.parametrize("width", [1, 10, 60, 80, 200])
def test_a_name_is_never_broken(width, form):
    name = "an-agent.with-a-long-name.in.a.data-centre.far-away.example.com"
    columns = [Column("AGENT"), Column("OTHER", rank=2), Column("WHY", kind="sentence")]
    assert name in drawn(report(columns, [[name, name, f"it is {name}"]]), width, form)


def test_the_first_column_and_those_without_a_rank_stay_however_long_a_name_is():
    columns = [Column("KIND"), Column("NAME", rank=-1), Column("SHARE")]
    assert lines(report(columns, [["role", "n" * 70, "5%"]]), 40) == [
        "KIND  NAME",
        "role  " + "n" * 70,
        "no room for SHARE: see -o wide",
    ]
    assert lines(report([], [], remark=["  " + "n" * 70]), 40) == ["  " + "n" * 70]


def test_sentences_are_broken_between_words():
    columns = [Column("RULE"), Column("FINDING", kind="sentence")]
    text = "not enough capacity: guarantees of cpus:102.5 in all against cpus:24"
    shown = lines(report(columns, [["quota.capacity", text]]), 60)
    assert max(map(len, shown)) <= 60
    assert " ".join(line[16:] for line in shown[1:]) == text


def test_empty_columns_are_left_out_before_full_ones():
    columns = [Column("A"), Column("B"), Column("C", rank=5)]
    assert lines(report(columns, [["a" * 14, "-", "c" * 10]]), 28)[1:] == [
        "aaaaaaaaaaaaaa  cccccccccc",
        "no room for B: see -o wide",
    ]


def test_what_is_reserved_has_a_line_an_owner():
    ads = (Reservation("DYNAMIC", "ads"),)
    volume = Resource("disk", 100_000, ads, disk=Disk("v1", container_path="data", mode="RW"))
    offered = Resources([*parse_entries("cpus:4;ports:[31000-31003]"), Resource("cpus", 2000, ads), volume])
    text = "cpus:4; ports:[31000-31003]; cpus(ads):2; disk[v1:data](ads):100"
    assert sorted(resources_text(offered).split("; ")) == sorted(text.split("; "))
    shown = report([Column("ROLE"), Column("RESOURCES", kind="amounts")], [["ads", resources_text(offered)]])
    assert lines(shown) == [
        "ROLE  FOR  CPUS        PORTS  OTHER",
        "ads   -       4  31000-31003  -",
        "      ads     2            -  disk[v1:data]:100",
    ]


def test_many_ranges_are_counted_unless_it_is_wide():
    ranges = Ranges.of((number, number) for number in range(31000, 31040, 2))
    shown = report(
        [Column("A"), Column("SIZE", kind="amounts")],
        [["a", plain_resources_text(Resources([Resource("ports", ranges)]))]],
    )
    assert lines(shown)[1] == "a  20 in 20 ranges"
    assert "31038-31038" in drawn(shown, form="wide")


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpus", 0.001, "0.001"),
        ("mem", 0, "0"),
        ("mem", 512, "512MiB"),
        ("mem", 1024, "1GiB"),
        ("mem", 1536, "1.5GiB"),
        ("mem", 2500, "2500MiB"),
        ("disk", 9999.5, "9999.5MiB"),
        ("disk", 10_001, "9.8GiB"),
        ("disk", 1024**2, "1TiB"),
        ("disk", 3 * 1024**4, "3072PiB"),
        ("gpus", 4096, "4096"),
    ],
)
def test_sizes_have_units(name, amount, text):
    assert shown_amount(name, round(amount * 1000)) == text


def test_the_answer_comes_first_and_what_matters_little_is_wide():
    columns = [Column("RESULT", meaning={"FAIL": "not met"}), Column("RULE")]
    shown = report(
        columns,
        [["pass", "a"], ["FAIL", "b"], ["pass", "c"]],
        verdicts=[Verdict("NO: b", "not met")],
        minor=Minor(lambda row: row[0] == "pass", "rules hold", "rule holds"),
        remark=["more"],
    )
    assert lines(shown) == ["NO: b", "", "RESULT  RULE", "FAIL    b", "2 rules hold (-o wide shows them)", "more"]
    assert [line[:4] for line in lines(shown, form="wide")] == ["NO: ", "", "RESU", "pass", "FAIL", "pass", "more"]
    plain = io.StringIO()
    write(shown, "table", plain, draws=False, colours=False)
    assert plain.getvalue() == "NO: b\n\nRESULT  RULE\npass    a\nFAIL    b\npass    c\nmore\n"


def test_colours_stand_beside_words_and_go_alone():
    columns = [Column("RESULT", meaning={"FAIL": "not met"}), Column("LOSES", meaning="lost"), Column("NAME")]
    shown = report(columns, [["FAIL", "cpus:1", "FAIL"], ["pass", "-", "pass"]])
    coloured = drawn(shown, colours=True)
    assert coloured.count("\x1b[1;31m") == 1
    assert coloured.count("\x1b[31m") == 1
    assert visible(coloured) == lines(shown)
    assert "\x1b" not in drawn(shown)


@given(st.text(max_size=5), st.text(max_size=5), st.integers(1, 40))
def test_nothing_steers_the_terminal(name, role, width):
    held = Resources([Resource(f"x{name}", 1000, (Reservation("STATIC", f"r{role}"),))])
    columns = [Column("NAME"), Column("RESOURCES", kind="amounts"), Column("WHY", kind="sentence")]
    for form in ("table", "wide"):
        shown = drawn(report(columns, [[name, resources_text(held), role]], remark=[name]), width, form)
        assert all(line.isprintable() for line in shown.split("\n"))


def test_a_remark_keeps_its_indentation_and_a_diff_its_lines():
    text = "  " + "word " * 20
    assert lines(report([], [], remark=[text.rstrip()]), 40) == [
        "  " + "word " * 6 + "word",
        "    " + "word " * 6 + "word",
        "    " + "word " * 5 + "word",
    ]
    assert lines(report([], [], remark=[text], verbatim=True), 40) == [text.rstrip()]


def test_progress_leaves_nothing_behind():
    stream = io.StringIO()
    line = ProgressLine(stream, colours=False)
    line.show("reading [bold]it[/bold]")
    line.show("playing", 0.5)
    assert not is_cursor_shown(stream.getvalue())
    line.stop()
    line.stop()
    assert "mesosctl: reading [bold]it[/bold]" in stream.getvalue()
    assert " 50%" in stream.getvalue()
    assert visible(stream.getvalue()) == []
    assert is_cursor_shown(stream.getvalue())


def test_a_view_takes_the_place_of_the_one_before_it():
    stream = io.StringIO()
    live = LiveView(stream, colours=False)
    for count in ("1", "20"):
        live.show(view(report([Column("N")], [[count]] * int(count)), wide=False, width=20), 20)
    live.stop()
    assert visible(stream.getvalue()) == ["N", *["20"] * 20]
    live.show(view(report([Column("N")], [["3"]]), wide=False, width=20), 20)
    live.stop()
    assert visible(stream.getvalue())[-2:] == ["N", "3"]
    assert is_cursor_shown(stream.getvalue())


def test_a_line_has_the_colour_of_its_meaning():
    stream = io.StringIO()
    draw_line("+ spark [ads]", "gained", stream)
    draw_line("- spark \x1b[2J", "lost", stream)
    assert stream.getvalue() == "\x1b[32m+ spark [ads]\x1b[0m\n\x1b[31m- spark \\x1b[2J\x1b[0m\n"


def test_a_table_of_minor_rows_alone_is_its_count():
    shown = report(
        [Column("RESULT"), Column("RULE")], [["pass", "a"]], minor=Minor(lambda _: True, "rules hold", "rule holds")
    )
    assert lines(shown, 5) == ["1", "  rule", "  holds", "  (-o", "  wide", "  shows", "  it)"]
    assert lines(shown) == ["1 rule holds (-o wide shows it)"]


@pytest.mark.parametrize(
    ("used", "due", "whole", "drawn"),
    [
        (0, 0, 10, "░░░░░░"),
        (0, 10, 10, "▒▒▒▒▒▒"),
        (5, 10, 20, "██▒░░░"),
        (10, 5, 10, "██████"),
        (12, 0, 10, "██████"),
        (0.001, 0, 10, "█░░░░░"),
        (9.999, 0, 10, "█████░"),
        (3, 3, 0, "      "),
    ],
)
def test_a_bar_shows_anything_that_is_not_nothing_and_is_full_for_all_alone(used, due, whole, drawn):
    assert bar(used, due, whole) == drawn


def test_use_stands_in_one_cell_a_resource_and_shares_its_unit():
    quota = Quota(quantities(cpus=12, mem=6144), Limits({"mem": 12288_000}))
    text = quota_use_text(quantities(cpus=10, mem=4096), quota, quantities(cpus=2), ["cpus", "mem"])
    shown = report([Column("ROLE"), Column("USED/GUARANTEE/LIMIT", kind="usage")], [["dev", text], ["ops", "-"]])
    assert lines(shown) == [
        "      USED/GUARANTEE/LIMIT",
        "ROLE            CPUS               MEM",
        "dev   10/12/- █████▒  4/6/12GiB ██▒░░░",
        "ops                -                 -",
    ]
    coloured = drawn(shown, colours=True)
    assert "\x1b[1;31m10/12/- █████▒" in coloured
    assert "\x1b[32m4/6/12GiB" in coloured


@pytest.mark.parametrize(
    ("used", "guarantee", "limit", "text"),
    [
        (512, 6144, None, "512MiB/6GiB/-"),
        (0, 6144, 8192, "0/6/8GiB"),
        (0, 0, 0, "0/0/0"),
        (1024, None, 2048, "1/-/2GiB"),
        (1024, 2048, None, "1/2GiB/-"),
    ],
)
def test_a_unit_is_left_out_where_the_last_amount_has_it(used, guarantee, limit, text):
    quota = Quota(
        quantities(mem=guarantee) if guarantee else Quantities(),
        Limits({}) if limit is None else Limits({"mem": limit * 1000}),
    )
    cell = quota_use_text(quantities(mem=used), quota, Quantities(), ["mem"])
    assert cell.startswith(f"mem:{text}") or guarantee == 0


def test_a_terminal_that_has_no_bars_shows_signs():
    text = agent_use_text(quantities(cpus=2), quantities(cpus=2), quantities(cpus=8), quantities(cpus=1))
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    write(report([Column("USED/TOTAL", kind="usage")], [[text]]), "table", stream, draws=True, colours=False)
    stream.flush()
    assert b"2/8 ##=%.." in stream.buffer.getvalue()


def test_a_terminal_may_have_a_report_of_its_own():
    shown = report([Column("A")], [["plain"]], terminal=lambda: report([Column("B")], [["drawn"]]))
    assert lines(shown) == ["B", "drawn"]
    assert lines(shown, form="wide") == ["A", "plain"]
    plain = io.StringIO()
    write(shown, "table", plain, draws=False, colours=False)
    assert plain.getvalue() == "A\nplain\n"


def test_the_title_over_a_narrow_column_counts_in_the_width_of_a_table():
    """`GUARANTEE` is wider than the column `CPUS` below it."""
    columns = [Column("ROLE"), Column("GUARANTEE", kind="amounts"), Column("USED", kind="amounts", rank=1)]
    shown = report(columns, [["dev", amounts_text(quantities(cpus=22)), amounts_text(quantities(cpus=1, mem=512))]])
    assert lines(shown, 29)[:2] == ["      GUARANTEE  USED", "ROLE       CPUS  CPUS     MEM"]
    assert lines(shown, 28)[:2] == ["      GUARANTEE  USED", "ROLE       CPUS  CPUS"]
