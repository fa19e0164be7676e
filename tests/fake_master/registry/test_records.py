"""A record that a master would not write is refused, with what is wrong and where."""

from typing import Any

import pytest

from fake_master.registry.records import mistake

AGENT = {"id": "a-S0", "registered_time": 12.5}
DRAINING = {"state": "DRAINING", "config": {"mark_gone": False, "max_grace_period": {"nanoseconds": 5}}}
WINDOW = {"machine_ids": [{"hostname": "h"}, {"ip": "10.0.0.1"}], "unavailability": {"start": {"nanoseconds": 1}}}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("agent", AGENT),
        ("agent", {**AGENT, "drain_info": DRAINING, "drain_start": 7, "written by a later version": None}),
        ("schedule", [WINDOW]),
        ("weight", 2),
        ("a kind of an extension", [None]),
    ],
)
def test_a_record_as_a_master_writes_it_has_no_mistake(kind: str, value: Any) -> None:
    assert mistake(kind, value) is None


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        ("agent", {"id": "a-S0"}, "Object missing required field `registered_time`"),
        ("agent", {**AGENT, "id": ""}, "Expected `str` of length >= 1 - at `$.id`"),
        ("agent", {**AGENT, "gone": 1}, "Expected `bool`, got `int` - at `$.gone`"),
        ("agent", {**AGENT, "gone_time": float("inf")}, "Expected `float` < 253402300800.0 - at `$.gone_time`"),
        ("agent", {**AGENT, "drain_info": {**DRAINING, "config": {}}}, "`mark_gone` - at `$.drain_info.config`"),
        ("agent_info", {"hostname": "h", "resources": [{"name": 1}]}, "at `$.resources[0].name`"),
        ("quota", {"guarantees": {"cpus": float("nan")}, "limits": {}}, "at `$.guarantees[...]`"),
        ("schedule", [{**WINDOW, "unavailability": {"start": {}}}], "`nanoseconds` - at `$[0].unavailability.start`"),
        ("weight", 0, "Expected `float` > 0.0"),
        ("weight", True, "Expected `float`, got `bool`"),
    ],
)
def test_a_mistake_is_told_with_its_place(kind: str, value: Any, sentence: str) -> None:
    assert sentence in (mistake(kind, value) or "")
