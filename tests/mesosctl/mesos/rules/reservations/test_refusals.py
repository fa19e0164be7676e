"""Each rule of operations on resources, by the name and the field that scripts read, and what just keeps it."""

from dataclasses import replace

import pytest

from mesosctl.mesos.amounts.resource import Disk, DiskSource, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Ranges
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.rules.reservations import operations, rules
from mesosctl.mesos.rules.reservations.operations import check_create, check_destroy, check_grow, check_shrink
from mesosctl.mesos.rules.reservations.rules import Requester, check_reserve, check_unreserve

BY_P = Reservation("DYNAMIC", "role", "p")
STATIC = Reservation("STATIC", "role")
CPUS = Resource("cpus", 1000, (BY_P,))
DISK = Disk(persistence_id="v", container_path="data", mode="RW", principal="p")
VOLUME = Resource("disk", 200_000, (BY_P,), disk=DISK)
PLAIN = Resource("disk", 100_000, (BY_P,))
MOUNT = DiskSource("MOUNT", "/mnt")
P = Requester("p")


def volume(**changed) -> Resource:
    return replace(VOLUME, disk=DISK._replace(**changed))


NOTHING = Resource("mem", 0)
REFUSALS = [
    ("operation.empty", "resources", lambda: check_reserve([], P)),
    ("operation.empty", "resources", lambda: check_unreserve([])),
    ("operation.empty", "volumes", lambda: check_create([], P)),
    ("operation.empty", "volumes", lambda: check_destroy([], existing=())),
    ("operation.one-provider", "resources", lambda: check_reserve([CPUS, replace(CPUS, provider_id="x")], P)),
    ("operation.whole-gpus", "resources", lambda: check_reserve([replace(CPUS, name="gpus", value=1500)], P)),
    ("operation.whole-gpus", "source", lambda: check_reserve([CPUS], P, source=[replace(CPUS, name="gpus", value=5)])),
    ("operation.above-zero", "resources[0].scalar.value", lambda: check_reserve([replace(CPUS, value=0)], P)),
    ("operation.above-zero", "resources[0].ranges", lambda: check_reserve([replace(CPUS, value=Ranges())], P)),
    (
        "operation.above-zero",
        "source[0].scalar.value",
        lambda: check_reserve([CPUS], P, source=[replace(CPUS, value=0)]),
    ),
    ("operation.above-zero", "resources[1].ranges", lambda: check_unreserve([CPUS, replace(CPUS, value=Ranges())])),
    ("operation.above-zero", "volumes[1].scalar.value", lambda: check_create([VOLUME, replace(VOLUME, value=0)], P)),
    (
        "operation.above-zero",
        "volumes[1].scalar.value",
        lambda: check_destroy([VOLUME, replace(VOLUME, value=0)], existing=[VOLUME]),
    ),
    ("reserve.revocable", "resources[0].revocable", lambda: check_reserve([replace(CPUS, revocable=True)], P)),
    ("reserve.dynamic", "resources[0].reservations", lambda: check_reserve([Resource("cpus", 1000)], P)),
    (
        "reserve.principal",
        "resources[1].reservations[-1].principal",
        lambda: check_reserve([CPUS, replace(CPUS, reservations=(Reservation("DYNAMIC", "role", "q"),))], P),
    ),
    (
        "operation.unallocated",
        "resources[0].allocation_info",
        lambda: check_reserve([replace(CPUS, allocation_role="role")], P),
    ),
    (
        "reserve.offer-role",
        "resources[0].reservations[-1].role",
        lambda: check_reserve([CPUS], Requester("p", frozenset({"role"}), "other")),
    ),
    (
        "agent.hierarchical",
        "resources[0]",
        lambda: check_reserve(
            [replace(CPUS, reservations=(Reservation("DYNAMIC", "a/b", "p"),))],
            P,
            agent_capabilities={"RESERVATION_REFINEMENT"},
        ),
    ),
    (
        "agent.refinement",
        "resources[0]",
        lambda: check_reserve(
            [replace(CPUS, reservations=(STATIC, Reservation("DYNAMIC", "role/b", "p")))],
            P,
            agent_capabilities={"HIERARCHICAL_ROLE"},
        ),
    ),
    (
        "reserve.one-stack",
        "source",
        lambda: check_reserve([CPUS], P, source=[Resource("cpus", 500), replace(CPUS, value=500)]),
    ),
    (
        "reserve.one-stack",
        "resources",
        lambda: check_reserve(
            [CPUS, replace(CPUS, name="mem", reservations=(Reservation("DYNAMIC", "b", "p"),))],
            P,
            source=[Resource("cpus", 1000), Resource("mem", 1000)],
        ),
    ),
    (
        "reserve.static-stays",
        "source",
        lambda: check_reserve([CPUS], P, source=[replace(CPUS, reservations=(STATIC,))]),
    ),
    ("reserve.same-amounts", "source", lambda: check_reserve([CPUS], P, source=[Resource("cpus", 2000)])),
    (
        "reserve.nothing-twice",
        "resources",
        lambda: check_reserve(
            [
                Resource("ports", Ranges.of([(1, 4)]), (BY_P,)),
                Resource("ports", Ranges.of([(4, 6)]), (Reservation("DYNAMIC", "other", "p"),)),
            ],
            P,
        ),
    ),
    (
        "unreserve.dynamic",
        "resources[0].reservations",
        lambda: check_unreserve([replace(CPUS, reservations=(STATIC,))]),
    ),
    ("unreserve.no-volume", "resources[1].disk", lambda: check_unreserve([CPUS, VOLUME])),
    (
        "volume.id",
        "resources[0].disk.volume",
        lambda: check_unreserve([replace(PLAIN, disk=Disk(container_path="data"))]),
    ),
    ("volume.disk", "resources[0].disk", lambda: check_unreserve([replace(PLAIN, disk=Disk())])),
    (
        "volume.not-revocable",
        "volumes[0].disk.persistence",
        lambda: check_create([replace(VOLUME, reservations=(STATIC,), revocable=True)], P),
    ),
    (
        "volume.reserved",
        "volumes[0].disk.persistence",
        lambda: check_create([replace(VOLUME, reservations=())], P),
    ),
    ("volume.container-path", "volumes[0].disk.volume", lambda: check_create([volume(container_path=None)], P)),
    ("volume.container-path", "volume.disk.volume", lambda: check_grow(volume(container_path=None), PLAIN)),
    ("volume.host-path", "volumes[0].disk.volume.host_path", lambda: check_create([volume(host_path="/x")], P)),
    ("volume.id-characters", "volumes[0].disk.persistence.id", lambda: check_create([volume(persistence_id="a/b")], P)),
    ("volume.disk", "volumes[0].disk", lambda: check_create([PLAIN], P)),
    ("volume.id", "volumes[0].disk.persistence", lambda: check_create([replace(PLAIN, disk=Disk(source=MOUNT))], P)),
    ("volume.mode", "volumes[0].disk.volume.mode", lambda: check_create([volume(mode="RO")], P)),
    ("create.unique-id", "volumes[0].disk.persistence.id", lambda: check_create([VOLUME], P, existing=[PLAIN, VOLUME])),
    ("create.unique-id", "volumes[1].disk.persistence.id", lambda: check_create([VOLUME, VOLUME], P)),
    (
        "create.shared",
        "volumes[0].shared",
        lambda: check_create([replace(VOLUME, shared=True)], Requester("p", may_share=False)),
    ),
    ("create.principal", "volumes[0].disk.persistence.principal", lambda: check_create([volume(principal="q")], P)),
    (
        "agent.hierarchical",
        "volumes[0]",
        lambda: check_create([replace(VOLUME, reservations=(Reservation("STATIC", "a/b"),))], P, agent_capabilities=()),
    ),
    ("volume.disk", "volumes[0].disk", lambda: check_destroy([PLAIN], existing=[PLAIN])),
    ("destroy.exists", "volumes[0]", lambda: check_destroy([VOLUME], existing=[volume(persistence_id="w")])),
    ("destroy.unused", "volumes[0]", lambda: check_destroy([VOLUME], existing=[VOLUME], in_use=[VOLUME])),
    ("grow.same-kind", "addition", lambda: check_grow(VOLUME, replace(PLAIN, reservations=(STATIC,)))),
    ("operation.above-zero", "addition.scalar.value", lambda: check_grow(VOLUME, replace(PLAIN, value=0))),
    ("resize.shared", "volume.shared", lambda: check_grow(replace(VOLUME, shared=True), PLAIN)),
    ("resize.provider", "volume.provider_id", lambda: check_shrink(replace(VOLUME, provider_id="x"), 1)),
    ("resize.source", "volume.disk.source", lambda: check_shrink(volume(source=MOUNT), 1000)),
    ("shrink.amount", "subtract.value", lambda: check_shrink(VOLUME, 0)),
    ("shrink.amount", "subtract.value", lambda: check_shrink(VOLUME, 200_000)),
    ("reservation.refinement", "second", lambda: rules.check_stack([("first", "a"), ("second", "b")])),
    (
        "reservation.refinement",
        "third",
        lambda: rules.check_stack([("first", "a"), ("second", "a/b"), ("third", "a/c")]),
    ),
    ("reservation.role", "first", lambda: rules.check_stack([("first", "*")])),
]


