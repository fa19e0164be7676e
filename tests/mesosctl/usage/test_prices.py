"""A file of prices: what it means, exactly, and every fault at once."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.errors import BadInput
from mesosctl.usage.prices import LEAST, UNITS, load

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3600 * 10**6


def prices(*tables, zone=UTC):
    return load('currency = "EUR"\n' + "".join(f"[[prices]]\n{table}\n" for table in tables), "p.toml", zone)


def micros(text):
    return round(datetime.fromisoformat(text).timestamp()) * 10**6


@given(st.decimals(0, 10**9, places=6, allow_nan=False))
@example(Decimal("999999999.999999"))
@example(Decimal("0.000001"))
@example(Decimal("536870912.000001"))
def test_a_price_with_six_decimals_is_exact(price):
    rates = prices(f"cpu_hour = {price:f}\nmem_gib_hour = {price:f}").rates({}, 0)
    assert Fraction(rates["cpus"] * 1000 * HOUR, UNITS) == Fraction(price)
    assert Fraction(rates["mem"] * 1000 * 1024 * HOUR, UNITS) == Fraction(price)


def test_a_moment_is_counted_down_to_a_millionth_of_a_millionth():
    assert Fraction(LEAST, UNITS) == Fraction(1, 10**12)


def test_of_several_prices_that_fit_the_first_in_the_file_counts():
    both = prices("cpu_hour = 2\nattributes = { type = 'gpu' }", "cpu_hour = 1\ngpu_hour = 3", "gpu_hour = 4")
    plain = prices("cpu_hour = 1").rates({}, 0)["cpus"]
    assert both.rates({"type": "gpu"}, 0) == {"cpus": 2 * plain, "gpus": 3 * plain}
    assert both.rates({"type": "cpu"}, 0) == {"cpus": plain, "gpus": 3 * plain}


def test_a_number_is_the_same_attribute_however_it_is_written():
    rack = prices("cpu_hour = 1\nattributes = { rack = 8 }")
    assert all(rack.rates({"rack": value}, 0) for value in (8.0, 8, "8"))
    assert not any(rack.rates(attributes, 0) for attributes in ({"rack": 8.5}, {}, {"row": 8.0}))


@pytest.mark.parametrize(("zone", "begin"), [(UTC, "2026-03-29T00:00Z"), (BERLIN, "2026-03-28T23:00Z")])
def test_prices_begin_at_midnight_in_the_time_zone(zone, begin):
    found = prices("cpu_hour = 2\nfrom = 2026-03-29", zone=zone)
    at = micros(begin)
    assert found.changes() == [at]
    assert (found.rates({}, at - 1), bool(found.rates({}, at))) == ({}, True)


def test_where_a_clock_skips_midnight_the_day_begins_when_it_goes_on():
    beirut = ZoneInfo("Asia/Beirut")  # where 2026-03-29 begins at one o'clock
    assert prices("cpu_hour = 2\nfrom = 2026-03-29", zone=beirut).changes() == [micros("2026-03-28T22:00Z")]


@given(st.dates(), st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/Adak"]).map(ZoneInfo))
@example(date.min, BERLIN)
@example(date.max, ZoneInfo("America/Adak"))
def test_prices_begin_on_any_day(day, zone):
    (begin,) = prices(f"cpu_hour = 2\nfrom = {day.isoformat()}", zone=zone).changes()
    assert begin % 10**6 == 0


def test_a_price_that_never_counts_is_named():
    found = prices(
        "cpu_hour = 1\nfrom = 2026-11-01", "cpu_hour = 1\nfrom = 2026-10-01", "cpu_hour = 1\nfrom = 2026-10-02",
        "cpu_hour = 1\nmem_gib_hour = 1", "cpu_hour = 1\nattributes = { type = 'gpu' }",
    )  # fmt: skip
    assert [one.partition(" never")[0] for one in found.never_used()] == ["prices[2].cpu_hour", "prices[4].cpu_hour"]


def test_every_fault_is_told_at_once_with_its_line():
    text = (
        'currency = "Euro"\nshare = 1\n[[prices]]\ncpu_hour = true\n[[prices]]\nfrom = 2026\n gpu_hours = 3\n'
        "[[prices]]\nmem_gib_hour = 0.0000001\nattributes = { a = [1] }\n[[prices]]\nfrom = 2026-11-01\n"
    )
    with pytest.raises(BadInput) as refused:
        load(text, "p.toml", UTC)
    told = [
        "p.toml, line 1: currency: 'Euro' is not three capital letters",
        "p.toml, line 2: share: there is no such key",
        "p.toml, line 4: prices[0].cpu_hour: it is not a number",
        "p.toml, line 6: prices[1].from: it is not a day",
        "p.toml, line 7: prices[1].gpu_hours: there is no such key",
        "p.toml, line 9: prices[2].mem_gib_hour: 0.0000001 has more than 6 decimals",
        "p.toml, line 10: prices[2].attributes.a: it is neither a string nor a number",
        "p.toml, line 11: prices[3]: it names no price",
    ]
    assert [sentence.partition(" (")[0] for sentence in refused.value.message.split("; ")] == told
