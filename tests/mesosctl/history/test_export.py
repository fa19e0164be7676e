"""A recording as JSON lines: every row, and with --anonymize no name of it."""

import json

from mesosctl.history.export import lines
from mesosctl.history.records import (
    MICROS,
    Gap,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    Suppression,
)
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.model.notation import parse_resources


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