@pytest.mark.parametrize(("rule", "field", "act"), REFUSALS, ids=[f"{rule} at {field}" for rule, field, _ in REFUSALS])
def test_a_refusal_has_its_rule_and_its_field(rule, field, act):
    with pytest.raises(RuleViolation) as refused:
        act()
    assert (refused.value.rule, refused.value.field) == (rule, field)
    assert len(refused.value.message.split()) > 2, "a sentence says what is wrong"


KEPT = {
    "a reservation by its principal": lambda: check_reserve([CPUS], P),
    "nothing beside something": lambda: check_reserve([replace(CPUS, value=0), CPUS], P),
    "nothing beside something, from a source of the same": lambda: check_reserve(
        [CPUS, replace(CPUS, name="ports", value=Ranges())], P, source=[replace(CPUS, reservations=()), NOTHING]
    ),
    "a reservation by somebody unknown": lambda: check_reserve([CPUS], Requester()),
    "whole GPUs of two entries": lambda: check_reserve(
        [replace(CPUS, name="gpus", value=1500), replace(CPUS, name="gpus", value=500)], P
    ),
    "one GPU and a thousandth, which Mesos truncates": lambda: check_reserve(
        [replace(CPUS, name="gpus", value=1001)], P
    ),
    "a static reservation below a dynamic one": lambda: check_reserve(
        [replace(CPUS, reservations=(STATIC, Reservation("DYNAMIC", "role/b", "p")))],
        P,
        source=[replace(CPUS, reservations=(STATIC, Reservation("DYNAMIC", "role/c", "p")))],
    ),
    "source of several providers": lambda: rules.check_each([CPUS, replace(CPUS, provider_id="x")], "source"),
    "a framework for the role of its offer": lambda: check_reserve([CPUS], Requester("p", frozenset({"role"}), "role")),
    "a framework for the role that the entry is allocated to": lambda: check_reserve(
        [replace(CPUS, allocation_role="role")], Requester("p", frozenset({"role"}), "other")
    ),
    "a disk with a source": lambda: check_unreserve([replace(PLAIN, disk=Disk(source=MOUNT))]),
    "a volume by its principal": lambda: check_create([VOLUME], P),
    "a volume by somebody unknown": lambda: check_create([volume(principal="q")], Requester()),
    "a shared volume by an operator": lambda: check_create([replace(VOLUME, shared=True)], P),
    "two volumes": lambda: check_create([VOLUME, volume(persistence_id="w")], P),
    "one id for two roles": lambda: check_create(
        [VOLUME], P, existing=[replace(VOLUME, reservations=(Reservation("STATIC", "other"),))]
    ),
    "destroying an allocated volume": lambda: check_destroy(
        [replace(VOLUME, allocation_role="role")], existing=[VOLUME, PLAIN], in_use=[volume(persistence_id="w")]
    ),
    "destroying an idle volume of an allocated agent": lambda: check_destroy(
        [VOLUME], existing=[replace(VOLUME, allocation_role="role")]
    ),
    "destroying what only a provider knows": lambda: check_destroy([replace(VOLUME, provider_id="x")], existing=()),
    "growing by the same disk": lambda: check_grow(VOLUME, PLAIN),
    "growing a volume of no size, which becomes one": lambda: check_grow(replace(VOLUME, value=0), PLAIN),
    "shrinking by a little": lambda: check_shrink(VOLUME, 1),
    "shrinking to a little": lambda: check_shrink(VOLUME, 199_999),
    "shrinking on a PATH disk": lambda: check_shrink(volume(source=DiskSource("PATH", "/p")), 1000),
    "a stack that skips a level": lambda: rules.check_stack([("first", "a"), ("second", "a/b/c")]),
}


