"""Resources as hypothesis makes them: of each type, under up to three owners, with every field that Mesos compares.

A fault that only several entries, levels or fields show is missed by tests that use one of each.
"""

from typing import Any

from hypothesis import strategies as st

from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.values import Items, Ranges, Value

PRINCIPALS = ("p", "q", "s", "", None)
LINES = (("a", "a/b", "a/b/c"), ("web", "web/x", "web/x/y"))
"""Roles of which each can refine the one before it."""

labels = st.one_of(
    st.none(),
    st.lists(st.tuples(st.sampled_from(["k", "l", "m"]), st.sampled_from(["1", "2", "", None])), max_size=3).map(
        Labels
    ),
)


@st.composite
def stacks(draw: st.DrawFn, least: int = 0, most: int = 3) -> tuple[Reservation, ...]:
    """Levels of different principals and labels; the lowest may be the agent's own, and levels may be skipped."""
    count = draw(st.integers(least, most))
    line = draw(st.sampled_from(LINES))
    roles = sorted(draw(st.lists(st.sampled_from(line), min_size=count, max_size=count, unique=True)))
    found = [Reservation("DYNAMIC", role, draw(st.sampled_from(PRINCIPALS)), draw(labels)) for role in roles]
    if found and draw(st.integers(0, 3)) == 0:
        found[0] = Reservation("STATIC", found[0].role)
    return tuple(found)


spans = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 5)), min_size=1, max_size=3).map(
    lambda found: Ranges.of([(begin, begin + length) for begin, length in found])
)
items = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map(Items.of)
amounts = st.integers(1, 20_000)


def values(name: str) -> st.SearchStrategy[Value]:
    """A value of the type that a resource of this name usually has."""
    of_names: dict[str, st.SearchStrategy[Any]] = {"ports": spans, "zones": items}
    return of_names.get(name, amounts)


sources = st.builds(
    DiskSource,
    type=st.sampled_from(["PATH", "MOUNT"]),
    root=st.sampled_from(["/mnt/one", "/mnt/two"]),
    vendor=st.sampled_from([None, None, "v"]),
    id=st.sampled_from([None, None, "i"]),
    profile=st.sampled_from([None, None, "f"]),
    metadata=st.one_of(st.none(), labels),
)
volumes = st.builds(
    Disk,
    persistence_id=st.sampled_from(["v1", "v2"]),
    source=st.one_of(st.none(), sources),
    principal=st.sampled_from(PRINCIPALS),
    container_path=st.just("data"),
    mode=st.sampled_from(["RW", "RO"]),
    host_path=st.none(),
    more=st.sampled_from((None, None, '{"source": {}}', '{"image": {"type": "DOCKER"}, "source": {"type": "SECRET"}}')),
)


@st.composite
def resources(draw: st.DrawFn, least_levels: int = 0, most_levels: int = 3) -> Resource:
    """One entry of an agent, or of an offer if it has an allocation role."""
    name = draw(st.sampled_from(["cpus", "mem", "disk", "disk", "ports", "zones"]))
    stack = draw(stacks(least_levels, most_levels))
    disk = None
    if name == "disk":
        disk = draw(
            st.one_of(st.none(), sources.map(lambda source: Disk(source=source)), *([volumes] if stack else []))
        )
    is_volume = disk is not None and disk.persistence_id is not None
    revocable = not stack and draw(st.integers(0, 4)) == 0
    return Resource(
        name,
        draw(values(name)),
        stack,
        allocation_role=draw(st.sampled_from([None, "a/b/c", "web/x/y"])),
        disk=disk,
        revocable=revocable,
        throttleable=revocable and draw(st.booleans()),
        shared=is_volume and draw(st.booleans()),
        provider_id=draw(st.sampled_from([None, None, None, "provider"])),
    )
