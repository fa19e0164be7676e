"""Whether guarantees are met, kept or unmet."""

import pytest

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.guarantees import guarantee_state, kept_of


def amounts(cpus: int = 0, mem: int = 0) -> Quantities:
    return Quantities({"cpus": cpus, "mem": mem})


NOTHING = Quantities()


@pytest.mark.parametrize(
    ("lacking", "kept", "word"),
    [
        (NOTHING, NOTHING, "met"),
        (amounts(4, 2), amounts(4, 2), "kept"),
        (amounts(4, 2), amounts(4, 1), "unmet"),
        (amounts(4, 2), amounts(4), "unmet"),
        (amounts(4), NOTHING, "unmet"),
    ],
)
def test_the_word(lacking: Quantities, kept: Quantities, word: str) -> None:
    assert guarantee_state(lacking, kept) == word


def test_what_is_free_is_kept_once_for_those_who_ask_first_and_then_by_name() -> None:
    lacking = {"a": amounts(3, 1), "b": amounts(3, 1), "c": amounts(2, 1), "met": NOTHING}
    kept = kept_of(lacking, {"c"}, amounts(6, 2))
    assert kept == {"a": amounts(3, 1), "b": amounts(1), "c": NOTHING, "met": NOTHING}


def test_nothing_is_kept_for_a_role_that_asks() -> None:
    """It is offered what its frameworks can use; the rest is of no use to it."""
    assert kept_of({"a": amounts(3), "b": amounts(1)}, {"a", "b"}, amounts(9)) == {"a": NOTHING, "b": NOTHING}