@pytest.mark.parametrize("act", KEPT.values(), ids=list(KEPT))
def test_what_keeps_the_rules_is_accepted(act):
    act()


def test_a_volume_in_use_by_a_task_is_found_whatever_it_is_allocated_to():
    used = replace(VOLUME, allocation_role="role")
    with pytest.raises(RuleViolation) as refused:
        check_destroy([VOLUME], existing=[VOLUME], in_use=[used])
    assert refused.value.rule == "destroy.unused"


def test_a_volume_grows_and_shrinks_by_exactly_what_is_asked():
    [grow] = operations.grow(VOLUME, PLAIN)
    assert [entry.value for entry in grow.converted] == [300_000]
    assert grow.consumed.quantities() == grow.converted.quantities()
    [shrink] = operations.shrink(VOLUME, 50_000)
    assert {(entry.is_persistent_volume, entry.value) for entry in shrink.converted} == {
        (True, 150_000),
        (False, 50_000),
    }


def test_plain_disk_keeps_its_source_alone():
    on_mount = operations.plain_disk(replace(volume(source=MOUNT), shared=True, copies=3))
    assert (on_mount.disk, on_mount.shared, on_mount.copies) == (Disk(source=MOUNT), False, 1)
    assert operations.plain_disk(VOLUME).disk is None
    assert operations.plain_disk(PLAIN) == PLAIN


