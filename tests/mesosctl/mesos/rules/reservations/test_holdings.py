"""Agents and what is reserved of them: whose it is, in which lines it is listed, and what a change should leave."""

from dataclasses import replace

import pytest

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import (
    ExpectedResources,
    RegisteredAgent,
    agent_reservations,
    plain_text,
    spread,
    without_owners,
)
from tests.helpers.reserving import push

WEB, BELOW, ADS = (Reservation("DYNAMIC", role) for role in ("web", "web/a", "ads"))
CPUS = Resource("cpus", 1000, (WEB,))
VOLUME = Resource("disk", 5000, (WEB,), disk=Disk("v", container_path="data"))


def agent(total: Resources, used: Resources | None = None, users: frozenset[str] = frozenset()) -> RegisteredAgent:
    return RegisteredAgent("a1", "host", pid="slave(1)@h:5051", total=total, used=used or Resources(), users=users)


@pytest.mark.parametrize(
    ("role", "serves"),
    [("web", True), ("web/a", True), ("ads", True), ("job", True), ("we", False), ("web/b", False), ("a", False)],
)
def test_an_agent_serves_the_roles_it_is_reserved_for_and_allocated_to(role, serves):
    held = Resources([replace(CPUS, reservations=(WEB, BELOW))])
    assert agent(held, users=frozenset({"ads", "job/x"})).serves(role) is serves


@pytest.mark.parametrize(("count", "chosen"), [(0, ""), (1, "a"), (2, "ad"), (3, "ace"), (6, "abcdef")])
def test_agents_are_spread_evenly(count, chosen):
    assert "".join(spread("abcdef", count)) == chosen


def lines(of: RegisteredAgent, role: str | None = None):
    return [(one.owner.role, one.resources, one.allocated, one.disk) for one in agent_reservations(of, role)]


def test_each_stack_and_each_volume_is_a_line():
    below, other = replace(CPUS, reservations=(WEB, BELOW)), replace(VOLUME, disk=Disk("w", container_path="data"))
    used = Resources([replace(CPUS, value=400)])
    one = agent(Resources([CPUS, below, VOLUME, other, Resource("mem", 7000)]), used)
    assert lines(one) == [
        ("web", Resources([CPUS]), used, None),
        ("web/a", Resources([below]), Resources(), None),
        ("web", Resources([VOLUME]), Resources(), VOLUME.disk),
        ("web", Resources([other]), Resources(), other.disk),
    ]
    assert all(line.agent is one for line in agent_reservations(one))


@pytest.mark.parametrize(
    ("role", "listed"), [("web", ["web", "web/a"]), ("web/a", ["web/a"]), ("ads", ["ads"]), ("w", [])]
)
def test_the_lines_of_a_role_are_its_own_and_those_below_it(role, listed):
    held = [replace(CPUS, reservations=stack) for stack in ((WEB,), (WEB, BELOW), (ADS,))]
    assert [owner for owner, *_ in lines(agent(Resources(held)), role)] == listed


def test_without_owners_the_amounts_are_the_same():
    free = parse_resources("cpus:1;mem:2")
    assert without_owners(free) is free
    assert without_owners(push(free, WEB)) == free
    on_disk = Resource("disk", 5000, disk=Disk(source=DiskSource("PATH", "/p")))
    assert without_owners(Resources([on_disk])) == parse_resources("disk:5")
    assert without_owners(Resources([VOLUME, Resource("cpus", 1000)])) == parse_resources("cpus:1;disk:5")


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        ([CPUS, VOLUME], "cpus:1;disk:5"),
        ([Resource("cpus", 1000, revocable=True)], "cpus{REV}:1"),
        ([], "-"),
    ],
)
def test_the_plain_text_is_what_commands_accept(resources, text):
    assert plain_text(Resources(resources)) == text


GAINED = push(parse_resources("cpus:2"), WEB)


@pytest.mark.parametrize(
    ("shown", "total"),
    [
        (True, "cpus:2"),
        (True, "cpus:3;mem:1"),
        (False, "cpus:1;mem:9"),
        (False, ""),
    ],
)
def test_what_was_gained_is_shown_by_at_least_as_much(shown, total):
    after = GAINED + parse_resources("mem:512")
    expected = ExpectedResources.gained(after, push(parse_resources("cpus:1"), WEB))
    assert expected.is_shown_by(push(parse_resources(total), WEB) if total else Resources()) is shown


@pytest.mark.parametrize(("shown", "total"), [(True, "cpus:2;mem:9"), (True, "mem:9"), (False, "cpus:3")])
def test_what_was_lost_is_shown_by_at_most_as_much(shown, total):
    after = GAINED + parse_resources("mem:512")
    expected = ExpectedResources.lost(after, push(parse_resources("cpus:1"), WEB))
    assert expected.is_shown_by(push(parse_resources(total), WEB)) is shown
