"""Reservations of several owners, levels and agents outlive the master and the agents that hold them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.resource import Disk, Resource
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import Lab, lasting
from tests.helpers.profiles import examples
from tests.helpers.resource_strategies import stacks

AGENT = "cpus:40;mem:4096;disk:4000"


def reserved(lab: Lab) -> list[tuple[str, Resources]]:
    return [(agent.hostname, agent.total) for agent in lab.master.state.agents.values()]


def reserve(lab: Lab, number: int, entry: Resource) -> None:
    """Level by level, and a volume upon disk."""
    agent = list(lab.master.state.agents.values())[number]
    with lab.master.transaction():
        for level in range(1, len(entry.reservations) + 1):
            part = Resource(entry.name, entry.value, entry.reservations[:level])
            lab.master.reservations.reserve(None, agent, [part], None)
        if entry.disk is not None:
            lab.master.reservations.create(None, agent, [entry])


@st.composite
def held(draw: st.DrawFn) -> list[tuple[int, Resource]]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        stack = tuple(level._replace(type="DYNAMIC") for level in draw(stacks(least=1)))
        name = draw(st.sampled_from(["cpus", "mem", "disk"]))
        disk = Disk(f"v{number}", container_path="data", mode="RW") if name == "disk" else None
        found.append((draw(st.integers(0, 1)), Resource(name, draw(st.sampled_from([500, 2000])), stack, disk=disk)))
    return found


@pytest.mark.parametrize("killed", [False, True])
@settings(max_examples=examples(45))
@given(entries=held())
def test_a_new_master_and_its_agents_have_every_level_label_and_volume(
    killed: bool, entries: list[tuple[int, Resource]]
) -> None:
    with TemporaryDirectory() as folder, lasting(Path(folder), AGENT, AGENT) as lab:
        for number, entry in entries:
            reserve(lab, number, entry)
        before = reserved(lab)
        lab.restart(killed=killed)
        lab.wait(1)
        assert reserved(lab) == before
        assert any(entry.is_reserved for _, total in before for entry in total)
