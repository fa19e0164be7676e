"""csv and JSON say the same of each thing: of several that differ, and not only of one."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from mesosctl.agents.report import service_changes
from mesosctl.frameworks.report import teardown_report
from mesosctl.maintenance.report import maintenance_changes
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import AcceptedOperation, AgentServiceChange, RegisteredAgent
from mesosctl.mesos.cluster.role_status import AppliedWeight
from mesosctl.mesos.rules.maintenance import Machine, MachineChange, Span
from mesosctl.mesos.rules.offers.frameworks import ListedFramework, TornDown
from mesosctl.mesos.rules.quota.desired import ChangedQuota
from mesosctl.quota.report import quota_changes
from mesosctl.reservations.report import agent_changes
from mesosctl.show.output_formats import write
from mesosctl.show.report import Report
from mesosctl.wait.conditions import CheckedCondition
from mesosctl.wait.report import condition_list
from mesosctl.weights.report import weight_changes

BOTH = list(product((False, True), repeat=2))


def agent(number: int) -> RegisteredAgent:
    return RegisteredAgent(f"S{number}", f"host-{number}", "pid", Resources())


def quota(cpus: int) -> Quota:
    return Quota(Quantities({"cpus": cpus * 1000}), Limits({"mem": cpus * 1000}))


CHANGES: dict[str, Callable[[], Report]] = {
    "maintenance": lambda: maintenance_changes(
        [
            MachineChange(Machine(f"h{n}", f"10.0.0.{n}"), "down", Span(0, 10**9), sent=sent, confirmed=confirmed)
            for n, (sent, confirmed) in enumerate(BOTH)
        ]
    ),
    "agents": lambda: service_changes(
        [
            AgentServiceChange(agent(n), "drain", "drained", sent=sent, confirmed=confirmed)
            for n, (sent, confirmed) in enumerate(BOTH)
        ]
    ),
    "weights": lambda: weight_changes(
        [AppliedWeight(f"r{n}", n + 0.5, n + 2, confirmed=confirmed) for n, (_, confirmed) in enumerate(BOTH)]
    ),
    "quota": lambda: quota_changes(
        [
            ChangedQuota(f"r{n}", quota(1) if sent else None, quota(n + 2), confirmed=confirmed)
            for n, (sent, confirmed) in enumerate(BOTH)
        ]
    ),
    "reservations": lambda: agent_changes(
        [
            AcceptedOperation(agent(n), "reserved", parse_resources(f"cpus:{n + 1}"), by_master=master, by_agent=itself)
            for n, (master, itself) in enumerate(BOTH)
        ]
    ),
    "wait": lambda: condition_list(
        [CheckedCondition(f"agent/a{n}=drained", holds, f"{n}") for n, (_, holds) in enumerate(BOTH)]
    ),
    "torn down": lambda: teardown_report([TornDown(ListedFramework("F1", "f", ("r",)), 3, confirmed=False)]),
    "torn down, and read back": lambda: teardown_report([TornDown(ListedFramework("F1", "f", ("r",)), 3, True)] * 2),
}
NAMES = {"machine": "hostname", "address": "ip", "master": "by_master", "agent itself": "by_agent", "weight": "after"}
"""Columns that are called otherwise in JSON, where they are the same."""


def text(value: Any) -> str:
    """A value of JSON as csv writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def alike(cell: str, value: Any) -> bool:
    if isinstance(value, bool):
        return cell == text(value) or (cell == "not seen" and not value)
    if isinstance(value, int | float) and cell:
        return float(cell) == value
    return cell == text(value)


def written(report: Report, form: str) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    write(report, form, stream, draws=False, colours=False)
    stream.flush()
    return stream.buffer.getvalue().decode()


def compared(rows: Sequence[Mapping[str, str]], items: Sequence[Mapping[str, Any]]) -> set[str]:
    """The columns that are fields of the items; each says of each item what JSON says."""
    assert len(rows) == len(items)
    found = set()
    for column in rows[0] if rows else ():
        name = NAMES.get(column, column)
        if all(isinstance(item.get(name), str | bool | int | float) for item in items):
            found.add(column)
            for row, item in zip(rows, items, strict=True):
                assert alike(row[column], item[name]), (column, row, item)
    return found


@pytest.mark.parametrize("noun", CHANGES)
def test_each_change_is_told_alike(noun: str) -> None:
    report = CHANGES[noun]()
    rows = list(csv.DictReader(io.StringIO(written(report, "csv"))))
    items = [json.loads(line) for line in written(report, "jsonl").splitlines()]
    columns = compared(rows, items)
    switches = {name for item in items for name, value in item.items() if isinstance(value, bool)}
    shown = {NAMES.get(column, column) for column in columns}
    assert switches & {"sent", "confirmed", "by_master", "by_agent", "holds"} <= shown | {"sent"}, columns
    assert len(columns) > 1
