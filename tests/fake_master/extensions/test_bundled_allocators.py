"""A master starts with every allocator that this project names."""

import pytest

from fake_master.sources.cluster_file import ClusterSpec
from fake_master.state.flags import BUNDLED_ALLOCATORS
from mesosctl.mesos.errors import BadInput


@pytest.mark.parametrize("name", BUNDLED_ALLOCATORS)
def test_each_name_makes_an_allocator(name: str) -> None:
    master = ClusterSpec(flags={"allocator": name}).start()
    assert master.state.flags.shown["allocator"] == name
    assert "allocator/mesos/allocation_runs" in master.allocator.metrics()


def test_another_name_is_refused() -> None:
    with pytest.raises(BadInput, match="use hierarchical, strict-priority"):
        ClusterSpec(flags={"allocator": "third"}).start()
