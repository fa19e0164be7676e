"""Shrinking what is offered to what quota leaves: entry by entry, and a mounted disk whole."""

import pytest

from fake_master.allocator.hierarchical.stages.run import shrink_to_limits, shrink_to_quantities
from fake_master.allocator.interface import AgentInfo
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Resource
from mesosctl.mesos.amounts.resources import Resources
from tests.fake_master.allocator.player import player
from tests.fake_master.allocator.words import expand


def keep(_: list[Resource]) -> None:
    """Shuffle nothing."""


def mount(amount: int) -> Resource:
    return Resource("disk", amount, disk=Disk(source=DiskSource("MOUNT", root=f"/{amount}")))


@pytest.mark.parametrize(
    ("given", "target", "quantities", "limits"),
    [
        (expand("2/20"), {"cpus": 1000, "mem": 10000, "disk": 10000}, "1/10", "1/10"),
        (expand("2/20"), {"cpus": 1000}, "cpus:1", "1/20"),
        (expand("cpus:1"), {}, "", "cpus:1"),
        (Resources([mount(20000)]), {"disk": 10000}, "", ""),
        (expand("2/20"), {"cpus": 0}, "", "mem:20"),
        (Resources([mount(20000)]) + expand("2/20"), {"disk": 10000, "cpus": 1000}, "cpus:1", "1/20"),
    ],
)
def test_shrinking(given: Resources, target: dict[str, int], quantities: str, limits: str) -> None:
    assert shrink_to_quantities(given, target, keep) == expand(quantities)
    assert shrink_to_limits(given, target, keep) == expand(limits)


def test_a_mount_disk_that_does_not_fit_is_left_whole() -> None:
    whole = Resources([mount(20000)])
    for shrink in (shrink_to_quantities, shrink_to_limits):
        assert shrink(whole, {"disk": 10000}, keep) == Resources()
    assert shrink_to_quantities(expand("cpus:1"), {}, keep) == Resources()
    assert shrink_to_limits(expand("cpus:1"), {}, keep) == expand("cpus:1")


def test_shrinking_takes_entries_as_they_are_shuffled() -> None:
    both = Resources([Resource("disk", 10000), mount(10000)])
    target = {"disk": 10000}
    assert shrink_to_quantities(both, target, keep) == expand("disk:10")
    assert shrink_to_quantities(both, target, lambda entries: entries.reverse()) == Resources([mount(10000)])


def test_what_a_mounted_disk_takes_is_not_left_for_the_others() -> None:
    disks = Resources([mount(10000), mount(20000), mount(3000), Resource("disk", 9000)])
    for shrink in (shrink_to_quantities, shrink_to_limits):
        left = shrink(disks, {"disk": 15000}, keep)
        assert left == Resources([mount(10000), mount(3000)]) + expand("disk:2")


@pytest.mark.parametrize(
    ("quota", "taken"),
    [
        (Quota(limits=Limits({"disk": 15000})), expand("2/64;disk:10")),
        (Quota(limits=Limits({"disk": 30000})), expand("2/64;disk:10") + Resources([mount(20000)])),
        # The plain disk serves half of the guarantee, and the other half keeps ten of the mount's twenty from it.
        (Quota(Quantities({"disk": 20000})), expand("2/64;disk:10")),
        (Quota(Quantities({"disk": 25000}), Limits({"disk": 25000})), expand("2/64;disk:10")),
        (Quota(Quantities({"disk": 5000}), Limits({"disk": 5000})), expand("2/64;disk:5")),
        # The guarantee uses up a part of the limit, for a name beside the mount too.
        (
            Quota(Quantities({"cpus": 1000}), Limits({"cpus": 1500})),
            expand("1.5/64;disk:10") + Resources([mount(20000)]),
        ),
    ],
)
def test_quota_takes_a_mounted_disk_whole_or_not_at_all(quota: Quota, taken: Resources) -> None:
    made = player("framework F q")
    made.allocator.update_quota("q", quota)
    made.allocator.add_agent(AgentInfo("A1"), expand("2/64;disk:10") + Resources([mount(20000)]))
    made.allocator.advance_to(0.0)
    assert [offered.allocated_to(None) for *_, offered in made.offers] == [taken]
    made.offers.clear()
    made.play("tick -> -")


@pytest.mark.parametrize(
    ("guarantee", "taken"),
    [
        ({"disk": 15000}, expand("2/64;disk:10")),  # of the other 15, the mount would take more
        ({"disk": 10000}, expand("2/64;disk:10")),
        ({"disk": 25000}, expand("2/64;disk:5")),
        ({"disk": 30000}, expand("2/64")),
        ({"cpus": 1500}, expand("0.5/64;disk:10") + Resources([mount(20000)])),
        ({"gpus": 1000}, expand("2/64;disk:10") + Resources([mount(20000)])),
    ],
)
def test_the_guarantee_of_an_absent_role_keeps_disks_from_others(guarantee: dict[str, int], taken: Resources) -> None:
    made = player("framework F n")
    made.allocator.update_quota("q", Quota(Quantities(guarantee)))
    made.allocator.add_agent(AgentInfo("A1"), expand("2/64;disk:10") + Resources([mount(20000)]))
    made.allocator.advance_to(0.0)
    assert [offered.allocated_to(None) for *_, offered in made.offers] == [taken]


def test_a_guarantee_of_what_an_agent_lacks_gives_its_role_no_first_turn() -> None:
    """Fair order decides."""
    made = player("framework F q", "framework E n")
    made.allocator.update_quota("q", Quota(Quantities({"gpus": 1000})))
    whole = expand("2/64;disk:10") + Resources([mount(20000)])
    made.allocator.add_agent(AgentInfo("A1"), whole)
    made.allocator.advance_to(0.0)
    assert [(framework, offered.allocated_to(None)) for framework, *_, offered in made.offers] == [("E", whole)]
