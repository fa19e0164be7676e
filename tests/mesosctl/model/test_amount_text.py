"""How parts of a whole are written for people and for scripts."""

import pytest

from mesosctl.model.amount_text import exact_percent_text, percent_text


@pytest.mark.parametrize(
    ("part", "people", "scripts"),
    [
        (0, "0%", "0.0%"),
        (0.009, "0.9%", "0.9%"),
        (0.1, "10%", "10.0%"),
        (0.5833, "58%", "58.3%"),
        (0.996, "99.6%", "99.6%"),
        (1, "100%", "100.0%"),
        (1.5, "150%", "150.0%"),
    ],
)
def test_a_part_of_a_whole_is_rounded_where_a_decimal_says_little(part, people, scripts):
    assert (percent_text(part), exact_percent_text(part)) == (people, scripts)
