"""Strategies for snapshots of clusters: everything that a snapshot can hold."""

from dataclasses import replace

from hypothesis import strategies as st

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, ReservationType, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items, Ranges
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import (
    TASK_PHASES,
    ClusterSnapshot,
    Debt,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.cluster.unreachable import UnreachableAgent
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
COMPONENT = st.text("abcdefgh_", min_size=1, max_size=4)
ROLE = st.lists(COMPONENT, min_size=1, max_size=3).map("/".join)
MILLI = st.integers(1, 10**12)
LABELS = st.none() | st.lists(st.tuples(TEXT, st.none() | TEXT), max_size=2).map(Labels)


@st.composite
def stacks(draw):
    """A stack as Mesos allows it: each level is for a role strictly below the one before."""
    parts = draw(st.lists(COMPONENT, max_size=3))
    names = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    static = draw(st.booleans())
    types: list[ReservationType] = ["STATIC" if static and depth == 0 else "DYNAMIC" for depth in range(len(names))]
    return tuple(
        Reservation(
            kind,
            name,
            draw(st.none() | TEXT) if kind == "DYNAMIC" else None,
            draw(LABELS) if kind == "DYNAMIC" else None,
        )
        for kind, name in zip(types, names, strict=True)
    )


@st.composite
def resource(draw):
    kind = draw(st.sampled_from(["scalar", "ranges", "set", "disk"]))
    stack = draw(stacks())
    if kind == "scalar":
        revocable = not stack and draw(st.booleans())
        return Resource(draw(st.sampled_from(["cpus", "mem", "gpus"])), draw(MILLI), stack, revocable=revocable)
    if kind == "ranges":
        spans = draw(st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 9)), min_size=1, max_size=3))
        return Resource("ports", Ranges.of((begin, begin + more) for begin, more in spans), stack)
    if kind == "set":
        return Resource("zones", Items(draw(st.frozensets(TEXT, min_size=1, max_size=3))), stack)
    source = draw(st.none() | st.builds(DiskSource, st.sampled_from(["PATH", "MOUNT"]), TEXT))
    if not stack:
        return Resource("disk", draw(MILLI), disk=None if source is None else Disk(source=source))
    volume = Disk(draw(TEXT), source, draw(st.none() | TEXT), draw(TEXT), "RW")
    return Resource("disk", draw(MILLI), stack, disk=volume)


RESOURCES = st.lists(resource(), max_size=4).map(Resources)
ATTRIBUTES = st.dictionaries(TEXT, TEXT | st.floats(allow_nan=False, allow_infinity=False), max_size=2)
AMOUNTS = st.dictionaries(st.sampled_from(["cpus", "mem"]), MILLI, max_size=2)


@st.composite
def quotas(draw):
    limits = draw(AMOUNTS)
    guarantees = {name: min(milli, limits.get(name, milli)) for name, milli in draw(AMOUNTS).items()}
    return Quota(Quantities(guarantees), Limits(limits))


@st.composite
def frameworks(draw, name):
    roles = tuple(draw(st.lists(ROLE, min_size=1, max_size=3, unique=True)))
    return SnapshotFramework(
        id=name,
        name=draw(TEXT),
        roles=roles,
        principal=draw(st.none() | TEXT),
        capabilities=frozenset({"MULTI_ROLE"}) | draw(st.frozensets(st.just("GPU_RESOURCES"))),
        active=draw(st.booleans()),
        connected=draw(st.booleans()),
        suppressed=draw(st.none() | st.frozensets(st.sampled_from(roles))),
        failover_timeout=draw(st.floats(0, 1e9)),
    )


@st.composite
def lendings(draw, usages):
    """Tasks that are what somebody uses; what is owed and refused, by whom and where somebody uses anything."""
    places = {(usage.framework_id, usage.agent_id, usage.role): usage for usage in reversed(usages)}
    held = [
        SnapshotTask(
            f"t{number}",
            *place,
            usage.resources,
            executor_id=draw(st.none() | TEXT),
            phase=draw(st.sampled_from(TASK_PHASES)),
        )
        for number, (place, usage) in enumerate(places.items())
    ]
    place = st.sampled_from([*places] or [("", "", "")])
    debts = draw(st.lists(st.tuples(place, RESOURCES), max_size=2 if places else 0))
    refusals = draw(st.lists(st.tuples(place, RESOURCES, st.floats(0, 1e7)), max_size=2 if places else 0))
    return Lending(
        tasks=tuple(task for task in held if draw(st.booleans())),
        debts=tuple(Debt(framework, agent, role, owed) for (framework, agent, role), owed in debts),
        refusals=tuple(
            Refusal(framework, agent, role, refused, seconds) for (framework, agent, role), refused, seconds in refusals
        ),
        stop_seconds=draw(st.floats(0, 60)),
    )


@st.composite
def snapshots(draw):
    """Any snapshot; what frameworks hold need not fit anywhere."""
    agents = tuple(
        draw(
            st.builds(
                ClusterAgent,
                id=st.just(f"m-S{n}"),
                hostname=TEXT,
                pid=TEXT,
                total=RESOURCES,
                attributes=ATTRIBUTES,
                active=st.booleans(),
                region=st.none() | TEXT,
                zone=st.none() | TEXT,
            )
        )
        for n in range(draw(st.integers(0, 3)))
    )
    joined = tuple(draw(frameworks(f"m-{n}")) for n in range(draw(st.integers(0, 3))))
    both = bool(agents and joined)
    agent_id = st.sampled_from([agent.id for agent in agents] or [""])
    framework_id = st.sampled_from([framework.id for framework in joined] or [""])
    usage = st.builds(FrameworkUsage, framework_id, agent_id, ROLE, RESOURCES, st.integers(0, 5))
    offers = tuple(
        draw(
            st.builds(
                OutstandingOffer, st.just(f"m-O{n}"), ROLE, framework_id, TEXT, agent_id, TEXT, RESOURCES, st.booleans()
            )
        )
        for n in range(draw(st.integers(0, 2)) if both else 0)
    )
    usages = tuple(draw(st.lists(usage, max_size=3 if both else 0)))
    left = [draw(frameworks(f"m-1{n}")) for n in range(draw(st.integers(0, 2)))]
    removed = tuple(replace(framework, ended=draw(st.floats(1, 2e9))) for framework in left)
    unreachable = tuple(UnreachableAgent(f"m-S1{n}", draw(st.floats(1, 2e9))) for n in range(draw(st.integers(0, 2))))
    lost = [
        SnapshotTask(f"l{number}", draw(framework_id), agent.id, draw(ROLE), draw(RESOURCES))
        for number, agent in enumerate(unreachable if joined else ())
    ]
    return ClusterSnapshot(
        version="1.11.0",
        taken_at=draw(st.floats(0, 2e9)),
        agents=agents,
        frameworks=joined,
        usages=usages,
        offers=offers,
        quotas=draw(st.dictionaries(COMPONENT, quotas(), max_size=2)),
        weights=draw(st.dictionaries(ROLE, st.floats(0.001, 1000), max_size=2)),
        flags=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        lending=draw(st.none() | lendings(usages)),
        completed=removed,
        unreachable=unreachable,
        unreachable_tasks=tuple(lost),
        unknown=tuple(draw(st.lists(TEXT, max_size=2))),
    )
