"""Amounts: exact thousandths, Mesos's rounding, and what a person may type."""

import pickle
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.quantities import (
    SIGN,
    Limits,
    Quantities,
    format_double,
    format_milli,
    parse_amount,
    parse_double,
    part_of,
    to_double,
    to_milli,
    to_shown,
)
from mesosctl.mesos.errors import RuleViolation
from mesosctl.show.document import amounts


@pytest.mark.parametrize(
    ("value", "milli"),
    [
        (1.234, 1234),
        (1.2345, 1235),
        (1.2344, 1234),
        (1.5015, 1502),
        (0.0015, 2),
        (0.0004, 0),
        (0.0007, 1),
        (-1.0005, -1001),
    ],
)
def test_a_double_rounds_half_away_from_zero(value: float, milli: int):
    assert to_milli(value) == milli


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_showing_and_reading_an_amount_changes_nothing(milli: int):
    assert to_milli(to_double(milli)) == milli


@given(st.integers(min_value=0, max_value=10**12))
def test_what_is_printed_is_what_was_typed(milli: int):
    assert parse_amount("cpus", format_milli(milli)) == milli


@given(st.integers(min_value=0, max_value=10**9))
def test_a_number_that_was_typed_is_sent_and_shown_as_it_was_typed(milli: int):
    """1.14 is never 1.1400000000000001, which would be refused as finer than a thousandth."""
    text = format_milli(milli)
    assert to_shown(parse_amount("cpus", text)) == float(text)
    assert amounts(Quantities({"cpus": milli})) == ({"cpus": float(text)} if milli else {})


def test_an_amount_goes_to_another_process_as_it_was_sent():
    amount = parse_amount("cpus", "1.14")
    copied = pickle.loads(pickle.dumps(amount))  # our own
    assert (copied, to_shown(copied)) == (1140, 1.14)


@given(st.integers(min_value=1, max_value=10**12), st.integers(min_value=1, max_value=10**4))
def test_equal_parts_make_up_the_whole_but_for_a_thousandth_each(milli: int, parts: int):
    whole = Quantities({"cpus": milli})
    down, up = (whole.average(parts, up=up).get_amount("cpus") for up in (False, True))
    assert down * parts <= milli <= up * parts
    assert up - down == (1 if milli % parts else 0)


@given(st.decimals(min_value=0, max_value=10**6, places=6))
@example(Decimal("0.0001"))
def test_an_amount_is_exact_or_refused_with_the_nearest(amount: Decimal):
    exact = (amount * 1000) % 1 == 0
    if exact:
        assert parse_amount("cpus", f"{amount:f}") == int(amount * 1000)
    else:
        nearest = int((amount * 1000).to_integral_value(ROUND_HALF_UP)) or 1  # zero would be another wish
        with pytest.raises(RuleViolation, match="finer than") as refused:
            parse_amount("cpus", f"{amount:f}")
        assert refused.value.hint == f"write cpus:{format_milli(nearest)}"


@pytest.mark.parametrize(
    ("text", "mebibytes"),
    [
        ("6GiB", 6144),
        ("6G", 6144),
        ("6gb", 6144),
        ("6Gi", 6144),
        ("1024ki", 1),
        ("512MiB", 512),
        ("512", 512),
        ("1TiB", 1048576),
        ("1048576B", 1),
    ],
)
def test_sizes_are_counted_in_the_unit_that_mesos_calls_mb(text: str, mebibytes: int):
    assert parse_amount("mem", text) == mebibytes * 1000


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("cpus", "2GiB", "resource.unit"),
        ("mem", "2XB", "resource.unit"),
        ("mem", "2i", "resource.unit"),
        ("mem", "1B", "resource.precision"),
        ("cpus", "", "resource.number"),
        ("cpus", "twelve", "resource.number"),
        ("cpus", "nan", "resource.number"),
        ("cpus", "inf", "resource.number"),
        ("cpus", "1e400", "resource.number"),
        ("cpus", "9" * 30, "resource.number"),
        ("cpus", "9223372036854775", "resource.number"),
        ("cpus", "-9223372036854775.807", "resource.number"),
        ("cpus", "0e31", "resource.number"),
        ("cpus", "0" * 65, "resource.number"),
        ("cpus", "१२", "resource.number"),
    ],
)
def test_what_is_no_amount_is_refused_by_its_rule(name: str, text: str, rule: str):
    with pytest.raises(RuleViolation) as refused:
        parse_amount(name, text)
    assert (refused.value.rule, refused.value.field) == (rule, name)
    assert name in str(refused.value)
    assert refused.value.hint


