"""Frameworks of masters that write maps in another way."""

from typing import Any

import pytest

from mesosctl.mesos.messages.elements.frameworks import FrameworkReader

FILTERS = {"r": {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 0.5}}}]}}}
QUANTITIES = [{"key": "cpus", "value": {"value": 0.5}}]
ENTRIES = [{"key": "r", "value": {"min_allocatable_resources": {"quantities": [{"quantities": QUANTITIES}]}}}]
"""The same as Mesos 1.8.1 writes it."""


@pytest.mark.parametrize("written", [FILTERS, ENTRIES], ids=["1.9", "1.8"])
def test_offer_filters_are_read_however_they_are_written(written: Any) -> None:
    info = {"id": {"value": "f"}, "name": "n", "roles": ["r"], "offer_filters": written}
    read = FrameworkReader().of_message({"framework_info": info})
    assert read.framework.offer_filters == FILTERS


def test_offer_filters_that_are_no_map_are_not_as_documented() -> None:
    info = {"id": {"value": "f"}, "name": "n", "offer_filters": [{"key": "r"}]}
    with pytest.raises(KeyError):
        FrameworkReader().of_message({"framework_info": info})
