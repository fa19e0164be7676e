"""TOML that a person wrote: whatever is wrong with it is said as a sentence."""

import pytest

from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.strict import reading


def test_a_table() -> None:
    assert reading.read_toml('a = 1\n[b]\nc = "d"', "f.toml") == {"a": 1, "b": {"c": "d"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ", "f.toml is not TOML: "),
        ("x = " + "9" * 5000, "f.toml is not TOML: "),
        ("x = " + "[" * 100_000, "f.toml is nested too deeply"),
        ("a." * 100_000 + "b = 1", "f.toml is nested too deeply"),
        ("[" + "a." * 100_000 + "b]", "f.toml is nested too deeply"),
        ('"a" . ' * 5_000 + "b = 1", "f.toml is nested too deeply"),
        ("a." * 500 + "b = 1", "f.toml is nested too deeply"),
        ("[flags." + "a." * 70 + "b]", "f.toml is nested too deeply"),
    ],
)
def test_what_is_none(text: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        reading.read_toml(text, "f.toml")
    assert refused.value.message.startswith(said)
    assert refused.value.field in (None, "line 1")