def test_the_largest_texts_that_are_amounts():
    assert parse_amount("cpus", "9223372036854774") == to_milli(9223372036854774.0)
    assert parse_amount("cpus", "0e30") == parse_amount("cpus", "0" * 64) == 0


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("ports", "many", "ports:[31000-31005]"),
        ("ports", "31000-31001", "write 'ports:[31000-31001]'"),
        ("mem", "many", "for example, mem:6GiB"),
        ("cpus", "many%", "for example, cpus:12"),
        ("me", "6GiB", "did you mean mem?"),
        ("cpus", "6GiB", "cpus as a plain number"),
    ],
)
def test_what_is_no_amount_has_a_hint(name: str, text: str, hint: str):
    with pytest.raises(RuleViolation) as refused:
        parse_amount(name, text)
    assert hint in str(refused.value.hint)
    assert (refused.value.advice is None) is ("%" not in text)


def test_a_part_of_what_is_counted_in_thousandths_is_exact():
    whole = Quantities({"cpus": 3000, "gpus": 3000})
    assert [part_of(name, "50%", whole) for name in ("cpus", "gpus")] == [1500, 1000]
    assert part_of("cpus", "100%", whole) == 3000


def test_amounts_that_differ_are_found_apart():
    assert len({hash(Quantities({"cpus": number})) for number in range(1, 9)}) == 8


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, 1.7e308, -1.7e308])
def test_a_double_that_is_no_amount_is_an_error(value: float):
    with pytest.raises(ValueError, match="amount"):
        to_milli(value)


def test_an_amount_below_zero_that_is_too_fine_is_not_said_to_be_zero():
    with pytest.raises(RuleViolation) as refused:
        parse_amount("cpus", "-0.0001")
    assert refused.value.hint == "write cpus:-0.001"


def test_a_double_has_all_of_its_digits_and_only_one_infinity():
    values = {"2": 2.0, "1234567.125": 1234567.125, "0.1": 0.1, "Infinity": float("inf")}
    assert {text: parse_double(text) for text in values} == values
    assert [format_double(value) for value in values.values()] == list(values)
    for text in ("inf", "INFINITY", "-Infinity", "nan"):
        with pytest.raises(RuleViolation, match=text) as refused:
            parse_double(text)
        assert refused.value.rule == "number.finite"
        assert "Infinity" in str(refused.value.hint)
    for text in ("+2", "-3", "-0", " +.5"):
        with pytest.raises(RuleViolation, match="has a sign") as refused:
            parse_double(text)
        assert refused.value.rule == SIGN
    with pytest.raises(ValueError, match="soon"):
        parse_double("soon")


AMOUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 5))


@given(AMOUNTS, AMOUNTS)
def test_limits_bound_each_amount_that_they_name(bounds: dict[str, int], amounts: dict[str, int]):
    limits, quantities = Limits(bounds), Quantities(amounts)
    assert limits.contains(quantities) is all(quantities.get_amount(name) <= bounds[name] for name in bounds)
    assert limits.bounded(quantities) == Quantities(
        {name: min(amount, bounds.get(name, amount)) for name, amount in amounts.items()}
    )
    assert limits - quantities == Limits({name: max(0, bound - amounts.get(name, 0)) for name, bound in bounds.items()})
    others = Quantities(bounds)
    assert quantities.contains(others) is all(amounts.get(name, 0) >= bound for name, bound in bounds.items())
    assert quantities + others == Quantities(
        {name: amounts.get(name, 0) + bounds.get(name, 0) for name in {*amounts, *bounds}}
    )
    assert quantities - others == Quantities({name: amount - bounds.get(name, 0) for name, amount in amounts.items()})
    assert Quantities.total([quantities, others, quantities]) == quantities + others + quantities
    assert str(limits) == ("; ".join(f"{name}:{format_milli(bounds[name])}" for name in sorted(bounds)) or "nothing")
