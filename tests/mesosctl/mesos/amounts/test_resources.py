"""Resources and their algebra, as far as it needs no master."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items, Ranges
from mesosctl.mesos.errors import RuleViolation


def entries(text: str) -> list[str]:
    return [str(entry) for entry in parse_resources(text)]


def test_three_kinds_in_one_text():
    text = "cpus:45.55;ports:[10000-20000, 30000-50000];disks:{sda1}"
    assert str(parse_resources(text)) == "cpus:45.55; ports:[10000-20000, 30000-50000]; disks:{sda1}"


@pytest.mark.parametrize(
    "text",
    ["cpus(role1)", "cpus(role1:1", "cpus)(role1:1", "foo(role1):1;foo(role2):[0-1]", "cpus:0.00001", ":1", "cpus:-1"],
)
def test_broken_texts(text: str):
    with pytest.raises(RuleViolation):
        parse_resources(text)


def test_zero_vanishes():
    assert len(parse_resources("gpus:0")) == 0


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("1.234", "1.234"),
        ("1.1", "1.1"),
        ("1000001", "1000001"),
        ("99999999999.999", "99999999999.999"),
    ],
)
def test_amounts_as_they_are_printed(typed: str, printed: str):
    assert entries(f"cpus:{typed}") == [f"cpus:{printed}"]


def test_tenths_add_up():
    assert parse_resources("cpus:0.1") + parse_resources("cpus:0.2") == parse_resources("cpus:0.3")


@pytest.mark.parametrize(
    ("text", "wanted", "reached"),
    [
        ("ports:[1-3]", {"ports": 2}, True),
        ("ports:[1-1]", {"ports": 2}, False),
        ("features:{a,b}", {"features": 2}, True),
        ("features:{a}", {"features": 2}, False),
        ("cpus(role1):2", {"cpus": 3}, False),
        ("cpus(role1):2;cpus:1", {"cpus": 3}, True),
        ("ports(a):[1-10];ports(b):[20-25]", {"ports": 12}, True),
    ],
)
def test_quantities(text: str, wanted: dict[str, int], reached: bool):
    needed = Quantities({name: amount * 1000 for name, amount in wanted.items()})
    assert parse_resources(text).quantities().contains(needed) is reached


def test_amounts_do_not_drift():
    one = parse_resources("cpus:1.001")
    assert one + one + one - one - one == one


def test_contains():
    large, small = parse_resources("cpus:1;mem:4096"), parse_resources("cpus:1;mem:3072")
    assert large.contains(small)
    assert not small.contains(large)


def test_ranges():
    left = parse_resources("ports:[1-2]") + parse_resources("ports:[3-4]")
    right = parse_resources("ports:[7-8]") + parse_resources("ports:[5-6]")
    assert (str(left), str(right), str(left + right)) == ("ports:[1-4]", "ports:[5-8]", "ports:[1-8]")
    assert len(parse_resources("ports:[50000-60000]") - parse_resources("ports:[50000-60000]")) == 0
    assert str(parse_resources("ports:[1-10]") - parse_resources("ports:[11-20]")) == "ports:[1-10]"


def test_owners():
    mixed = parse_resources("cpus:1;mem:2;disk:4;cpus(role1):2;mem(role1):4;disk(role1):8;cpus(role2):4;mem(role2):8")
    assert set(mixed.by_owner()) == {"role1", "role2"}
    assert str(mixed.unreserved()) == "cpus:1; mem:2; disk:4"
    assert len(mixed.reserved("role1")) == 3
    assert len(mixed.reserved("*")) == 0


def dynamic(**differing) -> Resource:
    return Resource("cpus", 6000, (Reservation("DYNAMIC", "r", **differing),))


def test_different_labels_and_principals_never_merge():
    foo_bar, foo_baz = Labels([("foo", "bar")]), Labels([("foo", "baz")])
    assert len(Resources([dynamic(labels=foo_bar), dynamic(labels=foo_baz)])) == 2
    assert len(Resources([dynamic(labels=foo_bar), dynamic(labels=foo_bar)])) == 1
    both, turned = Labels([("a", "1"), ("b", "2")]), Labels([("b", "2"), ("a", "1")])
    assert len(Resources([dynamic(labels=both), dynamic(labels=turned)])) == 1
    assert len(Resources([dynamic(labels=Labels()), dynamic()])) == 2
    assert len(Resources([dynamic(principal="p"), dynamic(principal="q")])) == 2
    assert len(Resources([dynamic(), dynamic(principal="")])) == 2
    assert len(Resources([dynamic(), Resource("cpus", 6000, (Reservation("STATIC", "r"),))])) == 2


def disk(amount: int, **parts) -> Resource:
    return Resource("disk", amount * 1000, disk=Disk(**parts))


def test_disks():
    path, mount = DiskSource("PATH", "mnt"), DiskSource("MOUNT", "mnt")
    assert len(Resources([disk(10, source=path), disk(10, source=path)])) == 1
    assert len(Resources([disk(10, source=path), disk(10, source=DiskSource("PATH", "mnt2"))])) == 2
    assert len(Resources([disk(10, source=mount)] * 3)) == 3
    assert not Resources([disk(20, source=mount)]).contains(Resources([disk(10, source=mount)]))
    assert Resources([disk(20, source=path)]).contains(Resources([disk(10, source=path)]))
    assert not Resources([disk(20, persistence_id="v")]).contains(Resources([disk(10, persistence_id="v")]))


def test_shared_volumes_count_their_copies():
    volume = replace(disk(5, persistence_id="v"), shared=True, reservations=(Reservation("DYNAMIC", "r"),))
    plain = parse_resources("cpus:2;mem:10")
    r1, r2 = plain + Resources([volume] * 4), plain + Resources([volume] * 3)
    assert r1 + r2 - r1 == r2
    assert len(r2 - r1) == 0
    assert r1 - r2 == Resources([volume])
    assert r2 - r1 + r1 == r1
    assert list(Resources([volume] * 2)) == [replace(volume, copies=2)]
    assert len(Resources([volume, replace(volume, value=7000)])) == 2


SCALARS = st.builds(
    Resource,
    name=st.sampled_from(["cpus", "mem"]),
    value=st.integers(min_value=1, max_value=10_000),
    reservations=st.sampled_from([(), (Reservation("STATIC", "a"),), (Reservation("DYNAMIC", "a", "p"),)]),
)
RANGES = st.builds(
    Resource,
    name=st.just("ports"),
    value=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1).map(Ranges.of).filter(bool),
)
SETS = st.builds(
    Resource,
    name=st.just("disks"),
    value=st.frozensets(st.sampled_from("abcd"), min_size=1).map(Items),
)
SCALAR_COLLECTIONS = st.lists(SCALARS, max_size=5).map(Resources)
COLLECTIONS = st.lists(SCALARS | RANGES | SETS, max_size=6).map(Resources)


VOLUMES = st.builds(
    Resource,
    name=st.just("disk"),
    value=st.integers(1, 3),
    disk=st.builds(Disk, persistence_id=st.sampled_from([None, "v", "w"]), container_path=st.sampled_from("pq")),
    shared=st.booleans(),
)
LABELLED = st.builds(
    Resource,
    name=st.just("cpus"),
    value=st.integers(0, 3),
    reservations=st.sampled_from(
        [
            (Reservation("DYNAMIC", "r", labels=Labels(pairs)),)
            for pairs in ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")])
        ]
    ),
)


@given(st.lists(SCALARS | RANGES | SETS | VOLUMES | LABELLED, max_size=12))
def test_many_at_once_are_what_they_are_one_by_one(some: list[Resource]):
    one_by_one = Resources()
    for entry in some:
        one_by_one += Resources([entry])
    assert list(map(repr, Resources(some))) == list(map(repr, one_by_one))


@given(
    st.lists(st.lists(SCALARS | RANGES | SETS | VOLUMES | LABELLED, max_size=4).map(Resources), max_size=4),
    st.lists(st.integers(0, 3), max_size=12),
)
@example([Resources([Resource("cpus", 1000)]), Resources([Resource("mem", 1000)])], [0, 0, 1])
def test_a_sum_of_the_same_objects_is_the_sum_of_their_entries(some: list[Resources], places: list[int]):
    parts = [some[place % len(some)] for place in places] if some else []
    entries = [entry for part in parts for entry in part]
    assert list(map(repr, Resources.sum_of(parts))) == list(map(repr, Resources(entries)))


@given(COLLECTIONS, COLLECTIONS)
def test_addition_commutes(left: Resources, right: Resources):
    assert left + right == right + left


@given(COLLECTIONS, COLLECTIONS, COLLECTIONS)
def test_addition_associates(one: Resources, two: Resources, three: Resources):
    assert (one + two) + three == one + (two + three)


@given(COLLECTIONS, COLLECTIONS)
def test_a_sum_contains_its_parts(left: Resources, right: Resources):
    assert (left + right).contains(left)
    assert (left + right).contains(right)


@given(SCALAR_COLLECTIONS, SCALAR_COLLECTIONS)
def test_what_was_added_can_be_taken_away(left: Resources, right: Resources):
    assert left + right - right == left


@given(COLLECTIONS)
def test_nothing_is_left_of_a_difference_with_itself(some: Resources):
    assert len(some - some) == 0


@given(SCALAR_COLLECTIONS)
def test_taking_every_owner_away_leaves_the_amounts(some: Resources):
    assert some.to_unreserved().scalar_quantities() == some.scalar_quantities()


OWNED = (Reservation("STATIC", "a"),)
DIFFERENT = [
    Resource("cpus", 1000),
    Resource("mem", 1000),
    Resource("cpus", Ranges(((1, 2),))),
    Resource("cpus", Items.of("a")),
    Resource("cpus", 1000, reservations=OWNED),
    Resource("cpus", 1000, allocation_role="a"),
    Resource("cpus", 1000, disk=Disk("v")),
    Resource("cpus", 1000, disk=Disk(source=DiskSource("PATH", "/a"))),
    Resource("cpus", 1000, revocable=True),
    Resource("cpus", 1000, revocable=True, throttleable=True),
    Resource("cpus", 1000, shared=True),
    Resource("cpus", 1000, provider_id="p"),
]


@pytest.mark.parametrize("one", DIFFERENT, ids=str)
def test_entries_of_different_kinds_neither_merge_nor_yield_to_each_other(one: Resource) -> None:
    others = [other for other in DIFFERENT if other is not one]

    assert all(other.kind != one.kind for other in others)
    assert not any(one.merges_with(other) or one.yields(other) for other in others)
    assert one.yields(replace(one, copies=2))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=8))
def test_ports_summed_at_once_are_those_of_a_sum_one_by_one(spans: list[tuple[int, int]]) -> None:
    parts = [Resource("ports", Ranges.of([(begin, begin + length)])) for begin, length in spans]
    one_by_one = Resources()
    for part in parts:
        one_by_one += Resources([part])

    assert list(Resources(parts)) == list(one_by_one)


MIXED = st.lists(
    SCALARS
    | RANGES
    | st.builds(
        Resource,
        name=st.sampled_from(["cpus", "mem"]),
        value=st.integers(1, 9),
        revocable=st.just(value=True),
        throttleable=st.booleans(),
    )
    | VOLUMES,
    max_size=6,
).map(Resources)


@given(MIXED)
def test_parts_of_a_collection_are_its_entries_in_order(some: Resources) -> None:
    def entries(needed: Callable[[Resource], bool]) -> list[Resource]:
        return [entry for entry in some if needed(entry)]

    assert list(some.unreserved()) == entries(lambda one: not one.reservations)
    assert list(some.reserved()) == entries(lambda one: one.reservations != ())
    assert list(some.reserved("a")) == entries(lambda one: one.reservations != () and one.role == "a")
    assert {owner: list(part) for owner, part in some.by_owner().items()} == (
        {"a": list(some.reserved("a"))} if some.reserved() else {}
    )
    assert list(some.revocable()) == entries(lambda one: one.revocable)
    assert list(some.non_revocable()) == entries(lambda one: not one.revocable)
    assert list(some.scalars()) == entries(lambda one: isinstance(one.value, int))
    assert [list(part) for part in some.with_last(lambda one: one.revocable)] == [
        list(some.revocable()),
        list(some.non_revocable()),
        [*some.non_revocable(), *some.revocable()],
    ]
    kinds = [kind for kind in ("regular", "throttleable", "non-throttleable") if entries(_is(kind))]
    assert {kind: list(part) for kind, part in some.by_revocability().items()} == {
        kind: entries(_is(kind)) for kind in kinds
    }
    assert list(some.by_revocability()) == kinds
    assert some.revocability == ("mixed" if len(kinds) > 1 else (kinds or ["regular"])[0])


def _is(kind: str) -> Callable[[Resource], bool]:
    return lambda entry: entry.revocability == kind


@given(MIXED)
def test_quantities_are_the_sums_by_name(some: Resources) -> None:
    def sums(name: Callable[[Resource], str], needed: Callable[[Resource], bool] = lambda _: True) -> Quantities:
        found: Counter[str] = Counter()
        for entry in some:
            if needed(entry):
                value = entry.value
                found[name(entry)] += value if isinstance(value, int) else value.count() * 1000
        return Quantities(found)

    assert some.quantities() == sums(lambda one: one.name)
    assert some.scalar_quantities() == sums(lambda one: one.name, lambda one: isinstance(one.value, int))
    assert some.separate_quantities() == sums(lambda one: one.name + "_revocable" * one.revocable)


@given(st.lists(SCALARS | RANGES | SETS, max_size=6).map(Resources))
def test_an_allocation_marks_every_entry_and_a_popped_reservation_leaves_the_rest(some: Resources) -> None:
    marked = some.allocated_to("web")
    assert [entry.allocation_role for entry in marked] == ["web"] * len(some)
    assert list(marked.allocated_to(None)) == list(some)
    pushed = Resources(
        replace(entry, reservations=(*entry.reservations, Reservation("DYNAMIC", "x"))) for entry in some
    )
    assert list(pushed.pop_reservation()) == list(some)


LEVEL = Reservation("DYNAMIC", "ads", "p", Labels([("a", "b")]))


def test_a_reservation_matches_what_is_asked_of_it() -> None:
    for principal, labels, is_matched in (
        (None, None, True),
        ("p", None, True),
        ("q", None, False),
        (None, Labels([("a", "b")]), True),
        (None, Labels(), False),
        ("q", Labels([("a", "b")]), False),
    ):
        assert LEVEL.matches(principal, labels) is is_matched


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (Resource("cpus", 1500), "cpus:1.5"),
        (Resource("cpus", 1000, (LEVEL,)), "cpus(reservations: [(DYNAMIC,ads,p,{a: b})]):1"),
        (
            Resource("cpus", 1000, (Reservation("STATIC", "a"), Reservation("DYNAMIC", "a/b"))),
            "cpus(reservations: [(STATIC,a),(DYNAMIC,a/b)]):1",
        ),
        (Resource("cpus", 1000, allocation_role="web"), "cpus(allocated: web):1"),
        (Resource("cpus", 1000, revocable=True), "cpus{REV}:1"),
        (Resource("cpus", 1000, revocable=True, throttleable=True), "cpus{REV,THROTTLE}:1"),
        (Resource("disk", 1000, disk=Disk("v", container_path="p"), shared=True, copies=2), "disk[v:p]<SHARED>:1<2>"),
        (Resource("disk", 1000, disk=Disk(source=DiskSource("MOUNT", "/m"))), "disk[MOUNT:/m]:1"),
        (Resource("disk", 1000, disk=Disk(source=DiskSource("RAW"))), "disk[RAW]:1"),
        (Resource("disk", 1000, disk=Disk("v", DiskSource("PATH", "/m"), container_path="p")), "disk[PATH:/m,v:p]:1"),
        (
            Resource("cpus", 1000, (Reservation("DYNAMIC", "a", labels=Labels([("k", None), ("a", "b")])),)),
            "cpus(reservations: [(DYNAMIC,a,{k, a: b})]):1",
        ),
    ],
)
def test_the_text_of_an_entry_says_what_distinguishes_it(entry: Resource, text: str) -> None:
    assert str(entry) == text
    assert entry.text(with_role=False) == text.replace("(allocated: web)", "")
    assert Resources([entry]).text() == text
    assert Resources([entry]).text(with_roles=False) == entry.text(with_role=False)


def test_no_entries_are_shown_as_braces_and_nothing_in_words() -> None:
    assert (str(Resources()), Resources().text(with_roles=False), Resources().in_words) == ("{}", "{}", "nothing")


def test_an_entry_that_is_allocated_already_is_the_same_object() -> None:
    entry = Resource("cpus", 1000, allocation_role="web")
    assert entry.with_allocation_role("web") is entry
    assert entry.with_allocation_role(None) == Resource("cpus", 1000)


def test_another_amount_of_an_entry_is_on_the_same_disk_of_the_same_provider() -> None:
    entry = Resource("disk", 1000, (LEVEL,), "web", Disk("v", container_path="p"), provider_id="x")
    assert entry.with_value(2000) == replace(entry, value=2000)
    lent = Resource("cpus", 1000, revocable=True, throttleable=True)
    assert lent.with_value(2000) == replace(lent, value=2000)


def test_without_owners_entries_are_unreserved() -> None:
    assert Resources([Resource("cpus", 1000, (LEVEL,))]).to_unreserved() == parse_resources("cpus:1")


def test_labels_that_differ_are_found_apart() -> None:
    assert len({hash(Labels([("a", str(number))])) for number in range(8)}) == 8


@pytest.mark.parametrize(
    ("stack", "offered_to"),
    [
        ((), {"ads", "ads/web", "ads/web/x", "adsx"}),
        ((Reservation("STATIC", "ads"),), {"ads", "ads/web", "ads/web/x"}),
        ((Reservation("STATIC", "ads"), Reservation("DYNAMIC", "ads/web")), {"ads/web", "ads/web/x"}),
    ],
)
def test_what_is_reserved_is_offered_to_its_role_and_those_below(stack, offered_to: set[str]) -> None:
    entry = Resource("cpus", 1000, stack)
    for role in ("ads", "ads/web", "ads/web/x", "adsx"):
        assert entry.allocatable_to(role) is (role in offered_to)
        assert list(Resources([entry]).allocatable_to(role)) == [entry] * (role in offered_to)
