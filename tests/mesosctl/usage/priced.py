"""A recording of half a day of October and a day and a half of November, and prices, whose cost is known."""

from pathlib import Path

from mesosctl.history.records import MICROS, Gap, RecordedAgent, RecordedCluster, RecordedSetting, RecordedTask
from mesosctl.history.sqlite import open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources

HOUR = 3600 * MICROS
BEGIN = 1_793_448_000 * MICROS
"""2026-10-31 12:00 UTC: half a day of October, and a day and a half of November."""
QUOTA = '{"role": "a", "guarantees": {"cpus": {"value": 6}}}'
PRICES = """
currency = "EUR"
[[prices]]
attributes = { type = "gpu" }
cpu_hour = 2
gpu_hour = 10
[[prices]]
from = 2026-11-02
cpu_hour = 0.5
[[prices]]
cpu_hour = 1
"""


OCTOBER = {("a", "used"): 12.0, ("a", "reserved_idle"): 12.0, ("b", "used"): 12 * 12.0}
NOVEMBER = {
    # One cpu of two is idle until midnight of the second, and half as dear afterwards; 2 of the 46 hours are in a gap.
    ("a", "reserved_idle"): 2 * (24 + 10 * 0.5),
    # Reservations count for the guarantee: four of six cpus are kept, out of five that are free.
    ("a", "kept"): 4 * 12.0,
    ("b", "used"): 24 * 1.0 + 12 * 12.0,
}


def write_priced(folder: Path) -> None:
    """Write `h.sqlite` and `prices.toml` into a folder."""

    def at(hours: float) -> int:
        return BEGIN + round(hours * HOUR)

    def task(name: str, role: str, resources: str, start: float, end: float, agent: str = "n") -> RecordedTask:
        held = parse_resources(resources, of_agents=True)
        return RecordedTask("f", name, role, held, agent, start=at(start), end=at(end))

    with open_writer(folder / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(RecordedCluster("lab", "http://lab", "1.11.0", BEGIN, at(48), clean_end=True))
        recording.add_agent("lab", RecordedAgent("n", "node", parse_resources("cpus:6;cpus(a):2"), BEGIN))
        gpus = RecordedAgent("g", "gpu-1", parse_resources("cpus:2;gpus:1"), BEGIN, at(24), "gone", {"type": "gpu"})
        recording.add_agent("lab", gpus)
        recording.add_setting("lab", RecordedSetting("quota", "a", QUOTA, at(24), at(36)))
        recording.add_task("lab", task("t1", "a", "cpus(a):1", 0, 12))
        recording.add_task("lab", task("t2", "b", "cpus:1", 12, 36))
        recording.add_task("lab", task("t3", "b", "gpus:1;cpus:1", 0, 48, "g"))
        slack = Resources([Resource("cpus", 3000, revocable=True)])
        recording.add_task("lab", RecordedTask("f", "t4", "c", slack, "n", start=at(0), end=at(10)))
        recording.add_gap("lab", Gap(at(46), at(48)))
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
