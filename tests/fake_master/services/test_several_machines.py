"""Machines of one window, and of one request: each of those that are named changes, and no other."""

from typing import Any

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from tests.helpers.lab import Lab
from tests.helpers.profiles import examples

AGENTS = 5


@st.composite
def courses(draw: st.DrawFn) -> tuple[list[int], set[int], set[int]]:
    """The window of each machine, -1 for none; the machines that are taken down, and of these those brought up."""
    windows = draw(
        st.lists(st.integers(-1, 2), min_size=AGENTS, max_size=AGENTS).filter(lambda all_of: max(all_of) >= 0)
    )
    scheduled = [machine for machine, window in enumerate(windows) if window >= 0]
    down = draw(st.sets(st.sampled_from(scheduled), min_size=1))
    return windows, down, draw(st.sets(st.sampled_from(sorted(down)), min_size=1))


@settings(max_examples=examples(60))
@example(course=([0, 0, 0, 1, 1], {0, 1, 3}, {0, 3}))
@example(course=([0, 0, 0, 0, -1], {0, 1, 2, 3}, {1, 2}))
@example(course=([0, 0, 1, 1, 2], {4, 2}, {4}))
@given(course=courses())
def test_machines_go_down_and_up_as_they_are_named(course: tuple[list[int], set[int], set[int]]) -> None:
    windows, down, up = course
    lab = Lab(*["cpus:4;mem:64"] * AGENTS)
    hosts = [agent["hostname"] for agent in lab.agents]
    listed = [{"hostname": host, "ip": "127.0.0.1"} for host in hosts]

    def schedule(left: set[int]) -> list[list[Any]]:
        """The machines of each window that still has some."""
        found = [[listed[one] for one in sorted(left) if windows[one] == window] for window in range(3)]
        return [machines for machines in found if machines]

    def shown() -> tuple[set[str], set[str], set[str]]:
        """The machines that drain, those that are down, and the hosts of the agents that are registered."""
        status = lab.read("/maintenance/status")
        draining = {one["id"]["hostname"] for one in status.get("draining_machines", ())}
        gone = {one["hostname"] for one in status.get("down_machines", ())}
        return draining, gone, {agent["hostname"] for agent in lab.agents}

    def names(some: set[int]) -> set[str]:
        return {hosts[one] for one in some}

    def scheduled() -> list[Any]:
        return [window["machine_ids"] for window in lab.read("/maintenance/schedule").get("windows", ())]

    everyone = set(range(AGENTS))
    planned = {machine for machine in everyone if windows[machine] >= 0}
    sent = [
        {"machine_ids": machines, "unavailability": {"start": {"nanoseconds": number + 1}}}
        for number, machines in enumerate(schedule(planned))
    ]
    event(f"{len(planned)} in {len(sent)} windows, {len(down)} down, {len(up)} up")
    assert lab.post("/maintenance/schedule", {"windows": sent}) == 200
    assert shown() == (names(planned), set(), names(everyone))
    assert lab.post("/machine/down", [listed[one] for one in down]) == 200
    assert shown() == (names(planned - down), names(down), names(everyone - down))
    assert scheduled() == schedule(planned)
    assert lab.post("/machine/up", [listed[one] for one in up]) == 200
    assert shown() == (names(planned - down), names(down - up), names(everyone - (down - up)))
    assert scheduled() == schedule(planned - up)
