"""A recording as JSON lines: every row, and with --anonymize no name of it."""

import json

from mesosctl.history.export import lines
from mesosctl.history.records import (
    MICROS,
    Gap,
    Import,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    SettingKind,
    SkippedRows,
    Suppression,
)
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.messages.resources import list_to_json


def exported(path, **options):
    with open_recording(path) as recording:
        text = "".join(lines(recording, recording.clusters(), **options))
    return text, [json.loads(line) for line in text.splitlines()]


def recorded(path):
    at = 1_700_000_000 * MICROS
    reserved = parse_resources("cpus(secretrole):4;mem:100")
    quota = '{"role": "secretrole", "guarantees": {"cpus": {"value": 2.0}, "secretgpu": {"value": 1}}, "limits": {}}'
    limits = '{"limits": [{"principal": "secret-principal", "qps": 1.0}]}'
    cluster = RecordedCluster(
        "secret-cluster", "http://secret-host", "1.11.0", at, at + 9 * MICROS, True, "secret-principal"
    )
    with open_writer(path) as recording, recording.transaction():
        of = cluster.cluster_id
        recording.put_cluster(cluster)
        recording.add_agent(
            of, RecordedAgent("secret-agent", "secret-host", reserved, at, attributes={"rack": "secret-rack"})
        )
        recording.add_framework(
            of, RecordedFramework("secret-framework", "secret-name", ("secretrole/x",), at, None, "secret-principal")
        )
        recording.add_task(
            of,
            RecordedTask(
                "secret-framework", "secret-task", "secretrole/x", reserved, "secret-agent", start=at, end=at + MICROS
            ),
        )
        recording.add_task(of, RecordedTask("secret-framework", "secret-wish", "secretrole", reserved, asked=at))
        recording.add_suppression(of, Suppression("secret-framework", "secretrole/x", suppressed=True, start=at))
        recording.add_setting(of, RecordedSetting("quota", "secretrole", quota, at))
        recording.add_setting(of, RecordedSetting("rate limits", "", limits, at))
        recording.add_runs(of, [at + MICROS])
        recording.add_gap(of, Gap(at, at + MICROS))


def test_every_row_is_there(tmp_path):
    recorded(tmp_path / "h.sqlite")
    _, rows = exported(tmp_path / "h.sqlite", anonymise=False, keep_times=True)
    tables = [row["table"] for row in rows]
    assert tables == [
        "clusters", "agents", "frameworks", "suppressed", "settings", "settings", "tasks", "tasks", "runs", "gaps",
    ]  # fmt: skip
    task = rows[6]
    assert (task["id"], task["from"], task["to"]) == ("secret-task", 1_700_000_000.0, 1_700_000_001.0)
    assert task["resources"][0]["reservations"] == [{"type": "STATIC", "role": "secretrole"}]


def test_nothing_tells_a_name_or_the_time(tmp_path):
    recorded(tmp_path / "h.sqlite")
    text, rows = exported(tmp_path / "h.sqlite", anonymise=True, keep_times=False)
    assert "secret" not in text
    assert "17000000" not in text
    by_table = {row["table"]: row for row in rows}
    assert by_table["clusters"]["last_seen"] == 9.0
    assert by_table["frameworks"]["roles"] == [by_table["suppressed"]["role"]]
    assert by_table["frameworks"]["roles"][0].split("/")[0] == rows[4]["name"]


def test_times_can_be_kept(tmp_path):
    recorded(tmp_path / "h.sqlite")
    text, rows = exported(tmp_path / "h.sqlite", anonymise=True, keep_times=True)
    assert "secret" not in text
    assert rows[0]["first_seen"] == 1_700_000_000.0


def whole(path):
    """A recording with a row of each table and each kind of setting."""
    size = parse_resources("cpus(web):4;gpus:1")
    with open_writer(path) as recording, recording.transaction():
        recording.put_cluster(
            RecordedCluster("c", "http://host", "1.11.0", 2 * MICROS, 9 * MICROS, clean_end=True, principal="ops")
        )
        recording.begin_import("c", "log.csv", "csv")
        recording.end_import(Import("c", "log.csv", "csv", 2, 1, (SkippedRows("cause", 1, 2, "to"),)))
        recording.add_agent(
            "c", RecordedAgent("a", "h", size, 3 * MICROS, 4 * MICROS, "gone", {"rack": "r1", "size": 2.0})
        )
        framework = RecordedFramework("f", "n", ("web", "ads/x"), 3 * MICROS, None, "ops", ("MULTI_ROLE",))
        recording.add_framework("c", framework)
        recording.add_suppression("c", Suppression("f", "web", suppressed=False, start=3 * MICROS))
        values: dict[SettingKind, tuple[str, object]] = {
            "quota": ("web", {"role": "web", "guarantees": {"cpus": {"value": 2.0}}, "limits": {"x": {"value": 1}}}),
            "weight": ("web", {"role": "web", "weight": 2.0}),
            "reservation": ("a", list_to_json(parse_resources("cpus(web):4"), "POST")),
            "rate limits": ("", {"limits": [{"principal": "ops", "qps": 1.0}]}),
            "lending": ("", {"names": ["cpus", "x"]}),
        }
        for kind, (name, value) in values.items():
            recording.add_setting("c", RecordedSetting(kind, name, json.dumps(value), 3 * MICROS))
        recording.add_task(
            "c",
            RecordedTask(
                "f", "t", "web", parse_resources("cpus:1"), "a", 3 * MICROS, 4 * MICROS, 5 * MICROS, None,
                "TASK_FAILED", "REASON_X", start_known=False, end_known=False, run=1,
            ),
        )  # fmt: skip
        wanted = RecordedTask("f", "u", "ads/x", parse_resources("cpus:1"), asked=3 * MICROS, lasts=6 * MICROS)
        recording.add_task("c", wanted)
        recording.add_runs("c", [3 * MICROS])
        recording.add_gap("c", Gap(3 * MICROS, 4 * MICROS))


