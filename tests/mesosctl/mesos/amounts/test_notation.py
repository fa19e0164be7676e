"""How resources, spans and lists are read and written."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import (
    LONGEST_SPAN,
    LONGEST_WAIT,
    counted,
    format_span,
    listed,
    natural,
    parse_duration,
    parse_entries,
    parse_fraction,
    parse_of_agents,
    parse_resources,
    parse_seconds,
    parse_span,
    utc_minute,
    utc_moment,
    utc_second,
)
from mesosctl.mesos.amounts.quantities import Quantities, format_milli
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.values import Items, Ranges
from mesosctl.mesos.errors import RuleViolation, UsageError

VALUES = (
    st.integers(0, 10**9).map(format_milli)
    | st.lists(st.tuples(st.integers(0, 9), st.integers(10, 20)), max_size=3).map(Ranges.of).map(str)
    | st.lists(st.sampled_from("abc"), unique=True).map(Items.of).map(str)
)
PARTS = st.tuples(st.sampled_from(["cpus", "x-y", "a.b"]), st.sampled_from([None, "*", "ads", "ads/web"]), VALUES)
BLANKS = st.sampled_from(["", " ", "\t "])


@given(st.lists(PARTS, max_size=4), BLANKS, st.sampled_from(["*", "dev"]))
def test_the_entries_of_a_text_are_its_parts_in_order(parts, blank, default):
    written = [
        f"{blank}{name}{blank}{'' if role is None else f'({blank}{role}{blank})'}{blank}:{blank}{value}{blank}"
        for name, role, value in parts
    ]
    found = parse_entries(";".join([*written, blank]), default)
    assert [(one.name, one.role, one.text(with_role=False).rpartition(":")[2]) for one in found] == [
        (name, role or default, value) for name, role, value in parts
    ]
    for one in found:
        assert one.reservations == (() if one.role == "*" else (Reservation("STATIC", one.role),))


@pytest.mark.parametrize(
    ("text", "rule", "field", "hint"),
    [
        ("cpus", "resource.text", "cpus", "cpus:12"),
        ("cpus=", "resource.text", "cpus=", "cpus:12"),
        ("=5", "resource.text", "=5", "cpus:12"),
        ("a=b:1:2", "resource.text", "a=b:1:2", "cpus:12"),
        ("a=b=c", "resource.text", "a=b=c", "for example, cpus:12"),
        ("50%", "resource.text", "50%", "cpus:12"),
        (" cpus=1 ", "resource.text", "cpus=1", "for example, cpus:12"),
        ("cpus:1:2", "resource.text", "cpus:1:2", "cpus:12"),
        ("cpus:1, mem:2", "resource.text", "cpus:1, mem:2", "'cpus:1;mem:2'"),
        ("cpus:1,", "resource.text", "cpus:1,", "cpus:1,"),
        ("ports:[1-2,5-6],cpus:1", "resource.text", "ports:[1-2,5-6],cpus:1", "'ports:[1-2,5-6];cpus:1'"),
        ("cpus:1,5", "resource.number", "cpus", "cpus:12"),
        ("cpus(a:1", "resource.text", "cpus(a:1", None),
        ("cpus(a)b:1", "resource.text", "cpus(a)b:1", None),
        ("cpus)a(:1", "resource.text", "cpus)a(:1", None),
        ("cpus(a)(b):1", "resource.text", "cpus(a)(b):1", None),
        ("(a):1", "resource.name", "(a):1", None),
        (" cpus(-a):1", "role.syntax", "cpus(-a):1", None),
        ("cpus:-1.5", "amount.sign", "cpus", "without a sign"),
        ("cpus:+2", "amount.sign", "cpus", "without a sign"),
        ("cpus:1;mem(ads): + 2GiB", "amount.sign", "mem", "without a sign"),
        ("cpus:-0", "amount.sign", "cpus", "without a sign"),
        ("ports:+31000", "amount.sign", "ports", "without a sign"),
        ("ports:[1-2", "resource.ranges", "ports", None),
        ("ports:[1-2]]", "resource.ranges", "ports", None),
        ("ports:[[1-2]", "resource.ranges", "ports", None),
        ("ports:[1-2;cpus:1", "resource.ranges", "ports", None),
        ("x:[1]", "resource.ranges", "x", "x:[31000-31005]"),
        ("x:[1-2,]", "resource.ranges", "x", "x:[31000-31005]"),
        (f"x:[{'0' * 70}1-2]", "resource.ranges", "x", "x:[31000-31005]"),
        (f"x:[{'0' * 62}1-2]", "resource.ranges", "x", "x:[31000-31005]"),
        ("x:[2-1]", "resource.ranges", "x", None),
        (f"x:[1-{2**64}]", "resource.ranges", "x", None),
        ("x:{a", "resource.set", "x", None),
        ("x:{a}}", "resource.set", "x", None),
        ("x:{{a}", "resource.set", "x", None),
        ("x:{a,b,a}", "resource.set", "x", None),
        ("x:1;x:[1-2]", "resource.one-type", "x", None),
    ],
)
def test_a_text_that_is_wrong_is_refused_by_its_rule_and_its_place(text, rule, field, hint):
    with pytest.raises(RuleViolation) as refused:
        parse_resources(text)
    assert (refused.value.rule, refused.value.field) == (rule, field)
    assert (hint or "") in (refused.value.hint or "")
    assert field in str(refused.value) or rule == "role.syntax"


@pytest.mark.parametrize("text", ["ports:[1-2", "ports:[1-2]]", "ports:[[1-2]", "ports:[1]-2"])
def test_brackets_that_do_not_match_are_named(text):
    with pytest.raises(RuleViolation, match="brackets"):
        parse_resources(text)


@pytest.mark.parametrize(
    ("word", "separated"),
    [
        ("cpus:1,mem:2", "'cpus:1;mem:2'"),
        ("mem:2,disk:3;cpus:1", "'mem:2;disk:3'"),
        ("cpus:1,ports:[1-2,5-6]", "'cpus:1;ports:[1-2,5-6]'"),
        ("x:{a,b},cpus:1", "'x:{a,b};cpus:1'"),
    ],
)
def test_resources_with_commas_between_them_are_refused(word, separated):
    with pytest.raises(RuleViolation) as refused:
        parse_resources(word)
    assert (refused.value.hint or "").endswith(separated)


@pytest.mark.parametrize("word", ["ports:[1-2,5-6]", "x:{a,b}", "cpus:1"])
def test_commas_within_a_value_are_no_commas_between_resources(word):
    assert len(parse_resources(word)) == 1


def test_a_resource_text_may_have_an_owner():
    assert parse_resources("cpus:1;mem(*):2", "ads") == parse_resources("cpus(ads):1;mem:2")


def test_the_largest_port_and_a_range_of_one_are_read():
    assert parse_resources(f"x:[0-0, {2**64 - 1}-{2**64 - 1}]")[0].value == Ranges(((0, 0), (2**64 - 1, 2**64 - 1)))
    assert parse_resources("x:[]; y:{}") == parse_resources("")
    assert parse_resources(f"x:[{'0' * 61}1-2]") == parse_resources("x:[1-2]")


def test_a_part_is_one_of_the_whole():
    whole = Quantities({"cpus": 10_001, "mem": 10_000_999, "ports": 5000})
    found = parse_entries("cpus:50%;mem(a):33.5 %;disk:50%", whole=whole)
    assert [entry.value for entry in found] == [5000, 3_350_000, 0]
    assert parse_entries("cpus:50", whole=whole)[0].value == 50_000
    with pytest.raises(RuleViolation) as refused:
        parse_entries("ports:50%", whole=whole)
    assert refused.value.rule == "resource.number"
    with pytest.raises(RuleViolation) as refused:
        parse_entries("50%", whole=whole)
    assert "cpus:50% mem:50%" in str(refused.value.hint)
    with pytest.raises(RuleViolation) as refused:
        parse_entries("cpus", whole=whole)
    assert "cpus:cpus" not in str(refused.value.hint)
    assert parse_of_agents("cpus:50%", whole=whole)[0].value == 5000


def test_a_plain_number_of_ports_is_one_port_of_an_agent():
    found = parse_of_agents("ports:31000;ports:[1-2];cpus:3", "dev")
    assert [entry.value for entry in found] == [Ranges(((31000, 31000),)), Ranges(((1, 2),)), 3000]
    assert {entry.role for entry in found} == {"dev"}
    assert parse_resources("ports:5", of_agents=True)[0].value == Ranges(((5, 5),))
    assert parse_resources("ports:5")[0].value == 5000
    with pytest.raises(RuleViolation) as refused:
        parse_of_agents("ports:1.5")
    assert (refused.value.rule, refused.value.field) == ("resource.ranges", "ports")
    assert "1.5" in str(refused.value)
    assert "ports:[31000-31000]" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00s"),
        (9.99, "9.99s"),
        (10, "10s"),
        (59.4, "59s"),
        (59.6, "1m00s"),
        (60, "1m00s"),
        (125, "2m05s"),
        (3599.4, "59m59s"),
        (3600, "1h00m"),
        (12_000, "3h20m"),
        (48 * 3600 - 60, "47h59m"),
        (48 * 3600, "2d00h"),
        (3 * 86_400 + 4 * 3600, "3d04h"),
        (1e12 - 1, "11574074d02h"),
        (1e12, "1e+12s"),
        (1.234e15, "1.23e+15s"),
    ],
)
def test_a_span_has_two_units_at_most(seconds, text):
    assert format_span(seconds) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5s", 1.5),
        ("250 ms", 0.25),
        ("10m", 600),
        ("1h30m", 5400),
        ("1d 2h 3m 4s", 93_784),
        ("2days", 172_800),
        ("3hrs", 10_800),
        ("5secs", 5),
    ],
)
def test_a_span_is_the_sum_of_its_parts(text, seconds):
    assert parse_span(text, "--for") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", " ", "h", "5x", "1h5", "1h2h", "1m2mins", "5 5", "-1s", "1h-2m", "0", "0s"])
def test_what_is_no_span_above_zero_is_refused(text):
    with pytest.raises(UsageError) as refused:
        parse_span(text, "--for")
    assert refused.value.field == "--for"
    assert "1h30m" in str(refused.value.hint)
    assert f"'{text}'" in str(refused.value)


UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


@pytest.mark.parametrize(("read", "most"), [(parse_span, LONGEST_SPAN), (parse_seconds, LONGEST_WAIT)])
@given(parts=st.lists(st.tuples(st.integers(0, 9 * 10**9), st.sampled_from(sorted(UNITS))), max_size=6))
def test_a_span_is_above_zero_and_within_its_bound_wherever_it_is_read(read, most, parts):
    parts = list({unit: (number, unit) for number, unit in parts}.values())
    text = "".join(f"{number}{unit}" for number, unit in parts)

    seconds = sum(number * UNITS[unit] for number, unit in parts)
    if 0 < seconds < most:
        assert read(text, "--for") == pytest.approx(seconds)
    elif not 0 < seconds <= most * 1.001:
        with pytest.raises(UsageError) as refused:
            read(text, "--for")
        assert refused.value.field == "--for"


@pytest.mark.parametrize("zero", ["0", "0.0", "-0", "0e9", "0s", "0ms", "00h00m"])
def test_no_seconds_are_refused_where_no_least_is_named_too(zero):
    with pytest.raises(UsageError, match=f"'{zero}' is not"):
        parse_seconds(zero, "--duration")


def test_seconds_are_finite_and_not_below_the_least():
    assert parse_seconds("0.5", "--refuse", 0.5) == 0.5
    for text in ("0.4", "400ms", "inf", "nan", "1e9", "1e300", "999999h"):
        with pytest.raises(UsageError) as refused:
            parse_seconds(text, "--refuse", 0.5)
        assert refused.value.field == "--refuse"
        assert refused.value.hint
        assert text in str(refused.value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("250ms", 0.25), ("10mins", 600), ("1.5hrs", 5400), ("2weeks", 1_209_600), ("7ns", 7e-9)]
)
def test_a_duration_of_mesos(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "5s", "5 secs", "-5secs", "5SECS"])
def test_what_is_no_duration_of_mesos(text):
    with pytest.raises(ValueError, match="duration") as refused:
        parse_duration(text)
    assert f"'{text}'" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "part"), [("0.2", 0.2), (" 20% ", 0.2), ("1e-3", 0.001), (".5", 0.5), ("7.", 7), ("150%", 1.5)]
)
def test_a_fraction_is_a_number_or_a_percentage(text, part):
    assert parse_fraction(text) == pytest.approx(part)


@pytest.mark.parametrize("text", ["", "%", "half", "-1", "1/2", "20%%"])
def test_what_is_no_fraction(text):
    assert math.isnan(parse_fraction(text))


def test_moments_have_seconds_only_if_they_are_close():
    seconds = 1_900_000_000.25
    assert (utc_minute(seconds), utc_second(seconds)) == ("2030-03-17 17:46", "2030-03-17 17:46:40")
    assert [utc_moment(seconds, step) for step in (59.9, 60)] == [utc_second(seconds), utc_minute(seconds)]


def test_of_many_names_the_first_are_listed():
    assert [listed("abcd"[:number], 3) for number in range(5)] == ["", "a", "a, b", "a, b, c", "a, b, c and 1 more"]
    assert listed("abcdefg") == "a, b, c, d, e and 2 more"
    assert [counted(number, "task") for number in range(3)] == ["0 tasks", "1 task", "2 tasks"]


def test_names_are_sorted_by_each_of_their_numbers():
    names = ["a2b3c10", "a0", "a2b3c9", "a2b10c1", "a10b1c1", "a", "a02b3c9", "b"]
    assert sorted(names, key=natural) == ["a", "a0", "a02b3c9", "a2b3c9", "a2b3c10", "a2b10c1", "a10b1c1", "b"]
