"""How parts of a whole are written for people and for scripts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.amount_text import (
    NotationText,
    as_typed,
    enumerated,
    exact_percent_text,
    in_mesos_notation,
    in_words,
    percent_text,
    shown_amount,
    text_in_words,
)
from mesosctl.mesos.amounts.quantities import Quantities, parse_amount


@pytest.mark.parametrize(
    ("part", "people", "scripts"),
    [
        (0, "0%", "0.0%"),
        (0.009, "0.9%", "0.9%"),
        (0.1, "10%", "10.0%"),
        (0.5833, "58%", "58.3%"),
        (0.9, "90%", "90.0%"),
        (0.996, "99.6%", "99.6%"),
        (1, "100%", "100.0%"),
        (1.5, "150%", "150.0%"),
    ],
)
def test_a_part_of_a_whole_is_rounded_where_a_decimal_says_little(part, people, scripts):
    assert (percent_text(part), exact_percent_text(part)) == (people, scripts)


def test_amounts_in_a_sentence_have_units_and_one_cpu_is_no_plural():
    assert [enumerated("abc"[:number]) for number in range(4)] == ["nothing", "a", "a and b", "a, b and c"]
    amounts = {"mem": 16_384_000, "cpus_revocable": 2000, "x": 1000, "cpus": 1000, "gpus": 1000, "ports": 1000}
    assert in_words(amounts) == "1 cpu, 16GiB mem, 1 gpu, 1 port, 1 x and 2 revocable cpus"
    assert in_words({"ports": 2000, "ports_revocable": 1000}) == "2 ports and 1 revocable port"
    assert in_words({"gpus_revocable": 1000, "cpus": 1500}) == "1.5 cpus and 1 revocable gpu"


@pytest.mark.parametrize(
    ("milli", "shown", "typed"),
    [
        (0, "0", "0"),
        (1_023_000, "1023MiB", "1023MiB"),
        (1_024_000, "1GiB", "1GiB"),
        (1_025_000, "1025MiB", "1025MiB"),
        (1_536_000, "1.5GiB", "1.5GiB"),
        (9_999_000, "9999MiB", "9999MiB"),
        (10_000_000, "9.8GiB", "10000"),
        (20_480_000, "20GiB", "20GiB"),
        (10_240_000_000, "9.8TiB", "10000GiB"),
        (1_048_576_000_000, "1000TiB", "1000TiB"),
        (1_073_741_824_000_000, "1000PiB", "1000PiB"),
        (2_199_023_255_552_000, "2048PiB", "2048PiB"),
    ],
)
def test_a_size_has_the_largest_unit_in_which_it_is_short(milli, shown, typed):
    assert shown_amount("mem", milli) == shown_amount("disk_revocable", milli) == shown
    assert as_typed(Quantities({"mem": milli})) == ([f"mem:{typed}"] if milli else [])


@given(st.integers(1, 10**13) | st.integers(1, 10**7).map(lambda mib: mib * 1024_000))
@example(10_000_000)
@example(10_240_000_000)
def test_a_size_to_type_is_exact(milli):
    (word,) = as_typed(Quantities({"mem": milli}))
    assert parse_amount("mem", word.removeprefix("mem:")) == milli


def test_revocable_amounts_are_marked_for_scripts():
    assert in_mesos_notation(Quantities({"cpus": 8000, "cpus_revocable": 1500})) == "cpus:8;cpus{REV}:1.5"
    assert in_mesos_notation(Quantities()) == ""


def test_people_read_words_where_scripts_read_amounts():
    text = NotationText.with_words("mem:1024", lambda: "1GiB mem")
    assert (text, text_in_words(text), text_in_words("mem:1024")) == ("mem:1024", "1GiB mem", "mem:1024")
