"""The rules of cost, each on a recording of a few hours of November 2026 that shows it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mesosctl.history.records import Gap, RecordedAgent, RecordedFramework, RecordedSetting, RecordedTask
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.usage.cost import CostOptions, cost, cost_by_key
from mesosctl.usage.prices import UNITS, load
from tests.mesosctl.history.memory import CLUSTER, MemoryRecording
from tests.mesosctl.usage.plain_cost import HOUR

BEGIN = round(datetime(2026, 11, 1, tzinfo=UTC).timestamp()) * 10**6


def at(hours):
    return BEGIN + round(hours * HOUR)


def agent(resources, name="n", start=0.0, end=None, **attributes):
    total = resources if isinstance(resources, Resources) else parse_resources(resources, of_agents=True)
    return RecordedAgent(name, "host", total, at(start), None if end is None else at(end), attributes=attributes)


def task(role, resources, start=0.0, end=None, on="n"):
    held = resources if isinstance(resources, Resources) else parse_resources(resources, of_agents=True)
    until = None if end is None else at(end)
    return RecordedTask("f", f"{role}-{start}", role, held, on, start=at(start), end=until)


def quota(role, **guarantees):
    value = json.dumps({"role": role, "guarantees": {name: {"value": amount} for name, amount in guarantees.items()}})
    return RecordedSetting("quota", role, value, BEGIN)


def found(*rows, prices="cpu_hour = 1", since=0.0, until=1.0, profile="1.11"):
    """The cost of some rows, and its cells without those of nobody: one dictionary, of all months."""
    kinds = {kind: [row for row in rows if isinstance(row, kind)] for kind in (RecordedAgent, RecordedTask, Gap)}
    history = MemoryRecording(
        of_agents=kinds[RecordedAgent] or [agent("cpus:10")], of_tasks=kinds[RecordedTask], of_gaps=kinds[Gap],
        of_settings=[row for row in rows if isinstance(row, RecordedSetting)],
        of_frameworks=[RecordedFramework("f", "f", (), 0)],
    )  # fmt: skip
    text = f'currency = "EUR"\n[[prices]]\n{prices}\n'
    options = CostOptions(at(since), at(until), load(text, "prices.toml", UTC), UTC)
    return cost(history, replace(CLUSTER, mesos_profile=profile), options)


def cells(*rows, **more):
    of = found(*rows, **more)
    return {cell[:2]: cell.cost / 100 for month in of.months for cell in month.cells if cell.key}


def test_kept_is_what_a_role_lacks_of_its_guarantee():
    assert cells(quota("a", cpus=6), task("a", "cpus:2")) == {("a", "used"): 2, ("a", "kept"): 4}


def test_kept_is_at_most_what_is_free():
    assert cells(quota("a", cpus=6), task("b", "cpus:7")) == {("b", "used"): 7, ("a", "kept"): 3}


def test_where_less_is_free_than_all_lack_it_is_kept_by_shares_of_that():
    of = cells(quota("a", cpus=6), quota("c", cpus=3), task("b", "cpus:7"))
    assert of == {("b", "used"): 7, ("a", "kept"): 2, ("c", "kept"): 1}


def test_kept_has_the_mean_price_of_what_is_free():
    agents = agent("cpus:4"), agent("cpus:8", "g", type="gpu")
    prices = "attributes = { type = 'gpu' }\ncpu_hour = 4\n[[prices]]\ncpu_hour = 1"
    of = cells(*agents, quota("a", cpus=3), task("b", "cpus:4", on="g"), prices=prices)
    assert of == {("b", "used"): 16, ("a", "kept"): 3 * 2.5}


@pytest.mark.parametrize(("profile", "kept"), [("documents", 4), ("1.4", 6), ("1.8", 4), ("1.11", 4)])
def test_roles_below_count_for_the_guarantee(profile, kept):
    of = cells(quota("a", cpus=6), task("a/x/y", "cpus:2"), profile=profile)
    assert of == {("a/x/y", "used"): 2, ("a", "kept"): kept}


@pytest.mark.parametrize(("profile", "kept"), [("documents", 6.0), ("1.4", 3.0), ("1.8", 3.0), ("1.11", 3.0)])
def test_reservations_count_for_the_guarantee_of_every_release(profile, kept):
    of = cells(agent("cpus:10;cpus(a):3"), quota("a", cpus=6), profile=profile)
    assert of == {("a", "reserved_idle"): 3, ("a", "kept"): kept}


def test_tasks_on_unknown_agents_cost_the_mean_of_all_and_leave_less_free():
    agents = agent("cpus:4"), agent("cpus:4", "g", type="gpu")
    prices = "attributes = { type = 'gpu' }\ncpu_hour = 4\n[[prices]]\ncpu_hour = 1"
    of = cells(*agents, quota("a", cpus=9), task("b", "cpus:2", on=None), prices=prices)
    assert of == {("b", "used"): 5, ("a", "kept"): 6 * 2.5}


def test_what_is_kept_at_a_moment_is_cut_down_to_a_millionth_of_a_millionth_and_the_rest_is_idle():
    """The same is kept and used, just below half a cent. So their total is a cent, which the larger one gets."""
    price, micros = 17_999, 999_999_999
    units = price * 1000 * 1024 * micros
    assert units % (UNITS // 10**12)
    assert 0 < UNITS - units * 200 < UNITS / 1000
    of = found(
        agent("cpus:2"), quota("a", cpus=1), task("z", "cpus:1"), prices=f"cpu_hour = {price / 10**6}",
        until=micros / HOUR,
    )  # fmt: skip
    assert {cell[:2]: cell.cost for cell in of.months[0].cells} == {("", "idle"): 0, ("a", "kept"): 0, ("z", "used"): 1}


def test_a_part_of_a_month_is_rounded_by_itself():
    of = [
        found(agent("cpus:1"), task("a", "cpus:1"), prices="cpu_hour = 0.005", since=since, until=until).by_key()["a"][
            "used"
        ]
        for since, until in ((0, 1), (1, 2), (0, 2))
    ]
    assert of == [1, 1, 1]


def test_another_price_counts_from_its_day_on():
    of = cells(task("a", "cpus:1"), prices="cpu_hour = 3\nfrom = 2026-11-02\n[[prices]]\ncpu_hour = 1", until=48)
    assert of == {("a", "used"): 24 * 1 + 24 * 3}


def test_each_month_has_its_cells():
    of = found(agent("cpus:1", start=-24), task("a", "cpus:1", start=-24), since=-24, until=1)
    assert [(month.number % 12 + 1, month.total) for month in of.months] == [(10, 2400), (11, 100)]
    assert [cost_by_key([month])["a"] for month in of.months] == [{"used": 2400}, {"used": 100}]


def test_gaps_cost_nothing():
    of = found(task("a", "cpus:1"), Gap(at(1), at(3)), until=4)
    assert of.by_key()["a"] == {"used": 200}
    assert (of.unseen, of.months[0].covered, of.total) == (2 * HOUR, 2 / (30 * 24), 2000)


def test_what_is_held_on_agents_that_have_left_costs_nothing():
    of = found(agent("cpus:10", end=1), task("a", "cpus:2"), quota("a", cpus=4), until=3)
    assert of.by_key()["a"] == {"used": 200, "kept": 200}
    assert of.beside["a"].out_of_service == {"cpus": 2000 * 2 * HOUR}
    assert of.total == 1000


def test_revocable_resources_cost_nothing():
    of = found(task("a", Resources([Resource("cpus", 2000, revocable=True)])))
    assert ("a" in of.by_key(), of.beside["a"].revocable) == (False, {"cpus": 2000 * HOUR})


def test_a_shared_volume_costs_once_and_the_next_task_has_it_when_the_first_one_ends():
    reserved = (Reservation("DYNAMIC", "a", "p"),)
    volume = Resource("disk", 1024_000, reserved, disk=Disk("v", container_path="d"), shared=True)
    whole = Resources([volume])
    of = cells(
        agent(whole), task("a", whole, 1, 3), task("a/x", whole, 2, 5), prices="disk_gib_hour = 1", until=6
    )  # fmt: skip
    assert of == {("a", "used"): 2, ("a/x", "used"): 2, ("a", "reserved_idle"): 2}


def test_an_agent_costs_what_its_attributes_say_at_each_moment():
    prices = "attributes = { type = 'gpu' }\ncpu_hour = 4\n[[prices]]\ncpu_hour = 1"
    of = cells(
        agent("cpus:4", end=1), agent("cpus:4", start=1, type="gpu"), task("a", "cpus:1"), prices=prices, until=2
    )
    assert of == {("a", "used"): 1 + 4}


def test_a_resource_without_a_price_is_named():
    of = found(agent("cpus:4;mem:1024;gpus:1"), prices="attributes = { type = 'gpu' }\nmem_gib_hour = 1")
    assert of.unpriced == ("cpus", "gpus", "mem")