A, B, C = (Reservation("DYNAMIC", role, "p") for role in ("a", "a/b", "a/c"))


def levels(resources):
    return [entry.reservations for entry in resources]


def test_without_a_source_the_resources_themselves_are_authorized():
    assert operations.changed_levels([CPUS]) == ([], [CPUS])
    assert operations.changed_levels([CPUS], []) == ([], [CPUS])


@pytest.mark.parametrize(
    ("source", "to", "removed", "added"),
    [
        ((A, B), (A, C), [(A, B)], [(A, C)]),
        ((A, B), (A,), [(A, B)], []),
        ((A,), (A, B), [], [(A, B)]),
        ((A, B), (), [(A, B), (A,)], []),
        ((), (A, B), [], [(A,), (A, B)]),
    ],
)
def test_each_level_that_only_one_stack_has_is_authorized(source, to, removed, added):
    gone, come = operations.changed_levels([replace(CPUS, reservations=to)], [replace(CPUS, reservations=source)])
    assert (levels(gone), levels(come)) == (removed, added)


def test_a_reservation_with_a_source_takes_the_source():
    source = Resources([replace(CPUS, reservations=(A,))])
    target = Resources([CPUS])
    [conversion] = operations.reserve(target, source)
    assert (conversion.consumed, conversion.converted) == (source, target)


def test_a_refusal_names_the_principals():
    for named, words in ((None, "none"), ("q", "'q'")):
        other = replace(CPUS, reservations=(Reservation("DYNAMIC", "role", named),))
        for act in (
            lambda other=other: check_reserve([other], P),
            lambda named=named: check_create([volume(principal=named)], P),
        ):
            with pytest.raises(RuleViolation, match="'p'") as refused:
                act()
            assert f"which names {words}" in str(refused.value)


def test_refusals_that_say_what_to_do():
    with pytest.raises(RuleViolation) as refused:
        check_reserve([replace(CPUS, value=0)], P)
    assert refused.value.hint == "leave cpus out"
    with pytest.raises(RuleViolation) as refused:
        check_reserve([CPUS], P, source=[replace(CPUS, reservations=(STATIC,))])
    assert "crashes" in (refused.value.hint or "")


def test_a_role_that_is_none_is_refused_at_its_place_in_the_stack():
    with pytest.raises(RuleViolation) as refused:
        rules.check_stack([("first", "a"), ("second", "a//b")])
    assert refused.value.field == "second"


def test_conflicts_have_their_rules():
    one = Resources([replace(VOLUME, shared=True)])
    for to, conversions, rule in (
        (Resources([PLAIN]), operations.reserve(Resources([CPUS])), "operation.contained"),
        (one + one, operations.destroy(one), "operation.last-copy"),
    ):
        with pytest.raises(Conflict) as refused:
            operations.apply_all(to, conversions)
        assert refused.value.rule == rule
        assert len(refused.value.message.split()) > 2


def test_shrinking_takes_the_volume_and_three_levels_may_be_common():
    [shrink] = operations.shrink(VOLUME, 50_000)
    assert shrink.consumed == Resources([VOLUME])
    assert operations.common_bottom([A, B, C, A], [A, B, C, B]) == (A, B, C)


def test_one_port_may_be_refined_in_a_deep_stack():
    ports = Resource("ports", Ranges.of([(1, 4)]), (A, B))
    check_reserve([ports, replace(ports, value=Ranges.of([(5, 6)]), reservations=(A, C))], P)