def expected(names, shift):
    """The rows of that recording; times are `shift` seconds earlier."""

    def span(start, end=None):
        return {"from": start - shift, "to": None if end is None else end - shift}

    def amount(name, value, role=None):
        reserved = {"reservations": [{"type": "STATIC", "role": role}]} if role else {}
        return {"name": name, "type": "SCALAR", "scalar": {"value": value}, **reserved}

    web, below = names["web"], f"{names['ads']}/{names['x']}"
    task = {
        "table": "tasks", "framework_id": names["f"], "is_executor": False, "resources": [amount("cpus", 1.0)],
    }  # fmt: skip
    return [
        {
            "table": "clusters", "cluster_id": names["c"], "address": names["http://host"], "mesos_version": "1.11.0",
            "mesos_profile": None,
            "first_seen": 2.0 - shift, "last_seen": 9.0 - shift, "clean_end": True, "principal": names["ops"],
        },
        {
            "table": "agents", "id": names["a"], "host": names["h"],
            "attributes": {names["rack"]: names["r1"], names["size"]: 2.0},
            "resources": [amount("cpus", 4.0, web), amount("gpus", 1.0)], **span(3, 4), "cause": "gone",
        },
        {
            "table": "frameworks", "id": names["f"], "name": names["n"], "principal": names["ops"],
            "roles": [web, below], "capabilities": ["MULTI_ROLE"], **span(3),
        },
        {"table": "suppressed", "framework_id": names["f"], "role": web, "suppressed": False, **span(3)},
        {
            "table": "settings", "kind": "quota", "name": web, **span(3),
            "value": {"role": web, "guarantees": {"cpus": {"value": 2.0}}, "limits": {names["of x"]: {"value": 1}}},
        },
        {"table": "settings", "kind": "weight", "name": web, "value": {"role": web, "weight": 2.0}, **span(3)},
        {
            "table": "settings", "kind": "reservation", "name": names["a"], "value": [amount("cpus", 4.0, web)],
            **span(3),
        },
        {
            "table": "settings", "kind": "rate limits", "name": "",
            "value": {"limits": [{"principal": names["ops"], "qps": 1.0}]}, **span(3),
        },
        {
            "table": "settings", "kind": "lending", "name": "", "value": {"names": ["cpus", names["of x"]]}, **span(3),
        },
        {
            **task, "id": names["t"], "run": 1, "role": web, "agent_id": names["a"], "asked": 3 - shift, **span(4, 5),
            "lasts": None, "from_known": False, "to_known": False, "state": "TASK_FAILED", "reason": "REASON_X",
        },
        {
            **task, "id": names["u"], "run": 0, "role": below, "agent_id": None, "asked": 3 - shift, "from": None,
            "to": None, "lasts": 6.0, "from_known": True, "to_known": True, "state": None, "reason": None,
        },
        {"table": "runs", "time": 3 - shift},
        {"table": "gaps", **span(3, 4)},
        {
            "table": "imports", "file": names["log.csv"], "format": "csv", "rows": 2, "used": 1,
            "skipped": {"cause": 1},
        },
    ]  # fmt: skip


class AsTheyAre(dict[str, str]):
    def __missing__(self, name):
        return name.removeprefix("of ")


def test_each_row_has_everything_that_was_recorded(tmp_path):
    whole(tmp_path / "h.sqlite")
    _, rows = exported(tmp_path / "h.sqlite", anonymise=False, keep_times=True)
    assert rows == expected(AsTheyAre(), 0)


def test_each_name_of_an_anonymous_export_has_one_alias_of_its_kind(tmp_path):
    whole(tmp_path / "h.sqlite")
    _, rows = exported(tmp_path / "h.sqlite", anonymise=True, keep_times=False)
    aliases = {
        "web": "role-1", "ads": "role-2", "x": "role-3", "of x": "resource-1", "f": "framework-1", "c": "cluster-1",
        "http://host": "address-1", "ops": "principal-1", "a": "agent-1", "h": "host-1", "rack": "attribute-1",
        "r1": "value-1", "size": "attribute-2", "n": "name-1", "t": "task-1", "u": "task-2", "log.csv": "file-1",
    }  # fmt: skip
    assert rows == expected(aliases, 2)
